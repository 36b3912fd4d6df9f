#!/usr/bin/env python3
"""Who may include whom: the order of the layers of lib/ and of the rooms of lib/edit, which CONTRIBUTING.md tells.
And how long a file may be.

    rooms.py [--gedit GEDIT]
"""
import pathlib
import re
import statistics
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent

# A layer sees what stands in a line above its own; what stands in one line does not see each other.
LAYERS = [
    ["base"],
    ["message"],
    ["ops"],
    ["graph"],
    ["checkpoint"],
    ["model"],
    ["shape", "weights"],
    ["select", "fold"],
    ["prove"],
    ["edit", "diff", "check", "draw"],
    ["optimize"],
    ["tools"],
]
# Of lib/edit. Commands, which are files, stand above all rooms; `edits` says what they are asked.
ROOMS = [
    ["basis"],
    ["functions"],
    ["savers"],
    ["objects"],
    ["around"],
    ["copying", "merging", "changing", "retargeting"],
    ["edits"],
]
MOST_ROOMS = 20

# Lines. What is longer holds two ideas; of lib/edit a command's file is a list of passes, which stand in rooms.
MOST_LINES, MOST_LINES_OF_COMMAND, MEDIAN_OF_EDIT = 500, 250, 100


def level(order, name, otherwise):
    for number, names in enumerate(order):
        if name in names:
            return number
    return otherwise


def may_see(order, user, used):
    """Whether `user` may include `used`; a name that is in no line of the order stands above all."""
    if user == used:
        return True
    return level(order, user, len(order)) > level(order, used, len(order))


def place_of(path):
    """The layer of a file and, in lib/edit, its room: the folder, or the name of a command's file."""
    parts = path.relative_to(SOURCE).parts
    if parts[0] == "tools":
        return "tools", None
    return parts[1], pathlib.Path(parts[2]).stem if parts[1] == "edit" else None


def lengths(files):
    """What is longer than it may be."""
    edit = {}
    for path in files:
        lines = path.read_text().count("\n")
        name = path.relative_to(SOURCE)
        most = MOST_LINES_OF_COMMAND if path.parent == SOURCE / "lib/edit" else MOST_LINES
        if lines > most:
            yield f"{name}: {lines} lines, {most} at most"
        if SOURCE / "lib/edit" in path.parents:
            edit[name] = lines
    if statistics.median(edit.values()) >= MEDIAN_OF_EDIT:
        yield f"lib/edit: half of the files have {MEDIAN_OF_EDIT} lines or more"


def faults():
    files = sorted(f for top in ("lib", "tools") for f in (SOURCE / top).rglob("*") if f.suffix in (".h", ".cc"))
    for path in files:
        layer, room = place_of(path)
        text = path.read_text()
        name = path.relative_to(SOURCE)
        for included in re.findall(r'#include "([^"]+)"', text):
            parts = included.split("/")
            used = "tools" if (SOURCE / "tools" / included).exists() else parts[0]
            if not may_see(LAYERS, layer, used):
                yield f"{name}: includes {included}, but {layer} stands below or beside {used}"
            elif layer == used == "edit" and not may_see(ROOMS, room, pathlib.Path(parts[1]).stem):
                yield f"{name}: includes {included}, but {room} stands below or beside {pathlib.Path(parts[1]).stem}"
    rooms = {place_of(path)[1] for path in files if place_of(path)[0] == "edit"}
    if len(rooms) > MOST_ROOMS:
        yield f"lib/edit: {len(rooms)} rooms, {MOST_ROOMS} at most"
    if not files:
        yield "no files found"
        return
    yield from lengths(files)


def main():
    found = list(faults())
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
