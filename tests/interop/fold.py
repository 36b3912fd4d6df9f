#!/usr/bin/env python3
"""What gedit folds against real TensorFlow, bit for bit: for every op that has a rule, generated operands and attributes
(a fixed seed), computed by TensorFlow's kernels and folded by tests/fold_driver.cc. A NaN is as good as any other.
Each row says how many of the cases that TensorFlow computes are folded at least: what is never folded proves nothing.
"""
import collections
import os
import subprocess
import sys
import tempfile
import unittest
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

if hasattr(tf.compat.v1, "enable_eager_execution"):
    tf.compat.v1.enable_eager_execution()
from tensorflow.core.framework import graph_pb2  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import program

tf1 = tf.compat.v1
DRIVER = os.environ.get("GEDIT_FOLD_DRIVER", "")
CASES = int(os.environ.get("GEDIT_FOLD_CASES", "40"))  # of each row
BFLOAT16 = tf.bfloat16.as_numpy_dtype
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float32, np.float64, np.float16, BFLOAT16]
NUMBERS = INTS + FLOATS
MOVED = NUMBERS + [np.bool_, np.complex64, np.complex128, object]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 6.0, 7.0, 1e5, 3e9, -3e9, 1e30, 1e-30, 1e-39, 1e-45, 6e-8, 65504.0, 65520.0, 1e300,
           5e-324, float("inf"), float("-inf"), float("nan"), 1.1754943508222875e-38, 2.2250738585072014e-308]


def is_float(dtype):
    return dtype in FLOATS


def pick(rng, items):
    return items[rng.randint(len(items))]


def some_shape(rng, least=0, most=3, empty=True):
    sizes = [0, 1, 1, 2, 3, 4, 5] if empty and rng.rand() < 0.15 else [1, 2, 3, 4, 5]
    return [int(pick(rng, sizes)) for _ in range(rng.randint(least, most + 1))]


def array(rng, dtype, shape, plain=None):
    """Elements of a dtype: plain ones that are folded, those at the edge of the dtype, any bits, or all the same."""
    count = int(np.prod(shape, dtype=np.int64))
    kind = rng.rand() if plain is None else (0.3 if plain else 0.9)
    if kind < 0.15 and count > 0:  # all the same
        return np.broadcast_to(array(rng, dtype, [], rng.rand() < 0.6), shape).copy()
    if dtype is object:
        return np.array([b"x" * rng.randint(4) + bytes([rng.randint(256)]) for _ in range(count)], object).reshape(shape)
    if dtype == np.bool_:
        return (rng.rand(count) < 0.5).reshape(shape)
    if dtype in (np.complex64, np.complex128):
        return (rng.randn(count) + 1j * rng.randn(count)).astype(dtype).reshape(shape)
    if is_float(dtype):
        if kind < 0.7:
            found = rng.randn(count) * pick(rng, [1.0, 10.0, 1000.0])
            if rng.rand() < 0.4:
                found = np.floor(found)
        elif kind < 0.9:
            found = rng.choice(SPECIAL, count)
        else:
            width = np.dtype(dtype).itemsize
            return np.frombuffer(rng.bytes(count * width), dtype).reshape(shape).copy()
        with np.errstate(all="ignore"):
            return np.asarray(found).astype(dtype).reshape(shape)
    info = np.iinfo(dtype)
    if kind < 0.6:
        found = rng.randint(max(info.min, -100), min(info.max, 100) + 1, count)
    elif kind < 0.85:
        found = np.array([pick(rng, [info.min, info.min + 1, -1 if info.min else 1, 0, 1, 2, info.max - 1, info.max])
                          for _ in range(count)], dtype=object)
    else:
        return np.frombuffer(rng.bytes(count * np.dtype(dtype).itemsize), dtype).reshape(shape).copy()
    return np.array(found).astype(dtype).reshape(shape)


def indices(rng, values, dtype=None):
    return np.array(values, dtype or pick(rng, [np.int32, np.int64]))


def large(rng, shape):
    """Now and then enough elements for kernels that take several at a time, and for several threads."""
    return [int(pick(rng, [17, 100, 1031, 40000]))] if rng.rand() < 0.08 else shape


# Rows: functions of a random generator to the arguments of tf.raw_ops.OP. Arrays and lists of arrays are operands.
def unary(dtypes, name="x"):
    return lambda rng: {name: array(rng, pick(rng, dtypes), large(rng, some_shape(rng)))}


