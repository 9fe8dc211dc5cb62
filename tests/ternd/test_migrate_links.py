# SPDX-License-Identifier: Apache-2.0
"""Programs move over several links, compressed or not (`--links`, `--compress`). Links that are lost while memory is
sent, or after the last record, are made again, by the test or by `tern migrate`. If they stay lost, the programs go on
at the source.

    test_migrate_links.py TERND TERN CLIENT ICD MOVE_CLIENT [SEED]
"""
import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import unittest

SEED = int(sys.argv.pop(6)) if len(sys.argv) > 6 and sys.argv[6].isdigit() else 1
from moving import MIGRATE, MOVE_CLIENT, PATIENCE, TERN, Moving  # pylint: disable=wrong-import-position
from test_migrate_cut import ENDED, HOW, PROGRESS, RECEIVE, SEND, WHAT, Link  # pylint: disable=wrong-import-position

MAGIC = b"\x89TERN\r\x1a\n"[:5]
LOST, STUCK = 3, 5
LEAST = 1500  # Minimum bytes of the stream of these programs' processes.
LARGE = 32 << 20  # The same for a program with much memory.
SESSIONS, MEMORY = 1, 2  # Streams by number: the second of the three carries the processes and their memory.
LAST = 64  # Bytes, more than the last record has.


def ends(data):
    """Returns whether the last record is the end of a link."""
    return any(len(data) >= 32 + n and struct.unpack_from("<HHI", data, len(data) - 32 - n) == (1, 0, n)
               for n in range(10, 19))


class Mending(Link):
    """Acts as `tern migrate`, but cuts the links after given numbers of bytes of a stream, one number for each cut."""

    def __init__(self, source, target, links, cuts, refuse=False):  # pylint: disable=super-init-not-called
        self.control = [self.greet(source, SEND), self.greet(target, RECEIVE)]
        self.how = struct.pack(HOW, 0, 0, 0, 0, links, 1, 0)
        self.links, self.refuse, self.lost = links, refuse, [False, False]
        self.watch(cuts, MEMORY)
        self.give()

    def watch(self, cuts, which):
        """Sets the numbers of bytes after which the links are cut, and the stream in which they count."""
        self.at_end = self.answer = lambda: False  # True: cut after the last record; instead of an answer.
        self.cuts, self.which = list(cuts), which
        self.pairs, self.stream, self.fresh, self.sent, self.done = [], 0, False, 0, 0
        self.last = {}  # The last bytes from each socket.

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
        self.pairs, self.sent, self.fresh, self.last = [], 0, True, {}
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
            for pair in self.pairs:  # Both sides have left these links.
                for s in pair:
                    s.close()
            self.pairs = []
            self.give()
        for k in (0, 1):
            if self.lost[k] and (1 - k in status or all(self.lost)):
                self.lost[k] = False
                self.control[k].send(self.how)

    def forwards(self, link, first):
        """Forwards one piece from the source (first) or to it."""
        s, other = self.pairs[link] if first else self.pairs[link][::-1]
        try:
            data, fds, _, _ = socket.recv_fds(s, 65536, 8)
        except ConnectionResetError:
            data, fds = b"", []
        if first and link == 0 and data.startswith(MAGIC):
            self.stream += not self.fresh
            self.fresh = False
        self.last[s] = (self.last.get(s, b"") + data)[-LAST:]  # A record may come in two pieces.
        counts = first and self.stream == self.which
        behind = counts and ends(self.last[s]) and self.at_end()
        end = counts and self.cuts and self.sent + len(data) > self.cuts[0]
        piece = data[:self.cuts[0] - self.sent] if end else data
        if not first and self.stream == self.which and data and self.answer():
            piece, end = b"", ends(self.last[s])
        self.sent += len(data) if counts else 0
        try:
            if fds:
                other.sendall(piece[:-WHAT])  # Descriptors came with the last bytes, which describe them.
                socket.send_fds(other, [piece[-WHAT:]], fds)
            elif piece:
                other.sendall(piece)
        except OSError:
            pass  # The reader of the other end detects the error.
        for fd in fds:
            os.close(fd)
        if end or behind:
            self.cut()
        elif not data:
            s.close()
            other.close()
            self.pairs[link] = []
            self.pairs = self.pairs if any(self.pairs) else []

    def wait(self, others):
        """Waits for data. Returns the ready sockets among `others`, and the ready sockets of links with their places. A
        link is not read while its receiver takes nothing: that receiver may first need data of another link."""
        where = {s: (n, i == 0) for n, pair in enumerate(self.pairs) for i, s in enumerate(pair)}
        to = {s: self.pairs[n][first] for s, (n, first) in where.items()}
        free = select.select([], list(to.values()), [], 0)[1]
        full = [x for x in to.values() if x not in free]
        ready, taken, _ = select.select([*others, *(s for s in to if to[s] in free)], full, [], PATIENCE)
        if not ready and not taken:
            raise AssertionError(f"no migration ends: {self.done} cuts")
        return [s for s in ready if s not in where], {s: where[s] for s in ready if s in where}

    def run(self, cut=None, wrong=None):
        """Runs until both sides have reported how it ended."""
        status = {}
        while len(status) < 2:
            said, came = self.wait([c for i, c in enumerate(self.control) if i not in status])
            for s in said:
                self.hears(self.control.index(s), status)
            for s, place in came.items():
                if s.fileno() >= 0:
                    self.forwards(*place)
        for s in [*self.control, *(s for pair in self.pairs for s in pair)]:
            s.close()
        return status[0], status[1]


