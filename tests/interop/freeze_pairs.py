#!/usr/bin/env python3
"""What gedit freezes computes the same numbers: as the graph that TensorFlow froze of the same model, where that
lies beside it, and as the model itself, for every signature of every SavedModel with values in the corpus of GEDIT_SHARED."""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import bare_tensorflow  # noqa: F401
import numpy as np
import tensorflow.compat.v1 as tf

from real_files import SKIPPED, shared


# Frozen by TensorFlow, and what it was frozen of: file, further arguments.
PAIRS = [
    ("dl4j-simple-freeze-pair/simple_graph/frozen_model.pb", "dl4j-simple-freeze-pair/simple_graph/data-all-1000.meta", []),
    ("dotnet-cifar-freeze-pair/cifar_model/frozen_model.pb", "dotnet-cifar-freeze-pair/cifar_model/model.ckpt.meta", []),
    ("dotnet-cifar-freeze-pair/model_matmul/frozen_saved_model.pb", "dotnet-cifar-freeze-pair/model_matmul", []),
    ("tf2onnx-regression-freeze-pair/graphdef/frozen.pb", "tf2onnx-regression-freeze-pair/checkpoint/model.meta", []),
    ("tf2onnx-regression-freeze-pair/graphdef/frozen.pb", "tf2onnx-regression-freeze-pair/saved_model", []),
]


def read_graph(path):
    graph = tf.GraphDef()
    with open(path, "rb") as file:
        graph.ParseFromString(file.read())
    return graph


def example(tensor, generator):
    """Some value for a tensor; 2 for each size that is open."""
    shape = [2 if size is None else size for size in tensor.shape.as_list()] if tensor.shape.rank is not None else [2]
    dtype = tensor.dtype.base_dtype
    if dtype == tf.string:
        text = b"1"
        if "example" in tensor.name:
            features = {name: tf.train.Feature(float_list=tf.train.FloatList(value=[1.5])) for name in ("x", "x2")}
            text = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
        return np.full(shape, text, object)
    if dtype == tf.bool:
        return np.zeros(shape, bool)
    if dtype.is_integer:
        return generator.integers(0, 2, shape).astype(dtype.as_numpy_dtype)
    return generator.random(shape).astype(dtype.as_numpy_dtype)


def differs(got, want):
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype != want.dtype:
        return "%s%s instead of %s%s" % (got.dtype, got.shape, want.dtype, want.shape)
    if want.dtype.kind in "fc":
        return None if np.allclose(got, want, rtol=1e-5, atol=1e-6, equal_nan=True) else "other numbers"
    return None if np.array_equal(got, want) else "other values"


def run(graph, feeds, fetches, init=None):
    with tf.Graph().as_default() as built, tf.Session(graph=built) as session:
        tf.import_graph_def(graph, name="")
        if init is not None:
            session.run(init, feeds)
        return session.run(fetches, feeds)


