#!/usr/bin/env python3
"""Makes the files that are measured: the same bytes each time, with nothing but Python's own library.

    make_graphs.py OUT [nodes] [weights] [keys] [values]          all four where none is named: 3.4 GB

nodes    nodes_1m.pb     a GraphDef of 1,000,001 small nodes (--nodes N: another number), and nodes_100k.pb of a tenth
weights  weights_1g.pb   a GraphDef of 100 layers, 10 MB of weights each (--megabytes)
keys     keys_100k       a checkpoint of 100,000 tensors of 16 bytes (--keys)
values   values_a, values_b    two checkpoints of 200 tensors, 1 GB each (--megabytes)

A file that is there is kept; --force makes it anew. The wire format of protobuf and the table format of a checkpoint's
index are written here by hand, so that no TensorFlow is needed and nothing of gedit measures itself.
"""
import argparse
import array
import os
import random
import struct
import sys

DT_FLOAT, DT_STRING = 1, 7
BLOCK_NODES = 5

# --- protobuf ----------------------------------------------------------------------------------------------------------


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number_field(field, number):
    return varint(field << 3) + varint(number)


def bytes_field(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def shape_message(sizes):
    return b"".join(bytes_field(2, number_field(1, size)) for size in sizes)


def attr(key, value):
    return bytes_field(5, bytes_field(1, key) + bytes_field(2, value))


def type_attr(key, dtype=DT_FLOAT):
    return attr(key, number_field(6, dtype))


def string_attr(key, text):
    return attr(key, bytes_field(2, text))


def ints_attr(key, numbers):
    return attr(key, bytes_field(1, bytes_field(3, b"".join(map(varint, numbers))) if numbers else b""))


def node(name, op, inputs=(), attrs=b""):
    """One NodeDef, as the field of a GraphDef."""
    content = bytes_field(1, name) + bytes_field(2, op) + b"".join(bytes_field(3, text) for text in inputs)
    return bytes_field(1, content + attrs)


def placeholder(name, sizes):
    return node(name, b"Placeholder", (), type_attr(b"dtype") + attr(b"shape", bytes_field(7, shape_message(sizes))))


def const_head(name, sizes, length):
    """A Const of floats up to where its bytes begin; they end the record."""
    tensor = number_field(1, DT_FLOAT) + bytes_field(2, shape_message(sizes)) + varint(4 << 3 | 2) + varint(length)

    def around(field, before, inner):  # a field whose content is `before`, then bytes that follow later
        return varint(field << 3 | 2) + varint(len(before) + inner) + before

    value = around(8, tensor, length)
    entry = around(2, value, length)
    entry = around(5, bytes_field(1, b"value") + entry, length)
    content = bytes_field(1, name) + bytes_field(2, b"Const") + type_attr(b"dtype") + entry
    return around(1, content, length)


def versions(producer, least_consumer=0):
    return bytes_field(4, number_field(1, producer) + (number_field(2, least_consumer) if least_consumer else b""))


# --- graphs ------------------------------------------------------------------------------------------------------------

T = type_attr(b"T")
SHAPES = attr(b"_output_shapes", bytes_field(1, bytes_field(7, shape_message((1, 8, 8, 4)))))  # as many exports have
CONV_ATTRS = (T + SHAPES + string_attr(b"data_format", b"NHWC") + ints_attr(b"dilations", [1] * 4) +
              ints_attr(b"explicit_paddings", []) + string_attr(b"padding", b"SAME") + ints_attr(b"strides", [1] * 4) +
              attr(b"use_cudnn_on_gpu", number_field(5, 1)))


def scope(i):
    """Of block i; as long as those of real networks of that size."""
    return f"resnet_v2_50/stage_{i // 1000}/block_{i}/bottleneck".encode()


def output_of_block(i):
    return scope(i) + b"/Relu"


def middle(nodes):
    """The node of a graph of that many nodes that half of it is needed for."""
    return output_of_block(nodes // (2 * BLOCK_NODES) - 1).decode()


def last(nodes):
    """The node of a graph of that many nodes that all of it is needed for."""
    return output_of_block(nodes // BLOCK_NODES - 1).decode()


def read_of(const):
    return node(const + b"/read", b"Identity", (const,), T + attr(b"_class", bytes_field(1, bytes_field(2, b"loc:@" + const))))


def small_kernel(i):
    return array.array("f", [(i * 31 + j * 7) % 61 / 64 - 0.4 for j in range(16)]).tobytes()


def block(i):
    here = scope(i)
    before = output_of_block(i - 1) if i else b"input"
    kernel = here + b"/conv/kernel"
    conv, total = here + b"/conv/Conv2D", here + b"/add"
    return b"".join((
        const_head(kernel, (1, 1, 4, 4), 64), small_kernel(i),
        read_of(kernel),
        node(conv, b"Conv2D", (before, kernel + b"/read"), CONV_ATTRS),
        node(total, b"AddV2", (conv, before), T + SHAPES),
        node(here + b"/Relu", b"Relu", (total,), T + SHAPES),
    ))


def write_nodes(out, nodes):
    """One chain of residual blocks, input -> block 0 -> ... : as deep as it is long, and half of it is a closure."""
    out.write(placeholder(b"input", (1, 8, 8, 4)))
    for i in range(nodes // BLOCK_NODES):
        out.write(block(i))
    out.write(versions(134, 12))


def gaussians(seed, count=1 << 20):
    source = random.Random(seed)
    return array.array("f", (source.gauss(0, 1) for _ in range(count))).tobytes()


def tensor_of(pool, i, length):
    """`length` bytes that begin elsewhere in the pool for each i."""
    start = i * 40009 * 4 % len(pool)
    turned = pool[start:] + pool[:start]
    return (turned * (length // len(turned) + 1))[:length]


def write_weights(out, megabytes):
    """100 layers: a square matrix, its read, MatMul, Relu."""
    layers = 100
    side = int((megabytes * 1_000_000 / layers / 4) ** 0.5)
    pool = gaussians(1)
    out.write(placeholder(b"input", (1, side)))
    for i in range(layers):
        name = f"dense_{i}".encode()
        kernel = name + b"/kernel"
        out.write(const_head(kernel, (side, side), side * side * 4))
        out.write(tensor_of(pool, i, side * side * 4))
        out.write(read_of(kernel))
        before = f"dense_{i - 1}/Relu".encode() if i else b"input"
        out.write(node(name + b"/MatMul", b"MatMul", (before, kernel + b"/read"), T))
        out.write(node(name + b"/Relu", b"Relu", (name + b"/MatMul",), T))
    out.write(versions(134))


# --- checkpoints -------------------------------------------------------------------------------------------------------


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = crc_table()


def masked_crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class Table:
    """A sorted string table as tensorflow/core/util/tensor_bundle/tensor_bundle.cc writes it: blocks of 256 KiB, raw."""

    BLOCK_BYTES, RESTART_EVERY = 262144, 16

    def __init__(self, out):
        self.out, self.handles, self.records = out, [], []
        self.size, self.at = 0, 0

    def add(self, key, value):
        self.records.append((key, value))
        self.size += len(key) + len(value) + 3
        if self.size >= self.BLOCK_BYTES:
            self.flush()

    def flush(self):
        if self.records:
            # Any key from the last one up to the next block's first will do: the last one does.
            self.handles.append((self.records[-1][0], self.write_block(self.records, self.RESTART_EVERY)))
        self.records, self.size = [], 0

    def write_block(self, records, restart_every):
        content, restarts, before = bytearray(), [], b""
        for i, (key, value) in enumerate(records):
            shared = 0
            if i % restart_every == 0:
                restarts.append(len(content))
            else:
                shared = len(os.path.commonprefix((before, key)))
            content += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
            before = key
        restarts = restarts or [0]
        content += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts)) + b"\0"
        handle = varint(self.at) + varint(len(content) - 1)
        self.out.write(content + struct.pack("<I", masked_crc32c(content)))
        self.at += len(content) + 4
        return handle

    def finish(self):
        self.flush()
        meta = self.write_block([], 1)
        index = self.write_block(self.handles, 1)
        self.out.write((meta + index).ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57))


def write_checkpoint(prefix, tensors):
    """`tensors`: (name, shape, bytes, masked crc32c of them) by ascending name."""
    index_path, data_path = prefix + ".index", prefix + ".data-00000-of-00001"
    with open(index_path + ".part", "wb") as index, open(data_path + ".part", "wb") as data:
        table = Table(index)
        table.add(b"", number_field(1, 1) + bytes_field(3, number_field(1, 1)))
        offset = 0
        for name, sizes, content, crc in tensors:
            entry = number_field(1, DT_FLOAT) + bytes_field(2, shape_message(sizes))
            entry += number_field(4, offset) if offset else b""
            entry += number_field(5, len(content)) + varint(6 << 3 | 5) + struct.pack("<I", crc)
            table.add(name, entry)
            data.write(content)
            offset += len(content)
        table.finish()
    os.replace(data_path + ".part", data_path)
    os.replace(index_path + ".part", index_path)


def small_tensors(keys):
    for i in range(keys):
        content = struct.pack("<4f", i, i, i, i)
        yield f"block_{i // 10:05d}/layer_{i % 10}/kernel".encode(), (4,), content, masked_crc32c(content)


def large_tensors(megabytes, seed):
    """200 tensors, all of the same bytes: Python takes a second for the checksum of five million of them."""
    rows = megabytes * 1_000_000 // 200 // 4000
    content = tensor_of(gaussians(seed, 1 << 18), 0, rows * 4000)
    crc = masked_crc32c(content)
    for i in range(200):
        yield f"layer_{i:03d}/kernel".encode(), (rows, 1000), content, crc


# -----------------------------------------------------------------------------------------------------------------------


def short(number):
    for size, letter in ((1_000_000, "m"), (1000, "k")):
        if number % size == 0:
            return f"{number // size}{letter}"
    return str(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("what", nargs="*", help="nodes, weights, keys, values")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--force", action="store_true")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    size = "1g" if args.megabytes == 1000 else f"{args.megabytes}m"
    suffix = "" if args.megabytes == 1000 else "_" + size

    def graph(write, amount):
        def make(path):
            with open(path + ".part", "wb", buffering=1 << 20) as out:
                write(out, amount)
            os.replace(path + ".part", path)
        return make

    kinds = {
        "nodes": [(f"nodes_{short(nodes)}.pb", "", graph(write_nodes, nodes)) for nodes in (args.nodes, args.nodes // 10)],
        "weights": [(f"weights_{size}.pb", "", graph(write_weights, args.megabytes))],
        "keys": [(f"keys_{short(args.keys)}", ".index", lambda p: write_checkpoint(p, small_tensors(args.keys)))],
        "values": [(f"values_a{suffix}", ".index", lambda p: write_checkpoint(p, large_tensors(args.megabytes, 1))),
                   (f"values_b{suffix}", ".index", lambda p: write_checkpoint(p, large_tensors(args.megabytes, 2)))],
    }
    for kind in args.what or kinds:
        if kind not in kinds:
            sys.exit(f"make_graphs.py: what is {kind}? There are {', '.join(kinds)}")
        for name, ending, make in kinds[kind]:
            path = os.path.join(args.out, name)
            if os.path.exists(path + ending) and not args.force:
                print("kept", path)
            else:
                print("making", path, flush=True)
                make(path)


if __name__ == "__main__":
    main()
