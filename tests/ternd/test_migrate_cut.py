# SPDX-License-Identifier: Apache-2.0
"""The link between two ternd is cut, or a bit of it is wrong, at any byte (M5): both ternd have then what they had
before, the programs go on, and nothing is left.

    test_migrate_cut.py TERND TERN CLIENT ICD MOVE_CLIENT [SEED]
"""
import os
import pathlib
import random
import select
import socket
import struct
import subprocess
import sys
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
from stream_reader import r32, xxh3  # pylint: disable=wrong-import-position

SEED = int(sys.argv.pop(6)) if len(sys.argv) > 6 and sys.argv[6].isdigit() else 1
from moving import MOVE_CLIENT, PATIENCE, TERN, Moving  # pylint: disable=wrong-import-position

SEND, RECEIVE, TIMES, FORGERIES = 3, 4, 4, 9
STREAMS, WHAT = 3, 32                      # Streams of a migration; bytes of struct tern_wire_descriptor.
END, OF_SESSIONS = 1, (26, 27, 28)         # Types of records.
HELLO, FIELDS = "=IIII16s32s64s", "=IIIi"  # struct tern_wire_hello; the fields that every welcome begins with.
HOW = "=QIIIIII"                           # struct tern_wire_migrate.
ENDED, PROGRESS = 2, "=Ii"                 # struct tern_wire_progress begins with kind and status.


class Link:
    """Acts as `tern migrate`, except that the bytes between the two ternd go through this process."""

    def __init__(self, source, target):
        self.control = [self.greet(source, SEND), self.greet(target, RECEIVE)]
        self.ends = []
        for control in self.control:
            mine, theirs = socket.socketpair()
            socket.send_fds(control, [struct.pack(HOW, 0, 0, 0, 0, 0, 0, 0)], [theirs.fileno()])
            theirs.close()
            self.ends.append(mine)

    @staticmethod
    def greet(daemon, kind):
        version, spec = 0, 0
        while True:  # A ternd that refuses says which version it needs.
            s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            s.connect(str(daemon.socket))
            s.send(struct.pack(HELLO, 0x6e726554, version, spec, kind, b"", b"", b"default"))
            _, now, needed, status = struct.unpack_from(FIELDS, s.recv(65536))
            if status == 0:
                return s
            s.close()
            if (now, needed) == (version, spec):
                raise AssertionError(f"hello is refused: {status}")
            version, spec = now, needed

    def run(self, cut=None, wrong=None):
        """Runs until both sides have reported how it ended. Returns their statuses and the number of bytes from the
        source."""
        sent, status = 0, {}
        while len(status) < 2:
            ready, _, _ = select.select([*self.ends, *(c for i, c in enumerate(self.control) if i not in status)], [],
                                        [], PATIENCE)
            if not ready:
                raise AssertionError("no migration ends")
            for s in ready:
                if s in self.control:
                    message = s.recv(65536)
                    kind, code = struct.unpack_from(PROGRESS, message) if message else (ENDED, -1)
                    if kind == ENDED:
                        status[self.control.index(s)] = code
                elif s in self.ends:
                    sent += self.forward(s, sent, cut, wrong)
        for s in [*self.control, *self.ends]:
            s.close()
        return status[0], status[1], sent

    def change(self, data):
        return data

    def passed(self, fds):
        return fds

    def forward(self, s, sent, cut, wrong):
        """Forwards one piece. Returns how many of its bytes came from the source."""
        try:
            data, fds, _, _ = socket.recv_fds(s, 65536, 8)
        except ConnectionResetError:  # The peer closed it with unread data.
            data, fds = b"", []
        first = s is self.ends[0]
        other = self.ends[first]
        end = not data
        if first and cut is not None and sent + len(data) > cut:
            data, end = data[:max(0, cut - sent)], True
            while fds:
                os.close(fds.pop())
        if first and wrong is not None and sent <= wrong < sent + len(data):
            at = wrong - sent
            data = data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1:]
        try:
            change = self.change if first else bytes
            fds = self.passed(fds) if first else fds
            if fds:  # Descriptors came with the last bytes, which describe them.
                other.sendall(change(data[:-WHAT]))
                socket.send_fds(other, [data[-WHAT:]], fds)
            else:
                other.sendall(change(data))
        except OSError:
            end = True
        for fd in fds:
            os.close(fd)
        if end:
            for e in self.ends:
                e.close()
            self.ends = []
        return len(data) if first else 0


class Forgery(Link):
    """Changes one byte of a session's record and keeps all checksums right."""

    def __init__(self, source, target, which, rng):
        super().__init__(source, target)
        self.which, self.rng, self.rest, self.begins, self.done = which, rng, b"", True, None
        self.streams = 0

    def forge(self, record):
        fields = bytearray(record[32:])
        at = self.rng.randrange(len(fields))
        fields[at] = self.rng.choice((0, 1, 0x7f, 0xff, fields[at] ^ 1, fields[at] + 1 & 0xff, self.rng.randrange(256)))
        self.done = f"byte {at} of record {self.which}"
        head = record[:16] + struct.pack("<QI", xxh3(bytes(fields)), 0)
        return head + struct.pack("<I", xxh3(head) & 0xffffffff) + bytes(fields)

    def change(self, data):
        """Returns the complete headers and records of the received data, to be sent; at last GO."""
        if self.streams == STREAMS:
            return data
        self.rest += data
        out = b""
        while True:
            size = 40 if self.begins else 32 + r32(self.rest, 4)
            if len(self.rest) < (40 if self.begins else 32) or len(self.rest) < size:
                return out
            unit, self.rest = self.rest[:size], self.rest[size:]
            kind = None if self.begins else int.from_bytes(unit[:2], "little")
            self.begins = kind == END
            self.streams += self.begins
            if kind in OF_SESSIONS:
                unit = self.forge(unit) if self.is_next() else unit
            out += unit

    def is_next(self):
        self.which -= 1
        return self.which == 0


