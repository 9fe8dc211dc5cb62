# SPDX-License-Identifier: Apache-2.0
"""A small tree with documents, for tests of scripts/site."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = {
    "README.md": "# Of the tree\n\nSee [the page](docs/a.md), [a part](docs/a.md#a-part).\n",
    "CONTRIBUTING.md": "# How\n\nBy [LICENSE](LICENSE).\n",
    "LICENSE": "Freely.\n",
    "docs/README.md": "# Index\n\n| you | begin |\n|---|---|\n| a | [a.md](a.md), [why](why) |\n\n"
                      "![x](pictures/x.svg)\n",
    "docs/a.md": "# A\n\n## A part\n\nOf `tern_wait` and tern-info(1), tern_wait(3).\n\n"
                 "    [no](link.md) tern-info(1)\n\n"
                 "In `[code](none.md)` too. [tool](../scripts/tool.py), [back](../README.md)\n\n[ref]\n\n"
                 "[ref]: sub/b.md#b\n",
    "docs/sub/b.md": "# B\n\n[up](../a.md#a-part)\n",
    "docs/why/one.md": "# One\n\nBecause.\n",
    "docs/why/two.md": "# Two\n\n[one](one.md)\n",
    "docs/pictures/x.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>\n',
    "docs/man/tern-info.1": ".Dd January 1, 2026\n.Dt TERN-INFO 1\n.Os\n.Sh NAME\n.Nm tern-info\n"
                            ".Nd say what is there\n.Sh SEE ALSO\n.Xr tern_wait 3 ,\n.Xr ls 1\n",
    "docs/contents.yaml": "Read:\n  - tern\n  - a\n  - sub/*\n  - later*\nChange:\n  - contributing\n  - Why: why/*\n"
                          "  - reference/api\n  - man/*\n",
    "scripts/tool.py": "print('```')\n",
}


class Tree(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for part in ("scripts/site", "scripts/lib/docsite", "scripts/lib/headers.py", "scripts/lib/pypi.py",
                     "driver/include/tern"):
            (self.root / part).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / part).is_dir() else shutil.copy)(ROOT / part, self.root / part)
        for header in (self.root / "driver/include/tern").glob("*.h"):
            header.write_text(header.read_text().replace("docs/", ""))  # This tree has other pages.
        for name, text in FILES.items():
            self.file(name, text)

    def file(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def change(self, name, old, new):
        text = (self.root / name).read_text()
        self.assertIn(old, text)
        self.file(name, text.replace(old, new, 1))

    def site(self, *args):
        return subprocess.run([self.root / "scripts/site", *args], capture_output=True, text=True, check=False)

    def works(self, *args):
        r = self.site(*args)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        return r.stdout

    def fails(self, *args):
        """The lines of the error message."""
        r = self.site(*args)
        self.assertEqual((r.returncode, r.stdout), (1, ""), r.stderr)
        return r.stderr.splitlines()

    def page(self, name):
        return (self.root / "build/site/source" / name).read_text()
