#!/usr/bin/env python3
"""What people look for in a model stands first in gedit inspect.

  inspect_ends.py --gedit build/release/gedit [--verbose] [MODEL...]

Of every model of GEDIT_SHARED's corpus whose authors exported a signature, the signatures are taken away and inspect has to find
inputs and outputs by itself: for one signature, all of its tensors are among the first three inputs and the first three outputs
shown, or where it has more than three, the three shown are all of them its own. This holds for LEAST of the models.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

from laws import graph_files
from real_files import SKIPPED, folders

LEAST = 0.90
SHOWN = 3
SECONDS = 120


def gedit_json(gedit, *arguments):
    done = subprocess.run([gedit, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=SECONDS, check=False)
    if done.returncode != 0:
        return None
    return json.loads(done.stdout)


def first(tensors):
    return [tensor["tensor"] for tensor in tensors[:SHOWN]]


def found(wanted, shown):
    """Whether those wanted are shown, as far as there is room for them."""
    wanted = set(wanted)
    return wanted <= set(shown) if len(wanted) <= SHOWN else set(shown) <= wanted


def judge(gedit, path, scratch):
    """Of each MetaGraph with signatures: whether one is found, and what was shown instead."""
    before = gedit_json(gedit, "inspect", "-j", path)
    if before is None:
        return
    for number, meta in enumerate(before["meta_graphs"]):
        if not meta["signatures"]:
            continue
        tags = ["--tag-set", ",".join(meta["tags"])] if len(before["meta_graphs"]) > 1 else []
        bare = os.path.join(scratch, "%d.pb" % len(os.listdir(scratch)))
        done = subprocess.run([gedit, "convert", *tags, path, "-q", "-o", bare], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        if done.returncode != 0:
            yield "%s: %s" % (path, done.stderr.decode(errors="replace").strip()), None
            continue
        alone = gedit_json(gedit, "inspect", "-j", bare)["meta_graphs"][0]
        inputs, outputs = first(alone["inputs"]), first(alone["outputs"])
        misses = []
        for key, signature in sorted(meta["signatures"].items()):
            # A composite tensor has no name of its own.
            ends = [[tensor["tensor"] for tensor in signature[side].values() if tensor["tensor"]]
                    for side in ("inputs", "outputs")]
            if found(ends[0], inputs) and found(ends[1], outputs):
                misses = []
                break
            misses.append("  %s: %s -> %s" % (key, ends[0], ends[1]))
        yield "%s %s" % (path, ",".join(meta["tags"])), (
            misses + ["  shown: %s -> %s" % (inputs, outputs)] if misses else [])


def main():
    parser = argparse.ArgumentParser(description="Checks what inspect shows first; see the head of this file.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("--verbose", action="store_true", help="show what was not found")
    parser.add_argument("models", nargs="*", help="only these")
    arguments = parser.parse_args()
    gedit = os.path.abspath(arguments.gedit)
    models = arguments.models or [path for folder in folders("corpus") for path in graph_files(folder)]
    good, missed = [], {}
    with tempfile.TemporaryDirectory() as scratch:
        for path in models:
            for name, misses in judge(gedit, path, scratch):
                if misses is None:
                    print(name)
                elif misses:
                    missed[name] = misses
                else:
                    good.append(name)
    total = len(good) + len(missed)
    if arguments.verbose:
        for name, misses in missed.items():
            print("\n".join([name, *misses]))
    print("inspect ends: %d of %d models" % (len(good), total))
    if total < 40:
        print("skipped: too few models without the corpus")
        return SKIPPED
    return 0 if len(good) >= LEAST * total else 1


if __name__ == "__main__":
    sys.exit(main())
