#!/usr/bin/env python3
"""The wheel in clean virtual environments: installed, asked from Python with messages of protobuf's own classes, removed.

    packages.py --gedit BUILD/gedit [--keep FOLDER]

The wheel is made of the program under test. Skips where pip cannot have what builds it.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PYTHONS = ("3.8", "3.13")
PROGRAMS = ("gedit", "gedit-tf")


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)


def must(*command, **more):
    done = run(*command, **more)
    if done.returncode:
        sys.exit("%s\n%s" % (" ".join(map(str, command)), done.stdout))
    return done.stdout


def interpreter(version):
    """A Python of this version: on PATH, or of pyenv."""
    found = shutil.which("python" + version)
    folders = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"), "versions")
    # pyenv has a python3.8 on PATH that starts nothing unless it is chosen.
    for candidate in [*([found] if found else []), *sorted(folders.glob(version + ".*/bin/python3"))]:
        if run(candidate, "-c", "import venv").returncode == 0:
            return candidate
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    gedit = pathlib.Path(parser.parse_args().gedit).resolve()
    pythons = {version: interpreter(version) for version in PYTHONS}
    for version in PYTHONS:
        if not pythons[version]:
            print("skipped: there is no Python %s" % version)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder,
                   "--config-settings=cmake.define.GEDIT_BINARY=%s" % gedit, SOURCE)
        wheels = list(folder.glob("*.whl"))
        if not wheels or not any(pythons.values()):
            print("skipped: no wheel can be built here: %s" % made.stdout.strip().splitlines()[-1:])
            return 77
        tested = 0
        for version, python in pythons.items():
            tested += bool(python) and installed(python, folder / version, wheels[0], folder)
        return 0 if tested else 77


def installed(python, home, wheel, folder):
    must(python, "-m", "venv", home)
    bin_folder = home / "bin"
    before = sorted(home.rglob("*"))
    must(bin_folder / "pip", "install", "--quiet", wheel)
    must(bin_folder / "pip", "check")
    for program in PROGRAMS:
        must(bin_folder / program, "--version")
        line = must(bin_folder / program, "completion", "bash").splitlines()[-1]
        if line != "complete -F _gedit " + program:
            sys.exit("%s completes by: %s" % (program, line))
        said = run(bin_folder / program, "select").stdout.strip()
        if said != "{0} select: FILE is required; hint: {0} select --help".format(program):
            sys.exit("%s says: %s" % (program, said))
    must(bin_folder / "python", "-m", "gedit_tf", "help", "copy")
    must(bin_folder / "pip", "uninstall", "--quiet", "--yes", "gedit-tf")
    left = [str(path) for path in set(home.rglob("*")) - set(before)
            if "__pycache__" not in path.parts and not path.is_dir()]  # pip leaves the folders of data
    if left:
        sys.exit("uninstalled, it leaves %s" % left)
    must(bin_folder / "pip", "install", "--quiet", wheel)
    if run(bin_folder / "pip", "install", "--quiet", "protobuf").returncode:
        print("skipped: protobuf cannot be had for %s" % python)
        return 0
    descriptors = folder / "messages.pb"
    must("protoc", "--include_imports", "--descriptor_set_out=%s" % descriptors, "-I", SOURCE / "proto",
         *sorted((SOURCE / "proto").rglob("*.proto")))
    print(must(bin_folder / "python", SOURCE / "tests/python_module.py", "--descriptors", descriptors, cwd=folder), end="")
    return 1


if __name__ == "__main__":
    sys.exit(main())
