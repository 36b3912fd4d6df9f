#!/usr/bin/env python3
"""Laws of lists: whatever takes one, as an @file, as an option or as a repeated message of a model, takes little more
than twice as long for twice as many.

  list_laws.py --gedit build/release/gedit [--only NAME] [--items N]

Measured is the processor time of the program; what is quadratic shows at thousands. Of either list the least of up to three runs
counts. Where that fails, medians of runs in turn decide, on a machine that is kept busy: after a rest many are faster for a moment,
which is the whole of a short run and a part of a long one. Exit status 77: a program with sanitizers, whose times say nothing.
"""
import argparse
import contextlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile

MOST = 2.3
MOST_OF_MODELS = 3.0  # what outgrows the caches included; a square takes four times as long
# Of what a run costs without any list, and of the clock.
SLACK = 0.05
RUNS = 3
RUNS_IN_TURN = 15


def write_graph(path, scopes):
    with open(path, "w", encoding="ascii") as file:
        file.write("x = Placeholder() {dtype: DT_FLOAT, shape: [2]}\n")
        for i in range(scopes):
            file.write(f's{i}/a = VariableV2() {{container: "", dtype: DT_FLOAT, shape: [2], shared_name: ""}}\n'
                       f"s{i}/r = Identity(s{i}/a) {{T: DT_FLOAT}}\n"
                       f"s{i}/y = Add(x, s{i}/r) {{T: DT_FLOAT}}\n")


def listed(text, count):
    return [text.format(i=i, j=i + count) for i in range(count)]


# By name: what is asked of `count` things; lists of lines stand in a file.
ROWS = {
    "rename @nodes": lambda file, n: ["rename", "g.pb", file(listed("s{i}/a=t{i}/a", n))],
    "rename @scopes": lambda file, n: ["rename", "g.pb", file(listed("s{i}/=t{i}/", n))],
    "select @names": lambda file, n: ["select", "g.pb", file(listed("s{i}/y", n))],
    "select @scopes": lambda file, n: ["select", "g.pb", file(listed("s{i}/", n))],
    "select @globs": lambda file, n: ["select", "g.pb", file(listed("s{i}/[xy]", n) + listed("**/r{i}", n))],
    "select @globs of scopes": lambda file, n: ["select", "g.pb", file(listed("s{i}?/", n))],
    "sync --pair @": lambda file, n: ["sync", "g.pb", "--name", "pull", "--pair", file(listed("s{i}/a=s{j}/a", n))],
    "insert --after": lambda file, n: ["insert", "g.pb", "--op", "Identity", "--after", ",".join(listed("s{i}/r", n))],
    "extract --outputs": lambda file, n: ["extract", "g.pb", "--outputs", ",".join(listed("s{i}/y", n))],
    "extract --inputs": lambda file, n: ["extract", "g.pb", "--outputs", "s0/y", "--inputs", ",".join(listed("s{i}/r", n))],
    "freeze --keep": lambda file, n: ["freeze", "g.pb", "--outputs", "s0/y", "--keep", file(listed("s{i}/a", n))],
    "copy --input-map": lambda file, n: ["copy", "g.pb", "-s", "*/y", "--scope", "t", "--input-map", file(listed("s{i}/r=s{j}/r", n))],
    "copy --stop-gradient": lambda file, n: ["copy", "g.pb", "-s", "*/y", "--scope", "t", "--stop-gradient",
                                             ",".join(listed("s{i}/r", n))],
    "copy @selection": lambda file, n: ["copy", "g.pb", "-s", file(listed("s{i}/", n)), "--scope", "t"],
    "merge --input-map": lambda file, n: ["merge", "a=g.pb", "--input-map", file(listed("a/s{i}/r=a/s{j}/r", n))],
    "set --device": lambda file, n: ["set", "g.pb", "--device", file(listed("s{i}/y", n)) + "=/cpu:0"],
}


def variable(scope):
    return (f'{scope}/a = VariableV2() {{container: "", dtype: DT_FLOAT, shape: [2], shared_name: ""}}\n'
            f"{scope}/i = Const() {{dtype: DT_FLOAT, value: tensor(DT_FLOAT [2], 1.0)}}\n"
            f"{scope}/assign = Assign({scope}/a, {scope}/i) {{T: DT_FLOAT, use_locking: true, validate_shape: true}}\n"
            f"{scope}/r = Identity({scope}/a) {{T: DT_FLOAT}}\n")


