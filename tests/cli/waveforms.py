# SPDX-License-Identifier: Apache-2.0
"""Reads waveforms in GTKWave's format FST: blocks, each with its kind and length, of big-endian numbers."""
import pathlib
import struct
import zlib

HEADER, CHANGES, GEOMETRY = 0, 8, 3  # Verilator's writer uses one kind of each.
HIERARCHIES = (4, 6, 7)


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 128:
            return value, at


def inflated(data, size):
    """Returns the uncompressed data. Data that would not become smaller is stored uncompressed."""
    whole = data if len(data) == size else zlib.decompress(data)
    if len(whole) != size:
        raise ValueError(f"{len(whole)} bytes instead of {size}")
    return whole


def change_times(body):
    """Returns the first and last time of a block of changes. Raises ValueError unless its time steps end there."""
    first, last = struct.unpack_from(">QQ", body)
    at = 24
    size, at = varint(body, at)
    packed, at = varint(body, at)
    _, at = varint(body, at)
    inflated(body[at:at + packed], size)  # The initial values of all signals.
    size, packed, count = struct.unpack(">QQQ", body[-24:])
    steps = inflated(body[-24 - packed:-24], size)
    at = time = 0
    for _ in range(count):
        step, at = varint(steps, at)
        time += step
    if at != size or time != last:
        raise ValueError(f"times of changes end at {time}, byte {at} of {size}; the block says {last}")
    return first, last


class Waveform:
    """A file whose blocks have all been read. Raises ValueError if the file is incomplete."""

    def __init__(self, path):
        path = pathlib.Path(path)
        data = path.read_bytes()
        self.same = []  # The blocks that are equal in two runs of a program: signals and their names.
        self.begin = self.end = None
        if pathlib.Path(str(path) + ".hier").exists():
            raise ValueError(f"{path}: it has not ended")
        at, blocks, changes = 0, 0, 0
        while at < len(data):
            kind, size = struct.unpack_from(">BQ", data, at)
            body = data[at + 9:at + 1 + size]
            if len(body) != size - 8:
                raise ValueError(f"{path}: block {blocks} of kind {kind} is cut")
            if (at == 0) != (kind == HEADER):
                raise ValueError(f"{path}: block {blocks} is of kind {kind}")
            if kind == HEADER:
                self.begin, self.end = struct.unpack_from(">QQ", body)
                sections = struct.unpack_from(">Q", body, 56)[0]
            elif kind == CHANGES:
                first, last = change_times(body)
                if first != (self.begin if changes == 0 else previous):
                    raise ValueError(f"{path}: changes from {first}")
                previous, changes = last, changes + 1
            elif kind in (GEOMETRY, *HIERARCHIES):
                self.same.append((kind, body))
            at, blocks = at + 1 + size, blocks + 1
        if changes != sections or changes == 0 or previous != self.end:
            raise ValueError(f"{path}: {changes} of {sections} blocks of changes, up to {self.end}")
        if [kind == GEOMETRY for kind, _ in self.same] != [True, False]:
            raise ValueError(f"{path}: signals and names in {len(self.same)} blocks")
