# SPDX-License-Identifier: Apache-2.0
"""A ternd that sends invalid sessions: one field of a record is wrong, and all checksums are right. The target refuses
the migration with a message that names the field. Nothing is left there, and the program goes on at the source.

    test_migrate_forged.py TERND TERN CLIENT ICD MOVE_CLIENT
"""
import fcntl
import os
import struct
import subprocess
import unittest

from moving import MOVE_CLIENT, PATIENCE, TERN, Moving
from test_migrate_cut import Forgery
from stream_reader import item, xxh3

SESSION, OBJECT, CALL = 26, 27, 28
PROCESS, CONTEXT, ALLOCATION, FENCE = 1, 2, 3, 4


def number(kind, value):
    size = next((i for i, most in enumerate((24, 1 << 8, 1 << 16, 1 << 32, 1 << 64)) if value < most))
    return bytes([kind << 5 | (value if size == 0 else 23 + size)]) + (value.to_bytes(1 << size - 1) if size else b"")


def encode(value):
    """Returns the value in CBOR."""
    if isinstance(value, int):
        return number(0, value)
    if isinstance(value, (bytes, str)):
        data = value if isinstance(value, bytes) else value.encode()
        return number(2 if isinstance(value, bytes) else 3, len(data)) + data
    if isinstance(value, list):
        return number(4, len(value)) + b"".join(map(encode, value))
    return number(5, len(value)) + b"".join(encode(k) + encode(v) for k, v in value.items())


class Message:
    """The end of a connection to a ternd, which keeps the last message."""

    def __init__(self, s):
        self.s, self.fileno, self.close, self.last = s, s.fileno, s.close, b""

    def recv(self, size):
        self.last = self.s.recv(size)
        return self.last


class Forged(Forgery):
    """Sends the sessions' records with one of them changed: the first that `change_fields` accepts."""

    def __init__(self, source, target, change_fields):
        super().__init__(source, target, 0, None)
        self.control[1] = self.target = Message(self.control[1])
        self.change_fields, self.handles, self.names = change_fields, [], []
        self.records, self.calls, self.done = 0, 0, False

    def forge(self, record):
        kind, fields = int.from_bytes(record[:2], "little"), item(record, 32)[0]
        self.records += kind == SESSION
        self.done = not self.done and self.change_fields(self, kind, fields) or self.done
        if kind == OBJECT:
            self.handles.append(fields["handle"])
            self.names.append((fields["kind"], fields["name"]))
        self.calls += kind == CALL
        data = encode(fields)
        head = record[:4] + struct.pack("<I", len(data)) + record[8:16] + struct.pack("<QI", xxh3(data), 0)
        return head + struct.pack("<I", xxh3(head) & 0xffffffff) + data

    def is_next(self):
        return True


def pipe(_):
    end, other = os.pipe()
    os.close(other)
    return end


