# SPDX-License-Identifier: Apache-2.0
"""tern top: as text, as JSON, on a terminal, around a program. Cycles that a context ran on another device do not count
in its share of this device's time."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from cli import TERN, Case


PATIENCE = 250  # Seconds. Only a failing test waits this long.


class Top(Case):
    def setUp(self):
        super().setUp()
        self.env = {"XDG_RUNTIME_DIR": str(self.folder)}

    def start(self, *args, out=subprocess.DEVNULL):
        """Starts a program with a device."""
        p = subprocess.Popen([TERN, *args], stdout=out, stderr=subprocess.DEVNULL, cwd=self.folder,
                             env={**os.environ, **self.env, "TERN_BACKEND": "model", "TERN_CONFIG": "default"})
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def looks(self, *args):
        return [json.loads(x) for x in self.works("top", "--json", *args, **self.env).splitlines()]

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            time.sleep(0.1)
        self.fail(f"it did not come in {PATIENCE} seconds")

    def test_usage(self):
        self.assertIn("usage: tern top", self.works("top", "--help"))
        for args in (["-n"], ["-n", "0"], ["-n", "x"], ["-n", "1.5"]):
            self.fails(2, "-n takes a number from 1 on", "top", *args)
        for args in (["-d"], ["-d", "0"], ["-d", "1s"], ["-d", "9999"]):
            self.fails(2, "-d takes seconds", "top", *args)
        self.fails(2, "unknown argument 'all'", "top", "all")
        self.fails(2, "unknown argument '--'", "top", "--")

    def test_nobody(self):
        self.assertIn("No process of yours has a Tern device open", self.works("top", **self.env))
        self.assertEqual(self.looks(), [{"devices": [], "other_versions": 0}])
        self.assertEqual(len(self.looks("-n", 3, "-d", 0.1)), 3)

    @unittest.skipIf(os.geteuid(), "only root can be another user")
    def test_a_folder_of_somebody_else(self):
        """Without XDG_RUNTIME_DIR the folder is in /tmp, where any user may have created it."""
        uid = 61234 + os.getpid() % 1000
        folder = pathlib.Path(f"/tmp/tern-{uid}")
        plain = {k: v for k, v in os.environ.items() if k != "XDG_RUNTIME_DIR"}
        for owner, mode, why in ((0, 0o755, "belongs to another user"), (uid, 0o777, "can be written by other users")):
            folder.mkdir()
            try:
                os.chown(folder, owner, -1)
                folder.chmod(mode)
                r = subprocess.run([TERN, "top", "--once"], capture_output=True, text=True, check=False, user=uid,
                                   group=uid, cwd="/", env=plain)
            finally:
                folder.rmdir()
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn(f"{folder} {why}", r.stdout)
            self.assertIn("set XDG_RUNTIME_DIR", r.stdout)

    def test_a_crowd(self):
        """Sixteen contexts on two engines, seen by another process."""
        # The program runs longer than the test takes on any host.
        p = self.start("bench", "sched", "--contexts", "16", "--quantum", "1000000")

        def crowd():
            self.assertIsNone(p.poll(), "it ended before it was seen")
            devices = self.looks()[0]["devices"]
            return devices if devices and sum(c["cycles"] > 0 for c in devices[0]["contexts"]) >= 16 else None

        d = self.until(crowd)[0]
        self.assertEqual((d["pid"], d["backend"], len(d["engines"])), (p.pid, "model", 2))
        self.assertEqual(d["contexts_alive"], len(d["contexts"]))
        self.assertTrue(0 < d["memory_free"] < d["memory_bytes"])
        self.assertEqual([e["engine"] for e in d["engines"]], [0, 1])
        self.assertEqual(([p["name"] for p in d["partitions"]], d["partitions_alive"]), (["default"], 1))
        self.assertEqual({c["partition"] for c in d["contexts"]}, {"default"})
        self.assertEqual(d["partitions"][0]["memory_free"], d["memory_free"])
        for e in d["engines"]:
            self.assertGreater(e["busy"], 0)
            self.assertTrue(0 < e["busy_percent"] <= 100)
        for c in d["contexts"]:
            self.assertEqual((c["band"], c["weight"]), ("normal", 100))
            self.assertIn(c["state"], ("idle", "queued", "running"))
            self.assertGreaterEqual(c["submitted"], c["completed"])
        self.assertGreaterEqual(d["time"] * 2, sum(c["cycles"] for c in d["contexts"]))
        self.assertIn("PROCESS", self.works("top", "--once", **self.env))
        p.kill()
        p.wait()
        self.assertEqual(self.looks()[0]["devices"], [])  # The program's file still exists but is ignored.

    def test_what_came_from_another_device(self):
        """Cycles that a restored context brought along do not count in its share of this device's time."""
        r = self.tern("checkpoint", "-o", "c.tck", "--at-cycle", 3000000, "--stop", "tern", "bench", "sched",
                      "--contexts", "16", "--quantum", "200000", **self.env)
        self.assertEqual(r.returncode, 0, r.stderr)
        out, into = os.pipe()  # The pipe is full, so the restored program keeps its device until its output is read.
        self.addCleanup(os.close, out)
        os.set_blocking(into, False)
        with contextlib.suppress(BlockingIOError):
            while os.write(into, bytes(4096)):
                pass
        os.set_blocking(into, True)
        p = self.start("restore", "c.tck", out=into)
        os.close(into)

        def ran():
            self.assertIsNone(p.poll(), "it ended before it was seen")
            look = self.looks()[0]["devices"]
            return look if look and sum(c["cycles_here"] for c in look[0]["contexts"]) else None

        first, later = self.until(ran)[0], self.until(ran)[0]
        brought = {c["context"]: c["cycles"] - c["cycles_here"] for c in first["contexts"]}
        self.assertGreater(sum(brought.values()), 3000000)  # The cycles are of two engines.
        self.assertEqual({c["context"]: c["cycles"] - c["cycles_here"] for c in later["contexts"]}, brought)
        for look in first, later:
            for c in look["contexts"]:
                self.assertAlmostEqual(c["run_percent"], min(100, 100 * c["cycles_here"] / look["time"]), delta=0.01)

    def test_around_a_program(self):
        until_seen = f"""while "{TERN}" bench sched --contexts 16 --quantum 100000
                         do grep -qF '"devices":[{{' looks && exit 0; done; exit 1"""
        with (self.folder / "looks").open("w") as out:
            r = subprocess.run([TERN, "top", "--json", "-d", "0.1", "--", "sh", "-c", until_seen], stdout=out,
                               stderr=subprocess.PIPE, text=True, cwd=self.folder, check=False,
                               env={**os.environ, **self.env, "TERN_BACKEND": "model", "TERN_CONFIG": "default"})
        self.assertEqual(r.returncode, 0, r.stderr)
        looks = [json.loads(x) for x in (self.folder / "looks").read_text().splitlines()]
        self.assertTrue(any(x["devices"] for x in looks))
        self.assertIn("Jain's index", r.stderr)
        times = [(x["devices"][0]["pid"], x["devices"][0]["time"]) for x in looks if x["devices"]]
        times = [time for pid, time in times if pid == times[0][0]]  # The times of one run of the program.
        self.assertEqual(times, sorted(times))
        self.fails(127, "no-such-program: No such file", "top", "--", "no-such-program", **self.env)
        self.assertEqual(self.tern("top", "--", "sh", "-c", "exit 9", **self.env).returncode, 9)

    def test_only_the_program_s_devices(self):
        # The program runs longer than the test takes on any host.
        p = self.start("bench", "sched", "--contexts", "16", "--quantum", "1000000")
        self.until(lambda: self.looks()[0]["devices"])
        p.send_signal(signal.SIGSTOP)  # The stopped program keeps its device.
        r = self.works("top", "--json", "-d", "0.1", "--", "sleep", "0.5", **self.env)
        self.assertIsNone(p.poll(), "it ended before the test")
        self.assertEqual([json.loads(x)["devices"] for x in r.splitlines()], [[] for _ in r.splitlines()])

    def test_nothing_is_published_if_unwanted(self):
        r = self.tern("top", "--json", "-d", "0.1", "--", "tern", "bench", "sgemm-128", TERN_STATS="0", **self.env)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertTrue(all(not json.loads(x)["devices"] for x in r.stdout.splitlines()))
        self.assertFalse((self.folder / "tern").exists())

    def top_on_terminal(self, *args, **more):
        return self.on_terminal("top", *args, LINES="50", COLUMNS="160", **self.env, **more)

    def test_terminal(self):
        """On a terminal, top draws a screen until q."""
        status, seen = self.top_on_terminal("-d", "0.2", until=b"No process of yours")
        self.assertEqual(status, 0, seen)
        self.assertIn(b"q leaves", seen)

    def test_terminal_and_program(self):
        """The program's output follows the screen, and its exit status is the command's."""
        mark = self.folder / "seen"
        program = (f'until [ -e "{mark}" ]; do "{TERN}" bench sched --contexts 16 --quantum 100000 || exit 1; done; '
                   'echo to us >&2; exit 5')
        status, seen = self.top_on_terminal("-d", "0.1", "--", "sh", "-c", program, until=b"tern-bench-sched",
                                            then=mark)
        self.assertEqual(status, 5, seen)
        self.assertIn(b"ENGINE", seen)
        self.assertIn(b"tern-bench-sched", seen)
        self.assertGreater(seen.index(b"Jain's index"), seen.rindex(b"ENGINE"))
        self.assertIn(b"to us", seen)


if __name__ == "__main__":
    unittest.main()
