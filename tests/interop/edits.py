#!/usr/bin/env python3
"""Real TensorFlow builds graphs, gedit syncs, inserts and sets, and real TensorFlow runs what came out."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import bare_tensorflow  # noqa: F401
import numpy as np
import tensorflow as tf2
from tensorflow.python.framework import function

import program

tf = tf2.compat.v1
GEDIT = None
TYPES = [tf.float32, tf.float64, tf.half, tf.bfloat16, tf.int32, tf.int64, tf.bool, tf.string, tf.complex64]


def value(dtype, k):
    if dtype == tf.string:
        return np.array([b"a%d" % k, b"b%d" % k], object)
    if dtype == tf.bool:
        return np.array([k % 2 == 0, True])
    return np.array([k, k + 2]).astype(dtype.as_numpy_dtype)


class Edits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def gedit(self, *arguments):
        done = subprocess.run([GEDIT, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def load(self, name):
        graph = tf.Graph()
        with graph.as_default():
            if name.endswith(".meta"):
                tf.train.import_meta_graph(self.path(name))
            else:
                definition = tf.GraphDef()
                with open(self.path(name), "rb") as file:
                    definition.ParseFromString(file.read())
                tf.import_graph_def(definition, name="")
        return graph

    # ------------------------------------------------------------------------------------------------ sync
    def variables(self):
        """Every dtype as each pair of reference and resource variable: on/ holds 1, off/ 4; NAME_up sets one in place."""
        with tf.Graph().as_default():
            for scope, k in (("on", 1), ("off", 4)):
                with tf.variable_scope(scope):
                    for dtype in TYPES:
                        for kinds in ("rr", "rh", "hr", "hh"):
                            tf.get_variable("%s_%s" % (dtype.name, kinds), initializer=tf.constant(value(dtype, k), dtype),
                                            use_resource=kinds[0 if scope == "on" else 1] == "h")
            for variable in tf.global_variables():
                name = variable.op.name
                tf.assign(variable, tf.placeholder(variable.dtype.base_dtype, [2], name=name + "_new"), name=name + "_up")
            tf.train.export_meta_graph(self.path("in.meta"))

    def sync(self, tau):
        self.variables()
        self.gedit("sync", "in.meta", "--from-scope", "on", "--to-scope", "off", "--name", "go",
                   *(["--tau", str(tau)] if tau else []), "-o", "out.meta")
        graph = self.load("out.meta")
        with graph.as_default(), tf.Session() as session:
            found = {v.op.name: v for v in tf.global_variables()}
            sources = [n for n in found if n.startswith("on/")]
            targets = [n for n in found if n.startswith("off/")]
            types = {n: found[n].dtype.base_dtype for n in found}
            values = lambda names: session.run({n: found[n] for n in names})

            def step(names, k):
                for n in names:
                    session.run(n + "_up", {n + "_new:0": value(types[n], k)})

            session.run([v.initializer for v in found.values()])
            session.run("go")
            after = values(targets)
            for n in targets:
                if tau and types[n].is_floating:
                    wanted = tau * value(types[n], 1).astype(float) + (1 - tau) * value(types[n], 4).astype(float)
                    np.testing.assert_allclose(after[n].astype(float), wanted, 2e-2 if types[n].size == 2 else 1e-6, err_msg=n)
                else:
                    self.assertEqual(after[n].tolist(), value(types[n], 1).tolist(), n)
            # Neither shares its bytes with the other.
            step(sources, 7)
            self.assertEqual({n: v.tolist() for n, v in values(targets).items()}, {n: v.tolist() for n, v in after.items()})
            session.run("go")
            step(targets, 9)
            for n, got in values(sources).items():
                self.assertEqual(got.tolist(), value(types[n], 7).tolist(), n)

    def test_sync(self):
        self.sync(None)

    def test_sync_tau(self):
        self.sync(0.25)

    # ------------------------------------------------------------------------------------------------ insert
    def network(self):
        """Output k > 0, a variable, a loop and a cond, with the shapes that TensorFlow inferred."""
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [None, 4], name="x")
            a, b = tf.split(x, 2, 1, name="halves")
            w = tf.get_variable("w", initializer=np.ones((2, 2), np.float32), use_resource=True)
            h = tf.nn.relu(tf.matmul(b, w), name="h")
            turns = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * tf.reduce_sum(h)), [0, h], name="loop")
            y = tf.identity(turns[1] + a, name="y")
            tf.identity(tf.cond(tf.reduce_sum(x) > 0, lambda: y * 2, lambda: y * 3, name="c"), name="z")
            loss = tf.reduce_sum(h * h, name="loss")
            tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
            tf.group(tf.global_variables_initializer(), name="begin")
            saver = tf.train.Saver()
            tf.train.export_meta_graph(self.path("in.meta"), graph_def=graph.as_graph_def(add_shapes=True),
                                       saver_def=saver.saver_def)
        self.x = np.random.RandomState(0).rand(3, 4).astype(np.float32)

    def run_network(self, name, x=None, steps=1):
        feed = {"x:0": self.x if x is None else x}
        graph = self.load(name)
        with graph.as_default(), tf.Session() as session:
            session.run("begin")
            for _ in range(steps):
                session.run("train", feed)
            return session.run(["y:0", "z:0", "loss:0"], feed)

    def test_insert_changes_no_value(self):
        self.network()
        wanted = self.run_network("in.meta")
        everywhere = "x,halves:1,halves,w/Read/ReadVariableOp,h,y,loss,loop/mul"
        for op, after, attrs in (("Identity", everywhere, []), ("CheckNumerics", everywhere, ["--attr", 'message="bad"']),
                                 ("Print", everywhere, ["--attr", 'message=""']), ("Identity", "w", []),
                                 ("Squeeze", "h", [])):
            with self.subTest(op=op, after=after):
                self.gedit("insert", "in.meta", "--op", op, "--after", after, *attrs, "-O", "-o", "out.meta")
                for got, value_before in zip(self.run_network("out.meta"), wanted):
                    np.testing.assert_allclose(got, value_before, 1e-6)

    def test_insert_check(self):
        self.network()
        self.gedit("insert", "in.meta", "--op", "CheckNumerics", "--after", "halves:1", "--attr", 'message="in halves"', "-o",
                   "out.meta")
        self.x[0, 3] = np.nan
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "in halves"):
            self.run_network("out.meta", steps=0)

    def test_insert_gradients(self):
        self.network()
        self.gedit("insert", "in.meta", "--op", "StopGradient", "--after", "h", "-o", "stop.meta")
        graph = self.load("stop.meta")
        with graph.as_default():
            at = graph.get_tensor_by_name
            self.assertEqual(tf.gradients(at("loss:0"), [at("w/Read/ReadVariableOp:0"), at("x:0")]), [None, None])
        self.gedit("insert", "in.meta", "--op", "Identity", "--after", "loop/mul,h", "-o", "loop.meta")
        found = []
        for name in ("in.meta", "loop.meta"):
            graph = self.load(name)
            with graph.as_default(), tf.Session() as session:
                gradient = tf.gradients(graph.get_tensor_by_name("y:0"), graph.get_tensor_by_name("x:0"))
                session.run("begin")
                found.append(session.run(gradient[0], {"x:0": self.x}))
        np.testing.assert_allclose(found[0], found[1], 1e-6)

    def test_insert_keeps_contexts(self):
        """In a body, in a branch, behind a Switch, an Exit, a Merge: tf.gradients still finds its way."""
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [2, 4], name="x")
            w = tf.get_variable("w", initializer=np.full((4, 4), 0.3, np.float32), use_resource=False)

            def body(i, y):
                return i + 1, tf.tanh(tf.matmul(y, w), name="inner") * y

            turns = tf.while_loop(lambda i, y: i < 3, body, [0, x], name="loop")[1]
            either = tf.cond(tf.reduce_sum(x) > 1, lambda: tf.tanh(tf.matmul(turns, w), name="branch") * 2.0,
                             lambda: turns * turns, name="cond")
            tf.reduce_sum(either, name="y")
            tf.train.export_meta_graph(self.path("in.meta"))
            tensors = [out.name for op in graph.get_operations() if op.name.startswith(("loop/", "cond/"))
                       for out in op.outputs
                       if out.dtype == tf.float32 and out.consumers() and op.type not in ("NextIteration", "Enter")]

        def gradients(name):
            graph = self.load(name)
            with graph.as_default(), tf.Session() as session:
                wanted = [graph.get_tensor_by_name("x:0"), tf.trainable_variables()[0]]
                fetch = tf.gradients(graph.get_tensor_by_name("y:0"), wanted)
                session.run(tf.global_variables_initializer())
                return [session.run(fetch, {"x:0": np.full((2, 4), number, np.float32)}) for number in (0.1, 0.5)]

        wanted = gradients("in.meta")
        for tensor in tensors:
            with self.subTest(tensor=tensor):
                self.gedit("insert", "in.meta", "--op", "Identity", "--after", tensor, "-O", "-o", "out.meta")
                for before, after in zip(wanted, gradients("out.meta")):
                    for a, b in zip(before, after):
                        np.testing.assert_allclose(a, b, 1e-5)

    def test_insert_at_reads(self):
        """No gradient reaches the variables any more, whatever reads them, and every number stays."""
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [2, 4], name="x")
            with tf.variable_scope("e"):
                kinds = {k: tf.get_variable(k, initializer=np.full((4, 4), 0.3, np.float32), use_resource=k == "res") for k in ("ref", "res")}
            last = tf.get_variable("last", initializer=np.float32(2), use_resource=True)
            y = x
            for v in kinds.values():
                y = tf.tanh(tf.matmul(y, v))
                y = y + tf.gather(v, [1, 2])
                y = tf.while_loop(lambda i, _: i < 2, lambda i, a, v=v: (i + 1, tf.matmul(a, v)), [0, y])[1]
                y = tf.cond(tf.reduce_sum(y) > 0, lambda y=y, v=v: y * v[:2], lambda y=y, v=v: y - v[2:])
            tf.reduce_sum(y * last, name="y")
            tf.train.Saver()
            tf.train.export_meta_graph(self.path("in.meta"))
        self.gedit("insert", "in.meta", "--at-reads", "e/", "-o", "out.meta")
        found = []
        for name in ("in.meta", "out.meta"):
            graph = self.load(name)
            with graph.as_default(), tf.Session() as session:
                gradients = tf.gradients(graph.get_tensor_by_name("y:0"), tf.trainable_variables())
                self.assertEqual([g is None for g in gradients], [name == "out.meta"] * 2 + [False])
                session.run(tf.global_variables_initializer())
                found.append(session.run(["y:0", gradients[2]], {"x:0": np.linspace(-1, 1, 8).reshape(2, 4)}))
        np.testing.assert_array_equal(found[0], found[1])

    def test_insert_in_function(self):
        @function.Defun(tf.float32, func_name="fun")
        def fun(v):
            p, q = tf.split(v, 2, 1, name="sp")
            return tf.multiply(p, q, name="m"), q

        with tf.Graph().as_default() as graph:
            u, v = fun(tf.placeholder(tf.float32, [None, 4], name="x"))
            tf.identity(u, name="u")
            tf.identity(v, name="v")
            body = [n.name for n in graph.as_graph_def().library.function[0].node_def]
            with open(self.path("in.pb"), "wb") as file:
                file.write(graph.as_graph_def(add_shapes=True).SerializeToString())
        split, product = [n for n in body if n.startswith("sp_") or n == "sp"][0], [n for n in body if n.startswith("m")][0]
        self.gedit("insert", "in.pb", "--op", "CheckNumerics", "--attr", 'message="in fun"', "--after",
                   "fun//%s:1,fun//v,fun//%s" % (split, product), "-o", "out.pb")
        x = np.random.RandomState(1).rand(2, 4).astype(np.float32)
        found = []
        for name in ("in.pb", "out.pb"):
            with tf.Session(graph=self.load(name)) as session:
                found.append(session.run(["u:0", "v:0"], {"x:0": x}))
        np.testing.assert_array_equal(found[0], found[1])
        x[0, 0] = np.nan
        with tf.Session(graph=self.load("out.pb")) as session:
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "in fun"):
                session.run("u:0", {"x:0": x})

    # ------------------------------------------------------------------------------------------------ merge
    # ---------------------------------------------------------------------------------------------- freeze
    def test_freeze_loop_with_a_writer(self):
        """On a device other than the frozen value's: what waited for the writer runs in every iteration."""
        def step(i, x):
            with tf.control_dependencies([tf.assign_add(count, tf.ones([2]))]):
                one = tf.constant(1)
            return i + one, tf.tanh(x * scale)

        config = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True, operation_timeout_in_ms=60000)
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [2], name="x")
            with tf.device("/cpu:1"):
                scale = tf.get_variable("scale", initializer=tf.constant([0.5, 2.0]), use_resource=False)
                count = tf.get_variable("count", initializer=tf.zeros([2]), use_resource=False)
                last, y = tf.while_loop(lambda i, x: i < 3, step, [0, x])
            tf.identity(y, "y")
            tf.identity(last, "last")
            saver = tf.train.Saver()
            with tf.Session(config=config) as session:
                session.run(tf.global_variables_initializer())
                saver.save(session, self.path("model"))
                expected = session.run(["last:0", "y:0"], {"x:0": [1.0, 3.0]})
        self.gedit("freeze", "model.meta", "--outputs", "last,y", "-o", "frozen.pb")
        with tf.Session(graph=self.load("frozen.pb"), config=config) as session:
            found = session.run(["last:0", "y:0"], {"x:0": [1.0, 3.0]})
        self.assertEqual(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])

    def test_merge_object_based(self):
        """tf.train.Checkpoint in a graph runs every assignment itself; merged, one operation does."""
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [1], name="x")
            v = tf.get_variable("v", initializer=[3.0], use_resource=True)
            saver = tf.train.Checkpoint(one=v, two=tf.get_variable("w", initializer=[4.0], use_resource=True))
            tf.add(x * v, saver.two, name="y")
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(saver.save_counter.initializer)
                path = os.path.basename(saver.save(self.path("in"), session=session))
                saver.restore(self.path(path)).run_restore_ops(session)
            tf.train.export_meta_graph(self.path("in.meta"))
        self.gedit("merge", "a=in.meta", "b=in.meta", "--checkpoint", "a=" + path, "--checkpoint", "b=" + path, "-o", "out.meta")
        graph = self.load("out.meta")
        files = {r.inputs[0] for r in graph.get_operations() if r.type == "RestoreV2"}
        with tf.Session(graph=graph) as session:
            session.run("a/restore_all", dict.fromkeys(files, self.path("out")))
            self.assertEqual([v.tolist() for v in session.run(["a/y:0", "b/y:0"], {"a/x:0": [2], "b/x:0": [5]})], [[10], [19]])

    # ------------------------------------------------------------------------------------------------ set
    def test_set_shape_and_device(self):
        self.network()
        wanted = self.run_network("in.meta")
        self.gedit("set", "in.meta", "--shape", "x=[3,?]", "--device", "**=/device:CPU:0", "-o", "out.meta")
        for got, value_before in zip(self.run_network("out.meta"), wanted):
            np.testing.assert_allclose(got, value_before, 1e-6)
        graph = self.load("out.meta")
        self.assertEqual(graph.get_tensor_by_name("x:0").shape.as_list(), [3, None])
        self.assertEqual({n.device for n in graph.as_graph_def().node}, {"/device:CPU:0"})

    def test_set_attributes(self):
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [1, 8, 8, 3], name="x")
            pooled = tf.nn.max_pool(x, 2, 1, "SAME", name="pool")
            tf.reshape(pooled, [-1], name="flat")
            with open(self.path("in.pb"), "wb") as file:
                file.write(graph.as_graph_def(add_shapes=True).SerializeToString())
        self.gedit("set", "in.pb", "--attr", 'pool:padding="VALID"', "--attr", "pool:strides=list(1,2,2,1)", "--shape",
                   "x=[?,?,?,3]", "-o", "out.pb")
        with tf.Session(graph=self.load("out.pb")) as session:
            got = session.run("flat:0", {"x:0": np.zeros((2, 6, 6, 3))})
        self.assertEqual(got.shape, (2 * 3 * 3 * 3,))


if __name__ == "__main__":
    GEDIT = program.under_test()
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()  # the loops and conds of graphs
    tf.logging.set_verbosity(tf.logging.FATAL)
    unittest.main()
