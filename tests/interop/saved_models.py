#!/usr/bin/env python3
"""Real TensorFlow 2 saves models, gedit edits their signatures and copies their calls, and both loaders run what came out."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import bare_tensorflow  # noqa: F401
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

import program

v1 = tf.compat.v1
GEDIT = None


class Layer(tf.Module):
    def __init__(self, seed):
        super().__init__()
        self.kernel = tf.Variable(tf.random.stateless_normal([3, 2], [seed, 1]), name="kernel")
        self.bias = tf.Variable(tf.random.stateless_normal([2], [seed, 2]), name="bias")

    @tf.function
    def __call__(self, x):
        return tf.nn.relu(tf.matmul(x, self.kernel, name="product")) + self.bias


class Model(tf.Module):
    """Variables of one name, nested calls, a table that a constant fills and one that a file fills."""

    def __init__(self, vocabulary):
        super().__init__()
        self.layers = [Layer(1), Layer(2)]
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(tf.constant(["a", "b"]), tf.constant([5, 7], tf.int64)), -1)
        self.words = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                          tf.lookup.TextFileIndex.LINE_NUMBER), -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="alpha"),
                                  tf.TensorSpec([None, 3], tf.float32, name="beta"), tf.TensorSpec([], tf.string, name="gamma")])
    def serve(self, alpha, beta, gamma):
        key = tf.cast(self.table.lookup(gamma) + 10 * self.words.lookup(gamma), tf.float32)
        first, second = self.layers[0](alpha), self.layers[1](beta)
        return {"difference": first - 2. * second, "first": first * 3., "key": key}

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def loop(self, x):
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.identity(y * 2., name="twice")),
                             [0, self.layers[0](x)])
        return {"y": y}


class Stock(tf.Module):
    """A table whose contents are saved with the variables."""

    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(2., name="factor")
        self.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, name="table")
        self.table.insert(tf.constant(["apples", "pears"]), tf.constant([10, 20], tf.int64))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="fruit")])
    def serve(self, fruit):
        return {"value": tf.cast(self.table.lookup(fruit), tf.float32) * self.factor}


class Dense(tf.keras.layers.Layer):
    def __init__(self, variable):
        super().__init__(name="a")
        self.w = self.add_weight(shape=(3, 3), name=variable, initializer="glorot_uniform")

    def call(self, x):
        return x @ self.w


class Named(tf.keras.Model):
    """Layers of one name."""

    def __init__(self):
        super().__init__()
        self.p, self.q, self.r = Dense("kernel"), Dense("kernel"), Dense("kernel_1")

    def call(self, x):
        return self.p(x) + self.q(x) + self.r(x)


def contents(table):
    keys, values = tf.raw_ops.LookupTableExportV2(table_handle=table, Tkeys=tf.string, Tvalues=tf.int64)
    return sorted(zip(keys.numpy(), values.numpy()))


FEEDS = {"alpha": np.random.RandomState(0).rand(4, 3).astype("f"), "beta": np.random.RandomState(1).rand(4, 3).astype("f"),
         "gamma": np.array("b")}


class SavedModels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.keep.cleanup)
        cls.folder = cls.keep.name
        vocabulary = os.path.join(cls.folder, "words.txt")
        with open(vocabulary, "w", encoding="ascii") as file:
            file.write("z\nb\n")
        model = Model(vocabulary)
        tf.saved_model.save(model, cls.path("model"), signatures={"serving_default": model.serve, "loop": model.loop})
        again = tf.saved_model.load(cls.path("model"))
        tf.saved_model.save(again, cls.path("resaved"), signatures=dict(again.signatures))
        cls.want = cls.modern("model", "serving_default", FEEDS)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    def gedit(self, *arguments, status=0):
        done = subprocess.run([GEDIT, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done.stderr.decode()

    @classmethod
    def modern(cls, name, key, feeds):
        loaded = tf.saved_model.load(cls.path(name))
        got = loaded.signatures[key](**{k: tf.constant(v) for k, v in feeds.items()})
        return {k: v.numpy() for k, v in got.items()}

    @classmethod
    def classic(cls, name, key, feeds):
        with tf.Graph().as_default(), v1.Session() as session:
            meta = v1.saved_model.load(session, ["serve"], cls.path(name))
            signature = meta.signature_def[key]
            return session.run({k: t.name for k, t in signature.outputs.items()},
                               {signature.inputs[k].name: v for k, v in feeds.items()})

    def check(self, name, key, names, want):
        """names: the signature's inputs, and which of FEEDS each one is."""
        feeds = {k: FEEDS[v] for k, v in names.items()}
        for run in (self.classic, self.modern):
            got = run(name, key, feeds)
            self.assertEqual(set(got), set(want), (name, key, run.__name__))
            for k in want:
                np.testing.assert_allclose(got[k], want[k], rtol=1e-5, err_msg="%s %s %s" % (name, key, k))

    def tensors(self, name, key):
        with tf.Graph().as_default(), v1.Session() as session:
            signature = v1.saved_model.load(session, ["serve"], self.path(name)).signature_def[key]
            return {k: t.name for k, t in signature.inputs.items()}, {k: t.name for k, t in signature.outputs.items()}

    SAME = {k: k for k in FEEDS}

    # ------------------------------------------------------------------------------------------------ signature
    def test_names_that_change_their_order(self):
        self.gedit("signature", "rename", "model", "serving_default.inputs[alpha]=zeta", "serving_default.inputs[gamma]=alpha",
                   "serving_default.outputs[difference]=zz", "serving_default.outputs[first]=aa", "serving_default=loop",
                   "loop=serving_default", "-o", "order")
        self.check("order", "loop", {"zeta": "alpha", "beta": "beta", "alpha": "gamma"},
                   {"zz": self.want["difference"], "aa": self.want["first"], "key": self.want["key"]})
        loaded = tf.saved_model.load(self.path("order"))
        tf.saved_model.save(loaded, self.path("order2"), signatures=dict(loaded.signatures))
        self.check("order2", "loop", {"zeta": "alpha", "beta": "beta", "alpha": "gamma"},
                   {"zz": self.want["difference"], "aa": self.want["first"], "key": self.want["key"]})

    def test_names_that_python_does_not_know(self):
        self.gedit("signature", "rename", "model", "serving_default.inputs[beta]=be-ta/1", "serving_default.outputs[key]=k y", "-o",
                   "odd")
        self.check("odd", "serving_default", {"alpha": "alpha", "be-ta/1": "beta", "gamma": "gamma"},
                   {"difference": self.want["difference"], "first": self.want["first"], "k y": self.want["key"]})

    def test_added(self):
        for name in ("model", "resaved"):
            inputs, outputs = self.tensors(name, "serving_default")
            self.gedit("signature", "add", name, "some", "--inputs",
                       "q=%(alpha)s,p=%(beta)s,s=%(gamma)s" % inputs, "--outputs",
                       "z=%(difference)s,a=%(first)s" % outputs + ",b=%(beta)s" % inputs, "-o", name + "_some")
            self.check(name + "_some", "some", {"q": "alpha", "p": "beta", "s": "gamma"},
                       {"z": self.want["difference"], "a": self.want["first"], "b": FEEDS["beta"]})
            self.check(name + "_some", "serving_default", self.SAME, self.want)

    def test_inner_tensor(self):
        inputs, outputs = self.tensors("model", "serving_default")
        listed = subprocess.run([GEDIT, "select", self.path("model"), "fn:*inference_serve_*//mul_1"], stdout=subprocess.PIPE,
                                check=True).stdout.decode().split()
        function = listed[0].split("//")[0]
        given = ["--inputs", ",".join("%s=%s" % item for item in sorted(inputs.items()))]
        self.gedit("signature", "add", "model", "probe", *given, "--outputs", "key=%s,inner=%s//mul_1:0" % (outputs["key"], function),
                   "-o", "probe")
        got = self.modern("probe", "probe", FEEDS)
        self.check("probe", "probe", self.SAME, {"key": self.want["key"], "inner": got["inner"]})
        self.check("probe", "serving_default", self.SAME, self.want)
        self.gedit("signature", "add", "model", "both", *given, "--outputs",
                   "key=%s,inner=%s//mul_1:0,first=%s//mul_2:0" % (outputs["key"], function, function), "-o", "both")
        self.check("both", "both", self.SAME, {"key": self.want["key"], "inner": got["inner"], "first": self.want["first"]})
        # Once more, through the copies that the first one made.
        self.gedit("signature", "add", "probe", "second", *given, "--outputs",
                   "key=%s,inner=%s_exposed//mul_2:0" % (outputs["key"], function), "-o", "probe2")
        self.check("probe2", "second", self.SAME, {"key": self.want["key"], "inner": self.want["first"]})
        self.check("probe2", "probe", self.SAME, {"key": self.want["key"], "inner": got["inner"]})
        body = subprocess.run([GEDIT, "select", self.path("model"), "fn:*//re:twice"], stdout=subprocess.PIPE,
                              check=True).stdout.decode().split()
        text = self.gedit("signature", "add", "model", "probe", "--inputs", "x=loop_x", "--outputs", "y=%s:0" % body[0], "-o",
                          "never", status=4)
        self.assertIn("While", text)

    # ------------------------------------------------------------------------------------------------ copy
    def test_copies_of_copies(self):
        for name in ("model", "resaved"):
            inputs, outputs = self.tensors(name, "serving_default")
            before = name
            for scope in ("twin", "x/y"):
                self.gedit("copy", before, "--outputs", ",".join("serving_default.outputs[%s]" % k for k in outputs), "--scope",
                           scope, "-o", before + "_c")
                self.gedit("signature", "add", before + "_c", scope, "--inputs",
                           ",".join("%s=%s/%s" % (k, scope, t) for k, t in inputs.items()), "--outputs",
                           ",".join("%s=%s/%s" % (k, scope, t) for k, t in outputs.items()), "-o", before + "_s")
                before += "_s"
                self.check(before, scope, self.SAME, self.want)
            self.check(before, "twin", self.SAME, self.want)
            self.check(before, "serving_default", self.SAME, self.want)
            loaded = tf.saved_model.load(self.path(before))
            variables = [v for v in tf.train.TrackableView(loaded).descendants() if isinstance(v, tf.Variable)]
            self.assertEqual(len(variables), 12)
            for variable in loaded.layers[0].kernel, loaded.layers[1].bias:
                variable.assign(variable * 0.)
            for scope in ("twin", "x/y"):
                got = loaded.signatures[scope](**{k: tf.constant(v) for k, v in FEEDS.items()})
                np.testing.assert_allclose(got["difference"], self.want["difference"], rtol=1e-5)
            self.saver_covers(before)

    def test_copy_where_a_saver_waits_for_a_renamed_node(self):
        """Its old name stays the control output's; no copied assignment takes it."""
        with open(os.path.join(self.path("model"), "saved_model.pb"), "rb") as file:
            graph = saved_model_pb2.SavedModel.FromString(file.read()).meta_graphs[0].graph_def
        (restore,) = [f for f in graph.library.function if "traced_restore" in f.signature.name]
        waited_for = sorted(restore.control_ret)
        self.gedit("rename", "model", *("%s//%s=old/%s" % (restore.signature.name, node, node) for node in waited_for[1:]),
                   "-o", "renamed")
        outputs = self.tensors("model", "serving_default")[1]
        self.gedit("copy", "renamed", "--outputs", ",".join("serving_default.outputs[%s]" % k for k in outputs), "--scope", "twin",
                   "-o", "renamed_copied")
        self.saver_covers("renamed_copied")

    def test_copied_table(self):
        """What a table holds is in the checkpoint; the copy has, saves and restores its own."""
        stock = Stock()
        tf.saved_model.save(stock, self.path("stock"), signatures={"serving_default": stock.serve})
        self.gedit("copy", "stock", "-s", "**", "--scope", "deep/twin", "-o", "stock2")
        loaded = tf.saved_model.load(self.path("stock2"))
        twin = loaded.deep.twin.table
        self.assertEqual(contents(twin.resource_handle), [(b"apples", 10), (b"pears", 20)])
        tf.raw_ops.LookupTableInsertV2(table_handle=twin.resource_handle, keys=["plums"],
                                       values=tf.constant([30], tf.int64))
        tf.saved_model.save(loaded, self.path("stock3"), signatures=dict(loaded.signatures))
        again = tf.saved_model.load(self.path("stock3"))
        self.assertEqual(contents(again.table.resource_handle), [(b"apples", 10), (b"pears", 20)])
        self.assertEqual(len(contents(again.deep.twin.table.resource_handle)), 3)
        with tf.Graph().as_default(), v1.Session() as session:
            saver = v1.saved_model.load(session, ["serve"], self.path("stock2")).saver_def
            fruit, value = "deep/twin/serving_default_fruit:0", "deep/twin/StatefulPartitionedCall:0"
            np.testing.assert_array_equal(session.run(value, {fruit: ["pears", "figs"]}), [40., -2.])
            prefix = self.path("stock_saved")
            session.run(saver.save_tensor_name, {saver.filename_tensor_name: prefix})
        saved = tf.train.load_checkpoint(prefix)
        self.assertEqual(sorted(saved.get_tensor("deep/twin/table/.ATTRIBUTES/table-values")), [10, 20])

    def test_layers_of_one_name(self):
        """Objects `a/kernel` twice and `a/kernel_1` are other nodes than their names say; values are found by what is captured."""
        model = Named()
        model(tf.zeros([1, 3]))
        x = np.random.RandomState(2).rand(2, 3).astype("f")
        calls = {key: tf.function(lambda x, key=key: {"y": getattr(model, key)(x)},
                                  input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")]) for key in "pqr"}
        tf.saved_model.save(model, self.path("named"), signatures=calls)
        for key, call in calls.items():
            self.gedit("freeze", "named", "--signature", key, "-o", "named_" + key)
            want = call(tf.constant(x))["y"].numpy()
            for run in (self.classic, self.modern):
                np.testing.assert_allclose(run("named_" + key, key, {"x": x})["y"], want, rtol=1e-5)

    def test_loop_that_reads_a_variable(self):
        """What is frozen is proved to be the model: the variable's handle goes through a loop in a loop."""
        model = tf.Module()
        model.v = tf.Variable([[.5, 1.], [-1., .25]])

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
        def serve(x):
            within = lambda y: tf.while_loop(lambda j, y: j < 2, lambda j, y: (j + 1, tf.tanh(y @ model.v)), [0, y])[1]
            return {"y": tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, within(y) + model.v[0]), [0, x])[1]}

        tf.saved_model.save(model, self.path("looping"), signatures=serve)
        self.gedit("freeze", "looping", "-o", "looped")
        x = np.random.RandomState(3).rand(2, 2).astype("f")
        np.testing.assert_array_equal(self.modern("looped", "serving_default", {"x": x})["y"], serve(tf.constant(x))["y"])
        self.gedit("prove", "looping", "looped", "-q")
        self.gedit("optimize", "looping", "--inline", "--lower", "-o", "lowered")
        self.gedit("prove", "looping", "lowered", "-q")
        # What TensorFlow itself freezes, with loops of version 1 and without.
        loaded = tf.saved_model.load(self.path("looping"))
        for lower in (True, False):
            call = loaded.signatures["serving_default"]
            frozen = convert_variables_to_constants_v2(call, lower_control_flow=lower).graph.as_graph_def()
            self.assertEqual(lower, any(node.op == "NextIteration" for node in frozen.node))
            with open(self.path("frozen.pb"), "wb") as file:
                file.write(frozen.SerializeToString())
            self.gedit("prove", "looping", "frozen.pb", "--outputs", "StatefulPartitionedCall=Identity", "--map", "serving_default_x=x", "-q")

    def saver_covers(self, name):
        with tf.Graph().as_default(), v1.Session() as session:
            meta = v1.saved_model.load(session, ["serve"], self.path(name))
            saver, prefix = meta.saver_def, self.path(name + "_saved")
            session.run(saver.save_tensor_name, {saver.filename_tensor_name: prefix})
            session.run(saver.restore_op_name, {saver.filename_tensor_name: prefix})
        keys = [set(tf.train.load_checkpoint(p).get_variable_to_shape_map())
                for p in (prefix, os.path.join(self.path(name), "variables", "variables"))]
        self.assertEqual(keys[0], keys[1])
        # The object graph that the saver writes knows the copies, too.
        loaded = tf.saved_model.load(self.path(name))
        loaded.twin.layers  # pylint: disable=pointless-statement
        root = tf.Module()
        root.twin = tf.Module()
        root.twin.layers = [Layer(7), Layer(8)]
        tf.train.Checkpoint(root=root, twin=root.twin).read(prefix).expect_partial()
        np.testing.assert_array_equal(root.twin.layers[1].bias, Layer(2).bias)


if __name__ == "__main__":
    GEDIT = program.under_test()
    unittest.main()
