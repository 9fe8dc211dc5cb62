# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/test: order and results of steps, the output of failed tests, parts of the nightly tier and their
results, the steps for a change, and wrong usage. The steps here are shell commands, and tests of a small ctest tree.
"""
import contextlib
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
from testing import changed, main, nightly, parts, report, schedule, steps, suites  # noqa: E402
from testing.steps import Counted, Step  # noqa: E402


def shell(name, text, needs=(), holds=(), cost=1, count=steps.whole):
    return Step(name, f"step {name}", ["/bin/sh", "-c", text], count, needs, holds, cost, suite="shell")


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        kept = steps.LOGS
        self.addCleanup(lambda: setattr(steps, "LOGS", kept))
        steps.LOGS = self.folder / "logs"
        steps.LOGS.mkdir()

    def run_steps(self, *some, jobs=2, kept=None):
        """Returns (exit status, output) of a run."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = schedule.run(list(some), jobs, kept)
        return status, out.getvalue()


class Steps(InFolder):
    def test_need_comes_first_and_the_longest_chain_begins(self):
        order = self.folder / "order"
        said = [shell(n, f"echo {n} >> {order}", needs, cost=cost) for n, needs, cost in
                [("short", (), 5), ("builds", (), 1), ("long", ("builds",), 100), ("between", (), 50)]]
        status, out = self.run_steps(*said, jobs=1)
        self.assertEqual(status, 0)
        self.assertEqual(order.read_text().split(), ["builds", "long", "between", "short"])
        self.assertTrue(out.endswith("\n4 passed, 0 failed\n"), out)

    def test_two_run_at_a_time_and_not_what_holds_the_same(self):
        """Steps a and b end only after each has seen the other. Steps c and d hold the same tree and do not overlap."""
        a, b, log = self.folder / "a", self.folder / "b", self.folder / "log"
        meet = "touch {0}; while ! test -e {1}; do sleep 0.01; done"
        alone = f"mkdir {log}.now && sleep 0.2 && rmdir {log}.now"
        status, _ = self.run_steps(shell("a", meet.format(a, b), cost=9), shell("b", meet.format(b, a), cost=9),
                                   shell("c", alone, holds=("tree",)), shell("d", alone, holds=("tree",)))
        self.assertEqual(status, 0)

    def test_what_needs_a_failed_step_is_not_run_and_fails(self):
        mark = self.folder / "ran"
        status, out = self.run_steps(shell("bad", "echo why; exit 3"), shell("next", f"touch {mark}", ("bad",)),
                                     shell("last", "true", ("next",)), shell("other", "true"))
        self.assertEqual(status, 1)
        self.assertFalse(mark.exists())
        self.assertIn("failed: next: not run, for bad failed\n", out)
        self.assertIn("failed: bad: exit status 3\n", out)
        self.assertTrue(out.endswith("1 passed, 3 failed\n"), out)

    def test_jobs(self):
        """The first step has half of the cores. The last one, which runs alone, has all of them."""
        said = [shell(n, f"echo {{jobs}} $JOBS > {self.folder / n}", needs) for n, needs in
                [("a", ()), ("b", ("a",))]]
        self.run_steps(*said, jobs=8)
        self.assertEqual([(self.folder / n).read_text() for n in "ab"], ["4 4\n", "8 8\n"])

    def test_log_cannot_be_written(self):
        steps.LOGS.rmdir()
        steps.LOGS.write_text("a file")
        status, out = self.run_steps(shell("a", "true"))
        self.assertEqual(status, 2)
        self.assertIn("test: ", out)
        self.assertNotIn("Traceback", out)

    def test_interrupt_ends_what_runs(self):
        """SIGINT and SIGTERM end the running step. Each is sent to a separate process when its step has begun."""
        for number in signal.SIGINT, signal.SIGTERM:
            with self.subTest(number):
                self.interrupts(number)

    def interrupts(self, number):
        pid = self.folder / f"pid{number}"
        program = f"""
import sys
sys.path[:0] = [{str(ROOT / "scripts/lib")!r}]
from testing import schedule, steps
import pathlib
steps.LOGS = pathlib.Path({str(steps.LOGS)!r})
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, in a shell's background
s = steps.Step("a", "a", ["/bin/sh", "-c", "echo $$ > {pid}.part; mv {pid}.part {pid}; exec sleep 600"], steps.whole)
sys.exit(schedule.run([s], 1))
"""
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True)
        while not pid.exists():
            self.assertIsNone(child.poll())
            time.sleep(0.01)
        child.send_signal(number)
        out, _ = child.communicate()
        self.assertEqual(child.returncode, 130)
        self.assertEqual(out.rstrip().split("\n")[-1], "test: interrupted when 0 of 1 steps had ended, with 0 tests "
                         "passed and 0 failed")
        while not self.ended(int(pid.read_text())):  # a step that goes on runs into the test's time limit
            time.sleep(0.01)

    def ended(self, pid):
        """Returns whether a process has ended, also if its new parent has not waited for it yet."""
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return True


