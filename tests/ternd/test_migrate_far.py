# SPDX-License-Identifier: Apache-2.0
"""Programs whose ternd is that of another machine: two ternd that share a pipe or a TCP port and nothing else.

    test_migrate_far.py TERND TERN CLIENT ICD MOVE_CLIENT
"""
import subprocess
import unittest

from moving import MIGRATE, MOVE_CLIENT, PATIENCE, TERN, Moving


class Far(Moving):
    def popen(self, args, env=None, **more):
        p = subprocess.Popen(args, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env={**self.plain, **(env or {})}, **more)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        return p

    @staticmethod
    def moves(p):
        """Waits until its programs have moved: false, they have not, and it ends."""
        while (line := p.stdout.readline()) and "has moved" not in line:
            pass
        return bool(line)

    def away(self, source, to, *args):
        """A migration to another machine, in the foreground; it has moved when this returns."""
        p = self.popen([MIGRATE, "--from", str(source.socket), "--to", to, "--foreground", *args])
        if not self.moves(p):
            p.wait(PATIENCE)
            self.fail(f"{p.stderr.read()}: {source.said()}")
        return p

    @staticmethod
    def pipe(target):
        return f"exec:exec {MIGRATE} serve --to {target.socket}"

    def ends(self, p, status=0):
        self.assertEqual(p.wait(PATIENCE), status, p.stderr.read())

    def all_end(self, daemons, empty):
        for d in daemons:
            self.settles(d, empty[d])
            self.assertEqual(d.end(), 0, d.said())

    def pair(self):
        here, there = self.daemon("a"), self.daemon("b")
        return here, there, {d: d.holds(TERN, d.environment) for d in (here, there)}

    def test_programs_go_on(self):
        """Two of them, and their proxies are told apart; when they have ended, so have these."""
        here, there, empty = self.pair()
        clients = [self.client(here, seed) for seed in (1, 2)]
        self.works(here, 2)
        p = self.away(here, self.pipe(there))
        self.settles(here, empty[here])
        self.works(there, 2)
        self.end(clients[0])
        self.works(there, 1)
        self.end(clients[1])
        self.ends(p)
        self.all_end((here, there), empty)

    def test_fences_callbacks_times_and_calls_follow(self):
        """There and back, as often as between two ternd of a machine: each time through two proxies more."""
        here, there, empty = self.pair()
        all_ = here, there
        p = self.popen([MOVE_CLIENT], {"TERND_SOCKET": str(here.socket)}, stdin=subprocess.PIPE)

        def expect(line):
            got = p.stdout.readline()
            self.assertEqual(got, line + "\n", p.stderr.read() if not got else here.said())

        expect("begins")
        proxies = []
        for _ in range(4):
            print("m", file=p.stdin, flush=True)
            expect("ready")
            proxies.append(self.away(here, self.pipe(there)))
            here, there = there, here
            print("m", file=p.stdin, flush=True)
            expect("done")
        _, err = p.communicate("e\n", timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, err)
        for proxy in proxies:
            self.ends(proxy)
        self.all_end(all_, empty)


if __name__ == "__main__":
    unittest.main()
