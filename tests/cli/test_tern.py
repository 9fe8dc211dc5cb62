# SPDX-License-Identifier: Apache-2.0
"""The tern command on the functional model: output, JSON, exit statuses, messages that say what to do, users' commands.
The results of all benches are right. In text and JSON, on two geometries, their limits have a formula, a mean, or
neither."""
import gzip
import json
import os
import pathlib
import re
import subprocess
import unittest

from cli import TERN, Case

ROOT = pathlib.Path(__file__).resolve().parents[2]


def number(text):
    """A number of docs/driver.md: 100, 64M, 2^62."""
    base, power, scale = re.fullmatch(r"(\d+)(?:\^(\d+))?([KMG]?)", text).groups()
    return int(base) ** int(power or 1) << 10 * " KMG".index(scale or " ")


class Tern(Case):
    def test_info(self):
        r = json.loads(self.works("info", "--json"))
        self.assertEqual((r["backend"], r["config"], r["engines"], r["lanes"], r["warps"]),
                         ("model", "default", 2, 16, 16))
        r = json.loads(self.works("info", "--json", TERN_CONFIG="small,mem=64M"))
        self.assertEqual((r["lanes"], r["memory_bytes"], r["memory_ports"]), (8, 64 << 20, 1))
        self.assertEqual(r["bands"], ["idle", "normal", "focus", "realtime"])
        self.assertEqual(r["preempt_granularity"], "instruction")
        self.assertEqual(r["executors"], [{
            "id": 0, "name": "saxpy", "version": "1.0.0", "dimensions": 1, "arguments": [
                {"name": "a", "type": "float", "constant": False}, {"name": "x", "type": "float*", "constant": True},
                {"name": "y", "type": "float*", "constant": False}]}])
        self.assertIn("user executors     saxpy\n", self.works("info", TERN_CONFIG="small"))
        self.assertEqual(json.loads(self.works("info", "--json"))["executors"], [])  # no examples
        self.assertIn("user executors     none\n", self.works("info"))
        self.assertIn("lanes x warps      16 x 16", self.works("info"))
        self.assertIn("memory ports       1 of 64 bytes a cycle\n", self.works("info"))
        self.assertIn("work stops at      any instruction\nbands              idle normal focus realtime\n",
                      self.works("info"))

    def test_a_device_without_simt_executor(self):
        """`tern info` names what is missing, and commands that need kernels say so."""
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

    def test_found_by_the_path(self):
        """Called by its bare name from any folder, tern finds its devices, and so do the suites."""
        for args in (["info"], ["bench", "preempt", "--requests", "1", "--kernel", "saxpy"],
                     ["run", "x.cl", "--global", "1", "1"]):
            self.file("x.cl", "kernel void x(global int *x) {}")
            r = subprocess.run(["tern", *args], capture_output=True, text=True, check=False, cwd=self.folder,
                               env={**os.environ, "TERN_BACKEND": "model",
                                    "PATH": f"{os.path.dirname(TERN)}:{os.environ['PATH']}"})
            self.assertEqual((r.returncode, r.stderr), (0, ""), args)

    def test_options_that_would_be_ignored(self):
        self.fails(2, "--once is one look at once; -n has no meaning with it", "top", "-n", "3", "--once")
        self.fails(2, "--once is one look at once; -n has no meaning with it", "top", "--once", "-n", "3", "--", "true")
        self.fails(2, "--once is one look at once; -d has no meaning with it", "top", "--once", "-d", "3")

    def test_every_json_parses(self):
        """The output parses with any other options. The tests of each command check its contents."""
        self.file("x.cl", "kernel void x(global int *x) { printf(\"text\"); }")
        for args in (["info", "--json"], ["--version", "--json"], ["bench", "--json", "--list"],
                     ["bench", "--list", "--json"],
                     ["bench", "--json", "copy-1m"], ["top", "--json"], ["top", "--once", "--json"],
                     ["run", "x.cl", "--list", "--json"],
                     ["bench", "migrate", "--json", "--sizes", "0"],
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

    def test_keys_of_the_configuration(self):
        """docs/driver.md has a row for each key that is accepted, with its values; other documents and manual pages
        name no other key."""
        page = (ROOT / "docs/driver.md").read_text()
        rows = re.search(r"^\| key \| of \| value \|.*\n\|-.*\n((?:\|.*\n)*)", page, re.M)[1].splitlines()
        values = {row.split("|")[1].strip(" `"): row.split("|")[3] for row in rows}
        self.assertEqual((len(values), next(iter(values))), (len(rows), "trace"))
        said = self.fails(1, "unknown key 'colour'", "info", TERN_CONFIG="colour=1")
        self.assertEqual(set(values), set(re.search(r"known are (.*)", said)[1].split(", ")))
        for key, value in values.items():
            low_high = re.match(r" (\S+) to (\S+?),? ", value)
            if low_high:
                low, high = map(number, low_high.groups())
                said = self.fails(1, "out of range", "info", TERN_CONFIG=f"{key}=99999999999999999999")
                self.assertIn(f"out of range, {low} to {high}\n", said, key)
            elif key == "memory":
                for kind in re.findall(r"`(\w+)`", value):
                    self.works("info", TERN_CONFIG=f"memory={kind}")
                said = self.fails(1, "is none of", "info", TERN_CONFIG="memory=1")
                self.assertEqual(re.findall(r"`(\w+)`", value),
                                 re.findall(r"\w+", re.search("none of (.*)", said)[1].replace(" and ", ", ")))
            else:
                self.fails(1, "a file name of", "info", TERN_CONFIG=f"{key}=")
        for p in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs/man").iterdir()]:
            for config in re.findall(r"TERN_CONFIG=([\w=,.]+)", p.read_text()):
                self.assertEqual({x.partition("=")[0] for x in config.split(",") if "=" in x} - set(values), set(), p)

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
        packed = self.folder / "share/man/man1/tern-packed.1.gz"
        packed.write_bytes(gzip.compress(b".Dt TERN 1\n.Sh NAME\n.Nm tern-packed\n.Nd in a package\n"))
        self.file("share/man/man1/tern-other.2", ".Nd of another section\n")
        listed = run("help").stdout
        self.assertIn("  packed     in a package (not built)\n", listed)
        self.assertNotIn("other", listed)
        self.assertIn("tern-packed: No such file or directory", run("packed").stderr)
        missing = run("absent")
        self.assertEqual((missing.returncode, missing.stdout), (1, ""))
        self.assertIn("lib/tern/tern-absent: No such file or directory: this part of Tern was not built",
                      missing.stderr)


if __name__ == "__main__":
    unittest.main()
