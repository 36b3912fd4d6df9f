#!/usr/bin/env python3
"""How many nodes and bytes are left of frozen graphs: gedit optimize beside transform_graph, optimize_for_inference and
grappler, which a Python with TensorFlow 1.15 has. A table for bench/README.md on standard output.

    optimize_peers.py --gedit GEDIT GRAPH...        GRAPH under GEDIT_SHARED where it is not a path

Inputs and outputs are those that `gedit inspect` names. A peer that fails has its exception's name. The first row is a net made here:
dropout and batch statistics under an is_training that is a constant.
"""
import argparse
import json
import os
import subprocess
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.framework import importer, ops
from tensorflow.python.grappler import tf_optimizer
from tensorflow.python.training import saver
from tensorflow.python.tools import optimize_for_inference_lib
from tensorflow.tools.graph_transforms import TransformGraph

TRANSFORMS = ["strip_unused_nodes", "remove_nodes(op=Identity, op=CheckNumerics)", "fold_constants(ignore_errors=true)",
              "fold_batch_norms", "fold_old_batch_norms", "merge_duplicate_nodes", "strip_unused_nodes"]


def node_of(tensor):
    return tensor.split(":")[0]


def with_constant_is_training():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None, 4], name="x")
        is_training = tf.constant(False, name="is_training")
        weights = tf.constant([[0.5, -1.0, 2.0, 0.25]] * 4, name="weights")
        h = tf.compat.v1.layers.dropout(tf.matmul(x, weights), 0.5, training=is_training)
        mean, variance = tf.cond(is_training, lambda: tf.nn.moments(h, [0]),
                                 lambda: (tf.constant([0.1] * 4), tf.constant([1.5] * 4)))
        tf.identity(tf.nn.relu((h - mean) * tf.math.rsqrt(variance + 0.001)), name="y")
        return graph.as_graph_def()


def transform_graph(graph, inputs, outputs):
    return TransformGraph(graph, [tensor["tensor"] for tensor in inputs], outputs, TRANSFORMS)


def inference(graph, inputs, outputs):
    types = [tf.as_dtype(tensor["dtype"]).as_datatype_enum for tensor in inputs]
    return optimize_for_inference_lib.optimize_for_inference(graph, [node_of(tensor["tensor"]) for tensor in inputs],
                                                             [node_of(tensor) for tensor in outputs], types)


def grappler(graph, inputs, outputs):
    with ops.Graph().as_default() as imported:
        importer.import_graph_def(graph, name="")
        for tensor in outputs:
            ops.add_to_collection(ops.GraphKeys.TRAIN_OP, imported.get_operation_by_name(node_of(tensor)))
        meta_graph = saver.export_meta_graph(graph_def=imported.as_graph_def(), graph=imported)
    config = config_pb2.ConfigProto()
    config.graph_options.rewrite_options.meta_optimizer_iterations = 2
    config.graph_options.rewrite_options.min_graph_nodes = -1
    return tf_optimizer.OptimizeGraph(config, meta_graph)


def measured(graph):
    return "%d / %d kB" % (len(graph.node), (graph.ByteSize() + 999) // 1000)


def peer(run, graph, inputs, outputs):
    copy = graph_pb2.GraphDef()
    copy.CopyFrom(graph)
    try:
        return measured(run(copy, inputs, outputs))
    except Exception as error:  # whatever it is, it stands in the table
        return type(error).__name__


def gedit(program, path, outputs, *options):
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "out.pb")
        command = [program, "optimize", path, "--outputs", ",".join(outputs), "-q", "-o", result, *options]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if run.returncode:
            return "exit %d" % run.returncode
        return measured(read(result))


def read(path):
    graph = graph_pb2.GraphDef()
    with open(path, "rb") as file:
        graph.ParseFromString(file.read())
    return graph


def found(name):
    return name if os.path.exists(name) else os.path.join(os.environ.get("GEDIT_SHARED", ""), "corpus", name)


def row(program, name, path):
    told = json.loads(subprocess.run([program, "inspect", path, "-j"], stdout=subprocess.PIPE, check=True).stdout)
    meta_graph = told["meta_graphs"][0]
    inputs, outputs = meta_graph["inputs"], [tensor["tensor"] for tensor in meta_graph["outputs"]]
    graph = read(path)
    cells = [name, measured(graph), *[peer(run, graph, inputs, outputs) for run in (transform_graph, inference, grappler)],
             gedit(program, path, outputs), gedit(program, path, outputs, "--fold-bn")]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--gedit", required=True)
    parser.add_argument("graphs", nargs="+")
    options = parser.parse_args()
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.FATAL)
    print("| graph | as it is | transform_graph | optimize_for_inference | grappler %s | gedit optimize | with --fold-bn |" % tf.__version__)
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, "made.pb")
        with open(made, "wb") as file:
            file.write(with_constant_is_training().SerializeToString())
        print(row(options.gedit, "constant is_training", made), flush=True)
    for name in options.graphs:
        print(row(options.gedit, name, found(name)), flush=True)


if __name__ == "__main__":
    main()
