#!/usr/bin/env python3
"""gedit retarget against real TensorFlow: what stands in for an op gives its numbers, to a relative 1e-5.

Every replacement, and models made at random of functions, conds and loops, in the TensorFlow that runs this, as they are and
retargeted; with GEDIT_SHARED or GEDIT_TF_RELEASES set in 1.4, 1.12, 1.15 and 2.3, too, whose libraries scripts/tf-release
fetches once into the folder GEDIT_TF_RELEASES (default ~/.cache/gedit/tensorflow), 40 to 400 MB each. GEDIT_OLD_PYTHON names
a Python 3.6 or 3.7, which they need.
"""
import os
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")  # without a GPU it alone has a kernel of _FusedBatchNormEx
import numpy as np
import tensorflow as tf2
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.ops import (gen_array_ops, gen_image_ops, gen_list_ops, gen_math_ops, gen_nn_ops, gen_resource_variable_ops,
                                   gen_string_ops)

import inline

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import old_releases
import program

tf = tf2.compat.v1
GEDIT = None
RELEASES = ["1.4.0", "1.12.0", "1.15.0", "2.3.0"]
MODELS = 6
# Nothing there stands in for them.
LACKING = {("QuantizeAndDequantizeV4", "1.4.0"), ("NonMaxSuppressionV5", "1.4.0"), ("NonMaxSuppressionV4", "1.4.0"), ("tensor lists", "1.4.0"), ("tensor list that grows", "1.4.0"),
           ("tensor list that grows", "1.12.0"), ("random integers of a seed", "1.4.0"), ("random integers of a seed", "1.12.0")}

# What 1.12 takes of them this TensorFlow does not take.
OTHERS = {("tensor lists", "1.12.0")}


