#!/usr/bin/env python3
"""gedit_tf as a program uses it: bytes, paths and messages in and out, errors in their parts, warnings, pictures.

    python_module.py --descriptors FILE       messages of classes that protobuf makes of this FileDescriptorSet
    python_module.py                          messages of TensorFlow
"""
import argparse
import pathlib
import sys
import tempfile
import unittest
import warnings

import gedit_tf

DATA = pathlib.Path(__file__).resolve().parent.parent / "testdata"
DQN = DATA / "dqn" / "dqn.meta"
CLASSES = {}


class Module(unittest.TestCase):
    def setUp(self):
        self.meta = CLASSES["MetaGraphDef"].FromString(DQN.read_bytes())

    def test_a_path_becomes_bytes(self):
        two = gedit_tf.run("copy", DQN, outputs=["online/q_values"], inputs="state", from_scope="online", scope="twin")
        names = {node.name for node in two.to(CLASSES["MetaGraphDef"]).graph_def.node}
        self.assertLessEqual({"online/q_values", "twin/q_values", "twin/hidden/w"}, names)

    def test_a_message_becomes_one_of_its_class(self):
        student = gedit_tf.run("rename", self.meta, "online/=student/")
        self.assertIs(type(student), type(self.meta))
        self.assertIn("student/q_values", {node.name for node in student.graph_def.node})
        graph = gedit_tf.run("extract", self.meta.graph_def, outputs="online/q_values")
        self.assertIs(type(graph), type(self.meta.graph_def))
        self.assertLess(len(graph.node), len(self.meta.graph_def.node))

    def test_what_nobody_edits_stays(self):
        data = DQN.read_bytes()
        self.assertEqual(bytes(gedit_tf.run("convert", data)), data)
        self.assertEqual(gedit_tf.run("convert", self.meta), self.meta)

    def test_every_edit_gives_its_result_back(self):
        from gedit_tf import _run

        edits = set()
        for name in gedit_tf.run("help", names=True).splitlines():
            text = gedit_tf.run("help", *name.split())
            if "-o," in text and "- is standard output" in text.split("-o,")[1] and name != "shapes":
                edits.add(name)  # of shapes only --write is an edit
        self.assertEqual(edits, set(_run._EDITS))
        small = gedit_tf.run("optimize", self.meta.graph_def, outputs="online/q_values")
        self.assertIs(type(small), type(self.meta.graph_def))
        self.assertLess(len(small.node), len(self.meta.graph_def.node))

    def test_several_messages(self):
        both = gedit_tf.run("merge", {"a": self.meta, "b": self.meta.graph_def}, input_map={"b/state": "a/state"})
        self.assertIn("b/online/q_values", gedit_tf.run("select", both, "b/online/q_values").split())

    def test_output(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder, "s.pbtxt"))
            self.assertEqual(gedit_tf.run("rename", self.meta, "online/=student/", output=path), path)
            with self.assertRaises(gedit_tf.RefusedError):
                gedit_tf.run("rename", self.meta, "online/=student/", output=path)
            gedit_tf.run("rename", self.meta, "online/=teacher/", output=path, overwrite=True)
            self.assertIn("teacher/q_values", pathlib.Path(path).read_text())

    def test_answers(self):
        self.assertEqual(gedit_tf.run("select", DQN, "op:ArgMax", q=True).status, 1)
        self.assertEqual(gedit_tf.run("select", self.meta, "var: & online/hidden/", json=True)[0]["op"], "VariableV2")
        self.assertEqual(gedit_tf.run("inspect", DQN, json=True)["kind"], "MetaGraphDef")
        self.assertEqual(gedit_tf.run("checkpoint get", DATA / "dqn" / "dqn", "online/q/b").status, 0)
        self.assertEqual(gedit_tf.run("checkpoint", "get", DATA / "dqn" / "dqn", "online/q/b").status, 0)
        self.assertEqual(gedit_tf.run("diff", DQN, self.meta).status, 0)

    def test_errors_in_their_parts(self):
        with self.assertRaises(gedit_tf.RefusedError) as caught:
            gedit_tf.run("extract", DQN, outputs="onlin/q_values")
        error = caught.exception
        self.assertEqual((error.file, error.subject, error.message, error.hint, error.status),
                         (str(DQN), "node 'onlin/q_values'", "no such node", "did you mean 'online/q_values'?", 4))
        self.assertRegex(str(error), "^gedit(-tf)? extract: ")  # as the program is called
        self.assertEqual(str(error).split(": ", 1)[1],
                         "%s: node 'onlin/q_values': no such node; hint: did you mean 'online/q_values'?" % DQN)
        with self.assertRaisesRegex(gedit_tf.UsageError, "SELECTOR is required"):
            gedit_tf.run("select", DQN)
        for kind, arguments in [(gedit_tf.UsageError, ("copy", DQN)), (gedit_tf.InputError, ("list", b"\xff" * 9)),
                                (gedit_tf.InputError, ("list", "nowhere.pb"))]:
            with self.assertRaises(kind):
                gedit_tf.run(*arguments)

    def test_words_that_begin_with_a_dash(self):
        with self.assertRaises(gedit_tf.InputError):
            gedit_tf.run("list", "-nowhere")

    def test_warnings(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error", gedit_tf.Warning)
            gedit_tf.run("convert", DQN)

    def test_pictures(self):
        picture = gedit_tf.draw(self.meta, height=300)
        self.assertIn("<iframe srcdoc=", picture._repr_html_())
        self.assertIn("<html", picture.page.lower())
        self.assertIn("<iframe", gedit_tf.run("convert", DQN)._repr_html_())


def protobuf_classes(path):
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(path).read_bytes()).file:
        pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    get_class = getattr(message_factory, "GetMessageClass", None) or message_factory.MessageFactory(pool).GetPrototype
    return {name: get_class(pool.FindMessageTypeByName(found)) for name, found in
            ((name, "tensorflow." + name) for name in ("GraphDef", "MetaGraphDef"))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--descriptors")
    arguments = parser.parse_args()
    if arguments.descriptors:
        CLASSES.update(protobuf_classes(arguments.descriptors))
    else:
        import tensorflow.compat.v1 as tf

        CLASSES.update(GraphDef=tf.GraphDef, MetaGraphDef=tf.MetaGraphDef)
    return 0 if unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
