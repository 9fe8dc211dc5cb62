# SPDX-License-Identifier: Apache-2.0
"""Common parts of the tests of migration to another machine: migrations in the foreground, over a pipe or a Wire."""
import pathlib
import subprocess

from moving import MIGRATE, MOVE_CLIENT, PATIENCE, TERN, Moving
from proxy_wire import Wire


class ByProxy(Moving):
    def popen(self, args, env=None, **more):
        p = subprocess.Popen(args, text=True, env={**self.plain, **(env or {})},
                             **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        return p

    @staticmethod
    def moves(p):
        """Waits until its programs have moved. Returns false if they have not and it ends."""
        while (line := p.stdout.readline()) and "has moved" not in line:
            pass
        return bool(line)

    @staticmethod
    def holds(daemon):
        return daemon.holds(TERN, daemon.environment)

    @staticmethod
    def descriptors(daemon):
        return len(list(pathlib.Path(f"/proc/{daemon.pid}/fd").iterdir()))

    def pair(self):
        n = self.pairs = getattr(self, "pairs", 0) + 1
        here, there = self.daemon(f"a{n}"), self.daemon(f"b{n}")
        return here, there, {d: self.holds(d) for d in (here, there)}

    @staticmethod
    def pipe(target):
        return f"exec:exec {MIGRATE} serve --to {target.socket}"

    def away(self, source, to, *args):
        """Starts a migration. Returns when the programs have moved."""
        p = self.popen([MIGRATE, "--from", str(source.socket), "--to", to, "--foreground", *args])
        if not self.moves(p):
            p.wait(PATIENCE)
            self.fail(f"{p.stderr.read()}: {source.said()}")
        return p

    def over(self, source, target, **wire):
        """Returns the link and the two proxies, which start to migrate."""
        w = Wire(**wire)
        self.addCleanup(w.end)
        a, b = w.ends
        serve = self.popen([MIGRATE, "serve", "--to", str(target.socket)], stdin=b, stdout=b)
        move = self.popen([MIGRATE, "--from", str(source.socket), "--to", f"fd:{a.fileno()}", "--foreground"],
                          pass_fds=[a.fileno()])
        a.close()
        b.close()
        return w, move, serve

    def run_move(self, source, to, *args):
        return subprocess.run([MIGRATE, "--from", str(source.socket), "--to", to, *args], timeout=PATIENCE,
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)

    def mover(self, daemon, *args):
        """Returns a program that says when it may move, and a function that expects its next line."""
        p = self.popen([MOVE_CLIENT, *args], {"TERND_SOCKET": str(daemon.socket)}, stdin=subprocess.PIPE)

        def expect(line):
            got = p.stdout.readline()
            self.assertEqual(got, line + "\n", p.stderr.read() if not got else daemon.said())

        expect("begins")
        return p, expect

    def ends(self, p, status=0):
        self.assertEqual(p.wait(PATIENCE), status, p.stderr.read())

    def all_end(self, daemons, empty):
        for d in daemons:
            self.settles(d, empty[d])
            self.assertEqual(d.end(), 0, d.said())
