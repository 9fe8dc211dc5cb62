# SPDX-License-Identifier: Apache-2.0
"""Tests of tern-verify on the model and on a device with known bugs: exit status, JSON, reports, mutants, crashes."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

VERIFY, MODEL, WRONG = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
LOOPS, SLOW, LOOPS_WITHOUT_CPOP = 5, 6, 7  # of wrong_device.c


class Command(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.dir = pathlib.Path(tmp.name)
        self.out = self.dir / "out"
        for lib in (MODEL, WRONG):
            name = lib.name if lib.name.startswith("libtern") else "lib" + lib.name
            (self.dir / name).symlink_to(lib)

    def verify(self, *args, status=0, **env):
        r = subprocess.run([VERIFY, "--output", self.out, *args], capture_output=True, text=True, check=False,
                           cwd=self.dir, env={**os.environ, "TERN_LIB_DIR": str(self.dir), **env})
        if status is not None:
            self.assertEqual(r.returncode, status, r.stderr + r.stdout)
        return r

    def wrong(self, *args, mutant, status=1):
        r = self.verify("--rtl", "wrong_small", "--json", *args, status=status, TERN_WRONG=str(mutant))
        return json.loads(r.stdout)

    def test_clean(self):
        j = json.loads(self.verify("--rtl", "wrong_small", "--seeds", "20", "--json").stdout)
        self.assertEqual((j["cases"], j["differences"]), (40, []))
        self.assertGreater(j["warp_instructions"], 1000)
        self.assertGreater(j["indications"], 40)
        self.assertGreater(j["page_requests"], 5)
        self.assertGreater(j["pages_taken"], 2)  # taken away again, while kernels use them
        self.assertGreater(j["cycles"], j["warp_instructions"] / 2)  # two engines, at most one instruction a cycle each
        self.assertGreater(j["cpu_seconds"], 0)
        self.assertFalse(self.out.exists())
        text = self.verify("--rtl", "wrong_small", "--seeds", "20").stdout
        self.assertIn(f"40 cases, {j['warp_instructions']} warp instructions, {j['indications']} indications, "
                      f"{j['faults']} of them faults, {j['page_requests']} page requests", text)
        self.assertIn("no difference", text)

    def test_difference(self):
        """A difference is found, shrunk and explained, for any number of jobs, and found again by the printed command.
        """
        d = self.wrong("--kind", "program", "--seeds", "500", "--jobs", "3", mutant=2)["differences"]
        self.assertEqual(len(d), 1)
        d = d[0]
        one = self.wrong("--kind", "program", "--seeds", "500", "--jobs", "1", mutant=2)["differences"][0]
        self.assertEqual((one["seed"], one["kept"]), (d["seed"], d["kept"]))
        self.assertEqual(d["again"], f"tern verify --kind program --seed {d['seed']} --seeds 1 --rtl wrong_small")
        self.assertEqual(d["shrunk_items"], len(d["kept"]))
        self.assertLess(d["shrunk_items"], d["items"])
        self.assertTrue(d["first_instruction"]["text"].startswith("ctz"), d["first_instruction"])
        report = pathlib.Path(d["files"][0]).read_text()
        self.assertIn("expected " + d["first_instruction"]["pc"][2:] + ":", report)
        self.assertIn("cpop", report)
        self.assertIn("again: " + d["again"], report)
        again = self.wrong(*d["again"].split()[2:], mutant=2)
        self.assertEqual(again["cases"], 1)
        self.assertEqual(again["differences"][0]["kept"], d["kept"])
        text = self.verify(*d["again"].split()[2:], status=1, TERN_WRONG="2")
        self.assertEqual(text.stdout.split("\n\n1 cases")[0].strip(), report.strip())

    def test_keep_going(self):
        j = self.wrong("--kind", "program", "--seeds", "200", "--keep-going", mutant=2)
        self.assertEqual(j["cases"], 200)
        seeds = [d["seed"] for d in j["differences"]]
        self.assertGreater(len(seeds), 1)
        self.assertEqual(seeds, sorted(set(seeds)))
        for d in j["differences"][8:]:
            self.assertNotIn("shrunk_items", d)

    def test_crash_is_a_difference(self):
        """A simulator that dies fails its case and not the run."""
        j = self.wrong("--kind", "stream", "--seeds", "6", "--jobs", "2", "--keep-going", mutant=3)
        self.assertEqual((j["cases"], len(j["differences"])), (6, 6))
        self.assertEqual(j["differences"][0]["what"], "crash")
        self.assertIn("Aborted", j["differences"][0]["text"])
        self.assertEqual(j["differences"][0]["shrunk_items"], 0 if not j["differences"][0]["kept"] else 1)

    def test_too_slow(self):
        """A simulator that loops in a call and a slow one are reported as too slow and not as different. Nothing is
        shrunk."""
        args = ["--kind", "program", "--seeds", "2", "--patience", "1"]
        for wrong in LOOPS, SLOW:
            j = self.wrong(*args, "--jobs", "1", mutant=wrong, status=4)
            self.assertEqual((j["cases"], j["differences"]), (1, []))
            self.assertEqual([(s["kind"], s["seed"], s["cpu_seconds"], s["device"]) for s in j["too_slow"]],
                             [("program", 1, 1, "wrong_small")])
            self.assertEqual(j["too_slow"][0]["again"],
                             "tern verify --kind program --seed 1 --seeds 1 --rtl wrong_small")
            r = self.verify("--rtl", "wrong_small", *args, "--jobs", "1", status=4, TERN_WRONG=str(wrong))
            # A slow simulator's cycle depends on the host. That of a simulator that loops does not.
            cycle = j["too_slow"][0]["cycles"] if wrong == LOOPS else "[0-9]+"
            self.assertRegex(r.stdout, "program seed 1 too slow: no end in 1 s of processor time; wrong_small had come "
                                       f"to cycle {cycle}\n    again: tern verify ")
            self.assertTrue(r.stdout.endswith(": no difference, 1 too slow\n"), r.stdout)
            self.assertNotIn("shrinking", r.stderr)
            self.assertFalse(self.out.exists())
        j = self.wrong(*args, "--jobs", "2", "--keep-going", mutant=LOOPS, status=4)
        self.assertEqual((j["cases"], [s["seed"] for s in j["too_slow"]]), (2, [1, 2]))
        self.assertGreater(j["too_slow"][0]["cycles"], 0)
        j = self.wrong(*args[:4], mutant=SLOW, status=0)  # with enough time its results are right
        self.assertEqual((j["cases"], j["differences"], j["too_slow"]), (2, [], []))

    def test_difference_and_too_slow(self):
        """Shrinking ends at a run that is too slow, and does not count that run as a difference."""
        found = self.wrong("--kind", "program", "--seeds", "150", "--keep-going", mutant=2)["differences"]
        for seed in (d["seed"] for d in found):
            args = ["--kind", "program", "--seed", str(seed), "--patience", "1"]
            d = self.wrong(*args, "--seeds", "1", mutant=LOOPS_WITHOUT_CPOP, status=None)["differences"]
            if d:  # nothing else ran before it, until a reset, that has no such instruction
                break
        d = d[0]
        self.assertEqual(d["what"], "memory")
        self.assertGreater(d["shrunk_items"], 0)
        self.assertIn("shrinking ended early: without some items it took more than 1 s", d["note"])
        r = self.verify("--rtl", "wrong_small", *args, "--seeds", "3", "--keep-going", status=1,
                        TERN_WRONG=str(LOOPS_WITHOUT_CPOP))
        self.assertRegex(r.stdout, r": 1 differs, 2 too slow\n$")

    def test_too_slow_elsewhere(self):
        """The unchanged device is too slow with the case that caught a mutant, and a stopped run is too slow."""
        args = ["--rtl", "wrong_small", "--patience", "1"]
        mutant = [*args, "--kind", "program", "--mutants", "cpop-is-ctz"]
        text = self.verify(*mutant, status=4, TERN_WRONG=str(LOOPS)).stdout
        self.assertRegex(text, r"(?m)^cpop-is-ctz +TOO SLOW$")
        self.assertIn("1 mutants, 0 caught, 0 not, 1 too slow", text)
        m = json.loads(self.verify(*mutant, "--json", status=4, TERN_WRONG=str(LOOPS)).stdout)["mutants"]
        self.assertEqual([(x["name"], x["caught"], x["too_slow"]) for x in m], [("cpop-is-ctz", False, True)])
        fill = [*args, "--kind", "preempt", "--kernel", "fill", "--every", "50"]
        for what in ["--stop", "rtl", "--seeds", "0"], ["--stop", "none", "--seeds", "3"]:
            text = self.verify(*fill, *what, status=4, TERN_WRONG=str(LOOPS)).stdout
            self.assertRegex(text, r"(?m)^fill, too slow: no end in 1 s of processor time; wrong_small had come to "
                                   r"cycle [0-9]+\n    again: tern verify --kind preempt ")
            self.assertTrue(text.endswith(": no bit differs, 1 too slow\n"), text)
            runs = json.loads(self.verify(*fill, *what, "--json", status=4, TERN_WRONG=str(LOOPS)).stdout)["runs"]
            self.assertEqual([r["too_slow"]["device"] for r in runs], ["wrong_small"])
            self.assertNotIn("differs", runs[0])

    def test_limits(self):
        j = json.loads(self.verify("--rtl", "wrong_small", "--instructions", "5000", "--jobs", "1", "--json").stdout)
        self.assertGreaterEqual(j["warp_instructions"], 5000)
        self.assertLess(j["warp_instructions"], 60000)
        j = json.loads(self.verify("--rtl", "wrong_small", "--minutes", "0.1", "--jobs", "1", "--json").stdout)
        self.assertTrue(6 <= j["seconds"] < 250)
        self.assertGreater(j["cases"], 0)

    def test_mutants(self):
        args = ["--rtl", "wrong_small", "--seeds", "100", "--kind", "program"]
        self.assertEqual(self.verify("--rtl", "wrong_small", "--mutants", "list").stdout.split(),
                         ["no-bug", "cpop-is-ctz", "crash", "resume-loses"])
        self.assertIn("2 mutants, 2 caught, 0 not", self.verify(*args, "--mutants", "cpop-is-ctz", "crash").stdout)
        r = self.verify(*args, "--mutants", "--json", status=1)  # "no-bug" cannot be caught
        m = json.loads(r.stdout)["mutants"]
        self.assertEqual([(x["name"], x["caught"]) for x in m],
                         [("no-bug", False), ("cpop-is-ctz", True), ("crash", True), ("resume-loses", True),
                          ("(unchanged)", False)])
        self.assertEqual(m[0]["cases"], 100)
        self.assertEqual(m[4]["cases"], 3)  # the cases that caught a mutant, repeated without the bug
        self.assertIn("--mutants cpop-is-ctz", m[1]["difference"]["again"])
        self.assertIn("NOT CAUGHT", self.verify(*args, "--mutants", "no-bug", status=1).stdout)
        self.assertIn("there is no mutant 'x'", self.verify(*args, "--mutants", "x", status=2).stderr)
        self.assertIn("first find out why", self.verify(*args, "--mutants", status=1, TERN_WRONG="2").stderr)

    def test_mutants_of_preemption(self):
        """A mutant with a test of its own in the list, and any mutant with --kind preempt."""
        args = ["--rtl", "wrong_small", "--mutants", "resume-loses"]
        m = json.loads(self.verify(*args, "--json").stdout)["mutants"]
        self.assertEqual([(x["name"], x["caught"]) for x in m], [("resume-loses", True), ("(unchanged)", False)])
        self.assertGreater(m[1]["stops"], 0)  # the stops that are repeated without the bug
        self.assertEqual(m[0]["difference"]["kernel"], "barriers")
        again = m[0]["difference"]["again"].split()
        self.assertIn("--mutants resume-loses --kernel barriers", " ".join(again))
        once = json.loads(self.verify(*again[2:], "--json").stdout)["mutants"]
        self.assertEqual(once[1]["difference"], m[0]["difference"])
        text = self.verify(*args).stdout
        self.assertRegex(text, r"(?m)^resume-loses +preempt +[0-9]+ +[0-9]+ +barriers$")
        self.assertIn("1 mutants, 1 caught, 0 not", text)
        args = ["--rtl", "wrong_small", "--kind", "preempt", "--kernel", "fill", "--every", "30", "--seeds", "0",
                "--mutants"]
        text = self.verify(*args, "no-bug", "resume-loses", status=1).stdout
        self.assertRegex(text, r"(?m)^no-bug +NOT CAUGHT")
        self.assertRegex(text, r"(?m)^resume-loses +preempt +[0-9]+ +[0-9]+ +fill$")

    def test_hints(self):
        """The case that caught a bug the last time is tried first, and counts only if it catches the bug again."""
        args = ["--rtl", "wrong_small", "--seeds", "60", "--hints", "hints", "--mutants"]
        first = json.loads(self.verify(*args, "--record", "--json", status=1).stdout)["mutants"]  # no-bug is not caught
        hints = self.dir / "hints"
        told = [line.split() for line in hints.read_text().splitlines() if not line.startswith("#")]
        self.assertEqual([t[:2] for t in told], [["small", n] for n in ("cpop-is-ctz", "crash", "resume-loses")])
        self.assertEqual([t[2:-1] for t in told[1:]], [["program"], ["preempt", "barriers"]])
        again = json.loads(self.verify(*args, "--json", status=1).stdout)["mutants"]
        self.assertEqual([(x["name"], x["caught"]) for x in again], [(x["name"], x["caught"]) for x in first])
        self.assertEqual([x["hinted"] for x in first[:4]], [False] * 4)
        self.assertEqual([x["hinted"] for x in again[:4]], [False, True, True, True])
        self.assertEqual([x["cases"] for x in again[1:3]], [1, 1])
        self.assertEqual(again[3]["difference"], first[3]["difference"])
        self.assertIn("3 by what caught them the last time", self.verify(*args, status=1).stdout)
        some = json.loads(self.verify(*args, "crash", "resume-loses", "--json").stdout)["mutants"]
        self.assertEqual([(x["name"], x["hinted"]) for x in some[:2]], [("crash", True), ("resume-loses", True)])

        hints.write_text("small cpop-is-ctz stream 1\nsmall crash program 999999\n"
                         "small resume-loses preempt barriers 1\n"
                         "small no-bug program 1\ndefault crash stream 7\n")  # the first and third catch nothing
        again = json.loads(self.verify(*args, "--json", "--record", status=1).stdout)["mutants"]
        self.assertEqual([(x["caught"], x["hinted"]) for x in again[:4]],
                         [(False, False), (True, False), (True, True), (True, False)])
        self.assertEqual(again[1]["difference"]["seed"], first[1]["difference"]["seed"])
        self.assertEqual(again[3]["difference"], first[3]["difference"])
        self.assertEqual(sorted(hints.read_text().splitlines()[-2:]),
                         ["default crash stream 7", "small resume-loses preempt barriers " + told[2][-1]])
        for bad in "small crash", "small crash progam 1", "small crash preempt 7":
            hints.write_text(bad + "\n")
            self.assertIn("hints:1: no hint", self.verify(*args, status=3).stderr)

    def test_coverage(self):
        self.verify("--rtl", "wrong_small", "--seeds", "5", "--jobs", "2", "--coverage", "cov")
        files = sorted((self.dir / "cov").glob("*.json"))
        self.assertEqual(len(files), 2)
        counts = [sum(json.loads(f.read_text()).values()) for f in files]
        self.assertGreater(sum(counts), 1000)

    def test_preempt(self):
        """A run is stopped at every cycle. A difference is reported with the command that repeats that stop."""
        args = ["--kind", "preempt", "--rtl", "wrong_small", "--kernel", "barriers", "--json"]
        runs = json.loads(self.verify(*args, "--seeds", "2").stdout)["runs"]
        self.assertEqual([r["stopped_on"] for r in runs], ["wrong_small", "model_small", "long runs"])
        for r in runs[:2]:
            self.assertGreater(r["stops"], r["cycles"])
            self.assertGreater(r["cuts"], r["cycles"] // 3)
            self.assertGreater(r["lines"], 20)
        bad = json.loads(self.verify(*args, "--seeds", "24", "--keep-going", status=1, TERN_WRONG="4").stdout)["runs"]
        self.assertTrue(all("differs" in r for r in bad), bad)
        for r in bad:
            again = r["again"].split()
            self.assertEqual(again[:4], ["tern", "verify", "--kind", "preempt"])
            once = json.loads(self.verify(*again[2:], "--json", status=1, TERN_WRONG="4").stdout)["runs"]
            self.assertEqual([(x["kernel"], x["differs"]) for x in once], [("barriers", r["differs"])])
        self.assertRegex(bad[0]["differs"], "stopped by wrong_small at cycle [0-9]+, resumed there, engine [01]: ")
        crash = self.verify(*args[:-1], "--every", "50", status=1, TERN_WRONG="3").stdout
        self.assertIn("a simulator died", crash)
        self.assertIn("divergence\n",
                      self.verify("--kind", "preempt", "--kernel", "list", "--rtl", "wrong_small").stdout)
        self.assertIn("there is no kernel 'x'", self.verify(*args[:4], "--kernel", "x", status=2).stderr)

    def test_wrong_usage(self):
        for message, *args in (("not a possible number: '0'", "--seeds", "0"),
                               ("not a possible number: '-1'", "--seed", "-1"),
                               ("not a possible number: '12x'", "--jobs", "12x"),
                               ("not a possible number: '0'", "--patience", "0"),
                               ("not a time in minutes: 'x'", "--minutes", "x"),
                               ("there is no kind 'kernel'", "--kind", "kernel"),
                               ("there is no geometry 'big'", "--geometry", "big"),
                               ("unknown argument 'program'", "program"), ("not one of them: 'both'", "--stop", "both"),
                               ("unrecognized option '--sed'", "--sed", "1"), ("requires an argument", "--seeds")):
            r = self.verify(*args, status=2)
            self.assertIn(message, r.stderr)
            self.assertIn("tern verify --help", r.stderr)
            self.assertEqual(r.stdout, "")

    def test_options_that_would_be_ignored(self):
        preempt = ["--kind", "preempt"]
        for option, value in (("kernel", "fill"), ("every", "3"), ("cycle", "7"), ("stop", "rtl"),
                              ("granularity", "group")):
            for kind in ([], ["--kind", "all"], ["--kind", "program"], ["--mutants", "cpop-is-ctz"]):
                self.assertIn(f"--{option} is for --kind preempt; see",
                              self.verify(*kind, f"--{option}", value, status=2).stderr)
        for message, *args in (("--minutes has no meaning for --kind preempt", *preempt, "--minutes", "1"),
                               ("--instructions has no meaning for --kind preempt", "--instructions", "9", *preempt),
                               ("--coverage has no meaning for --kind preempt", *preempt, "--coverage", "x"),
                               ("--seeds has no meaning with --minutes", "--seeds", "3", "--minutes", "1"),
                               ("--every has no meaning with --cycle", *preempt, "--cycle", "5", "--every", "2"),
                               ("--seed has no meaning with --cycle", *preempt, "--cycle", "5", "--seed", "2"),
                               ("--seeds has no meaning with --cycle", *preempt, "--cycle", "5", "--seeds", "2"),
                               ("--record is for --mutants", "--record"),
                               ("--record needs --hints with --rtl", "--rtl", "x", "--mutants", "--record"),
                               ("--hints is for --mutants", "--hints", "x"),
                               ("--coverage has no meaning with --mutants", "--mutants", "--coverage", "x"),
                               ("--keep-going has no meaning with --mutants", "--mutants", "--keep-going")):
            r = self.verify(*args, status=2)
            self.assertIn(f"tern verify: {message}", r.stderr)
            self.assertEqual((r.stdout, r.stderr.count("\n")), ("", 1))

    def test_lists(self):
        """Lists of kernels and mutants, as text and as JSON."""
        for kind in ([], ["--kind", "preempt"]):
            names = self.verify("--rtl", "wrong_small", "--kernel", "list", *kind).stdout.split()
            self.assertEqual(json.loads(self.verify("--rtl", "wrong_small", "--json", "--kernel", "list",
                                                    *kind).stdout), {"kernels": names})
        names = self.verify("--rtl", "wrong_small", "--mutants", "list").stdout.split()
        self.assertEqual(json.loads(self.verify("--rtl", "wrong_small", "--json", "--mutants", "list").stdout),
                         {"mutants": names})

    def test_cannot_run(self):
        self.assertIn("ninja -C build tern_sim_nothing", self.verify("--rtl", "nothing", status=3).stderr)
        (self.dir / "libtern_sim_text.so").write_text("no library")
        self.assertIn("cannot be loaded", self.verify("--rtl", "text", status=3).stderr)
        self.assertIn("has no mutants", self.verify("--rtl", "model_small", "--mutants", status=3).stderr)

    def test_no_place_for_reports(self):
        self.out.write_text("a file in the way")
        d = self.wrong("--kind", "program", "--seeds", "500", mutant=2)["differences"][0]
        self.assertIn("Not a directory", d["note"])

    def test_help(self):
        r = self.verify("--help")
        for word in ("SYNOPSIS", "EXIT STATUS", "--mutants", "--minutes"):
            self.assertIn(word, r.stdout)
        self.assertTrue(all(len(line) <= 126 for line in r.stdout.split("\n")))


if __name__ == "__main__":
    unittest.main()