def saver(name):
    return (f'{name}/file = Const() {{dtype: DT_STRING, value: tensor(DT_STRING [], "model")}}\n'
            f'{name}/names = Const() {{dtype: DT_STRING, value: tensor(DT_STRING [1], "s/a")}}\n'
            f'{name}/slices = Const() {{dtype: DT_STRING, value: tensor(DT_STRING [1], "")}}\n'
            f"{name}/save = SaveV2({name}/file, {name}/names, {name}/slices, s/a) {{dtypes: list(DT_FLOAT)}}\n"
            f"{name}/saved = Identity({name}/file, ^{name}/save) {{T: DT_STRING}}\n"
            f"{name}/restore = RestoreV2({name}/file, {name}/names, {name}/slices) {{dtypes: list(DT_FLOAT)}}\n"
            f"{name}/assign = Assign(s/a, {name}/restore) {{T: DT_FLOAT, use_locking: true, validate_shape: true}}\n"
            f"{name}/all = NoOp(^{name}/assign)\n")


def saver_def(name):
    return (f'SaverDef {{ filename_tensor_name: "{name}/file:0" save_tensor_name: "{name}/saved:0" '
            f'restore_op_name: "{name}/all" version: V2 }}\n')


def checkpoint(n, objects):
    """n tensors; of objects they are values, whose keys are made of the objects' paths."""
    value = "/.ATTRIBUTES/VARIABLE_VALUE" if objects else ""
    lines = [f"s{i}/a{value} = tensor(DT_FLOAT [2], 1.0)\n" for i in range(n)]
    if objects:
        children = " ".join(f'children {{ node_id: {1 + i} local_name: "s{i}" }}' for i in range(n))
        between = " ".join(f'nodes {{ children {{ node_id: {1 + n + i} local_name: "a" }} }}' for i in range(n))
        variables = " ".join(f'nodes {{ attributes {{ name: "VARIABLE_VALUE" full_name: "n{i}" checkpoint_key: "s{i}/a{value}" }} }}'
                             for i in range(n))
        lines.append(f"object_graph {{ nodes {{ {children} }} {between} {variables} }}\n")
    return lines


def signature(i):
    return (f'signature s{i} {{ inputs {{ key: "x" value {{ name: "x:0" dtype: DT_FLOAT }} }} outputs {{ key: "y" value '
            f'{{ name: "x:0" dtype: DT_FLOAT }} }} method_name: "tensorflow/serving/predict" }}\n')


# Models with so many of something, as listings.
MODELS = {
    "savers": lambda n: ["metagraph {}\n", variable("s")] + [saver(f"save{i}") for i in range(n)] +
                        [f"collection savers {saver_def(f'save{i}')}" for i in range(n)],
    "signatures": lambda n: ["metagraph {}\n", "x = Placeholder() {dtype: DT_FLOAT, shape: [2]}\n"] +
                            [signature(i) for i in range(n)],
    "collections": lambda n: ["metagraph {}\n", "x = NoOp()\n"] + [f"collection c{i} node x\n" for i in range(n)],
    "variables": lambda n: ["metagraph {}\n"] + [variable(f"s{i}") for i in range(n)] +
                           [f'collection variables VariableDef {{ variable_name: "s{i}/a:0" initializer_name: "s{i}/assign" '
                            f'snapshot_name: "s{i}/r:0" trainable: true }}\n' for i in range(n)],
    "functions": lambda n: [f"y{i} = f{i}(x)\n" for i in range(n)] + ["x = Placeholder() {dtype: DT_FLOAT}\n"] +
                           [f"function f{i}(x: DT_FLOAT) -> (y: DT_FLOAT)\n  z = Identity(x) {{T: DT_FLOAT}}\n"
                            f"  return y = z:output:0\nend\n" for i in range(n)],
}


