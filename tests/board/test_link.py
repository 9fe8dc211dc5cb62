#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the Verilated link of a board at the level of frames: tern-board with a device behind it. Every bit of a
request is inverted. Requests are cut, repeated, out of order or malformed. There are bus errors, floods, and random
addresses and sizes.

usage: test_link.py BOARD LIBRARY [TEST...]

Random tests print their seed; TERN_TEST_SEED sets it.
"""
import os
import random
import struct
import sys
import tempfile
import unittest

import line
from line import BUS, BUS_BEFORE, DONE, MALFORMED, REPEATED, SEQUENCE
from line import READ_MEMORY, READ_REGISTERS, WRITE_MEMORY, WRITE_REGISTERS

BOARD, LIBRARY = sys.argv[1:3]
MIB = 16
ID, IRQ_ENABLE = 0, 0x20
TERN = 0x5445524E
LIMIT = 960
SILENCE_S = 0.5  # seconds without an answer after which none is expected


class Link(unittest.TestCase):
    options = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tern-link-")
        self.addCleanup(folder.cleanup)
        board = line.board(BOARD, LIBRARY, folder.name, "--memory", str(MIB), *self.options)
        self.board = board.__enter__()
        self.addCleanup(board.__exit__, None, None, None)
        self.host = line.Host(self.board.path)
        self.addCleanup(self.host.close)
        status, data = self.host.hello()
        self.assertEqual(status, DONE)
        self.assertEqual(data, struct.pack("<2sBBHHI", b"TL", 1, 1, 2047, LIMIT, 0x12345678))

    def read32(self, offset):
        status, data = self.host.ask(READ_REGISTERS, offset, count=4)
        self.assertEqual(status, DONE)
        return struct.unpack("<I", data)[0]

    def read(self, address, size):
        status, data = self.host.ask(READ_MEMORY, address, count=size)
        self.assertEqual((status, len(data)), (DONE, size))
        return data

    def write(self, address, data):
        self.assertEqual(self.host.ask(WRITE_MEMORY, address, data), (DONE, b""))

    def test_registers(self):
        status, data = self.host.ask(READ_REGISTERS, ID, count=12)
        self.assertEqual((status, struct.unpack("<I", data[:4])[0], len(data)), (DONE, TERN, 12))
        self.assertEqual(self.read32(0x18), MIB << 8)
        for value in (3, 0, 1):
            self.assertEqual(self.host.ask(WRITE_REGISTERS, IRQ_ENABLE, struct.pack("<I", value)), (DONE, b""))
            self.assertEqual(self.read32(IRQ_ENABLE), value)

    def test_memory(self):
        """Reads and writes of any address and size, against a copy. Data may have the bytes of flags and escapes."""
        seed = int(os.environ.get("TERN_TEST_SEED", "0")) or random.randrange(1, 1 << 30)
        print(f"seed {seed}: TERN_TEST_SEED={seed} {' '.join(sys.argv)}", flush=True)
        r = random.Random(seed)
        size = 8192
        here = bytearray(size)
        for i in range(60):
            n = r.choice((1, 2, 4, 63, 64, 65, r.randrange(1, LIMIT), LIMIT))
            at = r.choice((0, 1, 60, 64, r.randrange(size - n), size - n))
            if i % 3:
                data = bytes(r.choice((0x7E, 0x7D, 0x5E, 0, r.randrange(256))) for _ in range(n))
                here[at:at + n] = data
                self.write(0x10000 + at, data)
            else:
                self.assertEqual(self.read(0x10000 + at, n), bytes(here[at:at + n]), (at, n))
        for at in range(0, size, 512):
            self.assertEqual(self.read(0x10000 + at, 512), bytes(here[at:at + 512]))

    def test_damaged_changes_nothing(self):
        """For each inverted bit of a write there is no answer, and memory does not change."""
        self.write(0x2000, b"before!!")
        whole = bytearray(line.frame(line.request(WRITE_MEMORY, self.host.number, 0x2000, b"after...")))
        for bit in range(8, 8 * (len(whole) - 1)):
            bad = bytearray(whole)
            bad[bit // 8] ^= 1 << bit % 8
            self.host.send(bytes(bad) + bytes([line.FLAG]))
        self.assertIsNone(self.host.receive(SILENCE_S))
        self.assertEqual(self.read(0x2000, 8), b"before!!")

    def test_no_host_in_between(self):
        """A frame that a killed host has left unfinished, and random bytes, end at the next flag."""
        whole = line.frame(line.request(WRITE_MEMORY, self.host.number, 0x2000, b"whole"))
        for cut in (1, 2, 9, len(whole) - 2):
            self.host.send(whole[:cut])
            status, data = self.host.hello(number=cut)
            self.assertEqual((status, data[:2]), (DONE, b"TL"))
        self.assertEqual(self.read(0x2000, 5), bytes(5))
        self.host.send(bytes(range(256)) * 20)  # more than the link's buffer holds
        self.host.send(bytes([line.FLAG]))
        self.assertEqual(self.host.hello(number=200)[0], DONE)
        self.assertEqual(self.read32(ID), TERN)

    def test_once(self):
        """A repeated request is answered each time. A write is executed only once."""
        n = self.host.number
        self.write(0x3000, b"1111")
        self.write(0x3000, b"2222")
        self.assertEqual(self.host.ask(WRITE_MEMORY, 0x3000, b"1111", number=n), (REPEATED, b""))
        self.assertEqual(self.read(0x3000, 4), b"2222")
        last = self.host.number - 1
        self.assertEqual(self.host.ask(READ_MEMORY, 0x3000, count=4, number=last), (DONE, b"2222"))
        self.assertIsNone(self.host.receive(SILENCE_S))

    def test_order(self):
        """A request with a later number than the next one is not executed. The answer has the next number."""
        n = self.host.number
        for ahead in (1, 2, 100, 128):
            number = (n + ahead) % 256
            self.host.send(line.frame(line.request(WRITE_MEMORY, number, 0x3000, b"ahead")))
            self.assertEqual(self.host.receive(), (WRITE_MEMORY | 0x80, number, SEQUENCE, n, b""))
        self.assertEqual(self.read(0x3000, 5), bytes(5))
        for _ in range(300):  # past 255
            self.write(0x3000, b"x")
        self.assertEqual(self.read(0x3000, 2), b"x\0")

    def test_malformed(self):
        """Malformed requests are refused, and the session goes on."""
        for command, address, data, count in ((9, 0, b"", 4), (READ_MEMORY, 0, b"", 0),
                                              (READ_MEMORY, 0, b"", LIMIT + 1), (READ_MEMORY, 0, b"", 0x404),
                                              (READ_REGISTERS, 2, b"", 4), (READ_REGISTERS, 0, b"", 6),
                                              (READ_REGISTERS, 0x4000, b"", 4), (READ_REGISTERS, 0, b"data", 4),
                                              (WRITE_MEMORY, 0x4000, b"short", 6), (WRITE_MEMORY, 0x5000, b"long", 3),
                                              (WRITE_REGISTERS, IRQ_ENABLE, b"\1\0\0", 4)):
            self.assertEqual(self.host.ask(command, address, data, count), (MALFORMED, b""), (command, data, count))
        self.assertEqual(self.read(0x4000, 6), bytes(6))
        self.assertEqual(self.read32(IRQ_ENABLE), 0)
        self.host.send(line.frame(b"\2\0\4"))  # less than a head
        self.assertIsNone(self.host.receive(SILENCE_S))
        self.assertEqual(self.read32(ID), TERN)

    def test_bus(self):
        """An access beyond memory is an error, even if its first bytes exist. The error is reported until a hello."""
        end = MIB << 20
        self.assertEqual(self.host.ask(READ_MEMORY, end, count=4), (BUS | BUS_BEFORE, b""))
        self.assertEqual(self.host.ask(READ_MEMORY, end - 64, count=128), (BUS | BUS_BEFORE, b""))
        n = self.host.number
        self.assertEqual(self.host.ask(WRITE_MEMORY, end - 64, b"x" * 128), (BUS | BUS_BEFORE, b""))
        self.assertEqual(self.host.ask(WRITE_MEMORY, end - 64, b"x" * 128, number=n), (REPEATED | BUS_BEFORE, b""))
        self.assertEqual(self.host.ask(READ_MEMORY, end - 64, count=4), (DONE | BUS_BEFORE, b"xxxx"))
        self.assertEqual(self.host.hello(number=9)[0], DONE)
        self.assertEqual(self.read(end - 4, 4), b"xxxx")

    def test_many_under_way(self):
        """As many requests as the buffer holds are answered in order. Only requests of a flood beyond that are lost."""
        n = self.host.number
        for burst in range(4):
            for i in range(2):
                self.host.send(line.frame(line.request(READ_MEMORY, (n + i) % 256, 64 * i, count=LIMIT)))
            for i in range(2):
                answer = self.host.receive()
                self.assertEqual((answer[1:3], len(answer[4])), (((n + i) % 256, DONE), LIMIT), burst)
            n = (n + 2) % 256
        self.host.send(b"".join(line.frame(line.request(WRITE_MEMORY, (n + i) % 256, 0x8000 + LIMIT * i,
                                                        bytes([i + 1]) * LIMIT)) for i in range(20)))
        done, number, answer = [], 76, None
        while answer is None or answer[:3] != (line.HELLO | 0x80, number, DONE):
            if answer is None:  # repeat a hello behind the flood until it is answered, which ends the earlier requests
                number += 1
                self.assertLess(number, 107, "no hello is answered")
                self.host.send(line.frame(line.request(line.HELLO, number, 0x12345678, count=0)))
            answer = self.host.receive(2)
            if answer and answer[:1] + answer[2:3] == (WRITE_MEMORY | 0x80, DONE):
                done.append(answer[1])
        self.host.number = (number + 1) % 256
        self.assertEqual(done, [(n + i) % 256 for i in range(len(done))])
        for i in range(20):
            want = bytes([i + 1]) * 8 if i < len(done) else bytes(8)
            self.assertEqual(self.read(0x8000 + LIMIT * i, 8), want)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
