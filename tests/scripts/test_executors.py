# SPDX-License-Identifier: Apache-2.0
"""docs/executors.md alone leads to a new executor: its commands are run as they stand there, in a copy of the tree. The
template runs through OpenCL on the model, also preempted, and in its RTL bench.

    test_executors.py [--rtl]

Those of the model, or with --rtl those of the RTL.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ["docs", "driver", "rtl", "runtime", "scripts", "sim", "tests", "CMakeLists.txt", "LICENSE"]
RTL = "--rtl" in sys.argv


def commands():
    """The indented blocks of the guide, each as a list of lines."""
    blocks = re.findall(r"(?:^    \S.*\n)+", (ROOT / "docs/executors.md").read_text(), re.M)
    return [[line.strip() for line in block.splitlines()] for block in blocks]


class Executors(unittest.TestCase):
    def run_in(self, folder, command):
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"in a copy of the tree: {command}\n{(done.stdout + done.stderr)[-3000:]}")
        return done.stdout

    def test_the_guide(self):
        begin, model, rtl, _ = commands()  # the last is a sentence about a fault
        self.assertTrue(begin[0].startswith("scripts/new-executor ") and model[0].startswith("cmake "))
        self.assertTrue(rtl[0].startswith("scripts/lint-rtl"))
        name = begin[0].split()[1]
        with tempfile.TemporaryDirectory() as d:
            for part in PARTS:
                copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
                copy(ROOT / part, pathlib.Path(d) / part)
            for command in begin:
                self.run_in(d, command)
            self.run_in(d, "scripts/specgen --check")
            if RTL:
                self.assertEqual(self.run_in(d, rtl[0]), "")
                self.assertIn(f"PASS user_{name}", self.run_in(d, rtl[1]))
                return
            # without optimisation: what counts is that it works
            self.run_in(d, model[0] + " -DCMAKE_BUILD_TYPE=Debug")
            for command in model[1:-1]:
                self.run_in(d, command)
            said = self.run_in(d, model[-1])
            for test in "opencl.executor", "ternd.opencl_executor":
                for config in "small", "preempt":
                    self.assertRegex(said, rf" {test}_{name}\.{config} .*Passed")
            refused = subprocess.run(["scripts/new-executor", name], cwd=d, capture_output=True, text=True, check=False)
            self.assertEqual(refused.returncode, 1)
            self.assertIn("is there already", refused.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
