# SPDX-License-Identifier: Apache-2.0
"""Tests of tests/clients/run with invented clients, of what it installs, of the comparisons of tests/clients/client.py,
and of the table in docs/clients.md, which must be that of tests/clients/clients.yaml.
"""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "tests" / "clients"
sys.path.insert(0, str(CLIENTS))
sys.dont_write_bytecode = True
import client  # noqa: E402
import install  # noqa: E402


def loaded():
    """Returns tests/clients/run as a module."""
    loader = importlib.machinery.SourceFileLoader("run_clients", str(CLIENTS / "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_clients", loader))
    loader.exec_module(module)
    return module


def read_or_nothing(file):
    with contextlib.suppress(OSError):
        return file.read_text()
    return ") X "


class Runs(unittest.TestCase):
    """The runner, with invented clients that it finds installed."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tern-clients-")
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        (self.place / "bin").mkdir()
        (self.place / "bin/python").symlink_to(sys.executable)
        (self.place / "tern.icd").touch()
        (self.place / "clients.yaml").write_text("")
        self.module = loaded()
        for patch in (mock.patch.object(self.module, "HERE", self.place),
                      mock.patch.multiple(install, PLACE=self.place, PYTHON=self.place,
                                          python=lambda names: {n: "1" for n in names})):
            patch.start()
            self.addCleanup(patch.stop)

    def client(self, name, script, more=""):
        with (self.place / "clients.yaml").open("a") as out:
            out.write(f"- name: {name}\n  title: an invented one\n{more}")
        (self.place / f"run_{name}.py").write_text(script)

    def run_it(self, *arguments):
        """Returns (exit status, output)."""
        out = io.StringIO()
        real = self.module.read
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), \
                mock.patch.object(self.module, "read", lambda: real(self.place / "clients.yaml")):
            try:
                status = self.module.main(["--build", str(self.place), *arguments])
            except SystemExit as e:
                status = e.code
        return status, out.getvalue()

    def fails(self, script, message, *arguments):
        self.client("bad", script)
        status, text = self.run_it(*arguments, "bad")
        self.assertEqual(1, status, text)
        self.assertRegex(text, message)
        self.assertRegex(text, r"\n\d passed, 1 failed, 0 skipped\n$")
        self.assertIn("rerun tests/clients/run --seed 1 bad", text)

    def test_all_pass(self):
        self.client("good", "print('PASS one (0.1 s)\\nSKIP two: no images\\nPASS three (2.0 s)')")
        self.client("other", "print('PASS it (0.1 s)')")
        status, text = self.run_it()
        self.assertEqual(0, status, text)
        for line in "PASS good.one (0.1 s)", "SKIP good.two: no images", "PASS other.it (0.1 s)":
            self.assertIn(line + "\n", text)
        self.assertTrue(text.endswith("\n3 passed, 0 failed, 1 skipped\n"), text)
        self.assertTrue((self.place / "test-logs/clients/good.log").exists())

    def test_what_a_failed_test_printed_is_shown(self):
        self.fails("import sys\nprint('PASS a (0.0 s)\\nFAIL b\\n7 is not 8\\nPASS c (0.0 s)'); sys.exit(1)",
                   r"PASS bad\.a \(0\.0 s\)\nFAIL bad\.b\n    7 is not 8\nPASS bad\.c")

    def test_wrong_ends_are_failures(self):
        self.fails("print('nothing')", "FAIL bad: its script ran no test\n    nothing")

    def test_a_status_without_a_failed_test_is_a_failure(self):
        self.fails("import sys\nprint('PASS a (0.0 s)'); sys.exit(1)", "FAIL bad: its script ended with 1")

    def test_a_signal_is_a_failure(self):
        self.fails("import os\nprint('PASS a (0.0 s)', flush=True); os.abort()", "FAIL bad: its script ended with -6")

    def test_a_failed_test_without_a_status_is_one(self):
        self.client("bad", "print('FAIL a\\nreason')")
        status, text = self.run_it()
        self.assertEqual(1, status)
        self.assertIn("FAIL bad.a\n    reason\nFAIL bad: its script ended with 0", text)

    def test_the_time_is_limited_and_nothing_stays(self):
        mark = self.place / "pid"
        self.fails(f"""import subprocess, time