def replaced():
    """Each makes the outputs of one op that older releases lack, of x, float [2,4,4,3]."""
    weights = np.linspace(-1, 1, 3 * 3 * 3 * 2, dtype=np.float32).reshape(3, 3, 3, 2)
    ones = np.array([1.0, 0.5, 2.0], np.float32)
    pads = [0, 0, 1, 2, 2, 0, 0, 0]
    matrix = lambda x: tf.reshape(x, [2, 12, 4])
    boxes = np.float32([[0, 0, 1, 1], [0, 0, 0.9, 1], [0, 2, 1, 3], [0, 2, 1.1, 3]])
    return {
        "AddV2": lambda x: gen_math_ops.add_v2(x, ones),
        "BatchMatMulV2": lambda x: gen_math_ops.batch_mat_mul_v2(matrix(x), tf.reshape(x, [2, 4, 12])),
        "BatchMatMulV3": lambda x: gen_math_ops.batch_mat_mul_v3(matrix(x), matrix(x), Tout=tf.float32, adj_x=True),
        "SelectV2": lambda x: gen_math_ops.select_v2(x > 0.0, x, x * 2.0),
        "SelectV2 of what follows": lambda x: unknown_sizes(x, lambda a: gen_math_ops.select_v2(a > 0.0, a, tf.nn.relu(a) + 1.0)),
        "SelectV2 of a scalar": lambda x: gen_math_ops.select_v2(tf.reduce_sum(x) > 0.0, x, x * 2.0),
        "FusedBatchNormV3": lambda x: gen_nn_ops.fused_batch_norm_v3(x, ones, ones, ones, ones, is_training=False)[0],
        "FusedBatchNormV3 in training": lambda x: gen_nn_ops.fused_batch_norm_v3(x, ones, ones, ones, ones)[0],
        "FusedBatchNormV3 that weighs means": lambda x: weighing(gen_nn_ops.fused_batch_norm_v3(
            x, ones, ones, ones, 2.0 * ones, exponential_avg_factor=0.25)),
        "GatherV2": lambda x: gen_array_ops.gather_v2(x, [1, 0, 1], 0),
        "LeakyRelu": lambda x: gen_nn_ops.leaky_relu(x, alpha=0.3),
        "DivNoNan": lambda x: gen_math_ops.div_no_nan(x, tf.maximum(x, 0.0)),
        "BroadcastTo": lambda x: gen_array_ops.broadcast_to(x[:, :, :, :1], [2, 4, 4, 3]),
        "BroadcastTo of small integers": lambda x: sum(tf.cast(gen_array_ops.broadcast_to(
            tf.cast(tf.abs(x[:, :, :, :1]) * 10.0, type), [2, 4, 4, 3]), tf.float32)
            for type in (tf.int8, tf.int16, tf.uint8, tf.uint16)),
        "Conv2D": lambda x: gen_nn_ops.conv2d(x, weights, [1, 2, 1, 1], "EXPLICIT", explicit_paddings=pads),
        "DepthwiseConv2dNative": lambda x: gen_nn_ops.depthwise_conv2d_native(
            x, weights, [1, 1, 1, 1], "EXPLICIT", explicit_paddings=pads),
        "MatrixDiagV3": lambda x: gen_array_ops.matrix_diag_v3(matrix(x), 0, -1, -1, 0.0),
        "MatrixSetDiagV3": lambda x: gen_array_ops.matrix_set_diag_v3(matrix(x), x[:, 0, :, 0], 0),
        "MatrixDiagPartV3": lambda x: gen_array_ops.matrix_diag_part_v3(matrix(x), 0, 0.0),
        "NonMaxSuppressionV5": lambda x: tf.cast(gen_image_ops.non_max_suppression_v5(
            tf.constant(boxes), x[0, :, 0, 0], 3, 0.5, -9.0, 0.0)[0], tf.float32),
        "NonMaxSuppressionV4": lambda x: tf.cast(gen_image_ops.non_max_suppression_v4(
            tf.constant(boxes), x[0, :, 0, 0], 3, 0.5, -9.0)[0], tf.float32),
        "StaticRegexFullMatch": lambda x: x + tf.cast(gen_string_match("weights"), tf.float32),
        "RegexFullMatch": lambda x: x + tf.cast(gen_string_ops.regex_full_match("weights", "^s3://.*"), tf.float32),
        "MatrixDiagV2": lambda x: gen_array_ops.matrix_diag_v2(matrix(x), 0, -1, -1, 0.0),
        "MatrixSetDiagV2": lambda x: gen_array_ops.matrix_set_diag_v2(matrix(x), x[:, 0, :, 0], 0),
        "MatrixDiagPartV2": lambda x: gen_array_ops.matrix_diag_part_v2(matrix(x), 0, 0.0),
        "FusedBatchNormV2 in training": lambda x: gen_nn_ops.fused_batch_norm_v2(x, ones, ones, ones, ones)[0],
        "FusedBatchNorm that weighs means": lambda x: weighing(gen_nn_ops._fused_batch_norm(
            x, ones, ones, ones, 2.0 * ones, exponential_avg_factor=0.25)),
        "ParseExampleV2": parsed,
        "_FusedConv2D": lambda x: made(
            "_FusedConv2D", [x, weights, ones[:2]], T=tf.float32, num_args=1, TArgs=[tf.float32], num_host_args=0, padding="SAME",
            strides=[1, 1, 1, 1], fused_ops=["BiasAdd", "Relu"]),
        "_FusedConv2D of a norm": lambda x: made(
            "_FusedConv2D", [x, weights, *[ones[:2]] * 4], T=tf.float32, num_args=4, TArgs=[tf.float32] * 4, num_host_args=0,
            padding="VALID", strides=[1, 1, 1, 1], epsilon=0.01, fused_ops=["FusedBatchNorm"]),
        "_FusedMatMul": lambda x: made("_FusedMatMul", [tf.reshape(x, [8, 12]), tf.reshape(x, [12, 8]), tf.reshape(x, [-1])[:8]],
                                       T=tf.float32, num_args=1, fused_ops=["BiasAdd", "Elu"]),
        "int64 indices": lambda x: gen_math_ops.sparse_segment_sum(
            x[:, 0], tf.constant([0, 1, 0]), tf.constant([0, 0, 1], tf.int64)),
        "tensor lists": lambda x: gen_list_ops.tensor_list_stack(listed(x), [4, 4, 3], tf.float32) +
                                  gen_list_ops.tensor_list_get_item(listed(x), 1, [4, 4, 3], tf.float32),
        "tensor list that grows": lambda x: gen_list_ops.tensor_list_stack(grown(grown(listed(x), 0, x), 4, x), [4, 4, 3], tf.float32),
        "QuantizeAndDequantizeV4": lambda x: gen_array_ops.quantize_and_dequantize_v4(x, -1.5, 1.5, range_given=True),
        "DenseBincount": lambda x: x + tf.reduce_sum(gen_math_ops.dense_bincount(
            tf.cast(tf.reshape(tf.abs(x) * 3.0, [96]), tf.int32), 4, tf.reshape(x, [96])) * [1.0, 2.0, 3.0, 4.0]),
        "random numbers of a seed": lambda x: x + drawn(x),
        "random integers of a seed": lambda x: x + tf.cast(tf.random.stateless_uniform(
            tf.shape(x), [3, 4], minval=-9, maxval=1000, dtype=tf.int32), tf.float32),
        "DisableCopyOnRead": read_after,
        "_FusedBatchNormEx": lambda x: made("_FusedBatchNormEx", [tf.reshape(x, [2, 4, 3, 4])] + [np.float32([0.5, 1, 2, 3])] * 4, 6,
                                            T=tf.float32, U=tf.float32, num_side_inputs=0, activation_mode="Relu",
                                            epsilon=0.001, is_training=False),
        "BiasAdd of 5 dimensions": lambda x: gen_nn_ops.bias_add(tf.reshape(x, [2, 3, 2, 2, 4]), [1.0, 2.0, 3.0], data_format="NCHW"),
        "BiasAdd of 3 dimensions": lambda x: gen_nn_ops.bias_add(tf.reshape(x, [2, 3, 16]), [1.0, 2.0, 3.0], data_format="NCHW"),
        "BiasAddGrad": lambda x: gen_nn_ops.bias_add_grad(tf.reshape(x, [2, 3, 2, 2, 4]), data_format="NCHW") +
                                 gen_nn_ops.bias_add_grad(tf.reshape(x, [2, 3, 16]), data_format="NCHW"),
    }


