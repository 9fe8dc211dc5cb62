# SPDX-License-Identifier: Apache-2.0
"""The tern command on the functional model: output, JSON, exit codes, errors that say what to do."""
import json
import os
import subprocess
import sys
import unittest

TERN = sys.argv.pop(1)


def tern(*args, **env):
    return subprocess.run([TERN, *args], capture_output=True, text=True, check=False,
                          env={**os.environ, "TERN_BACKEND": "model", **env})


class Tern(unittest.TestCase):
    def fails(self, status, message, *args, **env):
        r = tern(*args, **env)
        self.assertEqual(r.returncode, status, r.stderr)
        self.assertIn(message, r.stderr)
        self.assertEqual(r.stdout, "")

    def test_info(self):
        r = json.loads(tern("info", "--json").stdout)
        self.assertEqual((r["backend"], r["config"], r["engines"], r["lanes"], r["warps"]), ("model", "default", 2, 16, 16))
        r = json.loads(tern("info", "--json", TERN_CONFIG="small,mem=64M").stdout)
        self.assertEqual((r["lanes"], r["memory_bytes"]), (8, 64 << 20))
        self.assertIn("lanes x warps      16 x 16", tern("info").stdout)

    def test_bench_checks_every_result(self):
        r = tern("bench", "--json")
        self.assertEqual(r.returncode, 0, r.stderr)
        data = json.loads(r.stdout)
        names = tern("bench", "--list").stdout.split()
        self.assertEqual([x["name"] for x in data["results"]], names)
        self.assertIn("vecadd-16384", names)
        self.assertIn("sgemm-128", names)
        for x in data["results"]:
            self.assertTrue(x["correct"], x["name"])
            self.assertGreater(x["cycles"], 0)
        self.assertEqual(data["config"]["backend"], "model")

    def test_one_bench_as_text(self):
        r = tern("bench", "vecadd-16384", TERN_CONFIG="small")
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertIn("right", r.stdout)

    def test_help(self):
        for args in (["--help"], ["info", "--help"], ["bench", "--help"], ["--version"]):
            r = tern(*args)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertIn("tern", r.stdout)

    def test_wrong_usage(self):
        self.fails(2, "unknown command 'frobnicate'", "frobnicate")
        self.fails(2, "unknown argument '--jason'", "info", "--jason")
        self.fails(2, "there is no bench 'vecad'", "bench", "vecad")

    def test_device_errors(self):
        self.fails(1, "unknown backend 'fpga'", "info", TERN_BACKEND="fpga")
        self.fails(1, "unknown key 'colour'", "info", TERN_CONFIG="default,colour=red")
        self.fails(1, "unknown configuration 'huge'", "info", TERN_CONFIG="huge")


if __name__ == "__main__":
    unittest.main()
