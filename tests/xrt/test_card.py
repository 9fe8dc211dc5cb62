#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The commands on the fake card (fake_xrt.c): lines that XRT prints are not among the results, and a program that
connects to ternd after the card was lost is told so.

usage: test_card.py BUILD-FOLDER FAKE-LIBRARY [TEST...]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD, FAKE = (pathlib.Path(x).resolve() for x in sys.argv[1:3])
TERN = BUILD / "bin/tern"
sys.path.insert(0, str(ROOT / "tests/ternd"))
from daemon import Ternd  # noqa: E402

TIMEOUT = 200
RUN = ("run", ROOT / "tests/bench/kernels.cl", "--kernel", "saxpy", "--global", "8", "iota:8", "fill:1:8", "0.5")


class Card(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tern-card-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        lib = self.folder / "lib/tern"
        lib.mkdir(parents=True)
        for p in (BUILD / "lib/tern").iterdir():
            if p.name != FAKE.name:
                (lib / p.name).symlink_to(p)
        (lib / FAKE.name).symlink_to(FAKE)
        unset = ("TERND_SOCKET", "TERN_XRT_DEVICE", "TERN_XRT_TIMEOUT", "TERN_XRT_POLL", "XCL_EMULATION_MODE")
        self.env = {k: v for k, v in os.environ.items() if k not in unset} | {
            "TERN_BACKEND": "xrt", "TERN_CONFIG": "small", "TERN_LIB_DIR": str(lib.parent), "TERN_XCLBIN": str(FAKE),
            "XDG_RUNTIME_DIR": str(self.folder), "TERN_CACHE_DIR": str(self.folder / "cache")}

    def tern(self, *args, **env):
        return subprocess.run([TERN, *args], env=self.env | env, capture_output=True, text=True, timeout=TIMEOUT,
                              check=False)

    def test_what_xrt_prints_is_not_among_results(self):
        for args in ("info", "--json"), (*RUN, "--json"), ("bench", "--json", "empty-64-cold"):
            with self.subTest(args):
                p = self.tern(*args, FAKE_XRT="prints", XCL_EMULATION_MODE="hw_emu")
                self.assertEqual(p.returncode, 0, p.stderr)
                self.assertIsInstance(json.loads(p.stdout), (dict, list))
                self.assertIn("penguin", p.stderr)

    def test_a_lost_device_is_called_so(self):
        """A program that connects after ternd has lost the device gets the error of a lost device."""
        socket = self.folder / "s"
        daemon = Ternd(BUILD / "bin/ternd", socket, env=self.env | {"FAKE_XRT": "fail=1000"})
        self.addCleanup(daemon.log.close)
        self.addCleanup(daemon.kill)
        client = {"TERND_SOCKET": str(socket)}
        for _ in range(200):
            p = self.tern(*RUN, **client)
            if p.returncode:
                break
            self.assertIn("1 1.5 2 2.5", p.stdout)
        self.assertIn("the card is given up: ", daemon.said())
        p = self.tern(*RUN, **client)
        self.assertEqual((p.returncode, p.stdout), (1, ""))
        self.assertIn("tern: OpenCL: no counters: the device is lost: ", p.stderr)
        self.assertNotIn("CL_INVALID_VALUE", p.stderr)
        self.assertEqual(daemon.end(), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