class Checker:
    def __init__(self, gedit, corpus):
        self.gedit, self.corpus, self.failures, self.checked = os.path.abspath(gedit), corpus, [], 0

    def freeze(self, folder, *arguments):
        output = os.path.join(folder, "out.pb")
        done = subprocess.run([self.gedit, "freeze", *arguments, "-q", "-O", "-o", output], stderr=subprocess.PIPE,
                              check=False)
        return output, done.stderr.decode().strip() if done.returncode else None

    def fail(self, name, what):
        self.failures.append("%s: %s" % (name, what))

    def pair(self, frozen, source, arguments):
        name = "%s -> %s" % (source, os.path.basename(frozen))
        want = read_graph(os.path.join(self.corpus, frozen))
        read = {i.lstrip("^").split(":")[0] for node in want.node for i in node.input}
        outputs = [node.name for node in want.node if node.name not in read and node.op != "Const"]
        with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default() as graph:
            path, error = self.freeze(folder, os.path.join(self.corpus, source), "--outputs", ",".join(outputs), *arguments)
            if error:
                return self.fail(name, error)
            got = read_graph(path)
            tf.import_graph_def(want, name="")
            generator = np.random.default_rng(1)
            feeds = {o.outputs[0].name: example(o.outputs[0], generator) for o in graph.get_operations()
                     if o.type == "Placeholder"}
            self.checked += 1
            for output, a, b in zip(outputs, run(got, feeds, [o + ":0" for o in outputs]),
                                    run(want, feeds, [o + ":0" for o in outputs])):
                if problem := differs(a, b):
                    self.fail(name, "%s: %s" % (output, problem))

    def model(self, folder):
        name = os.path.relpath(folder, self.corpus)
        try:
            signatures = self.original(folder)
        except Exception as error:  # what this TensorFlow cannot run is no measure
            print("passed over: %s: %s" % (name, str(error).split("\n")[0][:120]))
            return
        for tags, key, feeds, fetches, want in signatures:
            self.signature("%s %s" % (name, key), folder, tags, key, feeds, fetches, want)

    def signature(self, name, folder, tags, key, feeds, fetches, want):
        with tempfile.TemporaryDirectory() as scratch:
            path, error = self.freeze(scratch, folder, "--signature", key, *(["--tag-set", ",".join(tags)] if tags else []))
            if error:
                return self.fail(name, error)
            self.checked += 1
            graph = read_graph(path)
            left = [node.name for node in graph.node if node.op in ("VariableV2", "Variable", "VarHandleOp") and
                    node.attr["dtype"].type != tf.string.as_datatype_enum]
            if left:
                return self.fail(name, "%s is still a variable" % left[0])
            nodes = {node.name: node for node in graph.node}
            init = [n for n in self.init if n in nodes]
            feeds = {n: v for n, v in {**feeds, **self.assets}.items() if n.split(":")[0] in nodes}
            try:
                got = run(graph, feeds, fetches, init or None)
            except Exception as error:
                return self.fail(name, " ".join(str(error).split("\n")[:4])[:400])
            for tensor, a, b in zip(fetches, got, want):
                if problem := differs(a, b):
                    self.fail(name, "%s: %s" % (tensor, problem))

    def original(self, folder):
        """(tags, key, feeds, fetches, values) of each signature that runs."""
        from tensorflow.python.saved_model import loader_impl
        parsed = loader_impl.parse_saved_model(folder)
        found = []
        for meta in parsed.meta_graphs:
            tags = list(meta.meta_info_def.tags)
            for key in sorted(k for k in meta.signature_def if not k.startswith("__")):
                # A session for each, since a signature may train.
                with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
                    loaded = tf.saved_model.load(session, tags, folder)
                    init = loader_impl.get_init_op(loaded)
                    self.init = [] if init is None else [init.name]
                    self.assets = dict(loader_impl.get_asset_tensors(folder, loaded))
                    signature = loaded.signature_def[key]
                    infos = list(signature.inputs.values()) + list(signature.outputs.values())
                    if not signature.outputs or any(not info.name for info in infos):
                        continue
                    generator = np.random.default_rng(1)
                    feeds = {i.name: example(graph.get_tensor_by_name(i.name), generator) for i in signature.inputs.values()}
                    fetches = [info.name for info in signature.outputs.values()]
                    try:
                        want = session.run(fetches, feeds)
                    except Exception as error:  # examples, say, which random bytes are not
                        print("passed over: %s %s: %s" % (folder, key, str(error).split("\n")[0][:100]))
                        continue
                    found.append((tags if len(parsed.meta_graphs) > 1 else [], key, feeds, fetches, want))
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gedit", required=True)
    parser.add_argument("folders", nargs="*", help="these SavedModels instead of the corpus")
    arguments = parser.parse_args()
    corpus = shared("corpus")
    if not corpus:
        return SKIPPED
    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.FATAL)
    checker = Checker(arguments.gedit, corpus)
    if not arguments.folders:
        for pair in PAIRS:
            checker.pair(*pair)
    files = glob.glob(os.path.join(corpus, "**", "saved_model.pb*"), recursive=True)
    for folder in arguments.folders or sorted({os.path.dirname(file) for file in files}):
        complete = os.path.exists(os.path.join(folder, "variables", "variables.index")) and glob.glob(
            os.path.join(folder, "variables", "variables.data-*"))
        if complete:
            checker.model(folder)
    for failure in checker.failures:
        print(failure)
    print("%d frozen graphs, %d failures" % (checker.checked, len(checker.failures)))
    return 1 if checker.failures or checker.checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
