#!/usr/bin/env python3
"""Completion in real shells: bash, zsh and fish in a pseudoterminal, with what a person types and TAB.

    shells.py --gedit BUILD/gedit
"""
import argparse
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
SECONDS = 20

# What is typed, TAB, and the words that the program then gets.
COMPLETED = [
    ("gedit insp", ["inspect"]),
    ("gedit checkpoint ver", ["checkpoint", "verify"]),
    ("gedit copy dqn/dqn.meta --ov\t --from-s", ["copy", "dqn/dqn.meta", "--overwrite", "--from-scope"]),
    ("gedit list dqn/dqn.m", ["list", "dqn/dqn.meta"]),
    ("gedit list dqn/dqn.meta wan", ["list", "dqn/dqn.meta", "wanted"]),
    ("gedit list dqn/dqn.meta online/hid\tBiasA", ["list", "dqn/dqn.meta", "online/hidden/BiasAdd"]),
    ("gedit list dqn/dqn.meta op:RandomU", ["list", "dqn/dqn.meta", "op:RandomUniform"]),
    ("gedit list dqn/dqn.meta 'var: & onl\t", ["list", "dqn/dqn.meta", "var: & online/"]),
    ("gedit list dqn/dqn.meta collection:trainable_v", ["list", "dqn/dqn.meta", "collection:trainable_variables"]),
    ("gedit copy dqn/dqn.meta --outputs=online/q_v", ["copy", "dqn/dqn.meta", "--outputs=online/q_values"]),
    ("gedit convert dqn/dqn.meta --format=saved", ["convert", "dqn/dqn.meta", "--format=saved_model"]),
    ("gedit merge one=dqn/dqn.meta two=dqn/dqn.meta --input-map two/state=one/onl\tq_v",
     ["merge", "one=dqn/dqn.meta", "two=dqn/dqn.meta", "--input-map", "two/state=one/online/q_values"]),
    ("gedit checkpoint get dqn/dqn online/no\tsc", ["checkpoint", "get", "dqn/dqn", "online/norm/scale"]),
    ("gedit signature remove half_plus_two serv", ["signature", "remove", "half_plus_two", "serving_default"]),
    ("gedit inspect 'with bl\tnet.p", ["inspect", "with blank/net.pb"]),
    ("gedit inspect with\tnet.p", ["inspect", "with blank/net.pb"]),
    ("gedit inspect nowhere/x", ["inspect", "nowhere/x"]),
    ("gedit convert dqn/dqn.meta -o unseen.b", ["convert", "dqn/dqn.meta", "-o", "unseen.bin"]),
]
# What is typed, and what is shown at TAB TAB.
SHOWN = [
    ("gedit check", ["check", "checkpoint"]),
    ("gedit list dqn/dqn.meta online/", ["hidden/", "norm/", "q_values"]),
]

SHELLS = {
    "bash": (["--norc", "--noprofile", "-i"], "PS1='> '; bind 'set bell-style none'; source <(gedit completion bash)\n"),
    "zsh": (["-f", "-i"], "PS1='> '; autoload -U compinit; compinit -u -D; source <(gedit completion zsh)\n"),
    "fish": (["--no-config", "-i"], "function fish_prompt; echo '> '; end; gedit completion fish | source\n"),
}


class Terminal:
    """A shell that a person types into."""

    def __init__(self, shell, folder, environment):
        arguments, start = SHELLS[shell]
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(shell, [shell, *arguments], environment)
        self.type(start + "printf 'rea%s' dy\n")
        self.read_until("ready")

    def type(self, text):
        os.write(self.file, text.encode())

    def read_until(self, end, seconds=SECONDS):
        """What is printed, up to `end`; all that comes where it never does."""
        text, last = "", time.monotonic() + seconds
        while end not in text and time.monotonic() < last:
            if select.select([self.file], [], [], 0.1)[0]:
                try:
                    text += os.read(self.file, 65536).decode(errors="replace")
                except OSError:
                    break
        return text

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.file)


def answer(terminal, log, typed):
    """The words that the program gets when `typed` is completed and entered."""
    log.write_text("")
    for piece in typed.removesuffix("\t").split("\t"):
        terminal.type(piece)
        time.sleep(0.05)
        terminal.type("\t")
        line = terminal.read_until("\0", 0.4)
    terminal.type("'\n" if typed.count("'") % 2 and not line.rstrip().endswith("'") else "\n")
    end = time.monotonic() + SECONDS
    while not log.read_text().endswith("\n\n") and time.monotonic() < end:
        time.sleep(0.02)
    return log.read_text().splitlines()[:-1]


def faults(shell, folder, environment):
    log = folder / "log"
    terminal = Terminal(shell, folder / "work", environment)
    for typed, expected in COMPLETED:
        got = answer(terminal, log, typed)
        if got != expected:
            yield "%s: %r became %r, not %r" % (shell, typed, got, expected)
    terminal.close()
    for typed, expected in SHOWN if shell != "fish" else []:  # which shows nothing on a dumb terminal
        terminal = Terminal(shell, folder / "work", environment)
        terminal.type(typed)
        time.sleep(0.05)
        terminal.type("\t\t")
        shown = terminal.read_until(expected[-1], SECONDS)
        for word in expected:
            if word not in shown.replace(typed, "", 1):
                yield "%s: %r does not show %s: %r" % (shell, typed, word, shown)
        terminal.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    gedit = pathlib.Path(parser.parse_args().gedit).resolve()
    there = [shell for shell in SHELLS if shutil.which(shell)]
    print("".join("skipped: %s is not installed\n" % shell for shell in SHELLS if shell not in there), end="")
    if not there:
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        work = folder / "work"
        work.mkdir()
        for model in ("dqn", "half_plus_two"):
            shutil.copytree(SOURCE / "testdata" / model, work / model)
        (work / "with blank").mkdir()
        subprocess.run([gedit, "convert", work / "dqn/dqn.meta", "-q", "-o", work / "with blank/net.pb"], check=True)
        (work / "unseen.bin").write_bytes(b"")
        # Answers what shells ask; of what is entered it only notes the words.
        program = folder / "bin/gedit"
        program.write_text('#!/bin/sh\ncase $1 in\n  __complete | completion) exec %s "$@" ;;\nesac\n'
                           "printf '%%s\\n' \"$@\" '' >> %s\n" % (gedit, folder / "log"))
        program.chmod(0o755)
        environment = {"PATH": "%s:%s" % (folder / "bin", os.environ["PATH"]), "HOME": str(work), "TERM": "dumb",
                       "LC_ALL": "C.UTF-8", "COLUMNS": "200"}
        for shell in there:
            wrong += faults(shell, folder, environment)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
