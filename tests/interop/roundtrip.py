#!/usr/bin/env python3
"""Real TensorFlow loads what gedit wrote of testdata/, runs it, and gets the numbers of the original."""
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
TESTDATA = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "testdata")
GEDIT = None


def testdata(name):
    return os.path.join(TESTDATA, name)


class Loaded:
    """A graph file in a session of its own."""

    def __init__(self, path, restore=None, init="init", tags=None):
        self.graph = tf.Graph()
        self.saver = None
        self.session = tf.Session(graph=self.graph, config=tf.ConfigProto(intra_op_parallelism_threads=1,
                                                                         inter_op_parallelism_threads=1))
        with self.graph.as_default():
            if os.path.isdir(path):
                self.meta = tf.saved_model.loader.load(self.session, tags or ["serve"], path)
            elif path.endswith(".meta"):
                self.saver = tf.train.import_meta_graph(path)
            else:
                graph = tf.GraphDef()
                with open(path, "rb") as file:
                    graph.ParseFromString(file.read())
                tf.import_graph_def(graph, name="")
        if restore:
            self.saver.restore(self.session, restore)
        elif self.saver and init:
            self.session.run(init)

    def run(self, fetches, **feeds):
        return self.session.run(fetches, {name.replace("__", "/") + ":0": value for name, value in feeds.items()})

    def values(self, scope):
        """The variables below a scope, by their name without it."""
        with self.graph.as_default():
            found = tf.global_variables(scope + "/")
        return {v.op.name[len(scope) + 1:]: v for v in found}

    def give(self, source, target):
        """Sets every variable below the scope target to the value of its twin below source."""
        twins = self.values(source)
        for name, variable in self.values(target).items():
            variable.load(self.session.run(twins[name]), self.session)

    def gradient(self, of, by, **feeds):
        with self.graph.as_default():
            return self.run(tf.gradients(*[self.graph.get_tensor_by_name(name + ":0") for name in (of, by)]), **feeds)


