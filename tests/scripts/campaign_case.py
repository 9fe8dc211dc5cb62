# SPDX-License-Identifier: Apache-2.0
"""What tests of scripts/campaign share: an invented build, whose tern-verify does what a test asks for."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
from campaign import main  # noqa: E402

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
(control / f"process-{{seed}}").write_text(str(os.getpid()))
def asked(what):
    return (control / f"{{what}}-{{seed}}").exists()
if asked("kill"):
    (control / f"kill-{{seed}}").unlink()
    (control / "orphan").write_text(str(os.getpid()))
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

    def alive(self, seed):
        """Returns whether the latest command of these seeds runs."""
        file = self.control / f"process-{seed}"
        return file.exists() and bool(number := file.read_text()) and pathlib.Path("/proc", number).exists()

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
