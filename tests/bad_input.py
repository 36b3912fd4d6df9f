#!/usr/bin/env python3
"""Damaged and hostile input: every command ends within seconds, in bounded memory, with one clear line or a result.

  bad_input.py --gedit build/release/gedit [--keep FOLDER]

Hostile inputs are given to inspect, list, convert, rename, copy, merge, check and diff; of some thousand files that are damaged
each to inspect and three of the others in turn. Whatever it is, a command must end within SECONDS, with 0, 3 or 4 (check and
diff: or 1), within an address space of MEMORY bytes; on 3 and 4 with exactly one line on standard error that begins with
`gedit COMMAND: `, nothing on standard output and no output file.
"""
import argparse
import multiprocessing
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECONDS = 20
MEMORY = 2 << 30
GRAPHS = ["regression/model.meta", "addition.pb", "dqn/dqn.meta", "function_library/function_library.meta",
          "half_plus_two_tf2/saved_model.pb", "keras_dense/saved_model.pb", "pair/graph.pbtxt", "nested/nested.meta"]
ADDITION = os.path.join(REPOSITORY, "testdata", "addition.pb")
CUT = 97


# ------------------------------------------------------------------------------------------ wire format
def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def node(name, op, inputs=(), attributes=()):
    text = lambda value: value if isinstance(value, bytes) else value.encode()
    body = field(1, text(name)) + field(2, text(op)) + b"".join(field(3, text(source)) for source in inputs)
    return field(1, body + b"".join(field(5, field(1, text(key)) + field(2, value)) for key, value in attributes))


FLOAT = [("dtype", b"\x30\x01")]
TYPE = [("T", b"\x30\x01")]


def nested_value(levels):
    """An AttrValue that holds a function, whose attribute holds a function, and so on."""
    pieces, value = [], b"\x18\x01"
    size = len(value)
    # From the inside out, with the pieces kept apart: joining at every level would be quadratic.
    for _ in range(levels):
        entry = b"\x0a\x01a" + b"\x12" + varint(size)               # map entry: key, value
        size += len(entry)
        func = b"\x0a\x01f" + b"\x12" + varint(size)                # NameAttrList: name, attr
        size += len(func)
        item = b"\x52" + varint(size)                               # AttrValue.func
        size += len(item)
        pieces.append(item + func + entry)
    return b"".join(reversed(pieces)) + value


def nested_list(levels):
    """An AttrValue that holds a list of functions whose attribute holds a list of functions, and so on."""
    pieces, value = [], b"\x18\x01"
    size = len(value)
    for _ in range(levels):
        entry = b"\x0a\x01a" + b"\x12" + varint(size)
        size += len(entry)
        func = b"\x0a\x01f" + b"\x12" + varint(size)
        size += len(func)
        item = b"\x4a" + varint(size)                               # ListValue.func
        size += len(item)
        lists = b"\x0a" + varint(size)                              # AttrValue.list
        size += len(lists)
        pieces.append(lists + item + func + entry)
    return b"".join(reversed(pieces)) + value