def waiting(n):
    """Who gives n tensors waits for n nodes, where order counts."""
    return (["x = Placeholder() {dtype: DT_FLOAT, shape: []}\n",
             'v = VarHandleOp() {dtype: DT_FLOAT, shape: [], shared_name: "v"}\n',
             "written = AssignVariableOp(v, x) {dtype: DT_FLOAT}\n"] + [f"n{i} = NoOp(^written)\n" for i in range(n)] +
            ["all = IdentityN(" + ", ".join(["x"] * n + listed("^n{i}", n)) + ") {T: list(" + ", ".join(["DT_FLOAT"] * n) + ")}\n",
             "y = AddN(" + ", ".join(listed("all:{i}", n)) + f") {{N: {n}, T: DT_FLOAT}}\n"])


def writing(n):
    """n nodes that are built alike, and who waits for them and reads each by a way of its own."""
    return (["x = Placeholder() {dtype: DT_FLOAT, shape: [2]}\n",
             'v = VariableV2() {container: "", dtype: DT_FLOAT, shape: [2], shared_name: ""}\n'] +
            [f"w{i} = AssignAdd(v, x) {{T: DT_FLOAT, use_locking: false}}\n" for i in range(n)] +
            ["all = IdentityN(" + ", ".join(listed("w{i}", n) + listed("^w{i}", n)) + ") {T: list(" + ", ".join(["DT_FLOAT"] * n) + ")}\n",
             "y = AddN(" + ", ".join(listed("all:{i}", n)) + f") {{N: {n}, T: DT_FLOAT}}\n"])


def storing(n):
    """n variables, each written behind the one before, and read."""
    return (["x = Placeholder() {dtype: DT_FLOAT, shape: []}\n"] +
            [f'v{i} = VarHandleOp() {{dtype: DT_FLOAT, shape: [], shared_name: "v{i}"}}\n' for i in range(n)] +
            [f"w{i} = AssignVariableOp(v{i}, x{f', ^w{i - 1}' if i > 0 else ''}) {{dtype: DT_FLOAT}}\n" for i in range(n)] +
            [f"r{i} = ReadVariableOp(v{i}, ^w{i}) {{dtype: DT_FLOAT}}\n" for i in range(n)] +
            ["y = AddN(" + ", ".join(listed("r{i}", n)) + f") {{N: {n}, T: DT_FLOAT}}\n"])


def grouping(n):
    """n groups in a chain, each of which waits for one more that writes."""
    return (["x = Placeholder() {dtype: DT_FLOAT, shape: []}\n"] +
            [f'v{i} = VarHandleOp() {{dtype: DT_FLOAT, shape: [], shared_name: "v{i}"}}\n'
             f"w{i} = AssignVariableOp(v{i}, x{f', ^g{i - 1}' if i > 0 else ''}) {{dtype: DT_FLOAT}}\n"
             f"g{i} = NoOp(^w{i}{f', ^g{i - 1}' if i > 0 else ''})\n" for i in range(n)] +
            [f"y = Identity(x, ^g{n - 1}) {{T: DT_FLOAT}}\n"])


def restoring(n):
    """A variable that is restored to what a chain computes of n tensors of n Restore nodes."""
    return (["metagraph {}\n", variable("s"), saver("save")] +
            [f"r{i} = RestoreV2(save/file, save/names, save/slices) {{dtypes: list(DT_FLOAT)}}\n"
             f"sum{i} = Add({f'sum{i - 1}' if i > 0 else 'r0'}, r{i}) {{T: DT_FLOAT}}\n" for i in range(n)] +
            ['t/a = VariableV2() {container: "", dtype: DT_FLOAT, shape: [2], shared_name: ""}\n'
             "t/r = Identity(t/a) {T: DT_FLOAT}\n"
             f"t/set = Assign(t/a, sum{n - 1}) {{T: DT_FLOAT, use_locking: true, validate_shape: true}}\n"])


def saving(n):
    """n variables that one saver saves and restores."""
    texts = lambda form: ", ".join(listed(form, n))
    return (["metagraph {}\n"] + [variable(f"s{i}") for i in range(n)] +
            ['save/file = Const() {dtype: DT_STRING, value: tensor(DT_STRING [], "model")}\n',
             f"save/names = Const() {{dtype: DT_STRING, value: tensor(DT_STRING [{n}], {texts(chr(34) + 's{i}/a' + chr(34))})}}\n",
             f"save/slices = Const() {{dtype: DT_STRING, value: tensor(DT_STRING [{n}], {texts(chr(34) * 2)})}}\n",
             f"save/save = SaveV2(save/file, save/names, save/slices, {texts('s{i}/a')}) {{dtypes: list({texts('DT_FLOAT')})}}\n",
             "save/saved = Identity(save/file, ^save/save) {T: DT_STRING}\n",
             f"save/restore = RestoreV2(save/file, save/names, save/slices) {{dtypes: list({texts('DT_FLOAT')})}}\n"] +
            [f"save/assign{i} = Assign(s{i}/a, save/restore:{i}) {{T: DT_FLOAT, use_locking: true, validate_shape: true}}\n" for i in range(n)] +
            [f"save/all = NoOp({texts('^save/assign{i}')})\n"])


