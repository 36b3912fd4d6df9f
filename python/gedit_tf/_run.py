"""Runs the program: words in, bytes or messages through pipes, errors as exceptions."""
import json
import logging
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from gedit_tf._errors import Error, Warning, error_of

_LOG = logging.getLogger("gedit_tf")
_KINDS = {"GraphDef": "graph", "MetaGraphDef": "metagraph", "SavedModel": "saved_model"}
# What they write to standard output is a file.
_EDITS = frozenset(["cast", "convert", "copy", "draw", "extract", "freeze", "insert", "merge", "optimize", "rename", "retarget",
                    "set", "signature add", "signature remove", "signature rename", "sync"])

Operand = Union[str, bytes, "os.PathLike[str]", Any]


class Text(str):
    """What a command printed; `status` is 1 where the answer is no: nothing selected, files differ, faults found."""

    status: int = 0


class Model(bytes):
    """The bytes of a graph, as the program wrote them; a notebook shows its picture."""

    def to(self, message_class: Any) -> Any:
        """The bytes as a message of this class, as of tensorflow.compat.v1.GraphDef."""
        return message_class.FromString(bytes(self))

    def _repr_html_(self) -> str:
        from gedit_tf._draw import draw  # pylint: disable=import-outside-toplevel

        return draw(bytes(self))._repr_html_()


def program() -> str:
    """The path of the program; GEDIT_TF_PROGRAM names another one."""
    named = os.environ.get("GEDIT_TF_PROGRAM")
    if named:
        return named
    folders = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    if hasattr(sysconfig, "get_preferred_scheme"):
        folders.append(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    folders.append(os.path.join(os.path.expanduser("~"), ".local", "bin"))
    for folder in folders:
        path = os.path.join(folder, "gedit-tf")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("gedit-tf")
    if found:
        return found
    raise FileNotFoundError("gedit-tf is not on PATH; GEDIT_TF_PROGRAM may name it")


def run(command: str, *operands: Operand, output: Optional[Union[str, "os.PathLike[str]"]] = None, json: bool = False,
        **options: Any) -> Any:
    """Runs `gedit COMMAND` and gives back what comes out.

    command   as on the command line: "copy", "checkpoint rename"; the verb may stand alone: "checkpoint", "rename".
    operands  paths, bytes, or protobuf messages (GraphDef, MetaGraphDef, SavedModel); {"NAME": operand} is NAME=FILE.
    options   by their names: from_scope="online" is --from-scope online, s="x/" is -s x/; `as_` is --as. True is a
              flag; a list is the option once for each item; a dict is KEY=VALUE for each.
    output    where the result goes; without it an edit gives it back, as Model (bytes), or as a message of the class
              of the first operand where that was a message.
    json      what a command that reads knows, as dicts and lists.

    Other commands give back their Text. Warnings of the program are `warnings`, what else it says goes to the logger
    "gedit_tf". Raises Error.
    """
    if operands and isinstance(operands[0], str) and (command == "checkpoint" or
                                                      "%s %s" % (command, operands[0]) in _EDITS):
        command, operands = "%s %s" % (command, operands[0]), operands[1:]
    with tempfile.TemporaryDirectory(prefix="gedit-tf-") as folder:
        words, stdin, first = _operands(operands, folder)
        line: List[str] = command.split() + list(_options(options))
        kind = _KINDS.get(first.DESCRIPTOR.name) if first is not None else None
        if kind and "as_" not in options and len(operands) == 1:
            line.append("--as=" + kind)
        if json:
            line.append("-j")
        edit = command in _EDITS
        if output is not None:
            line += ["-o", os.fspath(output)]
        elif edit and "in_place" not in options and "i" not in options:
            line += ["-o", "-"]
        # A picture, or another format, is no message.
        gives = type(first) if command != "draw" and not {"format", "f"} & set(options) else bytes
        return _finished(line + ["--"] + words if words else line, stdin, edit, json, output, gives)


def _finished(line: List[str], stdin: bytes, edit: bool, as_json: bool, output: Any, gives: Any) -> Any:
    done = subprocess.run([program(), *line], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=dict(os.environ, GEDIT_ERRORS="json"))
    stderr = done.stderr.decode("utf-8", "replace")
    if done.returncode not in (0, 1):
        raise error_of(done.returncode, stderr)
    for said in stderr.splitlines():
        if said.startswith("warning: "):
            warnings.warn(said[len("warning: "):], Warning, stacklevel=3)
        else:
            _LOG.info("%s", said)
    if output is not None:
        return output
    if edit and "-n" not in line and "--dry-run" not in line:
        return gives.FromString(done.stdout) if hasattr(gives, "FromString") else Model(done.stdout)
    text = done.stdout.decode("utf-8", "surrogateescape")
    if as_json:
        return json.loads(text)
    answer = Text(text)
    answer.status = done.returncode
    return answer


def _operands(operands: Tuple[Operand, ...], folder: str) -> Tuple[List[str], bytes, Any]:
    """The words, standard input, and the first operand where that is a message."""
    words: List[str] = []
    stdin: Optional[bytes] = None
    for name, operand in _named(operands):
        serialize = getattr(operand, "SerializeToString", None)
        content = serialize() if serialize else bytes(operand) if isinstance(operand, (bytes, bytearray, memoryview)) else None
        if content is None:
            words.append(name + os.fspath(operand))
        elif stdin is None:
            stdin = content
            words.append(name + "-")
        else:
            path = pathlib.Path(folder, "operand%d" % len(words))
            path.write_bytes(content)
            words.append(name + str(path))
    first = operands[0] if operands and hasattr(operands[0], "SerializeToString") else None
    return words, stdin or b"", first


def _named(operands: Tuple[Operand, ...]) -> Iterator[Tuple[str, Operand]]:
    for operand in operands:
        if isinstance(operand, Mapping):
            yield from ((key + "=", value) for key, value in operand.items())
        else:
            yield "", operand


def _options(options: Dict[str, Any]) -> Iterator[str]:
    for key, value in options.items():
        key = key.rstrip("_").replace("_", "-")
        name = ("-" if len(key) == 1 else "--") + key
        if value is None or value is False:
            continue
        if value is True:
            yield name
            continue
        if isinstance(value, Mapping):
            value = ["%s=%s" % pair for pair in value.items()]
        for item in value if isinstance(value, (list, tuple, set, frozenset)) else [value]:
            text = os.fspath(item) if hasattr(item, "__fspath__") else str(item)
            if text and len(key) > 1:
                yield name + "=" + text
            else:
                yield from (name, text)


__all__ = ["Error", "Model", "Text", "program", "run"]
