# SPDX-License-Identifier: Apache-2.0
"""An independent implementation of the link of a board (docs/board.md): frames, requests, simulated and fake boards."""
import contextlib
import os
import select
import signal
import struct
import subprocess
import termios
import threading
import time
import tty
import zlib

FLAG, ESCAPE = 0x7E, 0x7D
HELLO, READ_REGISTERS, WRITE_REGISTERS, READ_MEMORY, WRITE_MEMORY = range(1, 6)
DONE, REPEATED, SEQUENCE, MALFORMED, BUS = range(5)
BUS_BEFORE, INTERRUPT = 0x40, 0x80
ANSWER_S = 60  # seconds to wait for an answer on a busy host


def frame(body):
    """The bytes of a frame on the line."""
    body += struct.pack("<I", zlib.crc32(body))
    out = bytearray([FLAG])
    for b in body:
        out += bytes([ESCAPE, b ^ 0x20]) if b in (FLAG, ESCAPE) else bytes([b])
    return bytes(out) + bytes([FLAG])


class Frames:
    """Decodes received bytes to frames. Damaged frames are dropped."""

    def __init__(self):
        self.body, self.escape = bytearray(), False

    def take(self, data):
        whole = []
        for b in data:
            if b == FLAG:
                body = bytes(self.body)
                if len(body) > 4 and struct.unpack("<I", body[-4:])[0] == zlib.crc32(body[:-4]):
                    whole.append(body[:-4])
                self.body, self.escape = bytearray(), False
            elif b == ESCAPE:
                self.escape = True
            else:
                self.body.append(b ^ 0x20 if self.escape else b)
                self.escape = False
        return whole


def request(command, number, address=0, data=b"", count=None):
    return struct.pack("<BBHI", command, number, len(data) if count is None else count, address) + data


class Host:
    """A host at a serial port that may send any bytes."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.fd)
        mode = termios.tcgetattr(self.fd)
        mode[4] = mode[5] = termios.B3000000
        termios.tcsetattr(self.fd, termios.TCSANOW, mode)
        self.frames, self.got, self.number = Frames(), [], 0

    def close(self):
        os.close(self.fd)

    def send(self, data):
        while data:
            data = data[os.write(self.fd, data):]

    def receive(self, wait_s=ANSWER_S):
        """Receives the next answer: command, number, status, next number, data. None: there was none in time."""
        until = time.monotonic() + wait_s
        while not self.got:
            if not select.select([self.fd], [], [], max(0, until - time.monotonic()))[0]:
                return None
            self.got += self.frames.take(os.read(self.fd, 4096))
        body = self.got.pop(0)
        return (*body[:4], body[4:])

    def ask(self, command, address=0, data=b"", count=None, number=None):
        """Sends a request and receives its answer."""
        if number is None:
            number = self.number
            self.number = (self.number + 1) % 256
        self.send(frame(request(command, number, address, data, count)))
        answer = self.receive()
        assert answer and answer[:2] == (command | 0x80, number), (command, number, answer)
        return answer[2], answer[4]

    def hello(self, number=0, nonce=0x12345678):
        self.number = (number + 1) % 256
        return self.ask(HELLO, nonce, count=0, number=number)


@contextlib.contextmanager
def board(program, library, folder, *options):
    """Runs the simulated board; without a library, a whole one. Yields its process with .path, and at the end .said."""
    path = os.path.join(folder, "port")
    behind = ["--library", library] if library else []
    p = subprocess.Popen([program, *behind, "--link", path, *options], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    try:
        assert p.stdout.readline().startswith("/dev/"), p.stderr.read()
        p.path = path
        yield p
    finally:
        if p.poll() is None:
            p.send_signal(signal.SIGTERM)
        p.said = p.communicate()[1]


class Fake:
    """A fake board, with the given registers (all others read 0) and the given errors."""

    def __init__(self, registers, version=1, cut_after=None, garbage=False, silent=False):
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        self.slave = slave  # keeps the port open until the host opens it
        self.registers, self.version, self.cut_after = registers, version, cut_after
        self.garbage, self.silent, self.requests = garbage, silent, []
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        frames = Frames()
        with contextlib.suppress(OSError):
            while True:
                data = os.read(self.master, 4096)
                if self.garbage:
                    os.write(self.master, bytes(b ^ 0x55 for b in data))
                    continue
                for body in frames.take(data):
                    self.requests.append(body)
                    if self.cut_after is not None and len(self.requests) > self.cut_after:
                        os.close(self.slave)
                        os.close(self.master)
                        return
                    if not self.silent:
                        os.write(self.master, frame(self.answer(body)))

    def answer(self, body):
        command, number, count, address = struct.unpack("<BBHI", body[:8])
        data = b""
        if command == HELLO:
            data = struct.pack("<2sBBHHI", b"TL", self.version, 0, 2047, 960, address)
        elif command == READ_REGISTERS:
            data = b"".join(struct.pack("<I", self.registers.get(a, self.registers.get(None, 0)))
                            for a in range(address, address + count, 4))
        elif command == READ_MEMORY:
            data = bytes(count)
        return bytes([command | 0x80, number, DONE, (number + 1) % 256]) + data

    def close(self):
        for fd in (self.slave, self.master):
            with contextlib.suppress(OSError):
                os.close(fd)
