#!/usr/bin/env python3
"""Memory ends at each allocation in turn: one line and status 3, or the result of a run with memory; nothing half written.

  exhaustion.py --gedit build/release/gedit --exhausted build/release/tests/gedit_exhausted [--every]

The second program is gedit with the allocator of tests/exhausted.cc. Of commands with many allocations the first 100 after the
program's start fail, the last 50, in which files get their names, and 100 others evenly spread; with --every, all.
"""
import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

TESTDATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "testdata")
FAILING = "GEDIT_FAILING_ALLOCATION"
COMMANDS = [
    "inspect in.meta", "check in.meta", "list in.meta", "shapes in.meta", "select in.meta op:MatMul",
    "convert in.meta -f pbtxt -o out.pbtxt", "convert in.meta -f json -o out.json", "convert in.pbtxt -f pb -o out.pb",
    "convert in.gtxt -f pb -o out.pb",
    "copy in.meta --outputs online/q_values --inputs state --scope target -o out.meta",
    "copy in.meta --outputs online/q_values --scope target --checkpoint in -o out.meta",
    "rename in.meta state=x -o out.meta", "rename in.meta /=p/ --checkpoint in -o out.meta",
    "extract in.meta --outputs online/q_values -o out.pb", "freeze in.meta --outputs online/q_values --checkpoint in -o out.pb",
    "merge a=in.meta b=in.meta --input-map b/state=a/state -o out.pb",
    "merge a=in.meta b=in.meta --checkpoint a=in --checkpoint b=in -o out.meta",
    "prove in.meta in.meta", "diff in.meta in.pbtxt", "retarget in.meta --tf 1.4 -o out.meta",
    "optimize in.meta --outputs online/q_values -o out.pb", "draw in.meta -f dot -o out.dot",
    "set in.meta --shape state=[1,4] --follow -o out.meta", "signature in.meta",
    "checkpoint list in", "checkpoint verify in", "checkpoint rename in online/=w/ -o out", "checkpoint drop in online/** -o out",
    "checkpoint copy in online/=t/ -o out", "cast in.meta --weights float16 --checkpoint in -o out.meta", "checkpoint export in -o out.npz",
    "checkpoint export in -o out.safetensors", "checkpoint diff in in",
]


class Exhaustion:
    def __init__(self, program, folder):
        self.program, self.folder, self.faults, self.runs = program, folder, [], 0
        self.before_main = int(self.run("--version", 0).stderr)

    def run(self, command, failing):
        self.runs += 1
        # One thread: where several allocate at once, which is the Nth is chance.
        return subprocess.run([self.program, *command.split()], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              env={**os.environ, FAILING: str(failing), "GEDIT_THREADS": "1"}, check=False)

    def written(self):
        return {name for name in os.listdir(self.folder) if not name.startswith("in")}

    def take_away(self):
        for name in self.written():
            path = os.path.join(self.folder, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def command(self, command, every):
        whole = self.run(command, 0)
        if whole.returncode not in (0, 1):
            raise SystemExit(f"{command}: status {whole.returncode}: {whole.stderr.decode()}")
        count = int(whole.stderr.split()[-1])
        kept = tempfile.mkdtemp(prefix="gedit-whole-")
        written = self.written()
        for name in written:
            shutil.move(os.path.join(self.folder, name), kept)
        first = self.before_main + 1
        numbers = range(first, count + 1)
        if not every and len(numbers) > 250:
            numbers = [*numbers[:100], *numbers[100:-50:(len(numbers) - 150) // 100 + 1], *numbers[-50:]]
        for number in numbers:
            done = self.run(command, number)
            what = f"{command}, allocation {number} of {count}"
            words = done.stderr.decode(errors="replace").strip()
            _, different, missing = filecmp.cmpfiles(self.folder, kept, written, shallow=False)
            same = self.written() == written and not different and not missing
            if done.returncode == whole.returncode:
                if not same or done.stdout != whole.stdout:
                    self.faults.append(f"{what}: status {done.returncode} and another result")
            elif done.returncode != 3 or len(words.splitlines()) != 1 or "not enough memory" not in words:
                self.faults.append(f"{what}: status {done.returncode}: {words[-300:]}")
            elif self.written() and not same:  # all is there where only the last words failed
                self.faults.append(f"{what}: left {sorted(self.written())}")
            self.take_away()
        shutil.rmtree(kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gedit", required=True)
    parser.add_argument("--exhausted", required=True)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("-k", default="", help="only commands with these words")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gedit-exhaustion-") as folder:
        for ending in ("meta", "index", "data-00000-of-00001"):
            shutil.copy(os.path.join(TESTDATA, "dqn", f"dqn.{ending}"), os.path.join(folder, f"in.{ending}"))
        gedit = os.path.abspath(options.gedit)
        for form in ("pbtxt", "gtxt"):
            subprocess.run([gedit, "convert", "in.meta", "-f", form, "-q", "-o", f"in.{form}"], cwd=folder, check=True)
        judge = Exhaustion(os.path.abspath(options.exhausted), folder)
        for command in COMMANDS:
            if options.k in command:
                judge.command(command, options.every)
    for fault in judge.faults:
        print(fault)
    print(f"{judge.runs} runs, {len(judge.faults)} faults")
    return 1 if judge.faults else 0


if __name__ == "__main__":
    sys.exit(main())