class Counting(InFolder):
    def ctest(self, tests):
        """Returns a step that runs {name: command} through ctest."""
        with open(self.folder / "CTestTestfile.cmake", "w", encoding="utf-8") as f:
            for name, command in tests.items():
                print(f'add_test([=[{name}]=] "/bin/sh" "-c" [=[{command}]=])', file=f)
                print(f'set_tests_properties([=[{name}]=] PROPERTIES SKIP_RETURN_CODE 77)', file=f)
        return self.run_steps(steps.ctest("suite", "a suite", self.folder, []))

    def test_a_test_has_one_attempt(self):
        mark = self.folder / "was"
        status, out = self.ctest({"once": f"test -e {mark} || {{ touch {mark}; exit 1; }}", "good": "true"})
        self.assertEqual(status, 1)
        self.assertTrue(out.endswith("failed: suite: once\n1 passed, 1 failed\n"), out)

    def test_skipped_and_none(self):
        status, out = self.ctest({"skips": "exit 77", "good": "true"})
        self.assertEqual(status, 1)
        self.assertIn("failed: suite: skips (skipped: its device was not built)\n1 passed, 1 failed\n", out)
        status, out = self.ctest({})
        self.assertEqual(status, 1)
        self.assertIn("failed: suite: no tests were found\n", out)

    def test_output_of_a_failed_test_is_at_the_end(self):
        _, out = self.ctest({"bad": "seq 1 300; echo 'the <reason> & why'; exit 1", "good": "true"})
        end = out[out.index("output of suite: bad, its last lines:"):].split("\n")
        self.assertIn("           the <reason> & why", end)
        self.assertIn("           300", end)
        self.assertNotIn("           200", end)
        self.assertEqual(end[-3:], ["failed: suite: bad", "1 passed, 1 failed", ""])

    def test_lines(self):
        text = "PASS a (1.5 s)\nFAIL b\n    because\nPASS c d (2.0 s)\nPASS e\n"
        found = steps.lines(text, 1)
        self.assertEqual((found.passed, found.failed, found.seconds), (3, ["b"], {"a": 1.5, "c d": 2.0}))
        self.assertEqual(found.said["b"], "FAIL b\n    because\n")
        self.assertEqual(steps.lines("", 0).failed, ["exit status 0, 0 tests"])
        self.assertEqual(steps.lines("PASS a\n", 1).failed, ["exit status 1, 1 tests"])

    def test_lines_or_skipped(self):
        def counted(text, status):
            found = steps.lines_or_skipped(text, status)
            return found.passed, found.failed, found.note
        skip = "SKIP b: no pip"
        self.assertEqual((1, [], skip), counted(f"PASS a (0.1 s)\n{skip}\n1 passed\n", 0))
        self.assertEqual((0, [], f"{skip}\n         SKIP c.d: no images"), counted(f"{skip}\nSKIP c.d: no images\n", 0))
        self.assertEqual((0, ["a"], skip), counted(f"FAIL a\n  why\n{skip}\n", 1))
        self.assertEqual((0, ["exit status 1, 0 tests"], skip), counted(f"{skip}\n", 1))
        self.assertEqual((0, ["exit status 0, 0 tests"], ""), counted("", 0))

    def test_mutants(self):
        found = steps.mutants("a-b   program   17  x\nc     NOT CAUGHT\n", 1)
        self.assertEqual((found.passed, found.failed), (1, ["c"]))

    def test_skipped_with_a_reason(self):
        self.assertEqual(steps.whole_or_skipped("x\nno root\n", 77), Counted(note="no root"))

    def test_slowest_and_suites(self):
        results = [(shell(str(i), ""), Counted(1, seconds={f"t{i}": float(i)}), i, 2 * i) for i in range(20)]
        self.assertEqual(len(report.slowest(results)), 10)
        self.assertEqual(report.slowest(results)[0].split(), ["19.0", "s", "19:", "t19"])
        self.assertEqual(report.suites(results)[0].split()[:5], ["380", "s", "shell:", "20", "passed,"])


class Tiers(unittest.TestCase):
    def test_every_step_has_what_it_needs(self):
        for some in (suites.steps_of(suites.DEFAULT, False), suites.steps_of(suites.SUITES, True),
                     suites.with_needs({s.name: s for s in nightly.steps("7")}, True)):
            names = {s.name for s in some}
            self.assertEqual(len(names), len(some))
            for s in some:
                self.assertLessEqual(set(s.needs), names, s.name)
            schedule.Run(some, 2)  # no step waits for itself

    def test_full_has_every_suite_of_the_default_tier(self):
        self.assertLessEqual(set(suites.DEFAULT), set(suites.SUITES))