def numbers(*shape):
    return np.random.RandomState(sum(shape)).uniform(-1, 1, shape).astype(np.float32)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="gedit-interop-")
        self.addCleanup(self.folder.cleanup)

    def gedit(self, *arguments):
        """Runs gedit on files of testdata/ (an argument that names one); returns the path of its output."""
        out = os.path.join(self.folder.name, arguments[-1])
        given = [testdata(a) if "/" in a and os.path.exists(testdata(a)) else a for a in arguments[:-1]]
        done = subprocess.run([GEDIT, *given, out], cwd=self.folder.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return out

    def same(self, first, second, tolerance=1e-6):
        for a, b in zip(first, second):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


class Copy(Case):
    def test_a_target_network_has_variables_of_its_own(self):
        both = Loaded(self.gedit("copy", "dqn/dqn.meta", "--outputs", "online/q_values", "--inputs", "state", "--from-scope",
                                 "online", "--scope", "target", "-o", "two.meta"))
        x = numbers(*placeholder_shape(both, "state"))
        both.give("online", "target")
        self.same(*[[v] for v in both.run(["online/q_values:0", "target/q_values:0"], state=x)])
        wanted = numbers(*placeholder_shape(both, "wanted"))
        before = both.run("target/q_values:0", state=x)
        both.run("train", state=x, wanted=wanted)
        after = both.run(["online/q_values:0", "target/q_values:0"], state=x)
        self.same([before], [after[1]])
        self.assertFalse(np.allclose(*after))

    def test_the_saver_covers_the_copy(self):
        out = self.gedit("copy", "dqn/dqn.meta", "--outputs", "online/q_values", "--inputs", "state", "--scope", "twin", "-o",
                         "two.meta")
        both = Loaded(out)
        x = numbers(*placeholder_shape(both, "state"))
        before = both.run(["online/q_values:0", "twin/online/q_values:0"], state=x)
        prefix = both.saver.save(both.session, os.path.join(self.folder.name, "saved"), write_meta_graph=False)
        self.same(before, Loaded(out, restore=prefix).run(["online/q_values:0", "twin/online/q_values:0"], state=x))

    def test_resource_variables(self):
        both = Loaded(self.gedit("copy", "resource/resource.meta", "--outputs", "net/prob", "--inputs", "x", "--scope", "twin",
                                 "-o", "two.meta"))
        x = numbers(*placeholder_shape(both, "x"))
        both.give("net", "twin/net")
        self.same(*[[v] for v in both.run(["net/prob:0", "twin/net/prob:0"], x=x)])

    def test_a_loop_and_its_gradient(self):
        both = Loaded(self.gedit("copy", "rnn/rnn.meta", "--outputs", "y", "--inputs", "x", "--scope", "copy", "-o", "two.meta"))
        x = numbers(*placeholder_shape(both, "x"))
        for name, variable in both.values("copy").items():
            variable.load(both.session.run(name + ":0"), both.session)
        self.same(*[[v] for v in both.run(["y:0", "copy/y:0"], x=x)], tolerance=1e-5)
        self.same(both.gradient("y", "x", x=x), both.gradient("copy/y", "x", x=x), tolerance=1e-5)

    def test_a_training_step(self):
        both = Loaded(self.gedit("copy", "adam/adam.meta", "--outputs", "train,loss", "--inputs", "x,t", "--scope", "copy", "-o",
                                 "two.meta"))
        feeds = {"x": numbers(*placeholder_shape(both, "x")), "t": numbers(*placeholder_shape(both, "t"))}
        first = both.run(["loss:0", "copy/loss:0", "global_step:0", "copy/global_step:0"], **feeds)
        for _ in range(5):
            both.run("copy/train", **feeds)
        after = both.run(["loss:0", "copy/loss:0", "global_step:0", "copy/global_step:0"], **feeds)
        self.same([first[0], first[2]], [after[0], after[2]])
        self.assertLess(after[1], first[1])
        self.assertEqual(after[3], first[3] + 5)

    def test_the_network_of_the_quickstart(self):
        out = self.gedit("copy", "bird_dqn/bird-dqn-2880000.meta", "--outputs", "add_4", "--inputs", "Placeholder", "--scope",
                         "target", "-o", "two.meta")
        both = Loaded(out)
        x = numbers(2, 80, 80, 4)
        self.assertEqual(len(both.values("target")), 10)
        for name, variable in both.values("target").items():
            variable.load(both.session.run(name + ":0"), both.session)
        before = both.run(["add_4:0", "target/add_4:0"], Placeholder=x)
        self.same([before[0]], [before[1]], tolerance=1e-5)
        prefix = both.saver.save(both.session, os.path.join(self.folder.name, "saved"), write_meta_graph=False)
        self.same(before, Loaded(out, restore=prefix).run(["add_4:0", "target/add_4:0"], Placeholder=x), tolerance=1e-5)

    def test_a_frozen_network(self):
        out = self.gedit("copy", "regression/frozen.pb", "--outputs", "pred", "--inputs", "X", "--scope", "two", "-o", "out.pb")
        both = Loaded(out)
        one, two = both.run(["pred:0", "two/pred:0"], X=np.float32(3.0))
        self.assertEqual(one, two)


class Rename(Case):
    def test_the_old_checkpoint_still_restores(self):
        before = Loaded(testdata("dqn/dqn.meta"), restore=testdata("dqn/dqn"))
        after = Loaded(self.gedit("rename", "dqn/dqn.meta", "online/=student/", "-o", "out.meta"), restore=testdata("dqn/dqn"))
        x = numbers(*placeholder_shape(before, "state"))
        self.same([before.run("online/q_values:0", state=x)], [after.run("student/q_values:0", state=x)])

    def test_everything_under_a_scope(self):
        for name, output, feed in (("rnn", "y", "x"), ("nested", "net/y", "x"), ("resource", "net/prob", "x")):
            with self.subTest(name):
                meta = "%s/%s" % (name, name)
                before = Loaded(testdata(meta + ".meta"), restore=testdata(meta))
                after = Loaded(self.gedit("rename", meta + ".meta", "/=p/q/", "-o", name + ".meta"), restore=testdata(meta))
                x = numbers(*placeholder_shape(before, feed))
                self.same([before.run(output + ":0", **{feed: x})],
                          [after.run("p/q/" + output + ":0", **{"p__q__" + feed: x})], tolerance=1e-5)


class Convert(Case):
    def test_training_graph_through_each_form(self):
        before = Loaded(testdata("dqn/dqn.meta"), restore=testdata("dqn/dqn"))
        x = numbers(*placeholder_shape(before, "state"))
        for form in ("gtxt", "pbtxt", "json"):
            with self.subTest(form):
                text = self.gedit("convert", "dqn/dqn.meta", "-f", form, "-o", "m." + form)
                after = Loaded(self.gedit("convert", text, "-o", "of_%s.meta" % form), restore=testdata("dqn/dqn"))
                self.same([before.run("online/q_values:0", state=x)], [after.run("online/q_values:0", state=x)])

    def test_saved_model_of_tensorflow_1(self):
        for form in ([], ["-f", "pbtxt"]):
            with self.subTest(form):
                model = Loaded(self.gedit("convert", "half_plus_two/", *form, "-o", "model" + "".join(form)))
                self.same([model.session.run("y:0", {"x:0": [[2.0], [4.0]]})], [[[3.0], [4.0]]])

    def test_saved_model_of_tensorflow_2(self):
        for form in ([], ["-f", "pbtxt"]):
            with self.subTest(form):
                out = self.gedit("convert", "half_plus_two_tf2/", *form, "-o", "model2" + "".join(form))
                script = ("import sys, tensorflow as tf; m = tf.saved_model.load(sys.argv[1]); "
                          "print(m.signatures['serving_default'](tf.constant([[6.0]]))['y'].numpy().item())")
                done = subprocess.run([sys.executable, "-c", script, out], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
                self.assertEqual(done.stdout.decode().strip(), "5.0", done.stderr.decode(errors="replace")[-500:])


def placeholder_shape(loaded, name):
    return [3 if size is None else size for size in loaded.graph.get_tensor_by_name(name + ":0").shape.as_list()]


if __name__ == "__main__":
    GEDIT = program.under_test()
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()  # tf.gradients through a TensorArray of TensorFlow 1 needs the old control flow
    tf.logging.set_verbosity(tf.logging.ERROR)
    unittest.main()
