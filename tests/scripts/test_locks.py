#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each function that says that it needs a lock asserts it (driver/base/lock.h), and clang's analysis finds that locks
are released on every path.

A function says so by its comment, at the definition or at the prototype ("Requires dev->lock."), or by a name that ends
with _locked. A comment that adds "if" is left out: the function needs the lock in some cases only.
"""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# A prototype or definition at the beginning of a line, with the comment before it.
FUNCTION = re.compile(r"(?:(?P<comment>/\*(?:(?!\*/).)*\*/)\n)?^(?!#|typedef\b|return\b|else\b|enum\b)"
                      r"(?P<head>[A-Za-z_][\w \t*]*?[\s*](?P<name>\w+)\s*\([^;{}]*\))\s*(?P<end>[{;])", re.M | re.S)
LOCK = r"`?(?:[\w>.-]*lock|(?:[\w>.-]+->)?(?:submit|pool|ring|done|turn))\b`?"
NEEDS = re.compile(r"\b[Rr]equires?\s+(?:the\s+|its\s+)?(?:\w+'s\s+)?" + LOCK + r"(?! if\b)")
ASSERTS = re.compile(r"\b(?:tern_assert_(?:held|either)|tern_hal_assert_\w+|assert_both)\(")


def needs(comment):
    return bool(NEEDS.search(re.sub(r"\s*\n\s*\*?\s*", " ", comment or "")))


def body(text, start):
    """The text from the brace at `start` to its partner."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if not depth:
            return text[start:i]
    return text[start:]


def check(files):
    """files: names and texts. Returns the number of functions that need a lock, and those that do not assert it."""
    declared = {m["name"] for name, text in files.items() if name.endswith(".h")
                for m in FUNCTION.finditer(text) if m["end"] == ";" and needs(m["comment"])}
    found, bad = 0, []
    for name, text in files.items():
        for m in FUNCTION.finditer(text):
            own = m["name"]
            if m["end"] == "{" and (needs(m["comment"]) or own.endswith("_locked") or
                                    (own in declared and not m["head"].startswith("static"))):
                found += 1
                if not ASSERTS.search(body(text, m.end() - 1)):
                    bad.append(f"{name}:{text[:m.start('head')].count(chr(10)) + 1}: {own} asserts no lock")
    return found, bad


INCLUDES = (".", "driver", "driver/include", "sim/include", "docs/spec/c", "runtime/include", "runtime/compiler")


def analyse(name):
    """Warnings of clang's analysis (tests/lib/thread_safety.h) for a C file."""
    args = ["clang-19", "-std=c17", "-D_GNU_SOURCE", '-DTERN_VERSION=""', '-DTERN_BUILD_LIB_DIR=""', '-DTERN_LIBDIR=""',
            "-fsyntax-only", "-include", "tests/lib/thread_safety.h", "-Wno-everything", "-Wthread-safety",
            *(f"-I{folder}" for folder in INCLUDES), str(name)]
    return subprocess.run(args, cwd=ROOT, capture_output=True, text=True).stderr


@unittest.skipUnless(shutil.which("clang-19"), "clang 19 is not installed")
class Analysis(unittest.TestCase):
    HEAD = ("#include <errno.h>\n#include \"base/lock.h\"\n"
            "struct x { pthread_mutex_t lock; pthread_cond_t changed; struct tern_ticket_lock hal; int n; };\n")

    def said(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "x.c"
            file.write_text(self.HEAD + text)
            return analyse(file)

    def test_tree(self):
        files = [p for folder in ("driver", "runtime/core", "runtime/api")
                 for p in sorted((ROOT / folder).rglob("*.c"))]
        self.assertGreater(len(files), 100)
        self.assertEqual("".join(analyse(p.relative_to(ROOT)) for p in files), "")

    def test_finds(self):
        for kind, field in (("pthread_mutex", "lock"), ("tern_ticket", "hal")):
            take, give = f"{kind}_lock(&x->{field});", f"{kind}_unlock(&x->{field});"
            need = f"tern_assert_held(&x->{field});"
            for body, why in ((f"{take} if (x->n) return -EIO; {give} return 0;", "not held on every path"),
                              (f"if (x->n) {{ {take} }} {give} return 0;", "not held on every path"),
                              (f"{take} return 0;", "still held at the end"),
                              (f"{give} return 0;", "was not held"),
                              (f"{take} {take} {give} return 0;", "already held"),
                              (f"{take} x->n++; {give} return 0;", None),
                              (f"{need} {give} return 0;", None),
                              (f"{need} return x->n;", None)):
                said = self.said(f"int f(struct x *x);\nint f(struct x *x)\n{{\n    {body}\n}}\n")
                self.assertEqual(said, "") if why is None else self.assertIn(why, said, body)
        for need, why in (("", "requires holding"), ("tern_assert_held(&x->lock);", None)):
            said = self.said(f"int f(struct x *x);\nint f(struct x *x)\n{{\n    {need}\n"
                             "    return pthread_cond_wait(&x->changed, &x->lock);\n}\n")
            self.assertEqual(said, "") if why is None else self.assertIn(why, said)


class Locks(unittest.TestCase):
    def test_tree(self):
        files = {str(p.relative_to(ROOT)): p.read_text() for folder in ("driver", "runtime")
                 for p in (ROOT / folder).rglob("*.[ch]")}
        found, bad = check(files)
        self.assertEqual(bad, [])
        self.assertGreater(found, 60)

    def test_finds(self):
        says = ("/** Requires dev->lock. */\n", "/** Does. Requires\n *  the context's lock. */\n",
                "/** Requires queue->memory_lock. */\n", "/** Requires `turn` and `lock`. */\n",
                "/** Requires session->done. */\n", "/** Requires dev->submit. */\n",
                "/* Require dev->hal_lock. */\n", "")
        calls = ("tern_assert_held(&dev->lock);", "tern_assert_either(&a, &b);", "tern_hal_assert_held(hal);")
        for comment in says:
            for kind in ("static int ", "void *", "struct x *"):
                name = "f" if comment else "f_locked"
                text = f"{comment}{kind}{name}(int a,\n    int b)\n{{\n    if (a) {{\n        b();\n    }}\n%s}}\n"
                self.assertEqual(check({"a.c": text % ""})[1],
                                 [f"a.c:{comment.count(chr(10)) + 1}: {name} asserts no lock"])
                for call in calls:
                    self.assertEqual(check({"a.c": text % call}), (1, []))

    def test_header(self):
        header = "/** Does.\n *  Requires dev->lock, which is released meanwhile. */\nint f(int a);\n"
        self.assertEqual(check({"a.h": header, "a.c": "int f(int a)\n{\n}\n"})[1], ["a.c:1: f asserts no lock"])
        self.assertEqual(check({"a.h": header, "a.c": "static int f(int a)\n{\n}\n"}), (0, []))

    def test_no_need(self):
        for comment in ("/** Takes dev->lock. */\n", "/** Requires that no lock is held. */\n",
                        "/** Requires no lock. */\n", "/** Requires dev->lock if it has a memory. */\n",
                        "/** Requires a whole page. */\n", ""):
            self.assertEqual(check({"a.c": comment + "int f(int a)\n{\n}\n"}), (0, []))


if __name__ == "__main__":
    unittest.main()