class Parts(InFolder):
    def test_parts_hold_each_test_once_in_like_shares(self):
        for every in nightly.steps("7"), suites.steps_of(suites.SUITES, True):
            names = sorted(s.name for s in every if parts.is_test(s))
            for n in (1, 3, 8):
                dealt = parts.parts(every, n)
                self.assertEqual(sorted(s.name for p in dealt for s in p), names)
                most = max(s.cost for p in dealt for s in p)
                loads = [sum(s.cost for s in p) for p in dealt]
                self.assertLessEqual(max(loads) - min(loads), most)

    def test_full_goes_on_where_it_was(self):
        """The steps of the tier itself: those that passed are not run again, whatever builds the others need, and a
        table shows all of them."""
        for left in "synth", "tsan-driver", "sanitize-opencl", "verify-ports2":
            kept = parts.Kept(self.folder / "full" / left)
            every = suites.steps_of(suites.SUITES, True)
            tests = [s.name for s in every if parts.is_test(s)]
            for s in every:
                if s.name != left:
                    kept.keep(s, steps.Counted(3), 1)
            wanted, before = parts.chosen(every, 0, 1, kept)
            self.assertEqual([s.name for s in wanted if parts.is_test(s)], [left])
            names = {s.name for s in wanted}
            self.assertTrue(all(n in names for s in wanted for n in s.needs))
            self.assertEqual(sum(b.passed for b in before), 3 * (len(tests) - 1))
            table = parts.table(every, 1, kept)
            self.assertTrue(table[0].startswith(f"full at {left}"))
            self.assertEqual(sum("not run" in row for row in table), 1)

    def test_a_part_goes_on_where_it_was(self):
        kept = parts.Kept(self.folder / "state")
        every = [shell(n, f"echo {n} >> {self.folder}/ran; exit {code}") for n, code in
                 [("a", 0), ("b", 0), ("c", 1)]]
        status, _ = self.run_steps(every[0], every[2], kept=kept.keep)
        self.assertEqual(status, 1)
        wanted, before = parts.chosen(every, 0, 1, kept)
        self.assertEqual(sorted(s.name for s in wanted), ["b", "c"])
        self.assertEqual(sum(b.passed for b in before), 1)
        table = "\n".join(parts.table(every, 1, kept))
        self.assertRegex(table, r"1 +1 +0 +0\.0  a\n")
        self.assertRegex(table, r"1 +not run  b\n")
        self.assertRegex(table, r"1 +0 +1 +0\.0  c$")

    def test_a_result_that_cannot_be_kept_ends_the_run(self):
        (self.folder / "state").write_text("a file")
        status, out = self.run_steps(shell("a", "true"), kept=parts.Kept(self.folder / "state").keep)
        self.assertEqual(status, 2)
        self.assertIn("a.json: cannot be written", out)
        self.assertNotIn("Traceback", out)

    def test_half_a_result_is_none(self):
        kept = parts.Kept(self.folder)
        (self.folder / "a.json").write_text('{"passed": 1')
        self.assertFalse(kept.passed("a"))


