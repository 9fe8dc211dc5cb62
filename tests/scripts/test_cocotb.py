# SPDX-License-Identifier: Apache-2.0
"""tests/cocotb/run and scripts/new-executor --cocotb without cocotb: arguments, the sentence that it is missing, and
packets and states by the description against the constants of the RTL. The benches themselves run in the full tier."""
import ast
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cocotb/lib"))
sys.path.insert(0, str(ROOT / "scripts/lib"))
import description  # noqa: E402
import pypi  # noqa: E402

PARTS = ["docs", "driver", "rtl", "scripts", "sim", "tests/cocotb", "tests/rtl", "tests/formal", "tests/lib"]


def run(argv, cwd=ROOT):
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False)


class Script(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        for part in PARTS:
            shutil.copytree(ROOT / part, self.tree / part)

    def test_without_cocotb(self):
        r = run(["tests/cocotb/run"], self.tree)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(r.stdout, "SKIP cocotb: it is not installed; tests/cocotb/run --install does that\n")

    def test_arguments(self):
        for args, told in ((["nothing"], "no bench or mutant 'nothing'"), (["user_saxpy:no"], "'user_saxpy:no'"),
                           (["--seed", "x"], "'x' is no number"), (["--percent", "0"], "'0' is no number"),
                           (["-j", "-1"], "no number")):
            r = run(["tests/cocotb/run", *args], self.tree)
            self.assertEqual((r.returncode, r.stdout), (2, ""), args)
            self.assertIn(told, r.stderr)
        r = run(["tests/cocotb/run", "--list"], self.tree)
        self.assertEqual(r.stdout, "user_saxpy\nuser_saxpy:once_more\n")

    def test_new_executor(self):
        r = run(["scripts/new-executor", "--cocotb", "mask"], self.tree)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("wrote tests/cocotb/user_mask/bench.py\n", r.stdout)
        text = (self.tree / "tests/cocotb/user_mask/bench.py").read_text()
        tests = [f.name for f in ast.parse(text).body if isinstance(f, ast.AsyncFunctionDef)]
        self.assertEqual(tests, ["results", "stopped", "stopped_everywhere", "resumed", "faults", "refused", "forged"])
        r = run(["tests/cocotb/run", "--list"], self.tree)
        self.assertEqual(r.stdout.split()[:4], ["user_mask", *(f"user_mask:{m}" for m in ("last_words", "skips",
                                                                                         "key"))])
        # A bench that is there already is not overwritten, whether a bench in Python is asked for or not.
        for name in "docs/spec/executors/mask.yaml", "rtl/user/user_mask.sv":
            (self.tree / name).unlink()
        example = self.tree / "docs/spec/executors/saxpy.yaml"
        example.write_text(example.read_text().replace("id: 1\n", "id: 0\n"))
        for more in [], ["--cocotb"]:
            r = run(["scripts/new-executor", *more, "mask"], self.tree)
            self.assertEqual(r.returncode, 1)
            self.assertIn("is there already", r.stderr)
        r = run(["scripts/new-executor", "plain"], self.tree)
        self.assertNotIn("cocotb", r.stdout)
        r = run(["scripts/new-executor", "--cocoa", "x"], self.tree)
        self.assertEqual(r.returncode, 2)


class Packets(unittest.TestCase):
    def test_the_description_is_that_of_the_rtl(self):
        package = (ROOT / "rtl/gen/tern_spec_pkg.sv").read_text()
        at = {n: int(v) for n, v in re.findall(r"localparam int (USER_SAXPY_\w+_LSB) = (\d+);", package)}
        opcode = int(re.search(r"PKT_USER_CALL = 8'h(\w+);", package)[1], 16)
        saxpy = description.Description("saxpy")
        values = {"n": 0x01234567, "a": 1.5, "x": 0x89abcdec, "y": 0xfedcba98}
        bits = saxpy.packet(**values)
        self.assertEqual(bits & 0xff, opcode)
        words = {**values, "a": struct.unpack("<I", struct.pack("<f", 1.5))[0]}
        for name, value in words.items():
            lsb = at[f"USER_SAXPY_{name.upper()}_LSB"]
            self.assertEqual(bits >> lsb & 0xffffffff, value, name)
            bits &= ~(0xffffffff << lsb)
        self.assertEqual(bits, opcode)
        self.assertEqual(saxpy.state(done=7), 7 << at["USER_SAXPY_STATE_DONE_LSB"])
        self.assertEqual(saxpy.values(7), {"done": 7})
        self.assertEqual(description.FAULTS["bus_error"],
                         int(re.search(r"FAULT_BUS_ERROR = 8'h(\w+);", package)[1], 16))
        with self.assertRaisesRegex(AssertionError, "does not name"):
            saxpy.values(1 << 40)
        with self.assertRaisesRegex(AssertionError, "no argument z"):
            saxpy.packet(**values, z=0)
        with self.assertRaises(KeyError):
            saxpy.packet(n=1)


class Installation(unittest.TestCase):
    def test_what_is_not_to_be_had(self):
        with tempfile.TemporaryDirectory() as d:
            place = pathlib.Path(d) / "tools"
            (pathlib.Path(d) / "tools/bin").mkdir(parents=True)
            self.assertFalse(pypi.present(place, {"a": "1"}))
            (place / "versions.json").write_text('{"a": "1"}')
            self.assertTrue(pypi.present(place, {"a": "1"}))
            self.assertFalse(pypi.present(place, {"a": "2"}))
            self.assertEqual(pypi.install(place, {"a": "1"}, "cocotb"), place / "bin")
            with self.assertRaisesRegex(pypi.Failed, "(?s)pip failed with status 1.*tools.log.*ERROR.*network"):
                pypi.install(place, {str(place / "nothing"): "1"}, "cocotb")
            self.assertFalse(pypi.present(place, {"a": "1"}))


if __name__ == "__main__":
    unittest.main()
