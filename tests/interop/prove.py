#!/usr/bin/env python3
"""What gedit proves is so, and what leaves a graph as it was is proved.

Over real graphs, SavedModels as gedit freezes them, and random graphs (random_graphs.py): random chains of other names, another
order, copies of nodes and Identity nodes put between, of gedit rename, copy, merge, extract and optimize --inline and --lower,
are all proved; single changes of one Const's bit, two inputs, an attribute or a control edge that carries deadness, of a node
that is needed, or of one in a function, every second graph lowered afterwards, are not, unless TensorFlow computes the same
bits for three random inputs.
GEDIT_PROVE_GRAPHS (default 300), GEDIT_PROVE_EACH (default 3, chains and changes of each) and GEDIT_PROVE_SEED say how many and
which.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from bare_tensorflow import bare_config
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry

from random_graphs import Generated
from real_files import folders

MOST_NODES = 20000
MOST_BYTES = 6 << 20
EACH = int(os.environ.get("GEDIT_PROVE_EACH", "3"))
COPIED = ("Add", "AddV2", "Mul", "Relu", "MatMul", "Const", "Conv2D", "BiasAdd", "Reshape", "Identity")
# Attributes that change no number, or that say how many inputs there are.
NO_MATTER = ("parallel_iterations", "validate_shape", "use_locking", "N", "num", "use_cudnn_on_gpu")


def node_of(text):
    return text.lstrip("^").split(":")[0]


def graph_files():
    for folder in folders("corpus"):
        for place, _, names in sorted(os.walk(folder)):
            if "saved_model.pb" in names:
                yield place
            for name in sorted(names):
                path = os.path.join(place, name)
                if name.endswith(".pb") and name not in ("saved_model.pb", "fingerprint.pb") and os.path.getsize(path) < MOST_BYTES:
                    yield path


def read_graph(path, gedit):
    graph = tf.GraphDef()
    try:
        if os.path.isdir(path):
            frozen = subprocess.run([gedit, "freeze", path, "-f", "pb", "-q", "-o", "-"], capture_output=True, check=True).stdout
            graph.ParseFromString(frozen if len(frozen) < MOST_BYTES else b"")
        else:
            with open(path, "rb") as file:
                graph.ParseFromString(file.read())
    except Exception:  # another kind of message
        return None
    return graph if 0 < len(graph.node) <= MOST_NODES else None


def needed(graph, outputs):
    by_name = {node.name: node for node in graph.node}
    found, todo = set(), [node_of(output) for output in outputs]
    while todo:
        name = todo.pop()
        if name in by_name and name not in found:
            found.add(name)
            todo.extend(node_of(text) for text in by_name[name].input)
    return found


def renamed(graph, names, rng):
    new = {node.name: "q%d_%s" % (rng.randint(0, 999), node.name) for node in graph.node}
    for node in graph.node:
        node.name = new[node.name]
        inputs = []
        for text in node.input:
            name = node_of(text)
            inputs.append(text.replace(name, new.get(name, name), 1))
        node.input[:] = inputs
        node.attr.pop("_class", None)
    for old in names:
        names[old] = new.get(names[old], names[old])


def takes_reference(op):
    """Whether it needs what an Identity would not give it."""
    known = op_def_registry.get(op) if hasattr(op_def_registry, "get") else op_def_registry.get_registered_ops().get(op)
    return known is not None and any(arg.is_ref for arg in known.input_arg)


def inserted(graph, rng):
    ops = {node.name: node.op for node in graph.node}
    kept = ("VariableV2", "Variable", "NextIteration", "Enter", "VarHandleOp")
    places = [(node, i) for node in graph.node for i, text in enumerate(node.input)
              if not text.startswith("^") and node.op != "Merge" and not takes_reference(node.op) and ops.get(node_of(text), kept[0]) not in kept]
    if not places:
        return
    node, i = rng.choice(places)
    new = graph.node.add(name="between%d" % rng.randint(0, 10**9), op="Identity", input=[node.input[i]])
    new.attr["T"].type = 1
    node.input[i] = new.name


def duplicated(graph, rng):
    nodes = [node for node in graph.node if node.op in COPIED]
    if not nodes:
        return
    node = rng.choice(nodes)
    new = graph.node.add()
    new.CopyFrom(node)
    new.name = "again%d" % rng.randint(0, 10**9)
    for reader in graph.node:
        for i, text in enumerate(reader.input):
            if text == node.name and reader.name != new.name and rng.random() < 0.5:
                reader.input[i] = new.name


def inlining(wanted, lower):
    command = ["optimize", "in.pb", "--outputs", wanted, "--inline", "--only", "fix", "--no-proof"]
    return command + ["--lower"] if lower else command


def edited(graph, names, outputs, rng, prover):
    """After an edit of gedit that keeps the outputs; nothing where it refused, of a custom op, say."""
    wanted = ",".join(names[node_of(output)] for output in outputs)
    kind = rng.choice(("rename", "copy", "merge", "inline"))
    if kind == "inline":
        commands, prefix = [inlining(wanted, rng.random() < 0.5)], ""
    elif kind == "rename":
        commands, prefix = [["rename", "in.pb", "/=p/"]], "p/"
    elif kind == "copy":
        commands, prefix = [["copy", "in.pb", "--outputs", wanted, "--scope", "p", "--map-out", "copied.json"]], "p/"
    else:
        commands = [["merge", "p=in.pb", "other=in.pb"],
                    ["extract", "out.pb", "--outputs", ",".join("p/" + name for name in wanted.split(","))]]
        prefix = "p/"
    new = prover.edit(graph, commands)
    if new is None:
        return graph
    after = {node.name for node in new.node}
    copied = prover.json("copied.json")["nodes"] if kind == "copy" else {}
    for old, name in names.items():
        names[old] = copied.get(name, name) if kind == "copy" else prefix + name if prefix + name in after else name
    return new


def kept(graph, outputs, rng, prover):
    """The graph after changes that leave what it computes, and where its nodes are."""
    result = tf.GraphDef()
    result.CopyFrom(graph)
    names = {node.name: node.name for node in graph.node}
    for _ in range(rng.randint(1, 4)):
        kind = rng.choice(("rename", "insert", "insert", "shuffle", "duplicate", "edit"))
        if kind == "edit":
            result = edited(result, names, outputs, rng, prover)
        elif kind == "rename":
            renamed(result, names, rng)
        elif kind == "insert":
            inserted(result, rng)
        elif kind == "duplicate":
            duplicated(result, rng)
        else:
            nodes = list(result.node)
            rng.shuffle(nodes)
            del result.node[:]
            result.node.extend(nodes)
    return result, names


def deaden(graph, node, rng):
    """The node runs only where a predicate holds, which it does or does not."""
    value = graph.node.add(name="gedit_dead/value", op="Const")
    value.attr["dtype"].type = tf.bool.as_datatype_enum
    value.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(True))
    switch = graph.node.add(name="gedit_dead/switch", op="Switch", input=[value.name, value.name])
    taken = graph.node.add(name="gedit_dead/taken", op="Identity", input=[switch.name + rng.choice(("", ":1"))])
    switch.attr["T"].type = taken.attr["T"].type = tf.bool.as_datatype_enum
    node.input.append("^" + taken.name)


def changed(graph, outputs, rng):
    """The graph after one change of a node that the outputs need, and the node; nothing where none was found."""
    result = tf.GraphDef()
    result.CopyFrom(graph)
    need = needed(graph, outputs)
    nodes = [node for node in result.node if node.name in need]
    bodies = [(function.signature.name + "//", node) for function in result.library.function for node in function.node_def]
    for _ in range(50):
        within = bool(bodies) and rng.random() < 0.5
        scope, node = rng.choice(bodies) if within else ("", rng.choice(nodes))
        kind = rng.choice(("const", "inputs", "attribute", "dead"))
        if kind == "dead" and not within:
            deaden(result, node, rng)
            return result, node.name
        tensor = node.attr["value"].tensor if node.op == "Const" else None
        if kind == "const" and tensor is not None and tensor.tensor_content:
            content = bytearray(tensor.tensor_content)
            content[rng.randrange(len(content))] ^= 1 << rng.randint(0, 7)
            tensor.tensor_content = bytes(content)
            return result, scope + node.name
        if kind == "const" and tensor is not None:
            for values in (tensor.float_val, tensor.int_val, tensor.int64_val):
                if values:
                    values[0] = values[0] - 1 if values[0] > 0 else values[0] + 1
                    return result, scope + node.name
        data = [i for i, text in enumerate(node.input) if not text.startswith("^")]
        if kind == "inputs" and len(data) > 1 and node.input[data[0]] != node.input[data[1]]:
            first, second = node.input[data[0]], node.input[data[1]]
            node.input[data[0]], node.input[data[1]] = second, first
            return result, scope + node.name
        keys = [key for key in sorted(node.attr) if node.attr[key].WhichOneof("value") in ("b", "i", "f")
                and not key.startswith("_") and key not in NO_MATTER and node.op != "Const"]
        if kind == "attribute" and keys:
            value = node.attr[rng.choice(keys)]
            field = value.WhichOneof("value")
            old = getattr(value, field)
            setattr(value, field, not old if field == "b" else old - 1 if old > 0 else old + 1)
            return result, scope + node.name
    return None, None


def feeds_of(graph, rng):
    generator, feeds = np.random.default_rng(rng.randint(0, 1 << 30)), {}
    for node in graph.node:
        if node.op not in ("Placeholder", "PlaceholderV2"):
            continue
        shape = [2 if size.size < 0 else size.size for size in node.attr["shape"].shape.dim]
        dtype = tf.as_dtype(node.attr["dtype"].type)
        if dtype == tf.string:
            values = np.full(shape, b"x", object)
        elif dtype.is_floating:
            values = generator.standard_normal(shape) * rng.choice((1, 100, 1e-3))
        else:
            values = generator.integers(0, 2, shape)
        feeds[node.name + ":0"] = values if dtype == tf.string else np.asarray(values).astype(dtype.as_numpy_dtype)
    return feeds


def bits(graph, outputs, feeds):
    """What TensorFlow computes, as bytes; nothing where it refuses."""
    try:
        with tf.Graph().as_default(), tf.Session(config=bare_config()) as session:
            tf.import_graph_def(graph, name="")
            return [np.asarray(value).tobytes() for value in session.run(outputs, feeds)]
    except Exception:  # whatever TensorFlow has against it
        return None


class Prover:
    def __init__(self, gedit, folder):
        self.gedit, self.folder = gedit, folder

    def edit(self, graph, commands):
        with open(os.path.join(self.folder, "in.pb"), "wb") as file:
            file.write(graph.SerializeToString())
        for command in commands:
            done = subprocess.run([self.gedit, *command, "-q", "-O", "-o", "out.pb"], cwd=self.folder, capture_output=True, check=False)
            if done.returncode:
                return None
        result = tf.GraphDef()
        with open(os.path.join(self.folder, "out.pb"), "rb") as file:
            result.ParseFromString(file.read())
        return result

    def json(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return json.load(file)

    def verdicts(self, a, b, outputs, names):
        paths = [os.path.join(self.folder, name) for name in ("a.pb", "b.pb", "map.txt")]
        for path, graph in zip(paths, (a, b)):
            with open(path, "wb") as file:
                file.write(graph.SerializeToString())
        with open(paths[2], "w") as file:
            file.writelines("%s=%s\n" % pair for pair in names.items() if pair[0] != pair[1])
        command = [self.gedit, "prove", *paths[:2], "-j", "--map", "@" + paths[2]]
        for output in outputs:
            command += ["--outputs", "%s=%s" % (output, names.get(output, output))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode > 1:
            raise RuntimeError(done.stderr)
        return {output: verdict for output, verdict in zip(outputs, json.loads(done.stdout))}


def judge(prover, path, graph, rng, counts):
    """Lines that tell of a fault."""
    read = {node_of(text) for node in graph.node for text in node.input}
    ends = [node.name for node in graph.node if node.name not in read and ":" not in node.name
            and node.op not in ("NoOp", "Const", "Assert", "Placeholder") and "Summary" not in node.op]
    outputs = rng.sample(ends, min(2, len(ends)))
    outputs = [name for name, proof in (prover.verdicts(graph, graph, outputs, {}).items() if outputs else ())
               if proof["verdict"] == "proved"]
    for _ in range(EACH if outputs else 0):
        same, names = kept(graph, outputs, rng, prover)
        counts["kept"] += 1
        for output, proof in prover.verdicts(graph, same, outputs, names).items():
            if proof["verdict"] != "proved":
                yield "%s: %s is the same and %s: %s" % (path, output, proof["verdict"], proof["why"])
    for _ in range(EACH if outputs else 0):
        other, name = changed(graph, outputs, rng)
        if other is None:
            continue
        counts["changed"] += 1
        if rng.random() < 0.5:
            other = prover.edit(other, [inlining(",".join(outputs), True)]) or other
        proved = [output for output, proof in prover.verdicts(graph, other, outputs, {}).items()
                  if proof["verdict"] == "proved" and ("//" in name or name in needed(graph, [output]))]
        for _ in range(3 if proved else 0):
            feeds = feeds_of(graph, rng)
            before, after = bits(graph, proved, feeds), bits(other, proved, feeds)
            if before is not None and after is not None and before != after:
                yield "%s: %s proved, and TensorFlow computes other bits after a change of %s" % (path, proved, name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    arguments = parser.parse_args()
    rng = random.Random(int(os.environ.get("GEDIT_PROVE_SEED", "1")))
    gedit = os.path.abspath(arguments.gedit)
    graphs = {path: read_graph(path, gedit) for path in graph_files()}
    paths = [path for path, graph in graphs.items() if graph is not None]
    counts, faults = {"made": 0, "kept": 0, "changed": 0}, []
    with tempfile.TemporaryDirectory() as folder:
        prover = Prover(gedit, folder)
        for _ in range(int(os.environ.get("GEDIT_PROVE_GRAPHS", "300"))):
            if not paths or rng.random() < 0.5:
                faults += judge(prover, "random graph %d" % counts["made"], Generated(rng).graph, rng, counts)
                counts["made"] += 1
            else:
                path = rng.choice(paths)
                faults += judge(prover, path, graphs[path], rng, counts)
    print("%d graphs, %d random ones, %d chains, %d changes" % (len(paths), counts["made"], counts["kept"], counts["changed"]))
    for fault in faults:
        print(fault)
    return 1 if faults or not counts["kept"] else 0


if __name__ == "__main__":
    sys.exit(main())
