#!/usr/bin/env python3
"""gedit checkpoint export and import against numpy, safetensors and TensorFlow: every number, bit by bit, both ways.

Every checkpoint of testdata/, and of GEDIT_SHARED where that is given. Without the Python package safetensors its part is left out.
"""
import glob
import os
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import program

try:
    from safetensors import safe_open
    from safetensors.numpy import save_file
except ImportError:
    safe_open = None

GEDIT = None
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OBJECT_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


def gedit(*arguments, status=0):
    result = subprocess.run([GEDIT, "checkpoint", *arguments], capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode == status, (arguments, result.returncode, result.stderr)
    return result


def checkpoints():
    roots = [os.path.join(SOURCE, "testdata")]
    if os.environ.get("GEDIT_SHARED"):
        roots += [os.path.join(os.environ["GEDIT_SHARED"], name) for name in ("corpus", "oracle")]
    found = set()
    for root in roots:
        for index in glob.glob(os.path.join(root, "**", "*.index"), recursive=True):
            found.add(index[:-len(".index")])
    return sorted(found)


def bits(array):
    return (array.dtype.name, array.shape, np.ascontiguousarray(array).tobytes())


def values_of(prefix):
    """The numbers of a checkpoint, as TensorFlow reads them; nothing where it cannot."""
    try:
        reader = tf.train.load_checkpoint(prefix)
        # TensorFlow shows quantized numbers as integers; no format keeps their type, so that they stay behind.
        names = [name for name, dtype in reader.get_variable_to_dtype_map().items() if not dtype.is_quantized]
        arrays = {name: np.asarray(reader.get_tensor(name)) for name in names if name != OBJECT_GRAPH}
    except (tf.errors.OpError, ValueError, IndexError):
        return None
    return {name: array for name, array in arrays.items() if array.dtype.kind not in "OSUV" or array.dtype.name == "bfloat16"}


def folder_arrays(folder):
    paths = [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names]
    return {os.path.relpath(path, folder)[:-4]: np.load(path) for path in paths}


class Weights(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def same(self, found, wanted, what):
        self.assertEqual(sorted(found), sorted(wanted), what)
        for name, array in wanted.items():
            self.assertEqual(bits(np.asarray(found[name])), bits(array), f"{what}: {name}")

    def test_every_checkpoint(self):
        seen = 0
        for prefix in checkpoints():
            wanted = values_of(prefix)
            if wanted is None:
                continue
            seen += 1
            numpys = {name: array for name, array in wanted.items() if array.dtype.name in np.sctypeDict and array.dtype.name != "bfloat16"}
            with self.subTest(prefix=prefix):
                gedit("export", prefix, "--skip", "-O", "-q", "-o", self.path("w.npz"))
                with np.load(self.path("w.npz")) as loaded:
                    self.same({name: loaded[name] for name in loaded.files}, numpys, "npz")
                self.assertIsNone(zipfile.ZipFile(self.path("w.npz")).testzip())
                gedit("export", prefix, "--skip", "-O", "-q", "-o", self.path("folder") + "/")
                if not any("%" in name for name in numpys):
                    self.same(folder_arrays(self.path("folder")), numpys, "npy")
                real = {name: array for name, array in wanted.items() if array.dtype.kind != "c"}
                gedit("export", prefix, "--skip", "-O", "-q", "-o", self.path("w.safetensors"))
                if safe_open is not None:
                    with safe_open(self.path("w.safetensors"), framework="numpy") as file:
                        self.same({name: file.get_tensor(name) for name in file.keys() if real[name].dtype.name != "bfloat16"},
                                  {name: array for name, array in real.items() if array.dtype.name != "bfloat16"}, "safetensors")
                        self.assertEqual(file.metadata(), {"format": "tf"})
                for file, part in (("w.npz", numpys), ("folder/", numpys), ("w.safetensors", real)):
                    if not part:
                        continue
                    gedit("import", self.path(file), "-O", "-q", "-o", self.path("back"))
                    self.same(values_of(self.path("back")), part, "from " + file)
                    gedit("import", self.path(file), "--into", prefix, "--partly", "-O", "-q", "-o", self.path("into"))
                    self.same(values_of(self.path("into")), wanted, "into from " + file)
        self.assertGreater(seen, 5)

    def test_from_numpy(self):
        rng = np.random.default_rng(1)
        arrays = {"a/b": rng.standard_normal((3, 5)).astype(np.float32), "fortran": np.asfortranarray(rng.standard_normal((7, 3, 4))),
                  "big": np.arange(12, dtype=">i4").reshape(3, 4), "scalar": np.float16(1.5), "none": np.zeros((0, 3), np.int64),
                  "flags": np.array([True, False]), "complex": np.array([1 + 2j], np.complex64), "u": np.array([1, 2], np.uint16)}
        wanted = {name: np.asarray(array).astype(np.asarray(array).dtype.newbyteorder("=")) for name, array in arrays.items()}
        for save in (np.savez, np.savez_compressed):
            save(self.path("in.npz"), **arrays)
            gedit("import", self.path("in.npz"), "-O", "-q", "-o", self.path("model"))
            self.same(values_of(self.path("model")), wanted, save.__name__)

    def test_large_fortran(self):
        array = np.asfortranarray(np.random.default_rng(2).standard_normal((1500, 1300, 2)))
        np.savez(self.path("in.npz"), a=array)
        gedit("import", self.path("in.npz"), "-q", "-o", self.path("model"))
        self.same(values_of(self.path("model")), {"a": array}, "large")
        gedit("import", self.path("in.npz"), "--transpose", "a=2,0,1", "-q", "-o", self.path("turned"))
        self.same(values_of(self.path("turned")), {"a": array.transpose(2, 0, 1)}, "turned")

    @unittest.skipIf(safe_open is None, "no package safetensors")
    def test_from_safetensors(self):
        import ml_dtypes
        arrays = {"w": np.arange(6, dtype=np.float32).reshape(2, 3), "h": np.array([1, 2], np.float16), "b": np.array([True]),
                  "i": np.array(7, np.int64), "bf": np.array([1.5, -2], ml_dtypes.bfloat16)}
        save_file(arrays, self.path("in.safetensors"), metadata={"a": "b"})
        gedit("import", self.path("in.safetensors"), "-q", "-o", self.path("model"))
        self.same(values_of(self.path("model")), arrays, "safetensors")

    def test_cast(self):
        """As TensorFlow's Cast: every number of 16 bits, and a million of 32; a NaN stays some NaN."""
        rng = np.random.default_rng(4)
        floats = rng.integers(0, 2**32, 1_000_000, dtype=np.uint32).view(np.float32)
        near = np.arange(2**16, dtype=np.uint32)
        near = np.concatenate([(near << 16), (near << 16) + 0x7FFF, (near << 16) + 0x8000, (near << 16) + 0x8001]).view(np.float32)
        half = np.arange(2**16, dtype=np.uint16).view(np.float16)
        bfloat16 = tf.bitcast(tf.constant(np.arange(2**16, dtype=np.uint16)), tf.bfloat16)
        doubles = np.concatenate([rng.integers(0, 2**63, 100_000).view(np.float64), near.astype(np.float64) * (1 + 1e-12)])
        inputs = {"floats": tf.constant(np.concatenate([floats, near])), "half": tf.constant(half), "bfloat16": bfloat16,
                  "doubles": tf.constant(doubles)}
        tf.raw_ops.SaveV2(prefix=self.path("all"), tensor_names=list(inputs), shape_and_slices=[""] * len(inputs),
                          tensors=list(inputs.values()))
        for to in (tf.float16, tf.bfloat16, tf.float32, tf.float64):
            gedit("cast", self.path("all"), "--to", to.name, "-q", "-O", "-o", self.path("cast"))
            reader = tf.train.load_checkpoint(self.path("cast"))
            for name, value in inputs.items():
                wanted, found = tf.cast(value, to).numpy(), reader.get_tensor(name)
                self.assertEqual(found.dtype, wanted.dtype)
                width = np.dtype(f"u{found.dtype.itemsize}")
                # TensorFlow's kernels flush what is denormal in float32 on its way from or to double; gedit keeps it.
                size = np.abs(value.numpy().astype(np.float64))
                kept = (size > 0) & (size < 2.0**-125) & (to == tf.float64 or name == "doubles")
                differ = ~kept & (found.view(width) != wanted.view(width)) & ~(np.isnan(found.astype(np.float64)) & np.isnan(wanted.astype(np.float64)))
                self.assertEqual(int(differ.sum()), 0, (name, to.name, value.numpy()[differ][:5]))

    def test_average(self):
        rng = np.random.default_rng(5)
        for dtype in (np.float16, np.float32, np.float64):
            arrays = [rng.standard_normal(10_000).astype(dtype) for _ in range(3)]
            for i, array in enumerate(arrays):
                np.savez(self.path(f"{i}.npz"), a=array)
                gedit("import", self.path(f"{i}.npz"), "-q", "-O", "-o", self.path(str(i)))
            gedit("average", self.path("0"), self.path("1"), self.path("2"), "-q", "-O", "-o", self.path("mean"))
            mean = np.mean(np.stack(arrays).astype(np.float64), axis=0).astype(dtype)
            self.same(values_of(self.path("mean")), {"a": mean}, "mean")

    def test_rekey(self):
        """What a Saver wrote restores into the objects of a SavedModel, all of it, and the other way round."""
        class Net(tf.Module):
            def __init__(self, name):
                super().__init__(name=name)
                self.w = tf.Variable(tf.random.normal([3, 2]), name="dense/kernel")
                self.more = [tf.Variable(tf.random.normal([2]), name="dense/bias"), tf.Variable(7, name="step")]

            @tf.function(input_signature=[tf.TensorSpec([None, 3])])
            def __call__(self, x):
                return x @ self.w + self.more[0]

        net, other = Net("a"), Net("b")
        tf.saved_model.save(net, self.path("model"))
        values = {"dense/kernel": other.w, "dense/bias": other.more[0], "step": other.more[1]}
        tf.raw_ops.SaveV2(prefix=self.path("named"), tensor_names=list(values), shape_and_slices=[""] * len(values),
                          tensors=[value.read_value() for value in values.values()])
        gedit("rekey", self.path("named"), "--model", self.path("model"), "-q", "-o", self.path("objects"))
        status = tf.train.Checkpoint(w=net.w, more=net.more).read(self.path("objects"))
        status.assert_existing_objects_matched()
        self.assertEqual(bits(net.w.numpy()), bits(other.w.numpy()))
        self.assertEqual(bits(net.more[0].numpy()), bits(other.more[0].numpy()))
        written = tf.train.Checkpoint(w=other.w, more=other.more).save(self.path("written"))
        gedit("rekey", written, "-q", "-o", self.path("names"))
        found = values_of(self.path("names"))
        self.assertEqual(found.pop("save_counter"), 1)
        self.same(found, {name: value.numpy() for name, value in values.items()}, "names")
        gedit("rekey", self.path("names"), "--model", self.path("model"), "-q", "-o", self.path("no"), status=1)
        gedit("rekey", self.path("names"), "--model", written, "-q", "-o", self.path("again"))
        tf.train.Checkpoint(w=net.w, more=net.more).restore(self.path("again")).assert_consumed()
        optimizer = tf.keras.optimizers.Adam()
        model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(2, name="one"), tf.keras.layers.Dense(1, name="two")])
        model.compile(optimizer, "mse")
        model.fit(np.ones([4, 3], np.float32), np.ones([4, 1], np.float32), verbose=0)
        keras = tf.train.Checkpoint(model=model).save(self.path("keras"))
        gedit("rekey", keras, "-q", "-o", self.path("keras_names"))
        gedit("rekey", self.path("keras_names"), "--model", keras, "-q", "-o", self.path("keras_again"))
        self.same(values_of(self.path("keras_again")), values_of(keras), "keras")
        tf.train.Checkpoint(model=model).restore(self.path("keras_again")).assert_consumed()

    def test_partition(self):
        """Slices that import makes are what a partitioned variable restores."""
        array = np.random.default_rng(8).standard_normal((7, 3)).astype(np.float32)
        np.savez(self.path("in.npz"), w=array)
        gedit("import", self.path("in.npz"), "--partition", "w=3", "-q", "-o", self.path("model"))
        self.same(values_of(self.path("model")), {"w": array}, "whole")
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            w = tf.compat.v1.get_variable("w", [7, 3], partitioner=tf.compat.v1.fixed_size_partitioner(3))
            tf.compat.v1.train.Saver([w]).restore(session, self.path("model"))
            self.assertEqual(bits(session.run(tf.convert_to_tensor(w))), bits(array))
            tf.compat.v1.train.Saver([w]).save(session, self.path("back"), write_meta_graph=False)
        gedit("diff", self.path("model"), self.path("back"))
        with open(self.path("model.index"), "rb") as ours, open(self.path("back.index"), "rb") as theirs:
            self.assertEqual(ours.read(), theirs.read())

    def test_cast_graph(self):
        """A graph whose weights were cast gives what it gives with weights that TensorFlow casts; its savers go on."""
        v1 = tf.compat.v1
        rng = np.random.default_rng(9)
        x = rng.standard_normal((4, 6)).astype(np.float32)

        def edit(*arguments):
            result = subprocess.run([GEDIT, *arguments, "-q"], capture_output=True, text=True, timeout=600, check=False)
            assert result.returncode == 0, (arguments, result.stderr)

        with tf.Graph().as_default(), v1.Session() as session:
            place = v1.placeholder(tf.float32, [None, 6], "x")
            w = v1.get_variable("w", [6, 3], initializer=v1.random_normal_initializer(seed=1), use_resource=False)
            b = v1.get_variable("b", [3], initializer=v1.random_normal_initializer(seed=2), use_resource=True)
            parts = v1.get_variable("parts", [3, 2], partitioner=v1.fixed_size_partitioner(2), initializer=v1.random_normal_initializer(seed=3))
            step = v1.get_variable("step", [], tf.int64, initializer=v1.ones_initializer())
            tf.add(tf.matmul(tf.matmul(place, w) + b, parts), tf.cast(step, tf.float32), name="y")
            session.run(v1.global_variables_initializer())
            values = {name: np.array(session.run(name)) for name in ("w:0", "b/Read/ReadVariableOp:0", "parts/part_0/Read/ReadVariableOp:0", "parts/part_1/Read/ReadVariableOp:0")}
            v1.train.Saver().save(session, self.path("m"))
            frozen = v1.graph_util.convert_variables_to_constants(session, session.graph_def, ["y"])
        with open(self.path("frozen.pb"), "wb") as file:
            file.write(frozen.SerializeToString())
        with v1.Session(graph=tf.Graph()) as session:
            v1.saved_model.load(session, ["serve"], os.path.join(SOURCE, "testdata/half_plus_two"))
            wanted_half = session.run("y:0", {"x:0": [[1.0], [2.0]]})
        for to in ("float16", "bfloat16"):
            cast = {name: tf.cast(tf.cast(tf.constant(value.tolist(), tf.float32), to), tf.float32).numpy() for name, value in values.items()}
            with tf.Graph().as_default(), v1.Session() as session:
                v1.train.import_meta_graph(self.path("m.meta")).restore(session, self.path("m"))
                for name, value in cast.items():
                    variable = [one for one in v1.global_variables() if one.name.split(":")[0] == name.split(":")[0].replace("/Read/ReadVariableOp", "")][0]
                    variable.load(value, session)
                wanted = session.run("y:0", {"x:0": x})
            edit("cast", self.path("m.meta"), "--weights", to, "-O", "-o", self.path("cast.meta"))
            self.assertLess(os.path.getsize(self.path("cast.data-00000-of-00001")), os.path.getsize(self.path("m.data-00000-of-00001")) * 0.6 + 8)
            with tf.Graph().as_default(), v1.Session() as session:
                saver = v1.train.import_meta_graph(self.path("cast.meta"))
                saver.restore(session, self.path("cast"))
                self.assertEqual(bits(session.run("y:0", {"x:0": x})), bits(wanted))
                saver.save(session, self.path("again"), write_meta_graph=False)
                saver.restore(session, self.path("again"))
                self.assertEqual(bits(session.run("y:0", {"x:0": x})), bits(wanted))
            gedit("diff", self.path("cast"), self.path("again"))
            edit("cast", self.path("frozen.pb"), "--weights", to, "-O", "-o", self.path("cast.pb"))
            graph_def = v1.GraphDef()
            with open(self.path("cast.pb"), "rb") as file:
                graph_def.ParseFromString(file.read())
            with tf.Graph().as_default(), v1.Session() as session:
                tf.import_graph_def(graph_def, name="")
                self.assertEqual(bits(session.run("y:0", {"x:0": x})), bits(wanted))
            edit("cast", os.path.join(SOURCE, "testdata/half_plus_two"), "--weights", to, "-O", "-o", self.path("saved"))
            with v1.Session(graph=tf.Graph()) as session:
                v1.saved_model.load(session, ["serve"], self.path("saved"))
                self.assertEqual(bits(session.run("y:0", {"x:0": [[1.0], [2.0]]})), bits(wanted_half))  # 0.5 and 2 lose nothing
        # In the functions of TensorFlow 2, frozen.
        weight = rng.standard_normal((6, 2)).astype(np.float32)

        @tf.function(input_signature=[tf.TensorSpec([None, 6])])
        def inner(value):
            return tf.matmul(value, tf.constant(weight)), tf.constant(weight)

        @tf.function(input_signature=[tf.TensorSpec([None, 6], name="x")])
        def outer(value):
            return tf.identity(inner(value)[0], name="out")

        concrete = outer.get_concrete_function()
        with open(self.path("functions.pb"), "wb") as file:
            file.write(concrete.graph.as_graph_def().SerializeToString())
        edit("cast", self.path("functions.pb"), "--weights", "float16", "-o", self.path("functions16.pb"))
        with open(self.path("functions16.pb"), "rb") as file:
            graph_def = v1.GraphDef.FromString(file.read())
        with tf.Graph().as_default(), v1.Session() as session:
            tf.import_graph_def(graph_def, name="")
            got = session.run("out:0", {"x:0": x})
        wanted = x @ weight.astype(np.float16).astype(np.float32)
        self.assertLess(np.abs(got - wanted).max(), 1e-5)
        self.assertGreater(np.abs(got - x @ weight).max(), 1e-5)

    def test_damaged_safetensors(self):
        def write(header, data=b"", length=None):
            text = header if isinstance(header, bytes) else header.encode()
            with open(self.path("bad.safetensors"), "wb") as file:
                file.write(struct.pack("<Q", len(text) if length is None else length) + text + data)

        def entry(begin, end, shape="[2]", dtype="F32"):
            return '{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' % (dtype, shape, begin, end)

        bad = [('{"a":%s,"b":%s}' % (entry(0, 8), entry(4, 12)), b"x" * 12), ('{"a":%s,"b":%s}' % (entry(0, 8), entry(12, 20)), b"x" * 20),
               ('{"a":%s}' % entry(0, 8), b"x" * 7), ('{"a":%s}' % entry(0, 8), b"x" * 9), ('{"a":%s}' % entry(0, 12), b"x" * 12),
               ('{"a":%s,"a":%s}' % (entry(0, 8), entry(8, 16)), b"x" * 16), ('{"a":%s}' % entry(0, 8, dtype="Q9"), b"x" * 8),
               ('{"a":%s}' % entry(0, 8, "[4611686018427387904,4]"), b"x" * 8), ('{"a":%s' % entry(0, 8), b"x" * 8),
               ('{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}', b"x" * 8), ('{"a":{"dtype":"F32","shape":[2]}}', b"x" * 8),
               ('{"a":[1]}', b""), ('{"a":%s}' % entry(0, 8, "[-2]"), b"x" * 8), ('{"a":%s}' % entry(0, 8, "[[2]]"), b"x" * 8), ("[]", b""),
               ('{"a":%s}' % entry(0, 8, "[2.0]"), b"x" * 8), ('{"__metadata__":{"a":1}}', b"")]
        for header, data in bad:
            write(header, data)
            result = gedit("import", self.path("bad.safetensors"), "-o", self.path("out"), status=3)
            self.assertEqual(result.stderr.count("\n"), 1, (header, result.stderr))
        for length in (100_000_001, 2**63, 50):
            write("{}", b"", length)
            gedit("import", self.path("bad.safetensors"), "-o", self.path("out"), status=3)

    def test_damaged_npz(self):
        np.savez(self.path("good.npz"), a=np.arange(1000, dtype=np.float32), b=np.arange(5))
        np.savez_compressed(self.path("packed.npz"), a=np.arange(1000, dtype=np.float32), b=np.arange(5))
        rng = np.random.default_rng(3)
        for name in ("good.npz", "packed.npz"):
            with open(self.path(name), "rb") as file:
                good = file.read()
            for i in range(300):
                bad = bytearray(good)
                if i % 3 == 0:
                    del bad[int(rng.integers(len(bad))):]
                else:
                    for _ in range(int(rng.integers(1, 4))):
                        place = int(rng.integers(len(bad)))
                        if i % 3 == 2:
                            place = len(bad) - 1 - place % 200
                        bad[place] = int(rng.integers(256))
                with open(self.path("bad.npz"), "wb") as file:
                    file.write(bad)
                result = subprocess.run([GEDIT, "checkpoint", "import", self.path("bad.npz"), "-O", "-o", self.path("out")],
                                        capture_output=True, text=True, timeout=60, check=False)
                self.assertIn(result.returncode, (0, 3), result.stderr)
                if result.returncode == 3:
                    self.assertEqual(result.stderr.count("\n"), 1, result.stderr)


if __name__ == "__main__":
    GEDIT = program.under_test()
    unittest.main()
