# SPDX-License-Identifier: Apache-2.0
"""scripts/package exports the commit and no other file, calls Debian's tools, and says in one sentence what is wrong:
no clone, changes, tools or packages that are missing, versions that differ, no room, another run, a build or a check
that fails. The tools are stubs here; tests/package/in-bare-root has the real ones. The list of symbols is that of the
headers.
"""
import fcntl
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ("scripts/package", "scripts/check-version", "driver/include/tern/tern_version.h", "docs/CHANGELOG.md",
         "docs/runtime.md", "docs/man/tern.1")
HEADERS = ("driver/include/tern/tern.h", "driver/include/tern/tern_checkpoint.h", "docs/spec/c/tern/tern_spec.h")
STUBS = {"dpkg-buildpackage": 'echo "$PWD $*" >"$CALLS"; echo "$SAYS"; touch ../tern_x.changes ../tern-tools_x.deb; '
                              'exit "${BUILD:-0}"',
         "dh": "", "lintian": 'echo "$@" >>"$CALLS"; echo "$FINDS"; exit "${LINTIAN:-0}"'}


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.tree, self.bin, self.calls = self.folder / "tree", self.folder / "bin", self.folder / "calls"
        for name in FILES:
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.tree / name)
        shutil.copytree(ROOT / "scripts/debian", self.tree / "scripts/debian")
        (self.tree / ".gitignore").write_text("/build/\n__pycache__/\n")
        self.bin.mkdir()
        for name, body in STUBS.items():
            (self.bin / name).write_text(f"#!/bin/sh\n{body}\n")
            (self.bin / name).chmod(0o755)
        for tool in ("git", "tar", "xz", "sh", "python3", "touch", "env"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.git("init", "-q")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=self.tree, check=True,
                       stdout=subprocess.DEVNULL)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def package(self, *args, limit=None, **env):
        """Returns status, output and messages of the script, in an environment with the stubs alone."""
        before = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
        r = subprocess.run([self.tree / "scripts/package", *args], capture_output=True, text=True, check=False,
                           preexec_fn=before, env={"PATH": str(self.bin), "CALLS": str(self.calls), "HOME": "/", **env})
        return r.returncode, r.stdout, r.stderr

    def refused(self, status, message, *args, **env):
        got, out, err = self.package(*args, **env)
        self.assertEqual((got, err.count("\n")), (status, 1), err + out)
        self.assertIn(message, err)
        self.assertTrue(err.startswith("package: "), err)
        return out

    def change(self, name, old, new):
        path = self.tree / name
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def test_what_is_built(self):
        status, out, err = self.package("--jobs", "3")
        self.assertEqual((status, err), (0, ""))
        self.assertIn("tern-tools_x.deb\n", out)
        made = next((self.tree / "build/package").glob("tern-*.*.*/"))
        self.assertEqual(self.calls.read_text().splitlines()[0], f"{made} -b -us -uc -j3")
        self.assertTrue(self.calls.read_text().endswith("tern_x.changes\n"))
        self.assertEqual((made / "debian/control").read_bytes(), (ROOT / "scripts/debian/control").read_bytes())
        self.assertEqual(made.name, f"tern-{re.search(r'([0-9.]+)-', (made / 'debian/changelog').read_text())[1]}")
        self.assertTrue(os.access(made / "debian/rules", os.X_OK))
        self.assertFalse((made / "build").exists())

    def test_source(self):
        status, _, err = self.package("--source", "--output", str(self.folder / "a b"))
        self.assertEqual((status, err), (0, ""))
        orig = next((self.folder / "a b").glob("tern_*.orig.tar.xz"))
        names = subprocess.run(["tar", "-tf", orig], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertFalse([n for n in names if "/debian/" in n and "/scripts/debian/" not in n])
        self.assertIn("-F ", self.calls.read_text())

    def test_a_tree_with_changes(self):
        self.change("docs/CHANGELOG.md", "# Changes", "# Changed")
        (self.tree / "docs/new.txt").write_text("new\n")
        self.refused(2, "2 files differ from the commit, such as docs/CHANGELOG.md: commit them, or")
        self.assertEqual(self.package("--dirty")[0], 0)
        made = next((self.tree / "build/package").glob("tern-*.*.*/"))
        self.assertTrue((made / "docs/CHANGELOG.md").read_text().startswith("# Changed"))
        self.assertTrue((made / "docs/new.txt").exists())
        (self.tree / "docs/new.txt").unlink()
        self.git("checkout", "-q", ".")
        self.assertEqual(self.package()[0], 0)
        self.assertFalse((made / "docs/new.txt").exists(), "the export of the run before is still there")

    def test_no_clone(self):
        shutil.rmtree(self.tree / ".git")
        self.refused(2, "is no clone of Tern")

    def test_missing_tools(self):
        (self.bin / "lintian").unlink()
        (self.bin / "dh").unlink()
        self.refused(2, "dh, lintian: not installed; run scripts/setup build package")

    def test_versions_that_differ(self):
        self.change("driver/include/tern/tern_version.h", "VERSION_PATCH ", "VERSION_PATCH 7")
        self.commit()
        self.refused(2, "the places that give the version do not agree: docs/CHANGELOG.md:")

    def test_no_room(self):
        self.change("scripts/package", "ROOM = 1 << 30", "ROOM = 1 << 60")
        self.commit()
        self.refused(2, "MiB free, and a build may need")
        self.assertFalse(self.calls.exists())

    def test_a_place_that_cannot_be_used(self):
        (self.folder / "file").write_text("")
        self.refused(2, "cannot be used: Not a directory", "--output", str(self.folder / "file/x"))

    def test_a_disk_that_fills(self):
        self.refused(1, "File too large", limit=3000)
        self.assertIn("building", self.refused(1, "is full: free some", BUILD="2",
                                               SAYS="cc: fatal error: x.o: No space left on device"))

    def test_another_run(self):
        (self.tree / "build/package").mkdir(parents=True)
        with open(self.tree / "build/package/.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refused(2, "another scripts/package works in")

    def test_builds_that_fail(self):
        self.refused(2, "packages are missing: cmake, ninja-build: run scripts/setup build package", BUILD="3",
                     SAYS="dpkg-checkbuilddeps: error: Unmet build dependencies: cmake, ninja-build")
        self.refused(1, "dpkg-buildpackage fails: x.c:3:1: error: no (all of it: ", BUILD="2",
                     SAYS="[1/2] Building error.c.o\nx.c:3:1: error: no\nmake: *** [rules:9] Error 1")
        self.refused(1, "dpkg-buildpackage fails: killed", BUILD="9", SAYS="killed")

    def test_what_lintian_finds(self):
        out = self.refused(1, "lintian has 2 errors and warnings", LINTIAN="2",
                           FINDS="E: ternd: a\nW: tern-tools: b\nI: c: d")
        self.assertIn("W: tern-tools: b\n", out)
        self.assertNotIn(".deb\n", out)

    def test_wrong_use(self):
        for args in (["--jobs", "0"], ["--jobs", "x"], ["--uotput", "x"], ["x"]):
            status, out, err = self.package(*args)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), args)
            self.assertIn("scripts/package --help", err)
        status, out, _ = self.package("--help")
        self.assertEqual(status, 0)
        self.assertIn("usage: package", out)


