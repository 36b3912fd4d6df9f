#!/usr/bin/env python3
"""What gedit optimize leaves computes the same bits in TensorFlow.

Nets with training switches, dropout in every spelling of the release at hand, conds, loops, batch norm and checks, in both
kinds of control flow; random graphs of Switch, Merge and control edges, with a counter that tells what ran; frozen graphs of
the corpus. GEDIT_OPTIMIZE_GRAPHS (default 120), GEDIT_OPTIMIZE_LOOPS (default 8, nets of loops) and GEDIT_OPTIMIZE_SEED say how many
random ones and which.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from bare_tensorflow import bare_config
import numpy as np
import tensorflow

tf = tensorflow.compat.v1
tf.disable_eager_execution()
tf.logging.set_verbosity(tf.logging.ERROR)
from real_files import folders

MOST_NODES, MOST_BYTES, MOST_FILES, MOST_GROWTH = 4000, 4 << 20, 25, 1024
KINDS = ("random", "negative", "zero", "denormal", "large")


def session(graph):
    return tf.Session(graph=graph, config=bare_config())


def plain(value):
    """Bits to compare: a denormal is the zero of its sign, any NaN any other."""
    value = np.array(value)
    if value.dtype in (np.float32, np.float64, np.float16):
        small = np.abs(value) < np.finfo(value.dtype).tiny
        value = np.where(small, np.copysign(np.zeros_like(value), value), value)
        value = np.where(np.isnan(value), np.full_like(value, np.nan), value)
    return value.dtype.str, value.shape, value.tobytes() if value.dtype != object else value.tolist()


def run(graph_def, outputs, feeds, counter=None):
    """The outputs, and the counter, as bits; the error's text where TensorFlow refuses."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(graph_def, name="")
    names = {node.name for node in graph_def.node}
    found = []
    with session(graph) as opened:
        for feed in feeds:
            fed = {key: value for key, value in feed.items() if key.split(":")[0] in names}
            try:
                if counter:
                    opened.run(counter + "/set")
                values = opened.run(outputs, fed)
                if counter:
                    values.append(opened.run(counter + "/get:0"))
                found.append([plain(value) for value in values])
            except Exception as error:  # whatever TensorFlow has against it
                found.append(str(error)[:200])
    return found


def array(shape, dtype, kind, rng):
    if dtype == tf.bool:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype == tf.string:
        return np.full(shape, b"text", object)
    if not dtype.is_floating:
        return rng.integers(0, 3, shape).astype(dtype.as_numpy_dtype)
    values = rng.standard_normal(shape)
    values = {"random": values, "negative": -np.abs(values), "zero": np.copysign(0.0, values), "denormal": values * 1e-40,
              "large": values * 1e30}[kind]
    return np.asarray(values).astype(dtype.as_numpy_dtype)


def feeds_of(graph_def, seed, fixed):
    """One feed of each kind; what is fixed has its value in all of them."""
    rng, feeds = np.random.default_rng(seed), []
    for kind in KINDS:
        feed = dict(fixed)
        for node in graph_def.node:
            if node.op not in ("Placeholder", "PlaceholderV2") or node.name + ":0" in fixed:
                continue
            sizes = node.attr["shape"].shape.dim
            shape = [3 if size.size < 0 else size.size for size in sizes]
            feed[node.name + ":0"] = array(shape, tf.as_dtype(node.attr["dtype"].type), kind, rng)
        feeds.append(feed)
    return feeds


# --- nets ---

