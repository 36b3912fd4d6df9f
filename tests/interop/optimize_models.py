#!/usr/bin/env python3
"""SavedModels that gedit optimized give the same bits in TensorFlow, signature by signature.

  optimize_models.py --gedit build/release/gedit [FOLDER...]

Over testdata/ and, where GEDIT_SHARED names one, a corpus; with random, negative, zero, denormal and large inputs. Calls of
functions say by `config_proto` how their bodies are optimized when they run, whatever the session says, and what is inlined is
not a body any more: both models run with TensorFlow's own optimizers off in either place.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from bare_tensorflow import bare_config
import numpy as np
import tensorflow
from tensorflow.core.protobuf import saved_model_pb2

from optimize import KINDS, plain
from real_files import folders

tf = tensorflow.compat.v1
MOST_BYTES = 450_000  # of a saved_model.pb where none is named
OPTIONS = ([], ["--inline"], ["--inline", "--lower"], ["--sort", "--strip", "device,class,shapes,debug,defaults,functions"],
           ["--fix", "auto", "--drop", "identity"])


def laid_out(folder, into):
    """The model once more, with no optimizer of TensorFlow's in its calls; its message."""
    shutil.rmtree(into, ignore_errors=True)
    os.makedirs(into)
    for name in os.listdir(folder):
        if name != "saved_model.pb":
            os.symlink(os.path.abspath(os.path.join(folder, name)), os.path.join(into, name))
    model = saved_model_pb2.SavedModel()
    with open(os.path.join(folder, "saved_model.pb"), "rb") as file:
        model.ParseFromString(file.read())
    for meta in model.meta_graphs:
        for nodes in [meta.graph_def.node] + [function.node_def for function in meta.graph_def.library.function]:
            for node in nodes:
                if node.op in ("PartitionedCall", "StatefulPartitionedCall"):
                    node.attr["config_proto"].s = bare_config().SerializeToString()
    with open(os.path.join(into, "saved_model.pb"), "wb") as file:
        file.write(model.SerializeToString())
    return model


def values(shape, dtype, kind, rng):
    if dtype == tf.bool:
        return rng.randint(0, 2, shape).astype(bool)
    if dtype == tf.string:
        return np.full(shape, {"random": b"a", "negative": b"-1", "zero": b"", "denormal": b"0", "large": b"word"}[kind], object)
    if not dtype.is_floating:
        return np.asarray(rng.randint(0, 3, shape)).astype(dtype.as_numpy_dtype)
    drawn = rng.standard_normal(shape)
    drawn = {"random": drawn, "negative": -np.abs(drawn), "zero": np.copysign(0.0, drawn), "denormal": drawn * 1e-40,
             "large": drawn * 1e30}[kind]
    return np.asarray(drawn).astype(dtype.as_numpy_dtype)


def answers(folder, tags):
    """By signature and kind of input: the outputs as bits, or the error's text."""
    found = {}
    with tf.Graph().as_default(), tf.Session(config=bare_config()) as session:
        meta = tf.saved_model.load(session, tags, folder)
        for key, signature in sorted(meta.signature_def.items()):
            outputs = {name: tensor.name for name, tensor in signature.outputs.items() if tensor.name}
            for kind in KINDS if outputs and not key.startswith("__saved_model_") else ():
                rng, fed = np.random.RandomState(5), {}
                for name, tensor in sorted(signature.inputs.items()):
                    shape = tensor.tensor_shape
                    sizes = [2] if shape.unknown_rank else [2 if size.size < 0 else size.size for size in shape.dim]
                    if tensor.name:
                        fed[tensor.name] = values(sizes, tf.as_dtype(tensor.dtype), kind, rng)
                try:
                    found[key, kind] = {name: plain(value) for name, value in session.run(outputs, fed).items()}
                except Exception as error:  # whatever TensorFlow has against it
                    found[key, kind] = str(error)[:300]
    return found


def judge(gedit, folder, scratch, counts):
    """Lines that tell of a fault."""
    before, after, out = (os.path.join(scratch, name) for name in ("before", "after", "out"))
    model = laid_out(folder, before)
    for meta in model.meta_graphs:
        tags = list(meta.meta_info_def.tags)
        try:
            first, second = answers(before, tags), answers(before, tags)
        except Exception as error:  # a model that this TensorFlow does not load
            counts["not loaded"] += 1
            print("%s: not loaded: %s" % (folder, str(error)[:100]))
            continue
        wanted = {key: value for key, value in first.items() if isinstance(value, dict) and second[key] == value}
        for options in OPTIONS if wanted else ():
            shutil.rmtree(out, ignore_errors=True)
            command = [gedit, "optimize", folder, "-o", out, *options]
            if len(model.meta_graphs) > 1:
                command += ["--tag-set", ",".join(tags)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            name = "%s %s %s" % (folder, ",".join(tags), " ".join(options))
            counts["left out"] += "note: step" in done.stderr
            if done.returncode != 0:
                yield "%s: %s" % (name, done.stderr.strip())
                continue
            laid_out(out, after)
            found = answers(after, tags)
            counts["models"] += 1
            counts["runs"] += len(wanted)
            others = [key for key, value in wanted.items() if found.get(key) != value]
            if others:
                told = found.get(others[0])
                yield "%s: %d of %d runs differ, first %s: %s" % (name, len(others), len(wanted), others[0],
                                                                  told if isinstance(told, str) else "")


def models():
    for root in folders("corpus"):
        for place, _, names in sorted(os.walk(root)):
            if "saved_model.pb" in names and os.path.getsize(os.path.join(place, "saved_model.pb")) <= MOST_BYTES:
                yield place


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    parser.add_argument("folders", nargs="*")
    arguments = parser.parse_args()
    counts, faults = {"models": 0, "runs": 0, "left out": 0, "not loaded": 0}, []
    with tempfile.TemporaryDirectory() as scratch:
        for folder in arguments.folders or models():
            found = list(judge(os.path.abspath(arguments.gedit), folder, scratch, counts))
            for fault in found:
                print(fault, flush=True)
            faults += found
    print("%(models)d optimized models, %(runs)d runs, %(left out)d with a step left out; %(not loaded)d were not loaded" % counts)
    return 1 if faults or not counts["runs"] else 0


if __name__ == "__main__":
    sys.exit(main())
