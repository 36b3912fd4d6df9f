#!/usr/bin/env python3
"""Makes history.pb: every definition of every op in every TensorFlow release. See ../README.md.

    join_releases.py DUMPS LATEST.pb OUT.pb       of what fetch_releases.sh dumped; LATEST.pb is tensorflow.ops.pb
    join_releases.py reduce HISTORY.pb LATEST.pb OUT.pb   the same of a history whose definitions are all written out
    join_releases.py show OUT.pb LATEST.pb OP     an op's definitions, for reading

OUT.pb is  message OpHistory { repeated Release release = 1; repeated Op op = 2; }
           message Release { string name = 1; int32 graph_def_version = 2; }     in order of release; 1.15 before 2.0
           message Op { string name = 1; repeated Era era = 2; }                 in order of name
           message Era { bytes middle = 1; uint32 first = 2; uint32 last = 3; bool contrib = 4; uint32 prefix = 5; uint32 suffix = 6; }
`first` and `last` are numbers of releases, both inclusive; the newest era stands first. An op that goes and comes back,
or is defined anew, has several. Its serialized OpDef is the first `prefix` bytes of the one before it (of LATEST.pb's for
the newest; nothing where that has none), `middle`, and the last `suffix` bytes of the one before it. contrib: the
library of tf.contrib that has it must be loaded.
Left out: prose, experimental types, MKL's internal ops, the order of allowed values.
"""
import os
import re
import sys

from tensorflow.core.framework import op_def_pb2


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(message):
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            shift += 7
            at += 1
            if message[at - 1] < 128:
                return value

    while at < len(message):
        tag = number()
        value = number()
        if tag & 7 == 2:
            value, at = message[at:at + value], at + value
        yield tag >> 3, value


def bare(op):
    """Without what says nothing about which graphs a release takes."""
    for name in ("summary", "description", "is_distributed_communication"):
        if name in op.DESCRIPTOR.fields_by_name:
            op.ClearField(name)
    for part in [*op.input_arg, *op.output_arg, *op.attr]:
        part.ClearField("description")
    for attr in op.attr:
        for values in (attr.allowed_values.list.type, attr.allowed_values.list.s):
            values[:] = sorted(set(values))
        if not attr.allowed_values.list.ByteSize():
            attr.ClearField("allowed_values")
    for arg in [*op.input_arg, *op.output_arg]:
        for name in ("handle_data", "experimental_full_type"):
            if name in arg.DESCRIPTOR.fields_by_name:
                arg.ClearField(name)
    return op


def load(path):
    ops = op_def_pb2.OpList()
    with open(path, "rb") as file:
        ops.ParseFromString(file.read())
    return {op.name: bare(op) for op in ops.op if not op.name.startswith("_Mkl")}


def eras_of(dumps):
    """Of fetch_releases.sh's files: the releases, and by op a list of [OpDef, first, last, contrib]."""
    found = [re.match(r"(\d+\.\d+\.\d+)\.ops\.pb$", file) for file in os.listdir(dumps)]
    names = sorted((m.group(1) for m in found if m), key=lambda name: [int(part) for part in name.split(".")])
    releases, eras = [], {}
    for release, name in enumerate(names):
        with open(os.path.join(dumps, name + ".version")) as file:
            version = file.read().strip()
        releases.append((name, int(version) if version.isdigit() else 0))
        ops = {(n, False): op for n, op in load(os.path.join(dumps, name + ".ops.pb")).items()}
        contrib = os.path.join(dumps, name + ".contrib.pb")
        if os.path.exists(contrib):
            ops.update({(n, True): op for n, op in load(contrib).items() if (n, False) not in ops})
        for key, op in ops.items():
            have = eras.setdefault(key, [])
            if have and have[-1][2] == release - 1 and have[-1][0] == op:
                have[-1][2] = release
            else:
                have.append([op, release, release, key[1]])
    by_op = {}
    for (name, _), have in eras.items():
        by_op.setdefault(name, []).extend(have)
    return releases, by_op


def eras_in(history):
    releases, by_op = [], {}
    with open(history, "rb") as file:
        data = file.read()
    for number, value in fields(data):
        part = dict(fields(value))
        if number == 1:
            releases.append((part[1].decode(), part.get(2, 0)))
        else:
            op = op_def_pb2.OpDef.FromString(part[1])
            by_op.setdefault(op.name, []).append([op, part.get(2, 0), part.get(3, 0), part.get(4, 0)])
    return releases, by_op


def difference(before, now):
    """The lengths of what both begin with and end with, and what is between in `now`."""
    shorter = min(len(before), len(now))
    prefix = next((i for i in range(shorter) if before[i] != now[i]), shorter)
    suffix = next((i for i in range(shorter - prefix) if before[-1 - i] != now[-1 - i]), shorter - prefix)
    return prefix, suffix, now[prefix:len(now) - suffix]


def definitions(path):
    """Serialized, as they stand."""
    with open(path, "rb") as file:
        return {dict(fields(op))[1].decode(): op for _, op in fields(file.read())}


def write(releases, by_op, latest, path):
    last, stored = load(latest), definitions(latest)
    data = b"".join(field(1, field(1, name) + field(2, version)) for name, version in releases)
    count = 0
    for name, eras in sorted(by_op.items()):
        op, before = field(1, name), stored.get(name, b"")
        for definition, first, final, contrib in sorted(eras, key=lambda era: -era[1]):
            same = last.get(name) == bare(definition)
            now = stored[name] if same else definition.SerializeToString(deterministic=True)
            prefix, suffix, middle = difference(before, now)
            parts = [(1, middle), (2, first), (3, final), (4, int(contrib)), (5, prefix), (6, suffix)]
            op += field(2, b"".join(field(number, value) for number, value in parts if value))
            before = now
            count += 1
        data += field(2, op)
    with open(path, "wb") as file:
        file.write(data)
    print(len(releases), "releases,", len(by_op), "ops,", count, "eras,", len(data), "bytes")


def show(history, latest, wanted):
    releases, before = [], definitions(latest).get(wanted, b"")
    with open(history, "rb") as file:
        data = file.read()
    for number, value in fields(data):
        if number == 1:
            releases.append(dict(fields(value))[1].decode())
            continue
        parts = list(fields(value))
        if parts[0][1].decode() != wanted:
            continue
        for _, bytes_ in parts[1:]:
            era = dict(fields(bytes_))
            contrib = " (contrib)" if 4 in era else ""
            print("#", releases[era.get(2, 0)], "to", releases[era.get(3, 0)] + contrib)
            before = before[:era.get(5, 0)] + era.get(1, b"") + before[len(before) - era.get(6, 0):]
            print(op_def_pb2.OpDef.FromString(before))


if __name__ == "__main__":
    if sys.argv[1] == "show":
        show(*sys.argv[2:])
    elif sys.argv[1] == "reduce":
        write(*eras_in(sys.argv[2]), *sys.argv[3:])
    else:
        write(*eras_of(sys.argv[1]), *sys.argv[2:])
