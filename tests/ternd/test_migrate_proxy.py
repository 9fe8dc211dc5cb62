# SPDX-License-Identifier: Apache-2.0
"""Programs whose ternd becomes that of another machine: two ternd that share a pipe, a TCP port, or a link with TLS,
and nothing else. Programs, fences, callbacks and calls go on, there and back by pairs of proxies, and on to a third
ternd.

Programs, proxies and ternd are killed; the target refuses, or has users and limits. The files of killed proxies are
removed, and no others.

    test_migrate_proxy.py TERND TERN CLIENT ICD MOVE_CLIENT
"""
import os
import re
import socket
import subprocess
import threading
import time
import unittest

from moving import MIGRATE, MOVE_CLIENT, PATIENCE, TERND
from proxy_moving import ByProxy
from proxy_wire import FROM_TARGET, RESULT

REFUSALS = 10


def openssl(folder, *args):
    subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)


class Programs(ByProxy):
    def test_programs_go_on(self):
        """Two programs move. When they have ended, the proxies end too."""
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
        """The programs move there and back, as between two ternd of one machine. Each migration adds two proxies."""
        here, there, empty = self.pair()
        daemons = here, there
        p, expect = self.mover(here, "burst")
        proxies = []
        for i in range(4):
            print("m", file=p.stdin, flush=True)
            expect("ready")
            proxies.append(self.away(here, self.pipe(there)))
            here, there = there, here
            before = self.descriptors(here)
            print("m", file=p.stdin, flush=True)
            expect("done")
            if i == 0:  # Five threads make calls at the same time. Two of them may have had a connection before.
                self.assertGreaterEqual(self.descriptors(here), before + 3)
        _, err = p.communicate("e\n", timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, err)
        for proxy in proxies:
            self.ends(proxy)
        self.all_end(daemons, empty)

    def test_they_move_on_within_the_other_machine(self):
        here, there, empty = self.pair()
        third = self.daemon("c")
        empty[third] = self.holds(third)
        p, expect = self.mover(here)
        print("m", file=p.stdin, flush=True)
        expect("ready")
        proxy = self.away(here, self.pipe(there))
        r = self.move(there, third)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.settles(there, empty[there])
        self.assertEqual(there.end(), 0, there.said())  # Nothing of this ternd is needed: new calls go to the third.
        print("m", file=p.stdin, flush=True)
        expect("done")
        _, err = p.communicate("e\n", timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, err)
        self.ends(proxy)
        self.all_end((here, third), empty)

    def test_it_has_moved_when_the_target_says_so(self):
        """The programs cannot move again until the target has confirmed. The source's ternd is told before that."""
        here, there, empty = self.pair()
        client = self.client(here, 6)
        self.works(here, 1)
        may = threading.Event()
        self.addCleanup(may.set)

        def change(way, kind, frame):
            if way == FROM_TARGET and kind == RESULT:
                may.wait(PATIENCE)
            return frame

        _, source, target = self.over(here, there, change=change)
        self.until(lambda: "partition default has moved" in here.said(), "the source has not moved them")
        lines = []
        reader = threading.Thread(target=lambda: lines.extend((self.moves(source), may.is_set())))
        reader.start()
        reader.join(0.5)  # Without the wait, the command would have reported the move by now.
        self.assertEqual(lines, [])
        may.set()
        reader.join(PATIENCE)
        self.assertEqual(lines, [True, True])
        self.works(there, 1)
        self.end(client)
        for p in (source, target):
            self.ends(p)
        self.all_end((here, there), empty)

    def test_a_program_that_is_killed(self):
        here, there, empty = self.pair()
        clients = [self.client(here, seed) for seed in (3, 4)]
        self.works(here, 2)
        p = self.away(here, self.pipe(there))
        self.works(there, 2)
        clients[0].kill()
        self.works(there, 1)
        self.end(clients[1])
        self.ends(p)
        self.all_end((here, there), empty)

    def test_what_is_lost_is_as_a_ternd_that_has_died(self):
        """The target's ternd or a proxy is killed or ended. Calls fail, no thread waits for ever, and nothing is
        left."""
        for who in ("ternd", "ternd ends", "source", "source ends", "target"):
            with self.subTest(who=who):
                here, there, empty = self.pair()
                client = self.client(here, 5)
                self.works(here, 1)
                wire, source, target = self.over(here, there)
                self.assertTrue(self.moves(source), source.stderr)
                self.works(there, 1)
                if who == "ternd":
                    there.kill()
                elif who == "ternd ends":
                    self.assertEqual(there.end(), 0, there.said())
                elif who == "source ends":
                    source.terminate()
                else:
                    (source if who == "source" else target).kill()
                client.communicate(timeout=PATIENCE)
                self.assertEqual(client.returncode, 1)
                for p in (source, target):
                    p.communicate(timeout=PATIENCE)
                wire.end()
                self.all_end((here,) if who.startswith("ternd") else (here, there), empty)

    def test_what_a_killed_proxy_leaves_is_removed(self):
        """The next proxy, and a new ternd, remove the files of killed proxies, and keep all other files."""
        here, there = self.daemon("a"), self.daemon("b")

        def names():
            return {f.name for f in here.socket.parent.iterdir() if f.name.startswith("sock")} - {"sock", "sock.lock"}

        def killed():
            clients.append(self.client(here, 20 + len(clients)))
            self.works(here, 1, 1)
            p = self.away(here, self.pipe(there))
            self.assertEqual(names() - kept, own(p))
            p.kill()
            p.wait(PATIENCE)
            clients[-1].communicate(timeout=PATIENCE)
            return p

        def own(p):
            return {f"sock.{p.pid}", f"sock.{p.pid}.lock"}

        clients, gone = [], subprocess.Popen(["true"])
        gone.wait()
        kept = {"sock.1.lock", f"sock.{gone.pid}", "sock.x.lock", f"sock.{gone.pid}.lock.old", f"sock.0{gone.pid}.lock"}
        for name in kept:  # A lock of a living process, a file that is no socket, and names that no proxy uses.
            (here.socket.parent / name).touch()
        first = killed()
        self.assertEqual(names(), kept | own(first))
        second = killed()  # This proxy removes the first one's files.
        (here.socket.parent / f"sock.{gone.pid}.lock").touch()  # If the name is no socket, only the lock is removed.
        living = self.client(here, 30)
        self.works(here, 1, 1)
        third = self.away(here, self.pipe(there))
        self.assertEqual(names(), kept | own(third))
        here.kill()  # The programs of this ternd are on the other one.
        args = [TERND, "--socket", str(here.socket), "--backend", "model", "--config", "small,mem=64M"]
        third.kill()
        third.wait(PATIENCE)
        living.communicate(timeout=PATIENCE)
        self.assertNotEqual(second.pid, third.pid)
        again = self.popen(args)
        end = time.monotonic() + PATIENCE
        while names() != kept:
            self.assertLess(time.monotonic(), end, names())
            time.sleep(0.02)
        again.terminate()
        self.assertEqual(again.wait(PATIENCE), 0)
        self.assertEqual(there.end(), 0, there.said())

    @unittest.skipIf(os.geteuid(), "only root may give programs to another user")
    def test_they_are_the_user_s_that_serve_names(self):
        """The programs belong to the user that `serve` names, and its limits on the target hold, also for new
        connections."""
        here = self.daemon("a")
        there = self.daemon("b", limits="[user nobody]\nconnections = 12\nmemory = 40K\n[user root]\nmemory = 4K\n")
        for folder in (self.folder, there.socket.parent):
            folder.chmod(0o755)
        empty = {d: self.holds(d) for d in (here, there)}
        p, expect = self.mover(here)
        print("m", file=p.stdin, flush=True)
        expect("ready")
        for _ in range(REFUSALS):  # The refusal comes at once, at any position of the source's stream.
            r = self.run_move(here, self.pipe(there))
            self.assertEqual(r.returncode, 1)
            self.assertIn("of device memory would be more", r.stderr)
        r = self.run_move(here, self.pipe(there) + " --user nobody-at-all")
        self.assertEqual(r.returncode, 1)
        self.assertIn("there is no user 'nobody-at-all'", r.stderr)
        proxy = self.away(here, self.pipe(there) + " --user nobody")
        before = self.descriptors(there)
        print("m", file=p.stdin, flush=True)
        expect("done")
        self.assertGreaterEqual(self.descriptors(there), before + 3)
        _, err = p.communicate("e\n", timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, err)
        self.ends(proxy)
        self.all_end((here, there), empty)

    def test_a_target_that_cannot_take_it_says_so(self):
        here, there = self.daemon("a"), self.daemon("b", "default,mem=64M")
        before = self.holds(there)
        client = self.client(here, 6)
        self.works(here, 1)
        for to, text in ((self.pipe(there), "lanes|warps"),
                         (f"exec:exec {MIGRATE} serve --to {self.folder}/none", "none cannot be reached: No such file"),
                         ("exec:cat", "no tern migrate serve"), ("exec:exit 3", "link to exec:exit 3 is lost"),
                         ("fd:0", "no number of a connected")):
            r = self.run_move(here, to)
            self.assertEqual((r.returncode, "has moved" in r.stdout), (1, False), to)
            self.assertRegex(r.stderr, text)
            self.works(here, 1)
            self.settles(there, before)
        for args, text in (([], "--cert, --key and --ca"), (["--cert", "x"], "--cert, --key and --ca"),
                           (["--cert", "x", "--key", "x", "--ca"], "a value is missing")):
            r = self.run_move(here, "tls://localhost:1", *args)
            self.assertEqual(r.returncode, 2)
            self.assertIn(text, r.stderr)
        self.end(client)
        for d in (here, there):
            self.assertEqual(d.end(), 0, d.said())

    def test_over_tls_and_in_the_background(self):
        """A migration by TLS over a TCP port. The command returns once the programs have moved."""
        here, there, empty = self.pair()
        openssl(self.folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key", "-out",
                "cert")
        openssl(self.folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                "2", "-subj", "/CN=other", "-keyout", "other.key", "-out", "other")
        tls = ["--cert", f"{self.folder}/cert", "--key", f"{self.folder}/key", "--ca", f"{self.folder}/cert"]
        serve = self.popen([MIGRATE, "serve", "--to", str(there.socket), "--listen", "127.0.0.1:0", *tls])
        where = re.fullmatch(r"listening on (\S+)\n", serve.stderr.readline())[1]
        # Silent connections delay none of the others.
        silent = [socket.create_connection(where.split(":")) for _ in range(20)]
        for x in silent:
            self.addCleanup(x.close)
        client = self.client(here, 7)
        self.works(here, 1)
        r = self.run_move(here, f"tls://{where}", "--cert", f"{self.folder}/other", "--key",
                          f"{self.folder}/other.key", "--ca", f"{self.folder}/cert")
        self.assertEqual(r.returncode, 1)
        self.assertRegex(r.stderr, "it refuses this side: .*(unknown ca|certificate)")
        r = self.run_move(here, "tls://127.0.0.1:65537", *tls)
        self.assertEqual(r.returncode, 1)
        self.assertIn("127.0.0.1:65537: a port is 0 to 65535", r.stderr)
        self.works(here, 1)
        for turn in range(2):  # `serve` goes on listening.
            another = self.client(here, 8 + turn)
            self.works(here, 2 - turn)
            r = self.run_move(here, f"tls://{where}", *tls)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn(f"{2 - turn} program", r.stdout)
            self.works(there, 2)
            self.end(another)
            for x in silent:  # They still wait: no proxy has taken one of them, and none was closed.
                with self.assertRaises(BlockingIOError):
                    x.recv(1, socket.MSG_DONTWAIT)
        self.end(client)
        self.settles(there, empty[there])
        end = time.monotonic() + PATIENCE
        while list(here.socket.parent.glob("sock.*.lock")):  # The last proxy has gone, too.
            if list(here.socket.parent.glob("sock.*.lock")) == [here.socket.with_name("sock.lock")]:
                break
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        serve.terminate()
        serve.wait(PATIENCE)
        self.all_end((here, there), empty)


del ByProxy

if __name__ == "__main__":
    unittest.main()
