# SPDX-License-Identifier: Apache-2.0
"""scripts/campaign on an invented build (campaign_case.py): results are kept as they come and a campaign goes on, a
worker that dies loses its task to another, a task that fails twice is reported with the command that repeats it, and
workers of other versions, a scheduler that is not there or has gone, and full disks are told in one sentence each, with
nothing lost. One campaign runs the real tern-verify on the model.

usage: test_campaign_dask.py BUILD

Ends with 77 and the reason if Dask is not installed for scripts/campaign.
"""
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
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
# pylint: disable=wrong-import-position
import distributed  # noqa: E402
from campaign_case import Case, until  # noqa: E402
from campaign import cover, crew, main, nightly, node, verify  # noqa: E402
from testing import steps  # noqa: E402


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


    def test_nightly(self):
        """Steps run on a copy of the tree at its own path, and are counted and kept as scripts/test does."""
        if subprocess.run([*node.spaces(), "true"], check=False, stderr=subprocess.DEVNULL).returncode:
            self.skipTest("name spaces are not permitted here")
        root = self.folder / "tree"
        logs, file = root / "build/test-logs", self.folder / "file"
        file.write_text("as it was")
        made = [steps.Step("good", "G", ["sh", "-c", "cat data; echo changed > data; pwd; echo PASS $A {jobs}"],
                           steps.lines, cost=3, env={"A": "one"}),
                steps.Step("next", "N", ["sh", "-c", "grep as data && echo PASS two; echo PASS three >&2"],
                           steps.lines),
                steps.Step("bad", "B", ["sh", "-c", "echo from the worker > build/test-logs/bad.xml; exit 5"],
                           lambda text, status: steps.Counted(status, [(logs / "bad.xml").read_text().strip()])),
                steps.Step("built", "H", ["false"], steps.lines, here=True)]
        for module, name, value in ((nightly, "ROOT", root), (nightly, "BUILD", self.build), (nightly, "LOGS", logs),
                                    (steps, "LOGS", logs), (nightly.nightly, "steps", lambda night: made),
                                    (nightly, "files", lambda build: {"data": file})):
            self.addCleanup(setattr, module, name, getattr(module, name))
            setattr(module, name, value)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = main.main(["nightly", "--no-build", "--build", str(self.build), "--output", str(self.out),
                                "--scheduler", self.address, "--night", "7"])
        said = said.getvalue()
        self.assertEqual(status, 1, said)
        self.assertIn("1 steps build something or need this machine; scripts/test nightly runs them: built", said)
        self.assertRegex(said, r"failed: bad: from the worker; its log is \S+/bad.log\n8 passed, 1 failed\n")
        self.assertEqual((logs / "good.log").read_text(), f"as it was{root}\nPASS one 1\n")
        self.assertEqual(file.read_text(), "as it was")
        self.assertEqual(sorted(p.name for p in root.iterdir()), ["build"])
        kept = next((self.build / "nightly").iterdir())
        self.assertEqual({p.stem: len(json.loads(p.read_text())["failed"]) for p in kept.iterdir()},
                         {"good": 0, "next": 0, "bad": 1})
        self.assertEqual(len(self.lines()), 3)


    def test_sweep(self):
        """Each point runs on its device, with the kernel's files from the archive, and has a row."""
        (self.build / "bin").mkdir()
        tern = self.build / "bin/tern"
        tern.write_text(f"""#!/usr/bin/python3
import json, os, pathlib, sys
if "--version" in sys.argv or "--list" in sys.argv:
    print(json.dumps({{"benches": ["b1"]}}))
    sys.exit()
if (pathlib.Path({str(self.control)!r}) / "fail").exists() and "latency=9" in os.environ["TERN_CONFIG"]:
    sys.exit("out of luck")
cycles = int(os.environ["TERN_CONFIG"].partition("latency=")[2])
figures = dict(cycles=cycles, counters={{}}, limit_cycles=1, limit_by="issue", limit_percent=1.0)
device = pathlib.Path(os.environ["TERN_LIB_DIR"], "libtern_sim_rtl_default.so").read_text()
if sys.argv[1] == "run":
    figures["cycles"] += len(pathlib.Path(sys.argv[2]).read_text()) + len(pathlib.Path("data.bin").read_text())
    assert sys.argv[2].startswith({str(self.folder / "cache")!r}), sys.argv
assert device == "rtl_small", device
print(json.dumps({{"results": [dict(figures, name="b1", correct=True)], "runs": [figures]}}))
""")
        tern.chmod(0o755)
        (self.build / "lib/libtern_opencl.so").write_text("")
        for name, text in (("k.cl", "1234567"), ("data.bin", "12345")):
            (self.folder / name).write_text(text)
        file = self.folder / "s.yaml"
        file.write_text("title: T\ngeometry: small\nmemory: {latency: [9, 50]}\nbenches: [b1]\n"
                        "kernels: [{name: k, file: k.cl, run: --global 4 @data.bin}]\n")

        def run(*more):
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                status = main.main(["sweep", str(file), "--no-build", "--build", str(self.build), "--output",
                                    str(self.out), "--scheduler", self.address, *more])
            return status, said.getvalue()

        (self.control / "fail").write_text("")
        status, said = run()
        self.assertEqual(status, 3, said)
        self.assertRegex(said, r"point-1 failed twice: exit status 1 at \S+: out of luck; this repeats it here: "
                               r"build/bin/tern sweep --lanes 8 .* --latency 9 --bench b1 --backend rtl")
        (self.control / "fail").unlink()
        status, said = run()
        self.assertEqual(status, 0, said)
        self.assertEqual(sorted(x["result"]["cycles"] for x in self.lines() if "result" in x), [9, 21, 50, 62])
        self.assertIn("<svg", (self.out / "sweep.html").read_text())
        self.assertIn("sweep.html", (self.out / "index.html").read_text())
        file.write_text("geometry: small\nbenches: [b2]\n")
        status, said = run()
        self.assertEqual(status, 2)
        self.assertRegex(said, f"^campaign: {file}:2:11: .*b2.*; see scripts/campaign sweep --help\n$")