class Changed(unittest.TestCase):
    def test_every_file_of_the_tree_has_a_row(self):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        rows = changed.table()
        for file in listed.decode().split("\0"):
            if file:
                changed.items_for(file, rows)
        self.assertEqual([p for p in rows if not (ROOT / p).exists()], [])

    def test_every_row_names_steps_that_are_there(self):
        for path, items in changed.table().items():
            some = changed.steps_for([path + "any.c" if path.endswith("/") else path]) if items else []
            self.assertTrue(some or not set(items) - {"benches", "itself"}, path)

    def test_the_longest_path_decides(self):
        rows = {"driver/": ["a"], "driver/os/": ["b"], "driver/os/x.c": ["c"]}
        self.assertEqual([changed.items_for(f, rows) for f in ("driver/y.c", "driver/os/y.c", "driver/os/x.c")],
                         [["a"], ["b"], ["c"]])
        with self.assertRaisesRegex(changed.Bad, "has no row for new/file"):
            changed.items_for("new/file", rows)

    def test_benches_that_contain_a_module(self):
        self.assertIn("mmu", changed.of_benches({"rtl/mem/tlb.sv"}))
        self.assertNotIn("fp_fma", changed.of_benches({"rtl/mem/tlb.sv"}))
        self.assertEqual(changed.of_benches({"tests/rtl/fp_fma/tb.sv"}), ["fp_fma"])
        read = changed.of_benches({"rtl/simt/lsu/simt_lsu.sv"})
        self.assertIn("simt_lsu_8", read)
        self.assertNotIn("simt_lsu_32", read)
        self.assertEqual(changed.of_benches({"tests/rtl/simt_lsu/random.sv"}), ["simt_lsu_8"])
        self.assertEqual(changed.of_benches({"tests/rtl/simt_lsu/bench.f"}),
                         ["simt_lsu", "simt_lsu_32", "simt_lsu_4", "simt_lsu_8"])

    def test_tests_of_a_test_file(self):
        def pattern(file):
            return changed.itself(file).partition(": ")[2]
        self.assertRegex("driver.tdr.async", pattern("tests/driver/device/test_tdr.c"))
        self.assertNotRegex("driver.migrate_many", pattern("tests/driver/migration/test_migrate.c"))
        self.assertRegex("opencl.run_basic", pattern("tests/opencl/run_basic.c"))
        self.assertRegex("opencl.run_coarse_preempted", pattern("tests/opencl/run_coarse.c"))
        self.assertEqual(changed.itself("tests/driver/support/rig.h"), "driver: .")

    def test_builds_what_the_steps_need(self):
        def targets(*files, tree="software"):
            return next(s.argv for s in changed.steps_for(files) if s.name == f"build-{tree}")
        self.assertIn("tests/driver/all", targets("driver/kmd/save.c", "tests/driver/support/rig.h"))
        self.assertNotIn("tests/all", targets("driver/kmd/save.c"))
        self.assertIn("tests/all", targets("driver/kmd/save.c", "runtime/cli/main.c"))
        self.assertEqual(targets("driver/migration/format/pages.c", tree="sanitize")[-1:], ["fuzz"])
        self.assertNotIn("sim/model/all", targets("driver/migration/format/pages.c", tree="sanitize"))
        self.assertEqual(targets("driver/os/sched/cap.c", tree="sanitize")[-5:],
                         ["driver/all", "runtime/all", "runtime/cli/all", "sim/model/all", "tests/driver/all"])

    def test_files_that_differ(self):
        """A file that has moved counts at both places."""
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(changed, "ROOT", folder):
            def git(*words):
                subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a", *words], cwd=folder, check=True)
            here = pathlib.Path(folder)
            git("init", "-q")
            for name in "moves", "stays", "changes":
                (here / name).write_text("some lines of\ntext\n" + name)
            git("add", ".")
            git("commit", "-q", "-m", "a")
            git("mv", "moves", "moved")
            (here / "changes").write_text("now")
            (here / "new").write_text("now")
            self.assertEqual(changed.files_since("HEAD"), ["changes", "moved", "moves", "new"])

    def test_no_commit(self):
        with self.assertRaisesRegex(changed.Bad, "'nowhere' is no commit"):
            changed.files_since("nowhere")


class WrongUse(unittest.TestCase):
    def wrong(self, *words):
        err = io.StringIO()
        with self.assertRaises(SystemExit) as end, contextlib.redirect_stderr(err):
            main.arguments(words)
        self.assertEqual(end.exception.code, 2)
        self.assertEqual(err.getvalue().count("\n"), 1)
        return err.getvalue()

    def test_sentences(self):
        self.assertIn("unknown suite 'nothing'; there are: static c", self.wrong("nothing"))
        self.assertIn("'9/8' is no part: K/N", self.wrong("nightly", "--part", "9/8"))
        self.assertIn("'0/8' is no part", self.wrong("nightly", "--part", "0/8"))
        self.assertIn("'x' is no part", self.wrong("nightly", "--part", "x"))
        self.assertIn("go with full and nightly", self.wrong("--part", "1/2"))
        self.assertIn("go with full and nightly", self.wrong("changed", "--again"))
        self.assertIn("go with full and nightly", self.wrong("c", "--table"))
        self.assertIn("changed takes one commit", self.wrong("changed", "a", "b"))
        self.assertIn("nightly takes no 'c'", self.wrong("nightly", "c"))
        self.assertIn("'full' stands before the suites", self.wrong("c", "full"))

    def test_full_disk(self):
        """A full disk is found before anything is written."""
        err = io.StringIO()
        with unittest.mock.patch("shutil.disk_usage", return_value=types.SimpleNamespace(free=5 << 20)):
            with self.assertRaises(SystemExit) as end, contextlib.redirect_stderr(err):
                main.room()
        self.assertEqual(end.exception.code, 2)
        self.assertRegex(err.getvalue(), r"^test: .*build has 5 MiB free, and a run may need \d+ MiB: free some")

    def test_jobs(self):
        for bad in ("0", "many", "-1"):
            err = io.StringIO()
            with self.assertRaises(SystemExit) as end, contextlib.redirect_stderr(err):
                os.environ["JOBS"], before = bad, os.environ.get("JOBS")
                try:
                    main.jobs()
                finally:
                    del os.environ["JOBS"]
                    if before is not None:
                        os.environ["JOBS"] = before
            self.assertEqual(end.exception.code, 2)
            self.assertIn(f"JOBS is '{bad}'", err.getvalue())


if __name__ == "__main__":
    unittest.main()
