#!/usr/bin/env python3
"""The commands that README.md, the tutorials and docs/stores.md show are typed as they stand, in their order, and print what stands below them.

    documentation.py --gedit BUILD/gedit              compares; a test does so
    documentation.py --gedit BUILD/gedit --rebase     writes what is printed into the pages, and the drawings beside them

Of a block a line `$ COMMAND` is typed, with the lines that end in a backslash, where it begins with a word of TYPED; what
follows up to the next `$` is what a terminal shows, standard error behind standard output, where anything follows. A line
`...` stands for any lines. diff may find a difference, check faults. Each page has a folder of its own, with testdata in it.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
README, TUTORIALS, DRAWINGS = ROOT / "README.md", ROOT / "docs/tutorials", ROOT / "docs/drawings"
STORES = ROOT / "docs/stores.md"
TYPED_OF_STORES = ("store ", "for ", "while ", "seq ")
# Stands for the command-line tool of a bucket, which is a folder.
STORE = """#!/bin/bash
set -e
case $1 in
  cat) if [ "$3" = --range ]; then tail -c +$((${4%-*} + 1)) "$2" | head -c $((${4#*-} - ${4%-*} + 1)); else cat "$2"; fi ;;
  copy | put) mkdir -p "$(dirname "$3")"; cp "$2" "$3" ;;
  *) exit 2 ;;
esac
"""
TYPED = ("gedit ", "printf ", "ls", "cat ", "cp ", "head ", "grep ")
NOT_ZERO = ("gedit diff", "gedit check", "gedit prove")  # may answer no
ELLIPSIS = "..."
DRAWING = re.compile(r"!\[[^]]*\]\((?:\.\./)?drawings/([^)]+)\)")


class Shown:
    """A command of a page, and the lines of the page that it prints."""

    def __init__(self, command, begin):
        self.command, self.begin, self.end = command, begin, begin

    def printed(self, lines):
        return lines[self.begin:self.end]


def commands(lines):
    """The commands of the blocks, with where in `lines` their output stands."""
    inside, found, open_line = False, [], False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            inside, open_line = not inside, False
        elif inside and open_line:
            found[-1].command += line.strip()
            found[-1].begin = found[-1].end = number + 1
        elif inside and line.startswith("$ "):
            found.append(Shown(line[2:], number + 1))
        elif inside and found and found[-1].end == number:
            found[-1].end = number + 1
        open_line = inside and bool(found) and found[-1].begin == number + 1 and found[-1].command.endswith("\\")
        if open_line:
            found[-1].command = found[-1].command[:-1]
    return found


def fits(printed, wanted):
    """Whether the lines are those that are wanted, where `...` is any."""
    if ELLIPSIS not in wanted:
        return printed == wanted
    at = wanted.index(ELLIPSIS)
    before, after = wanted[:at], wanted[at + 1:]
    return (len(printed) >= len(before) + len(after) and printed[:at] == before
            and printed[len(printed) - len(after):] == after)


def rebased(printed, wanted):
    """What is printed, shortened as it was."""
    if ELLIPSIS not in wanted:
        return printed
    at = wanted.index(ELLIPSIS)
    after = len(wanted) - at - 1
    if len(printed) <= at + after:
        return printed
    return printed[:at] + [ELLIPSIS] + printed[len(printed) - after:]


def type_commands(path, gedit, folder):
    """Types the commands of a page in the folder; gives (shown, printed lines or None, status) of each."""
    folder = pathlib.Path(folder)
    (folder / "testdata").symlink_to(ROOT / "testdata")
    (folder / "bin").mkdir()
    (folder / "bin/gedit").symlink_to(os.path.abspath(gedit))
    if path == STORES:
        (folder / "bin/store").write_text(STORE)
        (folder / "bin/store").chmod(0o755)
    typed = TYPED + TYPED_OF_STORES if path == STORES else TYPED
    environment = {**os.environ, "PATH": "%s:%s" % (folder / "bin", os.environ["PATH"]), "LC_ALL": "C.UTF-8"}
    results = []
    for shown in commands(path.read_text().splitlines()):
        if not shown.command.startswith(typed) or (path == README and not shown.command.startswith("gedit ")):
            continue
        if ".svg" in shown.command and shutil.which("dot") is None:
            print("skipped: %s: Graphviz is not installed" % shown.command)
            continue
        done = subprocess.run(["bash", "-c", shown.command], cwd=folder, env=environment, capture_output=True, text=True,
                              check=False)
        results.append((shown, (done.stdout + done.stderr).splitlines(), done.returncode))
    return results


def faults_of(path, results, lines):
    for shown, printed, status in results:
        wanted = shown.printed(lines)
        if status > (1 if shown.command.startswith(NOT_ZERO) else 0):
            yield "%s: %s: exit status %d: %s" % (path.name, shown.command, status, "\n".join(printed))
        elif wanted and not fits(printed, wanted):
            yield "%s: %s prints\n%s" % (path.name, shown.command, "\n".join(printed))


def rebase(path, results, lines, folder):
    for shown, printed, _ in reversed(results):
        wanted = shown.printed(lines)
        if wanted:
            lines[shown.begin:shown.end] = rebased(printed, wanted)
    path.write_text("\n".join(lines) + "\n")
    for name in DRAWING.findall("\n".join(lines)):
        if pathlib.Path(folder, name).exists():
            shutil.copyfile(pathlib.Path(folder, name), DRAWINGS / name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    parser.add_argument("--rebase", action="store_true")
    arguments = parser.parse_args()
    faults, count = [], 0
    for path in [README, *sorted(TUTORIALS.glob("*.md")), STORES]:
        with tempfile.TemporaryDirectory() as folder:
            lines = path.read_text().splitlines()
            results = type_commands(path, arguments.gedit, folder)
            count += len(results)
            if arguments.rebase:
                rebase(path, results, lines, folder)
                lines = path.read_text().splitlines()
            faults += faults_of(path, results, lines) if not arguments.rebase else [
                "%s: exit status %d" % (shown.command, status) for shown, _, status in results if status > 1]
        # A page shows what one of its commands draws.
        drawn = {word for shown, _, _ in results for word in shown.command.split() if word.endswith(".svg")}
        for name in DRAWING.findall("\n".join(lines)):
            if not (DRAWINGS / name).exists() or (shutil.which("dot") and name not in drawn):
                faults.append("%s: nothing draws %s" % (path.name, name))
    print("%d commands" % count)
    print("\n".join(faults))
    if faults:
        print("tests/documentation.py --gedit GEDIT --rebase writes the pages anew")
    return 1 if faults or count < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
