#!/usr/bin/env python3
"""Whoever asks what an op is for asks lib/ops/kinds.h: elsewhere no op is compared with a name, and no list of ops is kept.

Where one op is meant and no kind, the place stands in ALLOWED; a place that is there no longer has to go from it."""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# (folder/file, word): why
ALLOWED = {
    ("message/json_value.cc", "Infinity"): "a number in JSON",
    ("message/json_value.cc", "NaN"): "a number in JSON",
    ("message/text_parse.cc", "True"): "a bool in text",
    ("message/text_parse.cc", "False"): "a bool in text",
    ("check/constants.cc", "Placeholder"): "what producers before 24 wrote into this op's shape",
    ("basis/facts.cc", "IdentityN"): "an inlined call leaves it, too",
    ("basis/cut.cc", "Placeholder"): "the op that a cut puts in",
    ("check/flow.cc", "LoopCounter"): "part of a frame's name",
    ("functions/freeze_graph.cc", "DisableCopyOnRead"): "what becomes of this op",
    ("functions/freeze_graph.cc", "IdentityN"): "what becomes of this op",
    ("functions/freeze_graph.cc", "ResourceGather"): "this and the next want indices",
    ("functions/freeze_graph.cc", "Ref"): "taken off the op's name",
    ("functions/freeze_graph.cc", "RefSelect"): "what becomes of this op",
    ("functions/handle_flow.cc", "IdentityN"): "its slots are handed on one by one",
    ("functions/handle_flow.cc", "RefSelect"): "its first input says which of the others",
    ("savers/function_extension.cc", "Cast"): "how it calls its output",
    ("savers/function_extension.cc", "ReadVariableOp"): "how it calls its output",
    ("check/savers.cc", "Reshape"): "on its way a shape may change",
    ("savers/keep.cc", "Pack"): "loses an input",
    ("select/tensors.cc", "None"): "an unknown dimension",
    ("weights/npy.cc", "False"): "a word of Python",
    ("weights/npy.cc", "True"): "a word of Python",
    ("prove/labels.cc", "Tcond"): "an attribute",
    ("prove/labels.cc", "SymbolicGradient"): "asks for more than what its function computes",
    ("graph/value_read.cc", "ReadVariableOp"): "what reads the value in its place, and of the next three",
    ("graph/value_read.cc", "ResourceGather"): "the same",
    ("graph/value_read.cc", "ResourceGatherNd"): "the same",
    ("graph/value_read.cc", "VariableShape"): "the same",
    ("prove/nodes.cc", "Reshape"): "of which several in a row are the last",
    ("prove/neutral.cc", "AddN"): "of one gives it",
    ("prove/neutral.cc", "Cast"): "to the same dtype gives what it reads",
    ("prove/neutral.cc", "Split"): "into one gives its second input",
    ("prove/neutral.cc", "Concat"): "of one gives its second input",
    ("prove/neutral.cc", "ConcatV2"): "of one gives its first input",
    ("prove/neutral.cc", "Transpose"): "that moves no axis gives its first input, and two may turn back",
    ("prove/neutral.cc", "Sub"): "of integers by 0 gives its first input",
    ("prove/neutral.cc", "Mul"): "by one, and the next two",
    ("prove/neutral.cc", "RealDiv"): "the same",
    ("prove/neutral.cc", "Div"): "the same",
    ("prove/unpacked.cc", "Unpack"): "what a Split and Squeezes give",
    ("changing/baked_sizes.cc", "Reshape"): "whose shape is an input",
    ("changing/baked_sizes.cc", "Pack"): "an element is an input of its own",
    ("changing/baked_sizes.cc", "ConcatV2"): "an element is one of one of its inputs",
    ("changing/rebake.cc", "Reshape"): "whose shape is an input",
    ("tools/insert.cc", "CheckNumerics"): "offered where a word is completed, and the next two",
    ("tools/insert.cc", "PreventGradient"): "the same",
    ("tools/insert.cc", "Snapshot"): "the same",
}

WORD = r'"(_?[A-Z][A-Za-z0-9]*)"'
COMPARED = re.compile(rf'(?:[=!]= *{WORD}|{WORD} *[=!]=|\b(?:starts_with|ends_with|find|contains)\({WORD}[,)])')
LISTED = re.compile(rf'(?<=[{{,(])\s*{WORD},\s*(?={WORD}\s*[,}})])')


def fields(message):
    """(number, value) of every length-delimited field of a serialized message; the others are skipped."""

    def varint(at):
        value = shift = 0
        while True:
            byte = message[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    at = 0
    while at < len(message):
        tag, at = varint(at)
        if tag & 7 == 2:
            size, at = varint(at)
            yield tag >> 3, message[at : at + size]
            at += size
        else:
            _, at = varint(at)


def op_names(path):
    return {
        next(name for number, name in fields(op) if number == 1).decode() for number, op in fields(path.read_bytes()) if number == 1
    }


def findings(root, ops):
    """(file, line, word) of every op that is compared with a literal, or stands in a list of ops."""
    for path in sorted([*root.glob("lib/**/*.cc"), *root.glob("lib/**/*.h"), *root.glob("tools/**/*.cc"), *root.glob("tools/**/*.h")]):
        if path.parent.name == "ops" and path.stem == "kinds":
            continue
        # What stands in for which op, and what each op computes, is all that these say.
        if path.parent.name in ("retargeting", "fold"):
            continue
        text = re.sub(r"//.*", "", path.read_text())
        for match in COMPARED.finditer(text):
            word = next(group for group in match.groups() if group)
            if not word.isupper():
                yield path, text.count("\n", 0, match.start()) + 1, word
        for match in LISTED.finditer(text):
            if match[1] in ops and match[2] in ops:
                yield path, text.count("\n", 0, match.start(1)) + 1, match[1]


def faults(root, ops, allowed):
    unused = dict(allowed)
    for path, line, word in findings(root, ops):
        place = f"{path.parent.name}/{path.name}", word
        if place in allowed:
            unused.pop(place, None)
        else:
            yield f'{path.relative_to(root)}:{line}: "{word}": ask lib/ops/kinds.h, or say in tests/lint_ops.py why this op alone'
    for name, word in unused:
        yield f'tests/lint_ops.py: {name} compares nothing with "{word}" any more'


def self_test(ops):
    """That the test can fail."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "lib/ops").mkdir(parents=True)
        (root / "lib/ops/kinds.cc").write_text('bool a(auto op) { return op == "Const"; }\n')
        (root / "lib/a.cc").write_text(
            '// op == "Identity"\nbool a(auto op) {\n  return op != "NoOp" || "Cast" == op || op.ends_with("QueueV2");\n}\n'
            'constexpr std::array kOps{"Pack",\n  "Mul"};\nauto b = unit == "GB";\nauto c = NodeBuilder(name, "Const");\n'
        )
        found = [(line, word) for _, line, word in findings(root, ops)]
        assert found == [(3, "NoOp"), (3, "Cast"), (3, "QueueV2"), (5, "Pack")], found
        assert len(list(faults(root, ops, {("lib/a.cc", "NoOp"): "", ("lib/a.cc", "Gone"): ""}))) == 4


def main():
    ops = op_names(ROOT / "lib/ops/tensorflow.ops.pb")
    assert {"Const", "NoOp", "Mul"} <= ops, "the list of ops is not read"
    self_test(ops)
    wrong = list(faults(ROOT, ops, ALLOWED))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
