#!/usr/bin/env python3
"""Random training graphs through random chains of gedit's edits, and real TensorFlow computes the same bits before and after.

A graph has variables of both kinds, norms, conds, loops of both control flows, tables, dropout; its weights are numbers that half
precision holds. An edit is one of rename, copy, merge, extract, freeze, convert, retarget to the release that runs this, optimize,
set --shape --follow and cast; after each of these but cast `gedit prove` says of the result that it is the same, or why it cannot tell.
One more feeds a network with its own result, by merge --input-map. Of what is merged the variables of one part follow those of the
other, by sync. A graph that is not made for inference alone has the gradients of before, too.
GEDIT_EDIT_GRAPHS (default 30) and GEDIT_EDIT_SEED say how many graphs and which.
"""
import argparse
import collections
import contextlib
import json
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
tf.logging.set_verbosity(tf.logging.FATAL)
WIDTH, BATCH, EDITS = 4, 3, 4


class Made:
    """x, float32 [?,4], `training`, which is false where nobody says otherwise, and y."""

    def __init__(self, rng, prefix):
        self.rng, self.number = rng, 0
        (tf.enable_control_flow_v2 if rng.random() < 0.4 else tf.disable_control_flow_v2)()
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            h = tf.placeholder(tf.float32, [None, WIDTH], "x")
            self.training = tf.placeholder_with_default(False, [], "training")
            for _ in range(rng.randint(2, 5)):
                self.number += 1
                with tf.variable_scope("block%d" % self.number):
                    h = tf.reshape(getattr(self, rng.choice(BLOCKS))(h), [-1, WIDTH])
            y = tf.identity(h, "y")
            if rng.random() < 0.5 and tf.trainable_variables():
                loss = tf.reduce_mean(tf.square(y))
                rng.choice([tf.train.GradientDescentOptimizer, tf.train.AdamOptimizer])(0.1).minimize(loss, name="train")
            saver = tf.train.Saver(tf.global_variables() or [tf.get_variable("spare", initializer=1.0)])
            with session(graph) as opened:
                opened.run(tf.global_variables_initializer())
                saver.save(opened, prefix, write_state=False)

    def numbers(self, *shape):
        return np.float32([self.rng.randint(-48, 48) / 64 for _ in range(int(np.prod(shape)))]).reshape(shape)

    def variable(self, name, *shape, **more):
        return tf.get_variable(name, initializer=self.numbers(*shape), use_resource=self.rng.random() < 0.5, **more)

    def dense(self, h):
        return tf.nn.relu(tf.nn.bias_add(tf.matmul(h, self.variable("w", WIDTH, WIDTH)), self.variable("b", WIDTH)))

    def norm(self, h):
        scale, shift = self.variable("gamma", 2), self.variable("beta", 2)
        mean, variance = self.variable("mean", 2, trainable=False), tf.constant([0.75, 1.5], name="variance")
        image = tf.reshape(h, [-1, 1, 2, 2])
        if self.rng.random() < 0.5:
            return tf.nn.batch_normalization(image, mean, variance, shift, scale, 0.001)
        infer = lambda: tf.nn.fused_batch_norm(image, scale, shift, mean, variance, is_training=False)[0]
        return tf.cond(self.training, lambda: tf.nn.fused_batch_norm(image, scale, shift, is_training=True)[0], infer)

    def conv(self, h):
        kernel = self.variable("kernel", 2, 2, 1, 1)
        return tf.nn.conv2d(tf.reshape(h, [-1, 2, 2, 1]), kernel, strides=[1, 1, 1, 1], padding="SAME")

    def dropout(self, h):
        return tf.cond(self.training, lambda: tf.nn.dropout(h, rate=0.5), lambda: tf.identity(h))

    def branch(self, h):
        w = self.variable("w", WIDTH)
        return tf.cond(tf.reduce_sum(h) > self.rng.choice((-1.0, 0.0, 1.0)), lambda: h * w, lambda: h + w)

    def loop(self, h):
        w, most = self.variable("w", WIDTH, WIDTH), self.rng.randint(0, 3)
        step = lambda i, v: (i + 1, tf.reshape(tf.tanh(tf.matmul(v, w)), tf.shape(h)))
        return tf.while_loop(lambda i, v: i < most, step, [0, h], shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])[1]

    def loop_in_branch(self, h):
        return tf.cond(tf.reduce_sum(h) > 0.0, lambda: self.loop(h), lambda: h * 2.0)

    def embedding(self, h):
        ids = tf.cast(tf.clip_by_value(tf.abs(h[:, :2]) * 4.0, 0.0, 5.0), tf.int32)
        return h + tf.reduce_sum(tf.gather(self.variable("table", 6, WIDTH), ids), 1)

    def table(self, h):
        values = tf.lookup.KeyValueTensorInitializer(tf.constant([0, 1], tf.int64), tf.constant([0.5, 1.5]))
        found = tf.lookup.StaticHashTable(values, -0.25).lookup(tf.cast(tf.abs(h[:, 0]) * 3.0, tf.int64))
        return h + tf.expand_dims(found, 1)

    def parts(self, h):
        first, second = tf.split(h, 2, 1)
        return tf.concat([second, tf.nn.softmax(first)], 1) + tf.zeros(tf.stack([tf.shape(h)[0], WIDTH]))