def pair_of_shapes(rng):
    shape = some_shape(rng, 0, 4)
    if rng.rand() < 0.4:
        return large(rng, shape), None
    other = [1 if rng.rand() < 0.4 else size for size in shape][rng.randint(len(shape) + 1):]
    return (shape, other) if rng.rand() < 0.5 else (other, shape)


def binary(dtypes, x="x", y="y"):
    def make(rng):
        dtype = pick(rng, dtypes)
        a, b = pair_of_shapes(rng)
        if rng.rand() < 0.03:
            b = some_shape(rng)  # which may not fit
        return {x: array(rng, dtype, a), y: array(rng, dtype, a if b is None else b)}
    return make


def division(dtypes):
    """Without the quotients at which the processor traps, and TensorFlow's process with it."""
    def make(rng):
        arguments = binary(dtypes)(rng)
        for value in arguments.values():
            if np.iinfo(value.dtype).min < 0:
                value[...] = np.where(value == np.iinfo(value.dtype).min, value + 1, value)
        return arguments
    return make


def cast(rng):
    source, to = pick(rng, NUMBERS + [np.bool_]), pick(rng, NUMBERS + [np.bool_])
    return {"x": array(rng, source, large(rng, some_shape(rng, 0, 2))), "DstT": tf.as_dtype(to)}


def add_n(rng):
    dtype, shape = pick(rng, NUMBERS), large(rng, some_shape(rng))
    return {"inputs": [array(rng, dtype, shape, rng.rand() < 0.8) for _ in range(pick(rng, [1, 2, 2, 2, 3, 5]))]}


def bias_add(rng):
    dtype = pick(rng, NUMBERS)
    first = rng.rand() < 0.4
    shape = some_shape(rng, 4, 4) if first else some_shape(rng, 2, 5)
    plain = rng.rand() < 0.8
    return {"value": array(rng, dtype, shape, plain), "bias": array(rng, dtype, [shape[1 if first else -1]], plain),
            "data_format": "NCHW" if first else "NHWC"}


def reduction(dtypes, name="axis"):
    def make(rng):
        shape = some_shape(rng, 0, 4)
        axes = [i - (len(shape) if rng.rand() < 0.3 else 0) for i in range(len(shape)) if rng.rand() < 0.5]
        written = indices(rng, axes)
        if len(axes) == 1 and rng.rand() < 0.5:
            written = indices(rng, axes[0])
        return {"input": array(rng, pick(rng, dtypes), shape), name: written, "keep_dims": bool(rng.rand() < 0.4)}
    return make


def arg_extreme(rng):
    shape = some_shape(rng, 1, 3)
    return {"input": array(rng, pick(rng, INTS), shape), "dimension": indices(rng, rng.randint(-len(shape), len(shape))),
            "output_type": pick(rng, [tf.int32, tf.int64])}


def moved(rng, least=0, most=4):
    return array(rng, pick(rng, MOVED), some_shape(rng, least, most))


def reshape(rng):
    value = moved(rng)
    sizes, left = [], value.size
    while left > 1:
        sizes.append(pick(rng, [d for d in range(1, left + 1) if left % d == 0]))
        left //= sizes[-1]
    if value.size == 0:
        sizes = [0] + some_shape(rng)
    if sizes and rng.rand() < 0.5:
        sizes[rng.randint(len(sizes))] = -1
    return {"tensor": value, "shape": indices(rng, sizes)}


def expand_dims(rng):
    value = moved(rng)
    return {"input": value, "axis": indices(rng, rng.randint(-value.ndim - 1, value.ndim + 1))}


def squeeze(rng):
    shape = [1 if rng.rand() < 0.5 else size for size in some_shape(rng, 0, 5)]
    axes = [i - (len(shape) if rng.rand() < 0.3 else 0) for i, size in enumerate(shape) if size == 1 and rng.rand() < 0.6]
    return {"input": array(rng, pick(rng, MOVED), shape), "axis": axes}


def transpose(rng):
    value = moved(rng, 0, 6)
    return {"x": value, "perm": indices(rng, rng.permutation(value.ndim))}


def broadcast_to(rng):
    shape = some_shape(rng, 0, 4)
    source = [1 if rng.rand() < 0.4 else size for size in shape][rng.randint(len(shape) + 1):]
    return {"input": array(rng, pick(rng, MOVED[:-1]), source), "shape": indices(rng, shape)}


def tile(rng):
    value = moved(rng)
    return {"input": value, "multiples": indices(rng, rng.choice([0, 1, 1, 2, 2, 3], value.ndim))}