def dropout_nets():
    def keep(x):
        return tf.nn.dropout(x * 2.0, keep_prob=tf.placeholder(tf.float32, [], "keep_prob")), {"keep_prob": 1.0}

    def rate(x):
        return tf.nn.dropout(x * 2.0, rate=tf.placeholder(tf.float32, [], "rate")), {"rate": 0.0}

    def with_default(x):
        rate = tf.placeholder_with_default(0.5, [], "drop_rate")
        return tf.nn.dropout(tf.nn.relu(x), rate=rate), {"drop_rate": 0.0}

    def constant(x):
        return tf.nn.dropout(tf.nn.relu(x), rate=0.0) if tensorflow.__version__ < "2" else tf.nn.relu(x), {}

    def noise(x):
        shape = tf.stack([tf.shape(x)[0], 1])
        return tf.nn.dropout(x, keep_prob=tf.placeholder(tf.float32, [], "keep_prob"), noise_shape=shape), {"keep_prob": 1.0}

    def oldest(x):  # as TensorFlow 1.0 to 1.12 wrote it
        keep = tf.placeholder(tf.float32, [], "keep_prob")
        drawn = keep + tf.random_uniform(tf.shape(x))
        return tf.divide(x, keep) * tf.floor(drawn), {"keep_prob": 1.0}

    def less(x):
        keep = tf.placeholder(tf.float32, [], "keep_prob")
        return tf.where(tf.random_uniform(tf.shape(x)) < keep, x / keep, tf.zeros_like(x)), {"keep_prob": 1.0}

    def stateless(x):
        rate = tf.placeholder(tf.float32, [], "rate")
        drawn = tf.random.stateless_uniform(tf.shape(x), [1, 2])
        return x * (1.0 / (1.0 - rate)) * tf.cast(drawn >= rate, tf.float32), {"rate": 0.0}

    def seeded(x):
        return tf.nn.dropout(x, keep_prob=tf.placeholder(tf.float32, [], "keep_prob"), seed=7), {"keep_prob": 1.0}

    return [keep, rate, with_default, constant, noise, oldest, less, stateless, seeded]


def training_nets():
    def cond(x):
        training = tf.placeholder(tf.bool, [], "is_training")
        h = tf.nn.relu(x)
        h = tf.cond(training, lambda: tf.nn.dropout(h, rate=0.5), lambda: tf.identity(h))
        mean, variance = tf.nn.moments(h, [0])
        mean = tf.cond(training, lambda: mean, lambda: tf.constant([0.1, 0.2, 0.3, 0.4]))
        variance = tf.cond(training, lambda: variance, lambda: tf.constant([1.1, 1.2, 1.3, 1.4]))
        h = tf.nn.batch_normalization(h, mean, variance, None, None, 1e-3)
        with tf.control_dependencies([tf.Assert(tf.greater(tf.shape(h)[0], 0), [h]), tf.assert_equal(tf.shape(x)[1], 4)]):
            h = tf.identity(h)
        return tf.Print(tf.check_numerics(h, "bad"), [h], "hello"), {"is_training": False}

    def nested(x):
        first, second = tf.placeholder(tf.bool, [], "is_training"), tf.placeholder(tf.bool, [], "other")

        def inner():
            return tf.cond(second, lambda: x * 3.0, lambda: tf.cond(first, lambda: x + 7.0, lambda: x - tf.constant(1.0)))
        return tf.cond(first, lambda: x + 1.0, inner), {"is_training": False}

    def opposite(x):
        training = tf.placeholder(tf.bool, [], "training")
        return tf.cond(tf.logical_not(training), lambda: x * 2.0, lambda: tf.nn.dropout(x, rate=0.3)), {"training": False}

    def loop(x):
        training = tf.placeholder(tf.bool, [], "is_training")

        def body(i, h):
            h = tf.cond(training, lambda: h * 5.0, lambda: tf.nn.relu(h) + tf.constant([1.0, 2.0, 3.0, 4.0]))
            return i + 1, tf.identity(h) * tf.constant(1.0)
        return tf.while_loop(lambda i, h: i < 3, body, [0, x])[1], {"is_training": False}

    def loop_in_cond(x):
        training = tf.placeholder(tf.bool, [], "is_training")
        looped = tf.cond(training, lambda: x, lambda: tf.while_loop(lambda i, h: i < 2, lambda i, h: (i + 1, h * 1.5), [0, x])[1])
        return looped + 1.0, {"is_training": False}

    def never(x):
        training = tf.placeholder(tf.bool, [], "is_training")
        return tf.while_loop(lambda i, h: tf.logical_and(training, i < 3), lambda i, h: (i + 1, h * 2.0), [0, x])[1], {"is_training": False}

    def unentered(x):
        turns = tf.placeholder(tf.int32, [], "turns")

        def body(i, h):
            return i + 1, tf.while_loop(lambda j, g: j < 0, lambda j, g: (j + 1, g * 3.0), [0, h * 2.0])[1] + 1.0
        entered = tf.while_loop(lambda i, h: i < 2, body, [0, x])[1]
        return entered - tf.while_loop(lambda i, h: i + 1 < turns, body, [1, x])[1], {"turns": 2}

    def case(x):
        which = tf.placeholder(tf.int32, [], "which")
        return tf.switch_case(which, [lambda: x + 1.0, lambda: x * 2.0, lambda: -x]), {"which": 1}

    def arrays(x):
        training = tf.placeholder(tf.bool, [], "is_training")
        steps = tf.map_fn(lambda row: tf.cond(training, lambda: row * 2.0, lambda: row + 1.0), x)
        return steps, {"is_training": False}

    def same(x):
        parts = [tf.nn.relu(x + tf.constant(1.0)) * tf.constant([1.0, 2.0, 3.0, 4.0]) for _ in range(3)]
        return tf.add_n(parts) - tf.concat([x], 0) + tf.negative(tf.negative(x)) * 1.0, {}

    def pieces(x):
        training = tf.placeholder(tf.bool, [], "is_training")
        columns = [tf.squeeze(part, [1]) for part in tf.split(x, 4, 1)]
        rows = [tf.squeeze(part, [0]) for part in tf.split(tf.nn.relu(x), 3, 0)]
        kept = [tf.squeeze(part, [0]) if i else part[0] for i, part in enumerate(tf.split(tf.negative(x), 3, 0))]
        column = tf.cond(training, lambda: columns[0], lambda: columns[3] - columns[1])
        return tf.stack([rows[2] - rows[0], kept[0] * kept[2], rows[0]], 0) + tf.expand_dims(column, 1), {"is_training": False}

    def batch_norm(x):
        training = tf.placeholder(tf.bool, [], "is_training")
        image = tf.reshape(x, [-1, 2, 2, 1])
        ones, zeros = tf.ones([1]), tf.zeros([1])

        def normalized(train):
            if train:
                return tf.nn.fused_batch_norm(image, ones, zeros, is_training=True)[0]
            return tf.nn.fused_batch_norm(image, ones, zeros, mean=zeros, variance=ones, is_training=False)[0]
        return tf.cond(training, lambda: normalized(True), lambda: normalized(False)), {"is_training": False}

    return [cond, nested, opposite, loop, loop_in_cond, never, unentered, case, arrays, same, pieces, batch_norm]


