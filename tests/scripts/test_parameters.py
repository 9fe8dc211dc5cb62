#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that elaboration refuses wrong parameters of the device by name, and that every build of a device heeds it.

Elaboration of the whole device takes some seconds, so the checks of tern_top are cut out: all up to its first
`endgenerate`, with the parameters, as a module of its own.
"""
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RTL = ROOT / "rtl"
PACKAGE = str(RTL / "gen/tern_spec_pkg.sv")
FLAGS = ["-Wno-fatal", "-Wno-lint", "-Wno-style", "-Werror-USERERROR"]  # as sim/rtl/build has them

RIGHT = {"ENGINES": [1, 8], "LANES": [0, 4, 8, 16, 32], "WARPS": [4, 8, 16, 32], "LMEM_KIB": [1, 16, 64],
         "DIVIDERS": [1, 2, 4, 8, 16], "MEM_PAGES": [1, 1 << 20, 1 << 22], "PAGE_LOG2": [12, 16, 30], "ID_W": [6, 8],
         "CLOCK_HZ": [1, 250000000], "PORTS": [1, 2, 4], "HASH_W": [2, 9, 20]}
WRONG = {"ENGINES": [-1, 0, 9], "LANES": [-4, 1, 2, 3, 6, 12, 24, 33, 64], "WARPS": [-1, 0, 2, 6, 24, 33, 64],
         "LMEM_KIB": [-1, 0, 3, 48, 65, 128], "DIVIDERS": [-1, 0, 3, 5, 32], "MEM_PAGES": [-1, 0, (1 << 22) + 1],
         "PAGE_LOG2": [-1, 0, 11, 31], "ID_W": [0, 5], "CLOCK_HZ": [-1, 0], "PORTS": [0, 3, 5, 8],
         "HASH_W": [-1, 1, 21]}


def elaborate(top, file, values):
    """Returns the messages of the refusals, which begin with the module's name."""
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run(["verilator", "--lint-only", *FLAGS, "--Mdir", work, "--top-module", top, PACKAGE,
                               *(f"-G{name}={value}" for name, value in values.items()), str(file)],
                              capture_output=True, text=True, check=False)
    found = re.findall(rf"%Error-USERERROR: .*: {top}: (.*)", done.stderr)
    if done.returncode and not found:
        raise AssertionError(done.stderr)
    return found


class Parameters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.top = pathlib.Path(cls.folder.name) / "tern_top.sv"
        text = (RTL / "top/tern_top.sv").read_text()
        text = text[:text.index("  endgenerate\n")] + "  endgenerate\nendmodule\n"
        cls.top.write_text(text)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_number_is_tried(self):
        text = self.top.read_text()
        numbers = re.findall(r"parameter int +(\w+) *=", text)
        self.assertEqual(sorted(numbers), sorted(WRONG))
        self.assertEqual(sorted(numbers), sorted(RIGHT))

    def test_right(self):
        for name, values in RIGHT.items():
            for value in values:
                with self.subTest(f"{name}={value}"):
                    self.assertEqual(elaborate("tern_top", self.top, {name: value}), [])
        self.assertEqual(elaborate("tern_top", self.top, {"LANES": 0, "WARPS": 0, "LMEM_KIB": 0}), [])

    def test_wrong(self):
        for name, values in WRONG.items():
            for value in values:
                with self.subTest(f"{name}={value}"):
                    found = elaborate("tern_top", self.top, {name: value})
                    self.assertTrue(any(text.startswith(f"{name} is ") or text.startswith(f"{name} divides ")
                                        for text in found), found)
        self.assertEqual(elaborate("tern_top", self.top, {"LANES": 4, "WARPS": 32}),
                         ["WARPS is at most four times LANES"])

    def test_poll(self):
        for value, wrong in ((-2, 1), (0, 1), (1, 1), (2, 0), (3, 1), (24, 1), (32, 0), (33, 1), (64, 0)):
            with self.subTest(value):
                found = elaborate("cp_fence", RTL / "engine/cp_fence.sv", {"POLL": value})
                self.assertEqual(found, ["POLL is a power of two, at least 2"] * wrong)

    def test_builds_heed_it(self):
        """Verilator takes $error of a generate block for a warning, which -Wno-fatal would pass over."""
        for build in ("sim/rtl/build", "sim/board/build"):
            flags = (ROOT / build).read_text().split()
            self.assertTrue(set(FLAGS) <= set(flags), build)


if __name__ == "__main__":
    unittest.main()
