#!/usr/bin/env python3
"""Runs a test program with a Python that has TensorFlow; a line and exit status 77 where there is none.

    with_tensorflow.py PYTHON PROGRAM [ARGUMENT...]
"""
import os
import subprocess
import sys

from real_files import SKIPPED

FIND = "import importlib.util as u, sys; sys.exit(u.find_spec('tensorflow') is None)"


def main():
    python, *command = sys.argv[1:]
    if not os.path.exists(python) or subprocess.run([python, "-c", FIND], check=False).returncode:
        print("skipped: no TensorFlow at %s; scripts/test installs it, GEDIT_TF_PYTHON names another Python" % python)
        return SKIPPED
    sys.stdout.flush()
    os.execv(python, [python, *command])


if __name__ == "__main__":
    sys.exit(main())
