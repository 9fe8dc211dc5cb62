# SPDX-License-Identifier: Apache-2.0
"""Debian's hashcat, an OpenCL program that has no code for Tern, moves back and forth between two ternd while it
searches for words by their MD5, and finds all of them. The program is extracted from its packages and not installed.

    test_foreign.py TERND TERN CLIENT ICD MOVE_CLIENT

Exit status 77: the packages are not available.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from moving import ICD, TERN, Moving  # This import reads the arguments.

PACKAGES = ("hashcat", "hashcat-data", "libminizip1")
WORDS = ("tern", "kite", "xyzz")  # Words at the beginning, the middle and the end of the search.
MOVES = 3


def unpack(folder):
    """Extracts hashcat into a folder laid out as in its upstream archive. Returns None if the packages are not
    available."""
    try:
        subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as e:
        says = getattr(e, "stderr", None) or str(e).encode()
        print("not run: apt-get download:", says.decode().splitlines()[0])
        return None
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, folder / "root"], check=True)
    program = folder / "hashcat"
    shutil.copytree(folder / "root/usr/share/hashcat", program)
    shutil.copytree(folder / "root/usr/lib/hashcat", program, dirs_exist_ok=True)
    shutil.copy2(folder / "root/usr/bin/hashcat", program)
    return program


class Foreign(Moving):
    program = None

    def test_hashcat_finds_all_words_while_its_device_moves(self):
        here, there = self.daemon("a", "default"), self.daemon("b", "default")
        before = {d: d.holds(TERN, d.environment) for d in (here, there)}
        digests = self.folder / "digests"
        digests.write_text("".join(hashlib.md5(w.encode()).hexdigest() + "\n" for w in WORDS))
        library = next((self.program.parent / "root/usr/lib").rglob("libminizip.so.1")).parent
        env = {**self.plain, "HOME": str(self.folder), "OCL_ICD_VENDORS": ICD, "TERND_SOCKET": str(here.socket),
               "LD_LIBRARY_PATH": str(library)}
        p = subprocess.Popen([self.program / "hashcat", "--attack-mode", "3", "--hash-type", "0", "--force", "--quiet",
                              "--potfile-disable", "--self-test-disable", "--kernel-accel", "1", "--kernel-loops", "4",
                              "--kernel-threads", "32", "--hwmon-disable", digests, "?l?l?l?l?l?l", "--increment",
                              "--increment-min", "4", "--increment-max", "5"], cwd=self.folder, env=env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        moves = 0
        while p.poll() is None:
            r = self.move(here, there)
            if r.returncode == 0:
                here, there, moves = there, here, moves + 1
        out, err = p.communicate()
        self.assertEqual(p.returncode, 0, err + out)
        self.assertEqual(sorted(x.split(":")[1] for x in out.split()), sorted(WORDS))
        self.assertGreaterEqual(moves, MOVES)
        print(f"{moves} moves")
        for d in (here, there):
            self.settles(d, before[d])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o755)  # apt downloads as a user of its own.
        Foreign.program = unpack(pathlib.Path(where))
        if not Foreign.program:
            sys.exit(77)
        unittest.main()
