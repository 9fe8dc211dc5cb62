# SPDX-License-Identifier: Apache-2.0
"""Programs move over several links, compressed or not; links that are lost while their memory comes are made again.

    test_migrate_links.py TERND TERN CLIENT ICD MOVE_CLIENT [SEED]
"""
import ctypes
import errno
import json
import os
import random
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
import unittest

SEED = int(sys.argv.pop(6)) if len(sys.argv) > 6 and sys.argv[6].isdigit() else 1
from moving import MIGRATE, MOVE_CLIENT, PATIENCE, TERN, Moving  # pylint: disable=wrong-import-position
from test_migrate_cut import ENDED, HOW, PROGRESS, RECEIVE, SEND, WHAT, Link  # pylint: disable=wrong-import-position

MAGIC = b"\x89TERN\r\x1a\n"[:5]
LOST, STUCK = 3, 5
PIDFD_GETFD = 438
LEAST = 1500  # bytes that the processes' stream of these programs has at least
MEMORY = 2  # the second stream of the three is that of the processes


def ends(data):
    """Whether the last record is the end of a link."""
    return any(len(data) >= 32 + n and struct.unpack_from("<HHI", data, len(data) - 32 - n) == (1, 0, n)
               for n in range(10, 19))


class Mending(Link):
    """What `tern migrate` does, but that it cuts the links after so many bytes of the processes' stream, each time."""

    def __init__(self, source, target, links, cuts, refuse=False):  # pylint: disable=super-init-not-called
        self.control = [self.greet(source, SEND), self.greet(target, RECEIVE)]
        self.how = struct.pack(HOW, 0, 0, 0, 0, links, 1, 0)
        self.links, self.cuts, self.refuse = links, list(cuts), refuse
        self.at_end = self.answer = lambda: False  # whether to cut behind the last record, or instead of an answer
        self.pairs, self.stream, self.fresh, self.sent, self.lost, self.done = [], 0, False, 0, [False, False], 0
        self.give()

    def give(self):
        for _ in range(self.links):
            pair = []
            for control in self.control:
                mine, theirs = socket.socketpair()
                socket.send_fds(control, [self.how], [theirs.fileno()])
                theirs.close()
                pair.append(mine)
            self.pairs.append(pair)

    def cut(self):
        for s in [s for pair in self.pairs for s in pair]:
            s.close()
        self.pairs, self.sent, self.fresh = [], 0, True
        self.cuts = self.cuts[1:]
        self.done += 1

    def hears(self, i, status):
        message = self.control[i].recv(65536)
        kind, code = struct.unpack_from(PROGRESS, message) if message else (ENDED, -1)
        if kind == ENDED:
            status[i] = code
        elif kind == LOST:
            self.lost[i] = True
        if all(self.lost) and not (self.refuse and not self.cuts):
            self.lost = [False, False]
            for pair in self.pairs:  # they were left by both
                for s in pair:
                    s.close()
            self.pairs = []
            self.give()
        for k in (0, 1):
            if self.lost[k] and (1 - k in status or all(self.lost)):
                self.lost[k] = False
                self.control[k].send(self.how)

    def forwards(self, link, first):
        """One piece of what goes from the source (first) or to it."""
        s, other = self.pairs[link] if first else self.pairs[link][::-1]
        try:
            data, fds, _, _ = socket.recv_fds(s, 65536, 8)
        except ConnectionResetError:
            data, fds = b"", []
        if first and link == 0 and data.startswith(MAGIC):
            self.stream += not self.fresh
            self.fresh = False
        counts = first and self.stream == MEMORY
        behind = counts and ends(data) and self.at_end()
        end = counts and self.cuts and self.sent + len(data) > self.cuts[0]
        piece = data[:self.cuts[0] - self.sent] if end else data
        if not first and self.stream == MEMORY and data and self.answer():
            piece, end = b"", ends(data)
        self.sent += len(data) if counts else 0
        try:
            if fds:
                other.sendall(piece[:-WHAT])  # they came with the last bytes, which say what they are
                socket.send_fds(other, [piece[-WHAT:]], fds)
            elif piece:
                other.sendall(piece)
        except OSError:
            pass  # it is found by whoever reads there
        for fd in fds:
            os.close(fd)
        if end or behind:
            self.cut()
        elif not data:
            s.close()
            other.close()
            self.pairs[link] = []
            self.pairs = self.pairs if any(self.pairs) else []

    def run(self, cut=None, wrong=None):
        """Until both have said how it ended."""
        status = {}
        while len(status) < 2:
            where = {s: (n, i == 0) for n, pair in enumerate(self.pairs) for i, s in enumerate(pair)}
            ready, _, _ = select.select([*where, *(c for i, c in enumerate(self.control) if i not in status)], [], [],
                                        PATIENCE)
            if not ready:
                raise AssertionError(f"no migration ends: {status}, {self.lost}, {self.done} cuts")
            for s in ready:
                if s in self.control:
                    self.hears(self.control.index(s), status)
                elif s.fileno() >= 0:
                    self.forwards(*where[s])
        for s in [*self.control, *(s for pair in self.pairs for s in pair)]:
            s.close()
        return status[0], status[1]