class Description(unittest.TestCase):
    def test_symbols_are_those_of_the_headers(self):
        declared = set()
        for header in HEADERS:
            text = re.sub(r"/\*.*?\*/", "", (ROOT / header).read_text(), flags=re.S)
            declared |= set(re.findall(r"^(?:TERN_API )?(?:const )?(?:struct |enum )?\w+ \*?(tern_\w+)\(", text, re.M))
        listed = (ROOT / "scripts/debian/libtern0.symbols").read_text().splitlines()
        self.assertEqual(listed[0], "libtern.so.0 libtern0 #MINVER#")
        names = [re.fullmatch(r" (\w+)@TERN_0 \d+\.\d+\.\d+", line) for line in listed[1:]]
        self.assertTrue(all(names), listed)
        self.assertEqual({m[1] for m in names}, declared | {"TERN_0"})

    def test_build_dependencies_are_those_of_setup(self):
        """All that a build needs is in the groups build and package of scripts/setup, which the script names."""
        control = (ROOT / "scripts/debian/control").read_text()
        needed = set(re.findall(r"^ +([a-z][\w.+-]+)", re.search(r"Build-Depends:(.*?)\n\S", control, re.S)[1], re.M))
        setup = (ROOT / "scripts/setup").read_text()
        there = set(" ".join(re.findall(r'^(?:build|package)="([^"]*)"', setup, re.M)).split())
        self.assertEqual(needed - there - {"debhelper-compat", "dh-sequence-installsysusers"}, set())
        self.assertGreater(len(needed), 20)


if __name__ == "__main__":
    unittest.main()
