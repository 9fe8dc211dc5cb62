# SPDX-License-Identifier: Apache-2.0
"""tern.h and tern_checkpoint.h name each error of their calls; structs begin with their sizes; forks try each call.

The test collects errors in driver/os: those that a function names itself, and those of the functions that it calls. The
test fails if a call gives an error that its comment does not name, or if an exception below is no longer needed.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "".join((ROOT / "driver/include/tern" / name).read_text() for name in ("tern.h", "tern_checkpoint.h"))
GENERAL = {"ENODEV", "E2BIG"}  # said of all calls, at the top

# Errors that functions below a call name and the call never returns, with the reason.
EXCEPTIONS = {
    ("tern_device_open", "EMLINK"): "likewise",
    ("tern_checkpoint_save", "ESTALE"): "memory that is freed meanwhile is left out",
    ("tern_checkpoint_load", "ESTALE"): "nobody frees its memory yet",
    ("tern_checkpoint_load", "EXDEV"): "imports nothing",
    ("tern_checkpoint_load", "EINVAL"): "what the file says was checked before",
    ("tern_checkpoint_load", "EBUSY"): "drops what has no other owner",
    ("tern_checkpoint_load", "EDEADLK"): "has no callbacks",
    ("tern_checkpoint_close", "EDEADLK"): "likewise",
    ("tern_checkpoint_close", "EIO"): "takes away processes that are in error as well",
    ("tern_checkpoint_start", "EIO"): "what cannot run is in error, as it says",
    ("tern_checkpoint_process", "EIO"): "the fault says it",
    ("tern_checkpoint_read", "ENOSPC"): "writes nothing",
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
    """Returns the comments of the functions that return an int, with the comment of another function if one refers to
    it."""
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
    """The functions of the driver of this process: file and body, by name, or by file and name if static."""

    def __init__(self):
        self.found = {}
        for p in sorted(p for folder in ("os", "migration/state") for p in (ROOT / "driver" / folder).rglob("*.c")):
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
            os_name = name.replace("tern_", "tern_os_", 1)
            self.assertIn(os_name if os_name in source.found else name, source.found)
            for error in source.errors(*source.found.get(os_name, source.found.get(name)), set()):
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
        tried = (ROOT / "tests/driver/proc/test_fork.c").read_text()
        self.assertEqual([c for c in declared() if f"{c}(" not in tried], [])

    def test_sizes(self):
        structs = re.findall(r"^struct (tern_\w+) \{\n(.*)$", HEADER, re.M)
        self.assertGreater(len(structs), 5)
        for name, first in structs:
            self.assertEqual(first.strip(), "uint32_t size;", f"struct {name}")


if __name__ == "__main__":
    unittest.main()
