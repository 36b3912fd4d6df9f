#!/usr/bin/env python3
"""Laws of `gedit copy`, over testdata/ and, where GEDIT_SHARED names one, a corpus: outputs are picked at random, the same
ones on every run.

  copy_laws.py --gedit build/release/gedit [--picks N] [FILE...]

  originals  the nodes of the original keep their bytes, but for savers (in TensorFlow 2: calls) and groups of initializers
  inputs     every node that an input of a copy names exists
  state      a copy reads and writes no variable or table of the original
  commute    copying under two scopes gives the same copies in either order
  extract    an extract of the copy is the renamed extract of the original
"""
import argparse
import json
import os
import random
import sys
import tempfile

import laws

STATE = {"Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp", "HashTable", "HashTableV2", "MutableHashTable",
         "MutableHashTableV2", "MutableDenseHashTable", "MutableDenseHashTableV2", "MutableHashTableOfTensors",
         "MutableHashTableOfTensorsV2"}
EXTENDED = {"Save", "SaveSlices", "SaveV2", "Restore", "RestoreSlice", "RestoreV2", "NoOp", "Const", "PartitionedCall",
            "StatefulPartitionedCall"}
# What renaming keeps and copying makes fresh, or lets go where its node is not there.
IDENTITIES = {"shared_name", "_class", "_output_shapes", "_tpu_replicate", "_XlaCluster", "_XlaScope", "cluster", "container",
              "var_name", "stack_name", "tensor_name", "key", "instance_key", "batching_queue"}
LARGEST = 50 << 20


def nodes_of(subject, path):
    found = {}
    for line in subject.run("list", "--full", "-j", path).splitlines():
        node = json.loads(line)
        found.setdefault(node["name"], node)
    return found


def node_of(text):
    text = text.lstrip("^")
    head, colon, tail = text.rpartition(":")
    return head if colon and tail.isdigit() else text


class Picked:
    """The copy of a file's random outputs, with what the laws look at."""

    def __init__(self, subject, kind, nodes, outputs):
        self.subject, self.kind, self.before, self.outputs = subject, kind, nodes, outputs
        self.out, self.map = subject.fresh(laws.OUTPUT[kind]), subject.fresh("map.json")
        subject.run("copy", subject.path, "--outputs", ",".join(outputs), "--scope", "law_a", "-q", "--verify", "--map-out", self.map,
                    "-o", self.out)
        self.after = nodes_of(subject, self.out)
        with open(self.map, encoding="utf-8") as file:
            self.names = json.load(file)["nodes"]


def law_originals(picked):
    for name, node in picked.before.items():
        after = picked.after.get(name)
        if after != node and not (after and node["op"] in EXTENDED and after["op"] == node["op"]):
            raise laws.Broken("node '%s' was %s, is %s" % (name, node, after))


def law_inputs(picked):
    for name, node in picked.after.items():
        for text in node["inputs"]:
            # What dangled in the original may go on dangling.
            if node_of(text) not in picked.after and name not in picked.before and node_of(text) in picked.before:
                raise laws.Broken("node '%s' reads '%s', which is not there" % (name, text))
            if node_of(text) not in picked.after and node_of(text).startswith("law_a/"):
                raise laws.Broken("node '%s' reads '%s', which is not there" % (name, text))


def law_state(picked):
    copies = set(picked.names.values())
    for name in copies:
        for text in picked.after[name]["inputs"]:
            source = node_of(text)
            if source not in copies and picked.after.get(source, {}).get("op") in STATE:
                raise laws.Broken("the copy '%s' reads '%s' of the original" % (name, source))


def law_commute(picked):
    # A copied saver or group of initializers was extended by the first copy, and is another one for the second.
    if any(picked.before[name] != picked.after[name] for name in picked.names):
        return
    outcomes = []
    for first, second in (("law_a", "law_b"), ("law_b", "law_a")):
        path = picked.subject.path
        for scope in (first, second):
            out = picked.subject.fresh(laws.OUTPUT[picked.kind])
            picked.subject.run("copy", path, "--outputs", ",".join(picked.outputs), "--scope", scope, "-q", "-o", out)
            path = out
        nodes = nodes_of(picked.subject, path)
        outcomes.append({name: nodes[name] for name in nodes if name.startswith(("law_a/", "law_b/"))})
    for name in outcomes[0].keys() | outcomes[1].keys():
        if outcomes[0].get(name) != outcomes[1].get(name):
            raise laws.Broken("'%s' is %s or, in the other order, %s" % (name, outcomes[0].get(name), outcomes[1].get(name)))


