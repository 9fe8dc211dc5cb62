# SPDX-License-Identifier: Apache-2.0
"""The clients of a ternd are all visible in `tern top` and in its trace, but only to ternd's user."""
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

from daemon import PATIENCE, Ternd

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from tracefile import Trace

TERND, TERN, CLIENT, ICD = (str(pathlib.Path(x).resolve()) for x in sys.argv[1:5])
del sys.argv[1:5]
NOBODY = 65534


class Watch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)  # Other users may enter the folder, so that only the files' own modes keep them out.
        self.plain = {k: v for k, v in os.environ.items() if not k.startswith("TERN") and k != "XDG_RUNTIME_DIR"}
        self.plain["TERND_PATIENCE"] = str(PATIENCE)
        self.trace = self.folder / "trace.json"
        self.daemon = Ternd(TERND, self.folder / "sock", "--backend", "model", umask=0o022,
                            env={**self.plain, "XDG_RUNTIME_DIR": folder.name, "TERN_TRACE": str(self.trace)})
        self.addCleanup(self.daemon.log.close)
        self.addCleanup(self.daemon.kill)
        self.assertTrue(self.daemon.listens, self.daemon.said())

    def client(self, seed, **more):
        env = {**self.plain, **more, "TERND_SOCKET": str(self.folder / "sock"), "OCL_ICD_VENDORS": ICD,
               **{k: v for k, v in os.environ.items() if k == "TERN_CACHE_DIR"}}
        p = subprocess.Popen([CLIENT, str(seed)], env=env, stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        self.assertEqual(p.stdout.readline(), "begins\n")
        return p

    def top(self, *args, **who):
        """Returns the output of `tern top --once`."""
        return subprocess.run([TERN, "top", "--once", *args], env={**self.plain, "XDG_RUNTIME_DIR": str(self.folder)},
                              stdout=subprocess.PIPE, text=True, check=True, **who).stdout

    def seen(self, **who):
        """Returns {process name: completed buffers} from `tern top`."""
        devices = json.loads(self.top("--json", **who))["devices"]
        return {c["process_name"]: c["completed"] for d in devices for c in d["contexts"]}

    def partition(self, *args):
        subprocess.run([TERN, "partition", *args], env={**self.plain, "TERND_SOCKET": str(self.folder / "sock")},
                       check=True)

    def device(self, condition):
        """Returns the data of ternd's device as soon as the condition holds."""
        end = time.monotonic() + PATIENCE
        while True:
            device = json.loads(self.top("--json"))["devices"][0]
            if condition(device):
                return device
            self.assertLess(time.monotonic(), end, device)
            time.sleep(0.1)

    def test_partitions(self):
        """Share, memory and engine time of each partition, and the partition of each context."""
        self.device(lambda d: [p["name"] for p in d["partitions"]] == ["default"])
        self.assertNotIn("PARTITION", self.top())
        self.partition("create", "part", "--memory", "16M", "--share", "300")
        d = self.device(lambda d: len(d["partitions"]) == 2)
        self.assertEqual(d["partitions_alive"], 2)
        self.assertEqual(d["partitions"][1], {"name": "part", "share": 300, "run_percent": 0, "cycles": 0,
                                              "memory_bytes": 16 << 20, "memory_free": 16 << 20, "processes": 0})
        outside, inside = self.client(1), self.client(2, TERN_PARTITION="part")
        d = self.device(lambda d: all(p["cycles"] > 0 and p["run_percent"] > 0 for p in d["partitions"]))
        self.assertEqual([p["processes"] for p in d["partitions"]], [1, 1])
        for p in d["partitions"]:
            self.assertTrue(0 < p["run_percent"] <= 100 and 0 < p["memory_free"] < p["memory_bytes"], p)
        of = {c["process_name"].split("(")[1].split()[0]: c["partition"] for c in d["contexts"]}
        self.assertEqual(of, {str(outside.pid): "default", str(inside.pid): "part"})
        for p in d["partitions"]:
            self.assertGreaterEqual(p["cycles"] * 2, sum(c["cycles"] for c in d["contexts"]
                                                         if c["partition"] == p["name"]))
        self.partition("share", "part", "--share", "7")
        self.device(lambda d: d["partitions"][1]["share"] == 7)
        lines = [line.split() for line in self.top().splitlines()]
        row = next(line for line in lines if line and line[0] == "part")
        self.assertEqual((row[1], row[5], row[6]), ("7", "16.0", "1"))
        for p in (outside, inside):
            p.terminate()
            p.communicate(timeout=PATIENCE)
        self.device(lambda d: d["processes"] == 0)
        self.partition("destroy", "part")
        self.device(lambda d: [p["name"] for p in d["partitions"]] == ["default"])
        self.assertEqual(self.daemon.end(), 0, self.daemon.said())

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
