#!/usr/bin/env python3
"""Writes TF2 SavedModels to time edits with: much of variables, or many functions and objects. Needs TensorFlow.

  make_saved_models.py FOLDER    FOLDER/weights: 1 GB of variables; FOLDER/objects: 1,500 functions, 6,000 saved objects
"""
import os
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow as tf

FUNCTIONS, WEIGHTS = 1500, 64  # WEIGHTS: matrices of 16 MB


class Weights(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [tf.Variable(tf.zeros([2048, 2048]), name="w%d" % i) for i in range(WEIGHTS)]

    @tf.function(input_signature=[tf.TensorSpec([None, 2048], tf.float32, name="x")])
    def serve(self, x):
        for layer in self.layers:
            x = tf.matmul(x, layer)
        return {"y": x}


class Part(tf.Module):
    """A module with a variable and a function that calls the one before it; four saved objects."""

    def __init__(self, number, before):
        super().__init__()
        self.scale = tf.Variable(float(number), name="scale")
        if before is not None:
            self.f = tf.function(lambda x: (before.f(x) if number % 30 else x) * self.scale,
                                 input_signature=[tf.TensorSpec([], tf.float32, name="x")])
        else:
            self.f = tf.function(lambda x: x + self.scale, input_signature=[tf.TensorSpec([], tf.float32, name="x")])


class Objects(tf.Module):
    def __init__(self):
        super().__init__()
        self.parts, before = [], None
        for number in range(FUNCTIONS):
            before = Part(number, before)
            self.parts.append(before)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="x")])
    def serve(self, x):
        return {"y": sum((part.f(x) for part in self.parts), 0.)}


def main():
    for name, kind in (("weights", Weights), ("objects", Objects)):
        folder = os.path.join(sys.argv[1], name)
        if not os.path.exists(folder):
            model = kind()
            tf.saved_model.save(model, folder, signatures={"serving_default": model.serve})


if __name__ == "__main__":
    main()
