#!/usr/bin/env python3
"""Runs transcripts: .test files that hold inputs, shell commands, and what these print.

  run_transcripts.py --gedit build/release/gedit tests/rename/*.test
  run_transcripts.py --gedit build/release/gedit --rebase tests/rename/*.test    writes today's answers into the files

A transcript is read line by line:

  # text           a comment, anywhere
  -- NAME          the following lines are the input file NAME (folders on the way are made)
  -- NAME base64   the same; the lines are base64 of its bytes
  $ COMMAND        run by bash (with pipefail), `gedit` first on PATH, standard input empty; a `\\` at the end of
                   the line joins the next
  text             after a command: a line of its standard output
  ! text           after a command: a line of its standard error
  ? N              after a command: its exit status, where that is not 0
  ...              after a command, alone on a line (or as `! ...`): any lines, or none

Blank lines at the end of a file or an output do not belong to it. A line that begins with something that would be
misread (`#`, `-- `, `$ `, and in an output `! `, `? `, a lone `...` too) or with a backslash gets a backslash in front; a
lone backslash is a blank line that does belong. `\\<no newline>` as the last line of an output says that its last line
does not end.

All commands of one transcript run in one scratch folder, empty but for the input files; where a command says
`testdata/`, that is a link to the repository's folder of this name. An input NAME.ckpt.gtxt becomes the checkpoint
NAME.ckpt, made by `gedit checkpoint convert`.
"""
import argparse
import base64
import concurrent.futures
import difflib
import os
import subprocess
import sys
import tempfile

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NO_NEWLINE = "\\<no newline>"
FILE_MARKS = ("#", "-- ", "$ ", "\\")
OUTPUT_MARKS = FILE_MARKS + ("! ", "? ")
SECONDS = 120


class Malformed(Exception):
    """The transcript itself cannot be read."""


class Input:
    """A file laid out before the first command."""

    def __init__(self, name, binary):
        self.name, self.binary, self.lines = name, binary, []

    def content(self):
        lines = trimmed(self.lines)
        if self.binary:
            return base64.b64decode("".join(lines), validate=True)
        return "".join(unescaped(line) + "\n" for line in lines).encode("utf-8", "surrogateescape")


class Command:
    """A command, and what the transcript says of it: stdout and stderr as written there, and the exit status.

    first and last bound the answer's lines in the file, for --rebase.
    """

    def __init__(self, text, first):
        self.text, self.first, self.last = text, first, first
        self.stdout, self.stderr, self.status = [], [], 0

    def answer(self):
        return rendered(trimmed(self.stdout), self.stderr, self.status)


def trimmed(lines):
    end = len(lines)
    while end and not lines[end - 1]:
        end -= 1
    return lines[:end]


def unescaped(line):
    return line[1:] if line.startswith("\\") else line


def escaped(line, marks):
    return "\\" + line if line.startswith(marks) or line == "..." else line


def escaped_output(data):
    """The lines of an output as a transcript writes them."""
    text = data.decode("utf-8", "surrogateescape")
    if not text:
        return []
    lines = text.split("\n")
    ends = lines.pop() == ""
    if not ends:
        lines = text.split("\n")
    lines = [escaped(line, OUTPUT_MARKS) for line in lines]
    if lines[-1] == "":
        lines[-1] = "\\"
    return lines if ends else lines + [NO_NEWLINE]


def rendered(stdout, stderr, status):
    return stdout + ["! " + line for line in stderr] + (["? %d" % status] if status else [])


def parse(lines):
    """(inputs, commands) of a transcript's lines."""
    inputs, commands, section = [], [], None
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if line.startswith("#"):
            continue
        if line.startswith("-- "):
            words = line.split()[1:]
            if not words or words[1:] not in ([], ["base64"]):
                raise Malformed("line %d: -- NAME, or -- NAME base64" % number)
            if commands:
                raise Malformed("line %d: inputs stand before the first command" % number)
            section = Input(words[0], len(words) == 2)
            inputs.append(section)
        elif line.startswith("$ "):
            text = line[2:]
            while text.endswith("\\") and number < len(lines):
                text = text[:-1] + lines[number].lstrip()
                number += 1
            section = Command(text, number)
            commands.append(section)
        elif section is None:
            if line:
                raise Malformed("line %d: neither comment nor input nor command: %s" % (number, line))
        elif isinstance(section, Input):
            section.lines.append(line)
        else:
            if line.startswith("? "):
                section.status = int(line[2:])
            elif line == "!" or line.startswith("! "):
                section.stderr.append(line[2:])
            else:
                section.stdout.append(line)
            if line:
                section.last = number
    if not commands:
        raise Malformed("no command")
    return inputs, commands


