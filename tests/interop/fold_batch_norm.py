#!/usr/bin/env python3
"""Batch norms folded into weights, against real TensorFlow: generated convolutions and products with every kind of
normalization behind them give what they gave, within 2e-6 of the largest; what is no such pattern stays byte for byte.
"""
import os
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import program

tf1 = tf.compat.v1
tf1.disable_eager_execution()
DRIVER = os.environ.get("GEDIT_FOLD_DRIVER", "")
CASES = 300
MOST = 2e-6
TO_LAST, TO_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]
LINEAR = ["Conv2D", "DepthwiseConv2dNative", "Conv3D", "MatMul", "Conv2DBackpropInput", "Atrous"]


def const(rng, shape, least=None):
    value = rng.uniform(least, 2.0, shape) if least is not None else rng.randn(*shape)
    return tf.constant(value.astype(np.float32))


def weights(rng, shape):
    found = const(rng, shape)
    return tf.identity(found) if rng.rand() < 0.3 else found


def linear(rng, kind, first):
    """The tensor before the normalization, how many channels it has, and the dimension where they are."""
    channels = int(rng.randint(1, 6))
    if kind == "MatMul":
        turned = bool(rng.rand() < 0.5)
        w = weights(rng, [channels, 7] if turned else [7, channels])
        return tf.matmul(const(rng, [4, 7]), w, transpose_b=turned, name="linear"), channels, 1
    if kind == "Conv3D":
        return tf.nn.conv3d(const(rng, [2, 4, 5, 6, 3]), weights(rng, [2, 2, 3, 3, channels]), [1] * 5, "SAME", name="linear"), channels, 4
    if kind == "Conv2DBackpropInput":
        return tf.raw_ops.Conv2DBackpropInput(input_sizes=[2, 8, 8, channels], filter=weights(rng, [3, 3, channels, 4]), padding="SAME",
                                              out_backprop=const(rng, [2, 4, 4, 4]), strides=[1, 2, 2, 1], name="linear"), channels, 3
    x = const(rng, [2, 3, 8, 8] if first else [2, 8, 8, 3])
    style = {"strides": [1] * 4, "padding": "SAME", "data_format": "NCHW" if first else "NHWC", "name": "linear"}
    if kind == "DepthwiseConv2dNative":
        found = tf.raw_ops.DepthwiseConv2dNative(input=x, filter=weights(rng, [3, 3, 3, channels]), **style)
        return found, 3 * channels, 1 if first else 3
    if kind == "Atrous":
        x = tf.raw_ops.SpaceToBatchND(input=x, block_shape=[2, 2], paddings=[[2, 2], [2, 2]])
        found = tf.raw_ops.Conv2D(input=x, filter=weights(rng, [3, 3, 3, channels]), **dict(style, padding="VALID"))
        if rng.rand() < 0.3:
            found = tf.nn.bias_add(found, const(rng, [channels]))
        return tf.raw_ops.BatchToSpaceND(input=found, block_shape=[2, 2], crops=[[0, 0], [0, 0]]), channels, 3
    return tf.raw_ops.Conv2D(input=x, filter=weights(rng, [3, 3, 3, channels]), **style), channels, 1 if first else 3


def normalized(rng, x, channels, axis):
    """One of the spellings; its last node is `norm`."""
    scale, offset = const(rng, [channels], 0.2), const(rng, [channels])
    mean, variance = const(rng, [channels]), const(rng, [channels], 0.3)
    rank = len(x.shape)
    first = axis != rank - 1
    spelling = rng.randint(6)
    if spelling == 0 and rank == 4:
        op = [tf.raw_ops.FusedBatchNorm, tf.raw_ops.FusedBatchNormV2, tf.raw_ops.FusedBatchNormV3][rng.randint(3)]
        return op(x=x, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=0.001, is_training=False,
                  data_format="NCHW" if first else "NHWC", name="norm")[0]
    if spelling == 1 and rank == 4 and not first:  # of which made_global() makes one
        return tf.raw_ops.FusedBatchNorm(x=x, scale=scale, offset=offset, mean=mean, variance=variance, epsilon=0.001, is_training=False,
                                         name="norm")[0]
    shape = [1] * rank
    shape[axis] = channels
    wide = rng.rand() < 0.5 or first
    mean, variance, scale, offset = [tf.reshape(t, shape) if wide else t for t in (mean, variance, scale, offset)]
    inverse = tf.raw_ops.Rsqrt(x=tf.add(variance, 0.001))
    if spelling == 2:  # as tf.nn.batch_normalization
        inverse = inverse * scale
        return tf.add(x * inverse, offset - mean * inverse, name="norm")
    if spelling == 3:
        return tf.add(scale * ((x - mean) * inverse), offset, name="norm")
    if spelling == 4:
        return tf.multiply(x, inverse, name="norm")
    return tf.subtract(offset, (x - mean) * tf.math.reciprocal(tf.sqrt(variance)), name="norm")


