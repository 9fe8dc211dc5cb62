# SPDX-License-Identifier: Apache-2.0
"""What can be seen of the clients of a ternd: all of them, in tern top and in its trace, but only by ternd's user."""
import json
import os
import pathlib
import pwd
import stat
import subprocess
import sys
import tempfile
import time
import unittest

from daemon import Ternd

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from tracefile import Trace

TERND, TERN, CLIENT, ICD = (str(pathlib.Path(x).resolve()) for x in sys.argv[1:5])
del sys.argv[1:5]
NOBODY = 65534
PATIENCE = 120


class Watch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)  # so that it is the files that keep others out
        self.plain = {k: v for k, v in os.environ.items() if not k.startswith("TERN") and k != "XDG_RUNTIME_DIR"}
        self.trace = self.folder / "trace.json"
        self.daemon = Ternd(TERND, self.folder / "sock", "--backend", "model", umask=0o022,
                            env={**self.plain, "XDG_RUNTIME_DIR": folder.name, "TERN_TRACE": str(self.trace)})
        self.addCleanup(self.daemon.log.close)
        self.addCleanup(self.daemon.kill)
        self.assertTrue(self.daemon.listens, self.daemon.said())

    def client(self, seed):
        env = {**self.plain, "TERND_SOCKET": str(self.folder / "sock"), "OCL_ICD_VENDORS": ICD,
               **{k: v for k, v in os.environ.items() if k == "TERN_CACHE_DIR"}}
        p = subprocess.Popen([CLIENT, str(seed)], env=env, stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        self.assertEqual(p.stdout.readline(), "begins\n")
        return p

    def seen(self, **who):
        """What tern top shows: {process name: completed buffers}."""
        r = subprocess.run([TERN, "top", "--once", "--json"], env={**self.plain, "XDG_RUNTIME_DIR": str(self.folder)},
                           stdout=subprocess.PIPE, text=True, check=True, **who)
        return {c["process_name"]: c["completed"] for d in json.loads(r.stdout)["devices"] for c in d["contexts"]}

    def test_all_clients_are_seen_by_its_user_alone(self):
        clients = [self.client(seed) for seed in (1, 2, 3)]
        user = pwd.getpwuid(os.getuid()).pw_name[:15]
        want = {f"({p.pid} {user})" for p in clients}
        end = time.monotonic() + PATIENCE
        while True:
            top = {name.split(" ", 1)[1]: n for name, n in self.seen().items()}
            if set(top) == want and min(top.values()) > 5:
                break
            self.assertLess(time.monotonic(), end, top)
            time.sleep(0.1)
        files = [*(self.folder / "tern").glob("*.stats"), self.trace]
        self.assertEqual(len(files), 2)
        for file in files:
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600, file)
        if os.geteuid() == 0:
            self.assertEqual(self.seen(user=NOBODY, group=NOBODY, extra_groups=[]), {})
            for file in files:
                r = subprocess.run(["cat", file], capture_output=True, check=False, user=NOBODY, group=NOBODY,
                                   extra_groups=[])
                self.assertEqual((r.returncode, r.stdout), (1, b""), file)
        for p in clients:
            p.terminate()
            self.assertGreater(json.loads(p.communicate(timeout=PATIENCE)[0])["rounds"], 0)
        self.assertEqual(self.daemon.end(), 0, self.daemon.said())
        trace = Trace(self.trace)
        trace.check()
        ours = {pid: name.split(" ", 1)[1].split(":")[0] for pid, name in trace.groups.items() if "(" in name}
        self.assertEqual(set(ours.values()), want)
        labels = {(ours[e["pid"]], e["args"]["label"]) for e in trace.marks
                  if e["name"] == "submit" and e["pid"] in ours}
        self.assertLessEqual({(name, kernel) for name in want for kernel in ("mix", "sums", "bins")}, labels)


if __name__ == "__main__":
    unittest.main()
