# SPDX-License-Identifier: Apache-2.0
"""A ternd that does not answer, from the start or after its welcome. `tern migrate`, to this machine or another, and
clients end by their time limit or by an interrupt, and say why. TERND_PATIENCE sets the limit: short where it ends the
wait, long where an interrupt does. A wrong value is refused."""
import json
import pathlib
import re
import select
import signal
import socket
import subprocess
import threading
import time
import unittest

from moving import MIGRATE, PATIENCE, TERN, TERND
from proxy_moving import ByProxy

LITTLE, MUCH = 15, 600  # Seconds: an answer comes within LITTLE, even on a busy host.
UNKNOWN = "does not answer; whether the programs have moved is not known"


class Silent(ByProxy):
    def patient(self, seconds):
        """Sets TERND_PATIENCE for all programs started after this."""
        self.plain["TERND_PATIENCE"] = str(seconds)

    def fake(self, name, behind=None):
        """Makes a silent ternd. Returns its path and an event that a client came. With `behind`, it sends the welcome
        of that real ternd, and the event says that the client continued after the welcome."""
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path, kept, reached = self.folder / name, [s], threading.Event()
        s.bind(str(path))
        s.listen(8)

        def serve():
            while True:
                try:
                    c, _ = s.accept()
                except OSError:
                    return
                kept.append(c)
                if behind:
                    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as real:
                        real.connect(str(behind.socket))
                        real.send(c.recv(65536))
                        c.send(real.recv(65536))
                    select.select([c], [], [], PATIENCE)
                reached.set()

        t = threading.Thread(target=serve)
        t.start()
        self.addCleanup(lambda: [x.close() for x in kept])
        self.addCleanup(t.join)
        self.addCleanup(s.shutdown, socket.SHUT_RDWR)
        return path, reached

    def migrate(self, source, target, *args, **more):
        return self.popen([MIGRATE, "--from", str(source), "--to", str(target), *args], **more)

    def taken(self, p):
        """Waits until the program has taken its interrupt or has ended."""
        end = time.monotonic() + PATIENCE
        while p.poll() is None:
            status = pathlib.Path(f"/proc/{p.pid}/status").read_text(encoding="ascii")
            pending = re.findall(r"^S(?:ig|hd)Pnd:\s*(\w+)", status, re.M)
            if not any(int(x, 16) >> signal.SIGINT - 1 & 1 for x in pending):
                return
            self.assertLess(time.monotonic(), end)
            time.sleep(0.001)

    def test_a_welcome_that_does_not_come(self):
        here = self.daemon("a")
        self.patient(LITTLE)
        path, reached = self.fake("silent")
        client = self.popen([TERN, "partition"], {"TERND_SOCKET": str(path)})
        waits = [self.migrate(path, here.socket), self.migrate(here.socket, path),
                 self.migrate(path, "exec:cat > /dev/null"),
                 self.migrate(here.socket, f"exec:{MIGRATE} serve --to {path}")]
        for p in waits:
            _, err = p.communicate(timeout=PATIENCE)
            self.assertEqual(p.returncode, 1)
            self.assertRegex(err, rf"ternd at {path} does not answer for {LITTLE} s")
        _, err = client.communicate(timeout=PATIENCE)
        self.assertNotEqual(client.returncode, 0)
        self.assertIn(f"ternd at {path} does not answer for {LITTLE} s", err)
        self.patient(MUCH)
        for args in ((path, here.socket), (here.socket, path), (path, "exec:cat > /dev/null")):
            reached.clear()
            p = self.migrate(*args)
            self.assertTrue(reached.wait(PATIENCE))
            p.send_signal(signal.SIGINT)
            _, err = p.communicate(timeout=PATIENCE)
            self.assertNotEqual(p.returncode, 0, err)
        self.assertEqual(here.end(), 0, here.said())

    def test_silent_behind_its_welcome_an_interrupt_ends_it(self):
        self.patient(MUCH)
        here, there = self.daemon("a"), self.daemon("b")
        a, said_a = self.fake("fake a", here)
        b, said_b = self.fake("fake b", there)
        proxy = f"exec:exec {MIGRATE} serve --to {there.socket}"
        for target, signals in ((b, 1), (b, 2), (proxy, 1), (proxy, 2)):
            said_a.clear()
            said_b.clear()
            p = self.migrate(a, target)
            self.assertTrue(said_a.wait(PATIENCE) and (target == proxy or said_b.wait(PATIENCE)))
            with self.assertRaises(subprocess.TimeoutExpired):
                p.wait(0.3)
            for _ in range(signals):
                p.send_signal(signal.SIGINT)
                self.taken(p)
            _, err = p.communicate(timeout=PATIENCE)
            self.assertEqual(p.returncode, 1, err)
            self.assertIn(UNKNOWN, err, f"{target} {signals}")
        for d in (here, there):
            self.assertEqual(d.end(), 0, d.said())

    def test_another_machine_that_says_nothing(self):
        self.patient(LITTLE)
        here = self.daemon("a")
        p = self.migrate(here.socket, "exec:cat > /dev/null", "--json")
        out, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 1, err)
        self.assertIn(f"the other machine has not answered in time: no link came for {LITTLE} s", err)
        self.assertFalse(json.loads(out)["moved"])
        self.assertEqual(here.end(), 0, here.said())

    def test_a_source_that_is_stopped(self):
        """The target gives up after its own time limit, and no program waits for ever."""
        self.patient(LITTLE)
        here, there = self.daemon("a"), self.daemon("b")
        a, said = self.fake("fake a", here)
        p = self.migrate(a, there.socket, "--json")
        self.assertTrue(said.wait(PATIENCE))
        out, err = p.communicate(timeout=PATIENCE)
        self.assertEqual(p.returncode, 1, err)
        self.assertIn(UNKNOWN, err)
        self.assertFalse(json.loads(out)["moved"])
        for d in (here, there):
            self.assertEqual(d.end(), 0, d.said())

    def test_a_patience_that_is_none(self):
        here = self.daemon("a")
        for wrong in "0", "3601", "2s", "-1":
            env = {**self.plain, "TERND_PATIENCE": wrong}
            said = re.escape(f"TERND_PATIENCE, seconds: {wrong if wrong in ('0', '3601') else repr(wrong)} is ")
            for status, args in ((1, [TERND, "--socket", self.folder / "other", "--backend", "model"]),
                                 (2, [MIGRATE, "--from", here.socket, "--to", self.folder / "other"]),
                                 (2, [MIGRATE, "serve", "--to", here.socket]), (1, [TERN, "partition"])):
                r = subprocess.run(args, env={**env, "TERND_SOCKET": str(here.socket)}, capture_output=True, text=True,
                                   timeout=PATIENCE, check=False)
                self.assertEqual(r.returncode, status, f"{args}: {r.stderr}")
                self.assertRegex(r.stderr, said)
        self.assertEqual(here.end(), 0, here.said())


del ByProxy

if __name__ == "__main__":
    unittest.main()
