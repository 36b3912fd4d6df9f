#!/usr/bin/env python3
"""gedit shapes against real TensorFlow: every graph of testdata/, and of GEDIT_SHARED's corpus, is imported without its
_output_shapes; gedit must contradict none of the shapes that TensorFlow finds, and know at least as much of 97 % of them. FLOPs are the profiler's.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # NCHW on a CPU is oneDNN's, which not every machine has on by itself
import numpy as np
import tensorflow as tf2
from google.protobuf import text_format
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2
from tensorflow.python.framework import ops
from tensorflow.python.profiler.internal import flops_registry

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import program

tf = tf2.compat.v1
GEDIT = None
LEAST = 0.97
TESTDATA = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "testdata")


def graphs_in(path):
    """The GraphDefs of a file, whatever it is."""
    with open(path, "rb") as file:
        data = file.read()
    for message, take in ((saved_model_pb2.SavedModel, lambda m: [g.graph_def for g in m.meta_graphs]),
                          (meta_graph_pb2.MetaGraphDef, lambda m: [m.graph_def]), (graph_pb2.GraphDef, lambda m: [m])):
        parsed = message()
        try:
            if path.endswith("txt"):
                text_format.Parse(data, parsed)
            else:
                parsed.ParseFromString(data)
        except Exception:  # not this message
            continue
        found = [graph for graph in take(parsed) if graph.node and graph.node[0].op]
        if found:
            return found
    return []


def folders():
    shared = os.environ.get("GEDIT_SHARED", "")
    yield TESTDATA
    if os.path.isdir(os.path.join(shared, "corpus")):
        yield os.path.join(shared, "corpus")


def files():
    for folder in folders():
        for root, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith((".pb", ".pbtxt", ".meta", ".pb.txt")):
                    yield os.path.join(root, name)


def strip(graph):
    for nodes in [graph.node] + [function.node_def for function in graph.library.function]:
        for node in nodes:
            node.attr.pop("_output_shapes", None)
    return graph


def imported(folder, change=strip, wanted=lambda graph_def: True):
    """Every graph that TensorFlow imports once it is stripped: where it is from, a file with it, the graph; None where it does not."""
    stripped, seen = os.path.join(folder, "graph.pb"), set()
    for path in files():
        for graph_def in graphs_in(path):
            if not wanted(graph_def):
                continue
            data = change(graph_def).SerializeToString(deterministic=True)
            if data in seen:
                continue
            seen.add(data)
            graph = tf.Graph()
            try:
                with graph.as_default():
                    tf.import_graph_def(graph_def, name="")
            except Exception:  # an op that it has not, or a graph that it refuses
                graph = None
            with open(stripped, "wb") as file:
                file.write(data)
            yield path, stripped, graph


def dims(shape):
    return None if shape.rank is None else shape.as_list()


def gedit_shapes(path, *options):
    run = subprocess.run([GEDIT, "shapes", path, "-j", "--as", "graph", *options], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, check=False)
    if run.returncode not in (0, 1):
        raise AssertionError(f"{run.returncode}: {run.stderr.decode()}")
    return {entry["tensor"]: entry["shape"] for entry in json.loads(run.stdout)}, run.stderr.decode()


def contradicts(ours, theirs):
    if ours is None or theirs is None:
        return False
    return len(ours) != len(theirs) or any(None not in (a, b) and a != b for a, b in zip(ours, theirs))


def as_specific(ours, theirs):
    if theirs is None:
        return True
    return ours is not None and all(b is None or a is not None for a, b in zip(ours, theirs))


class Imported:
    """What TensorFlow infers while it builds a graph."""

    def __init__(self):
        self.graphs = self.refused = self.total = self.good = self.more = 0
        self.worse, self.wrong, self.said = collections.Counter(), [], []

    def look(self, path, stripped, graph):
        if graph is None:
            self.refused += 1
            return
        self.graphs += 1
        ours, complaint = gedit_shapes(stripped)
        if complaint:
            self.said.append((path, complaint))
        for op in graph.get_operations():
            for tensor in op.outputs:
                theirs, mine = dims(tensor.shape), ours.get(tensor.name)
                self.total += 1
                if contradicts(mine, theirs):
                    self.wrong.append((path, tensor.name, op.type, mine, theirs))
                elif as_specific(mine, theirs):
                    self.good += 1
                    self.more += mine is not None and (theirs is None or mine != theirs)
                else:
                    self.worse[op.type] += 1
                    if os.environ.get("VERBOSE"):
                        print("worse", path, tensor.name, op.type, mine, theirs)

    def judge(self, test):
        print(f"{self.graphs} graphs ({self.refused} that TensorFlow does not import), {self.total} tensors: {len(self.wrong)} "
              f"contradicted, {self.good / self.total:.2%} as specific or more, {self.more / self.total:.2%} more; "
              f"worse: {self.worse.most_common(12)}")
        for line in self.wrong[:20] + self.said[:20]:
            print(*line)
        test.assertFalse(self.wrong)
        test.assertFalse(self.said)
        test.assertGreaterEqual(self.good / self.total, LEAST)


class Written:
    """What --write writes TensorFlow imports, and it says at least as much of every tensor; of testdata/ alone."""

    def __init__(self, folder):
        self.written, self.graphs, self.wrong = os.path.join(folder, "written.pb"), 0, []

    def look(self, path, stripped, graph):
        if graph is None or not path.startswith(TESTDATA):
            return
        run = subprocess.run([GEDIT, "shapes", stripped, "--as", "graph", "--write", "-o", self.written, "-O", "-q"],
                             stderr=subprocess.PIPE, check=False)
        if run.returncode != 0:
            self.wrong.append((path, run.stderr))
            return
        again = tf.Graph()
        with again.as_default():
            tf.import_graph_def(graphs_in(self.written)[0], name="")
        ours, _ = gedit_shapes(self.written)
        for op in again.get_operations():
            for tensor in op.outputs:
                theirs, mine = dims(tensor.shape), ours[tensor.name]
                if contradicts(mine, theirs) or not as_specific(theirs, mine):
                    self.wrong.append((path, tensor.name, mine, theirs))
        self.graphs += 1

    def judge(self, test):
        print(f"{self.graphs} graphs written and imported")
        test.assertFalse(self.wrong)
        test.assertTrue(self.graphs)


class Run:
    """What three random inputs give has the shapes that gedit finds, with the inputs' shapes stated and without."""

    def __init__(self):
        self.runs, self.tensors, self.wrong = 0, 0, []

    def look(self, path, stripped, graph):
        small = graph is not None and len(graph.get_operations()) < 3000
        if not small or os.path.getsize(stripped) > 10_000_000 or any(
                op.type in ("VariableV2", "Variable", "VarHandleOp", "HashTableV2", "IteratorV2") for op in graph.get_operations()):
            return
        inputs = [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]
        if not inputs or any(t.shape.rank is None or not t.dtype.is_floating for t in inputs):
            return
        wanted = [t for op in graph.get_operations() for t in op.outputs
                  if not t.dtype._is_ref_dtype and t.dtype not in (tf.resource, tf.variant)
                  and op._get_control_flow_context() is None][:400]
        random = np.random.default_rng(11)
        for _ in range(3):
            fed = {t: random.standard_normal([int(random.integers(1, 4)) if d is None else d for d in dims(t.shape)])
                      .astype(t.dtype.as_numpy_dtype) for t in inputs}
            if sum(value.size for value in fed.values()) > 3_000_000:
                return
            try:
                with tf.Session(graph=graph) as session:
                    given = session.run(wanted, fed)
            except Exception:  # what the graph does not take
                continue
            stated = [word for t, value in fed.items()
                      for word in ("--input", f"{t.op.name}={list(value.shape)}".replace(" ", ""))]
            for ours, _ in (gedit_shapes(stripped), gedit_shapes(stripped, *stated)):
                for tensor, value in zip(wanted, given):
                    if contradicts(ours[tensor.name], list(np.shape(value))):
                        self.wrong.append((path, tensor.name, ours[tensor.name], np.shape(value)))
                    self.tensors += 1
            self.runs += 1

    def judge(self, test):
        print(f"{self.runs} runs, {self.tensors} shapes at run time")
        test.assertFalse(self.wrong)
        test.assertTrue(self.tensors)


