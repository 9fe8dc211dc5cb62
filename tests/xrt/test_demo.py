#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The demo (tests/demo) on a card of XRT's emulation. As in scripts/demo, programs of others check its results.

usage: test_demo.py BUILD-FOLDER

The kernels of the demo need the default geometry. The device is the Verilated one if that is built. Exit 77: libraries
of the demo are missing.
"""
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/ternd"), str(ROOT / "scripts/lib")]
try:
    import demo_check
    from demo_inputs import make_inputs
except ImportError as missing:
    print(f"skipped: {missing}; scripts/setup demo")
    sys.exit(77)
from emulation import environment  # noqa: E402 pylint: disable=wrong-import-position

BUILD = pathlib.Path(sys.argv[1]).resolve()
DEVICE = "rtl_default" if (BUILD / "lib/libtern_sim_rtl_default.so").exists() else "model_default"
TIMEOUT = 1000


class Demo(unittest.TestCase):
    def test_demo(self):
        with tempfile.TemporaryDirectory(prefix="tern-xrt-demo-") as name:
            folder = pathlib.Path(name)
            make_inputs(folder)
            env = environment(BUILD, folder, device=DEVICE, memory="256M")
            output = folder / "output"
            output.mkdir()
            p = subprocess.run([BUILD / "bin/tern-demo", "--folder", folder / "files", "--photo", folder / "photo.jpg",
                                "--matrix", folder / "matrix.mtx", "--kernels", ROOT / "tests/demo", "--output",
                                output], env={**env, "OCL_ICD_VENDORS": str(BUILD / "tern.icd")}, check=False,
                               timeout=TIMEOUT, capture_output=True, text=True)
            self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
            self.assertNotIn("given up", p.stderr)
            self.assertIn("differs from the BLAS by", p.stdout)
            self.assertIn("penguin", p.stderr)  # printed by XRT, which shows that XRT was used
            self.assertNotIn("penguin", p.stdout)
            digests = [x.split(maxsplit=1) for x in (output / "sha256.txt").read_text().splitlines()]
            self.assertEqual(len(digests), 4)
            for digest, file in digests:
                self.assertEqual(digest, hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest())
            self.assertTrue(demo_check.edges(output / "before.png", output / "after.png"))
            self.assertTrue(demo_check.eigen(folder / "matrix.mtx", output / "eigen.txt"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