class Lost(Link):
    """Ends the link when the source has decided that the programs are the target's, before the target hears of it."""

    def forward(self, s, sent, cut, wrong):
        source, target = self.ends
        if s is target:  # These are READY and GO.
            source.sendall(s.recv(1))
            source.recv(1)
            for e in self.ends:
                e.close()
            self.ends = []
            return 1
        return super().forward(s, sent, cut, wrong)


class Cut(Moving):
    """Cuts, wrong bytes and forgeries of the link between two ternd."""

    test_programs_move_back_and_forth = test_limits_are_those_of_the_target = None
    test_fences_callbacks_times_and_calls_follow = None
    test_cancelled_or_its_target_killed_the_programs_go_on = None
    test_a_target_that_cannot_take_it_says_so_and_the_programs_go_on = None

    def test_at_any_byte(self):
        rng = random.Random(SEED)
        here, there = self.daemon("a"), self.daemon("b")
        empty = {d: d.holds(TERN, d.environment) for d in (here, there)}
        clients = [self.client(here, seed) for seed in (5, 6)]
        self.works(here, 2)
        source, target, whole = Link(here, there).run()
        self.assertEqual((source, target), (0, 0))
        here, there = there, here
        for i in range(TIMES):
            for how in ("cut", "wrong"):
                at = whole - 2 - i if i < TIMES // 2 else rng.randrange(whole - 1)  # The last byte is GO.
                what = f"{how} at {at} of {whole}, seed {SEED}"
                self.works(here, 2, 1)
                source, target, sent = Link(here, there).run(**{how: at})
                self.assertEqual(source == 0, target == 0, what)
                if source == 0:  # The stream was shorter this time, or the byte only carries a descriptor.
                    here, there = there, here
                    whole = sent
                self.works(here, 2, 1)
                self.settles(there, empty[there])
        for p in clients:
            self.end(p)
        for d in (here, there):
            self.settles(d, empty[d])
            self.assertEqual(d.end(), 0, d.said())


    def test_go_that_is_lost(self):
        """The source has decided, and GO never reaches the target. The programs have no ternd any more and end."""
        here, there = self.daemon("a"), self.daemon("b")
        empty = {d: d.holds(TERN, d.environment) for d in (here, there)}
        client = self.client(here, 7)
        self.works(here, 1)
        source, target, _ = Lost(here, there).run()
        self.assertEqual(source, 0)
        self.assertNotEqual(target, 0)
        client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 1)
        for d in (here, there):
            self.settles(d, empty[d])
            self.assertEqual(d.end(), 0, d.said())

    def test_forged_sessions(self):
        """Nothing is left of the program after its end, whether the target refuses a forged session or accepts it."""
        rng = random.Random(SEED)
        here, there = self.daemon("a"), self.daemon("b")
        empty = {d: d.holds(TERN, d.environment) for d in (here, there)}
        refused = 0
        for i in range(FORGERIES):
            p = subprocess.Popen([MOVE_CLIENT], env={**self.plain, "TERND_SOCKET": str(here.socket)}, text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.addCleanup(p.communicate)
            self.addCleanup(p.kill)
            print("m", file=p.stdin, flush=True)
            self.assertEqual([p.stdout.readline(), p.stdout.readline()], ["begins\n", "ready\n"])
            forgery = Forgery(here, there, 1 + i % 9, rng)
            source, target, _ = forgery.run()
            what = f"{forgery.done}, seed {SEED}: {source}, {target}"
            self.assertEqual(source == 0, target == 0, what)
            refused += source != 0
            p.kill()
            for d in (here, there):
                self.assertTrue(d.listens, f"{what}: {d.said()}")
                self.settles(d, empty[d])
        self.assertGreater(refused, 0)
        for d in (here, there):
            self.assertEqual(d.end(), 0, d.said())

    def test_a_ternd_that_is_asked_to_end_meanwhile(self):
        here, there = self.daemon("a"), self.daemon("b")
        client = self.client(here, 8)
        self.works(here, 1)
        link = Link(here, there)
        self.assertTrue(select.select([link.ends[0]], [], [], PATIENCE)[0])  # ternd sends, and nobody receives.
        self.assertEqual(there.end(), 0, there.said())
        for s in [*link.ends, *link.control]:
            s.close()
        self.works(here, 1)
        there = self.daemon("c")
        empty = there.holds(TERN, there.environment)
        link = Link(here, there)
        self.assertTrue(select.select([link.ends[0]], [], [], PATIENCE)[0])
        self.assertEqual(here.end(), 0, here.said())
        for s in [*link.ends, *link.control]:
            s.close()
        self.settles(there, empty)
        client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 1)  # The client's ternd is gone.
        self.assertEqual(there.end(), 0, there.said())


if __name__ == "__main__":
    unittest.main()