class Relay(Mending):
    """Stands between `tern migrate` and the target. The links go through this process, which cuts them."""

    def __init__(self, path, target, cuts, which=MEMORY):  # pylint: disable=super-init-not-called
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(path))
        self.listener.listen()
        self.listener.settimeout(PATIENCE)
        self.path, self.target = path, target
        self.watch(cuts, which)

    def asks(self, tool, target):
        """Forwards a message of `tern migrate`, usually with a link. Returns the message, which is empty at the end."""
        data, fds, _, _ = socket.recv_fds(tool, 65536, 8)
        if fds:
            mine, theirs = socket.socketpair()
            self.pairs.append([socket.socket(fileno=fds[0]), mine])
            socket.send_fds(target, [data], [theirs.fileno()])
            theirs.close()
        elif data:
            target.send(data)
        return data

    def run(self, cut=None, wrong=None):
        """Runs until `tern migrate` has ended."""
        with self.listener, self.listener.accept()[0] as tool, \
                socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as target:
            target.connect(str(self.target.socket))
            target.send(tool.recv(65536))
            tool.send(target.recv(65536))
            hears = [tool, target]
            while tool in hears:
                said, came = self.wait(hears)
                for s, place in came.items():
                    if s.fileno() >= 0:
                        self.forwards(*place)
                if tool in said and not self.asks(tool, target):
                    hears.remove(tool)
                if target in said:
                    data = target.recv(65536)
                    tool.send(data) if data else hears.remove(target)
        for s in [s for pair in self.pairs for s in pair]:
            s.close()


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
        self.assertGreaterEqual(cuts, 8)  # At least one cut in each migration.
        for p in clients:
            self.end(p)
        for d in (here, there):
            self.settles(d, empty[d])
            self.assertEqual(d.end(), 0, d.said())

    def through(self, relay, here, links):
        """Runs `tern migrate` to the target behind the relay. Returns its exit status, report and messages."""
        move = subprocess.Popen([MIGRATE, "--from", str(here.socket), "--to", str(relay.path), "--json", "--links",
                                 str(links)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(move.communicate)
        self.addCleanup(move.kill)
        relay.run()
        out, err = move.communicate(timeout=PATIENCE)
        return move.returncode, json.loads(out), err

    def test_tern_migrate_makes_them_again(self):
        """`tern migrate` makes its own links again when they are cut while much memory is sent. A cut while sessions
        are sent ends the migration."""
        rng = random.Random(SEED)
        here, there = self.daemon("a"), self.daemon("b")
        empty = here.holds(TERN, here.environment)
        p = subprocess.Popen([MOVE_CLIENT, "large"], env={**self.plain, "TERND_SOCKET": str(here.socket)}, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        self.assertEqual(p.stdout.readline(), "begins\n")
        for i in range(6):
            cuts = [rng.randrange(LARGE // 3) for _ in range(1 + i // 2)]
            what = f"cuts {cuts}, seed {SEED}"
            relay = Relay(self.folder / f"relay {i}", there, cuts)
            status, told, err = self.through(relay, here, 1 + i % 2)
            self.assertEqual(status, 0, f"{what}: {err}")
            self.assertEqual((relay.done, told["links_made_again"]), (len(cuts), len(cuts)), what)
            here, there = there, here
            self.settles(there, empty)
        relay = Relay(self.folder / "relay", there, [rng.randrange(LAST)], SESSIONS)
        status, told, err = self.through(relay, here, 1)
        self.assertEqual((status, relay.done, told["moved"], told["links_made_again"]), (1, 1, False, 0), err)
        self.settles(there, empty)
        _, err = p.communicate("e\n", timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, err)
        for d in (here, there):
            self.assertEqual(d.end(), 0, d.said())

    def test_lost_behind_the_last_record(self):
        """The source has written everything, and the target has read it. The target repeats an answer that was not
        sent."""
        here, there = self.daemon("a"), self.daemon("b")
        empty = {d: d.holds(TERN, d.environment) for d in (here, there)}
        client = self.client(here, 19)
        for _ in range(3):
            self.works(here, 1)
            link = Mending(here, there, 1, [])

            def stop(link=link, target=there):
                if link.done:
                    return False
                target.stop()
                return True

            def cut(link=link, target=there):
                Mending.cut(link)
                target.go_on()

            link.at_end, link.cut = stop, cut
            self.assertEqual(link.run(), (0, 0), here.said())
            self.assertEqual(link.done, 1)
            here, there = there, here
            self.works(here, 1)
            self.settles(there, empty[there])
        link = Mending(here, there, 1, [])
        # The answer was sent and lost. The target reads on, and the source cannot know.
        link.answer = lambda: not link.done
        source, target = link.run()
        self.assertLess(source, 0)
        self.assertLess(target, 0)
        self.works(here, 1)
        self.settles(there, empty[there])
        self.end(client)
        for d in (here, there):
            self.assertEqual(d.end(), 0, d.said())

    def test_links_that_stay_lost(self):
        """Lost links are not made again, at once or after two times, or nothing ever comes over the new ones."""
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