BLOCKS = ["dense", "dense", "norm", "conv", "dropout", "branch", "loop", "loop_in_branch", "embedding", "table", "parts"]


def session(graph):
    return tf.Session(graph=graph, config=bare_config())


class State:
    """A file of the chain: what x and y are called in it, where its values lie, what is still true of it."""

    def __init__(self, path, values):
        self.path, self.values, self.x, self.y, self.exact_halves = path, values, "x", "y", True

    def after(self, path, **changes):
        new = State(path, self.values)
        new.__dict__.update({**self.__dict__, "path": path, **changes})
        return new


@contextlib.contextmanager
def opened_with(folder, state):
    with tf.Graph().as_default() as graph, session(graph) as opened:
        if state.path.endswith(".pb"):
            definition = tf.GraphDef()
            with open(os.path.join(folder, state.path), "rb") as file:
                definition.ParseFromString(file.read())
            tf.import_graph_def(definition, name="")
        else:
            saver = tf.train.import_meta_graph(os.path.join(folder, state.path))
            if saver is not None:  # else no variable is left
                saver.restore(opened, os.path.join(folder, state.values))
        filled = [op for op in graph.get_operations() if op.type in ("LookupTableImportV2", "InitializeTableV2")]
        opened.run(filled)
        yield opened


def run(folder, state, feeds):
    with opened_with(folder, state) as opened:
        return [opened.run(state.y + ":0", {state.x + ":0": feed}) for feed in feeds]


def gradients(folder, state, feeds):
    """Of y with respect to x and to the variables, in the order of their names."""
    with opened_with(folder, state) as opened:
        x, y = (opened.graph.get_tensor_by_name(name + ":0") for name in (state.x, state.y))
        variables = [v for v in tf.trainable_variables() if v.op.name.startswith(state.x[:-1])]
        found = tf.gradients(y, [x] + sorted(variables, key=lambda v: v.op.name))
        found = [tf.convert_to_tensor(gradient) for gradient in found if gradient is not None]
        return [array for feed in feeds for array in opened.run(found, {x: feed})]


def other_numbers(got, want):
    if len(got) == len(want) and all(a.tobytes() == b.tobytes() for a, b in zip(got, want)):
        return ""
    return "other numbers: %s instead of %s" % (got, want)


