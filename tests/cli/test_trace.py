# SPDX-License-Identifier: Apache-2.0
"""tern trace, and the traces: of invented events, of programs, and of 32 contexts that share the engines."""
import copy
import json
import os
import random
import subprocess
import sys
import unittest

from cli import TERN, Case
from tracefile import Trace

EVENTS = os.path.abspath(sys.argv.pop(1))  # The program trace_events.


class Writer(Case):
    def made(self, seed, *how):
        path = self.folder / "trace.json"
        r = subprocess.run([EVENTS, str(seed), *how], env={**os.environ, "TERN_TRACE": str(path)}, check=False)
        self.assertEqual(r.returncode, 0)
        return path

    def test_whatever_happens_it_is_whole(self):
        for seed in range(12):
            t = Trace(self.made(seed))
            t.check()
            self.assertGreater(len(t.ran()), 300)
            self.assertEqual({e["args"]["ended"] for e in t.ran()},
                             {"completed", "preempted", "page request", "faulted"})
            self.assertEqual({b["name"] for s in t.states.values() for _, _, b in s},
                             {"queued", "running", "preempted", "waiting for a fence", "waiting for a page"})
            asked = [e["args"] for e in t.events if e.get("name") == "page request"]
            self.assertEqual(len(asked), sum(e.get("args", {}).get("ended") == "page request" for e in t.events))
            self.assertEqual({a["address"] for a in asked}, {"0x00405000"})
            self.assertIn("a name", t.contexts().values())

    def test_a_program_that_exits_leaves_a_whole_file(self):
        Trace(self.made(1, "exit")).check()

    def test_a_program_that_is_killed_leaves_an_array_without_end(self):
        path = self.made(2, "kill")
        whole, _, cut = path.read_text().rpartition(",\n")  # The kernel may end an interrupted write at any page.
        self.assertGreater(len(whole), 100000)
        self.assertLess(len(cut), 4096)
        path.write_text(whole + "\n]")
        self.assertGreater(len(Trace(path).flows), 10)

    def test_a_reader_that_is_too_slow_misses_events_and_nothing_else(self):
        """The program goes on although nobody reads. The rest of the trace is complete, and says how many events are
        missing, and where.
        """
        fifo, text = self.folder / "fifo", []
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        p = subprocess.Popen([EVENTS, "5", "slow"], env={**os.environ, "TERN_TRACE": str(fifo)}, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(p.stdout.readline(), "told\n")
        os.set_blocking(reader, True)
        while sum(map(len, text)) < 12 << 20:
            text.append(os.read(reader, 1 << 20))
        p.stdin.write("\n")
        p.stdin.flush()
        while piece := os.read(reader, 1 << 20):
            text.append(piece)
        os.close(reader)
        _, said = p.communicate()
        self.assertEqual(p.returncode, 0)
        path = self.file("trace.json", b"".join(text))
        t = Trace(path)
        t.check(gaps=True)
        gaps = [e["name"].split() for e in t.marks if "missing" in e["name"]]
        self.assertEqual(len(gaps), 1)
        told = next(e["args"]["events"] for e in t.events if e.get("name") == "dropped_events")
        self.assertEqual(int(gaps[0][0]), told)
        self.assertIn(f"lacks {told} events", said)
        at = next(e["ts"] for e in t.marks if "missing" in e["name"])
        self.assertGreater(sum(e["ts"] > at for e in t.ran()), 300)

    def test_names_and_files(self):
        run = lambda **env: subprocess.run([EVENTS, "1"], env={**os.environ, **env}, capture_output=True, text=True,
                                           check=False, cwd=self.folder)
        r = run(TERN_TRACE="here-%p.json")
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertRegex(" ".join(p.name for p in self.folder.iterdir()), r"^here-\d+\.json$")
        r = run(TERN_TRACE="no/such/folder/x.json")
        self.assertEqual(r.returncode, 1)
        self.assertIn("no trace: no/such/folder/x.json: No such file or directory", r.stderr)
        r = run(TERN_TRACE="/dev/full")
        self.assertEqual(r.returncode, 0)
        self.assertEqual(r.stderr.count("No space left on device"), 1)

    def test_a_file_that_is_being_written_is_left_alone(self):
        path = self.folder / "trace.json"
        with open(path, "w") as f:
            import fcntl
            fcntl.flock(f, fcntl.LOCK_EX)
            f.write("mine")
            f.flush()
            self.made(3)
            self.assertEqual(path.read_text(), "mine")
        other = [p for p in self.folder.iterdir() if p != path]
        self.assertEqual(len(other), 1)
        Trace(other[0]).check()

    def test_the_judge_sees_what_is_wrong(self):
        """Trace.check finds each kind of damage to a good trace."""
        path = self.made(4)
        good = json.loads(path.read_text())
        rng = random.Random(1)

        def pick(ph):
            return rng.choice([i for i, e in enumerate(good) if e["ph"] == ph])

        def damaged(change):
            events = copy.deepcopy(good)
            change(events)
            path.write_text(json.dumps(events))
            with self.assertRaises(AssertionError):
                Trace(path).check()

        for ph in "stf"[::2]:
            damaged(lambda e, ph=ph: e.pop(pick(ph)))
        damaged(lambda e: e.pop(pick("E")))
        damaged(lambda e: e.pop(next(i for i, x in enumerate(e) if x["ph"] == "M" and x["name"] == "thread_name")))
        damaged(lambda e: e[pick("X")].update(dur=1e9))
        damaged(lambda e: e[pick("X")].update(dur=-1))
        damaged(lambda e: e[pick("f")].update(ts=0))
        damaged(lambda e: e.append({**e[pick("C")], "ts": 1e9}))


class Command(Case):
    def test_usage(self):
        self.assertIn("usage: tern trace", self.works("trace", "--help"))
        self.fails(2, "a program to run is missing", "trace")
        self.fails(2, "a program to run is missing", "trace", "-o", "x", "--")
        self.fails(2, "-o takes a file", "trace", "-o")
        self.fails(2, "the name of the file is too long", "trace", "-o", "x" * 5000, "true")
        self.fails(2, "unknown argument '--fast'", "trace", "--fast", "true")

    def test_the_program_s_end_is_ours(self):
        self.fails(127, "no-such-program: No such file or directory", "trace", "no-such-program")
        self.fails(1, "true opened no Tern device", "trace", "true")
        self.fails(7, "opened no Tern device", "trace", "--", "sh", "-c", "exit 7")
        self.fails(137, "opened no Tern device", "trace", "--", "sh", "-c", "kill -9 $$")
        self.fails(1, "no/such/x.json: No such file or directory", "trace", "-o", "no/such/x.json", "true")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_program_s_kernels(self):
        r = self.tern("trace", "-o", "out.json", "tern", "bench", "vecadd-16384")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("ui.perfetto.dev", r.stderr)
        t = Trace(self.folder / "out.json")
        t.check()
        self.assertIn("vecadd", [e["name"] for e in t.ran()])
        self.assertEqual(sorted(t.engines().values()), ["engine 0", "engine 1"])

    def test_work_that_is_cut_all_the_time(self):
        """Every piece of preempted work is in the trace, on both engines, and the arrow passes through all of them."""
        r = self.tern("trace", "-o", "out.json", "tern", "bench", "sgemm-128", TERN_CONFIG="default,preempt=3000")
        self.assertEqual(r.returncode, 0, r.stderr)
        t = Trace(self.folder / "out.json")
        t.check()
        pieces = sorted((e for e in t.ran() if e["name"].startswith("sgemm")), key=lambda e: e["ts"])
        self.assertGreater(len(pieces), 20)
        self.assertEqual({e["tid"] for e in pieces}, {tid for _, tid in t.engines()})
        self.assertEqual([e["args"]["resumed"] for e in pieces], [False] + [True] * (len(pieces) - 1))
        self.assertEqual([e["args"]["ended"] for e in pieces], ["preempted"] * (len(pieces) - 1) + ["completed"])
        self.assertIn(len(pieces) + 1, [len(points) for points in t.flows.values()])
        self.assertGreaterEqual(sum(e["name"] == "asked to stop" for e in t.marks), len(pieces) - 1)

    def test_work_that_never_ends(self):
        self.file("spin.cl", "kernel void spin(global int *x) { while (x[0] == 0) { } }")
        r = self.tern("trace", "-o", "out.json", "tern", "run", "spin.cl", "--global", 1, "zeros:1",
                      TERN_LIMIT_CYCLES="100000")
        self.assertEqual(r.returncode, 1, r.stderr)
        t = Trace(self.folder / "out.json")
        t.check()
        self.assertIn("faulted", [e["name"] for e in t.marks])

    def test_links_and_fifos(self):
        """A link is not followed by any writer. A FIFO receives the trace."""
        precious = self.file("precious", "mine")
        os.symlink(precious, self.folder / "link.json")
        self.fails(1, "link.json: it is a symbolic link", "trace", "-o", "link.json", "true")
        self.assertEqual(precious.read_text(), "mine")
        os.mkfifo(self.folder / "fifo")
        # The reader exists before anything is written.
        reader = os.open(self.folder / "fifo", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        r = self.tern("trace", "-o", "fifo", "tern", "info")
        self.assertEqual(r.returncode, 0, r.stderr)
        Trace(self.file("out.json", os.read(reader, 65536))).check()  # A FIFO's capacity exceeds the trace.

    def test_a_program_that_is_killed(self):
        """The file is completed, and contains everything up to the last work of the device."""
        script = self.file("killed.sh", f'#!/bin/sh\n"{TERN}" bench vecadd-16384 >/dev/null\nkill -9 $$\n')
        script.chmod(0o755)
        r = self.tern("trace", "-o", "killed.json", script)
        self.assertEqual(r.returncode, 137, r.stderr)
        t = Trace(self.folder / "killed.json")
        t.check()
        self.assertIn("vecadd", [e["name"] for e in t.ran()])

    def test_thirty_two_contexts(self):
        """One command traces 32 contexts that share two engines."""
        r = self.tern("trace", "-o", "out.json", "--", "tern", "bench", "sched", "--contexts", "32")
        self.assertEqual(r.returncode, 0, r.stderr)
        t = Trace(self.folder / "out.json")
        t.check()
        ran = t.ran()
        crowd = {e["args"]["id"] for e in ran if e["args"]["ended"] == "preempted"}
        self.assertGreaterEqual(len(t.contexts()), 32)
        self.assertGreaterEqual(len(crowd), 16)  # These contexts have buffers longer than a quantum.
        self.assertTrue(all(any(e["args"]["resumed"] for e in ran if e["args"]["id"] == c) for c in crowd))
        self.assertEqual({e["tid"] for e in ran}, {t for _, t in t.engines()})
        self.assertTrue(any(len(points) > 3 for points in t.flows.values()))


if __name__ == "__main__":
    unittest.main()
