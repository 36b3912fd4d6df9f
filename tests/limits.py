#!/usr/bin/env python3
"""Where memory, a file's size or a device ends: one line and a status, nothing half written; and without /proc, as in a
root that was just made, all is written.

  limits.py --gedit build/release/gedit

Commands run with less and less address space, with a limit on the size of a file, on devices without an end, and are
interrupted. Skips (77) where the program does not start with little memory, as one with sanitizers does not.
"""
import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

SKIP = 77
KIB = 1024
COMMANDS = ["convert in.pb -f json", "convert in.pb -f pbtxt", "convert in.pb -f gtxt", "convert in.json -f pb", "convert in.pbtxt -f pb",
            "convert in.gtxt -f pb", "rename in.pb n5=m", "copy in.pb -s n7 --scope q", "extract in.pb --outputs n5"]
READING = ["inspect in.pb", "check in.pb", "list in.pb"]
SPACES = [24_000, 28_000, 32_000, 36_000, 40_000, 46_000, 52_000, 60_000, 80_000]  # KiB


class Judge:
    def __init__(self, gedit, folder):
        self.gedit, self.folder, self.faults = gedit, folder, []

    def run(self, command, limit=None, threads="4", **more):
        return subprocess.run([self.gedit, *command.split()], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, preexec_fn=limit, env={**os.environ, "GEDIT_THREADS": threads}, **more)

    def judge(self, what, done, statuses):
        words = done.stderr.decode()
        if done.returncode not in statuses or (done.returncode and len(words.strip().splitlines()) != 1):
            self.faults.append(f"{what}: status {done.returncode}: {words.strip()[:300]}")
        left = [name for name in os.listdir(self.folder) if ".tmp" in name or (done.returncode and name.startswith("out"))]
        if left:
            self.faults.append(f"{what}: left {left}")
        for name in os.listdir(self.folder):
            if name.startswith("out"):
                os.remove(os.path.join(self.folder, name))

    def memory(self):
        for command in COMMANDS + READING:
            for space in SPACES:
                # One thread: where several run out at once, which of them does is chance.
                done = self.run(command + (" -q -o out" if command in COMMANDS else ""),
                                lambda: resource.setrlimit(resource.RLIMIT_AS, (space * KIB, space * KIB)), threads="1")
                if done.returncode != 127:  # the loader found no room for the program itself
                    self.judge(f"{command} in {space} KiB", done, {0, 3})

    def file_size(self):
        for command in COMMANDS:
            done = self.run(command + " -q -o out", lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (KIB, KIB)))
            self.judge(f"{command} into 1 KiB", done, {0, 1, 3, 4, 5} if "extract" in command else {1, 3, 4, 5})

    def devices(self):
        for command in ("inspect /dev/zero", "convert /dev/zero -f json -o out", "checkpoint list /dev/zero"):
            self.judge(command, self.run(command, timeout=60), {2, 3})

    def without_proc(self):
        hidden = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c",
                  'mount -t tmpfs none /proc && exec "$0" "$@"']
        if subprocess.run([*hidden, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            print("skipped: without /proc; nothing can be mounted here")
            return
        for command in (*COMMANDS, "convert in.pb -O"):
            done = subprocess.run([*hidden, self.gedit, *command.split(), "-q", "-o", "out"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            if done.returncode == 0 and not os.path.getsize(os.path.join(self.folder, "out")):
                self.faults.append(f"{command} without /proc: wrote nothing")
            self.judge(f"{command} without /proc", done, {0})

    def interrupts(self):
        for delay in (0, 0.005, 0.01, 0.02, 0.05, 0.1):
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                process = subprocess.Popen([self.gedit, "convert", "in.pb", "-f", "json", "-q", "-o", "out"], cwd=self.folder,
                                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                time.sleep(delay)
                process.send_signal(number)
                _, words = process.communicate()
                done = subprocess.CompletedProcess([], 0 if process.returncode in (0, -number) else process.returncode, b"", words)
                self.judge(f"{number.name} after {delay} s", done, {0})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gedit-limits-") as folder:
        judge = Judge(os.path.abspath(options.gedit), folder)
        with open(os.path.join(folder, "in.gtxt"), "w") as text:
            for i in range(20_000):
                text.write(f"n{i} = Const() {{dtype: DT_FLOAT, value: tensor(DT_FLOAT [4], 1.0, 2.0, 3.0, 4.5)}}\n")
        for form in ("pb", "json", "pbtxt"):
            judge.run(f"convert in.gtxt -f {form} -q -o in.{form}", check=True)
        space = 1_000_000 * KIB
        if judge.run("inspect in.pb", lambda: resource.setrlimit(resource.RLIMIT_AS, (space, space))).returncode != 0:
            print("skipped: the program itself needs more address space than there is")
            return SKIP
        judge.memory()
        judge.file_size()
        judge.devices()
        judge.without_proc()
        judge.interrupts()
        for fault in judge.faults:
            print(fault)
        return 1 if judge.faults else 0


if __name__ == "__main__":
    sys.exit(main())