def loops_net(seed):
    """Loops in loops and in conds, whose conditions may be known before they begin, and may do more than ask."""
    def net(x):
        rng = random.Random(seed)
        training = tf.placeholder(tf.bool, [], "is_training")

        def condition():
            kind, most = rng.choice(("less", "false", "training", "values", "equal", "print")), rng.randint(0, 2)

            def asked(i, h, _):
                if kind == "false":
                    return tf.constant(False)
                if kind == "training":
                    return tf.logical_and(training, i < 3)
                if kind == "values":
                    return tf.logical_and(i < most, tf.reduce_sum(h) < 1e6)
                if kind == "equal":
                    return tf.equal(i + 1, most)
                return tf.Print(i < most, [i]) if kind == "print" else tf.identity(i < most)
            return asked

        def loop(values, depth):
            first, second, begin = rng.choice(values), rng.choice(values), rng.randint(0, 1)
            inner, branch = depth > 0 and rng.random() < 0.5, rng.random() < 0.3

            def body(i, h, g):
                if inner:
                    h = loop([h, g] + values, depth - 1)
                if branch:
                    g = tf.cond(tf.reduce_sum(h) > 0.0, lambda: g * 2.0, lambda: g - 1.0)
                return i + 1, tf.reshape(tf.nn.relu(h) + 1.0, tf.shape(x)), tf.reshape(g, tf.shape(x))
            shapes = [tf.TensorShape([]), tf.TensorShape(None), tf.TensorShape(None)]
            turns, h, g = tf.while_loop(condition(), body, [tf.constant(begin), first, second], shape_invariants=shapes)
            # In a function that is called TensorFlow makes another sum of three addends, and x of x + 0, whatever the session
            # says.
            return tf.maximum(h * (tf.cast(turns, tf.float32) + 1.5), g)

        values = [x, x * 2.0]
        for _ in range(rng.randint(1, 3)):
            values.append(tf.cond(training, lambda: x + 3.0, lambda: loop(values, 1)) if rng.random() < 0.3 else loop(values, 1))
        return values[-1] + values[-2], {"is_training": False}
    net.__name__ = "loops %d" % seed
    return net


