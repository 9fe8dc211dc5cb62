# SPDX-License-Identifier: Apache-2.0
"""tern checkpoint and tern restore: work saved in the middle and restored gives the same bytes and digests as
uninterrupted work. The saved program itself goes on as well.

The moment is a random cycle, a given one, or a launch. Further tests: a restored checkpoint is saved again; the moment
never comes; files are damaged, cut, or have bytes after their end; memories cannot be dumped; the file has no room,
with `--stop` too; devices cannot be opened. Each failure gives a message and leaves no partial file.
"""
import contextlib
import json
import os
import random
import subprocess
import time
import unittest

from cli import TERN, Case

ITEMS, LOCAL = 128, 32
KERNEL = """kernel void mix(global uint *y, global const uint *x, local uint *t, uint salt)
{
    int l = get_local_id(0), n = get_local_size(0);
    for (int r = 0; r < ROUNDS; r++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        t[l] = (x[get_global_id(0)] + r) * 2654435761u ^ salt;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < n; i++)
            y[get_global_id(0)] = rotate(y[get_global_id(0)], 5u) + t[(l + i) % n];
    }
}
"""


class Checkpoints(Case):
    rounds = 40

    def program(self, *more):
        """Returns the arguments of tern checkpoint for a program that runs mix and writes y to y.bin."""
        self.file("mix.cl", KERNEL)
        return ["tern", "run", "mix.cl", "--global", ITEMS, "--local", LOCAL, f"-DROUNDS={self.rounds}", "--save",
                "y=y.bin", "--quiet", *more, f"zeros:{ITEMS}", f"random:{ITEMS}:1", f"local:{4 * LOCAL}", "0xfeed"]

    def uninterrupted(self, *more, **env):
        """Returns the final contents of y, and the cycles of the first run."""
        r = json.loads(self.works(*self.program("--json", *more)[1:], **env))
        return (self.folder / "y.bin").read_bytes(), r["runs"][0]["cycles"]

    def saved(self, *args, program=None, **env):
        r = self.tern("checkpoint", "-o", "c.tck", *args, *(program or self.program()), **env)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertRegex(r.stderr, r"^tern: checkpoint \S+/c.tck at cycle \d+: 1 process, \d+ buffers? that had not "
                                   r"ended, \d+ bytes\n$")
        self.assertFalse((self.folder / "c.tck.part").exists())
        return int(r.stderr.split("cycle ")[1].split(":")[0])

    def restored(self, *args, **env):
        r = json.loads(self.works("restore", "c.tck", "--json", *args, **env))
        self.assertEqual([p["fault"] for p in r["processes"]], [None])
        return r

    def digests(self, r):
        return {m["address"]: m["digest"] for p in r["processes"] for m in p["memories"]}

    def ends_with(self, want, *args, **env):
        """Restores the checkpoint, which must run to its end. One of its memories must begin with these bytes."""
        folder = self.folder / "memory"
        r = self.restored("--dump", folder, *args, **env)
        self.assertEqual(r["end"], "ended")
        self.assertEqual([c["left"] for c in r["processes"][0]["contexts"]], [0])
        files = {p.name: p.read_bytes() for p in folder.iterdir()}
        self.assertEqual(sorted(files), sorted(f"1-{a[2:]}.bin" for a in self.digests(r)))
        self.assertEqual([len(files[f"1-{m['address'][2:]}.bin"]) for m in r["processes"][0]["memories"]],
                         [m["bytes"] for m in r["processes"][0]["memories"]])
        self.assertTrue(any(f.startswith(want) for f in files.values()), "no memory has the result")
        return r


