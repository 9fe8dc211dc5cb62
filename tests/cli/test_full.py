# SPDX-License-Identifier: Apache-2.0
"""Commands whose files find no room: beyond the limit of file sizes (ulimit -f), on a full disk, or on /dev/full. No
command is ended by a signal. Each says so, and a partial file is usable or removed. Arguments: TERN EVENTS
TERN-MIGRATE."""
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import unittest

from cli import TERN, Case

EVENTS, MIGRATE = (str(pathlib.Path(x).resolve()) for x in sys.argv[1:3])
del sys.argv[1:3]
FULL = "File too large|No space left on device"
KERNEL = "kernel void f(global int *x) { x[get_global_id(0)] = 1; }\n"


class Full(Case):
    def limited(self, limit, *args, stdout=subprocess.PIPE, **env):
        def restrict():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores this signal.
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        return subprocess.run([str(x) for x in args], cwd=self.folder, stdout=stdout, stderr=subprocess.PIPE, text=True,
                              check=False, preexec_fn=restrict, restore_signals=False,
                              env={**os.environ, "TERN_BACKEND": "model", "TERN_CONFIG": "small", **env})

    def test_a_trace(self):
        """The exit status is the program's unless that is 0. Events that found room are complete."""
        r = self.limited(1 << 30, TERN, "trace", "-o", "all", EVENTS, "1")
        self.assertEqual(r.returncode, 0, r.stderr)
        events = json.loads((self.folder / "all").read_text())
        size = (self.folder / "all").stat().st_size
        limits = [0, 1, 2, 3, 4095, 4096, 65536, size - 1, *(random.Random(5).randrange(size) for _ in range(20))]
        for n, limit in enumerate(limits):
            for status in 0, 7:
                with self.subTest(limit=limit, status=status):
                    file = self.folder / f"t{n}-{status}"
                    r = self.limited(limit, TERN, "trace", "-o", file, "sh", "-c", f"'{EVENTS}' 1; exit {status}")
                    self.assertEqual(r.returncode, status or 1, r.stderr)
                    self.assertRegex(r.stderr, f"tern trace: {file}( is cut off)?: ({FULL})")
                    self.assertEqual(file.exists(), limit > 0)
                    if limit > 1000:
                        some = json.loads(file.read_text())
                        self.assertLessEqual(len(some), len(events))
                        self.assertEqual([sorted(x) for x in some], [sorted(x) for x in events[:len(some)]])
        r = self.limited(size, TERN, "trace", "-o", "same", EVENTS, "1")
        self.assertEqual((r.returncode, json.loads((self.folder / "same").read_text()) is None), (0, False), r.stderr)

    def test_a_trace_of_a_program_that_has_the_limit_itself(self):
        r = self.limited(1 << 30, TERN, "trace", "-o", "own", "sh", "-c", f"ulimit -f 8; '{EVENTS}' 2")
        self.assertEqual(r.returncode, 1)
        self.assertIn("own is cut off: what wrote it was stopped by an error", r.stderr)
        self.assertGreater(len(json.loads((self.folder / "own").read_text())), 10)

    def test_the_program_of_a_trace_has_the_signal(self):
        """The command ignores SIGXFSZ. The program that it starts has the original action."""
        code = "import signal; print(signal.getsignal(signal.SIGXFSZ))"
        for action, shown in (signal.SIG_DFL, "SIG_DFL"), (signal.SIG_IGN, "SIG_IGN"):
            r = subprocess.run([TERN, "trace", "-o", "t", "sh", "-c", "grep SigIgn /proc/self/status"], cwd=self.folder,
                               capture_output=True, text=True, check=False, restore_signals=False,
                               preexec_fn=lambda a=action: signal.signal(signal.SIGXFSZ, a) and None)
            ignored = int(r.stdout.split()[1], 16) >> (signal.SIGXFSZ - 1) & 1
            self.assertEqual(ignored, shown == "SIG_IGN", code)

    def test_where_no_trace_can_be(self):
        (self.folder / "folder").mkdir()
        for file, why in (("folder", "Is a directory"), (".", "Is a directory"), ("no/such", "No such file"),
                          ("folder/", "Is a directory")):
            r = self.limited(1 << 30, TERN, "trace", "-o", file, "sh", "-c", "echo it ran")
            self.assertEqual((r.returncode, r.stdout), (1, ""), file)
            self.assertIn(why, r.stderr)

    def test_a_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], capture_output=True,
                          check=False).returncode:
            self.skipTest("no file system can be mounted here")
        try:
            r = self.limited(1 << 30, TERN, "trace", "-o", disk / "trace", EVENTS, "1")
            self.assertEqual(r.returncode, 1)
            self.assertIn("trace is cut off: No space left on device", r.stderr)
            self.assertGreater(len(json.loads((disk / "trace").read_text())), 10)
            (disk / "trace").unlink()
            with open(disk / "rest", "wb", buffering=0) as f:
                f.write(bytes(16384))
            r = self.limited(1 << 30, TERN, "trace", "-o", disk / "trace", EVENTS, "1")
            self.assertEqual(r.returncode, 1)
            self.assertIn("trace: No space left on device, so there is no trace", r.stderr)
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_every_other_file(self):
        """Other files of the commands, of 4 MiB at least, with a limit of 1 MiB, and standard output with a limit of
        0."""
        self.file("k.cl", KERNEL)
        icd = str(pathlib.Path(TERN).parents[1] / "tern.icd")
        run = [TERN, "run", "k.cl", "--global", "1", "random:1048576"]
        self.assertEqual(self.limited(1 << 30, *run, "--quiet", OCL_ICD_VENDORS=icd).returncode, 0)
        for what, args in (("run --save", [*run, "--save", "x=saved"]),
                           ("checkpoint", [TERN, "checkpoint", "-o", "check", "--at-kernel", "f", "--backend", "model",
                                           *run])):
            with self.subTest(what=what):
                r = self.limited(1 << 20, *args, OCL_ICD_VENDORS=icd)
                self.assertEqual(r.returncode, 1, r.stderr)
                self.assertRegex(r.stderr, FULL)
        self.assertFalse((self.folder / "check").exists())
        for args in ([TERN, "--help"], [TERN, "info"], [TERN, "info", "--json"], [TERN, "run", "--help"],
                     [TERN, "top", "--once"], [TERN, "bench", "--list"], [TERN, "bench", "submit", "--help"],
                     [TERN, "partition"], [MIGRATE, "--help"], [MIGRATE, "inspect", "--help"]):
            for name in "/dev/full", str(self.folder / "out"):
                with self.subTest(args=args[1:], out=name), open(name, "w", encoding="utf-8") as out:
                    r = self.limited(0, *args, stdout=out)
                    self.assertEqual(r.returncode, 1, r.stderr)
                    self.assertRegex(r.stderr, FULL)


if __name__ == "__main__":
    unittest.main()
