# SPDX-License-Identifier: Apache-2.0
"""A reader of migration streams, written only from docs/migration-stream.md, with Python's standard library."""
import struct

M64 = (1 << 64) - 1
P32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
P64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def r32(b, at):
    return int.from_bytes(b[at:at + 4], "little")


def r64(b, at):
    return int.from_bytes(b[at:at + 8], "little")


def fold(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def avalanche(h):
    h = (h & M64) ^ (h & M64) >> 37
    h = h * 0x165667919E3779F9 & M64
    return h ^ h >> 32


def avalanche64(h):
    h = (h ^ h >> 33) * P64[1] & M64
    h = (h ^ h >> 29) * P64[2] & M64
    return h ^ h >> 32


def mix(b, at, secret):
    return fold(r64(b, at) ^ r64(SECRET, secret), r64(b, at + 8) ^ r64(SECRET, secret + 8))


def xxh3_short(b):
    n = len(b)
    if n == 0:
        return avalanche64(r64(SECRET, 56) ^ r64(SECRET, 64))
    if n < 4:
        return avalanche64((b[0] << 16 | b[n >> 1] << 24 | b[-1] | n << 8) ^ r32(SECRET, 0) ^ r32(SECRET, 4))
    if n < 9:
        h = (r32(b, n - 4) + (r32(b, 0) << 32)) ^ r64(SECRET, 8) ^ r64(SECRET, 16)
        h ^= (h << 49 | h >> 15) & M64 ^ (h << 24 | h >> 40) & M64
        h = h * 0x9FB21C651E98DF25 & M64
        h = (h ^ (h >> 35) + n) * 0x9FB21C651E98DF25 & M64
        return h ^ h >> 28
    low = r64(b, 0) ^ r64(SECRET, 24) ^ r64(SECRET, 32)
    high = r64(b, n - 8) ^ r64(SECRET, 40) ^ r64(SECRET, 48)
    return avalanche(n + int.from_bytes(low.to_bytes(8, "big"), "little") + high + fold(low, high))


def xxh3_middle(b):
    n = len(b)
    h = n * P64[0]
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            h += mix(b, 16 * i, 32 * i) + mix(b, n - 16 * i - 16, 32 * i + 16)
        return avalanche(h)
    h = avalanche(h + sum(mix(b, 16 * i, 16 * i) for i in range(8)))
    h += sum(mix(b, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
    return avalanche(h + mix(b, n - 16, 136 - 17))


def accumulate(acc, b, at, secret):
    words = struct.unpack_from("<8Q", b, at)
    keys = struct.unpack_from("<8Q", SECRET, secret)
    for i in range(8):
        key = words[i] ^ keys[i]
        acc[i ^ 1] += words[i]
        acc[i] += (key & 0xFFFFFFFF) * (key >> 32)


def xxh3(b):
    """Returns XXH3-64 with seed 0."""
    n = len(b)
    if n <= 240:
        return xxh3_short(b) if n <= 16 else xxh3_middle(b)
    acc = [P32[2], P64[0], P64[1], P64[2], P64[3], P32[1], P64[4], P32[0]]
    keys = struct.unpack_from("<8Q", SECRET, 128)
    for stripe in range((n - 1) // 64):
        accumulate(acc, b, 64 * stripe, stripe % 16 * 8)
        if stripe % 16 == 15:
            acc = [((a & M64) ^ (a & M64) >> 47 ^ k) * P32[0] & M64 for a, k in zip(acc, keys)]
    accumulate(acc, b, n - 64, 128 - 7)
    acc = [a & M64 for a in acc]
    return avalanche(n * P64[0] + sum(fold(acc[2 * i] ^ r64(SECRET, 11 + 16 * i),
                                           acc[2 * i + 1] ^ r64(SECRET, 19 + 16 * i)) for i in range(4)))


def item(b, at):
    """Returns the CBOR item at an offset, and the offset behind it."""
    kind, more = b[at] >> 5, b[at] & 31
    at += 1
    value = more
    if more >= 24:
        if more > 27:
            raise ValueError("a length is not definite")
        value = int.from_bytes(b[at:at + (1 << more - 24)], "big")
        at += 1 << more - 24
    if kind == 0:
        return value, at
    if kind in (2, 3):
        data = b[at:at + value]
        if len(data) != value:
            raise ValueError("a string ends after the record")
        return (bytes(data) if kind == 2 else data.decode()), at + value
    if kind == 4:
        values = []
        for _ in range(value):
            one, at = item(b, at)
            values.append(one)
        return values, at
    if kind == 5:
        pairs = {}
        for _ in range(value):
            key, at = item(b, at)
            pairs[key], at = item(b, at)
        return pairs, at
    raise ValueError(f"CBOR's major type {kind}")


def want(condition, what):
    if not condition:
        raise ValueError(what)


def read(b):
    """Reads a link. Returns the header's values, and (type, skippable, fields) of each record but the last."""
    want(b[:8] == b"\x89TERN\r\n\x1a", "magic")
    header = dict(zip(("major", "minor", "interface", "migration", "next", "link", "links", "check"),
                      struct.unpack_from("<HHIQQHHI", b, 8)))
    want(header["check"] == xxh3(b[:36]) & 0xFFFFFFFF, "checksum of the header")
    want(header["major"] == 1 and header["link"] < header["links"] <= 16, "header")
    at, records = 40, []
    while True:
        want(len(b) - at >= 32, "cut off")
        kind, flags, length, number, check, zero, own = struct.unpack_from("<HHIQQII", b, at)
        want(own == xxh3(b[at:at + 28]) & 0xFFFFFFFF, "checksum of a head")
        want(flags <= 1 and zero == 0 and length <= 16 << 20 and number == len(records) + header["next"], "head")
        fields = b[at + 32:at + 32 + length]
        want(len(fields) == length, "cut off")
        want(check == xxh3(fields), f"checksum of record {number}")
        values, end = item(fields, 0)
        want(end == length and isinstance(values, dict), "fields")
        at += 32 + length
        if kind == 1:
            want(values["records"] == number and at == len(b), "end")
            return header, records
        records.append((kind, flags == 1, values))


def pages(fields, memory):
    """Applies a `pages` record to memory, a dictionary from (memory, page) to bytes. Knows encodings 0 and 2."""
    def bit(name, i):
        return name in fields and fields[name][i // 8] >> i % 8 & 1
    at = 0
    for i in range(fields["count"]):
        if fields["encoding"] == 2 or bit("zero", i):
            memory[fields["memory"], fields["first"] + i] = bytes(4096)
        elif not bit("same", i):
            memory[fields["memory"], fields["first"] + i] = fields["content"][at:at + 4096]
            at += 4096
    want(at == len(fields.get("content", b"")), "content")