class Links(Moving):
    def test_options(self):
        here, there = self.daemon("a"), self.daemon("b")
        before = {d: d.holds(TERN, d.environment) for d in (here, there)}
        client = self.client(here, 11)
        for args, packed in ((("--compress", "none"), False), ((), True), (("--compress", "3", "--links", "2"), True),
                             (("--compress", "zstd", "--links", "16"), True)):
            self.works(here, 1)
            r = self.move(here, there, "--json", *args)
            self.assertEqual(r.returncode, 0, r.stderr)
            told = json.loads(r.stdout)
            whole = 4096 * (told["pages"] - told["pages_zero"] - told["pages_unchanged"])
            self.assertGreater(whole, 0)
            self.assertGreater(told["pages_zero"], 0)
            if packed:
                self.assertLess(told["content_bytes"], whole)
            else:
                self.assertEqual(told["content_bytes"], whole)
            self.assertGreater(told["bytes"], told["content_bytes"])
            self.assertEqual(told["links_made_again"], 0)
            for name in ("pages", "pages_zero", "pages_unchanged", "content_bytes", "bytes"):
                self.assertLessEqual(sum(x[name] for x in told["rounds"]), told[name], name)
            here, there = there, here
            self.settles(there, before[there])
        for args in (("--links", "0"), ("--links", "17"), ("--links", "x"), ("--compress", "20"), ("--compress", "0"),
                     ("--compress", "fast")):
            r = self.move(here, there, *args)
            self.assertEqual((r.returncode, r.stdout), (2, ""))
            self.assertIn(args[1], r.stderr)
        r = subprocess.run([MIGRATE, "--from", str(here.socket), "--to", "exec:true", "--links", "2"],
                           timeout=PATIENCE, capture_output=True, text=True, check=False)
        self.assertEqual((r.returncode, r.stdout), (2, ""))
        self.assertIn("one link", r.stderr)
        self.end(client)

    def test_lost_links(self):
        rng = random.Random(SEED)
        here, there = self.daemon("a"), self.daemon("b")
        empty = {d: d.holds(TERN, d.environment) for d in (here, there)}
        clients = [self.client(here, seed) for seed in (15, 16)]
        self.works(here, 2)
        cuts = 0
        for i in range(8):
            self.works(here, 2, 1)
            where = [rng.randrange(LEAST), *(rng.randrange(20000) for _ in range(i % 4))]
            link = Mending(here, there, 1 + i % 3, where)
            self.assertEqual(link.run(), (0, 0), f"move {i}, seed {SEED}: {here.said()}{there.said()}")
            cuts += link.done
            here, there = there, here
            self.works(here, 2, 1)
            self.settles(there, empty[there])
        self.assertGreaterEqual(cuts, 8)  # the first one of each
        for p in clients:
            self.end(p)
        for d in (here, there):
            self.settles(d, empty[d])
            self.assertEqual(d.end(), 0, d.said())

    def cut_for_real(self, daemon, after, until):
        """Ends the link of a daemon, as soon as it has one, and whoever is `until` has not ended."""
        libc = ctypes.CDLL(None, use_errno=True)
        process = os.pidfd_open(daemon.pid)
        try:
            while until.poll() is None:
                for fd in os.listdir(f"/proc/{daemon.pid}/fd"):
                    mine = libc.syscall(PIDFD_GETFD, process, int(fd), 0)
                    if mine < 0 and ctypes.get_errno() == errno.EPERM:
                        self.skipTest("descriptors of another process cannot be had here")
                    if mine < 0:
                        continue  # it was closed meanwhile
                    if not stat.S_ISSOCK(os.fstat(mine).st_mode):
                        os.close(mine)
                        continue
                    with socket.socket(fileno=mine) as s:
                        if s.type == socket.SOCK_STREAM:
                            time.sleep(after)
                            s.shutdown(socket.SHUT_RDWR)
                            return
        finally:
            os.close(process)

    def test_tern_migrate_makes_them_again(self):
        """Its own links, which are cut at some time: mostly while memory comes, of which there is much."""
        rng = random.Random(SEED)
        here, there = self.daemon("a"), self.daemon("b")
        empty = here.holds(TERN, here.environment)
        p = subprocess.Popen([MOVE_CLIENT, "large"], env={**self.plain, "TERND_SOCKET": str(here.socket)}, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        self.assertEqual(p.stdout.readline(), "begins\n")
        mended = 0
        for i in range(30):
            move = subprocess.Popen([MIGRATE, "--from", str(here.socket), "--to", str(there.socket), "--json"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(move.communicate)
            self.addCleanup(move.kill)
            self.cut_for_real(there if i % 2 else here, rng.random() * 0.04, move)
            out, err = move.communicate(timeout=PATIENCE)
            if move.returncode == 0:
                mended += json.loads(out)["links_made_again"]
                here, there = there, here
            else:
                self.assertEqual(move.returncode, 1, err)  # sessions were sent, not memory
            self.settles(there, empty)
            if mended >= 3:
                break
        self.assertGreaterEqual(mended, 3)
        _, err = p.communicate("e\n", timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, err)
        for d in (here, there):
            self.assertEqual(d.end(), 0, d.said())

    def test_lost_behind_the_last_record(self):
        """The source has written all, and the target read it. What it says of that is repeated if it did not go."""
        here, there = self.daemon("a"), self.daemon("b")
        empty = {d: d.holds(TERN, d.environment) for d in (here, there)}
        client = self.client(here, 19)
        for _ in range(3):
            self.works(here, 1)
            link = Mending(here, there, 1, [])
            target = there.pid

            def stop(link=link, target=target):
                if link.done:
                    return False
                os.kill(target, signal.SIGSTOP)
                return True

            def cut(link=link, target=target):
                Mending.cut(link)
                os.kill(target, signal.SIGCONT)

            link.at_end, link.cut = stop, cut
            self.assertEqual(link.run(), (0, 0), here.said())
            self.assertEqual(link.done, 1)
            here, there = there, here
            self.works(here, 1)
            self.settles(there, empty[there])
        link = Mending(here, there, 1, [])
        link.answer = lambda: not link.done  # it went, and was lost: the target reads on, the source cannot know
        source, target = link.run()
        self.assertLess(source, 0)
        self.assertLess(target, 0)
        self.works(here, 1)
        self.settles(there, empty[there])
        self.end(client)
        for d in (here, there):
            self.assertEqual(d.end(), 0, d.said())

    def test_links_that_stay_lost(self):
        """Nobody makes them again, at once or after two times; or nothing ever comes over them."""
        rng = random.Random(SEED)
        here, there = self.daemon("a"), self.daemon("b")
        empty = here.holds(TERN, here.environment)
        client = self.client(here, 17)
        self.works(here, 1)
        for links, cuts, refuse, text in (
                (1, [rng.randrange(LEAST // 4)], True, "there is no other link"),
                (2, [rng.randrange(LEAST // 4) for _ in range(3)], True, "there is no other link"),
                (2, [0] * 9, False, f"links were lost {STUCK} times before anything came over them")):
            self.works(here, 1)
            link = Mending(here, there, links, cuts, refuse)
            source, target = link.run()
            self.assertLess(source, 0, cuts)
            self.assertLess(target, 0, cuts)
            self.assertEqual(link.done, len(cuts) if refuse else STUCK)
            self.assertIn(text, here.said())
            self.works(here, 1)
            self.settles(there, empty)
        self.end(client)
        for d in (here, there):
            self.assertEqual(d.end(), 0, d.said())


if __name__ == "__main__":
    unittest.main()