def fits(expected, got):
    """Whether the lines are those expected, where `...` stands for any number of lines."""
    reached = {0}  # how many of got the expected lines so far can have used up
    for line in expected:
        if line == "...":
            reached = set(range(min(reached), len(got) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(got) and got[at] == line}
    return len(got) in reached


def lay_out(inputs, commands, folder, environment):
    for item in inputs:
        path = os.path.join(folder, item.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(item.content())
        if item.name.endswith(".ckpt.gtxt"):
            made = subprocess.run(["gedit", "checkpoint", "convert", item.name, "-q", "-o", item.name[: -len(".gtxt")]],
                                  cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
            if made.returncode:
                raise Malformed("%s: %s" % (item.name, made.stdout.decode(errors="replace").strip()))
            os.remove(path)
    if any("testdata/" in command.text for command in commands):
        os.symlink(os.path.join(REPOSITORY, "testdata"), os.path.join(folder, "testdata"))


def run(path, gedit, rebase):
    """What is wrong with one transcript, as text; empty where it holds. Rewrites the file where asked to."""
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        lines = file.read().split("\n")
    if lines[-1] == "":
        lines.pop()
    try:
        inputs, commands = parse(lines)
        with tempfile.TemporaryDirectory(prefix="gedit-test-") as scratch:
            programs, folder = os.path.join(scratch, "bin"), os.path.join(scratch, "work")
            os.mkdir(programs)
            os.mkdir(folder)
            os.symlink(os.path.abspath(gedit), os.path.join(programs, "gedit"))
            environment = {name: value for name, value in os.environ.items()
                           if not name.startswith("GEDIT_") and name != "COLUMNS"}
            environment.update(PATH=programs + os.pathsep + os.environ.get("PATH", ""), LC_ALL="C.UTF-8",
                               TZ="UTC", NO_COLOR="1", HOME=folder)
            lay_out(inputs, commands, folder, environment)
            return hold(path, lines, commands, folder, environment, rebase)
    except (Malformed, ValueError, subprocess.TimeoutExpired) as error:
        return "%s: %s\n" % (path, error)


def hold(path, lines, commands, folder, environment, rebase):
    answers = []
    wrong = []
    for command in commands:
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + command.text], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=SECONDS, check=False)
        stdout = escaped_output(done.stdout)
        stderr = done.stderr.decode("utf-8", "surrogateescape").splitlines()
        crashed = done.returncode < 0 or done.returncode > 127
        if (not crashed and done.returncode == command.status and fits(trimmed(command.stdout), stdout)
                and fits(command.stderr, stderr)):
            answers.append(command.answer())
            continue
        answers.append(rendered(stdout, stderr, done.returncode))
        if rebase and not crashed:
            continue
        wrong.append("%s:%d: $ %s\n" % (path, command.first, command.text))
        wrong.extend(line + "\n" for line in difflib.unified_diff(command.answer(), answers[-1], "expected", "printed",
                                                                 lineterm="", n=3))
    if rebase and not wrong:
        rewrite(path, lines, commands, answers)
    return "".join(wrong)


def rewrite(path, lines, commands, answers):
    written, at = [], 0
    for command, answer in zip(commands, answers):
        written += lines[at:command.first]
        kept = lines[command.first:command.last]
        written += kept if command.answer() == answer else answer
        at = command.last
    written += lines[at:]
    if written != lines:
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            file.write("".join(line + "\n" for line in written))


def main():
    parser = argparse.ArgumentParser(description="Runs transcripts; see the head of this file for their form.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("--rebase", action="store_true", help="write what is printed today into the transcripts")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="transcripts at a time")
    parser.add_argument("transcripts", nargs="+")
    arguments = parser.parse_args()
    if not os.access(arguments.gedit, os.X_OK):
        parser.error("%s: no such program" % arguments.gedit)
    sys.stdout.reconfigure(errors="surrogateescape")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for fault in pool.map(lambda path: run(path, arguments.gedit, arguments.rebase), arguments.transcripts):
            if fault:
                failed += 1
                sys.stdout.write(fault)
    print("%d of %d transcripts hold" % (len(arguments.transcripts) - failed, len(arguments.transcripts)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