child = subprocess.Popen(['sleep', '600'])
open({str(mark)!r}, 'w').write(str(child.pid))
print('PASS a (0.0 s)', flush=True)
time.sleep(600)""", r"FAIL bad: it took more than 3 s, and was ended", "--timeout", "3")
        stat = pathlib.Path(f"/proc/{mark.read_text()}/stat")
        end = time.monotonic() + 10
        while stat.exists() and not re.search(r"\) [ZX] ", read_or_nothing(stat)) and time.monotonic() < end:
            time.sleep(.01)
        self.assertLess(time.monotonic(), end, "the client's child goes on")

    def test_an_interruption_ends_the_client(self):
        mark = self.place / "pid"
        self.client("long", f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)")
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            self.run_it()
        self.assertFalse(pathlib.Path(f"/proc/{mark.read_text()}").exists())

    def test_two_runs_follow_each_other(self):
        self.client("good", "print('PASS a (0.1 s)')")
        with self.module.alone():
            threading.Timer(1, (self.place / "free").touch).start()
            other = subprocess.Popen(["flock", str(self.place / "lock"), "cat", str(self.place / "free")],
                                     stdout=subprocess.DEVNULL)
            self.assertIsNone(other.poll())
            while not (self.place / "free").exists():
                time.sleep(.05)
            self.assertIsNone(other.poll(), "the lock is not held")
        self.assertEqual(0, other.wait(10))

    def test_the_environment(self):
        script = """import os
for name, value in ("TERN_BACKEND", {backend!r}), ("TERN_TRACE", None), ("CLIENT_SEED", "5"):
    print(f"{{'PASS' if os.environ.get(name) == value else 'FAIL'}} {{name}}")
print(f"{{'PASS' if os.path.basename(os.environ['OCL_ICD_VENDORS']) == {vendors!r} else 'FAIL'}} vendors")
print(f"{{'FAIL' if os.listdir(os.environ['HOME']) else 'PASS'}} HOME")"""
        self.client("one", script.format(backend="model", vendors="tern.icd"))
        self.client("two", script.format(backend="rtl", vendors=self.place.name), "  rtl: true\n  vendors: folder\n")
        with mock.patch.dict(os.environ, {"TERN_TRACE": "x", "TERN_BACKEND": "none"}):
            for arguments in (("one",), ("--rtl",)):
                status, text = self.run_it("--seed", "5", *arguments)
                self.assertEqual(0, status, text)
                self.assertIn("\n5 passed, 0 failed, 0 skipped\n", text)

    def test_the_home_is_empty(self):
        self.client("bad", """import os, sys
