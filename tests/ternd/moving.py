# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of migration between two ternd: daemons, programs that compute and check, migrations.

Arguments of a test: TERND TERN CLIENT ICD MOVE_CLIENT.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from daemon import PATIENCE, Ternd

TERND, TERN, CLIENT, ICD, MOVE_CLIENT = (str(pathlib.Path(x).resolve()) for x in sys.argv[1:6])
del sys.argv[1:6]
MIGRATE = str(pathlib.Path(TERN).parent.parent / "lib/tern/tern-migrate")
# On a busy machine, a ternd may take longer to answer than clients wait by default.
os.environ["TERND_PATIENCE"] = str(PATIENCE)


class Moving(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.plain = {k: v for k, v in os.environ.items() if not k.startswith("TERN") and k != "XDG_RUNTIME_DIR"}
        self.plain["TERND_PATIENCE"] = str(PATIENCE)

    def daemon(self, name, config="small,mem=64M", limits=None, backend="model"):
        home = self.folder / name
        home.mkdir()
        more = []
        if limits:
            (home / "limits").write_text(limits)
            more = ["--limits", str(home / "limits")]
        d = Ternd(TERND, home / "sock", "--backend", backend, "--config", config, *more,
                  env={**self.plain, "XDG_RUNTIME_DIR": str(home)})
        d.socket, d.environment = home / "sock", {**self.plain, "XDG_RUNTIME_DIR": str(home)}
        self.addCleanup(d.log.close)
        self.addCleanup(d.kill)
        self.assertTrue(d.listens, d.said())
        return d

    def client(self, daemon, seed):
        env = {**self.plain, "TERND_SOCKET": str(daemon.socket), "OCL_ICD_VENDORS": ICD,
               **{k: v for k, v in os.environ.items() if k == "TERN_CACHE_DIR"}}
        p = subprocess.Popen([CLIENT, str(seed)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        self.assertEqual(p.stdout.readline(), "begins\n")
        return p

    def completed(self, daemon):
        """Returns the buffers that have ended on the daemon's device, for each context that exists now."""
        r = subprocess.run([TERN, "top", "--once", "--json"], env=daemon.environment, stdout=subprocess.PIPE, text=True,
                           check=True)
        return [c["completed"] for d in json.loads(r.stdout)["devices"] for c in d["contexts"]]

    def works(self, daemon, clients, more=5):
        """Waits until each of so many clients has done more work on this device."""
        end = time.monotonic() + PATIENCE
        first = None
        while True:
            now = self.completed(daemon)
            if len(now) == clients:
                first = first or now
                if all(b >= a + more for a, b in zip(first, now)):
                    return
            self.assertLess(time.monotonic(), end, f"{now} of {clients}: {daemon.said()}")
            time.sleep(0.02)

    def move(self, source, target, *args):
        return subprocess.run([MIGRATE, "--from", str(source.socket), "--to", str(target.socket), *args],
                              timeout=PATIENCE, capture_output=True, text=True, check=False)

    def end(self, client):
        client.terminate()
        out, err = client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 0, err)
        self.assertGreater(json.loads(out)["rounds"], 0)

    def until(self, condition, failure):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end, failure)
            time.sleep(0.01)

    def settles(self, daemon, want):
        """Waits until a daemon has what it had before any client."""
        end = time.monotonic() + PATIENCE
        while (has := daemon.holds(TERN, daemon.environment)) != want:
            self.assertLess(time.monotonic(), end, f"{has}, not {want}: {daemon.said()}")
            time.sleep(0.02)
