#!/usr/bin/env python3
"""Every example of every man page is typed as it stands, and does what it is an example of.

    man_pages.py --gedit BUILD/gedit

Each in a folder of its own, with the files that tests/man/make made for its page. Programs of others that an example hands
something to, and that are not here, read it and say nothing.
"""
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import zipfile

import program

GEDIT = None
ROOT = pathlib.Path(__file__).resolve().parent.parent
MAY_SAY_NO = ("gedit diff", "gedit check ", "gedit prove", "gedit checkpoint diff", "gedit checkpoint verify")
OTHERS = "jq", "tensorboard", "man", "dot"
SHAPES = {
    "conv1/bias": [8], "conv1/w": [3, 3, 3, 8], "dense/kernel": [2, 2], "a/w": [2], "old/w": [2], "tower_0/v": [4, 2], "head/gamma": [4],
    "dense/adam_m": [4], "dense/adam_v": [4], "dense/Adam": [4], "beta1_power": [], "w": [4], "w/ExponentialMovingAverage": [4],
    "global_step": [], "embedding/table": [8, 2], "large": [600, 500]}


def npy(shape):
    """Ones, float32, as numpy writes them."""
    head = str({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)}).ljust(117).encode() + b"\n"
    count = 1
    for size in shape:
        count *= size
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<f", 1) * count


def examples(page):
    """The lines of its examples, as a terminal shows them."""
    lines = page.read_text().splitlines()
    begin = lines.index(".SH EXAMPLES")
    shown = lines[begin + 2:lines.index(".fi", begin)]
    return [line.replace("\\-", "-").replace("\\&", "").replace("\\(aq", "'").replace("\\e", "\\") for line in shown]


def written(folder, command):
    """What another example reads lies where this one writes."""
    for word in re.findall(r" -o ([^ ;]+)", command) if " -O " not in command else []:
        yield from [path for path in [folder / word, *folder.glob(word + ".index"), *folder.glob(word + ".data-*")] if path.exists()]


class ManPages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        programs, home = self.folder / "bin", self.folder / "home"
        for made in (programs, home):
            made.mkdir()
        (programs / "gedit").symlink_to(GEDIT)
        for name in OTHERS:
            if shutil.which(name) is None:
                (programs / name).write_text("#!/bin/sh\ncat > /dev/null\n")
                (programs / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": "%s:%s" % (programs, os.environ["PATH"]), "HOME": str(home), "EDITOR": "true",
                            "TESTDATA": str(ROOT / "testdata"), "LC_ALL": "C.UTF-8"}

    def type(self, command, folder):
        return subprocess.run(["bash", "-c", command], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def test_examples(self):
        count = 0
        for page in sorted((ROOT / "man").glob("gedit-*.1")):
            name = page.stem[len("gedit-"):]
            made = self.folder / name
            made.mkdir()
            with zipfile.ZipFile(made / "w.npz", "w") as archive:
                for tensor, shape in SHAPES.items():
                    archive.writestr(tensor + ".npy", npy(shape))
            done = self.type("%s %s" % (ROOT / "tests/man/make", name), made)
            self.assertEqual(done.returncode, 0, "%s: %s" % (name, done.stdout))
            for i, command in enumerate(examples(page)):
                with self.subTest(page=name, command=command):
                    own = self.folder / ("%s.%d" % (name, i))
                    shutil.copytree(made, own, symlinks=True)
                    for old in written(own, command):
                        shutil.rmtree(old) if old.is_dir() else old.unlink()
                    done = self.type(command, own)
                    self.assertLessEqual(done.returncode, int(command.startswith(MAY_SAY_NO)), done.stdout)
                    count += 1
        self.assertGreater(count, 60)


if __name__ == "__main__":
    GEDIT = program.under_test()
    unittest.main()
