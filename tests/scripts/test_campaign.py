# SPDX-License-Identifier: Apache-2.0
"""scripts/campaign on invented builds, whose tern-verify does what a test asks for: results are kept as they come and a
campaign goes on, a worker that dies loses its task to another, a task that fails twice is reported with the command
that repeats it, and workers of other versions, a scheduler that is not there or has gone, and full disks are told in
one sentence each, with nothing lost. One campaign runs the real tern-verify on the model.

usage: test_campaign.py BUILD

Ends with 77 and the reason if Dask is not installed for scripts/campaign.
"""
import contextlib
import io
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "build/campaign/tools/bin/python"
if not PYTHON.exists():
    print("scripts/campaign has no Dask yet: it is installed when scripts/campaign verify --cases 2 is run")
    sys.exit(77)
if pathlib.Path(sys.prefix) != PYTHON.parents[1]:
    os.execv(PYTHON, [str(PYTHON), *sys.argv])
sys.path.insert(0, str(ROOT / "scripts/lib"))
# pylint: disable=wrong-import-position
import distributed  # noqa: E402
from campaign import cover, crew, kinds, main, mutants, node, report, results, tree, verify  # noqa: E402

# What stands for tern-verify. CONTROL is a folder: runs has a line for each range of seeds, and a file there, named by
# the first seed, asks for harm: fail: exit status 3 while the file is there; kill: the worker dies, once; wait: it
# waits until the file is gone; nonsense: no JSON; short: a case is missing; differ: a case differs.
TOOL = '''#!/usr/bin/python3
import json, os, pathlib, signal, sys, time
control = pathlib.Path({control!r})
if "--help" in sys.argv:
    sys.exit((control / "broken").exists())
def option(name):
    return sys.argv[sys.argv.index(name) + 1]
seed, seeds = int(option("--seed")), int(option("--seeds"))
with (control / "runs").open("a") as runs:
    runs.write(f"{{seed}} {{seeds}}\\n")
def asked(what):
    return (control / f"{{what}}-{{seed}}").exists()
if asked("kill"):
    (control / f"kill-{{seed}}").unlink()
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
while asked("wait"):
    time.sleep(0.02)
if asked("fail"):
    print("no device can be created", file=sys.stderr)
    sys.exit(3)
if asked("nonsense"):
    print("[]")
    sys.exit()
if "--coverage" in sys.argv:
    out = pathlib.Path(option("--coverage"))
    out.mkdir()
    (out / "0.json").write_text(json.dumps({{"add.part": seeds, "add.none": 0, f"add.{{seed}}": 1}}))
    (out / "0.dat").write_text(f"# Coverage\\nC 'page' {{seeds}}\\nC 'x{{seed}}' 0\\n")
differ = [{{"kind": "stream", "seed": seed, "what": "memory", "text": "bytes <differ>",
           "again": f"tern verify --kind stream --seed {{seed}} --seeds 1"}}] if asked("differ") else []
if differ:
    pathlib.Path(option("--output"), f"stream-{{seed}}.txt").write_text("a report")
cases = seeds * 2 - asked("short")
print(json.dumps({{"cases": cases, "warp_instructions": seed, "indications": 1, "faults": 0, "page_requests": 0,
                  "cycles": 5, "interrupted": False, "differences": differ, "too_slow": []}}))
sys.exit(1 if differ else 0)
'''


