# SPDX-License-Identifier: Apache-2.0
"""Tests of tests/rtl/run in a tree of its own: the ends of a bench that pass, the mutants that count as caught, and the
record.

Verilator is a script, which builds the program of ENDS that a line of the sources names. A mutant names another one.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/lib"), str(ROOT / "tests/rtl")]
import bench  # noqa: E402
import record  # noqa: E402

OWN = "echo '%Error: tests/rtl/a/tb.sv:3: Verilog $stop'; exit 134\n"
FOREIGN = "echo '%Error: x.sv:1: Assertion failed in TOP.tb.u_x.{}: failed'\n" \
          "echo '%Error: rtl/x.sv:1: Verilog $stop'; exit 134\n"
PASS = "echo seed 7; echo PASS 100 compared\n"
ENDS = {
    "GOOD": 'case "$*" in *+break=1*) exec sh ends/RULE;; esac\n' + PASS,
    "FOUND": "echo ERROR a 1 gives 2\n" + FOREIGN.format("other"),
    "STOPPED": OWN,
    "NOTHING": "echo PASS 0 compared\n",
    "FEW": "echo PASS 9 compared\n",
    "BARE": "echo PASS\n",
    "TWICE": PASS + PASS,
    "EARLY": "echo PASS 100 compared; echo ERROR a 1 gives 2\n",
    "LATE": "echo ERROR a 1 gives 2; echo PASS 100 compared\n",
    "STATUS": PASS + "exit 1\n",
    "QUIET": "exit 0\n",
    "KILLED": PASS + "kill -9 $$\n",
    "HANGS": PASS + "exec sleep 600\n",
    "RULE": FOREIGN.format("rule"),
    "ASSERTS": FOREIGN.format("other"),
    "UNRULED": PASS,
}
VERILATOR = """#!/bin/sh
if [ "$1" = --version ]; then echo "$VERILATOR"; exit; fi
if [ "$1" = --getenv ]; then echo /nowhere; exit; fi
echo "$*" >> calls
while [ $# -gt 0 ]; do
  case "$1" in --Mdir) out=$2;; *.sv) sources="$sources $1";; esac
  shift
