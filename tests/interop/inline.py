#!/usr/bin/env python3
"""Calls, conds and loops that gave way to what they call, against real TensorFlow: models made at random of nested
functions, effects on variables, tf.cond, tf.switch_case, tf.while_loop, conds and loops of version 1, and functions of the
older kind give the same bits, and leave the same in their variables, before and after `gedit retarget --inline` and
`gedit retarget --tf 1.4`; those without effects are proved to. GEDIT_INLINE_MODELS (default 15) says how many of each.
"""
import os
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import bare_tensorflow  # noqa: F401
import numpy as np
import tensorflow as tf2
from tensorflow.python.framework import function as legacy_function

import program

tf = tf2.compat.v1
GEDIT = None
MODELS = int(os.environ.get("GEDIT_INLINE_MODELS", "15"))
NEWEST = ".".join(tf2.__version__.split(".")[:2])
FEEDS = [np.float32([1.5, -2.25, 3.0]), np.float32([-0.5, 0.0, 7.0]), np.float32([1e3, -1e-3, 0.1])]


class Model:
    """A graph made of random pieces. Every tensor is a float vector of length 3."""

    def __init__(self, seed, effects):
        self.rng = random.Random(seed)
        self.effects = effects
        self.variables = []
        self.graph = tf.Graph()
        with self.graph.as_default():
            if effects:
                self.variables = [tf.get_variable("v%d" % i, [3], use_resource=True, initializer=tf.constant_initializer(i + 0.5))
                                  for i in range(2)]
            x = tf.placeholder(tf.float32, [3], "x")
            outputs = self.ordered(x) if effects else self.pieces([x, x * 0.5], 0)
            for i, value in enumerate(outputs):
                tf.identity(value, name="out%d" % i)
            tf.group(*[v.initializer for v in self.variables], name="init")
            for i, v in enumerate(self.variables):
                tf.identity(v.read_value(), name="read%d" % i)
        self.outputs = ["out%d:0" % i for i in range(3)]

    def pieces(self, values, depth):
        for _ in range(self.rng.randint(2, 4)):
            values.append(self.piece(values, depth))
        return [values[-1], values[-2], self.rng.choice(values)]

    def ordered(self, x):
        """Effects have an order only inside of a tf.function, and between calls that wait for each other."""
        top = tf2.function(lambda a, b: self.pieces([a, b], 1), autograph=False)
        first = top(x, x * 0.5)
        if self.rng.random() < 0.5:
            return first
        with tf.control_dependencies(first):
            return top(tf.identity(x), first[0])

    def pick(self, values):
        return self.rng.choice(values)

    def positive(self, value):
        return tf.reduce_sum(value) > self.rng.uniform(-2, 2)

    def leaf(self, values, depth=0):
        a, b = self.pick(values), self.pick(values)
        kind = self.rng.randint(0, 5)
        if kind == 0:
            return a + b
        if kind == 1:
            return a * tf.constant([0.5, -1.0, 0.25])
        if kind == 2:
            return tf.maximum(a, b) - tf.constant(self.rng.uniform(-1, 1), shape=[3])
        if kind == 3:
            return tf.tanh(a)
        if kind == 4 and self.effects:
            return a + self.pick(self.variables).read_value() * 1.0
        return tf.concat([a[:1], b[1:]], 0)

    def effect(self, values, depth=0):
        v = self.pick(self.variables)
        given = self.pick(values)
        with tf.control_dependencies([given]):
            if self.rng.random() < 0.5:
                written = v.assign_add(tf.tanh(given), read_value=False)
            else:
                written = v.assign(v.read_value() * 0.5 + tf.tanh(given), read_value=False)
        with tf.control_dependencies([written]):
            return tf.identity(given) if self.rng.random() < 0.5 else v.read_value() * 1.0  # no alias

    def piece(self, values, depth):
        kinds = ["leaf", "leaf"]
        if self.effects:
            kinds.append("effect")
        if depth < 3:
            kinds += ["call", "call", "cond", "case", "loop", "several"]
        if depth < 2 and not self.effects:
            kinds += ["defun", "old_cond", "old_loop"]
        return getattr(self, self.rng.choice(kinds))(values, depth)

    def body(self, values, depth):
        values = list(values)
        for _ in range(self.rng.randint(1, 3)):
            values.append(self.piece(values, depth))
        return tf.reshape(values[-1], [3])  # whose length is known

    def call(self, values, depth):
        arguments = [self.pick(values) for _ in range(self.rng.randint(1, 3))]

        @tf2.function(autograph=False)
        def called(*inner):
            return self.body(inner, depth + 1)
        first = called(*arguments)
        if self.rng.random() < 0.4:
            with tf.control_dependencies([first]):
                return first + called(*reversed(arguments))
        return first

    def several(self, values, depth):
        @tf2.function(autograph=False)
        def called(one, rest):
            made = self.body([one] + list(rest), depth + 1)
            return {"a": made, "b": [one, made * 2.0]}
        results = called(self.pick(values), [self.pick(values), self.pick(values)])
        return results["b"][0] - results["a"] if self.rng.random() < 0.5 else results["b"][1]

    def cond(self, values, depth):
        outside = list(values)
        return new_flow(lambda: tf.cond(self.positive(self.pick(values)), lambda: self.body(outside, depth + 1),
                                        lambda: self.body(outside, depth + 1)))

    def case(self, values, depth):
        index = tf.cast(tf.reduce_sum(self.pick(values)), tf.int32)
        branches = [lambda: self.body(values, depth + 1) for _ in range(self.rng.randint(1, 3))]
        return new_flow(lambda: tf.switch_case(index, branches))

    def loop(self, values, depth):
        turns = self.rng.randint(0, 3)
        return new_flow(lambda: tf.while_loop(lambda i, _: i < turns,
                                              lambda i, at: (i + 1, self.body([at, self.pick(values)], depth + 1)),
                                              [tf.constant(0), self.pick(values)])[1])

    def old_cond(self, values, depth):
        return old_flow(lambda: tf.cond(self.positive(self.pick(values)), lambda: self.body(values, depth + 1),
                                        lambda: self.body(values, depth + 1)))

    def old_loop(self, values, depth):
        turns = self.rng.randint(0, 3)
        return old_flow(lambda: tf.while_loop(lambda i, _: i < turns,
                                              lambda i, at: (i + 1, self.body([at], depth + 1)),
                                              [tf.constant(0), self.pick(values)])[1])

    def defun(self, values, depth):
        @legacy_function.Defun(tf.float32, tf.float32, func_name="defun%d" % self.rng.randint(0, 10**9))
        def called(a, b):
            return self.leaf([a, b]), a - b
        first, second = called(self.pick(values), self.pick(values))
        return first + second


