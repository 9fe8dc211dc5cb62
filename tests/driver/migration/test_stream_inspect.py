# SPDX-License-Identifier: Apache-2.0
"""Whole and damaged migration streams of the driver, read by `tern migrate inspect` and by an independent reader
(stream_reader.py).

usage: test_stream_inspect.py SAMPLE-WRITER TERN-MIGRATE
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import stream_reader  # pylint: disable=wrong-import-position

INSPECT, SAMPLE = sys.argv.pop(), sys.argv.pop()
ROOT = pathlib.Path(__file__).resolve().parents[3]


def sample(name):
    return subprocess.run([SAMPLE, name], capture_output=True, check=True).stdout


def inspect(data, *options):
    """Returns exit status and standard output. Standard error must be empty."""
    r = subprocess.run([INSPECT, "inspect", *options, "-"], input=data, capture_output=True, check=False)
    assert r.stderr == b"", r.stderr
    return r.returncode, r.stdout.decode()


def inspect_json(data):
    status, out = inspect(data, "--json")
    return status, json.loads(out)


def parts(data):
    """Returns the offsets of the header, of the records' heads and fields, and of the end."""
    offsets, at = [0], 40
    while at < len(data):
        offsets += [at, at + 32]
        at += 32 + stream_reader.r32(data, at + 4)
    return offsets + [at]


class Reader(unittest.TestCase):
    def test_example_of_the_description(self):
        text = (ROOT / "docs/migration-stream.md").read_text()
        lines = re.findall(r"^    ((?:[0-9a-f]{2} {1,2})+) +\S", text[text.index("## Example"):], flags=re.M)
        self.assertEqual(bytes.fromhex("".join(lines)), sample("example"))
        header, records = stream_reader.read(sample("example"))
        self.assertEqual((header["interface"], header["migration"]), (0x12345678, 0x0123456789ABCDEF))
        self.assertEqual(records, [(16, False, {"engines": 2, "name": "small"}),
                                   (3, False, {"memory": 7, "first": 300, "count": 2, "encoding": 2}),
                                   (999, True, {"future": [1, 1000], "data": b"\1\2\3"})])

    def test_types_are_those_of_the_description(self):
        text = (ROOT / "docs/migration-stream.md").read_text()
        table = re.findall(r"^\| (\w+) \| (\d+) \|", text[text.index("## Records of the stream"):], flags=re.M)
        header = (ROOT / "driver/migration/format/stream.h").read_text()
        known = {(name, number) for number, name in re.findall(r"X\(\w+, (\d+), \"(\w+)\"\)", header)}
        self.assertGreater(len(table), 2)
        self.assertLessEqual(set(table), known)

    def test_fields_are_those_of_the_description(self):
        """The description has all fields that the driver and ternd put into records of processes and sessions, and no
        others."""
        text = (ROOT / "docs/migration-stream.md").read_text()
        rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (number|numbers|text|bytes) \|",
                          text[text.index("## Records of processes"):text.index("## Several links")], flags=re.M)
        told = {(kind, name) for names, kind in rows for name in re.findall(r"`(\w+)`", names)}
        kinds = {"tern_put_u64": "number", "tern_put_u64s": "numbers", "tern_put_text": "text",
                 "tern_put_bytes": "bytes", "put_bytes_of": "bytes"}
        put = {(kinds[function], name) for folder in ("migration/state", "migration/session")
               for path in (ROOT / "driver" / folder).glob("*.c") for function, name in
               re.findall(r"\b(tern_put_\w+|put_bytes_of)\(\w+, \"(\w+)\"", path.read_text())}
        self.assertGreater(len(put), 50)
        self.assertEqual(told, put)

    def test_fields_of_all_kinds(self):
        _, records = stream_reader.read(sample("kinds"))
        n, k = 0, 0
        while n <= 1000:
            self.assertEqual(records[k], (25, False, {"area": bytes(i * 7 & 255 for i in range(n))}))
            n, k = n * 3 // 2 + 1, k + 1
        edges = [0, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**64 - 1]
        self.assertEqual(records[k], (21, False, {**{f"number_{i}": v for i, v in enumerate(edges)}, "numbers": edges,
                                                  "none": [], "text": 'line\n"quoted" \u20ac \U0001f426 \x1b[31m',
                                                  "empty": ""}))
        memory = {}
        for kind, _, fields in records[k + 1:]:
            self.assertEqual(kind, 3)
            stream_reader.pages(fields, memory)
        self.assertEqual(memory, {(1, 1000 + i): bytes(4096) if i % 4 == 0 else
                                  bytes(i + k + (i % 4 > 1) & 255 for k in range(4096)) for i in range(100)})

    def test_it_refuses_what_is_damaged(self):
        good = sample("example")
        for i in range(len(good)):
            with self.assertRaises((ValueError, KeyError, IndexError), msg=f"byte {i}"):
                stream_reader.read(good[:i] + bytes([good[i] ^ 1]) + good[i + 1:])


