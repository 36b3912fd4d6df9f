#!/usr/bin/env python3
"""Makes tensorflow.ops.pb: what TensorFlow knows about its ops, embedded into gedit. See README.md.

    make_ops.py dump OUT.pb          in a Python that has TensorFlow: its whole registry as an OpList, without prose
    make_ops.py join NEW.pb OLD.pb OUT.pb     the union: NEW's definition of an op, else OLD's
"""
import sys


def op_list(path=None):
    from tensorflow.core.framework import op_def_pb2

    ops = op_def_pb2.OpList()
    if path:
        ops.ParseFromString(open(path, "rb").read())
    return ops


def save(ops, path):
    ops.op.sort(key=lambda op: op.name)
    with open(path, "wb") as file:
        file.write(ops.SerializeToString(deterministic=True))


def dump(path):
    import glob
    import os

    import tensorflow as tf
    from tensorflow.python.client import pywrap_tf_session as session

    folder = os.path.join(os.path.dirname(tf.__file__), "contrib")  # 1.15 only
    for library in glob.glob(folder + "/**/*.so", recursive=True):
        tf.load_op_library(library)
    ops = op_list()
    ops.ParseFromString(session.TF_GetBuffer(session.TF_GetAllOpList()))
    for op in ops.op:
        op.ClearField("summary")
        op.ClearField("description")
        for part in [*op.input_arg, *op.output_arg, *op.attr]:
            part.ClearField("description")
    save(ops, path)


def join(new, old, path):
    ops = op_list(new)
    known = {op.name for op in ops.op}
    ops.op.extend(op for op in op_list(old).op if op.name not in known)
    save(ops, path)


if __name__ == "__main__":
    {"dump": dump, "join": join}[sys.argv[1]](*sys.argv[2:])