class Edits:
    """Each gives words for gedit and the state that it makes in `out`; nothing where it does not fit."""

    def rename(self, state, out, _):
        values = ["--checkpoint", state.values] if state.values else []
        return (["rename", state.path, "/=p/", *values],
                state.after(out, x="p/" + state.x, y="p/" + state.y, values=twin(out) if values else None))

    def copy(self, state, out, _):
        values = ["--checkpoint", state.values] if state.values else []
        return (["copy", state.path, "--outputs", state.y, "--scope", "c", *values],
                state.after(out, x="c/" + state.x, y="c/" + state.y, values=twin(out) if values else None))

    def _merged(self, state, out, x, y, *more):
        values = [word for name in "ab" for word in ("--checkpoint", name + "=" + state.values)] if state.values else []
        return (["merge", "a=" + state.path, "b=" + state.path, *values, *more],
                state.after(out, x=x, y=y, values=twin(out) if values else None))

    def merge(self, state, out, rng):
        name = rng.choice("ab") + "/"
        return self._merged(state, out, name + state.x, name + state.y)

    def compose(self, state, out, _):
        x, y = "a/" + state.x, "b/" + state.y
        return self._merged(state, out, x, y, "--input-map", "b/%s=a/%s" % (state.x, state.y))

    def extract(self, state, out, _):
        return ["extract", state.path, "--outputs", state.y], state.after(out)

    def freeze(self, state, out, _):
        if not state.values:
            return None
        out = os.path.splitext(out)[0] + ".pb"
        return ["freeze", state.path, "--outputs", state.y, "--checkpoint", state.values], state.after(out, values=None)

    def convert(self, state, out, rng):
        return ["convert", state.path, "-f", rng.choice(["gtxt", "pbtxt", "json"])], state.after(out)

    def retarget(self, state, out, _):
        return ["retarget", state.path, "--tf", ".".join(tensorflow.__version__.split(".")[:2])], state.after(out)

    def optimize(self, state, out, rng):
        more = rng.choice([[], ["--sort"], ["--inline"], ["--fix", "auto"] if "training" in state.x else []])
        return ["optimize", state.path, "--outputs", state.y, *more], state.after(out, exact_halves=False)

    def follow(self, state, out, _):
        return ["set", state.path, "--shape", "%s=[%d,%d]" % (state.x, BATCH, WIDTH), "--follow"], state.after(out)

    def cast(self, state, out, _):
        if not state.exact_halves:
            return None
        values = ["--checkpoint", state.values] if state.values else []
        return (["cast", state.path, "--weights", "float16", *values],
                state.after(out, exact_halves=False, values=twin(out) if values else None))


def twin(path):
    return os.path.splitext(path)[0]


