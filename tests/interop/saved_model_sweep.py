#!/usr/bin/env python3
"""Every SavedModel at hand goes through every command that applies, and answers the same numbers in both loaders.

  saved_model_sweep.py --gedit build/release/gedit [--edit NAME] [FOLDER...]

Over testdata/ and, where GEDIT_SHARED names one, a corpus: models whose variables are there and that real TensorFlow loads
and runs on seeded random inputs. Each edit of EDITS is then judged by the v1 loader (which is what the C++ API and
Serving do) and by tf.saved_model.load. What gedit refuses is counted and shown; a model that TensorFlow does not load
any more, or that answers other numbers, fails the test.
"""
import argparse
import collections
import concurrent.futures
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from real_files import REPOSITORY, folders

PROCESSES = 2
MOST_BYTES = 450_000  # of a saved_model.pb where none is named: loading larger ones takes longer than the test may

Key = collections.namedtuple("Key", "inputs outputs")  # names -> names in the original


def saved_models(folder, most_bytes):
    for path, folders, files in sorted(os.walk(folder, followlinks=True)):
        folders.sort()
        for name in ("saved_model.pb", "saved_model.pbtxt"):
            if name in files and os.path.getsize(os.path.join(path, name)) <= most_bytes:
                index = os.path.join(path, "variables", "variables.index")
                if not os.path.exists(index) or os.path.exists(index[:-5] + "data-00000-of-00001") or \
                        os.path.exists(index[:-5] + "data-00000-of-00002"):
                    yield path
                break


class Wrong(Exception):
    """What an edit wrote is not what it was."""


class Refused(Exception):
    """gedit says no in an orderly way."""


# --------------------------------------------------------------------------------------------------------- TensorFlow
class Judge:
    """Real TensorFlow, imported once in each process."""

    def __init__(self):
        os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0")
        import numpy
        import tensorflow
        from tensorflow.python.saved_model import loader_impl
        tensorflow.get_logger().setLevel("ERROR")
        self.np, self.tf, self.v1, self.impl = numpy, tensorflow, tensorflow.compat.v1, loader_impl

    def meta_graph(self, folder):
        return self.impl.parse_saved_model(folder).meta_graphs[0]

    def feeds(self, signature, kind):
        """Random values of the inputs' types; of strings an example without features, or words."""
        random = self.np.random.RandomState(7)
        fed = {}
        for name, info in sorted(signature.inputs.items()):
            if not info.name:
                return None
            dtype = self.tf.dtypes.as_dtype(info.dtype)
            shape = [d.size if d.size >= 0 else 2 for d in info.tensor_shape.dim]
            if dtype == self.tf.string:
                fed[name] = self.np.full(shape, b"" if kind == 0 else b"b", object)
            elif dtype == self.tf.bool:
                fed[name] = self.np.full(shape, kind == 0)
            else:
                fed[name] = self.np.asarray(random.rand(*shape) * (2 if kind == 0 else 1)).astype(dtype.as_numpy_dtype)
        return fed

    def classic(self, folder, tags, asked):
        """asked: key -> feeds; gives key -> outputs, or the error."""
        got = {}
        with self.tf.Graph().as_default(), self.v1.Session() as session:
            meta = self.v1.saved_model.load(session, tags, folder)
            saver, values = meta.saver_def, os.path.join(folder, "variables", "variables")
            for number, (key, fed) in enumerate(asked.items()):
                signature = meta.signature_def[key]
                try:
                    if number > 0 and saver.restore_op_name and os.path.exists(values + ".index"):
                        session.run(saver.restore_op_name, {saver.filename_tensor_name: values})  # one may train the other
                    got[key] = session.run({n: t.name for n, t in signature.outputs.items()},
                                           {signature.inputs[n].name: v for n, v in fed.items()})
                except Exception as error:
                    got[key] = error
        return got

    def modern(self, folder, tags, asked):
        loaded, got = self.tf.saved_model.load(folder, tags=tags), {}
        for key, fed in asked.items():
            try:
                function = loaded.signatures[key]
                got[key] = {n: v.numpy() for n, v in function(**{n: self.tf.constant(v) for n, v in fed.items()}).items()}
            except Exception as error:
                got[key] = error
        return got, len([v for v in self.tf.train.TrackableView(loaded).descendants() if isinstance(v, self.tf.Variable)]
                        if hasattr(loaded, "_trackable_children") else ())

    def same(self, a, b):
        if isinstance(a, Exception) or isinstance(b, Exception) or set(a) != set(b):
            return False
        return all(self.np.shape(a[k]) == self.np.shape(b[k]) and
                   (self.np.array_equal(a[k], b[k]) if self.np.asarray(a[k]).dtype.kind in "OSU" else
                    self.np.allclose(a[k], b[k], rtol=1e-4, atol=1e-6, equal_nan=True)) for k in a)


