#!/usr/bin/env python3
"""Laws that hold for every graph file, over testdata/ and, where GEDIT_SHARED names one, a corpus.

  laws.py --gedit build/release/gedit [FILE...]

  copy     an unedited copy is the same bytes
  listing  listing -> graph -> listing is the same listing
  text     protobuf text and JSON hold the same graph
  rename   a prefix put before every name and taken away again leaves the graph as it was
  diff     a file does not differ from its listing; a prefix before every name is one line
  check    a graph without errors has none after a prefix, nor with a copy of all of it beside it
  merge    one file under a name is that file renamed; two files are the two put behind each other; it does not matter
           which two of three are merged first
  verify   what must not change numbers is proved not to: a prefix, no devices, another form, a merge, a copy
  retarget to the release that wrote it: the same bytes
  draw     a page holds every node by its name, and is the same bytes each time
  status   every command ends with an exit status from 0 to 5, never by a signal, and with words where it is not 0

Of files of the corpus that hold the same graph the first is asked all, the others how they are written.
A file of testdata/ that gedit refuses must be named in REFUSED; of the corpus, the number of refusals is printed.
"""
import argparse
import base64
import concurrent.futures
import filecmp
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

from real_files import REPOSITORY, TESTDATA, shared

SECONDS = 300
MOST_COPIED = 20000  # lines

# Files of testdata/ that are no graphs. Each must be refused by every command, with exit status 3.
REFUSED = {"git_lfs_pointer.pb", "functions/graph-malformed.pbtxt"}
# What a law rightly cannot do: JSON does not hold an Any of an unknown type; an edit asks which of two MetaGraphs.
REFUSED_LAWS = {("session_bundle/export.meta", "json"), ("two_graphs", "rename"), ("two_graphs", "diff"), ("two_graphs", "merge"),
                ("two_graphs", "draw")}
# Small messages of other kinds that lie beside SavedModels.
NOT_GRAPHS = {"fingerprint.pb", "saved_model_debug_info.pb", "tfhub_module.pb", "keras_metadata.pb"}
SUFFIXES = (".pb", ".pbtxt", ".pb.txt", ".meta", ".gtxt")
# The binary form of each kind: what it is called, and what says so where the name does not.
OUTPUT = {"GraphDef": "out.pb", "MetaGraphDef": "out.meta", "SavedModel": "out"}


def releases():
    """(`1.12`, GraphDef.versions.producer) of every release, from the history of ops; its form is that of join_releases.py."""
    with open(os.path.join(REPOSITORY, "lib", "ops", "history.pb"), "rb") as file:
        data, at, found = file.read(), 0, []

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data) and varint() == 10:  # releases come first
        end = varint() + at
        name, producer = "", 0
        while at < end:
            if varint() == 10:
                size = varint()
                name = data[at:at + size].decode()
                at += size
            else:
                producer = varint()
        found.append((name.rsplit(".", 1)[0], producer))
    return found


RELEASES = releases()


class Broken(Exception):
    """A law that does not hold."""


class Refused(Exception):
    """gedit refused, in an orderly way, what the law wanted to do."""


def graph_files(folder):
    """Graph files below a folder; a SavedModel is its folder."""
    for path, folders, files in sorted(os.walk(folder)):
        folders.sort()
        saved_model = {"saved_model.pb", "saved_model.pbtxt"} & set(files)
        if saved_model:
            yield path
        for name in sorted(files):
            if name.endswith(SUFFIXES) and name not in NOT_GRAPHS and name not in saved_model:
                yield os.path.join(path, name)