def plain(node):
    attrs = {key: value for key, value in node["attrs"].items() if key not in IDENTITIES}
    return {**node, "attrs": attrs}


def law_extract(picked):
    # The names and slices that a saver reads are what its variables are, and those are fewer in an extract.
    # The path of an asset is shared.
    if any(node_of(output) not in picked.names for output in picked.outputs):
        return
    values = set(picked.names.values())
    if any(node_of(text) not in values for name in values for text in picked.after[name]["inputs"]):
        return
    savers = [node for node in picked.before.values() if node["op"].startswith(("Save", "Restore"))]
    if any(node_of(text) in picked.names for node in savers for text in node["inputs"]):
        return
    subject, copies = picked.subject, picked.names
    of_copy, of_original, renamed = (subject.fresh("x.pb") for _ in range(3))
    subject.run("extract", picked.out, "--outputs", ",".join(copies[node_of(o)] for o in picked.outputs), "-q", "--verify",
                "-f", "pb", "-o", of_copy)
    subject.run("extract", subject.path, "--outputs", ",".join(picked.outputs), "-q", "--verify", "-f", "pb", "-o", of_original)
    subject.run("rename", of_original, "/=law_a/", "-q", "--verify", "-o", renamed)
    ours = {name: plain(node) for name, node in nodes_of(subject, of_copy).items() if name in copies.values()}
    theirs = {name: plain(node) for name, node in nodes_of(subject, renamed).items() if name in copies.values()}
    for name in ours.keys() | theirs.keys():
        if ours.get(name) != theirs.get(name):
            raise laws.Broken("'%s' is %s by extract of the copy, %s by rename" % (name, ours.get(name), theirs.get(name)))


LAWS = [law_originals, law_inputs, law_state, law_commute, law_extract]


def check(task):
    gedit, path, picks = task
    held, refused, broken = 0, [], []
    with tempfile.TemporaryDirectory(prefix="gedit-copy-law-") as scratch:
        subject = laws.Subject(gedit, path, scratch)
        try:
            status, stdout, _ = subject.outcome("inspect", path, "-j")
            summary = json.loads(stdout) if status == 0 else {"kind": None}
            kind = summary["kind"]
            if kind not in laws.OUTPUT or len(summary["meta_graphs"]) != 1:
                return path, 0, [], []
            nodes = nodes_of(subject, path)
        except (laws.Broken, laws.Refused, ValueError) as error:
            return path, 0, [], ["inspect: %s" % error]
        names = [name for name in nodes if not name.startswith("law_")]
        chance = random.Random(os.path.basename(path))
        for _ in range(picks if names else 0):
            outputs = sorted(set(chance.choices(names, k=2)))
            try:
                picked = Picked(subject, kind, nodes, outputs)
            except laws.Refused as refusal:
                refused.append(str(refusal))
                continue
            except laws.Broken as error:
                broken.append(str(error))
                continue
            for law in LAWS:
                try:
                    law(picked)
                    held += 1
                except laws.Refused as refusal:
                    refused.append("%s: %s" % (law.__name__[4:], refusal))
                except laws.Broken as error:
                    broken.append("%s: copy of %s: %s" % (law.__name__[4:], ",".join(outputs), str(error)[:700]))
    return path, held, refused, broken


def main():
    parser = argparse.ArgumentParser(description="Checks laws of copy; see the head of this file.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("--picks", type=int, default=1, help="copies for each file")
    parser.add_argument("--verbose", action="store_true", help="print refusals too")
    parser.add_argument("files", nargs="*", help="these files instead of testdata/ and the corpus")
    arguments = parser.parse_args()
    gedit = os.path.abspath(arguments.gedit)
    paths = arguments.files or [*laws.graph_files(laws.TESTDATA), *(path for path, again in laws.corpus_files(gedit) if not again)]
    tasks = [(gedit, os.path.abspath(path), arguments.picks) for path in paths
             if os.path.getsize(path) <= LARGEST]
    return laws.sweep("copy laws", check, tasks, arguments.verbose)


if __name__ == "__main__":
    sys.exit(main())