def reverse(rng):
    value = moved(rng)
    return {"tensor": value, "axis": indices(rng, [i for i in range(value.ndim) if rng.rand() < 0.5])}


def slice_of(rng):
    value = moved(rng)
    begin = [rng.randint(size + 1) for size in value.shape]
    size = [-1 if rng.rand() < 0.3 else rng.randint(whole - at + 1) for whole, at in zip(value.shape, begin)]
    kind = pick(rng, [np.int32, np.int64])
    return {"input": value, "begin": indices(rng, begin, kind), "size": indices(rng, size, kind)}


def strided_slice(rng):
    value = moved(rng, 0, 5)
    entries = rng.randint(0, value.ndim + 3)
    masks = {"%s_mask" % name: int(sum(1 << i for i in range(entries) if rng.rand() < share))
             for name, share in (("begin", 0.3), ("end", 0.3), ("new_axis", 0.15), ("shrink_axis", 0.25))}
    masks["ellipsis_mask"] = int(1 << rng.randint(entries)) if entries and rng.rand() < 0.4 else 0
    if rng.rand() < 0.8:
        masks["begin_mask"] &= ~masks["shrink_axis_mask"]
    kind = pick(rng, [np.int32, np.int64])
    step = rng.choice([1, 1, 1, 2, 3, -1, -2], entries)
    for i in range(entries):
        if masks["shrink_axis_mask"] >> i & 1:
            step[i] = 1
    begin = np.array([rng.randint(-3, 4) for _ in range(entries)])
    return dict(masks, input=value, begin=indices(rng, begin, kind), strides=indices(rng, step, kind),
                end=indices(rng, begin + rng.randint(-4, 5, entries), kind))


def split(rng):
    shape, parts = some_shape(rng, 1, 4), rng.randint(1, 4)
    axis = rng.randint(len(shape))
    shape[axis] *= parts
    return {"axis": indices(rng, axis - (len(shape) if rng.rand() < 0.3 else 0), np.int32),
            "value": array(rng, pick(rng, MOVED), shape), "num_split": int(parts)}


def split_v(rng):
    shape, parts = some_shape(rng, 1, 4), [int(rng.randint(4)) for _ in range(rng.randint(1, 4))]
    axis = rng.randint(len(shape))
    shape[axis] = sum(parts)
    if rng.rand() < 0.4:
        parts[rng.randint(len(parts))] = -1
    return {"value": array(rng, pick(rng, MOVED), shape), "size_splits": indices(rng, parts),
            "axis": indices(rng, axis, np.int32), "num_split": len(parts)}


def unpack(rng):
    value = array(rng, pick(rng, MOVED), some_shape(rng, 1, 4, False))
    axis = rng.randint(value.ndim)
    return {"value": value, "num": value.shape[axis], "axis": int(axis - (value.ndim if rng.rand() < 0.3 else 0))}


def concat(rng, name, kinds):
    dtype, shape = pick(rng, MOVED), some_shape(rng, 1, 4)
    axis = rng.randint(len(shape))
    parts = []
    for _ in range(rng.randint(2, 5)):
        shape[axis] = int(rng.randint(4))
        parts.append(array(rng, dtype, shape))
    return {"values": parts, name: indices(rng, axis - (len(shape) if kinds and rng.rand() < 0.3 else 0), kinds and pick(rng, kinds))}


def pack(rng):
    dtype, shape = pick(rng, MOVED), some_shape(rng, 0, 3)
    return {"values": [array(rng, dtype, shape) for _ in range(rng.randint(1, 4))],
            "axis": int(rng.randint(-len(shape) - 1, len(shape) + 1))}


def pad(rng, mode=None, filled=False):
    dtype = pick(rng, MOVED[:-1])
    value = array(rng, dtype, some_shape(rng, 0, 4))
    edge = 1 if mode == "REFLECT" else 0
    pads = [[rng.randint(max(size - edge, 0) + 1) if mode else rng.randint(3) for _ in range(2)] for size in value.shape]
    found = {"input": value, "paddings": indices(rng, np.array(pads).reshape([-1, 2]))}
    if mode:
        found["mode"] = mode
    if filled:
        found["constant_values"] = array(rng, dtype, [])
    return found


def gather_v1(rng):
    value = moved(rng, 1, 4)
    return {"params": value, "indices": indices(rng, rng.randint(0, max(value.shape[0], 1), some_shape(rng, 0, 2)))}