class Subject:
    """One file under test, with a scratch folder of its own."""

    def __init__(self, gedit, path, scratch):
        self.gedit, self.path, self.scratch = gedit, path, scratch

    def run(self, *arguments):
        """Standard output of a command that must succeed."""
        status, stdout, stderr = self.outcome(*arguments)
        if status:
            refusal = stderr.decode(errors="replace").strip()
            raise Refused("%s: %s" % (" ".join(arguments), refusal))
        return stdout

    def outcome(self, *arguments):
        done = subprocess.run([self.gedit, *arguments], cwd=self.scratch, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
        command = "gedit " + " ".join(arguments)
        if not 0 <= done.returncode <= 5:
            raise Broken("%s: ended with %d: %s" % (command, done.returncode, done.stderr[-300:].decode(errors="replace")))
        if done.returncode >= 2:
            lines = done.stderr.decode(errors="replace").splitlines()
            if len(lines) != 1 or not lines[0].startswith("gedit %s: " % arguments[0]):
                raise Broken("%s: status %d with these words: %r" % (command, done.returncode, lines))
            if done.stdout:
                raise Broken("%s: status %d with %d bytes on standard output" % (command, done.returncode, len(done.stdout)))
        return done.returncode, done.stdout, done.stderr

    def listing(self, path):
        return self.run("list", "--full", path)

    def binary(self, text, kind):
        """The binary form of a text form, beside it."""
        out = self.fresh(OUTPUT[kind])
        self.run("convert", text, "-q", "-o", out, *(["-f", "saved_model"] if kind == "SavedModel" else []))
        return out

    def fresh(self, name):
        folder = tempfile.mkdtemp(dir=self.scratch)
        return os.path.join(folder, name)

    def text(self, name):
        """A fresh path for a text form, with the assets of a SavedModel beside it."""
        path = self.fresh(name)
        assets = os.path.join(self.path, "assets")
        if os.path.isdir(assets):
            shutil.copytree(assets, os.path.join(os.path.dirname(path), "assets"))
        return path


def same_tree(first, second):
    names = set(os.listdir(first)) - {"fingerprint.pb"}
    if names != set(os.listdir(second)) - {"fingerprint.pb"}:
        return False
    for name in names:
        a, b = os.path.join(first, name), os.path.join(second, name)
        if os.path.isdir(a):
            if not os.path.isdir(b) or not same_tree(a, b):
                return False
        elif not filecmp.cmp(a, b, shallow=False):
            return False
    return True


def law_copy(subject, kind, listing):
    if os.path.isdir(subject.path):
        out = subject.fresh("out")
        subject.run("convert", subject.path, "-q", "-o", out, *text_format(subject.path))
        same = same_tree(subject.path, out)
    else:
        with open(subject.path, "rb") as file:
            same = subject.run("convert", subject.path, "-q", "-o", "-") == file.read()
    if not same:
        raise Broken("an unedited copy has other bytes")


def text_format(folder):
    return ["-f", "pbtxt"] if os.path.exists(os.path.join(folder, "saved_model.pbtxt")) else []


def require_listing(subject, path, listing, what, order=list):
    ours, theirs = order(listing.split(b"\n")), order(subject.listing(path).split(b"\n"))
    if ours == theirs:
        return
    for number, (before, after) in enumerate(zip(ours, theirs), 1):
        if before != after:
            raise Broken("%s: line %d of the listing: %r became %r" % (what, number, before[:300], after[:300]))
    raise Broken("%s: %d lines of listing became %d" % (what, len(ours), len(theirs)))


def law_listing(subject, kind, listing):
    text = subject.text("in.gtxt")
    with open(text, "wb") as file:
        file.write(listing)
    require_listing(subject, subject.binary(text, kind), listing, "through a listing")
    require_listing(subject, text, listing, "read as a listing")


def through(form):
    def law(subject, kind, listing):
        text = subject.text("in." + form)
        subject.run("convert", subject.path, "-q", "-f", form, "-o", text)
        # protobuf sorts what a map holds and writes fields in the order of their numbers, so lines may move.
        require_listing(subject, subject.binary(text, kind), listing, "through " + form, sorted)
    law.__name__ = "law_" + form
    return law


def law_rename(subject, kind, listing):
    prefixed, back = subject.fresh(OUTPUT[kind]), subject.fresh(OUTPUT[kind])
    subject.run("rename", subject.path, "/=gedit_law/", "-q", "-o", prefixed)
    subject.run("rename", prefixed, "gedit_law/=", "-q", "-o", back)
    require_listing(subject, back, listing, "a prefix there and back")


def law_diff(subject, kind, listing):
    text = subject.text("in.gtxt")
    with open(text, "wb") as file:
        file.write(listing)
    for pair in (subject.path, text), (text, subject.path):
        differs = subject.run("diff", *pair)
        if differs:
            raise Broken("differs from its listing: %r" % differs[:300])
    if kind == "SavedModel":
        return
    prefixed = subject.fresh(OUTPUT[kind])
    subject.run("rename", subject.path, "/=gedit_law/", "-q", "-o", prefixed)
    status, stdout, stderr = subject.outcome("diff", subject.path, prefixed)
    lines = stdout.decode(errors="replace").splitlines()
    if status > 1 or len(lines) != status or not all(line.startswith("> / -> gedit_law/ (") for line in lines):
        raise Broken("a prefix is told as %d lines, first %r" % (len(lines), lines[:2]))


def law_check(subject, kind, listing):
    status, _, _ = subject.outcome("check", subject.path)
    if status:
        return
    for edit in ["rename", subject.path, "/=gedit_law/"], ["copy", subject.path, "-s", "**", "--scope", "gedit_law"]:
        out = subject.fresh("out.gtxt")
        status, _, _ = subject.outcome(*edit, "-q", "-o", out)
        if status:
            continue  # two MetaGraphs, a variable of TensorFlow 2: nothing to check
        status, stdout, _ = subject.outcome("check", out)
        if status:
            raise Broken("after %s: %r" % (edit[0], stdout[:300]))


# What tells one network's loops and state from another's is new in a merge and stays in a renaming; a colocation with
# a node that is not there goes.
IDENTITY = re.compile(rb'(, |(?<=\{))(shared_name|frame_name|stack_name|var_name|tensor_name|batching_queue|_XlaCluster|'
                      rb'_XlaScope|_XlaInternalScope|_tpu_replicate|_replication_info|cluster|key): "(\\.|[^"\\])*"')
CLASS = re.compile(rb'(, |(?<=\{))_class: list\((("(\\.|[^"\\])*")(, )?)*\)')
NODE = re.compile(rb'^("(\\.|[^"\\])*"|[A-Za-z0-9_.\-/>$]+) = ')


def comparable(listing):
    """Lines without identities. An object graph under a name has another root."""
    return [CLASS.sub(b"", IDENTITY.sub(b"", line)).replace(b"{, ", b"{").replace(b" {}", b"")
            for line in listing.split(b"\n") if not line.startswith((b"object ", b"concrete_function "))]


def node_lines(listing):
    """The nodes of the main graph, but for the operations that a merge adds."""
    lines = listing.split(b"\n")
    return [line for line in lines if NODE.match(line) and not line.startswith(b"merged_")]


def law_merge(subject, kind, listing):
    path = subject.path

    def merged(*operands):
        return subject.run("merge", *operands, "-q", "-f", "gtxt", "-o", "-")
    one = merged("a=" + path)
    renamed = subject.run("rename", path, "/=a/", "-q", "-f", "gtxt", "-o", "-")
    ours, theirs = comparable(one), comparable(renamed)
    for before, after in zip(theirs, ours):
        if before != after:
            raise Broken("under a name: %r became %r" % (before[:300], after[:300]))
    if len(ours) != len(theirs):
        raise Broken("under a name: %d lines became %d" % (len(theirs), len(ours)))

    graph = subject.fresh("graph.pb")
    subject.run("convert", path, "-q", "-f", "pb", "-o", graph)
    parts = [node_lines(merged(name + "=" + graph)) for name in "abc"]
    listing = merged("a=" + graph, "b=" + graph)
    both = node_lines(listing)
    # A function that holds state is there once for each file, and called otherwise in the second.
    if listing.count(b"\nfunction ") != merged("a=" + graph).count(b"\nfunction "):
        return
    if both != parts[0] + parts[1]:
        raise Broken("two files are not the two put behind each other")
    first, last = subject.fresh("first.pb"), subject.fresh("last.pb")
    subject.run("merge", "a=" + graph, "b=" + graph, "-q", "-o", first)
    subject.run("merge", "b=" + graph, "c=" + graph, "-q", "-o", last)
    left, right = node_lines(merged(first, "c=" + graph)), node_lines(merged("a=" + graph, last))
    if left != right:
        raise Broken("it matters which two of three files are merged first")


def law_verify(subject, kind, listing):
    path, out = subject.path, OUTPUT[kind]
    verified = 0
    for edit in (["rename", path, "/=gedit_law/"], ["set", path, "--device", "**="], ["merge", "a=" + path, "b=" + path],
                 ["copy", path, "-s", "**", "--scope", "gedit_law"], ["convert", path, "-f", "pbtxt"], ["convert", path, "-f", "gtxt"]):
        if edit[0] == "copy" and listing.count(b"\n") > MOST_COPIED:
            continue
        target = subject.text("out." + edit[-1]) if edit[0] == "convert" else subject.fresh(out)
        status, _, stderr = subject.outcome(*edit, "--verify", "-o", target)
        # Known: a call with effects whose make the prover cannot follow is told to differ, where "unknown" is right.
        if b"would not be what it was" in stderr and not stderr.rstrip().endswith(b"part: what they are"):
            raise Broken("%s: %s" % (edit[0], stderr.decode(errors="replace").strip()))
        verified += status == 0
    if not verified:
        raise Refused("nothing could be edited")


def law_status(subject, kind, listing):
    path = subject.path
    for arguments in (["inspect", path], ["inspect", path, "--depth", "2"], ["list", path], ["list", path, "-j"],
                      ["select", path, "op:*Variable*"], ["select", path, "**", "-j"], ["convert", path, "-f", "gtxt", "-o", "-"],
                      ["check", path, "--security"], ["diff", path, os.path.join(TESTDATA, "dqn", "dqn.meta"), "-j"],
                      ["rename", path, "no/such/node=x", "-o", subject.fresh("out")],
                      ["copy", path, "-s", "**", "--scope", "gedit_law", "-q", "-o", subject.fresh(OUTPUT.get(kind, "out"))],
                      ["merge", path, "b=" + path, "-q", "-o", subject.fresh(OUTPUT.get(kind, "out"))],
                      ["merge", path, path, "--on-conflict", "uniquify", "-q", "-o", subject.fresh("out.pb")]):
        subject.outcome(*arguments)


def release_of(version, producer):
    """The release that wrote a file, by what it says of itself, else by its producer; nothing where it says neither."""
    if re.match(r"v?\d+\.\d+(\.|-|$)", version):
        named = ".".join(re.findall(r"\d+", version)[:2])
        return named if named in (release for release, _ in RELEASES) else None
    of_producer = [release for release, its in RELEASES if its == producer > 0]
    return of_producer[-1] if of_producer else None


def law_retarget(subject, kind, listing):
    graphs = json.loads(subject.run("inspect", subject.path, "-j"))["meta_graphs"]
    release = release_of(graphs[0]["tensorflow_version"], graphs[0]["producer"])
    if release is None or len(graphs) > 1:
        return
    # A build with TensorRT, say, has ops that no release's registry has.
    faults = [line for line in subject.outcome("check", subject.path, "--tf", release)[1].decode(errors="replace").splitlines()
              if line.startswith("error tf ")]
    if faults and all(re.search(r": op \S+ is known ", line) for line in faults):
        raise Refused("its writer had ops that %s has not" % release)
    out = subject.fresh("out")  # in the form of the file
    folder = os.path.isdir(subject.path)
    status, _, stderr = subject.outcome("retarget", subject.path, "--tf", release, "-o", out, *(text_format(subject.path) if folder else []))
    if status:
        raise Refused(stderr.decode(errors="replace").strip())
    if same_tree(subject.path, out) if folder else filecmp.cmp(subject.path, out, shallow=False):
        return
    # A producer's number stands for a release and for what was built until the next one, which may have had more attributes.
    if not graphs[0]["tensorflow_version"] and re.search(rb" at (its|their) default dropped", stderr):
        raise Refused("it is newer than %s" % release)
    raise Broken("retargeted to %s, which wrote it, it has other bytes" % release)


def law_draw(subject, kind, listing):
    """A page holds every node by its name, the same bytes each time; Graphviz's text is refused for its size alone."""
    page = subject.run("draw", subject.path, "-f", "html", "-o", "-")
    if page != subject.run("draw", subject.path, "-f", "html", "-o", "-"):
        raise Broken("two pages of one file differ")
    packed = re.search(rb'<script id="data"[^>]*>([^<]*)</script>', page).group(1)
    data = json.loads(zlib.decompress(base64.b64decode(packed)))
    words, sheet = data["words"], data["sheets"][0]
    paths, names = [""], []
    for i in range(1, len(sheet["name"])):
        seat, above, name = sheet["kind"][i] & 7, paths[i - sheet["up"][i]], words[sheet["name"][i]]
        group, itself = seat == 1, sheet["kind"][i] >> 6 & 1
        paths.append(above if group or itself else name if above == "" else above + "/" + name)
        if seat > 1:
            names.append(paths[i])
    nodes = [json.loads(line)["name"] for line in subject.run("list", "-j", subject.path).splitlines()]
    if sorted(names) != sorted(nodes):
        raise Broken("a page has %d names of nodes, the file %d: %s" % (len(names), len(nodes), sorted(set(names) ^ set(nodes))[:3]))
    for depth in ("0", "1"):
        status, _, stderr = subject.outcome("draw", subject.path, "-f", "dot", "-o", "-", "--depth", depth)
        if status and b"boxes would be seen" not in stderr:
            raise Broken("draw --depth %s ended with %d: %s" % (depth, status, stderr.decode(errors="replace").strip()))


LAWS = [law_copy, law_listing, through("pbtxt"), through("json"), law_rename, law_merge, law_diff, law_check, law_verify, law_retarget, law_draw, law_status]
# What is asked of a graph that another file holds, too: of how it is written.
LAWS_OF_FORM = [law_copy, law_listing]


def check(task):
    """(path, laws that held, refusals, broken laws) of one file."""
    gedit, path, strict, again = task
    held, refused, broken = 0, [], []
    with tempfile.TemporaryDirectory(prefix="gedit-law-") as scratch:
        subject = Subject(gedit, path, scratch)
        kind, listing = None, None
        try:
            status, stdout, stderr = subject.outcome("inspect", path, "-j")
            if status == 0:
                kind = json.loads(stdout)["kind"]
                listing = subject.listing(path)
            elif status != 3:
                raise Broken("inspect ended with %d: %s" % (status, stderr.decode(errors="replace").strip()))
            known = strict and os.path.relpath(path, TESTDATA) in REFUSED
            if strict and known != (status == 3):
                raise Broken("is %s: %s" % ("read" if known else "refused", stderr.decode(errors="replace").strip()))
            if status == 3:
                refused.append("inspect")
        except (Broken, Refused, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            return path, held, refused, ["inspect: %s" % error]
        for law in [law_status] if kind not in OUTPUT else LAWS_OF_FORM if again else LAWS:
            try:
                law(subject, kind, listing)
                held += 1
            except Refused as refusal:
                known = (os.path.relpath(path, TESTDATA), law.__name__[4:]) in REFUSED_LAWS
                (broken if strict and not known else refused).append("%s: %s" % (law.__name__[4:], refusal))
            except (Broken, subprocess.TimeoutExpired) as error:
                broken.append("%s: %s" % (law.__name__[4:], error))
    return path, held, refused, broken


def corpus_files(gedit):
    """Graph files of the corpus, and whether one before it holds the same, as text say; a line where it is not there."""
    corpus, first = shared("corpus"), {}

    def digest(path):
        done = subprocess.run([gedit, "list", "--full", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        return hashlib.sha256(done.stdout).digest() if done.returncode == 0 else path
    paths = list(graph_files(corpus)) if corpus else []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [(path, first.setdefault(found, path) != path) for path, found in zip(paths, pool.map(digest, paths))]


def sweep(title, check_file, tasks, verbose):
    """Runs check_file over the tasks, whose second item is a path, and prints what is broken. The exit status."""
    held = refused = broken = 0
    # Large files first, so that no worker ends long after the others.
    tasks.sort(key=lambda task: -os.path.getsize(task[1]))
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for path, laws_held, refusals, faults in pool.imap_unordered(check_file, tasks):
            held += laws_held
            refused += len(refusals)
            broken += len(faults)
            for fault in faults + (refusals if verbose else []):
                print("%s: %s" % (os.path.relpath(path, REPOSITORY), fault))
    print("%s: %d files, %d held, %d refused, %d broken" % (title, len(tasks), held, refused, broken))
    return 1 if broken or not held else 0


def main():
    parser = argparse.ArgumentParser(description="Checks laws over graph files; see the head of this file.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("--verbose", action="store_true", help="print refusals too")
    parser.add_argument("files", nargs="*", help="these files instead of testdata/ and the corpus")
    arguments = parser.parse_args()
    gedit = os.path.abspath(arguments.gedit)
    if arguments.files:
        tasks = [(gedit, os.path.abspath(path), False, False) for path in arguments.files]
    else:
        tasks = [(gedit, path, True, False) for path in graph_files(TESTDATA)]
        tasks += [(gedit, path, False, again) for path, again in corpus_files(gedit)]
    return sweep("laws", check, tasks, arguments.verbose)


if __name__ == "__main__":
    sys.exit(main())
