# SPDX-License-Identifier: Apache-2.0
"""Tests of tests/verify/caught in a tree of its own: which mutants it runs, what passes, and what it records.

The program is a script that writes down the mutants it is asked for; a file has its output for each.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
import record  # noqa: E402

COPIED = "tests/verify/caught", "tests/verify/mutate", "scripts/lib/record.py"
TOOL = """#!/bin/sh
shift
while [ "${1#--}" = "$1" ]; do names="$names $1"; shift; done
echo $names > asked
for n in ${names:-$(sed -n 's/: .*//p' tests/verify/mutants.list)}; do cat says/$n; done
if [ -e late ]; then echo "more" >> rtl/a.sv; fi
exit $(cat status)
"""
LIST = "".join(f"{name}: wrong\n{path}\n- {old}\n+ 1'b0\n\n" for name, path, old in (
    ("one", "a.sv", "x"), ("two", "a.sv", "y"), ("three", "b.sv", "z")))
RECORD = "tests/verify/caught.json"


class Caught(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for name in COPIED:
            self.write(name, (ROOT / name).read_text())
        self.write("tool", TOOL)
        (self.root / "tool").chmod(0o755)
        for name, text in {"tests/verify/mutants.list": LIST, "tests/verify/mutants.hints": "small one program 7\n",
                           "tests/verify/tool/run.c": "// runs\n", "rtl/a.sv": "x y\n", "rtl/b.sv": "z\n",
                           "status": "0"}.items():
            self.write(name, text)
        for name in "one", "two", "three":
            self.says(name, "program  7               1           90")

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def says(self, name, what):
        self.write(f"says/{name}", f"{name:32} {what}\n")

    def expect(self, status, lines, *args, asked=None):
        """asked: the names given to the program; None: it was not run."""
        (self.root / "asked").unlink(missing_ok=True)
        done = subprocess.run(["/usr/bin/python3", self.root / "tests/verify/caught", "--tool", "./tool", *args],
                              cwd=self.root, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True,
                              text=True, check=False)
        found = [x for x in done.stdout.splitlines() if x.startswith(("PASS ", "FAIL "))]
        self.assertEqual((done.returncode, found), (status, lines), done.stderr)
        self.assertEqual((self.root / "asked").read_text().split() if (self.root / "asked").exists() else None, asked)
        return done.stderr

    def recorded(self):
        return list(record.read(self.root / RECORD, "record", ("small",), "caught")["small"])

    def test_not_run_twice(self):
        everything = ["PASS one", "PASS two", "PASS three"]
        self.expect(0, everything, asked=[])
        self.assertFalse((self.root / RECORD).exists())
        self.expect(0, everything, "--new", "--record", asked=[])
        self.assertEqual(self.recorded(), ["one", "three", "two"])
        self.expect(0, [f"{x} (recorded)" for x in everything], "--new")
        self.expect(0, everything, asked=[])
        self.expect(0, ["PASS two"], "two", asked=["two"])

    def test_what_a_mutant_depends_on(self):
        self.expect(0, ["PASS one", "PASS two", "PASS three"], "--record", asked=[])
        for name, more, new in (("rtl/a.sv", "more\n", ["one", "two"]), ("rtl/b.sv", "more\n", ["three"]),
                                ("rtl/a.sv", "// a comment\n", []), ("tests/verify/tool/run.c", "/* one */\n", []),
                                ("tests/verify/mutants.hints", "small two stream 9\n", ["two"]),
                                ("tests/verify/mutants.hints", "default two stream 9\n", []),
                                ("tests/verify/tool/run.c", "more\n", ["one", "two", "three"]),
                                ("tests/verify/tool/new.h", "more\n", ["one", "two", "three"]),
                                ("tests/verify/mutate", "# more\n", ["one", "two", "three"])):
            with self.subTest(name + more):
                file = self.root / name
                file.write_text((file.read_text() if file.exists() else "") + more)
                old = [x for x in ("one", "two", "three") if x not in new]
                self.expect(0, [f"PASS {x} (recorded)" for x in old] + [f"PASS {x}" for x in new], "--new", "--record",
                            asked=None if not new else [] if not old else new)
        self.write("tests/verify/mutants.list", LIST.replace("- y\n+ 1'b0", "- y\n+ 1'b1"))
        self.expect(0, ["PASS one (recorded)", "PASS three (recorded)", "PASS two"], "--new", asked=["two"])

    def test_not_caught(self):
        self.expect(0, ["PASS one", "PASS two", "PASS three"], "--record", asked=[])
        self.says("two", "NOT CAUGHT            4000       900000")
        self.write("status", "1")
        self.expect(1, ["PASS one", "FAIL two", "PASS three"], "--record", asked=[])
        self.assertEqual(self.recorded(), ["one", "three"])

    def test_run_that_says_too_little(self):
        """Nothing is recorded if the program fails, if its output lacks a mutant, or if the unchanged RTL differs."""
        for what, status, lines, expected in (
                ("", "0", [], 2), ("", "3", [], 2), ("TOO SLOW", "4", [], 2),
                ("program  7  1  90", "1", ["PASS one", "PASS two", "PASS three"], 1)):
            with self.subTest(what=what, status=status):
                self.says("two", what)
                self.write("status", status)
                self.expect(expected, lines, "--record", asked=[])
                self.assertEqual(self.recorded() if (self.root / RECORD).exists() else [], [])

    def test_source_changed_meanwhile(self):
        self.write("late", "")
        self.expect(0, ["PASS one", "PASS two", "PASS three"], "--record", asked=[])
        self.assertEqual(self.recorded(), ["three"])

    def test_mutant_that_is_gone(self):
        self.expect(0, ["PASS one", "PASS two", "PASS three"], "--record", asked=[])
        self.write("tests/verify/mutants.list", LIST.replace("three:", "four:"))
        shutil.copy(self.root / "says/one", self.root / "says/four")
        self.says("four", "stream   3               1           90")
        self.expect(0, ["PASS one (recorded)", "PASS two (recorded)", "PASS four"], "--new", "--record", asked=["four"])
        self.assertEqual(self.recorded(), ["four", "one", "two"])
        self.assertIn("no such mutant: three", self.expect(2, [], "three"))

    def test_record_of_the_tree(self):
        """The record was not edited by hand, and its mutants exist."""
        found = record.read(ROOT / RECORD, "record of mutants", ("small",), "tests/verify/caught --record")["small"]
        text = (ROOT / "tests/verify/mutants.list").read_text()
        self.assertEqual([n for n in found if f"\n{n}: " not in text], [])


if __name__ == "__main__":
    unittest.main()
