#!/usr/bin/env python3
"""TensorFlow's own protobuf classes read what gedit wrote: through a listing, text and JSON the message stays equal.

Over testdata/ and, where GEDIT_SHARED names one, a corpus (files up to LARGEST bytes).
"""
import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import laws

LARGEST = 1 << 20
FORMS = ("gtxt", "pbtxt", "json")


def message_of(path, kind):
    from google.protobuf import text_format
    from tensorflow.core.framework import graph_pb2
    from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2
    message = {"GraphDef": graph_pb2.GraphDef, "MetaGraphDef": meta_graph_pb2.MetaGraphDef,
               "SavedModel": saved_model_pb2.SavedModel}[kind]()
    if os.path.isdir(path):
        binary = os.path.join(path, "saved_model.pb")
        path = binary if os.path.exists(binary) else binary + "txt"
    with open(path, "rb") as file:
        data = file.read()
    try:
        message.ParseFromString(data)
    except Exception:  # protobuf has several classes for it; then it is text, or text_format says what is wrong
        text_format.Parse(data.decode("utf-8"), message)
    return message


def equal(first, second):
    """Equal as messages, the order of map entries aside; NaNs are equal to themselves."""
    return first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True)


def check(task):
    """(path, forms that held, refusals, faults) of one file."""
    gedit, path = task
    held, refused, faults = 0, [], []
    with tempfile.TemporaryDirectory(prefix="gedit-messages-") as scratch:
        subject = laws.Subject(gedit, path, scratch)
        try:
            kind = laws.json.loads(subject.run("inspect", path, "-j"))["kind"]
        except laws.Refused:
            return path, held, refused, faults
        if kind not in laws.OUTPUT:
            return path, held, refused, faults
        before = message_of(path, kind)
        for form in FORMS:
            try:
                text = subject.fresh("in." + form)
                subject.run("convert", path, "-q", "-f", form, "-o", text)
                if not equal(before, message_of(subject.binary(text, kind), kind)):
                    faults.append("%s: another message" % form)
                else:
                    held += 1
            except laws.Refused as refusal:
                refused.append("%s: %s" % (form, refusal))
            except (laws.Broken, subprocess.TimeoutExpired) as error:
                faults.append("%s: %s" % (form, error))
    return path, held, refused, faults


def size_of(path):
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return max(os.path.getsize(os.path.join(path, name)) for name in os.listdir(path) if name.startswith("saved_model.pb"))


def main():
    parser = argparse.ArgumentParser(description="Holds gedit's text forms against TensorFlow's protobuf classes.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("--verbose", action="store_true", help="print refusals too")
    parser.add_argument("files", nargs="*", help="these files instead of testdata/ and the corpus")
    arguments = parser.parse_args()
    files = [os.path.abspath(path) for path in arguments.files]
    if not files:
        corpus = laws.corpus_files(os.path.abspath(arguments.gedit))
        files = [*laws.graph_files(laws.TESTDATA), *(path for path, again in corpus if not again and size_of(path) <= LARGEST)]
    held = refused = broken = 0
    with multiprocessing.Pool(2) as pool:
        for path, forms, refusals, faults in pool.imap_unordered(check, [(os.path.abspath(arguments.gedit), f) for f in files]):
            held += forms
            refused += len(refusals)
            broken += len(faults)
            for fault in faults + (refusals if arguments.verbose else []):
                print("%s: %s" % (os.path.relpath(path, laws.REPOSITORY), fault))
    print("messages: %d files, %d held, %d refused, %d broken" % (len(files), held, refused, broken))
    return 1 if broken or not held else 0


if __name__ == "__main__":
    sys.exit(main())