def made(op, inputs, outputs=1, **attrs):
    """The first output of an op for which there is no function."""
    def attr(value):
        if not isinstance(value, list):
            return attr_value_pb2.AttrValue(**field(value))
        lists = attr_value_pb2.AttrValue.ListValue()
        for one in value:
            for key, item in field(one).items():
                getattr(lists, key).append(item)
        return attr_value_pb2.AttrValue(list=lists)

    def field(value):
        if isinstance(value, tf.DType):
            return {"type": value.as_datatype_enum}
        if isinstance(value, bool):
            return {"b": value}
        return {"s": value.encode()} if isinstance(value, str) else {"i" if isinstance(value, int) else "f": value}

    graph = tf.get_default_graph()
    return graph.create_op(op, [tf.convert_to_tensor(one) for one in inputs], [tf.float32] * outputs, name=op.strip("_"),
                           attrs={key: attr(value) for key, value in attrs.items()}).outputs[0]


def parsed(x):
    """Half of what is read from an Example, its numbers as wide as x."""
    feature = lambda values: tf2.train.Feature(float_list=tf2.train.FloatList(value=values))
    example = tf2.train.Example(features=tf2.train.Features(feature={"a": feature([1, 2, 3]), "s": feature([4])}))
    dense, sparse = tf2.io.FixedLenFeature([3], tf.float32), tf2.io.VarLenFeature(tf.float32)
    read = tf2.io.parse_example(tf.constant([example.SerializeToString()] * 2), {"a": dense, "s": sparse})
    return x * tf.reshape(read["a"], [2, 1, 1, 3]) + tf.reduce_sum(read["s"].values)


def listed(x):
    return gen_list_ops.tensor_list_from_tensor(x, tf.constant([4, 4, 3]))


def grown(tensors, index, x):
    return gen_list_ops.tensor_list_set_item(tensors, index, x[1], resize_if_index_out_of_bounds=True)


def drawn(x):
    """What 1.4 draws, too: it takes seeds of int64 alone."""
    shape, seed = tf.shape(x), tf.cast(tf.reshape(x, [-1])[:2] * 1000.0, tf.int64)
    return sum(draw(shape, seed) for draw in (
        tf.random.stateless_uniform, tf.random.stateless_normal, tf.random.stateless_truncated_normal))


def read_after(x):
    handle = gen_resource_variable_ops.var_handle_op(dtype=tf.float32, shape=[2, 4, 4, 3], shared_name="v")
    with tf.control_dependencies([gen_resource_variable_ops.assign_variable_op(handle, 2.0 * x)]):
        disabled = gen_resource_variable_ops.disable_copy_on_read(handle)
    with tf.control_dependencies([disabled]):
        return gen_resource_variable_ops.read_variable_op(handle, tf.float32)