def gather(rng):
    value = moved(rng, 1, 4)
    axis = rng.randint(value.ndim)
    batch = rng.randint(axis + 1) if rng.rand() < 0.4 else 0
    shape = list(value.shape[:batch]) + some_shape(rng, 0, 2)
    written = rng.randint(0, max(value.shape[axis], 1) + (rng.rand() < 0.05), shape)
    return {"params": value, "indices": indices(rng, written), "batch_dims": int(batch),
            "axis": indices(rng, axis - (value.ndim if rng.rand() < 0.3 else 0))}


def gather_nd(rng):
    value = array(rng, pick(rng, MOVED), some_shape(rng, 1, 4, False))
    depth, outer = rng.randint(1, value.ndim + 1), some_shape(rng, 0, 2)
    places = [rng.randint(0, value.shape[k], outer) for k in range(depth)]
    return {"params": value, "indices": indices(rng, np.stack(places, -1))}


def select(rng):
    dtype, shape = pick(rng, MOVED), some_shape(rng)
    condition = pick(rng, [shape, [], shape[:1]])
    return {"condition": array(rng, np.bool_, condition), "x": array(rng, dtype, shape), "y": array(rng, dtype, shape)}


def select_v2(rng):
    dtype, (a, b) = pick(rng, MOVED), pair_of_shapes(rng)
    shape = pick(rng, [a, b or a, []])
    return {"condition": array(rng, np.bool_, shape), "t": array(rng, dtype, a), "e": array(rng, dtype, b or a)}


def filled(rng):
    return {"dims": indices(rng, some_shape(rng, 0, 4)), "value": array(rng, pick(rng, MOVED), [])}


def integer_range(rng):
    dtype = pick(rng, [np.int32, np.int64])
    start, limit, delta = rng.randint(-50, 50, 3)
    if rng.rand() < 0.15:
        start = np.iinfo(dtype).max - rng.randint(4)
        limit, delta = np.iinfo(dtype).max, rng.randint(1, 4)
    return {"start": np.array(start, dtype), "limit": np.array(limit, dtype), "delta": np.array(delta, dtype)}


def one_hot(rng):
    dtype, shape = pick(rng, MOVED), some_shape(rng, 0, 3)
    kind = pick(rng, [np.int32, np.int64, np.uint8])
    return {"indices": rng.randint(0 if kind == np.uint8 else -2, 6, shape).astype(kind), "axis": int(rng.randint(-1, len(shape) + 1)),
            "depth": np.array(rng.randint(0, 6), np.int32), "on_value": array(rng, dtype, []), "off_value": array(rng, dtype, [])}


def two_shapes(rng):
    kind, (a, b) = pick(rng, [np.int32, np.int64]), pair_of_shapes(rng)
    return {"s0": np.array(a, kind), "s1": np.array(a if b is None else b, kind)}


def concat_offset(rng):
    shape = some_shape(rng, 1, 4)
    axis = rng.randint(len(shape))
    shapes = [[rng.randint(4) if i == axis else size for i, size in enumerate(shape)] for _ in range(rng.randint(2, 5))]
    return {"concat_dim": np.array(axis, np.int32), "shape": [np.array(s, np.int32) for s in shapes]}


def shape_reader(rng):
    return {"input": moved(rng), "out_type": pick(rng, [tf.int32, tf.int64])}


