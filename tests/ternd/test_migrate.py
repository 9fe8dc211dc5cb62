# SPDX-License-Identifier: Apache-2.0
"""Programs that compute and check move between two ternd and do not notice (M5): two programs, back and forth 20 times.
Fences, callbacks, times, waiting requests and new calls go on after the move, and the first ternd may end. If the
target refuses or is killed, or the migration is cancelled, the programs go on at the source."""
import pathlib
import signal
import subprocess
import unittest

from moving import MIGRATE, MOVE_CLIENT, PATIENCE, TERN, Moving

MOVES = 20


class Migrate(Moving):
    def test_programs_move_back_and_forth(self):
        here, there = self.daemon("a"), self.daemon("b")
        before = {d: d.holds(TERN, d.environment) for d in (here, there)}
        clients = [self.client(here, seed) for seed in (1, 2)]
        self.works(here, 2)
        first = here
        for i in range(MOVES):
            r = self.move(here, there)
            self.assertEqual(r.returncode, 0, f"move {i}: {r.stderr}{r.stdout}{here.said()}{there.said()}")
            self.assertIn("2 programs, 2 processes", r.stdout)
            here, there = there, here
            self.works(here, 2)
            self.settles(there, before[there])
        for p in clients:
            self.end(p)
        self.assertEqual(here, first)
        for d in (here, there):
            self.settles(d, before[d])
            self.assertEqual(d.end(), 0, d.said())

    def test_a_target_that_cannot_take_it_says_so_and_the_programs_go_on(self):
        here, other = self.daemon("a"), self.daemon("b", "default,mem=64M")
        before = other.holds(TERN, other.environment)
        client = self.client(here, 3)
        self.works(here, 1)
        r = self.move(here, other)
        self.assertEqual(r.returncode, 1)
        self.assertRegex(r.stderr, "lanes|warps")
        self.works(here, 1)
        for args, text in ((("--partition", "none"), "the device has no partition 'none'"),):
            r = self.move(here, other, *args)
            self.assertEqual((r.returncode, r.stdout), (1, ""))
            self.assertIn(text, r.stderr)
        other_name = self.folder / "other name"
        other_name.symlink_to(here.socket)
        for to in (here.socket, other_name):
            r = subprocess.run([MIGRATE, "--from", str(here.socket), "--to", str(to)], capture_output=True, text=True,
                               check=False, timeout=PATIENCE)
            self.assertEqual(r.returncode, 2, r.stdout)
            self.assertIn("--from and --to are the same ternd", r.stderr)
        r = subprocess.run([MIGRATE, "--from", str(here.socket), "--to",
                            f"exec:exec {MIGRATE} serve --to {here.socket}"], capture_output=True, text=True,
                           check=False, timeout=PATIENCE)
        self.assertEqual(r.returncode, 1, r.stdout)
        self.assertIn("is here already", r.stderr)
        self.works(here, 1)
        self.settles(other, before)
        self.end(client)
        for d in (here, other):
            self.assertEqual(d.end(), 0, d.said())

    def test_a_wrong_command_line_says_what_is_wrong(self):
        both = ["--from", "x", "--to", "y"]
        for args, text in (([*both, "--bogus"], "unknown option '--bogus'"),
                           ([*both, "stray"], "unknown option 'stray'"),
                           ([*both, "--from", "z"], "--from is given twice"),
                           ([*both, "--json", "--json"], "--json is given twice"),
                           ([*both, "--links", "17"], "--links '17': it must be a number from 1 to 16"),
                           ([*both, "--downtime", "0"], "--downtime '0': it must be a number from 1 to 3600000"),
                           ([*both, "--rounds", "1001"], "--rounds '1001': it must be a number from 1 to 1000"),
                           (["--from", "x", "--to", "exec: "], "exec: needs a command")):
            r = subprocess.run([MIGRATE, *args], capture_output=True, text=True, check=False, timeout=PATIENCE)
            self.assertEqual((r.returncode, r.stdout), (2, ""), args)
            self.assertIn(text, r.stderr)

    def test_cancelled_or_its_target_killed_the_programs_go_on(self):
        here = self.daemon("a")
        client = self.client(here, 4)
        self.works(here, 1)
        for i, how in enumerate((signal.SIGINT, None)):
            there = self.daemon(f"b{i}")
            before = there.holds(TERN, there.environment)
            there.stop()
            p = subprocess.Popen([MIGRATE, "--from", str(here.socket), "--to", str(there.socket)], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(p.communicate)
            self.until(lambda there=there: there.waiting(there.socket) == 1, "it does not ask the target")
            if how:
                p.send_signal(how)
                there.go_on()
                _, err = p.communicate(timeout=PATIENCE)
                self.assertNotEqual(p.returncode, 0, err)
                self.settles(there, before)
                self.assertEqual(there.end(), 0, there.said())
            else:
                there.kill()
                _, err = p.communicate(timeout=PATIENCE)
                self.assertEqual(p.returncode, 1, err)
            self.works(here, 1)
        self.end(client)
        self.assertEqual(here.end(), 0, here.said())

    def test_a_target_that_ends_ends_what_has_come(self):
        here, there = self.daemon("a"), self.daemon("b")
        client = self.client(here, 5)
        self.works(here, 1)
        r = self.move(here, there)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.works(there, 1)
        # This closes the target's own sockets and those that it has accepted.
        self.assertEqual(there.end(), 0, there.said())
        client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 1)
        self.assertEqual(here.end(), 0, here.said())

    def test_limits_are_those_of_the_target(self):
        here = self.daemon("a", limits="[default]\nfocus = yes\nrealtime = yes\n")
        for name, limits, text in (("b", "[default]\nfocus = no\n", "band FOCUS"),
                                   ("c", "[default]\nfocus = yes\nmemory = 8K\n", "device memory"),
                                   ("d", "[default]\nfocus = yes\nconnections = 1\n", "connections"),
                                   ("e", "[default]\nfocus = yes\ncontexts = 0\n", "contexts"),
                                   ("f", "[default]\nfocus = yes\npinned = 4K\n", "stays on the device"),
                                   ("g", "[default]\nfocus = yes\nrealtime = no\n", "band REALTIME"),
                                   ("h", "[default]\nfocus = yes\npinned = 8K\n", None)):
            there = self.daemon(name, limits=limits)
            before = there.holds(TERN, there.environment)
            env = {**self.plain, "TERND_SOCKET": str(here.socket)}
            band = "realtime" if text == "band REALTIME" else "focus"
            p = subprocess.Popen([MOVE_CLIENT, band], env=env, text=True, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(p.communicate)
            self.addCleanup(p.kill)
            print("m", file=p.stdin, flush=True)
            self.assertEqual([p.stdout.readline(), p.stdout.readline()], ["begins\n", "ready\n"])
            r = self.move(here, there)
            if text:
                self.assertEqual(r.returncode, 1, name)
                self.assertIn(text, r.stderr)
                self.settles(there, before)
            else:
                self.assertEqual(r.returncode, 0, r.stderr)
            print("m", file=p.stdin, flush=True)
            self.assertEqual(p.stdout.readline(), "done\n")
            # Memory that the program keeps on the device counts for its user on the target.
            print("p", file=p.stdin, flush=True)
            self.assertEqual(p.stdout.readline(), "pins\n" if text else "pins no more\n")
            _, err = p.communicate("e\n", timeout=PATIENCE)
            self.assertEqual(p.returncode, 0, err)
            self.assertEqual(there.end(), 0, there.said())
        self.assertEqual(here.end(), 0, here.said())

    def test_fences_callbacks_times_and_calls_follow(self):
        first, second = self.daemon("a"), self.daemon("b")
        env = {**self.plain, "TERND_SOCKET": str(first.socket)}
        p = subprocess.Popen([MOVE_CLIENT], env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        here, there = first, second

        def expect(line):
            got = p.stdout.readline()
            self.assertEqual(got, line + "\n", p.stderr.read() if not got else here.said())

        expect("begins")
        for i in range(5):
            print("m", file=p.stdin, flush=True)
            expect("ready")
            r = self.move(here, there)
            self.assertEqual(r.returncode, 0, f"move {i}: {r.stderr}")
            if i == 4:
                self.assertEqual(here.end(), 0, here.said())  # Nothing of the first ternd is needed any more.
            here, there = there, here
            descriptors = pathlib.Path(f"/proc/{here.pid}/fd")
            before = len(list(descriptors.iterdir()))
            print("m", file=p.stdin, flush=True)
            expect("done")
            if i == 0:  # Five threads make calls at the same time. Two of them may have had a connection before.
                self.assertGreaterEqual(len(list(descriptors.iterdir())), before + 3)
        _, err = p.communicate("e\n", timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, err)
        self.assertEqual(here.end(), 0, here.said())


if __name__ == "__main__":
    unittest.main()
