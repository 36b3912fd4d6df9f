#!/usr/bin/env python3
"""What TensorFlow accepts has no errors: gedit check over every good file at hand.

  check_sweep.py --gedit build/release/gedit [--warnings] [FILE...]

The files are those of testdata/ and, where GEDIT_SHARED names them, of a corpus and an oracle. A file that gedit
does not take for a graph is passed over (the laws say which may be). A file with faults must be named in FAULTY with the
rules that it breaks, and must break exactly these.
"""
import argparse
import collections
import json
import multiprocessing
import os
import subprocess
import sys

from laws import graph_files
from real_files import folders

SECONDS = 60

# Files that TensorFlow 2.21 itself refuses at import (the last one when it is run), by the rules that they break.
FROZEN = "/frozen_model.pb", "/frozen_graph.pbtxt"
FAULTY = {
    **{"scatter_nd_add/locking/rank2shape_1indices" + name: {"reference"} for name in FROZEN},
    **{"scatter_nd_sub/locking/rank1shape_1indices" + name: {"reference"} for name in FROZEN},
    **{"scatter_nd_update/locking/rank2shape_1indices" + name: {"reference"} for name in FROZEN},
    "graphdef2mlir/switch_n.pbtxt": {"name"},
    "graphdef2mlir/batch_use_same_function": {"attribute", "function"},
    "graph_properties_testdata/function_functional_while.pbtxt": {"function"},
}


def files_below(folder):
    yield from graph_files(folder)
    for path, folders, files in sorted(os.walk(folder)):
        folders.sort()
        for name in sorted(files):
            if "tfevents" in name:
                yield os.path.join(path, name)


def check(task):
    gedit, path = task
    done = subprocess.run([gedit, "check", "-j", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    if done.returncode == 3:
        return path, None, done.stderr.decode(errors="replace").strip()
    if done.returncode not in (0, 1):
        return path, None, "ended with %d: %s" % (done.returncode, done.stderr[-300:].decode(errors="replace"))
    faults = json.loads(done.stdout)
    errors = [fault for fault in faults if fault["level"] == "error"]
    if done.returncode != (1 if errors else 0):
        return path, None, "ended with %d: %d errors" % (done.returncode, len(errors))
    return path, faults, ""


def main():
    parser = argparse.ArgumentParser(description="Checks every good file at hand; see the head of this file.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("--warnings", action="store_true", help="count the warnings, too")
    parser.add_argument("files", nargs="*", help="only these")
    arguments = parser.parse_args()
    gedit = os.path.abspath(arguments.gedit)
    paths = arguments.files or [path for folder in folders("corpus", "oracle") for path in files_below(folder)]
    broken, checked, unread = [], 0, 0
    warnings = collections.Counter()
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for path, faults, words in pool.imap(check, [(gedit, path) for path in paths], chunksize=4):
            if faults is None:
                if words.startswith("gedit check: "):
                    unread += 1
                else:
                    broken.append("%s: %s" % (path, words))
                continue
            checked += 1
            # Data files that are not there are rightly told of: some models came without.
            errors = [fault for fault in faults if fault["level"] == "error"
                      and not (fault["rule"] == "checkpoint" and not os.path.exists(fault["subject"]))]
            warnings.update(fault["rule"] for fault in faults if fault["level"] == "warning")
            expected = next((rules for end, rules in FAULTY.items() if path.endswith("/" + end)), set())
            rules = {fault["rule"] for fault in errors}
            if rules == set(expected):
                continue
            for fault in errors[:5]:
                broken.append("%s: error %s %s: %s" % (path, fault["rule"], fault["subject"], fault["message"]))
            for rule in sorted(set(expected) - rules):
                broken.append("%s: no error %s" % (path, rule))
    for line in broken[:200]:
        print(line)
    if arguments.warnings:
        print(dict(warnings))
    print("check sweep: %d files, %d not read, %d broken lines" % (checked, unread, len(broken)))
    if checked < 40:
        print("too few files: something is missing")
        return 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