def calling(n):
    """n calls of n functions, each given what is written before, which it only waits for."""
    return (["x = Placeholder() {dtype: DT_FLOAT, shape: []}\n", 'v = VarHandleOp() {dtype: DT_FLOAT, shape: [], shared_name: "v"}\n',
             "w = AssignVariableOp(v, x) {dtype: DT_FLOAT}\n"] +
            [f"b{i} = Identity({f'b{i - 1}' if i > 0 else 'x, ^w'}) {{T: DT_FLOAT}}\n"
             f"c{i} = PartitionedCall({f'c{i - 1}' if i > 0 else 'x'}, b{i}) {{Tin: list(DT_FLOAT, DT_FLOAT), Tout: list(DT_FLOAT), f: func f{i}}}\n"
             for i in range(n)] +
            [f"function f{i}(a: DT_FLOAT, b: DT_FLOAT) -> (r: DT_FLOAT)\n"
             "  one = Const() {dtype: DT_FLOAT, value: tensor(DT_FLOAT [], 1.0)}\n  n = Mul(a, one:output:0) {T: DT_FLOAT}\n"
             "  m = Neg(n:z:0, ^b) {T: DT_FLOAT}\n  return r = m:y:0\nend\n" for i in range(n)])


def initializing(n):
    """A scope with n init groups of a variable each, and one of them all."""
    return (["metagraph {}\n"] +
            [variable(f"s/{i}").replace("/assign", "/a/Assign") + f"s/g{i} = NoOp(^s/{i}/a/Assign)\n" for i in range(n)] +
            ["s/init = NoOp(" + ", ".join(listed("^s/g{i}", n)) + ")\n"])


def inner(n):
    """A chain of n nodes in a function that is called."""
    return (["x = Placeholder() {dtype: DT_FLOAT, shape: [2]}\n",
             "call = PartitionedCall(x) {Tin: list(DT_FLOAT), Tout: list(DT_FLOAT), f: func f}\n",
             "function f(a: DT_FLOAT) -> (y: DT_FLOAT)\n", "  n0 = Relu(a) {T: DT_FLOAT}\n"] +
            [f"  n{i + 1} = Relu(n{i}:activations:0) {{T: DT_FLOAT}}\n" for i in range(n)] +
            [f"  return y = n{n}:activations:0\n", "end\n"])


