#!/usr/bin/env python3
"""gedit check against real TensorFlow: graphs of testdata/ are broken at random, and both must find the same ones broken.

What is judged is import: of a GraphDef, and of a MetaGraphDef with its collections. TensorFlow's shape inference is not
gedit's business, and an attribute that an op does not have is refused by TensorFlow 1 alone. Also: event files written by
either are read by the other.
"""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import tensorflow as tf2
from tensorflow.core.framework import variable_pb2
from tensorflow.core.protobuf import control_flow_pb2, meta_graph_pb2, queue_runner_pb2, saved_model_pb2

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import program

tf = tf2.compat.v1
GEDIT = None
TESTDATA = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "testdata")
META_GRAPHS = ["adam/adam.meta", "batch_norm/batch_norm.meta", "cond_test.meta", "dqn/dqn.meta", "kmeans.meta",
               "nested/nested.meta", "partitioned/partitioned.meta", "queue/queue.meta", "resource/resource.meta", "rnn/rnn.meta"]
SAVED_MODELS = ["half_plus_two", "half_plus_two_tf2", "keras_dense", "static_hash_table"]
# Rules that TensorFlow applies later than at import: when the graph is run, restored or served.
LATER = {"frame", "const", "shared-name", "function", "saver", "signature", "asset", "object-graph", "checkpoint"}
SHAPES = ("shape", "Shape", "Dimension", "rank")


def meta_graph(name):
    path = os.path.join(TESTDATA, name)
    if os.path.isdir(path):
        with open(os.path.join(path, "saved_model.pb"), "rb") as file:
            return saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs[0]
    with open(path, "rb") as file:
        return meta_graph_pb2.MetaGraphDef.FromString(file.read())


def break_graph(graph, rng):
    """One change to a node; False where it came to nothing."""
    node, other = rng.choice(graph.node), rng.choice(graph.node)
    names = ["nowhere", "^nowhere", node.name, other.name, other.name + ":0", other.name + ":1", other.name + ":2",
             "^" + other.name, "^" + other.name + ":0", "", "^", "x:"]
    kind = rng.randrange(12)
    slot = rng.randrange(len(node.input)) if node.input else None
    key = rng.choice(sorted(node.attr)) if node.attr else None
    if kind == 0 and node.input:
        node.input[slot] = rng.choice(names)
    elif kind == 1:
        node.input.insert(rng.randrange(len(node.input) + 1), rng.choice(names))
    elif kind == 2 and node.input:
        del node.input[slot]
    elif kind == 3:
        node.name = rng.choice([other.name, "_x", "a b", "", "x/", "/x", "-", "a>b", "a>", ".", "a/_b"])
    elif kind == 4 and key:
        del node.attr[key]
    elif kind == 5 and key:
        node.attr[key].type = rng.choice([1, 3, 7, 9, 20, 101])
    elif kind == 6 and key:
        node.attr[key].i = rng.choice([-1, 0, 1, 2, 5])
    elif kind == 7 and key and key != "_class":
        node.attr[key].s = rng.choice([b"SAME", b"x", b""])
    elif kind == 8:
        node.attr["_class"].list.s.append(("loc:@" + rng.choice([other.name, "nowhere"])).encode())
    elif kind == 9:
        node.op = rng.choice([other.op, "Nope", "NoOp", "Identity", "Neg"])
    elif kind == 10:
        graph.node.remove(node)
    elif kind == 11:
        graph.node.add().CopyFrom(node)
    else:
        return False
    return True


MESSAGES = {"variables": variable_pb2.VariableDef, "trainable_variables": variable_pb2.VariableDef,
            "global_step": variable_pb2.VariableDef, "cond_context": control_flow_pb2.CondContextDef,
            "while_context": control_flow_pb2.WhileContextDef, "queue_runners": queue_runner_pb2.QueueRunnerDef}


