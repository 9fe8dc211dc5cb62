# SPDX-License-Identifier: Apache-2.0
"""The tree and what was built of it give one version, and scripts/check-version finds each place that gives another.

usage: test_version.py BUILD
"""
import importlib.machinery
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/check-version"
BUILD = sys.argv.pop()
loader = importlib.machinery.SourceFileLoader("check_version", str(SCRIPT))
check_version = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_version", loader))
loader.exec_module(check_version)
PLACES = {"docs/CHANGELOG.md": r"## (\d+\.\d+\.\d+)", "scripts/debian/changelog": r"tern \((\d+\.\d+\.\d+)-",
          "docs/man/tern.1": r"tern (\d+\.\d+\.\d+)", "docs/runtime.md": r"`(\d+\.\d+\.\d+)\+[0-9a-f]{8}`",
          "driver/include/tern/tern_version.h": r"VERSION_MINOR (\d+)"}


def run(script, *args):
    r = subprocess.run([script, *args], capture_output=True, text=True, check=False)
    return r.returncode, r.stdout, r.stderr


class Version(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in [*PLACES, "scripts/check-version"]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.script = self.root / "scripts/check-version"
        self.version = check_version.of_header(ROOT)

    def change(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def finds(self, *messages):
        status, out, err = run(self.script)
        self.assertEqual((status, err), (1 if messages else 0, ""), out)
        self.assertEqual(len(out.splitlines()), len(messages) + 1, out)
        for m in messages:
            self.assertIn(m, out)

    def test_all_that_is_built_agrees(self):
        status, out, err = run(SCRIPT, "--built", BUILD)
        self.assertEqual((status, out, err), (0, f"check-version: {self.version}, 0 violations\n", ""))

    def test_each_place_is_read(self):
        self.finds()
        for name, pattern in PLACES.items():
            text = (ROOT / name).read_text()
            m = re.search(pattern, text)
            if name == check_version.HEADER:
                continue
            self.change(name, text[:m.start(1)] + "7.8.9" + text[m.end(1):])
            self.finds(f"{name}:{text.count(chr(10), 0, m.start()) + 1}: ")
            self.change(name, text)
        text = (ROOT / check_version.HEADER).read_text()
        self.change(check_version.HEADER, re.sub(r"MINOR \d+", "MINOR 77", text))
        status, out, _ = run(self.script)
        self.assertEqual(status, 1)
        for name in set(PLACES) - {check_version.HEADER}:
            self.assertIn(f"{name}:", out)

    def test_code_does_not_contain_it(self):
        self.change("runtime/core/x.h", f'\n#define VERSION "{self.version}"\n')
        self.finds(f'runtime/core/x.h:2: contains "{self.version}"')

    def test_places_that_were_lost(self):
        """A list without an entry, or documents without an example, are no agreement."""
        self.change("docs/CHANGELOG.md", "# Changes\n")
        self.finds("docs/CHANGELOG.md:1: no line gives a version")
        shutil.copy(ROOT / "docs/CHANGELOG.md", self.root / "docs/CHANGELOG.md")
        self.change("docs/man/tern.1", "")
        self.change("docs/runtime.md", "")
        self.finds("no page shows the version any more")

    def test_what_cannot_be_read(self):
        (self.root / "scripts/debian/changelog").unlink()
        self.assertEqual(run(self.script), (
            2, "", "check-version: scripts/debian/changelog cannot be read: No such file or directory\n"))
        self.change(check_version.HEADER, "#define TERN_VERSION_MAJOR one\n")
        status, _, err = run(self.script)
        self.assertEqual((status, err.count("\n")), (2, 1))
        self.assertIn("does not define", err)

    def test_wrong_use(self):
        for args in (["--bulit"], ["--built"], ["--built", str(self.root)]):
            status, out, err = run(self.script, *args)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), args)
            self.assertIn("check-version --help", err)

    def test_what_was_built_before(self):
        """Programs of another version, or none, are found."""
        self.change("b/CMakeCache.txt", "")
        self.change("b/bin/tern", "#!/bin/sh\necho tern 9.9.9\n")
        self.change("b/driver/tern.pc", f"Version: {self.version}\n")
        (self.root / "b/bin/tern").chmod(0o755)
        found = list(check_version.built(self.root / "b", self.version))
        self.assertIn("gives 9.9.9", found[0])
        self.assertIn("ternd --version gives no version", found[1])
        self.assertIn("libtern.so gives no version", found[2])
        self.assertFalse([x for x in found if "tern.pc" in x])


if __name__ == "__main__":
    unittest.main()
