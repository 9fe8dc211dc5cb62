# SPDX-License-Identifier: Apache-2.0
"""A link between two proxies (driver/migration/proxy/internal.h) whose data a test can see, change and cut."""
import select
import socket
import struct
import threading

HEAD = struct.Struct("=IIIIQQ")  # struct proxy_frame: type, length, session, slot, head, now
START, RESULT, FROM_SOURCE, FROM_TARGET = 6, 16, 0, 1


class Wire:
    """Carries bytes between the proxies, which have `ends`. `cut` gives the maximum bytes of a direction."""

    def __init__(self, cut=None, change=None):
        pairs = [socket.socketpair() for _ in "12"]
        self.mine, self.ends = [p[0] for p in pairs], [p[1] for p in pairs]
        self.cut, self.change = cut or {}, change
        self.passed = [0, 0]
        self.begun = None  # Bytes of the source before the first START.
        self.rest = [b"", b""]
        self.lock = threading.Lock()
        self.open = True
        self.wake = socket.socketpair()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def frames(self, way, data):
        """Returns the frames that are complete so far, changed, to be sent."""
        self.rest[way] += data
        out = b""
        while len(self.rest[way]) >= HEAD.size:
            kind, length = HEAD.unpack_from(self.rest[way])[:2]
            size = HEAD.size + length
            if len(self.rest[way]) < size:
                break
            frame, self.rest[way] = self.rest[way][:size], self.rest[way][size:]
            if way == FROM_SOURCE and kind == START and self.begun is None:
                self.begun = self.passed[way] + len(out)
            out += self.change(way, kind, frame) if self.change else frame
        return out

    def forward(self, way):
        """Forwards one piece. Returns false if the link ends."""
        try:
            data = self.mine[way].recv(65536)
        except OSError:
            data = b""
        if not data:
            return False
        data = self.frames(way, data)
        most = self.cut.get(way)
        ends = most is not None and self.passed[way] + len(data) >= most
        data = data[:most - self.passed[way]] if ends else data
        self.passed[way] += len(data)
        try:
            self.mine[1 - way].sendall(data)
        except OSError:
            return False
        return not ends

    def run(self):
        going = True
        while going:
            ready, _, _ = select.select([*self.mine, self.wake[0]], [], [])
            going = self.wake[0] not in ready
            for way in (FROM_SOURCE, FROM_TARGET):
                going = going and (self.mine[way] not in ready or self.forward(way))
        for s in self.mine:
            s.close()

    def end(self):
        """Cuts the link, or does nothing if it has ended."""
        self.wake[1].close()
        self.thread.join()
        self.wake[0].close()