class Shapes(unittest.TestCase):
    def test_files(self):
        """Each file is imported once for all that is asked of it."""
        with tempfile.TemporaryDirectory() as folder:
            asked = [Imported(), Written(folder), Run()]
            for path, stripped, graph in imported(folder):
                for one in asked:
                    one.look(path, stripped, graph)
        for one in asked:
            with self.subTest(type(one).__name__):
                one.judge(self)

    def test_follow(self):
        """Another batch size of a TF2 SavedModel: tf.saved_model.load shows it, checks it, and computes the same."""
        module = tf2.Module()
        module.w = tf2.Variable(np.arange(12, dtype=np.float32).reshape(6, 2))

        @tf2.function(input_signature=[tf2.TensorSpec([1, 2, 3], tf2.float32, name="x")])
        def serve(x):
            flat = tf2.reshape(x, [1, 6])
            return {"y": tf2.nn.relu(tf2.matmul(flat, module.w)), "flat": flat}

        module.serve = serve
        with tempfile.TemporaryDirectory() as folder:
            model, many = os.path.join(folder, "model"), os.path.join(folder, "many")
            tf2.saved_model.save(module, model, signatures=serve)
            run = subprocess.run([GEDIT, "set", model, "--shape", "serving_default.inputs[x]=[?,2,3]", "--follow", "--rebake",
                                  "-q", "-o", many], stderr=subprocess.PIPE, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            before, after = tf2.saved_model.load(model), tf2.saved_model.load(many)
            signature = after.signatures["serving_default"]
            self.assertEqual(dims(signature.structured_input_signature[1]["x"].shape), [None, 2, 3])
            self.assertEqual(dims(signature.structured_outputs["y"].shape), [None, 2])
            self.assertEqual(dims(signature.structured_outputs["flat"].shape), [None, 6])
            self.assertEqual(dims(after.serve.concrete_functions[0].inputs[0].shape), [None, 2, 3])
            # A product of four rows adds in another order than one of a row: of these numbers every sum is exact.
            x = np.random.default_rng(7).integers(-9, 10, (4, 2, 3)).astype(np.float32)
            want = np.concatenate([before.signatures["serving_default"](x=tf2.constant(x[i:i + 1]))["y"] for i in range(4)])
            np.testing.assert_array_equal(signature(x=tf2.constant(x))["y"], want)
            np.testing.assert_array_equal(after.serve(tf2.constant(x))["y"], want)

    def test_flops(self):
        """The profiler's totals, of every network of convolutions, its unknown sizes of inputs set to 1."""
        def fed(graph_def):
            for node in strip(graph_def).node:
                if node.op == "Placeholder":
                    for dim in node.attr["shape"].shape.dim:
                        dim.size = 1 if dim.size < 0 else dim.size
            return graph_def

        def convolves(graph_def):
            return any(node.op in ("Conv2D", "DepthwiseConv2dNative", "Conv3D") for node in graph_def.node)

        equal, fewer, different = 0, 0, []
        with tempfile.TemporaryDirectory() as folder:
            for path, stripped, graph in imported(folder, fed, convolves):
                if graph is None:
                    continue
                theirs, known = self.profiled(graph)
                answer = json.loads(self.flops(stripped))
                ours = answer["total"]
                # Who does not know all the shapes counts less.
                lacking = any(op in flops_registry.IMPLEMENTED_OPS for op in answer["not_counted"])
                if theirs == ours or (lacking and ours < theirs) or (not known and theirs < ours):
                    equal += theirs == ours
                    fewer += theirs != ours
                    if theirs != ours and os.environ.get("VERBOSE"):
                        print("fewer", path, ours, theirs, known, answer["not_counted"])
                else:
                    different.append((path, ours, theirs, known))
        print(f"{equal} networks with the profiler's FLOPs, {fewer} of which one of both does not know all shapes, "
              f"{len(different)} with others")
        self.assertFalse(different)
        self.assertTrue(equal)

    def flops(self, path):
        run = subprocess.run([GEDIT, "shapes", path, "--flops", "-j", "--as", "graph"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, check=False)
        self.assertIn(run.returncode, (0, 1), run.stderr)
        return run.stdout

    @staticmethod
    def profiled(graph):
        """The total of tf.profiler's statistics, and whether it had all the shapes that it asks for."""
        total, known = 0, True
        with graph.as_default():
            for op in graph.get_operations():
                try:
                    stats = ops.get_stats_for_node_def(graph, op.node_def, "flops")
                except (ValueError, TypeError):
                    known = False
                    continue
                total += int(stats.value) if stats is not None and stats.value else 0
        return total, known


if __name__ == "__main__":
    GEDIT = program.under_test()
    unittest.main()