def until(true, seconds=30):
    """Waits until true() is, and fails after so many seconds."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f"{true} is not true after {seconds} s")
        time.sleep(0.02)


class Case(unittest.TestCase):
    """A folder with an invented build, its control folder and a cache."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.build, self.control, self.out = (self.folder / n for n in ("build", "control", "out"))
        (self.build / "lib/tern").mkdir(parents=True)
        self.control.mkdir()
        (self.build / "CMakeCache.txt").write_text("CMAKE_BUILD_TYPE:STRING=Release\nTERN_RTL:BOOL=ON\n")
        tool = self.build / "lib/tern/tern-verify"
        tool.write_text(TOOL.format(control=str(self.control)))
        tool.chmod(0o755)
        for name in "rtl_small", "model_small", "rtl_coverage":
            (self.build / f"lib/libtern_sim_{name}.so").write_text(name)
        before = os.environ.get("TERN_CACHE_DIR")
        os.environ["TERN_CACHE_DIR"] = str(self.folder / "cache")
        self.addCleanup(lambda: os.environ.update(TERN_CACHE_DIR=before) if before else
                        os.environ.pop("TERN_CACHE_DIR"))

    def words(self, *more, cases=24):
        return ["verify", "--cases", str(cases), "--chunk", "4", "--no-build", "--build", str(self.build), "--output",
                str(self.out), *more]

    def run_main(self, *more, **named):
        """Runs a campaign in this process. Returns its exit status and what it printed."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = main.main(self.words(*more, **named))
        return status, said.getvalue()

    def ask(self, what, seed):
        (self.control / f"{what}-{seed}").write_text("")

    def runs(self):
        path = self.control / "runs"
        return [tuple(map(int, line.split())) for line in path.read_text().splitlines()] if path.exists() else []

    def lines(self):
        return [json.loads(x) for x in (self.out / "results.jsonl").read_text().splitlines()]

    def check_all(self, cases=24):
        """All cases have a result, each in one line."""
        found = sorted(x["task"] for x in self.lines() if "result" in x)
        expected = sorted(f"seeds-{s}-{min(s + 1, cases // 2)}" for s in range(1, cases // 2 + 1, 2))
        self.assertEqual(found, expected)
        self.assertEqual(sum(x["result"]["cases"] for x in self.lines() if "result" in x), cases)


class OnScheduler(Case):
    """Campaigns on a scheduler of this process, with workers in threads of it."""
    @classmethod
    def setUpClass(cls):
        crew.configure(10)
        cls.cluster = distributed.LocalCluster(n_workers=0, processes=False, protocol="tcp://", host="127.0.0.1",
                                               dashboard_address=None, silence_logs=50)
        cls.address = cls.cluster.scheduler_address

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def workers(self, count):
        self.cluster.scale(count)
        self.cluster.wait_for_workers(count) if count else until(lambda: not self.cluster.scheduler_info["workers"])

    def setUp(self):
        super().setUp()
        self.workers(2)
        self.addCleanup(self.workers, 0)

    def campaign(self, *more, **named):
        return self.run_main("--scheduler", self.address, *more, **named)

    def test_all_cases_once(self):
        status, said = self.campaign()
        self.assertEqual(status, 0, said)
        self.check_all()
        self.assertIn("24 cases", said)
        self.assertRegex(said, r"campaign verify: 24 of 24 cases, [\d.]+/s, 2 workers\n")
        page = (self.out / "index.html").read_text()
        self.assertIn("24 of 24 cases", page)
        self.assertNotIn("http", page.lower().replace("<!doctype html>", ""))
        before = self.runs()
        status, said = self.campaign()  # All of it has a result.
        self.assertEqual((status, self.runs()), (0, before), said)

    def test_failed_twice(self):
        self.ask("fail", 3)
        self.ask("nonsense", 5)
        self.ask("short", 7)
        status, said = self.campaign()
        self.assertEqual(status, 3, said)
        self.assertEqual([self.runs().count((s, 2)) for s in (1, 3, 5, 7, 9)], [1, 2, 2, 2, 1])
        for text in (r"the task seeds-3-4 failed twice: exit status 3 at \S+: no device can be created; this repeats "
                     r"it here: build/lib/tern/tern-verify --kind all --seed 3 --seeds 2 --geometry small --jobs 1",
                     r"seeds-5-6 failed twice: its output is no result of tern verify",
                     r"seeds-7-8 failed twice: it compared 3 of its 4 cases"):
            self.assertRegex(said, text)
        page = (self.out / "index.html").read_text()
        self.assertIn("build/lib/tern/tern-verify --kind all --seed 3 --seeds 2", page)
        self.assertIn("12 of 24 cases", page)
        for path in self.control.glob("*-*"):
            path.unlink()
        status, said = self.campaign()  # What failed is tried again.
        self.assertEqual(status, 0, said)
        self.check_all()

    def test_differences(self):
        self.ask("differ", 3)
        status, said = self.campaign()
        self.assertEqual(status, 1, said)
        self.assertIn("again: tern verify --kind stream --seed 3 --seeds 1", said)
        self.assertIn("bytes &lt;differ&gt;", (self.out / "index.html").read_text())
        self.assertEqual((self.out / "files/seeds-3-4/stream-3.txt").read_text(), "a report")
        self.check_all()

    def test_stop_after(self):
        for seed in range(1, 200, 2):
            self.ask("differ", seed)
        status, said = self.campaign("--stop-after", "3", cases=400)
        self.assertEqual(status, 1, said)
        self.assertIn("the same command goes on", said)
        self.assertLess(len(self.lines()), 30)

    def test_coverage_is_merged(self):
        every, cover.EVERY = cover.EVERY, 4
        self.addCleanup(setattr, cover, "EVERY", every)
        self.ask("fail", 9)
        self.assertEqual(self.campaign("--coverage")[0], 3)
        (self.control / "fail-9").unlink()
        self.assertEqual(self.campaign("--coverage")[0], 0)
        found = json.loads((self.out / "coverage.json").read_text())
        self.assertEqual(len(found["tasks"]), 6)
        self.assertEqual(found["bins"], {"add.part": 12, "add.none": 0, **{f"add.{s}": 1 for s in range(1, 12, 2)}})
        self.assertEqual(found["points"], {"C 'page'": 12, **{f"C 'x{s}'": 0 for s in range(1, 12, 2)}})
        self.assertTrue((self.out / "coverage/index.html").exists())

    def test_other_versions(self):
        real = crew.different
        bad = list(self.cluster.scheduler_info["workers"])[0]
        mine = distributed.versions.get_versions()

        def other(**packages):
            return {**mine, "packages": {**mine["packages"], **packages}}

        self.assertIsNone(real(other(), mine))
        self.assertIsNone(real(other(python="3.11.99.final.0"), other(python="3.11.2.final.0")))
        self.assertIn("Python 3.12.1, and this machine has 3.11.2: the first two numbers must be equal",
                      real(other(python="3.12.1.final.0"), other(python="3.11.2.final.0")))
        self.assertRegex(real(other(distributed="2020.1.0"), mine), "distributed 2020.1.0, and this machine has")
        worker = next(w for w in self.cluster.workers.values() if w.address == bad)
        worker.handlers["versions"] = lambda **_: other(dask="2020.1.0")
        status, said = self.campaign()
        self.assertEqual(status, 0, said)
        self.assertEqual(len(re.findall(rf"{bad}: this worker is not used: it has dask 2020.1.0, and this", said)), 1)
        self.assertNotIn(bad, {x["about"]["worker"] for x in self.lines()})
        self.check_all()

    def test_other_scheduler(self):
        mine = distributed.versions.get_versions()
        scheduler = self.cluster.scheduler
        before = scheduler.handlers["versions"]
        packages = {**mine["packages"], "distributed": "2020.1.0"}
        scheduler.handlers["versions"] = lambda **_: {**mine, "packages": packages}
        self.addCleanup(scheduler.handlers.update, versions=before)
        status, said = self.campaign()
        self.assertEqual(status, 3)
        self.assertRegex(said, rf"campaign: {self.address}: the scheduler has distributed 2020.1.0, and this machine")

    def test_another_tern(self):
        """A file of the cache was exchanged for that of another version."""
        self.assertEqual(self.campaign()[0], 0)
        library = next((self.folder / "cache/campaigns/trees").glob("*/build/lib/libtern_sim_rtl_small.so"))
        library.write_text("older")
        shutil.rmtree(self.out)
        status, said = self.campaign("--wait", "1")
        self.assertEqual(status, 3, said)
        self.assertEqual(len(re.findall("this worker is not used: .*libtern_sim_rtl_small.so is of another version of "
                                        "Tern than the campaign", said)), 2)
        self.assertEqual(len(re.findall("^campaign: .*no worker that can be used has been there for 1 s", said, re.M)),
                         1)

    def test_programs_that_do_not_start(self):
        (self.control / "broken").write_text("")
        status, said = self.campaign("--wait", "1")
        self.assertEqual(status, 3, said)
        self.assertIn("this worker is not used: build/lib/tern/tern-verify does not start: exit status 1", said)

    def test_full_disk_of_a_worker(self):
        """A worker whose cache has no room is not used, and the others do the work. It has a file system of 64 KiB."""
        (self.build / "lib/libtern_sim_rtl_small.so").write_bytes(os.urandom(100000))
        small = self.folder / "small"
        small.mkdir()
        user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
        if subprocess.run(["unshare", *user, "--mount", "mount", "-t", "tmpfs", "none", small], check=False,
                          stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no file system may be mounted here")
        self.workers(1)
        words = ["unshare", *user, "--mount", "sh", "-c", 'mount -t tmpfs -o size=64k none "$1" && shift && exec "$@"',
                 "sh", small, PYTHON, "-m", "distributed.cli.dask_worker", self.address, "--no-nanny", "--no-dashboard",
                 "--nthreads", "1", "--local-directory", self.folder / "worker"]
        with subprocess.Popen(words, env={**os.environ, "TERN_CACHE_DIR": str(small)}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as worker:
            try:
                self.cluster.wait_for_workers(2)
                status, said = self.campaign()
            finally:
                worker.kill()
        self.assertEqual(status, 0, said)
        self.assertEqual(len(re.findall(rf"this worker is not used: {small}/\S+: No space left on device; free some "
                                        "room there", said)), 1, said)
        self.check_all()


class Ends(Case):
    """A scheduler that ends."""

    def test_lost_scheduler(self):
        """All that came is kept, and the next scheduler's workers take what is left."""
        for seed in 5, 7:
            self.ask("wait", seed)
        gone, crew.GONE = crew.GONE, 1.0
        self.addCleanup(setattr, crew, "GONE", gone)
        crew.configure(2)
        place = self.folder / "scheduler.json"
        with subprocess.Popen([PYTHON, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
                               "--no-dashboard", "--scheduler-file", place], stderr=subprocess.DEVNULL) as scheduler:
            until(place.exists)
            address = json.loads(place.read_text())["address"]
            with subprocess.Popen([PYTHON, "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--no-dashboard",
                                   "--nthreads", "2", "--local-directory", self.folder / "worker"],
                                  stderr=subprocess.DEVNULL) as worker:
                end = threading.Thread(target=lambda: (until(lambda: len(self.runs()) >= 4), scheduler.kill()))
                end.start()
                try:
                    status, said = self.run_main("--scheduler", address, "--wait", "3")
                finally:
                    end.join()
                    worker.kill()
                    scheduler.kill()
        self.assertEqual(status, 3, said)
        self.assertEqual(len(re.findall(r"^campaign: .*the scheduler does not answer any more; all results that came "
                                        "are kept", said, re.M)), 1, said)
        before = self.lines()
        self.assertGreaterEqual(len(before), 1)
        for path in self.control.glob("wait-*"):
            path.unlink()
        with distributed.LocalCluster(n_workers=1, processes=False, protocol="tcp://", host="127.0.0.1",
                                      dashboard_address=None, silence_logs=50) as other:
            status, said = self.run_main("--scheduler", other.scheduler_address)
        self.assertEqual(status, 0, said)
        self.assertEqual(self.lines()[:len(before)], before)
        self.check_all()