def break_surroundings(meta, rng):
    """One change to a collection, or a node that something may name is gone; False where it came to nothing."""
    kind = rng.randrange(3)
    if kind == 0:
        meta.graph_def.node.remove(rng.choice(meta.graph_def.node))
    elif kind == 1:
        node = rng.choice(meta.graph_def.node).name
        meta.collection_def["losses"].node_list.value.append(
            rng.choice(["nowhere", "nowhere:0", node, node + ":1", node + ":7", "^" + node]))
    else:
        keys = [key for key in MESSAGES if key in meta.collection_def and meta.collection_def[key].bytes_list.value]
        if not keys:
            return False
        key = rng.choice(keys)
        values = meta.collection_def[key].bytes_list.value
        index = rng.randrange(len(values))
        message = MESSAGES[key].FromString(values[index])
        fields = [field.name for field, value in message.ListFields()
                  if field.type == field.TYPE_STRING and field.name != "context_name"]
        name, wrong = rng.choice(fields), rng.choice(["nowhere:0", "nowhere", ""])
        if isinstance(getattr(message, name), str):
            setattr(message, name, wrong)
        else:
            getattr(message, name)[0] = wrong
        values[index] = message.SerializeToString()
    return True


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def errors(self, message, name):
        """What gedit says of the message that TensorFlow would say at import."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(message.SerializeToString())
        done = subprocess.run([GEDIT, "check", "-j", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr.decode())
        return ["%(rule)s %(subject)s: %(message)s" % fault for fault in json.loads(done.stdout)
                if (fault["level"] == "error" or fault["rule"] == "unknown-op") and fault["rule"] not in LATER
                and "is not in op" not in fault["message"] and "differ" not in fault["message"]]

    @staticmethod
    def refusal(load, message):
        """What TensorFlow says at import, empty where it accepts."""
        copy = type(message).FromString(message.SerializeToString())  # some of it is changed by the import
        try:
            with tf.Graph().as_default():
                load(copy)
        except Exception as error:  # pylint: disable=broad-except
            return "%s: %s" % (type(error).__name__, str(error).split("\n", maxsplit=1)[0])
        return ""

    def compare(self, what, load, message, name):
        refusal = self.refusal(load, message)
        if isinstance(refusal, str) and (refusal.startswith("TypeError") or any(word in refusal for word in SHAPES)):
            return 0
        errors = self.errors(message, name)
        self.assertEqual(bool(refusal), bool(errors), "%s\nTensorFlow: %s\ngedit: %s" % (what, refusal, errors))
        return 1

    def test_graphs(self):
        rng, compared = random.Random(20240301), 0
        graphs = {name: meta_graph(name).graph_def for name in META_GRAPHS + SAVED_MODELS}
        for number in range(400):
            name = rng.choice(sorted(graphs))
            graph = tf.GraphDef.FromString(graphs[name].SerializeToString())
            if break_graph(graph, rng):
                compared += self.compare("%d: %s" % (number, name), lambda g: tf.import_graph_def(g, name=""), graph, "g.pb")
        self.assertGreater(compared, 250)

    def test_surroundings(self):
        rng, compared = random.Random(20240302), 0
        metas = {name: meta_graph(name) for name in META_GRAPHS}
        for number in range(200):
            name = rng.choice(sorted(metas))
            meta = meta_graph_pb2.MetaGraphDef.FromString(metas[name].SerializeToString())
            if break_surroundings(meta, rng):
                compared += self.compare("%d: %s" % (number, name), tf.train.import_meta_graph, meta, "m.meta")
        self.assertGreater(compared, 120)

    def test_event_files(self):
        with tf.Graph().as_default() as graph:
            tf.identity(tf.placeholder(tf.float32, name="x"), name="y")
            writer = tf.summary.FileWriter(self.folder, graph=graph)
            writer.close()
        written = glob.glob(os.path.join(self.folder, "events.out.tfevents.*"))[0]
        out = os.path.join(self.folder, "g.pb")
        subprocess.run([GEDIT, "convert", written, "--as", "graph", "-q", "-o", out], check=True)
        with open(out, "rb") as file:
            self.assertEqual([node.name for node in tf.GraphDef.FromString(file.read()).node], ["x", "y"])
        logs = os.path.join(self.folder, "logs")
        subprocess.run([GEDIT, "rename", out, "x=z", "-q", "-f", "events", "-o", logs], check=True)
        events = list(tf.train.summary_iterator(glob.glob(os.path.join(logs, "*"))[0]))
        self.assertEqual(events[0].file_version, "brain.Event:2")
        self.assertEqual([node.name for node in tf.GraphDef.FromString(events[1].graph_def).node], ["z", "y"])


if __name__ == "__main__":
    GEDIT = program.under_test()
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()
    unittest.main()
