"""TensorFlow as it computes op by op: quiet, on the CPU, without oneDNN. To be imported before TensorFlow is."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
from tensorflow.core.protobuf import config_pb2  # noqa: E402


def bare_config():
    """A ConfigProto for sessions of one thread in which TensorFlow's own optimizers are off."""
    config = config_pb2.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    return config
