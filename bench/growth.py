#!/usr/bin/env python3
"""Shows that time grows with what is there and no faster: each row once with N things, once with twice as many.

    growth.py --gedit build/release/gedit [--only WORD] [--nodes 4000000] [--share 1.0]

Graphs of N nodes, and models with many functions, inputs of one node, variables, signatures and savers, made in a
temporary folder (--folder; 4 GB for eight million nodes). Of each command the least processor time of three runs; the
last column is twice against once: 2 is linear. --share 0.1 makes a tenth of everything.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tests")]
import list_laws  # noqa: E402
import make_graphs  # noqa: E402

ROUNDS = 3
# How many, at the most: the second run of a row.
MOST = {"functions": 100_000, "variables": 100_000, "signatures": 100_000, "savers": 10_000, "collections": 20_000}
INPUTS = 1_000_000
ON_NODES = {
    "rename": ["rename", "FILE", "/=p/"],
    "rename one": ["rename", "FILE", "input=input_renamed"],
    "inspect": ["inspect", "FILE"],
    "list": ["list", "FILE"],
    "check": ["check", "FILE"],
    "copy": ["copy", "FILE", "-s", "**/block_*7/**", "--scope", "copy"],  # of more there would be 2 GiB
    "text": ["convert", "FILE", "-f", "pbtxt"],
}
ON_INPUTS = {**{name: ON_NODES[name] for name in ("rename", "inspect", "list", "check", "text")},
             "copy": ["copy", "FILE", "-s", "**", "--scope", "copy"]}


def seconds(gedit, command, file, folder):
    command = [gedit] + [file if word == "FILE" else word for word in command]
    if command[1] not in list_laws.PRINT:
        command += ["-q", "-O", "-o", os.path.join(folder, "out.pb")]
    least = None
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in (list_laws.FINDS if command[1] == "check" else (0,)):
            raise RuntimeError(f"{' '.join(command)[:200]}: {done.stderr.decode()[-200:]}")
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        least = spent if least is None else min(least, spent)
    return least


def with_inputs(count):
    names = [f"n{i}" for i in range(count)]
    yield from (f"{name} = NoOp()\n" for name in names)
    yield "all = NoOp(" + ", ".join("^" + name for name in names) + ")\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gedit", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--nodes", type=int, default=4_000_000, help="of the first run; the second has twice as many")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    gedit = os.path.abspath(arguments.gedit)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        def listed(name, lines, suffix):
            path = os.path.join(folder, name)
            with open(path + ".gtxt", "w", encoding="ascii") as file:
                file.writelines(lines)
            subprocess.run([gedit, "convert", path + ".gtxt", "-q", "-o", path + suffix], check=True)
            os.remove(path + ".gtxt")
            return path + suffix

        def nodes(count):
            path = os.path.join(folder, f"nodes{count}.pb")
            with open(path, "wb") as file:
                make_graphs.write_nodes(file, count)
            return path

        def rows(what, commands, most, make):
            if arguments.only not in what:
                return
            once, twice = (make(count) for count in (most // 2, most))
            for name, command in commands.items():
                a, b = (seconds(gedit, command, file, folder) for file in (once, twice))
                print(f"{name:12} {most:>9} {what:12} {a:8.3f} {b:8.3f} {b / max(a, 0.001):6.2f}", flush=True)
            os.remove(once)
            os.remove(twice)

        share = arguments.share
        rows("nodes", ON_NODES, int(2 * arguments.nodes * share), nodes)
        rows("inputs", ON_INPUTS, int(INPUTS * share), lambda n: listed(f"inputs{n}", with_inputs(n), ".pb"))
        for kind, most in MOST.items():
            commands = {name: [row[0], "FILE", *row[1:]] for name, row in list_laws.ON_MODELS.items()}
            suffix = ".pb" if kind == "functions" else ".meta"
            rows(kind, commands, int(most * share),
                 lambda n, kind=kind, suffix=suffix: listed(f"{kind}{n}", list_laws.MODELS[kind](n), suffix))
    return 0


if __name__ == "__main__":
    sys.exit(main())