class Judge:
    def __init__(self, gedit, folder):
        self.gedit, self.folder, self.counts, self.why, self.faults = gedit, folder, collections.Counter(), collections.Counter(), []

    def call(self, words):
        return subprocess.run([self.gedit, *words], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)

    def proof(self, before, after, strict):
        """What is wrong with the proof that the two are the same; nothing where it holds or cannot be had. Of what is built
        otherwise on purpose a difference says nothing."""
        with open(os.path.join(self.folder, "names"), "w") as names:
            prefix = after.x[:len(after.x) - len(before.x)]
            names.writelines("%s=%s%s\n" % (name, prefix, name) for name in self.state_of(before) if prefix)
        words = ["prove", before.path, after.path, "-j", *(["--map", "@names"] if prefix else []),
                 "--outputs", "%s=%s" % (before.y, after.y)]
        done = self.call(words)
        if done.returncode > 1:
            return done.stderr
        proof = json.loads(done.stdout)[0]
        self.counts[proof["verdict"]] += 1
        return proof["why"] if proof["verdict"] == "differs" and strict else None

    def state_of(self, state):
        """The names of what is known by its name."""
        done = self.call(["select", state.path, "var:, op:Placeholder*, op:*Table*"])
        return done.stdout.split()

    def with_values_beside(self, state):
        """Where `gedit prove` looks for the values of x.meta."""
        if state.values in (None, twin(state.path)):
            return state
        for name in os.listdir(self.folder):
            if name.startswith((state.values + ".index", state.values + ".data-")):
                os.link(os.path.join(self.folder, name), os.path.join(self.folder, twin(state.path) + name[len(state.values):]))
        return state.after(state.path, values=twin(state.path))

    def pulled(self, merged, feeds):
        """What a/ and b/ compute when the variables of a/ have changed and those of b/ have followed."""
        both = merged.after("sync" + os.path.splitext(merged.path)[1])
        done = self.call(["sync", merged.path, "--from-scope", "a", "--to-scope", "b", "--all", "--name", "pull", "-q", "-O", "-o", both.path])
        if done.returncode:
            raise RuntimeError(done.stderr)
        with opened_with(self.folder, both) as opened:
            for variable in tf.global_variables():
                if variable.op.name.startswith("a/") and variable.dtype.base_dtype == tf.float32:
                    variable.load(opened.run(variable) * 0.5 + 0.25, opened)
            opened.run("pull")
            return [[opened.run(part + both.y[1:] + ":0", {part + both.x[1:] + ":0": feed}) for feed in feeds] for part in "ab"]

    def chain(self, seed, rng):
        prefix = "m%d" % seed
        Made(rng, os.path.join(self.folder, prefix))
        state, feeds = State(prefix + ".meta", prefix), [np.random.RandomState(seed).randn(BATCH, WIDTH).astype(np.float32) * k for k in (1, -2)]
        want, commands = run(self.folder, state, feeds), []
        try:
            slopes = gradients(self.folder, state, feeds)
        except tf.errors.InvalidArgumentError:  # of a cond or a loop that keeps no intermediate results
            slopes = None
        for step in range(EDITS):
            kind = rng.choice(KINDS)
            made = getattr(Edits(), kind)(state, "%s_%d%s" % (prefix, step, os.path.splitext(state.path)[1]), rng)
            if made is None:
                continue
            words, new = made
            # What extract warns of counts.
            words += [*(["-q"] if kind != "extract" else []), "-o", new.path if kind != "convert" else new.path + ".text"]
            commands.append("gedit " + " ".join(words))
            done = self.call(words)
            if done.returncode == 0 and kind == "convert":
                done = self.call(["convert", new.path + ".text", "-f", state.path.rsplit(".", 1)[1], "-q", "-o", new.path])
            if done.returncode:
                self.why[kind + ": " + done.stderr.split(": ", 2)[-1].strip()] += 1
                self.counts["refused"] += 1
                continue
            # Of a graph without collections nobody knows who fills its tables; then that is said.
            if "nothing fills " in done.stderr and kind == "extract" and state.path.endswith(".pb"):
                self.counts["unfilled"] += 1
                continue
            self.counts[kind] += 1
            new = self.with_values_beside(new)
            try:
                if kind == "compose":
                    want = run(self.folder, state, want)
                got = run(self.folder, new, feeds)
                if kind == "merge" and new.values and self.call(["select", new.path, "var:"]).stdout:
                    self.counts["sync"] += 1
                    read, written = self.pulled(new, feeds)
                    want, got = want + read, got + written
                fault = other_numbers(got, want)
                if kind in NOT_TO_TRAIN or not new.path.endswith(".meta"):
                    slopes = None
                if not fault and slopes:
                    self.counts["gradients"] += 1
                    fault = other_numbers(gradients(self.folder, new, feeds), slopes)
            except Exception as error:  # whatever TensorFlow has against it
                fault = str(error)
            if not fault and kind not in ("cast", "compose"):
                fault = self.proof(state, new, kind not in BUILT_OTHERWISE)
            if fault:
                self.faults.append("seed %d: %s\n  %s" % (seed, " ; ".join(commands), " ".join(str(fault).split())[:600]))
                return
            want, state = want[:len(feeds)], new


# Handles become values, sizes that are known constants; optimize proves by those shapes what it makes.
BUILT_OTHERWISE = ("freeze", "follow", "optimize")
# Of what these make the gradients are others, or none.
NOT_TO_TRAIN = (*BUILT_OTHERWISE, "cast", "compose")
KINDS = [name for name in vars(Edits) if not name.startswith("_")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    parser.add_argument("--keep", help="folder for the files")
    arguments = parser.parse_args()
    first = int(os.environ.get("GEDIT_EDIT_SEED", "1"))
    with tempfile.TemporaryDirectory() as scratch:
        judge = Judge(os.path.abspath(arguments.gedit), arguments.keep or scratch)
        for seed in range(first, first + int(os.environ.get("GEDIT_EDIT_GRAPHS", "30"))):
            judge.chain(seed, random.Random(seed))
    print(", ".join("%s %d" % pair for pair in sorted(judge.counts.items())))
    for why, count in judge.why.most_common():
        print("refused %d times: %s" % (count, why))
    for fault in judge.faults:
        print(fault)
    return 1 if judge.faults else 0


if __name__ == "__main__":
    sys.exit(main())
