#!/usr/bin/env python3
"""After a kill or an error at any system call, and after two at once, an output is the old one or the new one, whole.

  kills.py --gedit build/release/gedit [--keep FOLDER]

Each scenario runs once under strace; then once for every call that touches a file, killed there, and once with that call
failing. What is left must be what was there or what was to be there; the same command again must then succeed and leave
nothing beside its result. Skips (77) where there is no strace, or where it may not trace.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

# What changes files; and what else may fail.
CHANGING = ["write", "ftruncate", "linkat", "link", "rename", "renameat2", "unlink", "unlinkat", "mkdir", "rmdir", "fchmod"]
FAILING = CHANGING + ["openat", "flock", "getdents64", "ioctl", "fallocate"]
TENSORS = {"a": "x/v = tensor(DT_FLOAT [2], 1.0)\nx/w = tensor(DT_FLOAT [], 3.0)\n", "b": "p = tensor(DT_FLOAT [3], 7.0)\n"}
SKIP = 77


class Scenario:
    """`command` runs after `before`; `output` names what it writes: a prefix, or a graph. `again` makes the same of what the
    command left, where the command itself would not."""

    def __init__(self, name, before, command, output, again=None):
        self.name, self.before, self.command, self.output = name, before, command, output
        self.again = again or (command if command.endswith(" -O") else None)


SCENARIOS = [
    Scenario("new", [], "checkpoint rename a x/=y/ -o out", "out"),
    Scenario("over", ["checkpoint convert b -o out"], "checkpoint rename a x/=y/ -o out -O", "out"),
    Scenario("over-two", ["checkpoint convert b --shards 2 -o out"], "checkpoint convert a --shards 2 -o out -O", "out"),
    Scenario("fewer", ["checkpoint convert b --shards 3 -o out"], "checkpoint convert a -o out -O", "out"),
    Scenario("in-place", ["checkpoint convert a -o out"], "checkpoint rename out x/=y/ -i", "out",
             "checkpoint rename a x/=y/ -o out -O"),
    Scenario("compact", ["checkpoint convert a -o out"], "checkpoint drop out x/w --compact -i", "out",
             "checkpoint drop a x/w --compact -o out -O"),
    Scenario("onto-itself", ["checkpoint convert a -o out"], "checkpoint merge out b -o out -O", "out",
             "checkpoint merge a b -o out -O"),
    Scenario("folder", ["convert m.pb -o out/"], "convert n.pb -o out/ -O", "out/saved_model.pb"),
    Scenario("file", ["convert m.pb -o out.pb"], "convert n.pb -o out.pb -O", "out.pb"),
]


def run(command, cwd, prefix=()):
    return subprocess.run([*prefix, *command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Judge:
    def __init__(self, gedit, folder):
        self.gedit, self.folder, self.faults, self.runs = gedit, folder, [], 0

    def words(self, command):
        return [self.gedit, *command.split()]

    def inputs(self, scenario, name):
        """A folder in which the scenario may begin."""
        cwd = os.path.join(self.folder, name)
        os.makedirs(cwd)
        for file in os.listdir(self.base):
            shutil.copy(os.path.join(self.base, file), cwd)
        for command in scenario.before:
            done = run(self.words(command), cwd)
            assert done.returncode == 0, done.stderr
        return cwd

    def make_base(self):
        self.base = os.path.join(self.folder, "base")
        os.makedirs(self.base)
        for name, text in TENSORS.items():
            with open(os.path.join(self.base, name + ".ckpt.gtxt"), "w") as out:
                out.write(text)
            done = run([self.gedit, "checkpoint", "convert", name + ".ckpt.gtxt", "-o", name], self.base)
            assert done.returncode == 0, done.stderr
        for name, tag in (("m", 1), ("n", 2)):
            with open(os.path.join(self.base, name + ".gtxt"), "w") as out:
                out.write("x = NoOp() {tag: %d}\n" % tag)
            done = run([self.gedit, "convert", name + ".gtxt", "-q", "-o", name + ".pb"], self.base)
            assert done.returncode == 0, done.stderr

    def state(self, cwd, output):
        """What is there: its tensors and their checksums, or the graph; None where nothing is. Raises ValueError for what is
        not whole."""
        if output.endswith(".pb"):
            shown_as = os.path.dirname(output) or output
            if not os.path.exists(os.path.join(cwd, shown_as)):
                return None
            shown = run([self.gedit, "list", shown_as], cwd)
            if shown.returncode != 0:
                raise ValueError("list: " + shown.stderr.decode())
            return shown.stdout
        if not os.path.exists(os.path.join(cwd, output + ".index")):
            return None
        whole = run([self.gedit, "checkpoint", "verify", output], cwd)
        if whole.returncode != 0:
            raise ValueError("verify: %s%s" % (whole.stdout.decode(), whole.stderr.decode()))
        shown = run([self.gedit, "checkpoint", "list", output, "-l"], cwd)
        # Where the bytes lie is no matter; what they are is.
        lines = [line.split() for line in shown.stdout.decode().splitlines()]
        return [words[:4] + words[6:7] for words in lines]

    def names(self, cwd):
        return sorted(os.path.relpath(os.path.join(at, file), cwd) for at, _, files in os.walk(cwd) for file in files
                      if file != "trace")

    def try_one(self, scenario, call, number, how, old, new, names):
        label = "%s-%s-%d-%s" % (scenario.name, call, number, how.split("=")[1])
        cwd = self.inputs(scenario, label)
        inject = "inject=%s:%s:when=%d" % (call, how, number)
        done = run(self.words(scenario.command), cwd, ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", inject])
        if done.returncode == 127:  # the dynamic loader's own calls
            shutil.rmtree(cwd)
            return []
        faults, found = [], None
        try:
            found = self.state(cwd, scenario.output)
            if found not in (old, new):
                faults.append("%s: neither the old nor the new: %r" % (label, found))
            if done.returncode == 0 and found != new:
                faults.append("%s: done, and the old is there" % label)
            if how.startswith("error") and done.returncode not in (0, 3, 5):
                faults.append("%s: exit status %d: %s" % (label, done.returncode, done.stderr.decode()))
            if how.startswith("error") and done.returncode != 0 and done.stderr.count(b"\n") != 1:
                faults.append("%s: not one line: %s" % (label, done.stderr.decode()))
        except ValueError as error:
            faults.append("%s: %s" % (label, error))
        again = run(self.words(scenario.command if found != new else scenario.again or "list m.pb"), cwd)
        if found != new and again.returncode != 0:
            faults.append("%s: again: %s" % (label, again.stderr.decode()))
        if again.returncode == 0:
            # A folder or a file that was killed beside its place stays there.
            left = [name for name in self.names(cwd)
                    if name not in names and not (".pb" in scenario.output and name.startswith("out") and ".tmp-" in name)]
            if left:
                faults.append("%s: stays behind: %s" % (label, " ".join(left)))
        if not faults:
            shutil.rmtree(cwd)
        return faults

    def sweep(self, scenario, pool):
        cwd = self.inputs(scenario, scenario.name + "-whole")
        old = self.state(cwd, scenario.output)
        traced = run(self.words(scenario.command), cwd, ["strace", "-f", "-qq", "-o", "trace", "-e", "trace=" + ",".join(FAILING)])
        if traced.returncode != 0:
            raise SystemExit("%s: %s" % (scenario.name, traced.stderr.decode()))
        new = self.state(cwd, scenario.output)
        names = self.names(cwd)
        with open(os.path.join(cwd, "trace")) as trace:
            calls = collections.Counter(match.group(1) for match in re.finditer(r"^\d+ +(\w+)\(", trace.read(), re.M))
        jobs = []
        for call, count in sorted(calls.items()):
            for number in range(1, count + 1):
                for how in (["signal=KILL"] if call in CHANGING else []) + [
                        "error=" + {"write": "ENOSPC"}.get(call, "EIO")]:
                    jobs.append(pool.submit(self.try_one, scenario, call, number, how, old, new, names))
        for job in jobs:
            self.faults += job.result()
        self.runs += len(jobs)

    def race(self):
        """Two at once over one output: one of the two, whole, and nothing else."""
        scenario = Scenario("race", ["checkpoint convert b -o out"], "", "out")
        for number in range(40):
            cwd = self.inputs(scenario, "race-%d" % number)
            commands = ["checkpoint rename a x/=y/ -o out -O", "checkpoint convert b --shards 2 -o out -O"]
            started = [subprocess.Popen(self.words(command), cwd=cwd, stderr=subprocess.DEVNULL) for command in commands]
            for process in started:
                process.wait()
            try:
                if not self.state(cwd, "out"):
                    self.faults.append("race %d: nothing there" % number)
                left = [name for name in self.names(cwd) if name.startswith("out.") and ".tmp-" in name]
                if left or len([name for name in self.names(cwd) if name.startswith("out.data")]) > 2:
                    self.faults.append("race %d: stays behind: %s" % (number, " ".join(self.names(cwd))))
            except ValueError as error:
                self.faults.append("race %d: %s" % (number, error))
            self.runs += 1
            shutil.rmtree(cwd)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gedit", required=True)
    parser.add_argument("--keep", help="folder for what went wrong")
    parser.add_argument("--only", help="one scenario")
    arguments = parser.parse_args()
    gedit = os.path.abspath(arguments.gedit)
    if shutil.which("strace") is None:
        print("no strace: kills at system calls are not tried")
        return SKIP
    if run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=flock:signal=KILL", "true"], ".").returncode != 0:
        print("strace may not trace here: kills at system calls are not tried")
        return SKIP
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        judge = Judge(gedit, arguments.keep or scratch)
        judge.make_base()
        for scenario in SCENARIOS:
            if arguments.only in (None, scenario.name):
                judge.sweep(scenario, pool)
        judge.race()
    for fault in judge.faults[:40]:
        print(fault)
    print("%d runs, %d faults" % (judge.runs, len(judge.faults)))
    return 1 if judge.faults else 0


if __name__ == "__main__":
    sys.exit(main())
