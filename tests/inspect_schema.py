#!/usr/bin/env python3
"""What gedit inspect -j prints is what docs/inspect.schema.json says, over every file at hand.

    inspect_schema.py --gedit GEDIT [FILE...]

The files are those of testdata/ and, where GEDIT_SHARED names one, of a corpus: graphs in all formats, SavedModels,
checkpoints, state files, event files. What gedit does not take is passed over; of each kind there must be some. The
validator knows the keywords that our schema uses, and refuses others.
"""
import argparse
import collections
import json
import multiprocessing
import os
import re
import subprocess
import sys

from real_files import REPOSITORY, folders

SCHEMA = os.path.join(REPOSITORY, "docs", "inspect.schema.json")
KINDS = "GraphDef", "MetaGraphDef", "SavedModel", "Events", "Checkpoint", "CheckpointState"
SECONDS = 60
TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
WORDS = {"$schema", "title", "description", "$defs"}  # say nothing of a value


def faults(value, schema, root, place=""):
    """What is wrong with a value, a line each, by JSON Schema 2020-12."""
    for key, wanted in schema.items():
        if key in WORDS:
            continue
        if key == "$ref":
            assert wanted.startswith("#/$defs/"), wanted
            yield from faults(value, root["$defs"][wanted[len("#/$defs/"):]], root, place)
        elif key == "type":
            names = [wanted] if isinstance(wanted, str) else wanted
            if not any(TYPES[name](value) for name in names):
                yield f"{place}: {json.dumps(value)[:80]} is not {' or '.join(names)}"
        elif key in ("oneOf", "anyOf"):
            results = [list(faults(value, one, root, place)) for one in wanted]
            fit = sum(not result for result in results)
            if fit != 1 and (key == "oneOf" or fit == 0):
                yield f"{place}: fits {fit} of {len(wanted)}: " + "; ".join(result[0] for result in results if result)
        elif key == "enum":
            if value not in wanted:
                yield f"{place}: {json.dumps(value)[:80]} is none of {wanted}"
        elif key == "const":
            if value != wanted:
                yield f"{place}: {json.dumps(value)[:80]} is not {wanted}"
        elif key == "properties":
            for name in value if isinstance(value, dict) else ():
                if name in wanted:
                    yield from faults(value[name], wanted[name], root, f"{place}/{name}")
        elif key == "required":
            for name in wanted if isinstance(value, dict) else ():
                if name not in value:
                    yield f"{place}: no {name}"
        elif key == "additionalProperties":
            for name in value if isinstance(value, dict) else ():
                if name in schema.get("properties", {}):
                    continue
                if wanted is False:
                    yield f"{place}: {name} is not in the schema"
                else:
                    yield from faults(value[name], wanted, root, f"{place}/{name}")
        elif key == "items":
            for i, item in enumerate(value if isinstance(value, list) else ()):
                yield from faults(item, wanted, root, f"{place}/{i}")
        elif key == "minimum":
            if TYPES["integer"](value) and value < wanted:
                yield f"{place}: {value} is less than {wanted}"
        elif key == "minLength":
            if isinstance(value, str) and len(value) < wanted:
                yield f"{place}: is too short"
        elif key == "pattern":
            if isinstance(value, str) and not re.search(wanted, value):
                yield f"{place}: {value!r} is not like {wanted}"
        else:
            raise AssertionError(f"the validator does not know {key}")


def keywords(schema):
    """That the validator knows the whole schema, also what no file reaches; and that a wrong value is found."""
    for key, value in schema.items():
        if key in ("$defs", "properties"):
            for inner in value.values():
                keywords(inner)
        elif key in ("oneOf", "anyOf"):
            for inner in value:
                keywords(inner)
        elif key == "items" or (key == "additionalProperties" and value is not False):
            keywords(value)
        elif key not in WORDS | {"$ref", "type", "enum", "const", "required", "additionalProperties", "minimum", "minLength", "pattern"}:
            raise AssertionError(f"the validator does not know {key}")


def inspect(task):
    gedit, path, schema, options = task
    done = subprocess.run([gedit, "inspect", "-j", path, *options], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                          check=False)
    if done.returncode == 3:
        return path, None, []
    if done.returncode != 0:
        return path, None, ["ended with %d: %s" % (done.returncode, done.stderr.decode(errors="replace").strip())]
    value = json.loads(done.stdout)
    return path, value.get("kind"), list(faults(value, schema, schema))


def files_below(folder):
    for path, folders, files in os.walk(folder):
        folders.sort()
        if "saved_model.pb" in files or "saved_model.pbtxt" in files:
            yield path
        for name in sorted(files):
            if ".data-" not in name and name not in ("README.md", "SOURCE.json"):
                yield os.path.join(path, name)


def main():
    parser = argparse.ArgumentParser(description="Compares inspect -j with its schema; see the head of this file.")
    parser.add_argument("--gedit", required=True)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    keywords(schema)
    wrong = {"file": "x", "kind": "CheckpointState", "latest": 1, "all": []}
    assert list(faults(wrong, schema, schema)), "a wrong value passes"
    files = options.files or [path for folder in folders("corpus") for path in files_below(folder)]
    gedit = os.path.abspath(options.gedit)
    tasks = [(gedit, path, schema, more) for path in files for more in ((), ("--depth", "2"))]
    kinds, broken = collections.Counter(), []
    with multiprocessing.Pool() as pool:
        for path, kind, found in pool.imap(inspect, tasks, chunksize=8):
            kinds[kind] += 1
            broken += [f"{path}: {fault}" for fault in found[:3]]
    for line in broken:
        print(line)
    print(", ".join(f"{kind} {kinds[kind]}" for kind in KINDS))
    missing = [kind for kind in KINDS if kinds[kind] == 0]
    if missing and not options.files:
        print("no file of kind " + ", ".join(missing))
        return 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