def made_global(graph, scaled):
    """With the op of 2015 in place of FusedBatchNorm: no release makes it any more, all run it."""
    for node in graph.node:
        if node.op == "FusedBatchNorm" and node.attr["data_format"].s == b"NHWC":
            x, scale, offset, mean, variance = node.input
            node.op = "BatchNormWithGlobalNormalization"
            epsilon = node.attr["epsilon"].f
            for key in list(node.attr):
                if key != "T":
                    del node.attr[key]
            node.attr["variance_epsilon"].f = epsilon
            node.attr["scale_after_normalization"].b = scaled
            del node.input[:]
            node.input.extend([x, mean, variance, offset, scale])
            graph.versions.producer = 8
    return graph


def channels_last(graph):
    """The same for kernels that want channels last, which all CPUs have."""
    out = graph_pb2.GraphDef(versions=graph.versions)

    def turned(name, tensor, order):
        for suffix, op in (("/order", "Const"), ("", "Transpose")):
            node = out.node.add(name=name + suffix, op=op)
            if op == "Const":
                node.attr["dtype"].type = tf.int32.as_datatype_enum
                node.attr["value"].tensor.CopyFrom(tf1.make_tensor_proto(order, tf.int32))
            else:
                node.input.extend([tensor, name + "/order"])
                node.attr["T"].type = tf.float32.as_datatype_enum
                node.attr["Tperm"].type = tf.int32.as_datatype_enum
        return name

    for node in graph.node:
        if "data_format" not in node.attr or node.attr["data_format"].s != b"NCHW" or node.op == "BiasAdd":
            out.node.add().CopyFrom(node)
            continue
        inner = out.node.add()
        inner.CopyFrom(node)
        inner.name += "/last"
        inner.attr["data_format"].s = b"NHWC"
        inner.input[0] = node.name + "/in"
        turned(node.name + "/in", node.input[0], TO_LAST)
        turned(node.name, inner.name, TO_FIRST)
    return out


def run(graph, *outputs):
    config = tf1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    with tf.Graph().as_default():
        tf1.import_graph_def(channels_last(graph), name="")
        with tf1.Session(config=config) as session:
            return session.run([output + ":0" for output in outputs])


def fold(graph, *kept):
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "in"), os.path.join(folder, "out")
        data = graph.SerializeToString()
        with open(source, "wb") as file:
            file.write(data)
        found = subprocess.run([DRIVER, "--fold-bn", source, result, *kept], stdout=subprocess.PIPE, check=True)
        with open(result, "rb") as file:
            after = file.read()
    count = int(found.stdout)
    if not count and after != data:
        raise AssertionError("nothing is folded, and the graph is another one")
    folded = graph_pb2.GraphDef()
    folded.ParseFromString(after)
    return folded, count


def small(rng, shape=(2, 8, 8, 3), channels=3):
    x, w = const(rng, shape), tf.constant(rng.randn(3, 3, shape[3], channels).astype(np.float32), name="w")
    return tf.raw_ops.Conv2D(input=x, filter=w, strides=[1] * 4, padding="SAME", name="linear")


