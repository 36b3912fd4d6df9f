#!/usr/bin/env python3
"""What comments and documents cite is there: headings of docs/, files under docs/, links between documents.

    references.py

A heading is cited as docs/NAME.md#slug, by the slug that GitHub makes of it. Rules are cited by their headings and
never by numbers, which move.
"""
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
READ = ["lib", "tools", "tests", "proto", "docs", "examples", "README.md", "CONTRIBUTING.md"]
SUFFIXES = {".cc", ".h", ".proto", ".py", ".test", ".js", ".css", ".cmake", ".txt", ".md"}
CITED = re.compile(r"(?<![\w/])docs/([\w/-]+(?:\.[\w-]+)*\.\w+)(?:#([\w-]*))?")
LINK = re.compile(r"\]\((?!\w+:)([^()\s#]*)(?:#([^()\s]*))?\)")
BY_NUMBER = re.compile(r"command_reference|tensorflow_semantics|\b[Rr]ules? \d")


def texts():
    for name in READ:
        place = REPOSITORY / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.suffix in SUFFIXES and path.is_file() and path != pathlib.Path(__file__).resolve():
                yield path, path.read_text(errors="replace")


def slugs(path):
    """The anchors of a document's headings, as GitHub makes them."""
    found, fenced = set(), False
    for line in path.read_text().splitlines():
        fenced ^= line.startswith("```")
        heading = re.match(r"#{1,6} +(.+?)[ #]*$", line)
        if heading and not fenced:
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            if slug in found:
                raise SystemExit(f"{path.relative_to(REPOSITORY)}: two headings #{slug}")
            found.add(slug)
    return found


def main():
    wrong, cited, anchors = [], 0, {}

    def look(where, target, slug):
        nonlocal cited
        cited += 1
        if not target.exists():
            wrong.append(f"{where}: {target.relative_to(REPOSITORY)}: no such file")
        elif slug is not None and slug not in anchors.setdefault(target, slugs(target)):
            wrong.append(f"{where}: {target.relative_to(REPOSITORY)} has no heading #{slug}")

    for path, text in texts():
        for number, line in enumerate(text.splitlines(), 1):
            where = f"{path.relative_to(REPOSITORY)}:{number}"
            for cited_here in CITED.finditer(line):
                look(where, REPOSITORY / "docs" / cited_here[1], cited_here[2])
            if path.suffix == ".md":
                for link in LINK.finditer(line):
                    look(where, (path.parent / link[1]).resolve() if link[1] else path, link[2])
            if BY_NUMBER.search(line):
                wrong.append(f"{where}: cites a rule by number; cite docs/rules.md#heading")
    print("\n".join(wrong) or f"{cited} references, all to what is there")
    return 1 if wrong or not cited else 0


if __name__ == "__main__":
    sys.exit(main())
