#!/usr/bin/env python3
"""The committed man pages are what the program renders, no more and no fewer.

    man.py --gedit GEDIT
"""
import argparse
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    gedit = parser.parse_args().gedit
    folder = pathlib.Path(__file__).resolve().parent.parent / "man"

    def render(*arguments):
        return subprocess.run([gedit, "help", *arguments], check=True, capture_output=True, text=True).stdout

    names = render("--names").split()
    wanted = {"gedit.1": render("--man")} | {f"gedit-{name}.1": render("--man", name) for name in names}
    there = {page.name: page.read_text() for page in folder.glob("*.1")}
    wrong = sorted(name for name in wanted | there if wanted.get(name) != there.get(name))
    for name in wrong:
        print(f"man/{name} differs from what the program says; scripts/man renders it")
    return 1 if wrong or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