class FoldBatchNorm(unittest.TestCase):
    def test_generated(self):
        rng = np.random.RandomState(20)
        worst, formats, ops = 0.0, set(), set()
        for case in range(CASES):
            kind = LINEAR[case % len(LINEAR)]
            first = kind in ("Conv2D", "DepthwiseConv2dNative") and rng.rand() < 0.5
            formats.add(first)
            with tf.Graph().as_default() as graph:
                x, channels, axis = linear(rng, kind, first)
                if rng.rand() < 0.4:
                    x = tf.nn.bias_add(x, const(rng, [channels]), data_format="NCHW" if axis == 1 and len(x.shape) == 4 else None)
                y = normalized(rng, x, channels, axis)
                tf.nn.relu(y, name="out")
                tf.negative(y, name="more")
            before = graph.as_graph_def()
            if rng.rand() < 0.5:
                before = made_global(before, bool(rng.rand() < 0.5))
            ops.update(node.op for node in before.node)
            after, count = fold(before, "out", "more")
            self.assertEqual(1, count, "%s: %s" % (kind, before))
            self.assertIn([n.op for n in after.node if n.name == "norm"], (["BiasAdd"], ["Identity"]))
            names = ("norm", "out", "more")
            expected = run(before, *names)
            for name, was, now in zip(names, expected, run(after, *names)):
                error = np.max(np.abs(was - now)) / np.max(np.abs(expected[0]))
                self.assertLessEqual(error, MOST, "%s of %s" % (name, before))
                worst = max(worst, error)
        self.assertEqual({True, False}, formats)
        self.assertLessEqual({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "BatchNormWithGlobalNormalization"}, ops)
        print("%d nets, largest difference %.2g" % (CASES, worst))

    def test_shared_weights(self):
        rng = np.random.RandomState(3)
        with tf.Graph().as_default() as graph:
            x = small(rng)
            again = tf.raw_ops.Conv2D(input=const(rng, (1, 5, 5, 3)), filter=graph.get_tensor_by_name("w:0"), strides=[1] * 4, padding="SAME")
            tf.nn.relu(normalized(rng, x, 3, 3), name="out")
            tf.nn.relu(normalized(rng, again, 3, 3), name="again")
            tf.identity(graph.get_tensor_by_name("w:0"), name="weights")
        before = graph.as_graph_def()
        after, count = fold(before, "out", "again", "weights")
        self.assertEqual(2, count)
        np.testing.assert_array_equal(run(before, "weights"), run(after, "weights"))
        for was, now in zip(run(before, "out", "again"), run(after, "out", "again")):
            self.assertLessEqual(np.max(np.abs(was - now)), MOST * np.max(np.abs(was)))

    def test_what_stays(self):
        """Of each the graph comes back byte for byte."""
        fused = dict(scale=[1.0] * 3, offset=[0.5] * 3, mean=[0.1] * 3, variance=[1.0] * 3, name="norm")

        def training(rng):
            tf.raw_ops.FusedBatchNorm(x=small(rng), is_training=True, **dict(fused, mean=[], variance=[]))

        def other_output(rng):
            found = tf.raw_ops.FusedBatchNorm(x=small(rng), is_training=False, **fused)
            tf.identity(found[1], name="mean")

        def two_readers(rng):
            x = small(rng)
            tf.raw_ops.FusedBatchNorm(x=x, is_training=False, **fused)
            tf.identity(x)

        def control_reader(rng):
            x = small(rng)
            tf.raw_ops.FusedBatchNorm(x=x, is_training=False, **fused)
            with tf.control_dependencies([x]):
                tf.constant(1)

        def by_place(rng):
            tf.multiply(small(rng), const(rng, [8, 8, 3]), name="norm")

        def larger(rng):
            tf.multiply(small(rng), const(rng, [1, 1, 1, 1, 3]), name="norm")

        def channel_as_row(rng):
            tf.multiply(small(rng, channels=8), const(rng, [8, 1, 1]), name="norm")

        def not_constant(rng):
            tf.multiply(small(rng), tf1.placeholder(tf.float32, [3]), name="norm")

        def only_bias(rng):
            tf.nn.bias_add(small(rng), [1.0, 2.0, 3.0], name="norm")

        def squared(rng):
            x = small(rng)
            tf.multiply(x, x, name="norm")

        def infinite(rng):
            tf.multiply(small(rng), [1.0, np.inf, 1.0], name="norm")

        def weights_not_constant(rng):
            w = tf1.placeholder(tf.float32, [3, 3, 3, 3])
            x = tf.raw_ops.Conv2D(input=const(rng, [1, 5, 5, 3]), filter=w, strides=[1] * 4, padding="SAME")
            tf.multiply(x, [1.0, 2.0, 3.0], name="norm")

        for make in (training, other_output, two_readers, control_reader, by_place, larger, channel_as_row, not_constant, only_bias,
                     squared, infinite, weights_not_constant):
            with tf.Graph().as_default() as graph:
                make(np.random.RandomState(1))
            self.assertEqual(0, fold(graph.as_graph_def(), "norm" if make is other_output else "x")[1], make.__name__)

    def test_kept(self):
        rng = np.random.RandomState(5)
        with tf.Graph().as_default() as graph:
            tf.multiply(small(rng), [1.0, 2.0, 3.0], name="norm")
        before = graph.as_graph_def()
        self.assertEqual(0, fold(before, "linear")[1])
        self.assertEqual(1, fold(before, "norm")[1])
        after, count = fold(before, "norm", "w")
        self.assertEqual(1, count)
        np.testing.assert_array_equal(run(before, "w"), run(after, "w"))


if __name__ == "__main__":
    program.under_test()
    unittest.main()