def field(number, content):
    """A field of a serialized message, of fewer than 128 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


def node(i):
    return field(1, field(1, b"n%d" % i) + field(2, b"AddV2") + field(3, b"n%d" % i) * 2)


# Serialized messages with so many of a field: graph_def of a MetaGraphDef, meta_graphs of a SavedModel.
REPEATED = {
    "graph_defs": ("repeated.meta", lambda n: b"".join(field(2, node(i)) for i in range(8 * n))),
    "meta_graphs": ("saved_model.pb", lambda n: b"\x08\x01" + b"".join(field(2, field(2, node(i))) for i in range(n))),
}


# What is asked of the n tensors of a checkpoint, whose keys end in `value`.
ON_CHECKPOINTS = {
    "list @names": lambda path, file, n, value: ["list", path, file(listed("s{i}/a" + value, n))],
    "list @scopes": lambda path, file, n, value: ["list", path, file(listed("s{i}/", n))],
    "drop @globs": lambda path, file, n, value: ["drop", path, file(listed("s{i}/*" + value, n // 2))],
    "drop @names": lambda path, file, n, value: ["drop", path, file(listed("s{i}/a" + value, n // 2))],
    "rename @names": lambda path, file, n, value: ["rename", path, file(listed("s{i}/a=s{i}/w", n))],
    "rename @scopes": lambda path, file, n, value: ["rename", path, file(listed("s{i}/=t{i}/", n))],
    "copy @names": lambda path, file, n, value: ["copy", path, file(listed("s{i}/a=t{i}/a", n))],
    "copy @scopes": lambda path, file, n, value: ["copy", path, file(listed("s{i}/=t{i}/", n))],
    "merge": lambda path, file, n, value: ["merge", "a=" + path, "b=" + path],
    "average": lambda path, file, n, value: ["average", path, path],
    "diff": lambda path, file, n, value: ["diff", path, path],
    "dedupe": lambda path, file, n, value: ["dedupe", path],
}


ON_MODELS = {
    "inspect": ["inspect"],
    "inspect -j": ["inspect", "-j"],
    "copy": ["copy", "-s", "**", "--scope", "t"],
    "check": ["check"],
    "list": ["list"],
}
PRINT = ("select", "inspect", "check", "list", "prove", "diff")
FINDS = (0, 1)  # check found something, prove cannot know


@contextlib.contextmanager
def busy_machine():
    beside = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for process in beside:
            process.kill()
            process.wait()


class Subject:
    def __init__(self, gedit, folder):
        self.gedit, self.folder = gedit, folder

    def file(self, lines):
        with open(os.path.join(self.folder, "list"), "w", encoding="ascii") as file:
            file.writelines(line + "\n" for line in lines)
        return "@list"

    def listing(self, name, lines):
        with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
            file.writelines(lines)
        return name

    def repeated(self, kind, count):
        name, content = REPEATED[kind]
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content(count))
        return name

    def model(self, kind, count):
        path = os.path.join(self.folder, f"{kind}{count}")
        self.listing(f"{kind}{count}.gtxt", MODELS[kind](count))
        out = path + (".pb" if kind == "functions" else ".meta")
        subprocess.run([self.gedit, "convert", path + ".gtxt", "-q", "-O", "-o", out], check=True)
        return os.path.basename(out)

    def checkpoint(self, count, objects):
        path = f"{'objects' if objects else 'names'}{count}"
        if not os.path.exists(os.path.join(self.folder, path + ".index")):
            listing = self.listing(path + ".ckpt.gtxt", checkpoint(count, objects))
            subprocess.run([self.gedit, "checkpoint", "convert", listing, "-q", "-o", path], cwd=self.folder, check=True)
        return path

    def seconds(self, arguments):
        command = [self.gedit, *arguments]
        if not any(name in PRINT for name in arguments[:2]):
            command += ["-q", "-O", "-o", "out.meta" if arguments[0] == "signature" else "out.pb"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        if done.returncode not in (FINDS if arguments[0] in ("check", "prove") else (0,)):
            raise RuntimeError(f"{' '.join(arguments)[:100]}: {done.stderr.decode()[-200:]}")
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def once_and_twice(self, row, items, is_linear):
        """Seconds of `items` things and of twice as many; a list that a row writes is written again for each of them."""
        shorter = row(items)
        once = min(self.seconds(shorter) for _ in range(RUNS))
        longer = row(2 * items)
        for _ in range(RUNS):
            twice = self.seconds(longer)
            if is_linear(once, twice):
                return once, twice
        with busy_machine():
            pairs = [(self.seconds(row(items)), self.seconds(row(2 * items))) for _ in range(RUNS_IN_TURN)]
        return tuple(statistics.median(seconds) for seconds in zip(*pairs))


def main():
    parser = argparse.ArgumentParser(description="Whatever takes a list is linear.")
    parser.add_argument("--gedit", required=True)
    parser.add_argument("--only")
    parser.add_argument("--items", type=int, default=4000)
    arguments = parser.parse_args()
    gedit = os.path.abspath(arguments.gedit)
    with open(gedit, "rb") as program:
        if b"__asan_init" in program.read():
            print("built with sanitizers")
            return 77
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        write_graph(os.path.join(folder, "g.gtxt"), 4 * arguments.items)
        subprocess.run([gedit, "convert", "g.gtxt", "-q", "-o", "g.pb"], cwd=folder, check=True)
        subject = Subject(gedit, folder)

        def holds(name, row, most=MOST):
            if arguments.only not in (None, name):
                return True
            is_linear = lambda once, twice: twice <= most * once + SLACK
            once, twice = subject.once_and_twice(row, arguments.items, is_linear)
            linear = is_linear(once, twice)
            print(f"{'ok  ' if linear else 'FAIL'} {name}: {once:.3f} s, for twice as many {twice:.3f} s")
            return linear

        for name, row in ROWS.items():
            broken += not holds(name, lambda n, row=row: row(subject.file, n))
        broken += not holds("prove of what waits", lambda n: ["prove", *[subject.listing("waits.gtxt", waiting(n))] * 2, "--outputs", "y"])
        broken += not holds("prove of what writes", lambda n: ["prove", *[subject.listing("writes.gtxt", writing(n))] * 2, "--outputs", "y"])
        broken += not holds("prove of groups", lambda n: ["prove", *[subject.listing("groups.gtxt", grouping(n))] * 2, "--outputs", "y"])
        broken += not holds("extract of what is restored", lambda n: [
            "extract", subject.listing("restores.gtxt", restoring(n)), "--outputs", "t/r"])
        broken += not holds("cast of what one saver saves", lambda n: [
            "cast", subject.listing("saves.gtxt", saving(n)), "--weights", "bfloat16"])
        broken += not holds("freeze of what restores", lambda n: [
            "freeze", subject.listing("saves.gtxt", saving(n)), "--checkpoint", subject.checkpoint(n, False), "--outputs", "save/all"])
        broken += not holds("merge with checkpoints", lambda n: [
            "merge", *[f"{name}=" + subject.listing("saves.gtxt", saving(n)) for name in "ab"],
            *[f"--checkpoint={name}=" + subject.checkpoint(n, False) for name in "ab"]])
        for options in ([], ["--inline"]):
            broken += not holds(" ".join(["optimize of calls", *options]), lambda n, options=options: [
                "optimize", subject.listing("calls.gtxt", calling(n)), "--outputs", f"c{n - 1}", *options], MOST_OF_MODELS)
        broken += not holds("copy --from-scope of groups", lambda n: [
            "copy", subject.listing("groups.gtxt", initializing(n)), "--from-scope", "s", "--scope", "t"])
        broken += not holds("prove of what is stored", lambda n: ["prove", *[subject.listing("stores.gtxt", storing(n))] * 2, "--outputs", "y"])
        for kind in MODELS:
            for name, command in ON_MODELS.items():
                broken += not holds(f"{name} of {kind}", lambda n, kind=kind, command=command:
                                    [command[0], subject.model(kind, n), *command[1:]], MOST_OF_MODELS)
        broken += not holds("insert in functions", lambda n: [
            "insert", subject.model("functions", n), "--op", "Identity", "--after", ",".join(listed("f{i}//z", n))])
        broken += not holds("extract of one function", lambda n: [
            "extract", subject.listing("inner.gtxt", inner(n)), "--outputs", ",".join(listed("f//n{i}", n))])
        broken += not holds("extract of functions", lambda n: [
            "extract", subject.model("functions", n), "--outputs", ",".join(listed("f{i}//z", n))])
        broken += not holds("signature add of one function", lambda n: [
            "signature", "add", subject.listing("inner.gtxt", inner(n)), "s", "--inputs", "x=x", "--outputs",
            ",".join(listed("o{i}=f//n{i}", n // 2))])
        broken += not holds("rename in functions", lambda n: [
            "rename", subject.model("functions", n), subject.file(listed("f{i}//z=w", n))])
        broken += not holds("signature remove", lambda n: ["signature", "remove", subject.model("signatures", n), *listed("s{i}", n // 2)])
        broken += not holds("signature rename", lambda n: ["signature", "rename", subject.model("signatures", n), *listed("s{i}=t{i}", n // 2)])
        for objects in (False, True):
            value = "/.ATTRIBUTES/VARIABLE_VALUE" if objects else ""
            for name, row in ON_CHECKPOINTS.items():
                broken += not holds(f"checkpoint {name}{' of objects' if objects else ''}", lambda n, row=row: [
                    "checkpoint", *row(subject.checkpoint(n, objects), subject.file, n, value)], MOST_OF_MODELS)
        for kind in REPEATED:
            broken += not holds(f"inspect -j of {kind}", lambda n, kind=kind: ["inspect", subject.repeated(kind, n), "-j"], MOST_OF_MODELS)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