JUDGE = None


class Model:
    """A SavedModel and what it answers: signatures that give the same twice, with the inputs for which they do."""

    def __init__(self, folder):
        self.folder = folder
        graph = JUDGE.meta_graph(folder)
        self.tags = list(graph.meta_info_def.tags)
        self.several = len(JUDGE.impl.parse_saved_model(folder).meta_graphs) > 1
        self.objects = graph.HasField("object_graph_def")
        self.fed, self.want, self.modern = {}, {}, {}
        self.signatures = {k: s for k, s in graph.signature_def.items() if not k.startswith("__saved_model_")}
        for kind in (0, 1):
            asked = {k: JUDGE.feeds(s, kind) for k, s in self.signatures.items() if k not in self.want}
            asked = {k: v for k, v in asked.items() if v is not None}
            if not asked:
                break
            # A signature that answers otherwise after another one was run is left out.
            runs = [JUDGE.classic(folder, self.tags, {k: asked[k] for k in order}) for order in (sorted(asked), sorted(asked)[::-1])]
            for key in asked:
                if JUDGE.same(runs[0][key], runs[1][key]):
                    self.fed[key], self.want[key] = asked[key], runs[0][key]
        self.variables = None
        try:
            got, self.variables = JUDGE.modern(folder, self.tags, dict(sorted(self.fed.items())))
            self.modern = {k: v for k, v in got.items() if JUDGE.same(v, self.want[k])}
        except Exception:
            pass  # a model that this TensorFlow does not load so is judged by the other loader
        # One signature stands for those that are alike; edits of a signature take it.
        self.key = sorted(self.want, key=lambda k: (k != "serving_default", k))[0] if self.want else None


