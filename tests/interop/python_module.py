#!/usr/bin/env python3
"""gedit_tf with TensorFlow's own message classes: tests/python_module.py, run by this Python."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    gedit = pathlib.Path(parser.parse_args().gedit).resolve()
    environment = dict(os.environ, PYTHONPATH=str(SOURCE / "python"), GEDIT_TF_PROGRAM=str(gedit), PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([sys.executable, str(SOURCE / "tests/python_module.py")], env=environment, cwd=folder,
                              check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
