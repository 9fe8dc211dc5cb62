# SPDX-License-Identifier: Apache-2.0
"""Users that take all the connections to ternd that they get, and send nothing or only their hello, do not keep others
out, however few files ternd may open. The end of a connection that is silent for an hour is not tested here. Arguments:
TERND TERN."""
import contextlib
import os
import pathlib
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from daemon import PATIENCE, Ternd

TERND, TERN = (str(pathlib.Path(x).resolve()) for x in sys.argv[1:3])
del sys.argv[1:3]
FIRST_UID = 70001
# Program of a user: makes connections, sends the same hello on each, prints "made", and for each line of input prints
# how many connections are open.
USER = """
import os, socket, sys
path, uid, n, hello = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), bytes.fromhex(sys.argv[4])
if uid != os.getuid():
    os.setgid(uid)
    os.setuid(uid)
held = []
for _ in range(n):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)
    try:
        if hello:
            s.send(hello)
    except OSError:
        pass
    held.append(s)
def lives(s):
    try:
        return bool(s.recv(4096, socket.MSG_DONTWAIT | socket.MSG_PEEK))
    except BlockingIOError:
        return True
    except OSError:
        return False
print("made", flush=True)
for line in sys.stdin:
    print(sum(lives(s) for s in held), flush=True)
"""


class Silent(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.plain = {k: v for k, v in os.environ.items() if not k.startswith("TERN") and k != "XDG_RUNTIME_DIR"}
        self.plain["TERND_PATIENCE"] = "3600"

    def daemon(self, files):
        d = Ternd(TERND, self.folder / f"sock{files}", "--backend", "model", "--config", "small", env=self.plain,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
        d.socket = self.folder / f"sock{files}"
        self.addCleanup(d.log.close)
        self.addCleanup(d.kill)
        self.assertTrue(d.listens, d.said())
        return d

    def hello(self):
        """Returns the hello of a session, as a program sends it."""
        at = self.folder / "listens"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.bind(str(at))
            s.listen()
            p = subprocess.Popen([TERN, "info"], env={**self.plain, "TERND_SOCKET": str(at)},
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with s.accept()[0] as c:
                got = c.recv(4096)
            p.wait(PATIENCE)
        at.unlink()
        return got

    @contextlib.contextmanager
    def user(self, daemon, uid, n, hello=b""):
        """Runs the user's program. Yields a function that returns how many of its connections are open."""
        p = subprocess.Popen([sys.executable, "-c", USER, str(daemon.socket), str(uid), str(n), hello.hex()],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def lives():
            p.stdin.write("\n")
            p.stdin.flush()
            return int(p.stdout.readline())
        try:
            self.assertEqual(p.stdout.readline(), "made\n")
            yield lives
        finally:
            p.kill()
            p.communicate()

    def status(self, daemon, uid, hello):
        """Returns the status and the text of the welcome that a program of the user gets."""
        code = ("import os,socket,sys\n"
                "os.setuid(int(sys.argv[2])) if int(sys.argv[2]) != os.getuid() else None\n"
                "s=socket.socket(socket.AF_UNIX,socket.SOCK_SEQPACKET);s.connect(sys.argv[1])\n"
                "s.send(bytes.fromhex(sys.argv[3]));print(s.recv(4096).hex())")
        r = subprocess.run([sys.executable, "-c", code, str(daemon.socket), str(uid), hello.hex()],
                           capture_output=True, text=True, check=True, timeout=PATIENCE)
        got = bytes.fromhex(r.stdout)
        return struct.unpack_from("<i", got, 12)[0], got[16:].split(b"\0")[0].decode()

    def info(self, daemon):
        r = subprocess.run([TERN, "info", "--json"], env={**self.plain, "TERND_SOCKET": str(daemon.socket)},
                           capture_output=True, text=True, check=False, timeout=PATIENCE)
        self.assertEqual(r.returncode, 0, r.stderr)

    def settles(self, daemon, before):
        end = time.monotonic() + PATIENCE
        while (now := len(os.listdir(f"/proc/{daemon.pid}/fd"))) != before:
            self.assertLess(time.monotonic(), end, f"{now} descriptors, not {before}")
            time.sleep(0.02)

    def test_of_the_same_user(self):
        for files, n in ((64, 129), (256, 129), (256, 700)):
            with self.subTest(files=files, n=n):
                daemon = self.daemon(files)
                before = len(os.listdir(f"/proc/{daemon.pid}/fd"))
                with self.user(daemon, os.getuid(), n) as lives:
                    self.info(daemon)
                    self.assertGreater(lives(), 0)
                self.settles(daemon, before)
                self.assertEqual(daemon.end(), 0, daemon.said())

    @unittest.skipIf(os.geteuid(), "only root can be several users")
    def test_of_others(self):
        hello = self.hello()
        for files, users, n, sent in ((256, 1, 129, b""), (64, 1, 129, b""), (256, 1, 700, b""), (256, 5, 100, b""),
                                      (64, 20, 10, b""), (1024, 2, 900, b""), (256, 1, 129, hello), (64, 3, 60, hello),
                                      (1024, 4, 400, hello)):
            with self.subTest(files=files, users=users, n=n, sent=len(sent)), contextlib.ExitStack() as stack:
                daemon = self.daemon(files)
                before = len(os.listdir(f"/proc/{daemon.pid}/fd"))
                with stack:
                    lives = [stack.enter_context(self.user(daemon, FIRST_UID + i, n, sent)) for i in range(users)]
                    self.info(daemon)  # A program of root.
                    self.assertGreater(sum(x() for x in lives), 0)
                    # A program of another user.
                    self.assertEqual(self.status(daemon, FIRST_UID + users, hello), (0, ""))
                    self.assertGreater(sum(x() for x in lives), 0)
                    if not sent:  # Silent connections make room for a program of the same user.
                        self.assertEqual(self.status(daemon, FIRST_UID, hello), (0, ""))
                    else:
                        status, text = self.status(daemon, FIRST_UID, hello)
                        self.assertLess(status, 0)
                        self.assertRegex(text, r"user 70001 has \d+ connections, and ternd has descriptors for \d+ of")
                self.settles(daemon, before)
                self.assertEqual(daemon.end(), 0, daemon.said())


if __name__ == "__main__":
    unittest.main()
