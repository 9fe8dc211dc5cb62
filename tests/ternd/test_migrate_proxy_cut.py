# SPDX-License-Identifier: Apache-2.0
"""The link between two proxies is cut at any byte, or carries what it must not.

Cut before the programs are the target's, they go on at the source; GO is lost; cut at any moment after that, they find
ternd gone. Frames of both sides are forged, and completions belong to another context, come too early or twice, or are
more than a ring has room for. Nothing is left. Only the session's user, with its token, may connect to the proxy.

    test_migrate_proxy_cut.py TERND TERN CLIENT ICD MOVE_CLIENT [SEED]
"""
import os
import random
import socket
import struct
import sys
import time
import unittest

SEED = int(sys.argv.pop(6)) if len(sys.argv) > 6 and sys.argv[6].isdigit() else 1
from moving import PATIENCE  # pylint: disable=wrong-import-position
from proxy_moving import ByProxy  # pylint: disable=wrong-import-position
from proxy_wire import FROM_SOURCE, FROM_TARGET, HEAD, START  # pylint: disable=wrong-import-position

BEFORE, AFTER, FORGERIES, SILENT = 4, 4, 16, 70
LITTLE = 30  # Seconds: a reply never takes this long, even on a busy host.
WHAT = struct.Struct("=IIII16s")  # struct tern_wire_descriptor.
STREAM, DESCRIPTOR, SUBMISSIONS, REQUEST, OPENED, COMPLETIONS, REPLY = 3, 5, 7, 9, 13, 14, 15
OF_SOURCE, OF_TARGET = (START, SUBMISSIONS, REQUEST, DESCRIPTOR), (COMPLETIONS, REPLY, OPENED)


