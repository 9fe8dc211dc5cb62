# SPDX-License-Identifier: Apache-2.0
"""scripts/test: second attempts of tests that have the label `host`, and what is told of tests that failed. The
tests here are shell commands in a tree of ctest's own."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
import outcome
import run_tests

ONCE = "seq 1 50; echo once; test -e {0}.was || {{ touch {0}.was; exit 1; }}"
TWICE = "seq 1 300; echo attempt >> {0}.attempts; echo 'the <reason> & why'; exit 1"


class Attempts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        kept = run_tests.LOGS
        self.addCleanup(lambda: setattr(run_tests, "LOGS", kept))
        run_tests.LOGS = self.tree / "logs"
        run_tests.LOGS.mkdir()

    def runs(self, tests, attempts=2):
        """{name: (labels, command)} through ctest: the tally, and what was printed."""
        with open(self.tree / "CTestTestfile.cmake", "w", encoding="utf-8") as f:
            for name, (labels, command) in tests.items():
                command = command.format(self.tree / name)
                print(f'add_test([=[{name}]=] "/bin/sh" "-c" [=[{command}]=])', file=f)
                print(f'set_tests_properties([=[{name}]=] PROPERTIES LABELS "{labels}" SKIP_RETURN_CODE 77)', file=f)
        t, out = run_tests.Tally(), io.StringIO()
        t.attempts = attempts
        with contextlib.redirect_stdout(out):
            run_tests.ctest(t, "a suite", "suite", self.tree, [], jobs="2")
            self.assertEqual(t.unsteady, [])
            run_tests.second_attempts(t)
            print(outcome.ending(t.failures, t.said, t.unsteady, t.passed))
        return t, out.getvalue()

    def test_failed_once_is_unsteady_and_told(self):
        t, out = self.runs({"a.once": ("rtl;host", ONCE), "a_once": ("host", "true"), "b": ("", "true")})
        self.assertEqual((t.passed, t.failures, t.unsteady), (3, [], ["suite: a.once"]))
        for line in ("           1\n", "           50\n           once\n"):  # the first output, whole
            self.assertIn(line, out)
        end = out.rstrip().split("\n")[-3:]
        self.assertEqual(end, ["unsteady: suite: a.once failed once and passed at the second attempt",
                               "1 unsteady: suite: a.once", "3 passed, 0 failed"])

    def test_failed_twice_is_a_failure(self):
        t, out = self.runs({"twice": ("host", TWICE), "good": ("host", "true")})
        self.assertEqual((t.passed, t.failures, t.unsteady), (1, ["suite: twice"], []))
        self.assertEqual((self.tree / "twice.attempts").read_text(), "attempt\n" * 2)
        self.assertNotIn("unsteady", out)
        self.assertTrue(out.endswith("failed: suite: twice\n1 passed, 1 failed\n"), out)

    def test_without_the_label_there_is_one_attempt(self):
        t, out = self.runs({"twice": ("rtl", TWICE), "once": ("hosts;no host", ONCE)})
        self.assertEqual((t.passed, sorted(t.failures)), (0, ["suite: once", "suite: twice"]))
        self.assertEqual((self.tree / "twice.attempts").read_text(), "attempt\n")
        self.assertTrue(out.endswith("0 passed, 2 failed\n"))

    def test_none_at_night(self):
        t, _ = self.runs({"once": ("host", ONCE)}, attempts=1)
        self.assertEqual((t.failures, t.unsteady), (["suite: once"], []))

    def test_skipped_and_none(self):
        """Neither is a pass, and neither gets another attempt."""
        t, _ = self.runs({"skips": ("host", "exit 77"), "good": ("", "true")})
        self.assertEqual((t.passed, t.failures), (1, ["suite: skips (skipped: its device was not built)"]))
        t, _ = self.runs({})
        self.assertEqual((t.passed, t.failures), (0, ["suite: no tests were found"]))

    def test_output_of_a_failed_test_is_in_the_log_and_at_its_end(self):
        _, out = self.runs({"twice": ("", TWICE), "good": ("", "true")})
        at_once, at_end = out.split("output of suite: twice, its last lines:\n")
        self.assertIn(f"           {303 - outcome.AT_ONCE}\n", at_once)  # 300 numbers, the reason, ctest's line
        self.assertIn("           the <reason> & why\n", at_once)
        lines = [x.strip() for x in at_end.split("\n")]
        self.assertEqual(lines[0], f"({302 - outcome.AT_END} lines before these are in the log)")
        self.assertEqual(lines[1:outcome.AT_END], [*map(str, range(303 - outcome.AT_END, 301)), "the <reason> & why"])
        self.assertRegex(lines[outcome.AT_END], r"Test +#1: twice \.+\*\*\*Failed")
        self.assertEqual(lines[outcome.AT_END + 1:], ["failed: suite: twice", "1 passed, 1 failed", ""])

    def test_many_failures_share_the_end(self):
        names = [f"suite: t{i}" for i in range(50)]
        end = outcome.ending(names, {n: "line\n" * 100 + f"why of {n}" for n in names}, [], 7).split("\n")
        self.assertLess(len(end), outcome.NAMED * (outcome.FEWEST + 2) + 60)
        self.assertEqual(end[-51:], [f"failed: {n}" for n in names] + ["7 passed, 50 failed"])
        for n in names[:outcome.NAMED]:
            self.assertIn(f"           why of {n}", end)

    def test_output_of_one_of_several(self):
        text = "PASS a (1.0 s)\nFAIL b\n    why b\n  log x\nPASS c (2.0 s)\nFAIL bc\n    why bc\n"
        self.assertEqual(outcome.section(text, "b"), "FAIL b\n    why b\n  log x\n")
        self.assertEqual(outcome.section(text, "bc"), "FAIL bc\n    why bc\n")
        self.assertEqual(outcome.section(text, "exit status 1"), text)


if __name__ == "__main__":
    unittest.main()
