#!/usr/bin/env python3
"""gedit retarget over the corpus of GEDIT_SHARED, judged by the old releases themselves.

  retarget_corpus.py --gedit build/release/gedit [--releases DIR] [--verbose] [RELEASE...]

Every distinct GraphDef of the corpus, MetaGraphs and event files included, is retargeted, and what comes out is imported in 1.4
and 1.12. Wrong is `possible` where the release refuses the result, unless no TensorFlow at hand imports the file itself; wrong is
`impossible` where an obstacle of the main graph is told and the release imports the file as it is. The libraries lie in
GEDIT_TF_RELEASES (default ~/.cache/gedit/tensorflow), to which scripts/tf-release fetches them once, 40 to 400 MB each.
GEDIT_OLD_PYTHON names a Python 3.6 or 3.7, which they need. Without the corpus, that Python or the libraries: skipped.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
from laws import graph_files
from real_files import SKIPPED, shared

import old_releases

LEAST = {"1.4.0": 310, "1.12.0": 345}  # graphs of the corpus that import after a retarget
MOST_WRONG_IMPOSSIBLE = 2
# A note says that the library of tf.contrib is to be loaded first; the judge loads none.
CONTRIB = "load the library of tf.contrib first"
# Said to be possible, and refused all the same, by the C API alone, which is the judge here: tf.import_graph_def of 1.4 takes them.
FUNCTIONS = "the C API of 1.4 does not infer shapes of ops that are functions"
KNOWN = {
    "reduce_dynamic_axis/sum_rank2_argmin_shape": "the C API of 1.4 crashes",
    "/graph-gradient-def.pbtxt": FUNCTIONS, "/simple_function.pbtxt": FUNCTIONS,
}
SECONDS = 120


def candidates(folder):
    yield from graph_files(folder)
    for path, folders, files in sorted(os.walk(folder)):
        folders.sort()
        yield from (os.path.join(path, name) for name in sorted(files) if "tfevents" in name)


def gedit(program, *arguments):
    return subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=SECONDS, check=False)


class Subject:
    """A graph of the corpus: its file, the options that pick it, and itself as a GraphDef."""

    def __init__(self, path, options, graph):
        self.path, self.options, self.graph = path, options, graph

    def __str__(self):
        return " ".join([self.path, *self.options])


def subjects(program, folder, made):
    """Each graph once, though a text form of it lies beside the binary one: graphs of the same listing are one."""
    def read(task):
        number, path = task
        described = gedit(program, "inspect", "-j", path)
        if described.returncode:
            return []
        graphs = json.loads(described.stdout)["meta_graphs"] if described.stdout.startswith(b"{") else []
        read_ones = []
        for i, options in enumerate([["--tag-set", ",".join(graph["tags"])] for graph in graphs] if len(graphs) > 1 else [[]]):
            out = os.path.join(made, "%d-%d.pb" % (number, i))
            listed = gedit(program, "convert", path, *options, "-f", "pb", "-O", "-q", "-o", out)
            listing = gedit(program, "convert", out, "-f", "gtxt", "-q", "-o", "-")
            if listed.returncode == 0 and listing.returncode == 0:
                read_ones.append((hashlib.sha256(listing.stdout).digest(), Subject(path, options, out)))
        return read_ones

    found = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for ones in pool.map(read, enumerate(candidates(folder))):
            for digest, subject in ones:
                found.setdefault(digest, subject)
    return list(found.values())


def retargeted(program, subject, release, out):
    """Whether it is said to be possible, with what there; and the obstacles of the main graph."""
    done = gedit(program, "retarget", subject.path, *subject.options, "--tf", release, "--partly", "-f", "pb", "-O", "-o", out)
    if done.returncode:
        return None, done.stderr.decode(errors="replace").strip()
    told = done.stderr.decode(errors="replace").splitlines()
    lines = [line for line in told if line.startswith("warning: tf ")]
    if any(CONTRIB in line for line in told) and not lines:
        return CONTRIB, []
    return not lines, [line for line in lines if "//" not in line.split(": ")[1]]


def main():
    parser = argparse.ArgumentParser(description="Retargets the corpus; see the head of this file.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("--releases", help="where the libraries lie")
    parser.add_argument("--verbose", action="store_true", help="name every graph that does not import")
    parser.add_argument("release", nargs="*", default=sorted(LEAST))
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.gedit)
    corpus, python = shared("corpus"), old_releases.python()
    if corpus is None:
        return SKIPPED
    if python is None:
        print("skipped: " + old_releases.NO_PYTHON)
        return SKIPPED
    place, wrong, judged = arguments.releases or old_releases.place(), [], 0
    with tempfile.TemporaryDirectory() as made:
        graphs = subjects(program, corpus, made)
        for release in arguments.release:
            library = old_releases.library(release, place)
            if library is None:
                continue
            judged += 1
            outs = [os.path.join(made, "%d-%s.pb" % (i, release)) for i in range(len(graphs))]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                said = list(pool.map(lambda pair: retargeted(program, pair[0], release, pair[1]), zip(graphs, outs)))
            answers = old_releases.imports(python, library, outs)
            before = old_releases.imports(python, library, [graph.graph for graph in graphs])
            impossible = imported = 0
            for graph, (possible, words), answer, own in zip(graphs, said, answers, before):
                if possible is None:
                    wrong.append("%s to %s: %s" % (graph, release, words))
                    continue
                imported += not answer
                if possible and answer:
                    why = CONTRIB if possible is CONTRIB else next((why for end, why in KNOWN.items() if end in graph.path), None)
                    elsewhere = why or any(not error for error in imports_anywhere(python, place, arguments.release, graph))
                    if not why and elsewhere:
                        wrong.append("%s to %s: said possible, and refused: %s" % (graph, release, answer))
                    elif arguments.verbose:
                        print("%s: %s: %s" % (release, graph, why or "no TensorFlow imports it: " + answer))
                if not possible and words and not own:
                    impossible += 1
                    print("%s: %s: said impossible, and it imports: %s" % (release, graph, words[0]))
                if arguments.verbose and not possible and answer:
                    print("%s: %s: impossible: %s" % (release, graph, "; ".join(words)[:400]))
            print("retarget to %s: %d graphs, %d import as they are, %d after it, %d said possible" % (
                release, len(graphs), sum(not error for error in before), imported, sum(bool(possible) for possible, _ in said)))
            if imported < LEAST.get(release, 0):
                wrong.append("to %s %d graphs import, at least %d have to" % (release, imported, LEAST[release]))
            if impossible > MOST_WRONG_IMPOSSIBLE:
                wrong.append("to %s %d graphs are wrongly said to be impossible" % (release, impossible))
    for line in wrong:
        print(line)
    if judged == 0:
        return SKIPPED
    return 1 if wrong else 0


def imports_anywhere(python, place, releases, graph):
    """What each release at hand says to the file as it is; the one that runs this, too."""
    answers = [old_releases.imports(python, old_releases.library(release, place), [graph.graph])[0]
               for release in releases if old_releases.library(release, place)]
    return answers + [old_releases.imports_here(graph.graph)]


if __name__ == "__main__":
    sys.exit(main())