class Cut(ByProxy):
    def both_end(self, source, target):
        """Waits until both proxies end by themselves. Returns their exit statuses and messages."""
        said = [p.communicate(timeout=PATIENCE)[1] for p in (source, target)]
        return source.returncode, target.returncode, said

    def test_before_the_programs_are_the_target_s(self):
        """Cut before the programs are the target's, they go on at the source, and the target has nothing of them."""
        rng = random.Random(SEED)
        here, there, empty = self.pair()
        client = self.client(here, 1)
        self.works(here, 1)
        wire, source, target = self.over(here, there)
        self.assertTrue(self.moves(source))
        whole = wire.begun
        client.kill()
        self.both_end(source, target)
        wire.end()
        client = self.client(here, 2)
        lost = 0
        for i in range(BEFORE):
            self.works(here, 1, 1)
            # Cuts at any byte of the source, or within the target's hello and READY.
            cut = {FROM_TARGET: rng.randrange(1, 400)} if i % 2 else {FROM_SOURCE: rng.randrange(1, whole)}
            what = f"{cut} of {whole}, seed {SEED}"
            wire, source, target = self.over(here, there, cut=cut)
            if self.moves(source):  # The source sent fewer bytes this time.
                client.kill()
                self.both_end(source, target)
                wire.end()
                client = self.client(here, 3 + i)
                continue
            lost += 1
            a, b, said = self.both_end(source, target)
            wire.end()
            self.assertEqual((a, b), (1, 1), f"{what}: {said}")
            self.assertIn("the link to fd:", said[0], what)
            self.works(here, 1, 1)
            self.settles(there, empty[there])
        self.assertGreaterEqual(lost, BEFORE // 2)
        self.end(client)
        self.all_end((here, there), empty)

    def test_go_that_is_lost(self):
        """The source's proxy has taken over the programs, and GO never reaches the target. The programs find ternd
        gone."""
        self.plain["TERND_PATIENCE"] = str(LITTLE)  # The target waits this long.
        here, there, empty = self.pair()
        client = self.client(here, 3)
        self.works(here, 1)
        wire, source, target = self.over(here, there, change=lambda way, kind, frame: b"" if kind in (
            STREAM, START) and wire.begun is not None and way == FROM_SOURCE else frame)
        self.moves(source)
        wire.end()
        client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 1)
        a, b, said = self.both_end(source, target)
        self.assertEqual((a, b), (1, 1), said)
        self.all_end((here, there), empty)

    def test_after(self):
        """The link is cut at a random moment while three programs work. Each finds ternd gone."""
        rng = random.Random(SEED)
        for i in range(AFTER):
            here, there, empty = self.pair()
            clients = [self.client(here, 10 * i + k) for k in range(2)]
            mover, expect = self.mover(here)
            print("m", file=mover.stdin, flush=True)
            expect("ready")  # The program then waits for a fence in a thread.
            wire, source, target = self.over(here, there)
            self.assertTrue(self.moves(source))
            time.sleep(rng.random() / 2)
            wire.end()
            for p in clients:
                p.communicate(timeout=PATIENCE)
                self.assertEqual(p.returncode, 1, f"seed {SEED}, time {i}")
            mover.communicate("m\n", timeout=PATIENCE)
            self.assertNotEqual(mover.returncode, 0)
            a, b, said = self.both_end(source, target)
            self.assertEqual((a, b), (1, 1), said)
            self.all_end((here, there), empty)

    def test_completions_that_cannot_be(self):
        """Completions for a context that does not exist, too early or for the second time. Their program ends, and
        another one goes on."""
        for word, add, times in ((0, 8, 1), (0, 1 << 40, 1), (8, 1, 1), (8, -1, 1), (8, 0, 2)):
            here, there, empty = self.pair()
            clients = [self.client(here, k) for k in (1, 2)]
            self.works(here, 2)
            seen = []

            def change(_, kind, frame, seen=seen, word=word, add=add, times=times):
                if kind != COMPLETIONS or len(seen) > 5:
                    return frame
                seen.append(frame)
                if len(seen) <= 5:
                    return frame
                at = HEAD.size + word
                value = int.from_bytes(frame[at:at + 8], "little") + add & (1 << 64) - 1
                return (frame[:at] + value.to_bytes(8, "little") + frame[at + 8:]) * times

            wire, source, target = self.over(here, there, change=change)
            self.assertTrue(self.moves(source))
            end = time.monotonic() + PATIENCE
            while all(p.poll() is None for p in clients) and time.monotonic() < end:
                time.sleep(0.01)
            gone, stays = sorted(clients, key=lambda p: p.poll() is None)
            what = f"word {word // 8} + {add}, {times} times"
            self.assertEqual((gone.returncode, stays.returncode), (1, None), what)
            self.works(there, 1)
            self.end(stays)
            self.assertEqual(self.both_end(source, target)[:2], (0, 0), what)
            wire.end()
            self.all_end((here, there), empty)

    def test_who_connects_to_the_proxy(self):
        """Only the session's user with its token may connect for calls, and no connection delays others."""
        here, there, empty = self.pair()
        for folder in (self.folder, here.socket.parent):
            folder.chmod(0o755)
        client = self.client(here, 1)
        self.works(here, 1)
        token = []

        def change(_, kind, frame):
            if kind == DESCRIPTOR and WHAT.unpack_from(frame, HEAD.size)[0] == 1:
                token.append(frame[HEAD.size + 16:HEAD.size + 32])
            return frame

        wire, source, target = self.over(here, there, change=change)
        self.assertTrue(self.moves(source))
        path = f"{os.path.realpath(here.socket)}.{source.pid}"
        version, spec = self.said_by_ternd(there.socket)
        others = [(version, spec, 1, token[0]), (version, spec, 2, bytes(16)), (version + 1, spec, 2, token[0]),
                  (version, spec + 1, 2, token[0]), (version, spec, 3, bytes(16))]
        for hello in others:
            self.assertLess(self.hello(path, *hello), 0, hello)
        self.assertEqual(self.hello(path, version, spec, 2, token[0]), 0)
        silent = []
        for _ in range(SILENT):
            silent.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            silent[-1].connect(path)
        if os.geteuid() == 0:
            os.seteuid(65534)
            try:
                self.assertLess(self.hello(path, version, spec, 2, token[0]), 0)
            finally:
                os.seteuid(0)
        # The silent connections are closed after 5 s.
        self.assertEqual(self.hello(path, version, spec, 2, token[0]), 0)
        for s in silent:
            s.close()
        self.works(there, 1)
        self.end(client)
        self.assertEqual(self.both_end(source, target)[:2], (0, 0))
        wire.end()
        self.all_end((here, there), empty)

    @staticmethod
    def hello(path, version, spec, kind, token):
        """Returns the welcome's status."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(PATIENCE)
            s.connect(str(path))
            try:
                s.send(struct.pack("=IIII16s32s64s", 0x6e726554, version, spec & 0xffffffff, kind, token, b"", b""))
            except BrokenPipeError:
                pass  # ternd has already sent a refusal.
            try:
                answer = s.recv(65536)
            except ConnectionResetError:  # The error is reported once, before the data that came before the end.
                answer = s.recv(65536)
            return struct.unpack_from("=IIIi", answer)[3]

    @staticmethod
    def said_by_ternd(path):
        """Returns the version and the interface that ternd needs."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.connect(str(path))
            s.send(struct.pack("=IIII112x", 0x6e726554, 0, 0, 1))
            return struct.unpack_from("=III", s.recv(65536))[1:]

    def forge(self, rng, kinds):
        """Changes a frame of one of these kinds, in its header or in the first words after it."""
        state = {"left": rng.randrange(1, 6), "done": None}

        def change(_, kind, frame):
            if kind not in kinds or state["done"]:
                return frame
            state["left"] -= 1
            if state["left"] > 0:
                return frame
            out = bytearray(frame)
            word = rng.choice([w for w in range(0, min(len(frame), HEAD.size + 32), 4)])
            value = rng.choice((0, 1, 0xff, 0x7fffffff, 0xffffffff, rng.randrange(1 << 32)))
            out[word:word + 4] = value.to_bytes(4, "little")
            state["done"] = f"word {word // 4} of a frame of type {kind} is {value}"
            return bytes(out)

        return change, state

    def test_forged(self):
        """Whatever the proxies do with a forged frame, they end by themselves with a status, and nothing is left."""
        rng = random.Random(SEED)
        here, there, empty = self.pair()
        lost = 0
        for i in range(FORGERIES):
            clients = [self.client(here, 2 * i + k) for k in range(2)]
            self.works(here, 2, 1)
            change, state = self.forge(rng, OF_TARGET if i % 2 else OF_SOURCE)
            wire, source, target = self.over(here, there, change=change)
            moved = self.moves(source)
            end = time.monotonic() + PATIENCE
            while moved and not state["done"] and all(p.poll() is None for p in clients):
                self.assertLess(time.monotonic(), end, f"{i}, seed {SEED}")
                time.sleep(0.01)
            for p in clients:
                p.kill()
            a, b, said = self.both_end(source, target)
            wire.end()
            what = f"{state['done']}, seed {SEED}: {said}"
            self.assertIn(a, (0, 1), what)
            self.assertIn(b, (0, 1), what)
            lost += a or b
            for d in (here, there):
                self.assertTrue(d.listens, f"{what}: {d.said()}")
                self.settles(d, empty[d])
        self.assertGreater(lost, 0)
        self.all_end((here, there), empty)


del ByProxy

if __name__ == "__main__":
    unittest.main()