class Ends(Case):
    """Schedulers and clients that end."""

    def cluster(self, stack):
        """Begins a scheduler and a worker of two threads, which end with the stack. Returns the address."""
        place = self.folder / "scheduler.json"

        def begin(*words):
            child = stack.enter_context(subprocess.Popen([PYTHON, "-m", *words, "--no-dashboard"],
                                                         stderr=subprocess.DEVNULL))
            stack.callback(child.kill)
            return child

        self.scheduler = begin("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
                               "--scheduler-file", place)
        until(lambda: place.exists() and place.read_text().endswith("}"))
        address = json.loads(place.read_text())["address"]
        begin("distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "2", "--local-directory",
              self.folder / "worker")
        return address

    def test_lost_scheduler(self):
        """All that came is kept, and the next scheduler's workers take what is left."""
        for seed in 5, 7:
            self.ask("wait", seed)
        gone, crew.GONE = crew.GONE, 1.0
        self.addCleanup(setattr, crew, "GONE", gone)
        crew.configure(2)
        with contextlib.ExitStack() as stack:
            address = self.cluster(stack)
            end = threading.Thread(target=lambda: (until(lambda: len(self.runs()) >= 4), self.scheduler.kill()))
            end.start()
            try:
                status, said = self.run_main("--scheduler", address, "--wait", "3")
            finally:
                end.join()
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


    def test_client_that_has_gone(self):
        """A command that nobody waits for any more is ended by its worker, which is there for the next client."""
        self.ask("wait", 1)
        with contextlib.ExitStack() as stack:
            address = self.cluster(stack)
            with subprocess.Popen([ROOT / "scripts/campaign", *self.words("--scheduler", address)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
                try:
                    until(lambda: self.alive(1))
                finally:
                    client.kill()
            until(lambda: not self.alive(1))
            (self.control / "wait-1").unlink()
            status, said = self.run_main("--scheduler", address)
        self.assertEqual(status, 0, said)
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
        # No command outlives its worker.
        until(lambda: not pathlib.Path("/proc", (self.control / "orphan").read_text()).exists() and not self.alive(9))
        before = self.lines()
        with (self.out / "results.jsonl").open("a") as torn:
            torn.write('{"task":"seeds-11-12","res')
        (self.control / "wait-9").unlink()
        done = subprocess.run(self.command("--jobs", "1"), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.lines()[:len(before)], before)
        self.assertIn(f"{len(before)} of 6 tasks have a result", done.stderr)
        self.check_all()

    def test_slurm(self):
        """Workers are jobs: sbatch is asked first whether it would run one, and jobs end with the campaign. Programs
        that stand for Slurm's begin and end processes."""
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "sbatch").write_text(f"""#!/bin/bash
            if [ "$1" = --test-only ]; then
              grep -q "^#SBATCH -p nowhere" "$2" || exit 0
              echo "allocation failure: Invalid partition name specified" >&2; exit 1
            fi
            cp "$1" {self.control}/job
            setsid bash {self.control}/job >/dev/null 2>&1 & echo $! >>{self.control}/jobs
            echo "Submitted batch job $!" """)
        (programs / "scancel").write_text(f"""#!/bin/bash
            kill -- -"$1"; echo "$1" >>{self.control}/ended""")
        for program in programs.iterdir():
            program.chmod(0o755)
        env = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
        done = subprocess.run(self.command("--slurm", "1", "--queue", "nowhere"), capture_output=True, text=True,
                              check=False, env=env)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertEqual(done.stderr, "campaign: --slurm: no job can be submitted: allocation failure: Invalid "
                         "partition name specified; see --queue, --account, --walltime and --memory\n")
        done = subprocess.run(self.command("--slurm", "2", "--walltime", "00:10:00", "--queue", "long"),
                              capture_output=True, text=True, check=False, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_all()
        job = (self.control / "job").read_text()
        self.assertRegex(job, r"(?m)^#SBATCH -p long\n(.*\n)*#SBATCH -t 00:10:00\n")
        self.assertNotIn("--mem=", job)
        jobs, ended = ((self.control / n).read_text().split() for n in ("jobs", "ended"))
        self.assertEqual((len(jobs), sorted(jobs)), (2, sorted(ended)))
        self.assertEqual([j for j in jobs if pathlib.Path("/proc", j).exists()], [])

    def test_no_scheduler(self):
        start = time.monotonic()
        done = subprocess.run(self.command("--scheduler", "tcp://127.0.0.1:9", "--wait", "1"), capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr,
                         "^campaign: tcp://127.0.0.1:9: no scheduler of Dask answers within 1 s; [^\n]*\n$")
        self.assertLess(time.monotonic() - start, 30)


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
