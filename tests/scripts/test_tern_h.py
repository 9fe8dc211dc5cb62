# SPDX-License-Identifier: Apache-2.0
"""tern.h names each error that a call gives, each of its structs begins with its size, and forks are tried with each.

Errors are looked for in driver/os: those that a function names itself, and those of the functions that it calls. A call
that gives an error which its comment does not name fails here; so does an exception below that is needed no more.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = (ROOT / "driver/include/tern/tern.h").read_text()
GENERAL = {"ENODEV", "E2BIG"}  # said of all calls, at the top

# What is named below a call, and never comes out of it: why.
EXCEPTIONS = {
    ("tern_device_open", "EMLINK"): "likewise",
    ("tern_process_destroy", "EIO"): "its tables are given up all the same",
    ("tern_allocation_make_resident", "EINVAL"): "it takes its own pin back",
    ("tern_partition_destroy", "ENOSPC"): "it gives, and takes nothing",
    ("tern_allocation_create", "EXDEV"): "imports nothing",
    ("tern_context_create", "EXDEV"): "likewise",
    ("tern_context_take_data", "EXDEV"): "likewise",
    ("tern_fence_create", "EXDEV"): "likewise",
    ("tern_allocation_create", "EACCES"): "imports nothing",
    ("tern_allocation_create", "ENOENT"): "likewise",
    ("tern_context_create", "EACCES"): "likewise",
    ("tern_context_create", "ENOENT"): "likewise",
    ("tern_context_take_data", "EACCES"): "likewise",
    ("tern_context_take_data", "ENOENT"): "likewise",
    ("tern_context_take_data", "EINVAL"): "likewise",
    ("tern_fence_create", "EACCES"): "likewise",
    ("tern_fence_create", "ENOENT"): "likewise",
    ("tern_fence_create", "EINVAL"): "likewise",
    ("tern_context_create", "EEXIST"): "asks for no address",
    ("tern_context_take_data", "EEXIST"): "likewise",
    ("tern_fence_create", "EEXIST"): "likewise",
    ("tern_fence_create", "EFAULT"): "reads and writes the page that it has",
    ("tern_fence_value", "EFAULT"): "likewise",
    ("tern_fence_signal", "EFAULT"): "likewise",
    ("tern_fence_wait", "EFAULT"): "likewise",
    ("tern_fence_value", "EACCES"): "its page is its own",
    ("tern_fence_signal", "EACCES"): "likewise",
    ("tern_fence_wait", "EACCES"): "likewise",
    ("tern_fence_value", "ENOSPC"): "its page is not sparse",
    ("tern_fence_signal", "ENOSPC"): "likewise",
    ("tern_fence_wait", "ENOSPC"): "likewise",
    ("tern_fence_value", "ENOMEM"): "fences are not evicted",
    ("tern_fence_signal", "ENOMEM"): "likewise",
    ("tern_fence_wait", "ENOMEM"): "likewise",
}


def declared():
    """Comments of the functions that give an int: the one above, and where it says so that of another function."""
    comments, last = {}, ""
    for m in re.finditer(r"(/\*\*.*?\*/)|TERN_API\s+([^;]*?)\b(tern_\w+)\([^;]*\);", HEADER, re.S):
        if m[1]:
            last = m[1]
        elif m[2].strip() == "int":
            comments[m[3]] = last
    for name, text in comments.items():
        other = re.search(r"Errors as (tern_\w+)", text)
        comments[name] = text + (comments[other[1]] if other else "")
    return comments


class Source:
    """The functions of driver/os: file and body by name, of static ones by file and name."""

    def __init__(self):
        self.found = {}
        for p in sorted((ROOT / "driver/os").rglob("*.c")):
            text = re.sub(r"/\*.*?\*/", "", p.read_text(), flags=re.S)
            for m in re.finditer(r"^(static )?(?:inline )?[\w ]+[ *](\w+)\([^;{]*?\)\n\{\n(.*?)^\}", text, re.S | re.M):
                self.found[(p, m[2]) if m[1] else m[2]] = (p, m[3])

    def errors(self, file, body, seen):
        named = {"".join(e)[1:] for e in
                 re.findall(r"tern_error\((-E[A-Z0-9]+)|return (-E[A-Z0-9]+)|\br = (-E[A-Z0-9]+)", body)}
        if "tern_error_memory" in body:
            named.add("ENOMEM")
        for callee in set(re.findall(r"\b(\w+)\(", body)):
            f = self.found.get((file, callee)) or self.found.get(callee)
            if f and (f[0], callee) not in seen:
                seen.add((f[0], callee))
                named |= self.errors(*f, seen)
        return named


class Header(unittest.TestCase):
    def test_errors(self):
        source, needed, wrong = Source(), set(), []
        comments = declared()
        self.assertGreater(len(comments), 30)
        for name, comment in comments.items():
            self.assertIn(name.replace("tern_", "tern_os_", 1), source.found)
            for error in source.errors(*source.found[name.replace("tern_", "tern_os_", 1)], set()):
                if error in GENERAL or re.search(rf"-{error}\b", comment):
                    continue
                if (name, error) in EXCEPTIONS:
                    needed.add((name, error))
                else:
                    wrong.append(f"{name}: -{error} is not in its comment")
        self.assertEqual(wrong, [])
        self.assertEqual(needed, set(EXCEPTIONS))

    def test_forks(self):
        """The child of a fork tries each call."""
        tried = (ROOT / "tests/driver/test_fork.c").read_text()
        self.assertEqual([c for c in declared() if f"{c}(" not in tried], [])

    def test_sizes(self):
        structs = re.findall(r"^struct (tern_\w+) \{\n(.*)$", HEADER, re.M)
        self.assertGreater(len(structs), 5)
        for name, first in structs:
            self.assertEqual(first.strip(), "uint32_t size;", f"struct {name}")


if __name__ == "__main__":
    unittest.main()