def made(net):
    """The graph of a net from x to out, and what is fixed in it; none where this release lacks what it is made of."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 4], "x")
        try:
            result, fixed = net(x)
        except (AttributeError, TypeError, ValueError):
            return None, None
        tf.identity(result, "out")
    return graph, fixed


def made_dropouts():
    """Dropout of which nothing is known: as it is at inference it passes on what it reads."""
    for net in dropout_nets():
        graph, fixed = made(net)
        if fixed:
            yield "any dropout, " + net.__name__, graph.as_graph_def(), fixed


def made_norms():
    """Convolutions and products with batch norms behind them, of constants."""
    def numbers(*shape):
        return tf.constant(np.random.default_rng(len(shape)).uniform(0.5, 1.5, shape).astype(np.float32))

    def fused(x):
        h = tf.nn.conv2d(tf.reshape(x, [-1, 2, 2, 1]), numbers(2, 2, 1, 3), strides=[1, 1, 1, 1], padding="SAME")
        h = tf.nn.fused_batch_norm(h, numbers(3), numbers(3), numbers(3), numbers(3), is_training=False)[0]
        return tf.nn.relu(h)

    def spelled(x):
        h = tf.nn.bias_add(tf.matmul(x, numbers(4, 5)), numbers(5))
        return tf.nn.batch_normalization(h, numbers(5), numbers(5), numbers(5), numbers(5), 1e-3)

    for net in (fused, spelled):
        graph = tf.Graph()
        with graph.as_default():
            tf.identity(net(tf.placeholder(tf.float32, [None, 4], "x")), "out")
        yield "batch norm, " + net.__name__, graph.as_graph_def(), {}


def made_nets(first):
    loops = [loops_net(seed) for seed in range(first, first + int(os.environ.get("GEDIT_OPTIMIZE_LOOPS", "8")))]
    for net in dropout_nets() + training_nets() + loops:
        for functional in (False, True):
            (tf.enable_control_flow_v2 if functional else tf.disable_control_flow_v2)()
            graph, fixed = made(net)
            if graph is None:
                continue
            yield "%s, control flow %s" % (net.__name__, "v2" if functional else "v1"), graph.as_graph_def(), fixed
    tf.disable_control_flow_v2()


# --- random graphs ---

class Random:
    """A graph of float vectors that flow through Switch and Merge, with control edges of all kinds."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.graph = tf.GraphDef()
        self.graph.versions.producer = 134
        self.tensors, self.predicates, self.nodes = [], [], []
        self.fixed, self.counter = {}, None

    def node(self, op, inputs, **attrs):
        node = self.graph.node.add(name="n%d" % len(self.graph.node), op=op, input=inputs)
        for key, value in attrs.items():
            if isinstance(value, tf.DType):
                node.attr[key].type = value.as_datatype_enum
            elif isinstance(value, (np.ndarray, np.generic)):
                node.attr[key].tensor.CopyFrom(tf.make_tensor_proto(value))
            elif isinstance(value, bytes):
                node.attr[key].s = value
            elif isinstance(value, list):
                node.attr[key].list.type.extend(item.as_datatype_enum for item in value)
            elif isinstance(value, tuple):
                node.attr[key].shape.dim.extend(type(node.attr[key].shape.dim.add())(size=size) for size in ())
                del node.attr[key].shape.dim[:]
                for size in value:
                    node.attr[key].shape.dim.add(size=size)
            else:
                node.attr[key].i = value
        self.nodes.append(node.name)
        return node.name

    def control(self):
        if self.rng.random() < 0.75:
            return []
        return ["^" + self.rng.choice(self.nodes)]

    def pick(self):
        return self.rng.choice(self.tensors[-8:] if self.rng.random() < 0.7 else self.tensors)

    def vector(self):
        return np.array([self.rng.choice((0.0, 1.0, -1.0, 0.5)) for _ in range(3)], np.float32)

    def const(self, value, controls):
        return self.node("Const", controls, dtype=tf.as_dtype(value.dtype), value=value)

    def step(self):
        rng, t = self.rng, tf.float32
        kind = rng.randrange(18)
        if kind < 3:
            name = self.node(rng.choice(("Add", "Sub", "Mul", "RealDiv", "Maximum")), [self.pick(), self.pick()] + self.control(), T=t)
        elif kind < 5:
            name = self.node(rng.choice(("Neg", "Relu", "Square")), [self.pick()] + self.control(), T=t)
        elif kind < 8:
            name = self.node(rng.choice(("Identity", "StopGradient", "Snapshot", "PreventGradient")), [self.pick()] + self.control(), T=t)
        elif kind == 8:
            name = self.const(self.vector(), self.control())
        elif kind == 9:
            name = self.node("CheckNumerics", [self.pick()] + self.control(), T=t, message=b"not a number")
        elif kind == 10:
            self.node("NoOp", ["^" + rng.choice(self.nodes) for _ in range(rng.randrange(1, 4))])
            return
        elif kind == 11:
            two = self.node("IdentityN", [self.pick(), self.pick()] + self.control(), T=[t, t])
            self.tensors += [two, two + ":1"]
            return
        elif kind == 12 and self.counter:
            one = self.const(np.float32(rng.randrange(1, 9)), self.control())
            self.node("AssignAddVariableOp", [self.counter, one] + self.control(), dtype=t)
            return
        elif kind == 13:
            truth = self.const(np.array(True), self.control())
            self.node("Assert", [truth, self.pick()] + self.control(), T=[t])
            return
        elif kind == 14:
            name = self.pieces()
        else:
            return self.cond()
        self.tensors.append(name)

    def pieces(self):
        """The elements one by one, mostly without their dimension, and a vector of them."""
        rng, t = self.rng, tf.float32
        dim = rng.choice((0, -1))
        axis = self.const(np.int32(dim), self.control() if rng.random() < 0.3 else [])
        vector = self.node("Add", [self.pick(), self.const(self.vector(), [])], T=t)
        split = self.node("Split", [axis, vector] + (self.control() if rng.random() < 0.3 else []), T=t, num_split=3)
        if rng.random() < 0.2:
            self.tensors.append(self.node("ConcatV2", [split, split + ":1", split + ":2", axis], T=t, Tidx=tf.int32, N=3))
        scalars = []
        for _ in range(3):
            k = rng.randrange(3)
            scalar = self.node("Squeeze", [split + (":%d" % k if k else "")] + (self.control() if rng.random() < 0.2 else []), T=t)
            self.graph.node[-1].attr["squeeze_dims"].list.i.append(dim)
            scalars.append(scalar)
        return self.node("Pack", scalars, T=t, N=3, axis=0)

    def cond(self):
        """Both sides of a Switch, some steps on each, and a Merge."""
        rng, t = self.rng, tf.float32
        predicate = rng.choice(self.predicates)
        if rng.random() < 0.3:
            predicate = self.node("LogicalNot", [predicate])
        sides = []
        split = self.node("Switch", [self.pick(), predicate] + self.control(), T=t)
        for branch in (0, 1):
            outside = self.tensors, self.nodes
            start = split + (":%d" % branch if branch else "")
            pivot = self.node("Identity", [start], T=t)
            self.tensors, self.nodes = [start, pivot], [pivot]
            if rng.random() < 0.5:
                self.tensors.append(self.const(self.vector(), ["^" + pivot]))
            for _ in range(rng.randrange(0, 4)):
                self.step()
            sides.append(self.pick())
            self.tensors, self.nodes = outside
        merged = self.node("Merge", sides if rng.random() < 0.7 else sides[::-1], T=t, N=2)
        if rng.random() < 0.2:
            self.tensors.append(self.node("Cast", [merged + ":1"], SrcT=tf.int32, DstT=t))
        self.tensors.append(merged)

    def build(self):
        rng, t = self.rng, tf.float32
        x = self.graph.node.add(name="x", op="Placeholder")

        x.attr["shape"].shape.dim.add(size=3)
        x.attr["dtype"].type = t.as_datatype_enum
        self.tensors, self.nodes = ["x"], ["x"]
        for i in range(3):
            p = self.graph.node.add(name="p%d" % i, op="Placeholder")
            p.attr["dtype"].type = tf.bool.as_datatype_enum
            p.attr["shape"].shape.unknown_rank = False
            self.predicates.append(p.name)
            if rng.random() < 0.5:
                self.fixed[p.name] = rng.random() < 0.5
        if rng.random() < 0.4:
            self.counter = self.node("VarHandleOp", [], dtype=t, shape=(), shared_name=b"counter")
            zero = self.const(np.float32(0), [])
            for name, op, inputs in (("set", "AssignVariableOp", [self.counter, zero]), ("get", "ReadVariableOp", [self.counter])):
                made = self.graph.node.add(name=self.counter + "/" + name, op=op, input=inputs)
                made.attr["dtype"].type = t.as_datatype_enum
        for _ in range(rng.randrange(8, 40)):
            self.step()
        ends = rng.sample(self.tensors, min(2, len(self.tensors)))
        outputs = []
        for i, end in enumerate(ends):
            out = self.graph.node.add(name="out%d" % i, op="Identity", input=[end] + self.control())
            out.attr["T"].type = t.as_datatype_enum
            outputs.append(out.name)
        return self.graph, outputs