class Work:
    def __init__(self, gedit, scratch, model):
        self.gedit_path, self.scratch, self.model, self.count = gedit, scratch, model, 0
        self.signature = model.signatures[model.key]

    def fresh(self, suffix=""):
        self.count += 1
        return os.path.join(self.scratch, "%d%s" % (self.count, suffix))

    def gedit(self, *arguments):
        arguments = list(arguments)
        if self.model.several:
            arguments += ["--tag-set", ",".join(self.model.tags)]
        done = subprocess.run([self.gedit_path, *arguments, "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=120)
        text = done.stderr.decode(errors="replace").strip()
        if done.returncode in (2, 4):
            raise Refused(text)
        if done.returncode != 0 and arguments[0] != "select":
            raise Wrong("exit status %d: %s" % (done.returncode, text))
        return done.stdout.decode(errors="replace")

    def same_keys(self, but=()):
        return {k: (k, {}, {}) for k in self.model.want if k not in but}

    def tensors(self, side):
        return {k: t.name for k, t in getattr(self.signature, side).items()}


def listed(pairs):
    return ",".join("%s=%s" % pair for pair in pairs)


# ------------------------------------------------------------------------------------------------------------- edits
# Each gives the folder that it wrote and {key: (key before, new names of inputs, of outputs)}.
def signature_rename(work):
    key, out = work.model.key, work.fresh()
    inputs = {k: "in_" + k for k in work.signature.inputs}
    outputs = {k: "z_" + k for k in work.signature.outputs}
    work.gedit("signature", "rename", work.model.folder, *["%s.inputs[%s]=%s" % (key, a, b) for a, b in inputs.items()],
               *["%s.outputs[%s]=%s" % (key, a, b) for a, b in outputs.items()], key + "=renamed", "-o", out)
    return out, {**work.same_keys([key]), "renamed": (key, inputs, outputs)}


def signature_remove(work):
    if len(work.model.signatures) < 2:
        return None
    out = work.fresh()
    work.gedit("signature", "remove", work.model.folder, work.model.key, "-o", out)
    return out, work.same_keys([work.model.key])


def signature_add(work):
    out = work.fresh()
    work.gedit("signature", "add", work.model.folder, "added", "--inputs", listed(work.tensors("inputs").items()), "--outputs",
               listed(work.tensors("outputs").items()), "-o", out)
    return out, {**work.same_keys(), "added": (work.model.key, {}, {})}


def rename_all(work):
    out = work.fresh()
    work.gedit("rename", work.model.folder, "/=moved/", "-o", out)
    return out, work.same_keys()


def rename_variables(work):
    out, names = work.fresh(), work.gedit("select", work.model.folder, "var:").split()
    if not names:
        return None
    work.gedit("rename", work.model.folder, *["%s=%s_renamed" % (n, n) for n in names], "-o", out)
    return out, work.same_keys()


def copy(work):
    first, out, mapped, key = work.fresh(), work.fresh(), work.fresh(".json"), work.model.key
    outputs = work.tensors("outputs")
    work.gedit("copy", work.model.folder, "--outputs", ",".join(outputs.values()), "--scope", "sweep/copy", "--map-out", mapped,
               "-o", first)
    with open(mapped, encoding="utf-8") as file:
        nodes = json.load(file)["nodes"]

    def now(tensor):
        node, colon, port = tensor.partition(":")
        return nodes.get(node, node) + colon + port
    work.gedit("signature", "add", first, "copied", "--inputs",
               listed((k, now(t)) for k, t in work.tensors("inputs").items()), "--outputs",
               listed((k, now(t)) for k, t in outputs.items()), "-o", out)
    return out, {**work.same_keys(), "copied": (key, {}, {})}


def merge(work):
    out, want = work.fresh(), {}
    work.gedit("merge", "one=" + work.model.folder, "two=" + work.model.folder, "-o", out)
    for key in work.model.want:
        want[key] = want["two/" + key] = (key, {}, {})
    return out, want


def merge_three(work):
    """A merged model merged again: its saver is in the main graph by then."""
    first, out, want = work.fresh(), work.fresh(), {}
    work.gedit("merge", "one=" + work.model.folder, "two=" + work.model.folder, "-o", first)
    work.gedit("merge", "x=" + first, "y=" + work.model.folder, "-o", out)
    for key in work.model.want:
        want[key] = want["two/" + key] = want["y/" + key] = (key, {}, {})
    return out, want


def insert(work):
    out = work.fresh()
    work.gedit("insert", work.model.folder, "--op", "Identity", "--after", ",".join(sorted(set(work.tensors("outputs").values()))),
               "-o", out)
    return out, work.same_keys()


def set_device(work):
    out = work.fresh()
    work.gedit("set", work.model.folder, "--device", "**, fn:*//**=", "-o", out)
    return out, work.same_keys()


def extract_arguments(work, folder):
    return ["extract", folder, "--outputs", ",".join([*work.tensors("outputs").values(), *work.tensors("inputs").values()])]


def extract(work):
    out = work.fresh()
    work.gedit(*extract_arguments(work, work.model.folder), "-o", out)
    return out, {work.model.key: (work.model.key, {}, {})}


def extract_of_merged(work):
    first, out = work.fresh(), work.fresh()
    work.gedit("merge", "one=" + work.model.folder, "two=" + work.model.folder, "-o", first)
    key = work.model.key
    work.gedit("extract", first, "--outputs", ",".join(
        "two/" + key + ".%s[%s]" % (side, k) for side in ("inputs", "outputs") for k in getattr(work.signature, side)), "-o", out)
    return out, {"two/" + key: (key, {}, {})}


def freeze(work):
    out = work.fresh()
    work.gedit("freeze", work.model.folder, "--signature", work.model.key, "-o", out)
    return out, {work.model.key: (work.model.key, {}, {})}


def freeze_keep(work):
    names = work.gedit("select", work.model.folder, "var:").split()
    if not names:
        return None
    out = work.fresh()
    work.gedit("freeze", work.model.folder, "--signature", work.model.key, "--keep", ",".join(names[::2]), "-o", out)
    return out, {work.model.key: (work.model.key, {}, {})}


def there_and_back(work):
    """SavedModel -> .meta + checkpoint -> SavedModel."""
    if not work.model.tags:
        return None
    first, out = work.fresh(".meta"), work.fresh()
    work.gedit("convert", work.model.folder, "-o", first)
    checkpoint = ["--checkpoint", first[:-5]] if os.path.exists(first[:-5] + ".index") else []
    assets = os.path.join(work.model.folder, "assets")
    if os.path.isdir(assets) and not os.path.isdir(os.path.join(work.scratch, "assets")):
        shutil.copytree(assets, os.path.join(work.scratch, "assets"))
    work.gedit("convert", first, *checkpoint, "--tags", ",".join(work.model.tags), "-o", out + "/")
    return out, work.same_keys()


def as_text(work):
    out = work.fresh()
    work.gedit("convert", work.model.folder, "-f", "pbtxt", "--drop-unknown", "-o", out + "/")
    return out, work.same_keys()


EDITS = [signature_rename, signature_remove, signature_add, rename_all, rename_variables, copy, merge, merge_three, insert, set_device,
         extract, extract_of_merged, freeze, freeze_keep, there_and_back, as_text]


# ------------------------------------------------------------------------------------------------------------- judging
def judge(model, folder, keys):
    asked, want = {}, {}
    for key, (old, inputs, outputs) in sorted(keys.items(), key=lambda item: (item[1][0], item[0])):
        asked[key] = {inputs.get(n, n): v for n, v in model.fed[old].items()}
        want[key] = {outputs.get(n, n): v for n, v in model.want[old].items()}
    # Each key is asked of a model of its own where one call may change what another one answers.
    got = JUDGE.classic(folder, model.tags, asked)
    for key in keys:
        if not JUDGE.same(got[key], want[key]):
            raise Wrong("v1 loader: signature '%s': %s" % (key, describe(got[key], want[key])))
    modern = {k: v for k, v in asked.items() if keys[k][0] in model.modern}
    if not modern:
        return
    got, variables = JUDGE.modern(folder, model.tags, modern)
    for key in modern:
        if not JUDGE.same(got[key], want[key]):
            raise Wrong("tf.saved_model.load: signature '%s': %s" % (key, describe(got[key], want[key])))
    return variables


def describe(got, want):
    if isinstance(got, Exception):
        return "%s: %s" % (type(got).__name__, str(got).strip().splitlines()[0][:300])
    if set(got) != set(want):
        return "outputs %s instead of %s" % (sorted(got), sorted(want))
    return "other numbers: %s instead of %s" % tuple(str({k: str(v[k])[:80] for k in sorted(v)})[:300] for v in (got, want))


def start():
    global JUDGE
    JUDGE = Judge()


def sweep(task):
    """(edits that hold, lines about what is wrong, lines about what was refused)"""
    gedit, folder, edits, diary = task
    shown = os.path.relpath(folder, REPOSITORY)
    held, wrong, refused = 0, [], []
    try:
        model = Model(folder)
    except Exception as error:
        return 0, [], ["%s: TensorFlow does not load it: %s" % (shown, str(error).strip().splitlines()[0][:100])]
    if not model.want:
        return 0, [], ["%s: no signature runs" % shown]
    for edit in edits:
        with open(diary, "w", encoding="utf-8") as file:
            file.write(edit.__name__)
        with tempfile.TemporaryDirectory() as scratch:
            try:
                made = edit(Work(gedit, scratch, model))
                if made is None:
                    continue
                variables = judge(model, *made)
                # What the graph still has is seen in Python, too.
                if variables == 0 and model.variables and edit != there_and_back and \
                        any(n.op == "VarHandleOp" for n in JUDGE.meta_graph(made[0]).graph_def.node):
                    raise Wrong("tf.saved_model.load sees no variables any more")
                held += 1
            except Refused as error:
                refused.append("%s: %s: %s" % (shown, edit.__name__, error))
            except Wrong as error:
                wrong.append("%s: %s: %s" % (shown, edit.__name__, error))
            except Exception as error:
                wrong.append("%s: %s: %s: %s" % (shown, edit.__name__, type(error).__name__, str(error).strip()[:400]))
    return held, wrong, refused


def run(tasks):
    """Gives what sweep() does of each task; a process that TensorFlow ends takes only its model along."""
    while tasks:
        with concurrent.futures.ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn"), start) as pool:
            running = {pool.submit(sweep, task): task for task in tasks}
            try:
                for done in concurrent.futures.as_completed(running):
                    result = done.result()
                    tasks.remove(running[done])
                    yield result
            except concurrent.futures.process.BrokenProcessPool:
                pass
        for task in list(tasks):
            if os.path.exists(task[3]):  # was begun: once more, alone
                with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), start) as pool:
                    tasks.remove(task)
                    try:
                        yield pool.submit(sweep, task).result()
                    except concurrent.futures.process.BrokenProcessPool:
                        with open(task[3], encoding="utf-8") as file:
                            yield 0, ["%s: %s: TensorFlow ended the process" % (os.path.relpath(task[1], REPOSITORY), file.read())], []


