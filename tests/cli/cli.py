# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of the command line. The first argument of each test is the tern binary."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TERN = str(pathlib.Path(sys.argv.pop(1)).resolve())


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