# ------------------------------------------------------------------------------------------ inputs
def damaged(name, data, rng):
    """(name, bytes): the file cut short, with flipped bits, with lengths blown up."""
    stem, suffix = os.path.splitext(name)
    step = max(CUT, len(data) // 60)
    for at in range(0, len(data), step):
        yield "%s-cut-%d%s" % (stem, at, suffix), data[:at]
    for number in range(60):
        changed = bytearray(data)
        for _ in range(1 if number < 40 else 20):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        yield "%s-flip-%d%s" % (stem, number, suffix), bytes(changed)
    for number in range(30):
        at = rng.randrange(len(data))
        inflated = rng.choice([b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\xff\xff\x03", b"\x7f"])
        yield "%s-inflate-%d%s" % (stem, number, suffix), data[:at] + inflated + data[at + 1:]
    for number in range(10):
        at, end = sorted(rng.randrange(len(data)) for _ in range(2))
        yield "%s-remove-%d%s" % (stem, number, suffix), data[:at] + data[end:]
        yield "%s-repeat-%d%s" % (stem, number, suffix), data[:end] + data[at:]


def hostile():
    """(name, bytes or a function that writes to a file): what no honest program makes."""
    x = node("x", "Placeholder", (), FLOAT)
    million = 1000000
    yield "empty.pb", b""
    yield "zero.pb", b"\0"
    yield "newline.pb", b"\n"
    yield "zeros.pb", bytes(1 << 20)
    yield "garbage.pb", lambda file: [file.write(random.Random(7 + i).randbytes(1 << 20)) for i in range(100)]
    yield "letters.pb", lambda file: [file.write(b"lorem ipsum dolor sit amet " * 40000) for i in range(100)]
    yield "endless_varint.pb", b"\x0a" + b"\xff" * 100000
    yield "groups.pb", b"\x0b" * 100000
    yield "deep_func.pb", node("x", "F", (), [("f", nested_value(10000))])
    yield "deep_list.pb", node("x", "F", (), [("f", nested_list(10000))])
    yield "deep_func.pbtxt", (b'node { name: "x" op: "F" attr { key: "f" value { '
                              + b'func { name: "f" attr { key: "a" value { ' * 10000 + b"i: 1 " + b"} } } " * 10000 + b"} } }")
    yield "deep_open.pbtxt", b"node { attr { value { " + b"func { attr { value { " * 100000
    yield "deep_func.gtxt", b"x = F() {f: " + b"func f {a: " * 10000 + b"1" + b"}" * 10000 + b"}\n"
    yield "deep_list.gtxt", b"x = F() {f: " + b"list(" * 100000 + b")" * 100000 + b"}\n"
    yield "deep.json", (b'{"node":[{"name":"x","op":"F","attr":{"f":' + b'{"func":{"name":"f","attr":{"a":' * 10000
                        + b'{"i":"1"}' + b"}}}" * 10000 + b"}}]}")
    yield "deep_arrays.json", b'{"node":' + b"[" * 200000 + b"]" * 200000 + b"}"
    yield "long_line.gtxt", b"x" * 50000000
    yield "open_quote.gtxt", b'x = F() {a: "' + b"y" * 10000000
    yield "million_inputs.pb", x + node("init", "NoOp", ["^x"] * million) + node("y", "AddN", ["x"] * million, TYPE)
    yield "million_attributes.pb", node("x", "F", (), [("a%d" % i, b"\x18\x01") for i in range(200000)])
    yield "million_same_names.pb", x * million
    yield "million_same_inputs_missing.pb", node("y", "AddN", ["nowhere%d" % i for i in range(200000)], TYPE)
    yield "duplicate.pb", x + x + node("y", "Identity", ["x"], TYPE)
    yield "dangling.pb", node("y", "Identity", ["nowhere"], TYPE) + node("z", "Identity", ["y:7"], TYPE)
    yield "cycle.pb", node("a", "Identity", ["b"], TYPE) + node("b", "Identity", ["a"], TYPE) + node("c", "Identity", ["c"], TYPE)
    yield "control_cycle.pb", node("a", "NoOp", ["^b"]) + node("b", "NoOp", ["^a"])
    yield "chain.pb", x + b"".join(node("n%d" % i, "Identity", ["n%d" % (i - 1) if i else "x"], TYPE) for i in range(200000))
    yield "scopes.pb", node("a/" * 100000 + "a", "Placeholder", (), FLOAT)
    yield "not_utf8.pb", node(b"caf\xe9", "Placeholder", (), FLOAT) + node("y", "Identity", [b"caf\xe9"], TYPE)
    yield "zero_byte_name.pb", node(b"a\0b", "Placeholder", (), FLOAT)
    yield "newline_name.pb", node("a\nb", "Placeholder", (), FLOAT)
    yield "no_names.pb", node("", "") + node("", "NoOp", ["", "^", ":", ":0", "^:0", "a:"])
    yield "huge_port.pb", x + node("y", "Identity", ["x:99999999999999999999999"], TYPE) + node("z", "Identity", ["x:-1"], TYPE)
    yield "wire_types.pb", b"".join(varint(1 << 3 | kind) + b"\x01" * 8 for kind in (0, 1, 5)) + x
    yield "field_zero.pb", b"\x02\x01x" + x
    yield "tensor_shape.pb", node("c", "Const", (), FLOAT + [("value", field(8, b"\x08\x01" + field(2, field(2, b"\x08" + b"\xff" * 8 + b"\x7f")
                                  * 50)))])
    yield "utf8_damage.pb", b"\xef\xbf\xbd" * 5000
    yield "crlf.pb", x.replace(b"\n", b"\r\n") * 50
    yield "onnx.onnx", b"\x08\x07\x12\x07pytorch\x1a\x051.9.0" + b"\x3a" + varint(300) + b"\x0a" * 300
    yield "recursive_function.pb", field(2, field(1, field(1, field(1, b"f")) + field(3, node("c", "f")[2:]))) + node("c", "f") + x


def record(data, crc=None):
    """A TFRecord; its checksums are right unless one is given."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data) if crc is None else crc)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def events():
    """(name, bytes): event files with lengths and checksums that are not those of their records."""
    version = record(b"\x09" + bytes(8) + field(3, b"brain.Event:2"))
    graph = record(b"\x09" + bytes(8) + field(4, node("x", "Placeholder", (), FLOAT)))
    for exponent in (31, 32, 40, 63):
        length = struct.pack("<Q", (1 << exponent) - 16)
        yield "events-length-%d" % exponent, version + graph + length + struct.pack("<I", masked_crc(length)) + b"data"
    length = b"\xff" * 8
    yield "events-first", length + struct.pack("<I", masked_crc(length)) + b"\x09"
    yield "events-bare", version[:12]
    yield "events-nothing", record(b"") * 1000
    yield "events-checksum", version + record(field(4, b"graph"), crc=0) + graph
    yield "events-no-event", version + record(b"\x22\xff\xff\xff\xff\x07") + graph
    yield "events-no-graph", version + record(field(4, b"\x0a\xff\x01graph"))
    yield "events-deep", version + record(field(4, node("x", "F", (), [("f", nested_value(5000))])))
    yield "events-zeros", version + graph + bytes(1000)


def text_forms(gedit, folder):
    """Two graphs in the text forms, as gedit writes them."""
    for source in ("dqn/dqn.meta", "function_library/function_library.meta"):
        for form in ("gtxt", "pbtxt", "json"):
            out = os.path.join(folder, os.path.basename(source)[:-5] + "." + form)
            subprocess.run([gedit, "convert", os.path.join(REPOSITORY, "testdata", source), "-q", "-f", form, "-o", out],
                           check=True, stdin=subprocess.DEVNULL)
            with open(out, "rb") as file:
                yield os.path.basename(out), file.read()


# ------------------------------------------------------------------------------------------ the law
def limit_memory():
    """For a worker, whose commands inherit it; a preexec_fn would make each of them a slow fork."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def commands(path, out, turn):
    """Arguments, and whether it writes; all where `turn` is None."""
    others = [(["list", path], False), (["convert", path, "-f", "gtxt", "-q", "-o", out], True),
              (["rename", path, "/=p/", "-q", "-o", out], True), (["copy", path, "-s", "**", "--scope", "c", "-q", "-o", out], True),
              (["merge", "a=" + path, "b=" + path, "-q", "-o", out], True),
              (["merge", path, path, "--on-conflict", "uniquify", "-q", "-o", out], True),
              (["check", "--security", path], False), (["diff", path, ADDITION], False)]
    chosen = others if turn is None else [others[(3 * turn + k) % len(others)] for k in range(3)]
    return [(["inspect", path], False), *chosen]


def faults_of(gedit, folder, path, turn):
    """What a command did wrong with the file, one line each."""
    faults = []
    out = os.path.join(folder, "out.pb")
    for arguments, writes in commands(path, out, turn):
        what = "%s %s" % (arguments[0], os.path.basename(path))
        with open(os.path.join(folder, "stdout"), "wb+") as stdout:
            try:
                done = subprocess.run([gedit, *arguments], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                                      timeout=SECONDS, check=False)
            except subprocess.TimeoutExpired:
                faults.append("%s: still runs after %d seconds" % (what, SECONDS))
                continue
            printed = stdout.tell() or os.path.getsize(stdout.name)
        left = sorted(set(os.listdir(folder)) - {"stdout", os.path.basename(path)})
        if done.returncode == 0 or done.returncode == 1 and arguments[0] in ("check", "diff"):
            if writes and left != ["out.pb"]:
                faults.append("%s: succeeded and left %s" % (what, left))
        else:
            lines = done.stderr.decode(errors="replace").splitlines()
            if done.returncode not in (3, 4):
                faults.append("%s: ended with %d: %s" % (what, done.returncode, " / ".join(lines)[-300:]))
            elif len(lines) != 1 or not lines[0].startswith("gedit %s: " % arguments[0]):
                faults.append("%s: ended with %d and these words: %r" % (what, done.returncode, lines[:5]))
            if printed:
                faults.append("%s: ended with %d after %d bytes of output" % (what, done.returncode, printed))
            if left:
                faults.append("%s: ended with %d and left %s" % (what, done.returncode, left))
        for name in left:
            remains = os.path.join(folder, name)
            shutil.rmtree(remains) if os.path.isdir(remains) else os.remove(remains)
    return faults


def check(task):
    gedit, name, content, keep, turn = task
    with tempfile.TemporaryDirectory(prefix="gedit-bad-") as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content)
        faults = faults_of(gedit, folder, path, turn)
        if faults and keep:
            shutil.copy(path, keep)
    return faults


_hostile = None


def check_named(task):
    """As check, for hostile inputs, which are too large to be sent to the worker: they are made there."""
    global _hostile
    gedit, name, keep = task
    if _hostile is None:
        _hostile = dict(hostile())
    return check((gedit, name, _hostile[name], keep, None))


def main():
    parser = argparse.ArgumentParser(description="Gives gedit bad input; see the head of this file.")
    parser.add_argument("--gedit", required=True, help="the program under test")
    parser.add_argument("--keep", help="a folder for the inputs that were handled badly")
    arguments = parser.parse_args()
    gedit = os.path.abspath(arguments.gedit)
    rng = random.Random(20240229)
    files = []
    with tempfile.TemporaryDirectory(prefix="gedit-bad-") as folder:
        for name, data in text_forms(gedit, folder):
            files += damaged(name, data, rng)
    for name in GRAPHS:
        with open(os.path.join(REPOSITORY, "testdata", name), "rb") as file:
            files += damaged(name.replace("/", "-"), file.read(), rng)
    files += events()
    with open(os.path.join(REPOSITORY, "testdata", "events", "events.out.tfevents.1600000000.host"), "rb") as file:
        files += damaged("events", file.read(), rng)
    faults = []
    names = [name for name, _ in hostile()]
    with multiprocessing.Pool(os.cpu_count(), limit_memory) as pool:
        for found in pool.imap_unordered(check_named, [(gedit, name, arguments.keep) for name in names]):
            faults += found
        tasks = [(gedit, name, data, arguments.keep, turn) for turn, (name, data) in enumerate(files)]
        for found in pool.imap_unordered(check, tasks, chunksize=16):
            faults += found
    for fault in faults[:100]:
        print(fault)
    if len(faults) > 100:
        print("... and %d more" % (len(faults) - 100))
    print("bad input: %d hostile files, 9 commands each, %d damaged ones, 4 each, %d faults" % (len(names), len(files), len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