class Inspect(unittest.TestCase):
    def test_text(self):
        status, out = inspect(sample("example"))
        self.assertEqual((status, out), (0, """\
migration stream 1.0   interface 0x12345678   migration 0123456789abcdef   link 0 of 1
    offset   record type            bytes  fields
        40        0 device             53  engines=2 name="small"
        93        1 pages              67  memory=7 first=300 count=2 encoding=2
       160        2 type 999           54  future=2 [1 1000] data=3 <010203>
       214        3 end                42  records=3

type            records          bytes
device                1             53
pages                 1             67
type 999              1             54
end                   1             42
all                   4            216
pages        0 with content, in 0 bytes; 2 of zeros, 0 as before
whole        all checksums are right
"""))

    def test_what_others_wrote_does_not_reach_the_terminal(self):
        _, out = inspect(sample("kinds"))
        self.assertIn(r'text="line\u000a\"quoted\" \u20ac \ud83d\udc26 \u001b[31m"', out)
        self.assertTrue(out.isascii())
        self.assertNotIn("\x1b", out)

    def test_json_is_what_the_reader_reads(self):
        data = sample("kinds")
        status, seen = inspect_json(data)
        header, records = stream_reader.read(data)
        self.assertEqual((status, seen["whole"], seen["wrong"]), (0, True, 0))
        self.assertEqual(int(seen["header"]["migration"], 16), header["migration"])
        self.assertEqual(len(seen["records"]), len(records) + 1)
        for shown, (kind, skippable, fields) in zip(seen["records"], records):
            self.assertEqual((shown["type"], shown["skippable"]), ({25: "state", 21: "context", 3: "pages"}[kind],
                                                                   skippable))
            self.assertEqual(shown["fields"], {k: {"bytes": len(v), "hex": v[:64].hex()} if isinstance(v, bytes) else v
                                               for k, v in fields.items()})
        self.assertEqual([r["offset"] for r in seen["records"]], parts(data)[1:-1:2])
        self.assertEqual(seen["pages"], {"sent": 125, "zero": 25, "same": 50, "content_bytes": 125 * 4096})
        self.assertEqual(seen["bytes"], len(data) - 40)

    def test_bytes_damaged(self):
        """The output says where the stream is damaged, and shows the intact records."""
        good = sample("example")
        offsets = parts(good)
        for i in range(0, len(good), 7):
            status, seen = inspect_json(good[:i] + bytes([good[i] ^ 0x10]) + good[i + 1:])
            part = max(k for k, offset in enumerate(offsets) if offset <= i)
            wrong = [r for r in seen["records"] if "wrong" in r]
            self.assertEqual((status, seen["whole"], wrong[0]["offset"]), (1, False, offsets[part]), f"byte {i}")
            shown = [r["number"] for r in seen["records"] if r.get("fields")]
            if part:
                self.assertEqual(shown, [n for n in range(4) if n != (part - 1) // 2], f"byte {i}")
            else:
                self.assertEqual(shown, [])

    def test_checksums(self):
        good = bytearray(sample("example"))
        good[72] ^= 1
        _, seen = inspect_json(bytes(good))
        fields = bytes(good[72:93])
        wrong = next(r for r in seen["records"] if "wrong" in r)
        self.assertEqual((int(wrong["expected"], 16), int(wrong["found"], 16)), (0x148579C2E3D0AC8E,
                                                                                 stream_reader.xxh3(fields)))
        status, out = inspect(bytes(good))
        self.assertEqual(status, 1)
        self.assertRegex(out, r"(?m)^ +72 WRONG: the fields of record 0 \(device\) are damaged: checksum "
                              r"148579c2e3d0ac8e expected, [0-9a-f]{16} found$")

    def test_cut_off(self):
        good = sample("example")
        for n in sorted({*range(0, len(good), 17), *parts(good)[:-1]}):
            status, seen = inspect_json(good[:n])
            wrong = [r for r in seen["records"] if "wrong" in r]
            self.assertEqual((status, len(wrong), wrong[0]["offset"]), (1, 1, n))
            self.assertIn("the stream is cut off", wrong[0]["wrong"])

    def test_bytes_that_do_not_belong_there(self):
        good = sample("example")
        for data, message in ((good + b"x", "there are bytes after the last record"),
                              (good[:93] + b"x" * 50 + good[93:], "50 bytes are not understood"),
                              (good[:93] + good[160:], "the record's number is 2, after 1 records"),
                              (b"\0" * 100, "this is no migration stream")):
            status, seen = inspect_json(data)
            self.assertEqual(status, 1)
            self.assertIn(message, " ".join(r.get("wrong", "") for r in seen["records"]))

    def test_usage(self):
        for args, status, message in ((["inspect"], 2, "inspect needs a file"), (["inspect", "a", "b"], 2, "one file"),
                                      (["inspect", "--x"], 2, "unknown option '--x'"), (["x"], 2, "unknown command"),
                                      (["inspect", "/nowhere"], 1, "/nowhere: No such file"),
                                      (["inspect", "/"], 1, "/: is a directory, and a file is needed")):
            r = subprocess.run([INSPECT, *args], capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, status)
            self.assertIn(message, r.stderr)
        with open("/dev/full", "w") as full:
            r = subprocess.run([INSPECT, "inspect", "-"], input=sample("example"), stdout=full, stderr=subprocess.PIPE,
                               check=False)
        self.assertEqual((r.returncode, b"No space left" in r.stderr), (1, True))


if __name__ == "__main__":
    unittest.main()
