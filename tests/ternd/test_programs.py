# SPDX-License-Identifier: Apache-2.0
"""Unmodified OpenCL programs with ternd: clinfo and 16 demos at the same time, and demos of four users, two of which
are refused what they ask for. All results are right, and nothing is left.

Independent programs check the results of the demo (tests/demo): hashlib, NumPy, and OpenBLAS in the demo itself. All
programs begin at the same time: ternd is stopped until each has reached it.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from daemon import PATIENCE, Ternd

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "scripts/lib"))
try:
    import demo_check
    from demo_inputs import make_inputs
except ImportError as missing:
    print(f"skipped: {missing}; scripts/setup demo")
    sys.exit(77)

TERND, TERN, DEMO, ICD = (str(pathlib.Path(x).resolve()) for x in sys.argv[1:5])
del sys.argv[1:5]
DEMOS = 16
USERS = {"plain": 70011, "small share": 70012, "little memory": 70013, "few contexts": 70014}


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        make_inputs(self.folder)
        self.plain = {k: v for k, v in os.environ.items() if not k.startswith("TERN") and k != "XDG_RUNTIME_DIR"}
        self.plain["TERND_PATIENCE"] = str(PATIENCE)
        self.socket = self.folder / "sock"
        self.cache = self.folder / "cache"  # Cache of compiled kernels.

    def serve(self, *args):
        environment = {**self.plain, "XDG_RUNTIME_DIR": str(self.folder)}
        daemon = Ternd(TERND, self.socket, "--backend", "model", *args, env=environment)
        self.addCleanup(daemon.log.close)
        self.addCleanup(daemon.kill)
        self.assertTrue(daemon.listens, daemon.said())
        daemon.look = lambda: daemon.holds(TERN, environment)
        return daemon

    def until(self, condition, why):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, why())
            time.sleep(0.01)

    def start(self, argv, cache, **who):
        environment = {**self.plain, "TERND_SOCKET": str(self.socket), "OCL_ICD_VENDORS": ICD,
                       "TERN_CACHE_DIR": str(cache), "OPENBLAS_NUM_THREADS": "1"}
        p = subprocess.Popen([str(x) for x in argv], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, **who)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        return p

    def demo(self, output, **who):
        return self.start([DEMO, "--folder", self.folder / "files", "--photo", self.folder / "photo.jpg", "--matrix",
                           self.folder / "matrix.mtx", "--kernels", ROOT / "tests/demo", "--output", output],
                          **{"cache": self.cache, **who})

    def begin_at_once(self, daemon, starts):
        """Starts the programs and lets all in at once, after each has reached ternd."""
        def reached():
            return daemon.waiting(self.socket)

        daemon.stop()
        programs = [start() for start in starts]
        try:
            self.until(lambda: reached() == len(programs),
                       lambda: f"{reached()} of {len(programs)} programs reached ternd")
        finally:
            daemon.go_on()
        return programs

    def expect_demo(self, program, output):
        out, err = program.communicate(timeout=PATIENCE)
        self.assertEqual(program.returncode, 0, out + err)
        self.assertIn("differs from the BLAS by", out)
        for line in (output / "sha256.txt").read_text().splitlines():
            digest, name = line.split(maxsplit=1)
            self.assertEqual(digest, hashlib.sha256(pathlib.Path(name).read_bytes()).hexdigest())
        self.assertTrue(demo_check.edges(output / "before.png", output / "after.png"))
        self.assertTrue(demo_check.eigen(self.folder / "matrix.mtx", output / "eigen.txt"))

    def output(self, name, uid=None):
        folder = self.folder / name
        folder.mkdir()
        if uid is not None:
            os.chown(folder, uid, uid)
        return folder

    def test_clinfo_and_demos_at_once(self):
        self.cache = os.environ.get("TERN_CACHE_DIR", self.cache)
        daemon = self.serve()
        outputs = [self.output(f"of-{i}") for i in range(DEMOS)]
        before = daemon.look()
        starts = [lambda o=o: self.demo(o) for o in outputs] + [lambda: self.start(["clinfo", "--json"], self.cache)]
        *demos, clinfo = self.begin_at_once(daemon, starts)
        for program, output in zip(demos, outputs):
            self.expect_demo(program, output)
        said, err = clinfo.communicate(timeout=PATIENCE)
        self.assertEqual((clinfo.returncode, err), (0, ""))
        said = json.loads(said)
        self.assertEqual([p["CL_PLATFORM_NAME"] for p in said["platforms"]], ["Tern"])
        self.assertEqual([d["CL_DEVICE_AVAILABLE"] for d in said["devices"][0]["online"]], [True])
        self.until(lambda: daemon.look() == before, lambda: f"{before} before, {daemon.look()} after")
        self.assertEqual(daemon.end(), 0, daemon.said())

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to run programs of several users")
    def test_users_at_once(self):
        """Each user has its own limits. A refusal for one user does not affect the others."""
        uid = USERS["plain"]
        if subprocess.run(["test", "-x", DEMO], user=uid, group=uid, extra_groups=[], check=False).returncode:
            self.skipTest(f"user {uid} cannot reach {DEMO}")
        limits = self.folder / "limits"
        limits.write_text(f"[user {USERS['small share']}]\nshare = 10\n"
                          f"[user {USERS['little memory']}]\nmemory = 8K\n"
                          f"[user {USERS['few contexts']}]\ncontexts = 1\n")
        refused = {"little memory": f"would be more than user {USERS['little memory']} may have: 8 of 8 KiB are in use",
                   "few contexts": f"no queue: user {USERS['few contexts']} has 1 contexts, and may have no more"}
        daemon = self.serve("--limits", str(limits))
        before = daemon.look()
        # This run fills the cache of compiled kernels for the others.
        self.expect_demo(self.demo(self.output("first")), self.folder / "first")
        starts, outputs = [], {}
        for user, uid in USERS.items():
            cache = self.folder / f"cache of {user}"
            shutil.copytree(self.cache, cache)
            for path in [cache, *cache.rglob("*")]:
                os.chown(path, uid, uid)
            for i in range(1 if user in refused else 2):
                outputs[user, i] = self.output(f"{user} {i}", uid)
                starts.append(lambda o=outputs[user, i], uid=uid, cache=cache: self.demo(
                    o, cache=cache, user=uid, group=uid, extra_groups=[]))
        for (user, i), program in zip(outputs, self.begin_at_once(daemon, starts)):
            if user not in refused:
                self.expect_demo(program, outputs[user, i])
            else:
                out, err = program.communicate(timeout=PATIENCE)
                self.assertEqual(program.returncode, 1, out + err)
                self.assertIn(refused[user], err)
        self.until(lambda: daemon.look() == before, lambda: f"{before} before, {daemon.look()} after")
        self.assertEqual(daemon.end(), 0, daemon.said())


if __name__ == "__main__":
    unittest.main()