# --- judging ---

class Judge:
    def __init__(self, gedit, folder):
        self.gedit, self.folder, self.counts = gedit, folder, {"graphs": 0, "values": 0, "before": 0, "after": 0, "unproved": 0, "left out": 0, "races": 0}

    def optimized(self, graph, outputs, options):
        paths = [os.path.join(self.folder, name) for name in ("before.pb", "after.pb", "again.pb")]
        with open(paths[0], "wb") as file:
            file.write(graph.SerializeToString())
        wanted = ["--outputs", ",".join(outputs)]
        done = subprocess.run([self.gedit, "optimize", paths[0], "-O", "-o", paths[1], *wanted, *options], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            return None, done.stderr.strip()
        self.said = done.stderr
        self.counts["unproved"] += "unknown" in done.stderr
        self.counts["left out"] += "is left out" in done.stderr
        if os.environ.get("GEDIT_OPTIMIZE_TELL") and "is left out" in done.stderr:
            print(graph.node[-1].name, done.stderr)
            with open(os.path.join(os.environ["GEDIT_OPTIMIZE_TELL"], "left%d.pb" % self.counts["left out"]), "wb") as file:
                file.write(graph.SerializeToString())
        keeps = [option for option in options if not option.startswith("--fix") and "=" not in option]
        again = subprocess.run([self.gedit, "optimize", paths[1], "-q", "-O", "-o", paths[2], *wanted, *keeps], capture_output=True,
                               text=True, check=False)
        if again.returncode != 0:
            return None, "of its own output: " + again.stderr.strip()
        with open(paths[1], "rb") as first, open(paths[2], "rb") as second:
            text = first.read()
            if text != second.read():
                return None, "its own output is changed"
        result = tf.GraphDef()
        result.ParseFromString(text)
        return result, ""

    def judge_inexact(self, name, graph, fixed, options, ops):
        """The same where numbers may change: near, said to be not equal, and none of `ops` left."""
        feeds = feeds_of(graph, 1, {key + ":0": value for key, value in fixed.items()})[:3]
        before = run(graph, ["out:0"], feeds)
        result, error = self.optimized(graph, ["out"], options)
        if result is None:
            yield "%s: %s" % (name, error)
            return
        left = ops & {node.op for node in result.node}
        if left or "proof    not equal" not in self.said:
            yield "%s: left %s, said %s" % (name, sorted(left), self.said)
        for a, b in zip(before, run(result, ["out:0"], feeds)):
            if isinstance(a, str) or isinstance(b, str):
                yield "%s: %s" % (name, b if isinstance(b, str) else a)
                continue
            first, second = (np.frombuffer(values[0][2], values[0][0]) for values in (a, b))
            if a[0][1] != b[0][1] or np.max(np.abs(first - second), initial=0) > 2e-6 * max(1, np.max(np.abs(first), initial=0)):
                yield "%s: other values" % name
        self.counts["graphs"] += 1

    def judge(self, name, graph, outputs, fixed, options, seed, counter=None):
        """Lines that tell of a fault."""
        fixes = [word for key, value in fixed.items() for word in ("--fix", "%s=%s" % (key, str(value).lower()))]
        feeds = feeds_of(graph, seed, {key + ":0": value for key, value in fixed.items()})
        tensors = [output if ":" in output else output + ":0" for output in outputs]
        before = run(graph, tensors, feeds, counter)
        result, error = self.optimized(graph, outputs + ([counter + "/set", counter + "/get"] if counter else []), fixes + options)
        if result is None:
            if "branch that is not taken" not in error or all(isinstance(value, list) for value in before):
                yield "%s: %s" % (name, error)
            return
        self.counts["graphs"] += 1
        self.counts["before"] += len(graph.node)
        self.counts["after"] += len(result.node)
        if result.ByteSize() > graph.ByteSize() + MOST_GROWTH and "--lower" not in options:
            yield "%s: grew from %d to %d bytes" % (name, graph.ByteSize(), result.ByteSize())
        after = run(result, tensors, feeds, counter)
        # Where both sides of a Merge are alive TensorFlow takes what comes first, even in the same graph: then what is proved
        # alone is to be the same.
        if "may be alive at once" in self.said:
            self.counts["races"] += 1
            proved = [i for i, output in enumerate(outputs) if "unknown %s:" % output not in self.said]
            before, after = ([[values[i] for i in proved] if isinstance(values, list) else values for values in some]
                             for some in (before, after))
        for kind, a, b in zip(KINDS, before, after):
            if isinstance(a, list) and a != b:
                yield "%s: other values for %s feeds: %s" % (name, kind, b if isinstance(b, str) else "")
                break
            self.counts["values"] += isinstance(a, list)


def corpus_graphs():
    found = 0
    for folder in folders("corpus"):
        for place, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(place, name)
                if found >= MOST_FILES or not name.endswith(".pb") or os.path.getsize(path) > MOST_BYTES:
                    continue
                graph = tf.GraphDef()
                try:
                    with open(path, "rb") as file:
                        graph.ParseFromString(file.read())
                except Exception:  # another kind of message
                    continue
                ops = {node.op for node in graph.node}
                if not 10 < len(graph.node) <= MOST_NODES or ops & {"VariableV2", "VarHandleOp", "Variable"}:
                    continue
                read = {text.split(":")[0].lstrip("^") for node in graph.node for text in node.input}
                ends = [node.name for node in graph.node if node.name not in read and node.op not in ("NoOp", "Const", "Assert")
                        and "Summary" not in node.op]
                if ends and "Placeholder" in ops:
                    found += 1
                    yield os.path.relpath(path, folder), graph, ends[:3]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    parser.add_argument("--only", default="nets,random,corpus")
    arguments = parser.parse_args()
    first, faults, only = int(os.environ.get("GEDIT_OPTIMIZE_SEED", "1")), [], arguments.only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(os.path.abspath(arguments.gedit), folder)
        for name, graph, fixed in made_nets(first) if "nets" in only else ():
            faults += judge.judge(name, graph, ["out"], fixed, [], 1)
            if "v2" in name:  # calls and branches, in the place of which stands what they do
                faults += judge.judge(name + ", inlined", graph, ["out"], fixed, ["--inline", "--lower"], 1)
        for name, graph, fixed in made_dropouts() if "nets" in only else ():
            drops = ["--drop", "identity,checks,prints,summaries,dropout"]
            faults += judge.judge_inexact(name, graph, fixed, drops, {"RandomUniform", "StatelessRandomUniformV2"})
        for name, graph, fixed in made_norms() if "nets" in only else ():
            faults += judge.judge_inexact(name, graph, fixed, ["--fold-bn"], {"FusedBatchNorm", "FusedBatchNormV3", "Rsqrt"})
        for seed in range(first, first + int(os.environ.get("GEDIT_OPTIMIZE_GRAPHS", "120"))) if "random" in only else ():
            made = Random(seed)
            graph, outputs = made.build()
            options = [[], ["--drop", "none"], ["--drop", "identity"]][seed % 3]
            counter = made.counter
            faults += judge.judge("random graph %d" % seed, graph, outputs, made.fixed, options, seed, counter)
        for name, graph, outputs in corpus_graphs() if "corpus" in only else ():
            faults += judge.judge(name, graph, outputs, {}, [], 1)
    print("%(graphs)d graphs, %(values)d runs, %(before)d nodes became %(after)d, %(unproved)d not proved, %(left out)d with a step left out, %(races)d that race" % judge.counts)
    for fault in faults:
        print(fault)
    return 1 if faults or not judge.counts["values"] else 0


if __name__ == "__main__":
    sys.exit(main())
