#!/usr/bin/env python3
"""Writes TF2 SavedModels to time edits with: much of variables, or many functions and objects. Needs TensorFlow.

  make_saved_models.py FOLDER    FOLDER/weights: 1 GB of variables; FOLDER/objects: 1,500 functions, 5,000 saved objects
"""
import os
import sys

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import tensorflow as tf

FUNCTIONS, OBJECTS, WEIGHTS = 1500, 5000, 64  # WEIGHTS: matrices of 16 MB


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
    """A module with a variable, of which every third has a function of its own that the next one calls."""

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
        for number in range(FUNCTIONS // 2):
            before = Part(number, before)
            self.parts.append(before)
        self.others = [tf.Module() for _ in range(OBJECTS - 5 * FUNCTIONS // 2)]
        for number, other in enumerate(self.others):
            other.name_ = number

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="x")])
    def serve(self, x):
        return {"y": sum((part.f(x) for part in self.parts), 0.)}


def main():
    weights, objects = Weights(), Objects()
    tf.saved_model.save(weights, os.path.join(sys.argv[1], "weights"), signatures={"serving_default": weights.serve})
    tf.saved_model.save(objects, os.path.join(sys.argv[1], "objects"), signatures={"serving_default": objects.serve})


if __name__ == "__main__":
    main()
