#!/usr/bin/env python3
"""Laws of lists: whatever takes one, as an @file or as an option, takes at most 2.3 times as long for twice as many.

  list_laws.py --gedit build/release/gedit [--only NAME] [--items N]

Measured is the processor time of the program, the least of five runs; what is quadratic shows at thousands. Exit status
77: a program with sanitizers, whose times say nothing.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

MOST = 2.3
# Of what a run costs without any list, and of the clock.
SLACK = 0.05
RUNS = 5


def write_graph(path, scopes):
    with open(path, "w", encoding="ascii") as file:
        file.write("x = Placeholder() {dtype: DT_FLOAT, shape: [2]}\n")
        for i in range(scopes):
            file.write(f's{i}/a = VariableV2() {{container: "", dtype: DT_FLOAT, shape: [2], shared_name: ""}}\n'
                       f"s{i}/r = Identity(s{i}/a) {{T: DT_FLOAT}}\n"
                       f"s{i}/y = Add(x, s{i}/r) {{T: DT_FLOAT}}\n")


def listed(text, count):
    return [text.format(i=i, j=i + count) for i in range(count)]


# By name: what is asked of `count` things; lists of lines stand in a file.
ROWS = {
    "rename @nodes": lambda file, n: ["rename", "g.pb", file(listed("s{i}/a=t{i}/a", n))],
    "rename @scopes": lambda file, n: ["rename", "g.pb", file(listed("s{i}/=t{i}/", n))],
    "select @names": lambda file, n: ["select", "g.pb", file(listed("s{i}/y", n))],
    "select @scopes": lambda file, n: ["select", "g.pb", file(listed("s{i}/", n))],
    "sync --pair @": lambda file, n: ["sync", "g.pb", "--name", "pull", "--pair", file(listed("s{i}/a=s{j}/a", n))],
    "insert --after": lambda file, n: ["insert", "g.pb", "--op", "Identity", "--after", ",".join(listed("s{i}/r", n))],
    "extract --outputs": lambda file, n: ["extract", "g.pb", "--outputs", ",".join(listed("s{i}/y", n))],
    "extract --inputs": lambda file, n: ["extract", "g.pb", "--outputs", "s0/y", "--inputs", ",".join(listed("s{i}/r", n))],
    "freeze --keep": lambda file, n: ["freeze", "g.pb", "--outputs", "s0/y", "--keep", file(listed("s{i}/a", n))],
    "copy --input-map": lambda file, n: ["copy", "g.pb", "-s", "*/y", "--scope", "t", "--input-map", file(listed("s{i}/r=s{j}/r", n))],
    "copy --stop-gradient": lambda file, n: ["copy", "g.pb", "-s", "*/y", "--scope", "t", "--stop-gradient",
                                             ",".join(listed("s{i}/r", n))],
    "copy @selection": lambda file, n: ["copy", "g.pb", "-s", file(listed("s{i}/", n)), "--scope", "t"],
    "merge --input-map": lambda file, n: ["merge", "a=g.pb", "--input-map", file(listed("a/s{i}/r=a/s{j}/r", n))],
    "set --device": lambda file, n: ["set", "g.pb", "--device", file(listed("s{i}/y", n)) + "=/cpu:0"],
}


class Subject:
    def __init__(self, gedit, folder):
        self.gedit, self.folder = gedit, folder

    def file(self, lines):
        with open(os.path.join(self.folder, "list"), "w", encoding="ascii") as file:
            file.writelines(line + "\n" for line in lines)
        return "@list"

    def seconds(self, arguments):
        command = [self.gedit, *arguments]
        if arguments[0] != "select":
            command += ["-q", "-O", "-o", "out.pb"]
        least = None
        for _ in range(RUNS):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            done = subprocess.run(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(arguments)[:100]}: {done.stderr.decode()[-200:]}")
            least = spent if least is None else min(least, spent)
        return least


def main():
    parser = argparse.ArgumentParser(description="Whatever takes a list is linear.")
    parser.add_argument("--gedit", required=True)
    parser.add_argument("--only")
    parser.add_argument("--items", type=int, default=4000)
    arguments = parser.parse_args()
    gedit = os.path.abspath(arguments.gedit)
    with open(gedit, "rb") as program:
        if b"__asan_init" in program.read():
            print("built with sanitizers")
            return 77
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        write_graph(os.path.join(folder, "g.gtxt"), 4 * arguments.items)
        subprocess.run([gedit, "convert", "g.gtxt", "-q", "-o", "g.pb"], cwd=folder, check=True)
        subject = Subject(gedit, folder)
        for name, row in ROWS.items():
            if arguments.only not in (None, name):
                continue
            once = subject.seconds(row(subject.file, arguments.items))
            twice = subject.seconds(row(subject.file, 2 * arguments.items))
            holds = twice <= MOST * once + SLACK
            broken += not holds
            print(f"{'ok  ' if holds else 'FAIL'} {name}: {once:.3f} s, for twice as many {twice:.3f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