done
end=$(cat $sources | sed -n 's,^ends ,,p')
{ echo '#!/bin/sh'; cat ends/$end; } > $out/tb && chmod +x $out/tb
"""
COPIED = ("tests/rtl/run", "tests/rtl/bench.py", "tests/rtl/lib/report.sv", "tests/lib/jobs.py",
          "tests/formal/prover.py", "scripts/lib/record.py", "scripts/lib/rtl_files.py")
RECORD = "tests/rtl/passed.json"
KINDS = ("benches", "mutants")


class Caught(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.env = {"PATH": f"{self.root}/bin:{os.environ['PATH']}", "VERILATOR": "Verilator 1",
                    "PYTHONDONTWRITEBYTECODE": "1"}
        for name in COPIED:
            self.write(name, (ROOT / name).read_text())
        for name, text in (("verilator", VERILATOR), ("make", "#!/bin/sh\n")):
            self.write(f"bin/{name}", text)
            (self.root / "bin" / name).chmod(0o755)
        for word, text in ENDS.items():
            self.write(f"ends/{word}", text)
        for name in "a", "b":
            self.write_bench(name)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def write_bench(self, name, ends="GOOD", mutant="FOUND", more="", compares="compares 10\n"):
        """Writes a bench with this end, and another end with its mutant."""
        self.write(f"tests/rtl/{name}/bench.f", f"rtl/{name}.sv tests/rtl/{name}/tb.sv\n")
        self.write(f"tests/rtl/{name}/tb.sv", f"module tb;\n  {name} u_{name} ();\nendmodule\n")
        self.write(f"rtl/{name}.sv", f"module {name};\nends {ends}\nendmodule\n")
        self.write(f"tests/rtl/{name}/bench.checks",
                   f"{compares}mutant bad rtl/{name}.sv s/ends {ends}/ends {mutant}/\n{more}")

    def run_benches(self, *args):
        """Runs the command. Returns (exit status, lines of results without times, standard error, number of builds)."""
        (self.root / "calls").unlink(missing_ok=True)
        done = subprocess.run(["/usr/bin/python3", self.root / "tests/rtl/run", *args], cwd=self.root, env=self.env,
                              capture_output=True, text=True, check=False)
        lines = [re.sub(r" \([\d.]+ s\)", "", x) for x in done.stdout.splitlines() if not x.startswith("  ")]
        calls = (self.root / "calls").read_text().splitlines() if (self.root / "calls").exists() else []
        return done.returncode, lines, done.stderr, len(calls)

    def expect(self, status, lines, *args):
        found = self.run_benches(*args)
        self.assertEqual(found[:2], (status, lines), found[2])
        return found[3]

    def recorded(self):
        """Returns the names of the benches and mutants in the record, sorted."""
        found = record.read(self.root / RECORD, "record", KINDS, "run")
        return sorted(name for kind in KINDS for name in found[kind])

    def test_which_ends_pass(self):
        for word in ENDS:
            with self.subTest(word):
                self.write_bench("a", word, "FOUND" if word != "FOUND" else "STOPPED")
                good = word in ("GOOD", "UNRULED")
                self.expect(0 if good else 1, ["PASS a" if good else "FAIL a", "PASS a:bad"], "--timeout",
                            "5" if word == "HANGS" else "600", "a")

    def test_which_mutants_are_caught(self):
        for word in [w for w in ENDS if w != "GOOD"] + ["THAT_CANNOT_BE_BUILT", "GOOD"]:
            with self.subTest(word):
                self.write_bench("a", mutant=word)
                caught = word in ("FOUND", "STOPPED")
                self.expect(0 if caught else 1, ["PASS a:bad" if caught else "FAIL a:bad"], "--timeout",
                            "5" if word == "HANGS" else "600", "a:bad")

    def variant(self, words="-GN=2"):
        """Gives the bench a, whose parameter N is 1, a variant a_2."""
        self.write_bench("a", more="variant a_2\ncompares 10\nmutant other rtl/a.sv s/ends GOOD/ends FOUND/\n")
        self.write("tests/rtl/a/bench.f", f"-GN=1 rtl/a.sv tests/rtl/a/tb.sv\nvariant a_2 {words}\n")

    def test_variant(self):
        """A variant has its own parameters in the place of the bench's, its own checks and its own records."""
        self.variant()
        self.expect(0, ["PASS a", "PASS a:bad", "PASS a_2", "PASS a_2:other"], "--record", "a", "a_2")
        used = [re.findall(r"-GN=\d", call) for call in (self.root / "calls").read_text().splitlines()]
        self.assertEqual(used, [["-GN=1"], ["-GN=1"], ["-GN=2"], ["-GN=2"]])
        self.assertEqual(self.recorded(), ["a", "a:bad", "a_2", "a_2:other"])
        self.variant("-GN=3")
        new = ["PASS a_2", "PASS a_2:other"]
        self.expect(0, ["PASS a (recorded)", "PASS a:bad (recorded)", *new], "--new", "a", "a_2")

    def test_bad_variant(self):
        """The checks of a variant that does not exist, a variant without checks, and a name given twice are errors."""
        self.write_bench("a", more="variant a_2\ncompares 10\n")
        self.assertEqual(self.run_benches("a")[:2], (1, ["FAIL a"]))
        self.assertIn("bench.f has no variant 'a_2'", (self.root / "build/tests/rtl/a/log").read_text())
        self.write_bench("a")
        self.write("tests/rtl/a/bench.f", "rtl/a.sv tests/rtl/a/tb.sv\nvariant a_2 -GN=2\n")
        self.assertEqual(self.run_benches("a_2")[:2], (1, ["FAIL a_2"]))
        self.write("tests/rtl/a/bench.f", "rtl/a.sv tests/rtl/a/tb.sv\nvariant b -GN=2\n")
        self.assertEqual(self.run_benches("a")[::2], (2, "run: two benches have the name b\n"))

    def test_checks_that_say_nothing(self):
        """A bench without a mutant, without a least number of comparisons, or without the file does not pass."""
        checks = (self.root / "tests/rtl/a/bench.checks").read_text()
        for text in ("compares 10\n", checks.replace("compares 10\n", ""), checks.replace("10", "0"),
                     "mutants\n" + checks, checks + checks, None):
            with self.subTest(text):
                (self.root / "tests/rtl/a/bench.checks").unlink()
                if text is not None:
                    self.write("tests/rtl/a/bench.checks", text)
                self.assertEqual(self.run_benches("a")[:2], (1, ["FAIL a"]))
                self.write("tests/rtl/a/bench.checks", checks)

    def test_mutant_of_a_file_that_is_not_the_benchs(self):
        self.write_bench("a", more="mutant far rtl/b.sv s/GOOD/FOUND/\nmutant none rtl/a.sv s/nowhere/FOUND/\n")
        self.expect(1, ["PASS a", "PASS a:bad", "FAIL a:far", "FAIL a:none"], "a")

    def test_rules(self):
        rule = "rule u_x.rule +break=1\n"
        self.write_bench("a", more=rule)
        self.expect(0, ["PASS a", "PASS a:bad"], "a")
        self.write_bench("a", mutant="UNRULED", more=rule)  # what no longer breaks the rule is a mutant that is caught
        self.expect(0, ["PASS a", "PASS a:bad"], "a")
        self.write_bench("a", ends="UNRULED", more=rule)
        self.expect(1, ["FAIL a", "PASS a:bad"], "a")
        self.write_bench("a", more="rule u_x.another +break=1\n")
        self.expect(1, ["FAIL a", "PASS a:bad"], "a")

    def test_plusargs_leave_mutants_out(self):
        self.write_bench("a", ends="FEW")
        self.expect(0, ["PASS a"], "a", "+count=9")
        self.assertEqual(self.run_benches("a")[:2], (1, ["FAIL a", "PASS a:bad"]))

    def test_plusargs_leave_the_record_out(self):
        """A bench with other random numbers is not what the record is about: it runs, and is not recorded."""
        self.expect(0, ["PASS a"], "--record", "a", "+seed=2")
        self.assertFalse((self.root / RECORD).exists())
        self.expect(0, ["PASS a", "PASS a:bad"], "--record", "a")
        self.assertEqual(self.expect(0, ["PASS a"], "--new", "a", "+seed=2"), 1)

    def test_not_run_twice(self):
        everything = ["PASS a", "PASS a:bad", "PASS b", "PASS b:bad"]
        self.assertEqual(self.expect(0, everything), 4)
        self.assertFalse((self.root / RECORD).exists())
        self.expect(0, everything, "--record")
        self.assertEqual(self.recorded(), ["a", "a:bad", "b", "b:bad"])
        known = [f"{line} (recorded)" for line in everything]
        self.assertEqual(self.expect(0, known, "--new"), 0)
        self.assertEqual(self.expect(0, ["PASS b:bad (recorded)"], "--new", "b:bad"), 0)
        self.assertEqual(self.expect(0, everything), 4)

    def test_what_a_mutant_depends_on(self):
        self.write("rtl/part.sv", "module part;\nendmodule\n")
        self.write("rtl/a_pkg.sv", "package a_pkg;\nendpackage\n")
        self.write("rtl/lint.vlt", "`verilator_config\n")
        self.write("tests/rtl/lib/a.h", "// a header\n")
        self.write("tests/rtl/a/kernel.c", '#include "../lib/a.h"\n')
        self.write("rtl/a.sv", "module a;\n  part u_part ();\nends GOOD\nendmodule\n")
        self.write("tests/rtl/a/bench.f", "# a comment\nrtl/lint.vlt -y rtl rtl/a_pkg.sv rtl/a.sv tests/rtl/a/tb.sv\n")
        self.expect(0, ["PASS a", "PASS a:bad", "PASS b", "PASS b:bad"], "--record")
        one = ["PASS b (recorded)", "PASS b:bad (recorded)", "PASS a", "PASS a:bad"]
        both = ["PASS a", "PASS a:bad", "PASS b", "PASS b:bad"]
        for name, lines in (("rtl/a.sv", one), ("rtl/part.sv", one), ("rtl/a_pkg.sv", one), ("rtl/lint.vlt", one),
                            ("tests/rtl/a/tb.sv", one), ("tests/rtl/a/bench.f", one), ("tests/rtl/a/kernel.c", one),
                            ("tests/rtl/lib/a.h", one), ("tests/rtl/lib/report.sv", both),
                            ("tests/rtl/bench.py", both)):
            with self.subTest(name):
                text = (self.root / name).read_text()
                self.write(name, text + {".f": "-Wall\n", ".py": "MORE = 1\n"}.get(pathlib.Path(name).suffix, "more\n"))
                self.expect(0, lines, "--new", "--record")
        checks = (self.root / "tests/rtl/a/bench.checks").read_text()
        self.write("tests/rtl/a/bench.checks", checks.replace("FOUND", "STOPPED"))
        rest = ["PASS a (recorded)", "PASS b (recorded)", "PASS b:bad (recorded)"]
        self.expect(0, [*rest, "PASS a:bad"], "--new", "--record")
        self.write("tests/rtl/a/bench.checks", checks.replace("10", "11"))
        self.expect(0, one, "--new", "--record")
        self.write("tests/rtl/a/bench.checks", checks.replace("10", "101"))
        self.expect(1, ["PASS a:bad (recorded)", *rest[1:], "FAIL a"], "--new")
        self.write("tests/rtl/a/bench.checks", checks)
        self.expect(0, ["PASS a:bad (recorded)", *rest[1:], "PASS a"], "--new", "--record")
        self.env["VERILATOR"] += ".1"
        self.expect(0, both, "--new", "--record")
        self.write("tests/rtl/run", (self.root / "tests/rtl/run").read_text() + "# what is around the benches\n")
        self.expect(0, [f"{line} (recorded)" for line in both], "--new")

    def test_comments(self):
        """A record does not depend on comments and docstrings. A string that is no docstring counts."""
        both = ["PASS a", "PASS a:bad", "PASS b", "PASS b:bad"]
        recorded = [f"{line} (recorded)" for line in both]
        self.write("rtl/lint.vlt", "`verilator_config\n")
        self.write("tests/rtl/a/bench.f", "rtl/lint.vlt rtl/a.sv tests/rtl/a/tb.sv\n")
        self.expect(0, both, "--record")
        for name, more in (("rtl/lint.vlt", "// a comment\n"),
                           ("tests/rtl/a/bench.f", "# a comment // with two signs\n\n// another one\n"),
                           ("tests/rtl/a/tb.sv", "\n// a comment\n"), ("tests/rtl/bench.py", "\n# a comment\n")):
            with self.subTest(name):
                self.write(name, (self.root / name).read_text() + more)
                self.expect(0, recorded, "--new")
        bench = (self.root / "tests/rtl/bench.py").read_text()
        self.write("tests/rtl/bench.py", bench.replace('    """Returns the words of bench.f,', '    """The words,', 1))
        self.expect(0, recorded, "--new")
        for more in ('"a statement" + ""\n', 'MORE = """\na string"""\n', '"# no comment".strip()\n'):
            with self.subTest(more):
                self.write("tests/rtl/bench.py", bench + more)
                self.expect(0, both, "--new")

    def test_failure_is_not_hidden(self):
        self.expect(0, ["PASS a", "PASS a:bad", "PASS b", "PASS b:bad"], "--record")
        rest = ["PASS b (recorded)", "PASS b:bad (recorded)"]
        self.write_bench("a", mutant="QUIET")
        self.expect(1, ["PASS a (recorded)", *rest, "FAIL a:bad"], "--new", "--record")
        self.assertEqual(self.recorded(), ["a", "b", "b:bad"])
        self.write_bench("a", "STATUS")
        self.expect(1, [*rest, "FAIL a", "PASS a:bad"], "--new", "--record")
        self.assertEqual(self.recorded(), ["a:bad", "b", "b:bad"])
        (self.root / "tests/rtl/b/bench.checks").unlink()
        self.write_bench("a")
        self.expect(0, ["PASS a", "PASS a:bad"], "--record", "a")
        self.assertEqual(self.recorded(), ["a", "a:bad", "b"])

    def test_edited_record(self):
        self.expect(0, ["PASS a:bad"], "--record", "a:bad")
        text = (self.root / RECORD).read_text()
        self.write(RECORD, text.replace("a:bad", "b:bad"))
        status, lines, said, built = self.run_benches("--new")
        self.assertEqual((status, lines, built), (2, [], 0))
        self.assertIn("changed by hand, or merged", said)

    def test_names_that_are_not_there(self):
        status, lines, said, _ = self.run_benches("a", "c", "a:worse")
        self.assertEqual((status, lines, said), (2, [], "run: no such bench or mutant: a:worse c\n"))

    def test_record_of_the_tree(self):
        """The record was not edited by hand, and its benches and mutants exist."""
        found = record.read(ROOT / RECORD, "record of benches", KINDS, "tests/rtl/run --record")
        self.assertEqual(set(found["benches"]) - set(bench.names()), set())
        names = {f"{name}:{mutant}" for name in bench.names() for mutant in bench.checks(name)["mutant"]}
        self.assertEqual(set(found["mutants"]) - names, set())

    def test_every_bench_of_the_tree_has_mutants(self):
        for name in bench.names():
            with self.subTest(name):
                self.assertTrue(bench.checks(name)["mutant"])


if __name__ == "__main__":
    unittest.main()
