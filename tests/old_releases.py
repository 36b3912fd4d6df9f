"""Old releases of TensorFlow, whose libraries scripts/tf-release fetches, for the tests that ask them; see old_release.py."""
import json
import os
import shutil
import subprocess
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
NO_PYTHON = "no Python 3.6 or 3.7, which old releases need; GEDIT_OLD_PYTHON names one"


def python():
    for name in (os.environ.get("GEDIT_OLD_PYTHON"), "python3.7", "python3.6"):
        found = shutil.which(name) if name else None
        # pyenv puts names there behind which nothing is.
        if found and subprocess.run([found, "-c", ""], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return found
    return None


def place():
    return os.environ.get("GEDIT_TF_RELEASES") or os.path.expanduser("~/.cache/gedit/tensorflow")


def library(release, folder):
    """The folder of a release's libraries, fetched where it is not there yet; nothing, and a line, where that cannot be."""
    found = os.path.join(folder, release)
    fetched = subprocess.run([os.path.join(os.path.dirname(TESTS), "scripts", "tf-release"), release, found],
                             env=dict(os.environ, PYTHON=sys.executable), stderr=subprocess.PIPE, check=False)
    if fetched.returncode:
        print("skipped: no libraries of TensorFlow %s: %s" % (release, fetched.stderr.decode().strip()[-200:]))
        return None
    return found


def answers(python_of_it, folder, requests):
    """What the release answers to each; where it ends before its time, that is the answer to the one it was at."""
    found = []
    while len(found) < len(requests):
        process = subprocess.run([python_of_it, os.path.join(TESTS, "old_release.py"), folder], stdout=subprocess.PIPE,
                                 input="\n".join(map(json.dumps, requests[len(found):])).encode() + b"\n",
                                 stderr=subprocess.DEVNULL, check=False)
        found += [json.loads(line) for line in process.stdout.splitlines()]
        if len(found) < len(requests):
            found.append({"error": "TensorFlow ended with %d" % process.returncode})
    return found


def imports(python_of_it, folder, graphs):
    """Why each file with a GraphDef is refused; nothing where it is imported."""
    return [answer.get("error", "") for answer in answers(python_of_it, folder, [{"graph": graph} for graph in graphs])]


def imports_here(graph):
    """The same in the TensorFlow of this Python, in a process of its own."""
    program = ("import sys, tensorflow.compat.v1 as tf\n"
               "graph = tf.GraphDef.FromString(open(sys.argv[1], 'rb').read())\n"
               "with tf.Graph().as_default(): tf.import_graph_def(graph, name='')\n")
    done = subprocess.run([sys.executable, "-c", program, graph], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    return "" if done.returncode == 0 else done.stderr.decode(errors="replace").strip().splitlines()[-1]
