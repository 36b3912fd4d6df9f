#!/usr/bin/env python3
"""Real TensorFlow builds training graphs, gedit copies, extracts and merges, and real TensorFlow trains, saves and restores
what came out."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import bare_tensorflow  # noqa: F401
import numpy as np
import tensorflow as tf2

import program

tf = tf2.compat.v1
tf.disable_control_flow_v2()
tf.logging.set_verbosity(tf.logging.FATAL)
tf.disable_resource_variables()
GEDIT = None


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_gedit(self, *arguments):
        return subprocess.run([GEDIT, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)

    def gedit(self, *arguments):
        done = self.run_gedit(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stderr.decode()

    def load(self, name):
        graph = tf.Graph()
        with graph.as_default():
            self.saver = tf.train.import_meta_graph(self.path(name))
        return graph

    # ------------------------------------------------------------------------------------------------ loops
    def loop(self, trained):
        """net/y is what tanh(y w) twice makes of x; of the loop's i nobody reads the end."""
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [3, 4], name="x")
            with tf.variable_scope("net"):
                w = tf.get_variable("w", [4, 4], initializer=tf.constant_initializer(.1))
                y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x], name="loop")[1]
                y = tf.identity(y, name="y")
            if trained:
                tf.train.GradientDescentOptimizer(.1).minimize(tf.reduce_sum(y * y), name="train")
            tf.train.export_meta_graph(self.path("in.meta"))

    def gradient(self, name, output):
        with self.load(name).as_default() as graph, tf.Session() as session:
            y = graph.get_tensor_by_name(output + ":0")
            w = [v for v in tf.trainable_variables() if v.op.name == os.path.dirname(output) + "/w"]
            gradient = tf.gradients(y, w, name="again")
            session.run([v.initializer for v in tf.global_variables()])
            feeds = {op.name + ":0": np.ones([3, 4]) for op in graph.get_operations() if op.type == "Placeholder"}
            return session.run(gradient, feeds)[0]

    def test_gradients_through_a_part_of_a_loop(self):
        for trained in (False, True):
            self.loop(trained)
            wanted = self.gradient("in.meta", "net/y")
            for output, command in (("net/y", "extract in.meta --outputs net/y"),
                                    ("net/y", "freeze in.meta --outputs net/y --keep net/w"),
                                    ("twin/net/y", "copy in.meta --outputs net/y --scope twin"),
                                    ("twin/y", "copy in.meta --from-scope net --scope twin")):
                self.gedit(*command.split(), "-O", "-o", "out.meta")
                np.testing.assert_allclose(self.gradient("out.meta", output), wanted, 1e-6, err_msg=command)


if __name__ == "__main__":
    GEDIT = program.under_test()
    unittest.main()
