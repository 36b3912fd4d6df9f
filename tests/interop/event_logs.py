#!/usr/bin/env python3
"""TensorBoard itself shows the graphs that `gedit convert -f events` writes.

    event_logs.py --gedit GEDIT

TensorBoard (of this Python, else `tensorboard` on PATH) serves a folder of such logs on a free port of this machine, and
is asked over HTTP, as its page asks: which runs have a graph, and what is in it. Its nodes must be those of the file.
"""
import argparse
import contextlib
import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

TESTDATA = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "testdata")
SKIPPED = 77
SECONDS = 90
FILES = {"training": "dqn/dqn.meta", "frozen": "samplenet.pb", "saved_model": "half_plus_two", "functions": "half_plus_two_tf2",
         "text": "functions/functional-while-ops.pbtxt"}


def program():
    if importlib.util.find_spec("tensorboard") is not None:
        return [sys.executable, "-m", "tensorboard.main"]
    found = shutil.which("tensorboard")
    return [found] if found else None


def ask(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/data/plugin/graphs/{path}", timeout=SECONDS) as answer:
        return answer.read().decode()


def wait_for_runs(port, server, runs):
    """Until TensorBoard has read all of them."""
    end = time.monotonic() + SECONDS
    info = {}
    while set(info) != runs:
        assert server.poll() is None, f"TensorBoard ended with {server.returncode}"
        assert time.monotonic() < end, f"in {SECONDS} s TensorBoard found {sorted(info)}, not {sorted(runs)}"
        time.sleep(0.3)
        with contextlib.suppress(urllib.error.URLError):  # it does not listen yet
            info = json.loads(ask(port, "info"))
    return info


@contextlib.contextmanager
def serving(command, logs, scratch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(os.path.join(scratch, "log"), "wb") as log:
        server = subprocess.Popen([*command, "--logdir", logs, "--host", "127.0.0.1", "--port", str(port)], cwd=scratch,
                                  stdout=log, stderr=subprocess.STDOUT)
    try:
        yield port, server
    finally:
        server.terminate()
        server.wait()


def nodes_of(pbtxt):
    """Names of the nodes of the graph, not of its functions, in protobuf's text form."""
    return re.findall(r'^node \{\n  name: "([^"]*)"', pbtxt, re.MULTILINE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    gedit = os.path.abspath(parser.parse_args().gedit)
    command = program()
    if command is None:
        print("skipped: TensorBoard is not there")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="gedit-logs-") as scratch:
        logs = os.path.join(scratch, "logs")
        os.mkdir(logs)
        for run, name in FILES.items():
            subprocess.run([gedit, "convert", os.path.join(TESTDATA, name), "-f", "events", "-q", "-o", os.path.join(logs, run)],
                           check=True)
        with serving(command, logs, scratch) as (port, server):
            info = wait_for_runs(port, server, set(FILES))
            for run, name in FILES.items():
                assert info[run]["run_graph"], f"{run}: TensorBoard finds no graph: {info[run]}"
                shown = nodes_of(ask(port, f"graph?run={run}"))
                wanted = subprocess.run([gedit, "select", os.path.join(TESTDATA, name), "**"], check=True, capture_output=True,
                                        text=True).stdout.split()
                assert sorted(shown) == sorted(wanted), f"{run}: {len(shown)} nodes, not {len(wanted)}"
    print(f"TensorBoard shows {len(FILES)} graphs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
