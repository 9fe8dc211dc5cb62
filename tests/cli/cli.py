# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line share: the first argument of each is the tern binary."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TERN = str(pathlib.Path(sys.argv.pop(1)).resolve())


class Case(unittest.TestCase):
    """Each test has a folder of its own, in which tern runs, on the functional model unless it says otherwise."""

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
        """Standard output; nothing is on standard error."""
        r = self.tern(*args, **more)
        self.assertEqual((r.returncode, r.stderr), (0, ""), args)
        return r.stdout

    def fails(self, status, message, *args, **more):
        """The exit status, and a message that contains this; nothing is on standard output."""
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