def main():
    parser = argparse.ArgumentParser(description="Edits every SavedModel with every command; TensorFlow runs what comes out.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("--edit", action="append", help="only this one")
    parser.add_argument("-v", "--verbose", action="store_true", help="show every refusal")
    parser.add_argument("folders", nargs="*", help="default: testdata/ and the corpus of GEDIT_SHARED, without the largest models")
    arguments = parser.parse_args()
    most_bytes = sys.maxsize if arguments.folders else MOST_BYTES
    models = sorted({m for folder in arguments.folders or folders("corpus") for m in saved_models(folder, most_bytes)},
                    key=lambda m: -max(os.path.getsize(os.path.join(m, f)) for f in os.listdir(m) if f.startswith("saved_model.pb")))
    edits = [e for e in EDITS if not arguments.edit or e.__name__ in arguments.edit]
    began, held, wrong, refused = time.time(), 0, [], []
    with tempfile.TemporaryDirectory() as diaries:
        tasks = [(os.path.abspath(arguments.gedit), model, edits, os.path.join(diaries, str(number)))
                 for number, model in enumerate(models)]
        for one in run(tasks):
            held, wrong, refused = held + one[0], wrong + one[1], refused + one[2]
            for line in one[1]:
                print("wrong: " + line, flush=True)
            for line in one[2] if arguments.verbose else ():
                print("refused: " + line, flush=True)
    print("%d models, %d edits hold, %d refused or not judged, %d wrong; %.0f s" %
          (len(models), held, len(refused), len(wrong), time.time() - began))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
