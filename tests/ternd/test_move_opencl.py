# SPDX-License-Identifier: Apache-2.0
"""OpenCL programs move back and forth between two ternd all the time, and their devices preempt all work every 3,000
cycles: images, half, 64-bit atomics, sub-groups, pointers in memory. Each program checks its own results. On RTL, one
program has a short kernel of each.

    test_move_opencl.py TERND TERN CLIENT ICD MOVE_CLIENT

TERN_TEST_BACKEND: the backend of both ternd; the model if it is not set. The programs are opencl_NAME beside CLIENT.
"""
import os
import pathlib
import subprocess
import unittest

from moving import CLIENT, ICD, TERN, Moving  # This import reads the arguments.

BACKEND = os.environ.get("TERN_TEST_BACKEND", "model")
MEMORY = "256M" if BACKEND == "model" else "64M"
MOVES = 3
# Programs, and their random steps (TERN_TEST_STEPS), which are enough for some moves.
PROGRAMS = {"model": {"run_features": 30, "run_images": 1, "run_image_writes": 1, "run_half": 1, "run_wide_atomics": 1,
                      "run_subgroups": 1, "run_pointers": 20},
            "rtl": {"run_features": 3}}[BACKEND]


class Programs(Moving):
    def moved(self, name):
        """Runs a program whose device moves until it ends."""
        config = f"small,mem={MEMORY},preempt=3000"
        here, there = (self.daemon(d, config, backend=BACKEND) for d in "ab")
        before = {d: d.holds(TERN, d.environment) for d in (here, there)}
        env = {**self.plain, "TERND_SOCKET": str(here.socket), "OCL_ICD_VENDORS": ICD,
               "TERN_TEST_STEPS": str(PROGRAMS[name]),
               **{k: v for k, v in os.environ.items() if k == "TERN_CACHE_DIR"}}
        said = self.folder / "said"
        with said.open("w") as file:
            p = subprocess.Popen([pathlib.Path(CLIENT).parent / f"opencl_{name}"], env=env, stdin=subprocess.DEVNULL,
                                 stdout=file, stderr=file)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        moves = 0
        while p.poll() is None:
            r = self.move(here, there)
            if r.returncode == 0:
                here, there, moves = there, here, moves + 1
        self.assertEqual(p.returncode, 0, said.read_text())
        self.assertGreaterEqual(moves, MOVES, r.stderr + said.read_text())
        print(f"{name}: {moves} moves")
        for d in (here, there):
            self.settles(d, before[d])


for program in PROGRAMS:
    setattr(Programs, f"test_{program}", lambda self, name=program: self.moved(name))

if __name__ == "__main__":
    unittest.main()
