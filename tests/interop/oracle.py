#!/usr/bin/env python3
"""Runs gedit on the case folders of ../shared/oracle, which hold what real TensorFlow makes of the same edit.

oracle_out_of_reach.txt names the cases that gedit does not pass yet, each with its reason. Any other case that fails,
and any listed one that passes, fails this test: so the list only ever shrinks.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
ORACLE = os.path.join(REPOSITORY, os.pardir, "shared", "oracle")
LIST = os.path.join(HERE, "oracle_out_of_reach.txt")
SECONDS = 800
PROCESSES = 2  # each loads TensorFlow


def out_of_reach():
    """{kind/case: reason}; lines read `kind/case  reason`, `#` begins a comment."""
    listed = {}
    with open(LIST, encoding="utf-8") as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line:
                name, _, reason = line.partition(" ")
                listed[name] = reason.strip()
    return listed


def run(gedit, folders):
    """(what the checker printed, whether it came to its end)"""
    done = subprocess.run([sys.executable, os.path.join(ORACLE, "check_case.py"), "--gedit", gedit, *folders],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    text = done.stdout.decode(errors="replace")
    ended = re.search(r"^\d+ of %d cases hold$" % len(folders), text, re.MULTILINE) is not None
    return text + ("" if ended else done.stderr.decode(errors="replace")[-2000:]), ended


def main():
    parser = argparse.ArgumentParser(description="Holds gedit against ../shared/oracle.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("--all", action="store_true", help="print why the listed cases fail, too")
    parser.add_argument("cases", nargs="*", help="kind/case; default: all")
    arguments = parser.parse_args()
    if not os.path.exists(os.path.join(ORACLE, "check_case.py")):
        print("skipped: ../shared/oracle is not there")
        return 77
    gedit = os.path.abspath(arguments.gedit)
    found = {"%s/%s" % (kind, case): os.path.join(ORACLE, kind, case)
             for kind in sorted(os.listdir(ORACLE)) if os.path.isdir(os.path.join(ORACLE, kind))
             for case in sorted(os.listdir(os.path.join(ORACLE, kind)))
             if os.path.exists(os.path.join(ORACLE, kind, case, "case.json"))}
    listed = out_of_reach()
    wrong = ["%s: listed, but there is no such case" % name for name in listed if name not in found]
    if arguments.cases:
        found = {name: found[name] for name in arguments.cases}
    # The checker names a case by its folder alone; so cases of equal names go to different runs.
    runs, taken = [[] for _ in range(PROCESSES)], [set() for _ in range(PROCESSES)]
    for name in found:
        case = name.split("/")[1]
        free = [k for k in range(len(runs)) if case not in taken[k]]
        if not free:
            runs.append([])
            taken.append(set())
            free = [len(runs) - 1]
        k = min(free, key=lambda k: len(runs[k]))
        runs[k].append(name)
        taken[k].add(case)
    failures = {}
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        busy = [names for names in runs if names]
        for names, (text, ended) in zip(busy, pool.map(lambda names: run(gedit, [found[n] for n in names]), busy)):
            if not ended:
                wrong.append("the checker stopped early: " + text)
                continue
            for name in names:
                case = name.split("/")[1]
                said = [line for line in text.splitlines() if line.startswith(case + ": ")]
                if said:
                    failures[name] = said
    for name in found:
        if name in failures and (name not in listed or arguments.all):
            print("%s%s" % (name, " (%s)" % listed[name] if name in listed else ""))
            for line in failures[name]:
                print("    " + line.partition(": ")[2])
    wrong += ["%s fails" % name for name in failures if name not in listed]
    wrong += ["%s holds now; take it out of %s" % (name, os.path.basename(LIST)) for name in found
              if name in listed and name not in failures and not any("stopped" in w for w in wrong)]
    for line in wrong:
        print(line)
    print("oracle: %d of %d cases hold, %d are out of reach" % (len(found) - len(failures), len(found), len(set(listed) & set(failures))))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
