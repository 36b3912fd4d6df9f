#!/usr/bin/env python3
"""A file names nothing of the standard library whose header neither it nor what it includes of this project has: builds that
take many files as one do not see that, and the build that compiles file by file fails."""
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("lib", "tools", "tests", "bench", "examples")
INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"]', re.M)

# <utility>, <iterator> and <cstddef> are left out: all that could ask for them brings them along.
ALGORITHMS = (
    "all_of|any_of|binary_search|clamp|copy|count_if|equal|fill|find|find_if|is_sorted|lower_bound|max|max_element|merge|min|"
    "min_element|none_of|partition|remove_if|reverse|rotate|sort|stable_sort|swap_ranges|unique|upper_bound"
)
NAMES = {
    "algorithm": rf"std::ranges::(?!begin|data|empty|end|range|size|subrange|view)\w+\(|std::({ALGORITHMS})\(",
    "array": r"std::array<",
    "atomic": r"std::atomic\b",
    "bit": r"std::(bit_cast|bit_ceil|bit_width|countl_zero|countr_zero|has_single_bit|popcount)\b",
    "charconv": r"std::(from_chars|to_chars)\b",
    "cmath": r"std::(fabs|floor|isfinite|isinf|isnan|llround|lround|pow|signbit|sqrt)\b",
    "cstdint": r"\bu?int(8|16|32|64)_t\b",
    "cstring": r"std::(memchr|memcmp|memcpy|memmove|memset|strlen)\b",
    "deque": r"std::deque<",
    "filesystem": r"std::filesystem\b",
    "functional": r"std::function<",
    "limits": r"std::numeric_limits\b",
    "map": r"std::map<",
    "memory": r"std::(make_shared|make_unique|shared_ptr|unique_ptr)\b",
    "mutex": r"std::(call_once|lock_guard|mutex|once_flag|scoped_lock|unique_lock)\b",
    "numeric": r"std::(accumulate|iota)\b",
    "optional": r"std::(make_optional|nullopt|optional)\b",
    "set": r"std::set<",
    "span": r"std::span<",
    "string": r"std::(string|to_string)\b",
    "string_view": r"std::string_view\b",
    "thread": r"std::(jthread|thread)\b",
    "tuple": r"std::(tie|tuple)\b",
    "unordered_map": r"std::unordered_map<",
    "unordered_set": r"std::unordered_set<",
    "variant": r"std::variant<",
    "vector": r"std::vector<",
}


@functools.cache
def text_of(path):
    return re.sub(r"//.*", "", path.read_text())


def found(user, included):
    """The file of this project that is meant; nothing where it is another's."""
    for folder in (user.parent, ROOT / "lib", ROOT / "tools", ROOT / "tests/unit", ROOT):
        if (folder / included).is_file():
            return (folder / included).resolve()
    return None


def reached(path):
    """The standard headers of a file and of all that it includes."""
    seen, todo, headers = set(), [path], set()
    while todo:
        user = todo.pop()
        if user in seen:
            continue
        seen.add(user)
        for kind, included in INCLUDE.findall(text_of(user)):
            if kind == "<":
                headers.add(included)
            elif other := found(user, included):
                todo.append(other)
    return headers


def main():
    files = sorted(f for top in FOLDERS for f in (ROOT / top).rglob("*") if f.suffix in (".h", ".cc"))
    faults = [] if files else ["no files found"]
    for path in files:
        headers = reached(path)
        for header, names in NAMES.items():
            if header not in headers and (named := re.search(names, text_of(path))):
                faults.append(f"{path.relative_to(ROOT)}: names {named.group()}, and <{header}> is not included")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
