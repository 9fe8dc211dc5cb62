# SPDX-License-Identifier: Apache-2.0
"""`tern bench` and its suites on the functional model: what they run and on which backend, their progress, their
output, and their ends.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import unittest

from cli import TERN, Case

LONG = {"sgemm-4x4-256", "copy-float4-256k", "saxpy-float4-256k", "sgemm-128", "sgemm-tiled-128"}
PATIENCE = 120  # Seconds, for a busy host.
SUITES = {"migrate": ("--sizes", "0"), "sched": ("--contexts", "2"), "submit": ("--count", "20")}


class Benches(Case):
    def test_every_result_is_checked(self):
        r = self.tern("bench", "--json")
        self.assertEqual(r.returncode, 0, r.stderr)
        data = json.loads(r.stdout)
        names = self.works("bench", "--list").split()
        self.assertEqual([x["name"] for x in data["results"]], [n for n in names if n not in LONG])
        self.assertLess(LONG, set(names))
        self.assertIn(f"tern bench: {len(names) - len(LONG)} of {len(names)} benches; --full: the 5 long ones, too\n",
                      r.stderr)
        self.assertIn("vecadd-16384", names)
        self.assertIn("sgemm-128", names)
        for x in data["results"]:
            self.assertTrue(x["correct"], x["name"])
            self.assertGreater(x["cycles"], 0)
        self.assertEqual(data["config"]["backend"], "model")

    def test_counts_the_instructions_of_kernels(self):
        r = self.tern("bench", "--json", "sgemm-128", "copy-1m")
        sgemm, copy = json.loads(r.stdout)["results"]
        # Each multiplication is an instruction, and more are needed.
        self.assertGreater(sgemm["thread_instructions"], 128 ** 3)
        self.assertGreater(sgemm["thread_instructions_per_second"], 0)
        self.assertEqual((copy["thread_instructions"], copy["thread_instructions_per_second"]), (0, 0))
        self.assertEqual(sgemm["counters"]["lanes_active"], sgemm["thread_instructions"])
        self.assertEqual((sgemm["counters"]["fma"], copy["counters"]["fma"]), (128 ** 3, 0))
        again = json.loads(self.tern("bench", "--json", "sgemm-128").stdout)["results"][0]
        self.assertEqual(again["thread_instructions"], sgemm["thread_instructions"])

    def test_limits(self):
        """The limit of 16,384 elements follows from 12 bytes, an addition, two loads and a store for each
        (docs/benches.md)."""
        limits = {"limit_cycles": 4 * 16384 / 16, "limit_by": "issue"}
        r = json.loads(self.tern("bench", "--json", "vecadd-16384", "sgemm-4x4-128", "copy-1m", "empty-64-warm").stdout)
        vecadd, sgemm, copy, empty = r["results"]
        self.assertEqual({k: vecadd[k] for k in limits}, limits)
        self.assertEqual(sgemm["limit_cycles"], (128 ** 3 + 3 * 128 ** 2) / 16)
        self.assertEqual((copy["limit_cycles"], copy["limit_by"]), (2 * 2 ** 20 / 64, "port"))
        self.assertEqual([empty[k] for k in ("limit_cycles", "limit_by", "limit_percent")], [None] * 3)
        for x in vecadd, sgemm:
            self.assertAlmostEqual(x["limit_percent"], 100 * x["limit_cycles"] / x["cycles"], delta=0.01)
        # The mean includes the kernels with a limit only.
        mean = (vecadd["limit_percent"] * sgemm["limit_percent"]) ** 0.5
        self.assertAlmostEqual(r["limit_percent_means"]["standard"], mean, delta=0.02)
        self.assertIsNone(r["limit_percent_means"]["further"])
        # The means of the two groups are separate.
        r = json.loads(self.tern("bench", "--json", "vecadd-16384", "gather-32768").stdout)
        self.assertEqual([x["group"] for x in r["results"]], ["standard", "further"])
        self.assertEqual([r["limit_percent_means"][x["group"]] for x in r["results"]],
                         [x["limit_percent"] for x in r["results"]])
        r = json.loads(self.tern("bench", "--json", "vecadd-16384", "copy-float4-16k", TERN_CONFIG="small").stdout)
        self.assertEqual([x["limit_cycles"] for x in r["results"]], [4 * 16384 / 8, 8 * 16384 / 8])
        r = json.loads(self.tern("bench", "--json", "copy-float4-16k").stdout)
        self.assertEqual([(x["limit_cycles"], x["limit_by"]) for x in r["results"]], [(2 * 2 ** 18 / 64, "port")])
        r = json.loads(self.tern("bench", "--json", "copy-1m").stdout)
        self.assertEqual(r["limit_percent_means"], {"standard": None, "further": None})

    def test_text(self):
        r = self.tern("bench", "vecadd-16384", TERN_CONFIG="small")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stdout, r"Minst/s\nvecadd-16384 +\d+ +8192 issue( +[0-9.]+){5} +right\n$")
        r = self.tern("bench", "vecadd-16384", "reduce-65536", "fill-1m", "empty-64-cold")
        self.assertRegex(r.stdout, r"\nempty-64-cold +\d+ +- - +-( +[0-9.]+){4} +right\n\n"
                         r"geometric mean of what 2 standard kernels reach of their limits: [0-9.]+ %\n$")
        r = self.tern("bench", "vecadd-16384", "reduce-65536", "gather-32768", "lbm-64")
        self.assertRegex(r.stdout, r"right\n\n"
                         r"geometric mean of what 2 standard kernels reach of their limits: [0-9.]+ %\n"
                         r"geometric mean of what 2 further kernels reach of their limits: [0-9.]+ %\n$")

    def test_wrong_usage(self):
        for suite in ([], ["migrate"], ["preempt"], ["sched"], ["submit"]):
            text = self.fails(2, "--slow'", "bench", *suite, "--slow")
            self.assertEqual(text.count("\n"), 1, text)
        self.fails(2, "there is no bench 'vecad'", "bench", "vecad")
        self.fails(2, "more than 64 benches", "bench", *["copy-1m"] * 65)
        self.fails(2, "--list prints all benches and runs none; 'sgemm-128' has no meaning with it", "bench",
                   "sgemm-128", "--list")
        self.fails(2, "there is no bench 'vecad'", "bench", "--list", "vecad")
        self.fails(2, "--full runs all benches; '--list' has no meaning with it", "bench", "--full", "--list")
        self.fails(2, "--full runs all benches; 'copy-1m' has no meaning with it", "bench", "copy-1m", "--full")
        self.fails(2, "--sizes takes a number from 0 to 3, not '4'", "bench", "migrate", "--sizes", "4")
        self.fails(2, "--sizes takes a number from 0 to 3, not ''", "bench", "migrate", "--full", "--sizes")
        self.fails(2, "there is no kernel 'saxpi'", "bench", "preempt", "--kernel", "saxpi")
        self.fails(2, "--requests takes a number from 1 to 10000000, not '0'", "bench", "preempt", "--requests", "0")
        self.fails(2, "--seed takes a value", "bench", "preempt", "--seed")
        self.fails(2, "--contexts takes a number from 1 to 1024, not '0'", "bench", "sched", "--contexts", "0")
        self.fails(2, "--quantum takes a number from 1000 to 1000000, not ''", "bench", "sched", "--quantum")
        self.fails(2, "--count takes a number from 20 to 1000000, not '19'", "bench", "submit", "--count", "19")
        self.fails(2, "--count takes a number from 20 to 1000000, not ''", "bench", "submit", "--count")
        self.fails(2, "--full is 20000 of each; --count 100 has no meaning with it", "bench", "submit", "--full",
                   "--count", "100")


class Suites(Case):
    def test_full_is_more(self):
        few, many = (json.loads(self.tern("bench", "sched", "--json", "--contexts", "2", *full).stdout)
                     for full in ([], ["--full"]))
        self.assertEqual((few["config"]["quanta"], many["config"]["quanta"]), (20, 50))
        few, many = (json.loads(self.tern("bench", "preempt", "--json", "--kernel", "saxpy", *full).stdout)
                     for full in ([], ["--full"]))
        self.assertEqual([r["results"][0]["requests"] for r in (few, many)], [10, 1000])
        self.assertNotIn("overhead", few)
        self.assertEqual(list(many["overhead"]), ["10000", "100000"])
        self.assertEqual(json.loads(self.tern("bench", "submit", "--json", "--full").stdout)["count"], 20000)

    def test_model_by_itself(self):
        """Suites that do not measure cycles of the hardware select the functional model and say so. The others do
        not."""
        for suite, options in SUITES.items():
            r = self.tern("bench", suite, "--json", *options, TERN_BACKEND="")
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(json.loads(r.stdout)["config"]["backend"], "model", suite)
            self.assertEqual(r.stderr.count(f"tern bench {suite}: backend model, the functional model"), 1, r.stderr)
        for args in (["empty-64-cold"], ["preempt", "--kernel", "saxpy"]):
            self.fails(1, "libtern_sim_rtl_default.so", "bench", *args, TERN_BACKEND="", TERN_LIB_DIR=str(self.folder))

    def test_backend_that_was_asked_for(self):
        for suite, options in SUITES.items():
            text = self.fails(1, "libtern_sim_rtl_default.so", "bench", suite, "--json", *options, TERN_BACKEND="rtl",
                              TERN_LIB_DIR=str(self.folder))
            self.assertNotIn("backend model", text)
            r = self.tern("bench", suite, "--json", *options, TERN_BACKEND="model", TERN_CONFIG="default")
            self.assertNotIn("backend model", r.stderr)

    def test_keys_that_a_suite_sets_itself(self):
        """The keys of a suite replace those of TERN_CONFIG with the same names. Other keys of TERN_CONFIG remain."""
        for suite, options, configs in (
                ("sched", ("--contexts", "2"), ("small,quantum=7000,mem=96M", "quantum=7000,depth=2", "small,depth=1")),
                ("migrate", ("--sizes", "0"), ("small,mem=96M", "small,dram_latency=3,mem=96M"))):
            for config in configs:
                r = self.tern("bench", suite, "--json", *options, TERN_CONFIG=config)
                self.assertEqual(r.returncode, 0, r.stderr)

    def test_backend_of_the_microseconds(self):
        r = self.tern("bench", "submit", "--count", "20", TERN_CONFIG="small")
        self.assertRegex(r.stdout, r"^backend model, device small: medians of 20;")


class Progress(Case):
    """The progress of a command: lines with the steps, and the time left as soon as it can be estimated."""

    def steps(self, command, text):
        """Returns the numbers of the steps that have a line, and the total. Checks the form of each line."""
        found = re.findall(rf"^tern {command}: \[(\d+)/(\d+)\] .+; \d+ s(, \d+ s left)?$", text, flags=re.M)
        self.assertTrue(found, text)
        self.assertEqual(found[0][2], "")
        self.assertTrue(all(left for step, _, left in found if step != "1"), text)
        self.assertEqual(len({all_of_them for _, all_of_them, _ in found}), 1)
        return sorted({int(step) for step, _, _ in found}), int(found[0][1])

    def test_lines(self):
        for args, count in (["bench"], 32), (["bench", "sched"], 9), (["bench", "preempt"], 18), \
                (["bench", "migrate", "--sizes", "0"], 5), (["bench", "submit"], 2):
            r = self.tern(*args)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual(self.steps(" ".join(args[:2]), r.stderr), (list(range(1, count + 1)), count))
            self.assertNotIn("\r", r.stderr)

    def test_terminal(self):
        """The progress is one line that is rewritten, and removed before a result is printed and at the end."""
        status, seen = self.on_terminal("bench", "vecadd-16384", "saxpy-65536", "copy-1m")
        self.assertEqual(status, 0, seen)
        text = seen.decode()
        self.assertEqual(self.steps("bench", text.replace("\r\x1b[K", "\n")), ([1, 2, 3], 3))
        rows = re.findall(r"(?:s|left)\r\x1b\[K(model, default:|saxpy-65536 |copy-1m )", text)
        self.assertEqual(len(rows), 3, text)
        self.assertNotIn("left", text.rpartition("\r\x1b[K")[2])


class Interrupted(Case):
    """Ctrl-C ends a suite with one message and status 130, and nothing is left."""

    def interrupt(self, *args, sent=signal.SIGINT, before=lambda session: None):
        """Interrupts a command after its first progress line, as a terminal does, with all processes of its group.
        `before` is called before that. Returns the last line and the exit status."""
        env = {**os.environ, "TERN_BACKEND": "model", "TERN_CONFIG": "default"}
        with subprocess.Popen([TERN, *args], cwd=self.folder, env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, start_new_session=True) as p:
            line = p.stderr.readline()
            while "[1/" not in line:
                self.assertTrue(line, args)
                line = p.stderr.readline()
            before(p.pid)
            os.killpg(p.pid, sent)
            rest = p.stderr.read().splitlines()  # This waits for the end of all processes that hold the pipe.
            return rest[-1], p.wait(PATIENCE)

    def test_each_suite(self):
        for args in (["--full"], ["migrate"], ["preempt", "--full"],
                     ["sched", "--full", "--quantum", "1000000"], ["submit", "--count", "1000000"]):
            suite = " ".join(["bench", *[a for a in args[:1] if a[0] != "-"]])
            self.assertEqual(self.interrupt("bench", *args), (f"tern {suite}: interrupted", 130))
        self.assertEqual(self.interrupt("bench", "preempt", "--full", sent=signal.SIGTERM),
                         ("tern bench preempt: interrupted", 143))

    def test_folder_of_ternd(self):
        """After an interrupt, ternd has ended and its folder is removed."""
        found = []

        def look(session):
            for p in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    args = (p / "cmdline").read_text().split("\0")
                    if os.getsid(int(p.name)) == session and "--socket" in args:
                        found.append((p, pathlib.Path(args[args.index("--socket") + 1]).parent))
                except OSError:  # The process has just ended.
                    pass

        self.assertEqual(self.interrupt("bench", "submit", "--count", "1000000", before=look)[1], 130)
        self.assertEqual(len(found), 1)
        self.assertEqual([path.exists() for path in found[0]], [False, False])


if __name__ == "__main__":
    unittest.main()
