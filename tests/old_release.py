#!/usr/bin/env python3
"""Runs graphs in the TensorFlow whose libraries scripts/tf-release unpacked into FOLDER, through its C API, without packages.

    old_release.py FOLDER < requests > answers

A request is a line of JSON, {"graph": path, "feeds": {"x:0": [shape, numbers]}, "outputs": ["y:0"]}, everything float32; the
answer {"outputs": [[shape, numbers]]} or {"error": message}. Without outputs the graph is only imported; with "optimized": true
TensorFlow may optimize it before it runs it. The libraries of 1.x
want a Python as old as they are, 3.6 or 3.7.
"""
import ctypes
import glob
import json
import os
import sys

POINTER = ctypes.c_void_p
FLOAT = 1


def message(number, content):
    return bytes([number << 3 | 2, len(content)]) + content


# ConfigProto.graph_options: optimizer_options.opt_level L0, rewrite_options.disable_meta_optimizer. The optimizers of some releases
# take a Merge apart whose value is returned ("Retval does not have value"), and others hide faults.
LEVEL_0 = b"\x18" + b"\xff" * 9 + b"\x01"
PLAINLY = message(10, message(3, LEVEL_0) + message(10, b"\x98\x01\x01"))


class Output(ctypes.Structure):
    _fields_ = [("operation", POINTER), ("index", ctypes.c_int)]


class Release:
    def __init__(self, folder):
        framework = sorted(glob.glob(folder + "/**/libtensorflow_framework.so*", recursive=True))
        for path in framework[:1]:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL | os.RTLD_LAZY)
        found, why = None, "no library in " + folder
        for path in (sorted(glob.glob(folder + "/**/libtensorflow_cc.so.*", recursive=True)) +
                     glob.glob(folder + "/**/_pywrap_tensorflow_internal.so", recursive=True)):
            try:
                found = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL | os.RTLD_LAZY)
                found.TF_GraphImportGraphDef  # noqa: B018
                break
            except (OSError, AttributeError) as error:
                found, why = None, str(error)
        if found is None:
            raise SystemExit(why)
        self.tf = found
        for name in ("TF_NewGraph", "TF_NewStatus", "TF_NewImportGraphDefOptions", "TF_NewBufferFromString", "TF_NewSession",
                     "TF_NewSessionOptions", "TF_GraphOperationByName", "TF_AllocateTensor", "TF_TensorData"):
            getattr(found, name).restype = POINTER
        found.TF_Message.restype = ctypes.c_char_p
        found.TF_Dim.restype = ctypes.c_int64
        found.TF_TensorByteSize.restype = ctypes.c_size_t
        self.status = POINTER(found.TF_NewStatus())

    def check(self):
        if self.tf.TF_GetCode(self.status) != 0:
            raise RuntimeError((self.tf.TF_Message(self.status) or b"").decode(errors="replace")[:400])

    def load(self, path):
        with open(path, "rb") as file:
            data = file.read()
        graph = POINTER(self.tf.TF_NewGraph())
        buffer = POINTER(self.tf.TF_NewBufferFromString(data, ctypes.c_size_t(len(data))))
        options = POINTER(self.tf.TF_NewImportGraphDefOptions())
        self.tf.TF_GraphImportGraphDef(graph, buffer, options, self.status)
        self.check()
        return graph

    def tensor(self, shape, numbers):
        dims = (ctypes.c_int64 * len(shape))(*shape)
        size = ctypes.c_size_t(4 * len(numbers))
        made = POINTER(self.tf.TF_AllocateTensor(FLOAT, dims, len(shape), size))
        ctypes.memmove(self.tf.TF_TensorData(made), (ctypes.c_float * len(numbers))(*numbers), size.value)
        return made

    def numbers(self, tensor):
        shape = [self.tf.TF_Dim(tensor, i) for i in range(self.tf.TF_NumDims(tensor))]
        count = self.tf.TF_TensorByteSize(tensor) // 4
        data = ctypes.cast(self.tf.TF_TensorData(tensor), ctypes.POINTER(ctypes.c_float))
        return [shape, [data[i] for i in range(count)]]

    def outputs(self, graph, names):
        made = (Output * len(names))()
        for i, name in enumerate(names):
            node, _, index = name.partition(":")
            made[i].operation = self.tf.TF_GraphOperationByName(graph, node.encode())
            made[i].index = int(index or 0)
        return made

    def run(self, request):
        graph = self.load(request["graph"])
        if not request.get("outputs"):
            return []
        options = POINTER(self.tf.TF_NewSessionOptions())
        if not request.get("optimized"):
            self.tf.TF_SetConfig(options, PLAINLY, ctypes.c_size_t(len(PLAINLY)), self.status)
            self.check()
        session = POINTER(self.tf.TF_NewSession(graph, options, self.status))
        self.check()
        feeds = sorted(request["feeds"].items())
        values = (POINTER * len(feeds))(*[self.tensor(*value) for _, value in feeds])
        wanted = request["outputs"]
        results = (POINTER * len(wanted))()
        self.tf.TF_SessionRun(session, None, self.outputs(graph, [name for name, _ in feeds]), values, len(feeds),
                              self.outputs(graph, wanted), results, len(wanted), None, 0, None, self.status)
        self.check()
        return [self.numbers(POINTER(result)) for result in results]


def main():
    release = Release(sys.argv[1])
    for line in sys.stdin:
        try:
            answer = {"outputs": release.run(json.loads(line))}
        except RuntimeError as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)
    os._exit(0)  # the libraries of some releases crash at their end


if __name__ == "__main__":
    main()