print(f"{'FAIL' if os.listdir(os.environ['HOME']) else 'PASS'} empty\\nFAIL always")
open(os.environ["HOME"] + "/left", "w"); sys.exit(1)""")
        for _ in range(2):
            self.assertIn("\nPASS bad.empty\n", self.run_it()[1])

    def test_what_cannot_be_installed_is_skipped(self):
        self.client("absent", "print('FAIL a')")
        with mock.patch.object(install, "python", side_effect=install.Absent("pip cannot install it: no network")):
            self.assertEqual((0, "SKIP absent: pip cannot install it: no network\n0 passed, 0 failed, 1 skipped\n"),
                             (lambda s, t: (s, t.split("\n", 1)[1]))(*self.run_it()))

    def test_wrong_use(self):
        self.client("good", "")
        for arguments, message in ((("nothing",), "there is no client 'nothing'; there are: good"),
                                   (("--rtl",), "none of these clients is short enough for the RTL"),
                                   (("--quick", "good"), "none of these clients is quick"),
                                   (("--quick", "--rtl"), "not allowed with")):
            status, text = self.run_it(*arguments)
            self.assertEqual(2, status)
            self.assertIn(message, text)
        (self.place / "tern.icd").unlink()
        self.assertIn("has no tern.icd; build Tern first", self.run_it()[1])


class Installs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tern-install-")
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        (self.place / "pins.txt").write_text("# versions\nNum_Py==2.0\nother==1.1\n")
        (self.place / "status").write_text("packages of the system")
        self.called, self.created = [], []
        self.answers = {}
        for patch in (mock.patch.multiple(install, PYTHON=self.place / "python", DEBS=self.place / "debs",
                                          DEBIAN=self.place / "debian", PINS=self.place / "pins.txt",
                                          STATUS=self.place / "status", call=self.call),
                      mock.patch.object(install.venv, "create", self.create)):
            patch.start()
            self.addCleanup(patch.stop)

    def create(self, place, **options):
        self.created.append(options)
        (place / "bin").mkdir(parents=True, exist_ok=True)

    def call(self, argv, hint, cwd=None):
        self.called.append([str(a) for a in argv])
        for word, answer in self.answers.items():
            if word in self.called[-1]:
                if isinstance(answer, Exception):
                    raise answer
                return answer
        return ""

    def test_versions_of_pypi(self):
        self.answers["list"] = "numpy==2.0\nNum.Py==2.0\npip==9\n"
        (self.place / "pins.txt").write_text("numpy==2.0\nnum-py==2.0\n")
        self.assertEqual({"numpy": "2.0"}, install.python(["numpy"]))
        calls = len(self.called)
        self.assertEqual({"numpy": "2.0"}, install.python(["numpy"]))
        self.assertEqual(calls, len(self.called), "what is installed is installed again")
        (self.place / "pins.txt").write_text("numpy==2.0\nnum-py==2.0\nmore==1\n")
        install.python(["numpy"])
        self.assertGreater(len(self.called), calls, "other versions are not installed")
        self.assertEqual([{"clear": True, "with_pip": True}] * 2, self.created, "other versions stay")

    def test_other_versions_are_refused(self):
        for listed, named in ("num-py==2.1\n", "num-py 2.1"), ("num-py==2.0\nunknown==3\n", "unknown 3"):
            self.answers["list"] = listed
            with self.assertRaisesRegex(install.Absent, f"does not name what pip installed: {named}"):
                install.python(["num-py"])

    def test_packages_of_debian(self):
        self.answers["--simulate"] = ("Inst libx [1.0] (1.1-2 Debian:12 [amd64])\n"
                                      "Inst prog:amd64 (2:3.4-1 Debian:12 [amd64])\nConf prog (2:3.4-1)\n")
        self.assertEqual([("libx", "1.1-2"), ("prog:amd64", "2:3.4-1")], install.missing(["prog"]))
        self.answers["--simulate"] = "Inst prog (2:3.4-1 Debian:12 [amd64])\n"
        self.assertEqual({"prog": "2:3.4-1"}, install.debian({"prog": "2:3.4"}))
        self.assertIn(["apt-get", "download", "prog=2:3.4-1"], self.called)
        calls = len(self.called)
        install.debian({"prog": "2:3.4"})
        self.assertEqual(calls, len(self.called))
        (self.place / "status").write_text("other packages")
        install.debian({"prog": "2:3.4"})
        self.assertGreater(len(self.called), calls, "the system has changed, and the packages are not resolved again")
        with self.assertRaisesRegex(install.Absent, "Debian has prog 2:3.4-1, and this test is of 3"):
            install.debian({"prog": "3"})

    def test_no_debian(self):
        (self.place / "status").unlink()
        with self.assertRaisesRegex(install.Absent, "no Debian system"):
            install.debian({"prog": "1"})


class Calls(unittest.TestCase):
    def test_errors_are_one_line(self):
        for argv, message in ((["sh", "-c", "echo E: first; echo E: last >&2; echo more; exit 3"], "it: E: last"),
                              (["sh", "-c", "exit 4"], "it: status 4"), (["/nothing"], "it: /nothing cannot be")):
            with self.assertRaisesRegex(install.Absent, message):
                install.call(argv, "it")


class Compares(unittest.TestCase):
    def wrong(self, *arguments, message="elements are wrong"):
        with self.assertRaisesRegex(client.Failure, message):
            client.close(*arguments)

    def test_equal(self):
        inf, nan = np.inf, np.nan
        for x in ([1.5, inf, -inf, nan], [1, 2], np.array([2**64 - 1, 0], np.uint64), [1 + 2j, 3], 7, [True, False]):
            client.equal(x, x)
        for got, expected in ([1, 2], [1, 3]), ([nan], [1]), ([1], [nan]), ([inf], [-inf]), ([inf], [1e300]), \
                             ([1j], [1]), ([True], [False]):
            self.wrong(got, expected, 0, 0)
        big = np.array([2**64 - 1], np.uint64)
        self.wrong(big, big - np.uint64(1), 0, 0)
        self.wrong([1, 2], [[1, 2]], 0, 0, message="has shape")

    def test_close(self):
        client.close([1.0, 100], [1.0009, 100.09], 1e-3)
        client.close([0.0], [1e-6], 0, 1e-6)
        self.wrong([1.0], [1.0011], 1e-3)
        self.wrong([0.0], [1.1e-6], 0, 1e-6)
        self.wrong([np.nan], [1.0], 1e9)
        self.wrong([np.inf], [1.0], 1e9)
        self.wrong([1, 2, 3], [1, 5, 3], 0, message="1 of 3 elements are wrong; the first, at \\(1,\\)")


class Table(unittest.TestCase):
    maxDiff = None

    def test_each_client_has_a_script_and_versions(self):
        clients = loaded().read()
        scripts = {f.stem.removeprefix("run_") for f in CLIENTS.glob("run_*.py")}
        self.assertEqual(scripts, set(clients))
        pinned = install.pins(install.PINS.read_text())
        for c in clients.values():
            self.assertLessEqual(set(c), {"name", "title", "pypi", "debian", "quick", "rtl", "seconds", "vendors"})
            self.assertLessEqual(set(c.get("pypi", [])), set(pinned))
            self.assertTrue(c.get("pypi") or c.get("debian"))
            self.assertEqual("rtl" in c, "@test(rtl=True)" in (CLIENTS / f"run_{c['name']}.py").read_text())

    def test_the_page(self):
        pinned = install.pins(install.PINS.read_text())
        page = (ROOT / "docs/clients.md").read_text()
        rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \|", page, re.M)
        expected = []
        for c in loaded().read().values():
            name, version = next(iter(c["debian"].items())) if "debian" in c else (c["pypi"][0], "")
            where = f"Debian: {name} {version}" if version else f"PyPI: {name} {pinned[name]}"
            expected.append((c["name"], where, c["title"]))
        self.assertEqual(expected, rows)


if __name__ == "__main__":
    unittest.main()
