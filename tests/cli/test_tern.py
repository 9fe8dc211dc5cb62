# SPDX-License-Identifier: Apache-2.0
"""The tern command on the functional model: output, JSON, exit codes, errors that say what to do, commands of users.
The results of all benches are right, and their limits have a formula, a mean, or neither, in text and JSON, on two
geometries."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from cli import TERN, Case


class Tern(Case):
    def test_info(self):
        r = json.loads(self.works("info", "--json"))
        self.assertEqual((r["backend"], r["config"], r["engines"], r["lanes"], r["warps"]),
                         ("model", "default", 2, 16, 16))
        r = json.loads(self.works("info", "--json", TERN_CONFIG="small,mem=64M"))
        self.assertEqual((r["lanes"], r["memory_bytes"], r["memory_ports"]), (8, 64 << 20, 1))
        self.assertEqual(r["bands"], ["idle", "normal", "focus", "realtime"])
        self.assertEqual(r["preempt_granularity"], "instruction")
        self.assertEqual(r["executors"][0], {
            "id": 0, "name": "saxpy", "version": "1.0.0", "dimensions": 1, "arguments": [
                {"name": "a", "type": "float", "constant": False}, {"name": "x", "type": "float*", "constant": True},
                {"name": "y", "type": "float*", "constant": False}]})
        self.assertIn("user executors     saxpy\n", self.works("info"))
        self.assertIn("lanes x warps      16 x 16", self.works("info"))
        self.assertIn("memory ports       1 of 64 bytes a cycle\n", self.works("info"))
        self.assertIn("work stops at      any instruction\nbands              idle normal focus realtime\n",
                      self.works("info"))

    def test_a_device_without_simt_executor(self):
        """tern info says what it has not; commands that need kernels say what is missing."""
        r = json.loads(self.works("info", "--json", TERN_CONFIG="shell"))
        self.assertEqual((r["lanes"], r["warps"], r["local_bytes"], len(r["executors"])), (0, 0, 0, 1))
        text = self.works("info", TERN_CONFIG="shell")
        self.assertIn("SIMT executor      none:", text)
        self.assertNotIn("lanes x warps", text)
        self.assertNotIn("page requests", text)
        kernel = pathlib.Path(__file__).resolve().parents[2] / "tests/bench/kernels.cl"
        for command in ["bench", "vecadd-16384"], ["run", str(kernel), "vecadd", "--global", "64"]:
            r = self.tern(*command, TERN_CONFIG="shell")
            self.assertEqual(r.returncode, 1, command)
            self.assertIn("no device: 'shell' of backend model has no SIMT executor", r.stderr)
            self.assertIn("CL_DEVICE_NOT_FOUND", r.stderr)

    def test_bench_checks_every_result(self):
        r = self.tern("bench", "--json")
        self.assertEqual(r.returncode, 0, r.stderr)
        data = json.loads(r.stdout)
        names = self.works("bench", "--list").split()
        large = {"sgemm-4x4-256", "copy-float4-256k", "saxpy-float4-256k"}
        self.assertEqual([x["name"] for x in data["results"]], [n for n in names if n not in large])
        self.assertLess(large, set(names))
        self.assertIn("vecadd-16384", names)
        self.assertIn("sgemm-128", names)
        for x in data["results"]:
            self.assertTrue(x["correct"], x["name"])
            self.assertGreater(x["cycles"], 0)
        self.assertEqual(data["config"]["backend"], "model")

    def test_bench_counts_the_instructions_of_kernels(self):
        r = self.tern("bench", "--json", "sgemm-128", "copy-1m")
        sgemm, copy = json.loads(r.stdout)["results"]
        self.assertGreater(sgemm["thread_instructions"], 128 ** 3)  # a multiply-add for each, and more
        self.assertGreater(sgemm["thread_instructions_per_second"], 0)
        self.assertEqual((copy["thread_instructions"], copy["thread_instructions_per_second"]), (0, 0))
        again = json.loads(self.tern("bench", "--json", "sgemm-128").stdout)["results"][0]
        self.assertEqual(again["thread_instructions"], sgemm["thread_instructions"])

    def test_limits_of_benches(self):
        """16,384 elements of 12 bytes, an addition, two loads and a store: docs/benches.md."""
        limits = {"limit_cycles": 4 * 16384 / 16, "limit_by": "issue"}
        r = json.loads(self.tern("bench", "--json", "vecadd-16384", "sgemm-4x4-128", "copy-1m", "empty-64-warm").stdout)
        vecadd, sgemm, copy, empty = r["results"]
        self.assertEqual({k: vecadd[k] for k in limits}, limits)
        self.assertEqual(sgemm["limit_cycles"], (128 ** 3 + 3 * 128 ** 2) / 16)
        self.assertEqual((copy["limit_cycles"], copy["limit_by"]), (2 * 2 ** 20 / 64, "port"))
        self.assertEqual([empty[k] for k in ("limit_cycles", "limit_by", "limit_percent")], [None] * 3)
        for x in vecadd, sgemm:
            self.assertAlmostEqual(x["limit_percent"], 100 * x["limit_cycles"] / x["cycles"], delta=0.01)
        mean = (vecadd["limit_percent"] * sgemm["limit_percent"]) ** 0.5  # of kernels that have a limit
        self.assertAlmostEqual(r["limit_percent_mean"], mean, delta=0.02)
        r = json.loads(self.tern("bench", "--json", "vecadd-16384", "copy-float4-16k", TERN_CONFIG="small").stdout)
        self.assertEqual([x["limit_cycles"] for x in r["results"]], [4 * 16384 / 8, 8 * 16384 / 8])
        r = json.loads(self.tern("bench", "--json", "copy-float4-16k").stdout)
        self.assertEqual([(x["limit_cycles"], x["limit_by"]) for x in r["results"]], [(2 * 2 ** 18 / 64, "port")])
        r = json.loads(self.tern("bench", "--json", "copy-1m").stdout)
        self.assertIsNone(r["limit_percent_mean"])

    def test_benches_as_text(self):
        r = self.tern("bench", "vecadd-16384", TERN_CONFIG="small")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stdout, r"Minst/s\nvecadd-16384 +\d+ +8192 issue( +[0-9.]+){5} +right\n$")
        r = self.tern("bench", "vecadd-16384", "reduce-65536", "fill-1m", "empty-64-cold")
        self.assertRegex(r.stdout, r"\nempty-64-cold +\d+ +- - +-( +[0-9.]+){4} +right\n\n"
                         r"geometric mean of what 2 kernels reach of their limits: [0-9.]+ %\n$")

    def test_help(self):
        for args in (["--help"], ["help"], ["info", "--help"], ["run", "--help"], ["bench", "--help"], ["--version"]):
            self.assertIn("tern", self.works(*args))

    def test_version(self):
        version = re.fullmatch(r"tern (\S+)\n", self.works("--version"))[1]
        r = json.loads(self.works("--version", "--json"))
        self.assertEqual(r["version"], version)
        self.assertEqual(r["interface"], json.loads(self.works("info", "--json"))["interface"])

    def test_wrong_usage(self):
        self.fails(2, "usage: tern <command>")
        self.fails(2, "unknown command 'frobnicate'", "frobnicate")
        self.fails(2, "unknown command '../bin/sh'", "../bin/sh")
        self.fails(2, "unknown command 'frobnicate'", "help", "frobnicate")
        self.fails(2, "help takes one command", "help", "run", "bench")
        self.fails(2, "--version takes nothing but --json", "--version", "--yaml")
        self.fails(2, "unknown argument '--jason'", "info", "--jason")
        self.fails(2, "there is no bench 'vecad'", "bench", "vecad")
        self.fails(2, "unknown argument '--slow'", "bench", "migrate", "--slow")
        self.fails(2, "--sizes takes a number from 0 to 3, not '4'", "bench", "migrate", "--sizes", "4")
        self.fails(2, "--sizes takes a number from 0 to 3, not ''", "bench", "migrate", "--quick", "--sizes")
        self.fails(2, "unknown argument '--slow'", "bench", "sched", "--slow")
        self.fails(2, "--contexts takes a number from 1 to 1024, not '0'", "bench", "sched", "--contexts", "0")
        self.fails(2, "--quantum takes a number from 1000 to 1000000, not ''", "bench", "sched", "--quantum")
        self.fails(2, "unknown argument '--fast'", "bench", "submit", "--fast")
        self.fails(2, "--count takes a number from 20 to 1000000, not '19'", "bench", "submit", "--count", "19")
        self.fails(2, "--count takes a number from 20 to 1000000, not ''", "bench", "submit", "--count")

    def test_found_by_the_path(self):
        """Called by a bare name, from any folder: it finds its devices, and the suites find theirs."""
        for args in (["info"], ["bench", "preempt", "--requests", "1", "--kernel", "saxpy"],
                     ["run", "x.cl", "--global", "1", "1"]):
            self.file("x.cl", "kernel void x(global int *x) {}")
            r = subprocess.run(["tern", *args], capture_output=True, text=True, check=False, cwd=self.folder,
                               env={**os.environ, "TERN_BACKEND": "model",
                                    "PATH": f"{os.path.dirname(TERN)}:{os.environ['PATH']}"})
            self.assertEqual((r.returncode, r.stderr), (0, ""), args)

    def test_options_that_would_be_ignored(self):
        self.fails(2, "--list prints all benches and runs none; 'sgemm-128' has no meaning with it", "bench",
                   "sgemm-128", "--list")
        self.fails(2, "there is no bench 'vecad'", "bench", "--list", "vecad")
        self.fails(2, "--all runs all benches; '--list' has no meaning with it", "bench", "--all", "--list")
        self.fails(2, "--all runs all benches; 'copy-1m' has no meaning with it", "bench", "copy-1m", "--all")
        self.fails(2, "more than 64 benches", "bench", *["copy-1m"] * 65)
        self.fails(2, "--once is one look at once; -n has no meaning with it", "top", "-n", "3", "--once")
        self.fails(2, "--once is one look at once; -n has no meaning with it", "top", "--once", "-n", "3", "--", "true")
        self.fails(2, "--once is one look at once; -d has no meaning with it", "top", "--once", "-d", "3")

    def test_every_json_parses(self):
        """Whatever it is asked together with; tests of the commands look into it."""
        self.file("x.cl", "kernel void x(global int *x) { printf(\"text\"); }")
        for args in (["info", "--json"], ["--version", "--json"], ["bench", "--json", "--list"],
                     ["bench", "--list", "--json"],
                     ["bench", "--json", "copy-1m"], ["top", "--json"], ["top", "--once", "--json"],
                     ["run", "x.cl", "--list", "--json"],
                     ["bench", "migrate", "--json", "--quick", "--sizes", "0"],
                     ["bench", "preempt", "--json", "--requests", "2", "--kernel", "saxpy"],
                     ["bench", "submit", "--json", "--count", "20"],
                     ["run", "x.cl", "--global", "1", "--json", "--time", "--quiet", "1"],
                     ["run", "x.cl", "--global", "1", "--json", "--save", "1=f", "--save-binary", "b", "1"]):
            r = self.tern(*args)
            self.assertEqual(r.returncode, 0, (args, r.stderr))
            self.assertIsInstance(json.loads(r.stdout), dict, args)
        self.assertEqual(json.loads(self.works("bench", "--list", "--json"))["benches"],
                         self.works("bench", "--list").split())

    def test_full_disk(self):
        self.file("x.cl", "kernel void x(global int *x) {}")
        for args in (["--version"], ["help"], ["info", "--json"], ["bench", "vecadd-16384"],
                     ["run", "x.cl", "--global", "1", "1"]):
            with open("/dev/full", "w") as full:
                r = subprocess.run([TERN, *args], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                                   cwd=self.folder, env={**os.environ, "TERN_BACKEND": "model"})
            self.assertEqual(r.returncode, 1, args)
            self.assertIn("No space left on device", r.stderr)

    def test_device_errors(self):
        for command in (["info"], ["bench", "vecadd-16384"]):
            self.fails(1, "unknown backend 'fpga'", *command, TERN_BACKEND="fpga")
            self.fails(1, "unknown key 'colour'", *command, TERN_CONFIG="default,colour=red")
            self.fails(1, "unknown configuration 'huge'", *command, TERN_CONFIG="huge")

    def test_no_opencl(self):
        self.fails(1, "tern bench: no Tern platform among the 0 that the OpenCL loader finds", "bench", "copy-1m",
                   OCL_ICD_VENDORS=str(self.folder))
        self.file("x.cl", "kernel void x() {}")
        self.fails(1, f"OCL_ICD_VENDORS={self.folder}; Tern's is ", "run", "x.cl", "--global", 1,
                   OCL_ICD_VENDORS=str(self.folder))


class Programs(Case):
    """tern NAME runs tern-NAME of the library folder."""

    def program(self, name, text, mode=0o755):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        self.file(name, text).chmod(mode)

    def test_runs(self):
        self.program("tern/tern-hello", '#!/bin/sh\necho "$# $1 $2"; exit 7\n')
        r = self.tern("hello", "a b", "--json", TERN_LIB_DIR=str(self.folder))
        self.assertEqual((r.returncode, r.stdout, r.stderr), (7, "2 a b --json\n", ""))

    def test_help(self):
        self.program("tern/tern-hello", '#!/bin/sh\necho "usage: $1"\n')
        self.assertEqual(self.works("help", "hello", TERN_LIB_DIR=str(self.folder)), "usage: --help\n")

    def test_cannot_be_run(self):
        self.program("tern/tern-hello", "#!/bin/sh\n", 0o644)
        if os.getuid() != 0 or not os.access(self.folder / "tern/tern-hello", os.X_OK):
            self.fails(1, "tern-hello: Permission denied", "hello", TERN_LIB_DIR=str(self.folder))
        self.program("tern/tern-noise", "\x7fnoise")
        self.fails(1, "tern-noise: Exec format error", "noise", TERN_LIB_DIR=str(self.folder))

    def test_found_beside_the_binary(self):
        (self.folder / "bin").mkdir()
        (self.folder / "lib/tern").mkdir(parents=True)
        (self.folder / "share/man/man1").mkdir(parents=True)
        moved = self.folder / "bin/tern"
        moved.write_bytes(pathlib.Path(TERN).read_bytes())
        moved.chmod(0o755)
        self.program("lib/tern/tern-hello", "#!/bin/sh\necho hello\n")
        for name, summary in ("hello", "say hello"), ("absent", "not be there"):
            self.file(f"share/man/man1/tern-{name}.1", f".Dt TERN 1\n.Sh NAME\n.Nm tern-{name}\n.Nd {summary}\n")

        def run(*args):
            return subprocess.run([moved, *args], capture_output=True, text=True, check=False)

        self.assertEqual(run("hello").stdout, "hello\n")
        listed = run("help").stdout
        self.assertIn("  hello      say hello\n", listed)
        self.assertIn("  absent     not be there (not built)\n", listed)
        missing = run("absent")
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertIn("lib/tern/tern-absent: No such file or directory: this part of Tern was not built",
                      missing.stderr)


if __name__ == "__main__":
    unittest.main()
