#!/usr/bin/env python3
"""What the tutorials of docs/ make, run in real TensorFlow: their commands are typed, and the results do what the text says."""
import glob
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import bare_tensorflow  # noqa: F401
import numpy as np
import tensorflow as tf2

import documentation
import program

tf = tf2.compat.v1
GEDIT = None
STATES = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
# The page's mirror stands on a GPU, which is not needed here.
ANYWHERE = tf.ConfigProto(allow_soft_placement=True)


class Tutorials(unittest.TestCase):
    def type(self, page):
        """Types the commands of a page, in a folder that becomes the current one."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        for shown, printed, status in documentation.type_commands(documentation.TUTORIALS / page, GEDIT, folder.name):
            self.assertLessEqual(status, 1, "%s: %s" % (shown.command, printed))

    def session(self, meta=None, graph_def=None):
        graph = tf.Graph()
        with graph.as_default():
            saver = tf.train.import_meta_graph(meta) if meta else None
            if graph_def:
                definition = tf.GraphDef()
                definition.ParseFromString(pathlib.Path(graph_def).read_bytes())
                tf.import_graph_def(definition, name="")
        session = tf.Session(graph=graph, config=ANYWHERE)
        self.addCleanup(session.close)
        return session, saver

    @staticmethod
    def restore(session, saver, prefix):
        with session.graph.as_default():
            saver.restore(session, prefix)

    def original(self):
        session, saver = self.session(meta="testdata/dqn/dqn.meta")
        self.restore(session, saver, "testdata/dqn/dqn")
        return session.run("online/q_values:0", {"state:0": STATES})

    def test_duplicate(self):
        self.type("duplicate.md")
        session, saver = self.session(meta="two.meta")
        for checkpoint in ("two", "step-200"):
            self.restore(session, saver, checkpoint)
            online, mirror = session.run(["online/q_values:0", "mirror/q_values:0"], {"state:0": STATES})
            np.testing.assert_array_equal(online, self.original())
            np.testing.assert_array_equal(mirror, online)
        self.assertEqual(session.graph.get_operation_by_name("mirror/hidden/w").device, "/device:GPU:0")

    def test_clone(self):
        self.type("clone.md")
        session, _ = self.session(meta="layer.meta")
        session.run("init")
        self.assertEqual(session.run("probe/Relu:0", {"probe/state:0": STATES}).shape, (3, 5))
        with session.graph.as_default():
            self.assertEqual({v.op.name for v in tf.trainable_variables()}, {"probe/w", "probe/b"})

    def test_mix(self):
        self.type("mix.md")
        session, _ = self.session(graph_def="frozen.pb")
        np.testing.assert_array_equal(session.run("mixed:0", {"state:0": STATES}), 2 * self.original())
        with session.graph.as_default():
            find = session.graph.get_tensor_by_name
            mixed, online = (tf.gradients(find(name), find("state:0"))[0] for name in ("mixed:0", "online/q_values:0"))
            self.assertEqual(tf.gradients(find("other/q_values/StopGradient:0"), find("state:0")), [None])
        np.testing.assert_array_equal(*session.run([mixed, online], {"state:0": STATES}))

    def test_target(self):
        self.type("target.md")
        session, saver = self.session(meta="dqn2.meta")
        session.run("init")
        values = lambda: session.run(["online/q/w:0", "target/q/w:0"])
        before = values()
        session.run("follow")
        online, target = values()
        np.testing.assert_allclose(target, 0.01 * before[0] + 0.99 * before[1], rtol=1e-5)
        session.run("update_target")
        online, target = session.run(["online/q_values:0", "target/q_values:0"], {"state:0": STATES})
        np.testing.assert_array_equal(online, target)
        self.assertIsNotNone(saver)

    def test_join(self):
        self.type("join.md")
        session, saver = self.session(meta="both.meta")
        self.restore(session, saver, "both")
        q, line, w, b = session.run(["agent/online/q_values:0", "line/pred:0" if self.has(session, "line/pred") else
                                     "line/Add:0", "line/W:0", "line/b:0"], {"agent/state:0": STATES})
        np.testing.assert_array_equal(q, self.original())
        np.testing.assert_allclose(line, q * w + b, rtol=1e-6)
        events = glob.glob("logs/*tfevents*")[0]
        graphs = [event.graph_def for event in tf.train.summary_iterator(events) if event.HasField("graph_def")]
        self.assertEqual(len(tf.GraphDef.FromString(graphs[0]).node), len(session.graph.as_graph_def().node))

    @staticmethod
    def has(session, name):
        return any(op.name == name for op in session.graph.get_operations())

    def test_serve(self):
        self.type("serve.md")
        for folder in ("whole/1", "served/1"):
            served = tf2.saved_model.load(folder).signatures["serving_default"]
            np.testing.assert_array_equal(served(state=tf2.constant(STATES))["q_values"], self.original())
        session, _ = self.session(graph_def="small.pb")
        np.testing.assert_array_equal(session.run("online/q_values:0", {"state:0": STATES}), self.original())


if __name__ == "__main__":
    GEDIT = program.under_test()
    unittest.main()
