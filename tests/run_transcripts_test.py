#!/usr/bin/env python3
"""Holds the transcript runner to its own description: what it accepts, what it reports, what --rebase writes."""
import os
import stat
import subprocess
import sys
import tempfile
import unittest

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_transcripts.py")

# (what it shows, transcript, whether it holds, the transcript after --rebase or None where that changes nothing)
CASES = [
    ("output, exit status and stderr", "$ echo a; echo b >&2; exit 3\na\n! b\n? 3\n", True, None),
    ("another output", "$ echo a\nb\n", False, "$ echo a\na\n"),
    ("another exit status", "$ exit 4\n", False, "$ exit 4\n? 4\n"),
    ("a status that is not there", "$ true\n? 4\n", False, "$ true\n"),
    ("stderr that nobody expects", "$ echo w >&2\n", False, "$ echo w >&2\n! w\n"),
    ("a failure before a pipe", "$ false | cat\n? 1\n", True, None),
    ("input files", "-- d/in.gtxt\nx = A()\n\n$ cat d/in.gtxt\nx = A()\n", True, None),
    ("base64", "-- in.pb base64\nAAEC\n$ od -An -tx1 in.pb\n 00 01 02\n", True, None),
    ("escapes", "-- in\n\\# a\n\\$ b\n\\\\c\n! d\n$ cat in\n\\# a\n\\$ b\n\\\\c\n\\! d\n", True, None),
    ("comments stay", "# one\n$ echo a\nb\n\n# two\n$ echo c\nc\n", False, "# one\n$ echo a\na\n\n# two\n$ echo c\nc\n"),
    ("any lines", "$ seq 9\n1\n...\n9\n", True, None),
    ("any lines, but not the last", "$ seq 9\n1\n...\n8\n", False, None),
    ("any lines of stderr", "$ seq 9 >&2\n! 1\n! ...\n! 9\n", True, None),
    ("dots that are meant", "$ echo ...\n\\...\n", True, None),
    ("blank last line", "$ printf 'a\\n\\n'\na\n\\\n", True, None),
    ("no newline at the end", "$ printf a\na\n\\<no newline>\n", True, None),
    ("no newline, unexpected", "$ printf a\na\n", False, "$ printf a\na\n\\<no newline>\n"),
    ("a command over two lines", "$ echo a \\\n  b\na b\n", True, None),
    ("the folder is empty", "$ ls -A\n", True, None),
    ("testdata", "$ test -f testdata/README.md && echo there\nthere\n", True, None),
    ("one folder for all commands", "$ echo a > f\n\n$ cat f\na\n", True, None),
    ("not UTF-8", "$ printf '\\377\\n'\n\udcff\n", True, None),
    ("the program under test", "$ gedit x\ngedit says x\n", True, None),
]


class Runner(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.gedit = os.path.join(self.scratch.name, "program")
        with open(self.gedit, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho gedit says $1\n")
        os.chmod(self.gedit, stat.S_IRWXU)

    def tearDown(self):
        self.scratch.cleanup()

    def run_on(self, text, *options):
        path = os.path.join(self.scratch.name, "t.test")
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            file.write(text)
        done = subprocess.run([sys.executable, RUNNER, "--gedit", self.gedit, *options, path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            return done.returncode, done.stdout.decode(errors="replace"), file.read()

    def test_cases(self):
        for about, text, holds, rebased in CASES:
            with self.subTest(about):
                status, said, after = self.run_on(text)
                self.assertEqual(status, 0 if holds else 1, said)
                self.assertEqual(after, text)
                status, said, after = self.run_on(text, "--rebase")
                self.assertEqual(status, 0, said)
                if holds or rebased is not None:
                    self.assertEqual(after, rebased or text)
                status, said, again = self.run_on(after)
                self.assertEqual((status, again), (0, after), said)

    def test_a_crash_is_never_recorded(self):
        for text in ("$ kill -SEGV $$\n", "$ sh -c 'kill -ABRT $$'; exit 134\n? 134\n"):
            self.assertEqual(self.run_on(text, "--rebase")[0], 1)

    def test_malformed(self):
        for text in ("text\n", "", "# only\n", "-- a b c\n$ true\n", "$ true\n-- late\n"):
            self.assertEqual(self.run_on(text)[0], 1, text)


if __name__ == "__main__":
    # ctest gives every Python test the program; this one brings its own.
    unittest.main(argv=sys.argv[:1])
