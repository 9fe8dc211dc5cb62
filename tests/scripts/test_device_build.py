# SPDX-License-Identifier: Apache-2.0
"""A device is compiled by JOBS processes, by one if JOBS is not set."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Instead of Verilator and make: the first does nothing, the second writes down how it was called and ends the script.
STUBS = {"verilator": "exit 0", "make": 'echo "$@" >>"$CALLS"; exit 1'}


class Jobs(unittest.TestCase):
    def jobs(self, script, **env):
        with tempfile.TemporaryDirectory() as d:
            folder = pathlib.Path(d)
            for name, body in STUBS.items():
                (folder / name).write_text(f"#!/bin/sh\n{body}\n")
                (folder / name).chmod(0o755)
            environment = {k: v for k, v in os.environ.items() if k != "JOBS"}
            environment |= {"PATH": f"{d}:{os.environ['PATH']}", "CALLS": str(folder / "calls"), **env}
            subprocess.run([ROOT / script, folder / "out", folder / "work"], check=False, capture_output=True,
                           env=environment)
            words = (folder / "calls").read_text().split()
        return [words[i + 1] for i, word in enumerate(words) if word == "-j"]

    def test_as_many_as_was_said(self):
        for script in "sim/rtl/build", "sim/board/build":
            self.assertEqual(self.jobs(script), ["1"], script)
            self.assertEqual(self.jobs(script, JOBS="3"), ["3"], script)


if __name__ == "__main__":
    unittest.main()
