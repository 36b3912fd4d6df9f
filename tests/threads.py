#!/usr/bin/env python3
"""The same bytes, messages and status whatever the number of threads.

    threads.py --gedit GEDIT
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

NODES = 60_000  # several pieces of work
TENSORS = 20_000


def listing():
    yield "n0 = Placeholder() {dtype: DT_FLOAT, shape: [?,8]}\n"
    for i in range(1, NODES):
        device = f', _class: list("loc:@n{i // 2}")' if i % 7 == 0 else ""
        control = f", ^n{i - 3}" if i > 3 and i % 5 == 0 else ""
        yield f"s{i % 50}/n{i} = {'AddV2' if i % 3 == 0 else 'Add'}({'n0' if i == 1 else f's{(i - 1) % 50}/n{i - 1}'}, n0{control}) {{T: DT_FLOAT{device}}}\n"


def checkpoint():
    for i in range(TENSORS):
        shape = "2" if i % 3 else "1,1"
        yield f"scope_{i % 50:02}/{'v' * (i % 60)}{i:05} = tensor(DT_FLOAT [{shape}], {i}.0)\n"


def outcomes(gedit, threads, commands, folder):
    found = []
    for command in commands:
        done = subprocess.run([gedit, *command], cwd=folder, capture_output=True,
                              env={**os.environ, "GEDIT_THREADS": str(threads)})
        found.append((done.returncode, done.stdout, done.stderr))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gedit", required=True)
    gedit = os.path.abspath(parser.parse_args().gedit)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "m.gtxt").write_text("".join(listing()))
        subprocess.run([gedit, "convert", "m.gtxt", "-q", "-o", "m.pb"], cwd=path, check=True)
        subprocess.run([gedit, "rename", "m.pb", "/=p/", "s3/=q/", "-q", "-o", "prefixed.pb"], cwd=path, check=True)
        whole = (path / "m.pb").read_bytes()
        # Damage behind the middle and near the end: the first is told.
        for name, at in {"bad_node.pb": len(whole) // 2, "bad_end.pb": len(whole) - 40}.items():
            damaged = bytearray(whole)
            damaged[at:at + 24] = b"\xff" * 24
            (path / name).write_bytes(damaged)
        (path / "k.ckpt.gtxt").write_text("".join(sorted(checkpoint())))
        subprocess.run([gedit, "checkpoint", "convert", "k.ckpt.gtxt", "-q", "-o", "k"], cwd=path, check=True)
        index = bytearray((path / "k.index").read_bytes())
        index[len(index) // 2] ^= 0x55
        (path / "broken.index").write_bytes(index)
        (path / "broken.data-00000-of-00001").write_bytes((path / "k.data-00000-of-00001").read_bytes())
        last = f"s{(NODES - 1) % 50}/n{NODES - 1}"
        commands = [[*words[:1], file, *words[1:]] for file in ("m.pb", "bad_node.pb", "bad_end.pb") for words in (
            ["inspect", "-j"], ["list"], ["list", "s7/**"], ["list", "-j"], ["check"],
            ["convert", "-f", "pbtxt", "-o", "-"], ["convert", "-f", "json", "-o", "-"],
            ["rename", "/=p/", "-o", "-"], ["rename", "n0=input", "-o", "-"],
            ["copy", "--outputs", last, "--scope", "twin", "-o", "-"],
            ["extract", "--outputs", "s9/n9959", "-o", "-"], ["retarget", "--tf", "1.4", "-o", "-"],
            ["retarget", "--tf", "1.4", "-n"])]
        commands += [["checkpoint", *words, file] for file in ("k", "broken")
                     for words in (["list"], ["list", "-l"], ["list", "-j"], ["diff", "k"])]
        commands += [["merge", "a=m.pb", "b=m.pb", "--input-map", f"b/n0=a/{last}", "-o", "-"],
                     ["diff", "m.pb", "m.gtxt"], ["diff", "m.pb", "prefixed.pb"], ["convert", "m.gtxt", "-o", "-"]]
        expected = outcomes(gedit, 1, commands, path)
        faults = [f"GEDIT_THREADS={threads} gedit {' '.join(command)}: another result than with one thread"
                  for threads in (2, 7)
                  for command, one, more in zip(commands, expected, outcomes(gedit, threads, commands, path))
                  if one != more]
        succeeded = sum(status in (0, 1) for status, *_ in expected)
        if succeeded < len(commands) // 3:
            faults.append(f"only {succeeded} of {len(commands)} commands ran")
        print("\n".join(faults) or f"{len(commands)} commands: the same with 1, 2 and 7 threads")
        return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