def with_flow(new, make):
    before = tf.control_flow_v2_enabled()
    (tf.enable_control_flow_v2 if new else tf.disable_control_flow_v2)()
    try:
        return make()
    finally:
        (tf.enable_control_flow_v2 if before else tf.disable_control_flow_v2)()


def new_flow(make):
    return with_flow(True, make)


def old_flow(make):
    return with_flow(False, make)


def run(graph_def, outputs, variables, optimize=False):
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=2)
    if not optimize:
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = -1
    found = []
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.Session(config=config, graph=graph) as session:
            session.run("init")
            for feed in FEEDS:
                found += session.run(outputs, {"x:0": feed})
                found += session.run(["read%d:0" % i for i in range(variables)])
    return found


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


class Inline(unittest.TestCase):
    def edited(self, folder, options):
        path, made = os.path.join(folder, "m.pb"), os.path.join(folder, "made%d.pb" % len(os.listdir(folder)))
        result = subprocess.run([GEDIT, "retarget", path, "-o", made] + options, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        graph = tf.GraphDef()
        with open(made, "rb") as file:
            graph.ParseFromString(file.read())
        return graph, made

    def check(self, seed, effects):
        model = Model(seed, effects)
        graph = model.graph.as_graph_def()
        expected = run(graph, model.outputs, len(model.variables))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.pb")
            with open(path, "wb") as file:
                file.write(graph.SerializeToString())
            for options in (["--tf", NEWEST, "--inline"], ["--tf", "1.4", "--partly"]):
                inlined, made = self.edited(folder, options)
                nodes = list(inlined.node)
                if "1.4" in options:
                    left = [n.op for n in nodes if n.op in ("If", "StatelessIf", "While", "StatelessWhile", "Case", "StatelessCase")]
                    self.assertFalse(left, "seed %d: %s" % (seed, left))
                self.assertFalse([n.name for n in nodes if n.op.endswith("PartitionedCall")], "seed %d" % seed)
                found = run(inlined, model.outputs, len(model.variables))
                if not all(map(same, expected, found)):
                    # A called function may overwrite its argument, which a variable still shares (2.21); TensorFlow
                    # itself inlines it where it may optimize.
                    expected = run(graph, model.outputs, len(model.variables), optimize=True)
                for i, (a, b) in enumerate(zip(expected, found)):
                    self.assertTrue(same(a, b), "seed %d %s: result %d: %s, %s" % (seed, options, i, a, b))
                if not effects and "--inline" in options:
                    proof = subprocess.run([GEDIT, "prove", path, made], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    self.assertEqual(proof.returncode, 0, "seed %d: %s" % (seed, proof.stdout.decode()))

    def test_pure(self):
        for seed in range(MODELS):
            with self.subTest(seed=seed):
                self.check(seed, False)

    def test_effects(self):
        for seed in range(1000, 1000 + MODELS):
            with self.subTest(seed=seed):
                self.check(seed, True)


if __name__ == "__main__":
    GEDIT = program.under_test()
    unittest.main()