class Model(Checkpoints):
    def test_at_random_cycles(self):
        want, cycles = self.uninterrupted()
        self.saved("--at-kernel", "mix")
        last, whole = None, self.restored()["cycles"]
        self.assertGreaterEqual(whole, cycles - 100)  # The work was stopped as it began.
        seed = int(os.environ.get("TERN_TEST_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}: again by TERN_TEST_SEED={seed}")
        rng = random.Random(seed)
        for _ in range(8):
            after = rng.randrange(cycles)
            self.saved("--at-kernel", "mix", "--after", after)
            self.assertEqual((self.folder / "y.bin").read_bytes(), want)  # The program itself went on.
            r = self.ends_with(want)
            # This allows the cycles of two stops and resumptions.
            self.assertLess(abs(r["cycles"] - (whole - after)), 1500, after)
            self.assertEqual(r["processes"][0]["contexts"][0]["saved"], 1)
            self.assertIn(last, (None, self.digests(r)))
            last = self.digests(r)

    def test_at_a_cycle(self):
        want, cycles = self.uninterrupted()
        begins = self.saved("--at-kernel", "mix")
        at = begins + cycles // 2
        self.assertEqual(self.saved("--at-cycle", at), at)
        r = self.ends_with(want)
        self.assertLess(r["cycles"], cycles)
        self.assertGreater(r["cycles"], cycles // 4)

    def test_at_a_launch(self):
        """Launches that the host would make after the checkpoint are not part of it."""
        want, _ = self.uninterrupted("--repeat", 2)
        self.assertNotEqual(want, self.uninterrupted("--repeat", 3)[0])
        self.saved("--at-kernel", "mix:2", "--after", 3000, program=self.program("--repeat", 3))
        self.ends_with(want)

    def test_a_program_that_stops(self):
        want, _ = self.uninterrupted()
        (self.folder / "y.bin").unlink()
        self.saved("--at-kernel", "mix", "--after", 2000, "--stop")
        self.assertFalse((self.folder / "y.bin").exists())
        self.ends_with(want)

    def test_nothing_of_a_program_that_stops_goes_on(self):
        """A full pipe delays the program's end after the checkpoint. No work completes in this time."""
        _, cycles = self.uninterrupted()
        (self.folder / "y.bin").unlink()
        out, into = os.pipe()
        os.set_blocking(into, False)
        with contextlib.suppress(BlockingIOError):
            while os.write(into, bytes(4096)):
                pass
        os.set_blocking(into, True)
        command = [TERN, "checkpoint", "-o", "c.tck", "--at-kernel", "mix", "--after", cycles - 2000, "--stop"]
        with subprocess.Popen([*map(str, command + self.program())], cwd=self.folder, stderr=into,
                              env={**os.environ, "TERN_BACKEND": "model", "TERN_CONFIG": "default"}) as p:
            os.close(into)
            while p.poll() is None and not (self.folder / "c.tck").exists():
                time.sleep(0.01)
            time.sleep(1)  # Time in which the program must do nothing more.
            early = p.poll(), (self.folder / "y.bin").exists()
            while os.read(out, 65536):
                pass
        os.close(out)
        self.assertEqual((early, p.returncode, (self.folder / "y.bin").exists()), ((None, False), 0, False))

    def test_of_a_checkpoint(self):
        """Restored work is saved again, twice, and ends with the same result."""
        want, cycles = self.uninterrupted()
        self.saved("--at-kernel", "mix", "--after", 1000, "--stop")
        final = self.ends_with(want)
        for _ in range(2):
            self.saved("--at-cycle", final["began"] + cycles // 4, "--stop", program=["tern", "restore", "c.tck"])
            r = self.ends_with(want)
            self.assertEqual(self.digests(r), self.digests(final))
            self.assertLess(r["cycles"], final["cycles"] - cycles // 8)
            final = r
        self.saved("--at-cycle", final["began"] + cycles // 4, program=["tern", "restore", "c.tck", "--json"])
        self.fails(2, "exclude each other", "restore", "c.tck", "--cycles", 5, TERN_CHECKPOINT="x")

    def test_for_some_cycles(self):
        want, _ = self.uninterrupted()
        self.saved("--at-kernel", "mix", "--after", 2000, "--stop")
        final = self.digests(self.ends_with(want))
        r = self.restored("--cycles", 5000)
        context = r["processes"][0]["contexts"][0]
        self.assertEqual((r["end"], context["left"], context["label"]), ("stopped", 1, "mix"))
        self.assertEqual(r["asked_cycles"], 5000)
        self.assertGreaterEqual(r["cycles"], 5000)
        self.assertLess(r["cycles"] - 5000, 1500)  # Saving takes these cycles.
        self.assertIsNone(self.restored()["asked_cycles"])
        self.assertRegex(self.works("restore", "c.tck", "--cycles", 5000),
                         r"^model, default: stopped after \d+ cycles \(5000 as asked, and those until what ran was "
                         r"saved\), which began at cycle \d+\n")
        self.assertNotEqual(self.digests(r), final)
        self.assertEqual(self.digests(self.restored("--cycles", 5000)), self.digests(r))
        self.assertEqual(self.restored("--cycles", 1 << 40)["end"], "ended")

    def test_a_fault_is_told(self):
        self.file("wild.cl", """kernel void wild(global uint *y)
{
    for (int i = 0; i < 500; i++)
        *(volatile global uint *)y += i;
    *(volatile global uint *)(size_t)(y[0] & 4) = 1;
}
""")
        self.saved("--at-kernel", "wild", "--after", 500, "--stop", program=["tern", "run", "wild.cl", "--global", 1,
                                                                             "zeros:1"])
        r = self.tern("restore", "c.tck")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("process 1 'tern' is in error: ", r.stdout)
        self.assertIn("which is not mapped", r.stdout)
        self.assertIn("0 completed, 1 aborted", r.stdout)


class Wrong(Checkpoints):
    def none(self, status, message, *args, program=None, **env):
        r = self.tern("checkpoint", *args, *(program or self.program()), **env)
        self.assertEqual(r.returncode, status, r.stderr)
        self.assertIn(message, r.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir() if ".tck" in p.name], [])

    def test_usage(self):
        self.assertIn("usage: tern checkpoint", self.works("checkpoint", "--help"))
        self.assertIn("usage: tern restore", self.works("restore", "--help"))
        for message, *args in (
                ("either --at-cycle or --at-kernel", "true"),
                ("either --at-cycle or --at-kernel", "--at-cycle", 1, "--at-kernel", "x", "true"),
                ("a program to run is missing", "--at-cycle", 1),
                ("-o takes a value", "--at-cycle", 1, "-o"),
                ("--at-cycle is given twice", "--at-cycle", 1, "--at-cycle", 2, "true"),
                ("--at-cycle takes a number of cycles; got '-1'", "--at-cycle", -1, "true"),
                ("--after goes with --at-kernel", "--at-cycle", 1, "--after", 3, "true"),
                ("--after takes a number of cycles; got '3x'", "--at-kernel", "k", "--after", "3x", "true"),
                ("K from 1; got 'k:0'", "--at-kernel", "k:0", "true"),
                ("K from 1; got 'k:'", "--at-kernel", "k:", "true"),
                ("the name of the file is too long", "--at-cycle", 1, "-o", "x" * 5000, "true"),
                ("unknown argument '--from'", "--from", "true")):
            self.fails(2, message, "checkpoint", *args)
        for message, *args in (
                ("a checkpoint's file is missing",), ("unknown argument 'b'", "a", "b"),
                ("--cycles takes a number of cycles, from 1; got '0'", "a", "--cycles", 0),
                ("--dump takes a value", "a", "--dump"),
                ("--cycles is given twice", "a", "--cycles", 1, "--cycles", 2)):
            self.fails(2, message, "restore", *args)

    def test_moments_that_do_not_come(self):
        self.none(1, "of kernel 'mix' there were 1 launches", "--at-kernel", "mix:2")
        self.none(1, "of kernel 'nix' there were 0 launches", "--at-kernel", "nix")
        self.none(1, "the checkpoint was to be at cycle 999999999", "--at-cycle", 999999999)
        self.none(1, "true ended (status 0) and there is no checkpoint", "--at-cycle", 1, program=["true"])
        self.none(7, "sh ended (status 7)", "--at-cycle", 1, program=["sh", "-c", "exit 7"])
        self.none(127, "no-such-program: No such file", "--at-cycle", 1, program=["no-such-program"])
        self.none(1, "no-such-folder/c.tck.part: No such file", "-o", "no-such-folder/c.tck", "--at-cycle", 1)
        self.none(1, "it is no regular file", "-o", ".", "--at-cycle", 1)

    def test_environment(self):
        run = lambda **env: self.tern(*self.program()[1:], TERN_CHECKPOINT="x.tck", **env)
        for message, env in (("goes either TERN_CHECKPOINT_CYCLE or", {}),
                             ("TERN_CHECKPOINT_CYCLE: '-4' is not a number", {"TERN_CHECKPOINT_CYCLE": "-4"}),
                             ("TERN_CHECKPOINT_LAUNCH: 0 is out of range", {"TERN_CHECKPOINT_KERNEL": "mix",
                                                              "TERN_CHECKPOINT_LAUNCH": "0"})):
            r = run(**env)
            self.assertNotEqual(r.returncode, 0)
            self.assertIn(message, r.stderr)
        self.assertFalse((self.folder / "x.tck").exists())

    def test_a_file_that_cannot_be_written(self):
        """If the file cannot be written, the program goes on, the old file stays, and no partial file is left."""
        want, _ = self.uninterrupted()
        self.file("c.tck", "precious")
        for stop in (), ("--stop",):
            (self.folder / "y.bin").unlink()
            command = [TERN, "checkpoint", "-o", "c.tck", "--at-kernel", "mix", "--after", "1000", *stop,
                       *self.program()]
            r = subprocess.run(["bash", "-c", 'ulimit -f 1; exec "$@"', "-", *map(str, command)], cwd=self.folder,
                               capture_output=True, text=True, check=False,
                               env={**os.environ, "TERN_BACKEND": "model", "TERN_CONFIG": "default"})
            self.assertEqual(r.stderr.count("no checkpoint: "), 1, r.stderr)
            self.assertIn("File too large", r.stderr)
            self.assertNotIn("did not come", r.stderr)
            self.assertEqual(r.returncode, 1)
            self.assertEqual((self.folder / "y.bin").read_bytes(), want)
            self.assertEqual((self.folder / "c.tck").read_text(), "precious")
            self.assertFalse((self.folder / "c.tck.part").exists())

    def test_a_device_that_cannot_be_opened(self):
        """The program says why the device cannot be opened. No message says that the moment did not come."""
        for message, *args in (("nix", "--backend", "nix"), ("nix", "--config", "nix")):
            r = self.tern("checkpoint", "-o", "c.tck", "--at-cycle", 100, *args, "tern", "info")
            self.assertNotEqual(r.returncode, 0)
            self.assertIn(message, r.stderr)
            self.assertNotIn("did not come", r.stderr)

    def test_files_that_are_no_checkpoints(self):
        self.fails(1, "none.tck: No such file or directory", "restore", "none.tck")
        self.file("empty.tck", "")
        self.fails(1, "empty.tck: ", "restore", "empty.tck")
        self.file("text.tck", "#!/bin/sh\n" * 100)
        self.fails(1, "text.tck: ", "restore", "text.tck")
        self.fails(1, ".: ", "restore", ".")

    def test_files_that_are_damaged(self):
        self.saved("--at-kernel", "mix", "--after", 1000, "--stop")
        self.fails(1, "the work comes from a device with 16 lanes, and this one has 8", "restore", "c.tck",
                   "--config", "small")
        good = (self.folder / "c.tck").read_bytes()
        for behind in b"\0", good:
            self.file("bad.tck", good + behind)
            self.fails(1, f"bad.tck: the checkpoint ends at byte {len(good)}, and {len(behind)} bytes are behind it",
                       "restore", "bad.tck")
        seed = int(os.environ.get("TERN_TEST_SEED", random.randrange(1 << 32)))
        print(f"seed {seed}: again by TERN_TEST_SEED={seed}")
        rng = random.Random(seed)
        for _ in range(12):
            at = rng.randrange(len(good))
            self.file("bad.tck", good[:at])
            self.fails(1, "bad.tck: ", "restore", "bad.tck")
            self.file("bad.tck", good[:at] + bytes([good[at] ^ 1 << rng.randrange(8)]) + good[at + 1:])
            self.fails(1, "bad.tck: ", "restore", "bad.tck")

    def test_folders_that_cannot_be_written(self):
        self.saved("--at-kernel", "mix", "--after", 1000, "--stop")
        self.file("taken", "")
        self.fails(1, "no/such: No such file", "restore", "c.tck", "--dump", "no/such")
        r = self.tern("restore", "c.tck", "--dump", "taken")
        self.assertEqual((r.returncode, r.stdout), (1, ""))  # The command fails before the work has run.
        self.assertIn("taken: Not a directory", r.stderr)

    def test_a_memory_that_cannot_be_written(self):
        """The other memories are written, and all digests are printed."""
        self.saved("--at-kernel", "mix", "--after", 1000, "--stop")
        whole = self.restored("--dump", "whole")
        names = sorted(p.name for p in (self.folder / "whole").iterdir())
        (self.folder / "bad" / names[0]).mkdir(parents=True)
        r = self.tern("restore", "c.tck", "--json", "--dump", "bad")
        self.assertEqual((r.returncode, r.stderr), (1, f"tern restore: bad/{names[0]}: Is a directory\n"))
        self.assertEqual(self.digests(json.loads(r.stdout)), self.digests(whole))
        self.assertEqual(sorted(p.name for p in (self.folder / "bad").iterdir()), names)


if __name__ == "__main__":
    unittest.main()