def memory(more, seals):
    """Returns a maker of a memfd that is `more` bytes larger than the one that it replaces."""
    def make(fd):
        made = os.memfd_create("other", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(made, os.fstat(fd).st_size + more)
        fcntl.fcntl(made, fcntl.F_ADD_SEALS, seals)
        return made
    return make


class Wrong(Forged):
    """Replaces one of the descriptors by the result of `make`."""

    def __init__(self, source, target, which, make):
        super().__init__(source, target, lambda f, kind, now: False)
        self.left, self.make = which, make

    def passed(self, fds):
        if fds:
            self.left -= 1
            if self.left == -1:
                wrong = self.make(fds[0])
                os.close(fds[0])
                fds[0] = wrong
                self.done = True
        return fds


def put(record, **fields):
    """Changes the first such record: 'who' is a session in the first stream, 'has' one in the third, an object kind or
    'call' the first of these. A value may be a function of the record and the forgery."""
    def change(f, kind, now):
        here = (record == "who" and kind == SESSION and f.records == 1 or
                record == "has" and kind == SESSION and f.records == 2 or
                record == "call" and kind == CALL or
                kind == OBJECT and now["kind"] == record)
        for name, value in fields.items() if here else ():
            now[name] = value(now, f) if callable(value) else value
        return here
    return change


def second(kind, **fields):
    """Changes the second object of this kind."""
    def change(f, is_kind, now):
        here = is_kind == OBJECT and now["kind"] == kind and any(k == kind for k, _ in f.names)
        return here and put(kind, **fields)(f, is_kind, now)
    return change


def second_call(f, kind, now):
    """Gives the second call the slot of the first."""
    here = kind == CALL and f.calls == 1
    if here:
        now["slot"] = 0
    return here


FORGERIES = [
    (put("who", number=1), "field number is 1"),
    (put("who", calls=0), "field calls is 0"), (put("who", calls=257), "field calls is 257"),
    (put("who", queue=(1 << 40) + 1), "field queue is"),
    (put("who", token=bytes(15)), "a token has 15 bytes, not 16"),
    (put("who", program=b"a" * 32), "field program has 32"),
    (put("who", partition="p" * 64), "field partition has 64"),
    (put("who", processes=[99]), "is no program's"),
    (put("has", number=1), "field number is 1"), (put("has", objects=(1 << 20) + 1), "field objects is"),
    (put("has", calls=257), "field calls is 257"),
    (put("has", objects=lambda now, f: now["objects"] + 1), "a object of a program is missing"),
    (put("has", objects=lambda now, f: now["objects"] - 1), "a call of a program is missing"),
    (put("has", waiting=[0, 1, 0, 0, 0, 0, 0, 1 << 41]), "more is queued than program"),
    (put(PROCESS, handle=0), "field handle is 0"), (put(PROCESS, handle=1 << 31), "is there twice, or cannot be"),
    (put(PROCESS, kind=0), "field kind is 0"), (put(FENCE, kind=5), "field kind is 5"),
    (put(PROCESS, name=99), "process 99 did not come, or is another program's"),
    (put(CONTEXT, process=77), "is of process 77, which there is not"),
    (put(CONTEXT, process=0), "is of process 0, which there is not"),
    (second(FENCE, process=lambda now, f: f.handles[-1]), "which there is not"),
    (put(CONTEXT, name=99), "did not come"), (put(ALLOCATION, name=4096), "did not come"),
    (put(FENCE, name=4096), "did not come"),
    (second(FENCE, name=lambda now, f: f.names[-1][1]), "objects of programs are there twice"),
    (second(FENCE, handle=lambda now, f: f.handles[-1]), "is there twice, or cannot be"),
    (put(ALLOCATION, bytes=1 << 32), "field bytes is"),
    (put(CONTEXT, fence=(1 << 64) - 1), "field fence is"),
    (put(CONTEXT, fence=lambda now, f: now["fence"] + 1), "submissions of a context are not as they can be"),
    (put(CONTEXT, sent=lambda now, f: now["sent"][:2] + [1]), "submissions of a context are not as they can be"),
    (put(CONTEXT, sent=[]), "jobs, and 0 submissions"),
    (put(CONTEXT, sent=lambda now, f: [now["sent"][0], 1 << 41, 0]), "more is queued than program"),
    (put(CONTEXT, sent=lambda now, f: [now["sent"][0] - 1, 0, 0, *now["sent"][:2], 2]),
     "submissions of a context are not as they can be"),
    (put("call", slot=300), "field slot is 300"), (put("call", request=bytes(1 << 20)), "field request has"),
    (second_call, "field slot is 0"),
]

SHRINK, GROW, SEAL = fcntl.F_SEAL_SHRINK, fcntl.F_SEAL_GROW, fcntl.F_SEAL_SEAL
SHARED = "shares with ternd is not that"
DESCRIPTORS = [
    (0, pipe, "connection is not that"), (1, pipe, SHARED), (2, pipe, "connection is not that"),
    (1, memory(0, 0), SHARED), (1, memory(0, GROW | SEAL), SHARED), (1, memory(0, SHRINK | SEAL), SHARED),
    (1, memory(0, SHRINK | GROW), SHARED), (1, memory(4096, SHRINK | GROW | SEAL), SHARED),
    (1, memory(-4096, SHRINK | GROW | SEAL), SHARED),
    # A wrong descriptor after the first call has its socket. The repetitions would reach the user's limit of
    # connections if connections leaked.
    *[(3, pipe, "connection is not that")] * 12,
]


class Forgeries(Moving):
    def refused(self, forged, says, there, empty):
        source, target, _ = forged.run()
        self.assertTrue(forged.done, "there was no such record")
        text = forged.target.last.decode(errors="replace").replace("\0", "")
        self.assertIn(says, text)
        self.assertLess(target, 0)
        self.assertLess(source, 0)
        self.settles(there, empty)

    def test_processes_of_another_program(self):
        here, there = self.daemon("a"), self.daemon("b")
        empty = {d: d.holds(TERN, d.environment) for d in (here, there)}
        clients = [self.client(here, seed) for seed in (1, 2)]
        self.works(here, 2)
        self.refused(Forged(here, there, second(PROCESS, name=lambda now, f: f.names[0][1])),
                     "did not come, or is another program's", there, empty[there])
        self.works(here, 2)
        for p in clients:
            self.end(p)
        for d in (here, there):
            self.settles(d, empty[d])
            self.assertEqual(d.end(), 0, d.said())

    def test_each(self):
        here, there = self.daemon("a"), self.daemon("b", limits="[default]\nconnections = 12\n[user root]\n"
                                                                "connections = 12\n")
        empty = {d: d.holds(TERN, d.environment) for d in (here, there)}
        p = subprocess.Popen([MOVE_CLIENT], env={**self.plain, "TERND_SOCKET": str(here.socket)}, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        self.assertEqual(p.stdout.readline(), "begins\n")
        for said in "ready", "done", "ready":  # The program makes calls in several threads.
            print("m", file=p.stdin, flush=True)
            self.assertEqual(p.stdout.readline(), said + "\n")
        for i, (change, says) in enumerate(FORGERIES):
            with self.subTest(i=i, says=says):
                self.refused(Forged(here, there, change), says, there, empty[there])
        for i, make, says in DESCRIPTORS:
            with self.subTest(descriptor=i, says=says):
                self.refused(Wrong(here, there, i, make), says, there, empty[there])
        print("m", file=p.stdin, flush=True)
        self.assertEqual(p.stdout.readline(), "done\n")
        _, err = p.communicate("e\n", timeout=PATIENCE)
        self.assertEqual(p.returncode, 0, err)
        for d in (here, there):
            self.settles(d, empty[d])
            self.assertEqual(d.end(), 0, d.said())


if __name__ == "__main__":
    unittest.main()
