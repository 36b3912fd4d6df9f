#!/usr/bin/env python3
"""The commands that README.md shows are typed as they stand, in its order, and print what stands below them.

Of a block a line `$ gedit ...` is run, with the lines that end in a backslash; what follows up to the next `$` is what it
prints, where anything follows. Other commands are not run. diff may find a difference.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def commands(text):
    """(command, printed) of each command of the blocks."""
    inside, command, printed = False, None, []
    for line in text.splitlines():
        if line.startswith("```"):
            if command:
                yield command, printed
            inside, command, printed = not inside, None, []
        elif inside and command and command.endswith("\\"):
            command = command[:-1] + line.strip()
        elif inside and line.startswith("$ "):
            if command:
                yield command, printed
            command, printed = line[2:], []
        elif inside and command:
            printed.append(line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    gedit = os.path.abspath(parser.parse_args().gedit)
    shown = [(command, printed) for command, printed in commands((ROOT / "README.md").read_text()) if command.startswith("gedit ")]
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "testdata", os.path.join(folder, "testdata"))
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(gedit, os.path.join(folder, "bin", "gedit"))
        environment = {**os.environ, "PATH": os.path.join(folder, "bin") + ":" + os.environ["PATH"]}
        for command, printed in shown:
            if ".svg" in command and shutil.which("dot") is None:
                print("skipped: %s: Graphviz is not installed" % command)
                continue
            done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False)
            if done.returncode > (1 if command.startswith("gedit diff") else 0):
                faults.append("%s: exit status %d: %s" % (command, done.returncode, done.stderr.strip()))
            elif printed and done.stdout.splitlines() != printed:
                faults.append("%s prints\n%s" % (command, done.stdout))
    print("%d commands of README.md" % len(shown))
    print("\n".join(faults))
    return 1 if faults or len(shown) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
