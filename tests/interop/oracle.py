#!/usr/bin/env python3
"""Runs gedit on the case folders of an oracle, which hold what real TensorFlow makes of the same edit (GEDIT_SHARED/oracle)."""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from real_files import SKIPPED, shared

SECONDS = 800
PROCESSES = 2  # each loads TensorFlow


def run(gedit, oracle, folders):
    """(what the checker printed, how many cases do not hold; all of them where it stopped early)"""
    done = subprocess.run([sys.executable, os.path.join(oracle, "check_case.py"), "--gedit", gedit, *folders],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    text = done.stdout.decode(errors="replace")
    held = re.search(r"^(\d+) of %d cases hold$" % len(folders), text, re.MULTILINE)
    if not held:
        return text + done.stderr.decode(errors="replace")[-2000:], len(folders)
    return text, len(folders) - int(held[1])


def main():
    parser = argparse.ArgumentParser(description="Holds gedit against an oracle.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("cases", nargs="*", help="kind/case; default: all")
    arguments = parser.parse_args()
    oracle = shared("oracle")
    if not oracle:
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="gedit-oracle-") as folder:
        return hold(verifying(os.path.abspath(arguments.gedit), folder), oracle, arguments)


def verifying(gedit, folder):
    """A program that runs gedit and has it prove every edit that must not change numbers."""
    path = os.path.join(folder, "gedit")
    with open(path, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\ncase "$1" in rename|convert|extract|freeze|copy|merge) set -- "$@" --verify;; esac\n'
                   'exec "%s" "$@"\n' % gedit)
    os.chmod(path, 0o755)
    return path


def hold(gedit, oracle, arguments):
    cases = arguments.cases or sorted("%s/%s" % (kind, case) for kind in os.listdir(oracle) if os.path.isdir(os.path.join(oracle, kind))
                                      for case in os.listdir(os.path.join(oracle, kind))
                                      if os.path.exists(os.path.join(oracle, kind, case, "case.json")))
    runs = [[os.path.join(oracle, case) for case in cases[k::PROCESSES]] for k in range(PROCESSES)]
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        for text, failed in pool.map(lambda folders: run(gedit, oracle, folders), filter(None, runs)):
            if failed:
                print(text)
            wrong += failed
    print("oracle: %d of %d cases hold" % (len(cases) - wrong, len(cases)))
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
