# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of the command line. The first argument of each test is the tern binary."""
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import time
import unittest

TERN = str(pathlib.Path(sys.argv.pop(1)).resolve())
ON_TERMINAL = 250  # Seconds. Only a failing test waits this long.


class Case(unittest.TestCase):
    """A test with its own folder, in which tern runs, by default on the functional model."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tern(self, *args, stdin=b"", **env):
        r = subprocess.run([TERN, *map(str, args)], cwd=self.folder, input=stdin, capture_output=True, check=False,
                           env={**os.environ, "TERN_BACKEND": "model", "TERN_CONFIG": "default", **env})
        r.bytes, r.stdout, r.stderr = r.stdout, r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace")
        return r

    def on_terminal(self, *args, until=None, then=None, **env):
        """Runs tern on a pseudo-terminal. When `until` was shown, presses q, or creates the file `then`. Returns the
        exit status and everything shown."""
        try:
            pid, fd = pty.fork()
        except OSError as e:  # The container may have no /dev/pts.
            self.skipTest(f"no pseudo-terminal can be had here: {e}")
        if pid == 0:
            os.environ.update({"TERM": "xterm", "TERN_BACKEND": "model", "TERN_CONFIG": "default", **env})
            os.execv(TERN, [TERN, *args])
        seen, asked, end = b"", False, time.monotonic() + ON_TERMINAL
        while time.monotonic() < end:
            if select.select([fd], [], [], 0.1)[0]:
                try:
                    data = os.read(fd, 65536)
                except OSError:  # The other end of the terminal is closed.
                    break
                if not data:
                    break
                seen += data
            if until and until in seen and not asked:
                if then:
                    then.touch()
                else:
                    os.write(fd, b"q")
                asked = True
        os.close(fd)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen

    def works(self, *args, **more):
        """Runs tern, which must succeed without messages. Returns its standard output."""
        r = self.tern(*args, **more)
        self.assertEqual((r.returncode, r.stderr), (0, ""), args)
        return r.stdout

    def fails(self, status, message, *args, **more):
        """Runs tern, which must fail with this status, a message that contains this text, and no standard output.
        Returns the messages."""
        r = self.tern(*args, **more)
        self.assertEqual((r.returncode, r.stdout), (status, ""), r.stderr)
        self.assertIn(message, r.stderr)
        return r.stderr

    def file(self, name, contents):
        path = self.folder / name
        if isinstance(contents, str):
            contents = contents.encode()
        path.write_bytes(contents)
        return path