def unknown_sizes(x, make):
    """Of a tensor whose sizes are not known, but what they are equal to."""
    return make(tf.placeholder_with_default(x, [None, 4, None, 3]))


def weighing(norm):
    return norm[0] + norm[1] + 3.0 * norm[2]


def gen_string_match(text):
    return gen_string_ops.static_regex_full_match(tf.constant(text), "^s3://.*")


def close(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-6, equal_nan=True)


class Case:
    def __init__(self, name, graph, outputs, feed):
        self.name, self.graph, self.outputs, self.feed = name, graph.as_graph_def(add_shapes=True), outputs, feed

    def run(self, graph_def):
        config = tf.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = -1
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(graph_def, name="")
            with tf.Session(graph=graph, config=config) as session:
                return session.run(self.outputs, {"x:0": self.feed})


def cases():
    feed = np.random.RandomState(7).randn(2, 4, 4, 3).astype(np.float32)
    for name, make in replaced().items():
        with tf.Graph().as_default() as graph:
            tf.identity(make(tf.placeholder(tf.float32, [2, 4, 4, 3], "x")), name="y")
        yield Case(name, graph, ["y:0"], feed)
    for seed in range(MODELS):
        model = inline.Model(seed, False)
        yield Case("model %d" % seed, model.graph, model.outputs, inline.FEEDS[0])


class Retarget(unittest.TestCase):
    def retargeted(self, folder, case, release):
        before, after = os.path.join(folder, "before.pb"), os.path.join(folder, "after.pb")
        with open(before, "wb") as file:
            file.write(case.graph.SerializeToString())
        result = subprocess.run([GEDIT, "retarget", before, "--tf", release, "-q", "-O", "-o", after], stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 0, "%s: %s" % (case.name, result.stderr.decode()))
        graph = tf.GraphDef()
        with open(after, "rb") as file:
            graph.ParseFromString(file.read())
        return graph, after

    def test_numbers(self):
        """Here, of what older releases are given."""
        with tempfile.TemporaryDirectory() as folder:
            for case in cases():
                expected = case.run(case.graph)
                for release in RELEASES:
                    if (case.name, release) in LACKING | OTHERS:
                        continue
                    with self.subTest(case=case.name, release=release):
                        found = case.run(self.retargeted(folder, case, release)[0])
                        self.assertTrue(all(map(close, expected, found)), "%s: %s, %s" % (case.name, expected, found))

    def test_releases(self):
        place = os.environ.get("GEDIT_TF_RELEASES")
        if not place and not os.environ.get("GEDIT_SHARED"):
            self.skipTest("old releases are for scripts/test --all, or GEDIT_TF_RELEASES")
        python = old_releases.python()
        if python is None:
            self.skipTest(old_releases.NO_PYTHON)
        for release in RELEASES:
            folder = old_releases.library(release, place or old_releases.place())
            if folder is not None:
                self.judge(release, folder, python)

    def judge(self, release, folder, python):
        with tempfile.TemporaryDirectory() as made:
            asked, requests = [(case, False) for case in cases() if (case.name, release) not in LACKING], []
            # What was lowered goes through the release's optimizers, too.
            asked += [(case, True) for case, _ in asked if case.name.startswith("model")]
            for i, (case, optimized) in enumerate(asked):
                _, path = self.retargeted(made, case, release)
                kept = os.path.join(made, "%d.pb" % i)
                os.rename(path, kept)
                requests.append({"graph": kept, "outputs": case.outputs, "optimized": optimized,
                                 "feeds": {"x:0": [list(case.feed.shape), case.feed.ravel().tolist()]}})
            answers = old_releases.answers(python, folder, requests)
            for (case, optimized), answer in zip(asked, answers):
                with self.subTest(case=case.name, release=release, optimized=optimized):
                    self.assertNotIn("error", answer, "%s in %s" % (case.name, release))
                    found = [np.float32(numbers).reshape(shape) for shape, numbers in answer["outputs"]]
                    expected = case.run(case.graph)
                    self.assertTrue(all(map(close, expected, found)), "%s in %s: %s, %s" % (case.name, release, expected, found))


if __name__ == "__main__":
    GEDIT = program.under_test()
    unittest.main()