class OnProcesses(Case):
    """Campaigns by scripts/campaign, with workers that are processes."""

    def command(self, *more, **named):
        return [ROOT / "scripts/campaign", *self.words(*more, **named)]

    def test_dead_worker_and_killed_campaign(self):
        """A worker dies with its task; then the client is killed; then the campaign goes on, and is done."""
        self.ask("kill", 3)
        self.ask("wait", 9)
        with subprocess.Popen(self.command("--jobs", "2"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, start_new_session=True) as first:
            try:
                until(lambda: (self.out / "results.jsonl").exists() and len(self.lines()) >= 3 and
                      self.runs().count((3, 2)) >= 2 and (9, 2) in self.runs())
            finally:
                first.kill()
        before = self.lines()
        with (self.out / "results.jsonl").open("a") as torn:
            torn.write('{"task":"seeds-11-12","res')
        (self.control / "wait-9").unlink()
        done = subprocess.run(self.command("--jobs", "1"), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.lines()[:len(before)], before)
        self.assertIn(f"{len(before)} of 6 tasks have a result", done.stderr)
        self.check_all()

    def test_no_scheduler(self):
        start = time.monotonic()
        done = subprocess.run(self.command("--scheduler", "tcp://127.0.0.1:9", "--wait", "1"), capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr,
                         "^campaign: tcp://127.0.0.1:9: no scheduler of Dask answers within 1 s; [^\n]*\n$")
        self.assertLess(time.monotonic() - start, 30)


class Parts(Case):
    """Parts without a cluster."""


    def test_full_disk(self):
        """A line that does not fit is not there at all; the same line can be added when there is room."""
        store = results.Store(self.out, {"kind": "verify", "tern": "K", "parameters": {}})
        store.add({"task": "a", "result": {"x": 1}})
        size = (self.out / "results.jsonl").stat().st_size
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, limit[1]))
        try:
            with self.assertRaises(kinds.Cannot) as told:
                store.add({"task": "b", "result": {"x": "y" * 100}})
            with self.assertRaises(kinds.Cannot):
                store.keep_files("b", {"large": b"x" * (size + 100)})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            signal.signal(signal.SIGXFSZ, before)
        self.assertRegex(str(told.exception), r"results.jsonl: File too large; free some room there; all 1 results "
                                              "before are kept")
        self.assertEqual((self.out / "results.jsonl").stat().st_size, size)
        self.assertFalse((self.out / "files/b/large").exists())
        store.add({"task": "b", "result": {"x": 2}})
        store.close()
        store = results.Store(self.out, {"kind": "verify", "tern": "K", "parameters": {}})
        self.assertEqual(store.results, {"a": {"x": 1}, "b": {"x": 2}})
        with self.assertRaisesRegex(kinds.Cannot, "is being run by another process"):
            results.Store(self.out, {"kind": "verify", "tern": "K", "parameters": {}})
        with self.assertRaisesRegex(ValueError, "has a result already"):
            store.take({"task": "a", "result": {}})
        store.close()
        with self.assertRaisesRegex(kinds.Cannot, "has the results of another campaign"):
            results.Store(self.out, {"kind": "verify", "tern": "L", "parameters": {}})
        with (self.out / "results.jsonl").open("a") as out:
            out.write("nonsense\n")
        with self.assertRaisesRegex(kinds.Cannot, r"results.jsonl:3: not a result"):
            results.Store(self.out, {"kind": "verify", "tern": "K", "parameters": {}})

    def test_full_disk_of_the_cache(self):
        """The archive does not fit: no part of it stays."""
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
        try:
            with self.assertRaisesRegex(node.Unfit, "archives: File too large; free some room there"):
                node.keep_archive(b"x" * 2000, self.folder / "cache", "K")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
            signal.signal(signal.SIGXFSZ, before)
        self.assertEqual(list((self.folder / "cache/archives").iterdir()), [])

    def test_archive(self):
        """The same files make the same archive; another flag or another byte makes another key."""
        files = tree.of_build(self.build, "lib/tern/tern-verify", "lib/libtern_sim_rtl_small.so")
        first = tree.Archive(files, self.build, self.folder / "a")
        second = tree.Archive(files, self.build, self.folder / "b")
        self.assertEqual((first.key, first.read()), (second.key, second.read()))
        (self.build / "lib/libtern_sim_rtl_small.so").write_text("other")
        other = tree.Archive(files, self.build, self.folder / "a")
        self.assertNotEqual(other.key, first.key)
        (self.build / "CMakeCache.txt").write_text("CMAKE_BUILD_TYPE:STRING=Debug\nTERN_RTL:BOOL=ON\n")
        self.assertNotEqual(tree.Archive(files, self.build, self.folder / "a").key, other.key)
        with self.assertRaisesRegex(kinds.Cannot, "libtern_sim_none.so is not there: build it"):
            tree.of_build(self.build, "lib/libtern_sim_none.so")
        place = node.unpack_shared(first.path, self.folder / "c", first.key)
        node.check(place, first.key)
        with self.assertRaisesRegex(node.Unfit, "has another version of Tern"):
            node.check(place, other.key)
        with self.assertRaisesRegex(node.Unfit, "cannot be unpacked"):
            node.unpack_shared(self.build / "CMakeCache.txt", self.folder / "c", "broken")
        self.assertEqual([p.name for p in (self.folder / "c/trees").iterdir()], [first.key])

    def test_ranges(self):
        """All seeds are in one task each, whatever numbers are given."""
        for cases, chunk, seed, kind in ((2, 2, 0, "all"), (10, 4, 5, "all"), (7, 3, 1, "stream"), (6, 100, 9, "all")):
            opts = main.parse(["verify", "--cases", str(cases), "--chunk", str(chunk), "--seed", str(seed), "--kind",
                               kind])
            made = list(verify.tasks(opts, *verify.check(opts), "rtl_small", "model_small"))
            seeds = [s for t in made for s in range(int(t.argv[4]), int(t.argv[4]) + int(t.argv[6]))]
            each = 2 if kind == "all" else 1
            self.assertEqual(seeds, list(range(seed, seed + cases // each)))
            self.assertEqual(sum(t.weight for t in made), cases)
            self.assertEqual(len({t.name for t in made}), len(made))

    def test_wrong_use(self):
        for words, text in ((["--cases", "3"], "--cases is 3: it must be at least 2, and even"),
                            (["--cases", "0", "--kind", "stream"], "--cases is 0: it must be at least 1"),
                            (["--cases", "2", "--chunk", "1"], "--chunk is 1"),
                            (["--cases", "2", "--coverage", "--geometry", "tiny"], "--coverage is of the device"),
                            (["--cases", "2", "--seed", "-1"], "--seed and --stop-after")):
            with self.assertRaisesRegex(kinds.Usage, re.escape(text)):
                verify.check(main.parse(["verify", *words]))
        for words in (["verify"], ["verify", "--cases", "2", "--slurm", "1", "--scheduler", "tcp://a:1"],
                      ["verify", "--cases", "2", "--queue", "long"], ["verify", "--cases", "2", "--jobs", "0"], []):
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()) as said:
                main.parse(words)
            self.assertEqual(ended.exception.code, 2)
            self.assertRegex(said.getvalue(), "^campaign: .*; see scripts/campaign[ a-z]* --help\n$")

    def test_mutants(self):
        """Tasks of several mutants; one that is not caught is a result, one that is not named is none."""
        self.assertEqual(mutants.batches(list("abcde"), 4), [["a", "b"], ["c", "d", "e"]])
        task = kinds.Task("mutants-1", ("tern-verify", "--mutants", "a", "b"), 2)

        def read(*found):
            text = json.dumps({"mutants": [{"mutant": n, "name": m, "caught": c, "too_slow": False,
                                            "difference": {"again": "this"} if c else None} for n, m, c in found]})
            return mutants.read(task, kinds.Output(1, text, "the unchanged RTL differs", {}, 1.0))
        result = read((1, "a", True), (2, "b", False), (0, "unchanged", False))
        self.assertEqual(result, {"mutants": {"a": "this", "b": None}})
        total = mutants.total({"mutants-1": result})
        self.assertEqual(total.status, 1)
        self.assertEqual(total.lines, ["2 mutants, 1 caught, 1 not", "not caught: b; again: tern verify --mutants b"])
        with self.assertRaisesRegex(kinds.Wrong, "ended before the mutant 'b': the unchanged RTL differs"):
            read((1, "a", True))

    def test_page(self):
        """The page shows what was found as text, not as HTML."""
        self.assertIn("&lt;b&gt;", report.table("T", ("a",), [("<b>",)]))
        self.assertIn("None.", report.table("T", ("a",), []))


class Real(Case):
    """The programs of this build."""

    def test_sums_are_those_of_tern_verify(self):
        tool = BUILD / "lib/tern/tern-verify"
        words = ["--rtl", "model_small", "--model", "model_small"]
        whole = json.loads(subprocess.run([tool, *words, "--seeds", "10", "--seed", "5", "--jobs", "1", "--json",
                                           "--output", self.folder], capture_output=True, check=True).stdout)
        done = subprocess.run([ROOT / "scripts/campaign", "verify", "--cases", "20", "--seed", "5", "--chunk", "10",
                               "--jobs", "1", "--no-build", "--build", BUILD, "--output", self.out, *words],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in verify.SUMS:
            self.assertEqual(sum(x["result"][name] for x in self.lines()), whole[name], name)


if __name__ == "__main__":
    BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