SIGNED = INTS[:4]
# Op, what makes its arguments, the share of the computed cases that is folded at least.
ROWS = [
    *[(op, binary(NUMBERS), 0.55) for op in ("Add", "AddV2", "Sub", "Mul")],
    ("RealDiv", binary(FLOATS), 0.3), ("SquaredDifference", binary(NUMBERS), 0.35),
    *[(op, binary(NUMBERS), 0.4) for op in ("Maximum", "Minimum")],
    *[(op, division(INTS), 0.5) for op in ("FloorDiv", "FloorMod", "TruncateDiv", "Div")],
    *[(op, division([np.int32, np.int64]), 0.5) for op in ("Mod", "TruncateMod")],
    *[(op, binary(INTS), 0.9) for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")],
    *[(op, binary(NUMBERS), 0.8) for op in ("Less", "LessEqual", "Greater", "GreaterEqual")],
    *[(op, binary(NUMBERS + [np.bool_]), 0.8) for op in ("Equal", "NotEqual")],
    *[(op, binary([np.bool_]), 1.0) for op in ("LogicalAnd", "LogicalOr")],
    ("LogicalNot", unary([np.bool_]), 1.0), ("Invert", unary(INTS), 1.0), ("Sign", unary(SIGNED), 1.0),
    ("Neg", unary(NUMBERS), 0.4), ("Abs", unary(SIGNED + FLOATS), 0.5), ("Square", unary(NUMBERS), 0.5),
    ("Floor", unary(FLOATS), 0.4), ("Ceil", unary(FLOATS), 0.2),
    *[(op, unary(NUMBERS, "features"), 0.5) for op in ("Relu", "Relu6")],
    ("Cast", cast, 0.4), ("AddN", add_n, 0.5), ("BiasAdd", bias_add, 0.6),
    ("BiasAddV1", lambda rng: {k: v for k, v in bias_add(rng).items() if k != "data_format"}, 0.3),
    *[(op, reduction(INTS), 0.9) for op in ("Sum", "Prod")], *[(op, reduction(INTS), 0.6) for op in ("Max", "Min")],
    *[(op, reduction([np.bool_]), 1.0) for op in ("Any", "All")], *[(op, arg_extreme, 0.4) for op in ("ArgMax", "ArgMin")],
    *[(op, unary(MOVED, "input"), 1.0) for op in ("Identity", "PreventGradient", "Snapshot", "StopGradient")],
    ("IdentityN", lambda rng: {"input": [moved(rng) for _ in range(rng.randint(1, 4))]}, 1.0),
    ("Reshape", reshape, 0.9), ("ExpandDims", expand_dims, 1.0), ("Squeeze", squeeze, 1.0), ("Transpose", transpose, 1.0),
    ("BroadcastTo", broadcast_to, 0.95), ("Tile", tile, 1.0), ("ReverseV2", reverse, 1.0), ("Slice", slice_of, 1.0),
    ("StridedSlice", strided_slice, 0.8), ("Split", split, 1.0), ("SplitV", split_v, 0.9), ("Unpack", unpack, 1.0),
    ("Concat", lambda rng: concat(rng, "concat_dim", [np.int32]), 1.0),
    ("ConcatV2", lambda rng: concat(rng, "axis", [np.int32, np.int64]), 1.0), ("Pack", pack, 1.0),
    ("Pad", pad, 1.0), ("PadV2", lambda rng: pad(rng, filled=True), 1.0),
    ("MirrorPad", lambda rng: pad(rng, pick(rng, ["REFLECT", "SYMMETRIC"])), 1.0),
    ("Gather", gather_v1, 0.9), ("GatherV2", gather, 0.8), ("GatherNd", gather_nd, 1.0), ("Select", select, 0.9),
    ("SelectV2", select_v2, 1.0), ("Fill", filled, 1.0),
    ("ZerosLike", unary(MOVED[:-1]), 1.0), ("OnesLike", unary(NUMBERS + [np.bool_]), 1.0), ("Range", integer_range, 0.95),
    ("OneHot", one_hot, 1.0), ("Where", lambda rng: {"condition": array(rng, np.bool_, some_shape(rng, 1, 4))}, 1.0),
    ("InvertPermutation", lambda rng: {"x": indices(rng, rng.permutation(rng.randint(9)))}, 1.0),
    ("BroadcastArgs", two_shapes, 0.9), ("BroadcastGradientArgs", two_shapes, 0.4), ("ConcatOffset", concat_offset, 1.0),
    ("Shape", shape_reader, 1.0), ("Size", shape_reader, 1.0), ("Rank", lambda rng: {"input": moved(rng)}, 1.0),
    ("ShapeN", lambda rng: {"input": [array(rng, np.float32, some_shape(rng)) for _ in range(rng.randint(1, 4))]}, 1.0),
]


def bits(value):
    """Something to compare: the bytes, every NaN the same one."""
    value = np.asarray(value)
    if value.dtype == object or value.dtype.kind in "SU":
        return value.shape, [bytes(x) if not isinstance(x, str) else x.encode() for x in value.astype(object).ravel()]
    value = np.array(value, copy=True)
    if value.dtype.kind == "f" or value.dtype == BFLOAT16:
        value[value != value] = float("nan")
    return value.dtype, value.shape, value.tobytes()


def operands(arguments, make):
    return {key: make(value) if isinstance(value, np.ndarray) else [make(v) for v in value]
            if isinstance(value, list) and value and isinstance(value[0], np.ndarray) else value for key, value in arguments.items()}


def flat(result):
    if result is None:
        return []
    return list(result) if isinstance(result, (list, tuple)) else [result]


def shorten(graph):
    """Some constants in the forms in which elements that repeat are not written."""
    fields = {"DT_FLOAT": "float_val", "DT_DOUBLE": "double_val", "DT_INT32": "int_val", "DT_INT64": "int64_val",
              "DT_INT8": "int_val", "DT_UINT8": "int_val", "DT_BOOL": "bool_val"}
    for node in graph.node:
        if node.op != "Const":
            continue
        tensor = node.attr["value"].tensor
        kind = tf.as_dtype(tensor.dtype)
        field = fields.get("DT_" + kind.name.upper().replace("FLOAT32", "FLOAT").replace("FLOAT64", "DOUBLE"))
        if not field or not tensor.tensor_content or zlib.crc32(node.name.encode()) % 3:
            continue
        content = tensor.tensor_content
        width = kind.size
        while len(content) > width and content[-width:] == content[-2 * width:-width]:
            content = content[:-width]
        values = np.frombuffer(content, kind.as_numpy_dtype)
        if any(np.isnan(v) for v in values):
            continue  # of which protobuf's Python may change the bits
        tensor.ClearField("tensor_content")
        getattr(tensor, field).extend(v.item() for v in values)
    return graph


def fold(graph):
    """The folded outputs by `NODE/OUTPUT`, and for other nodes why not."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "in"), os.path.join(folder, "out")
        with open(source, "wb") as file:
            file.write(graph.SerializeToString())
        run = subprocess.run([DRIVER, source, result], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if run.returncode:
            raise AssertionError("%d: %s" % (run.returncode, run.stderr.decode()))
        folded = graph_pb2.GraphDef()
        with open(result, "rb") as file:
            folded.ParseFromString(file.read())
    why = dict(line.split(": ", 1) for line in run.stdout.decode().splitlines())
    return folded, why


def read(folded):
    """The values as TensorFlow itself reads them."""
    config = tf1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    names = [node.name for node in folded.node]
    with tf.Graph().as_default():
        tf1.import_graph_def(folded, name="")
        with tf1.Session(config=config) as session:
            return dict(zip(names, session.run([name + ":0" for name in names]))) if names else {}


NO_KERNEL = (tf.errors.NotFoundError, tf.errors.UnimplementedError)  # of that dtype, so nothing can be compared


def results_of(run):
    """What comes out, or the exception."""
    try:
        return flat(run())
    except (tf.errors.OpError, ValueError, TypeError, RuntimeError, OverflowError) as error:
        return error


class Fold(unittest.TestCase):
    def judge(self, op, make, least):
        rng = np.random.RandomState(zlib.crc32(op.encode()) % (1 << 31))
        call = getattr(tf.raw_ops, op)
        graph, expected = tf.Graph(), collections.OrderedDict()
        for i in range(CASES):
            arguments = make(rng)
            results = results_of(lambda: [np.asarray(r.numpy()) for r in flat(call(**operands(arguments, tf.constant)))])
            with graph.as_default():
                built = results_of(lambda: call(name="n%d" % i, **operands(arguments, tf.constant)))
            if not isinstance(results, NO_KERNEL) and not isinstance(built, Exception):
                expected["n%d" % i] = (results, arguments)
        folded, why = fold(shorten(graph.as_graph_def()))
        values = read(folded)
        computed = taken = 0
        for name, (results, arguments) in expected.items():
            found = [values[key] for key in ("%s/%d" % (name, k) for k in range(9)) if key in values]
            if isinstance(results, Exception):
                self.assertFalse(found, "%s folded what TensorFlow refuses: %r\n%s" % (op, arguments, results))
                continue
            computed += 1
            if not found:
                self.assertIn(name, why)
                continue
            taken += 1
            self.assertEqual([bits(r) for r in results], [bits(f) for f in found],
                             "%s: %r\nTensorFlow %r\ngedit %r" % (op, arguments, results, found))
        reasons = collections.Counter(why.get(name, "") for name in expected).most_common(4)
        self.assertGreaterEqual(taken, least * computed, "%s: %d of %d folded; %r" % (op, taken, computed, reasons))
        self.assertGreaterEqual(computed, CASES // 6, "%s: TensorFlow computes %d of %d" % (op, computed, CASES))
        return "%s: %d of %d equal" % (op, taken, computed)


def add_tests():
    for op, make, least in ROWS:
        def test(self, op=op, make=make, least=least):
            line = self.judge(op, make, least)
            if os.environ.get("GEDIT_FOLD_VERBOSE"):
                print(line)
        setattr(Fold, "test_" + op, test)


add_tests()


if __name__ == "__main__":
    program.under_test()
    unittest.main()
