#!/usr/bin/env python3
"""What gedit says on a terminal and nowhere else: a line of progress after a second; and the hook that checks before a commit.

    terminal.py --gedit BUILD/gedit
"""
import os
import pathlib
import pty
import re
import shlex
import subprocess
import tempfile
import unittest

import program

ROOT = pathlib.Path(__file__).resolve().parent.parent
GEDIT = None
GRAPH = "a/x = NoOp()\na/y = NoOp(^a/x)\n"
BROKEN = "y = Relu(x) {T: DT_FLOAT}\n"
# Stands in for Graphviz, which would be too fast: the line comes after a second, this takes three.
SLOW_DOT = "#!/bin/sh\ncat > /dev/null\nsleep 3\necho '<svg width=\"8pt\"></svg>'\n"


class Terminal(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "m.gtxt").write_text(GRAPH)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/gedit-tf").symlink_to(GEDIT)
        self.environment = {**os.environ, "PATH": "%s:%s" % (self.folder / "bin", os.environ["PATH"])}

    def slow_dot(self):
        (self.folder / "bin/dot").write_text(SLOW_DOT)
        (self.folder / "bin/dot").chmod(0o755)

    def on_terminal(self, *arguments):
        """What a terminal is sent by standard error, and the exit status."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([GEDIT, *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        text = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            text += piece
        os.close(ours)
        return text.decode(), process.wait()

    def test_progress(self):
        self.slow_dot()
        text, status = self.on_terminal("draw", "m.gtxt", "-o", "m.svg")
        self.assertEqual(status, 0)
        self.assertIn("\rgedit: dot lays the picture out, 1 s", text)
        self.assertTrue(text.endswith("\r\033[K"), repr(text))  # the line is gone in the end

    def test_nothing_that_is_quick(self):
        text, status = self.on_terminal("check", "m.gtxt")
        self.assertEqual((text.replace("\r\n", "\n"), status), ("0 errors, 0 warnings\n", 0))

    def test_nothing_elsewhere(self):
        self.slow_dot()
        done = subprocess.run([GEDIT, "draw", "m.gtxt", "-o", "m.svg"], cwd=self.folder, env=self.environment,
                              capture_output=True, check=False)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"", b"", 0))

    def test_hooks(self):
        entries = re.findall(r"^  entry: (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE)
        self.assertEqual(len(entries), 2)
        (self.folder / "broken.gtxt").write_text(BROKEN)
        for entry in entries:
            for files, status in ((["m.gtxt"], 0), (["m.gtxt", "broken.gtxt"], 1), (["broken.gtxt", "m.gtxt"], 1)):
                done = subprocess.run([*shlex.split(entry), *files], cwd=self.folder, env=self.environment,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, status, done.stdout + done.stderr)
                self.assertEqual("error input y" in done.stdout, status == 1)


if __name__ == "__main__":
    GEDIT = program.under_test()
    unittest.main()
