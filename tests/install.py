#!/usr/bin/env python3
"""What is installed is enough to build on: a face of few headers, and examples/ built against it through find_package(gedit).

    install.py --gedit BUILD/gedit
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
MOST_HEADERS = 24


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit("%s\n%s" % (" ".join(map(str, command)), done.stdout))
    return done.stdout


def faults(include):
    headers = sorted(path.relative_to(include) for path in include.rglob("*.h"))
    if not 1 <= len(headers) <= MOST_HEADERS:
        yield "%d headers are installed, %d at most" % (len(headers), MOST_HEADERS)
    for header in headers:
        text = (include / header).read_text()
        if not text.startswith("// "):
            yield "%s does not begin with what it is for" % header
        for included in re.findall(r'#include "([^"]+)"', text):
            if pathlib.Path(included) not in headers:
                yield "%s includes %s, which is not installed" % (header, included)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    gedit = pathlib.Path(parser.parse_args().gedit).resolve()
    with tempfile.TemporaryDirectory() as folder:
        prefix, build = pathlib.Path(folder) / "prefix", pathlib.Path(folder) / "build"
        run("cmake", "--install", gedit.parent, "--prefix", prefix)
        wrong = list(faults(prefix / "include" / "gedit"))
        print("\n".join(wrong))
        run("cmake", "-S", SOURCE / "examples", "-B", build, "-G", "Ninja", "-DCMAKE_PREFIX_PATH=%s" % prefix)
        run("cmake", "--build", build)
        model, ours, theirs = SOURCE / "testdata/dqn/dqn.meta", build / "ours.meta", build / "theirs.meta"
        print(run(build / "copy_network", model, "online/", "twin", ours), end="")
        run(prefix / "bin" / "gedit", "copy", model, "-s", "online/", "--scope", "twin", "-q", "-o", theirs)
        if ours.read_bytes() != theirs.read_bytes():
            wrong.append("the example makes another file than the program")
            print(wrong[-1])
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
