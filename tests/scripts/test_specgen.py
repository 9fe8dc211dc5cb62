# SPDX-License-Identifier: Apache-2.0
"""specgen: output matches the tree, drift is found, and each kind of bad input is reported at its line."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# file, text to replace (its first occurrence marks the line), replacement, part of the message
BAD = [
    ("registers.yaml", "offset: 0x004, access: ro", "offset: 0x000, access: ro", "already belongs to dev.id"),
    ("registers.yaml", "offset: 0x004, access: ro", "offset: 0x006, access: ro", "not a multiple of 4"),
    ("registers.yaml", "offset: 0x004, access: ro", "offset: 0x004, access: rx", "access must be"),
    ("registers.yaml", "{name: version, ", "{name: ctrl, ", "CTRL"),
    ("registers.yaml", 'bits: "15:8",  doc: "Warps', 'bits: "15:7",  doc: "Warps', "overlaps"),
    ("registers.yaml", 'bits: "15:8",  doc: "Warps', 'bits: "8:15",  doc: "Warps', "do not fit"),
    ("registers.yaml", "    stride: 0x400", "    stride: 0x80", "already belongs"),
    ("packets.yaml", "opcode: 0x02", "opcode: 0x01", "already belongs to dispatch"),
    ("packets.yaml", "opcode: 0x03", "opcode: 0x103", "must be a number from 0 to 255"),
    ("packets.yaml", "{name: args,         word: 2,", "{name: args,         word: 1,", "overlaps"),
    ("packets.yaml", "{name: args,         word: 2,", "{name: args,         wrd: 2,", "unknown key 'wrd'"),
    ("packets.yaml", "{name: args,         word: 2,", "{name: Args,         word: 2,", "is no name"),
    ("packets.yaml", "word: 16, words: 16,    doc", "word: 17, words: 16,    doc", "words must be"),
    ("packets.yaml", "  - name: copy\n", "  - name: [copy\n", ""),
    ("faults.yaml", "code: 2, ", "code: 1, ", "already belongs to page"),
    ("simt.yaml", "number: 0x002", "number: 0x001", "already belongs to fflags"),
    ("context.yaml", "enum: {empty: 0, saved: 1}", "enum: {empty: 0, saved: 9}", "does not fit"),
    ("executors/saxpy.yaml", "id: 0", "id: 1", "ids must be 0 to 0"),
    ("executors/saxpy.yaml", "name: saxpy", "name: sax", "is to be called sax.yaml"),
    ("executors/saxpy.yaml", "name: saxpy", "name: copy", "choose another"),
    ("executors/saxpy.yaml", "name: saxpy", "name: on", "is no name"),
    ("executors/saxpy.yaml", "version: 1.0.0", "version: 1.0", "major.minor.patch"),
    ("executors/saxpy.yaml", "type: float, ", "type: float3, ", "type must be"),
    ("executors/saxpy.yaml", '"const float*", word: 2', '"const float*", word: 1', "already belongs to a"),
    ("executors/saxpy.yaml", "word: 0, from: global_x", "word: 16, from: global_x", "must be a number from 0 to 15"),
    ("executors/saxpy.yaml", "from: global_x", "from: local_x", "from must be one of"),
    ("executors/saxpy.yaml", "{name: n, ", "{name: a, ", "used twice"),
]


def specgen(*args):
    return subprocess.run([str(ROOT / "scripts/specgen"), *args], capture_output=True, text=True, check=False)


class Specgen(unittest.TestCase):
    def test_committed_output_is_current(self):
        r = specgen("--check")
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_drift_is_found(self):
        with tempfile.TemporaryDirectory() as d:
            self.assertEqual(specgen("--out", d).returncode, 0)
            self.assertEqual(specgen("--check", "--out", d).returncode, 0)
            path = pathlib.Path(d) / "docs/spec/c/tern/tern_hw.h"
            path.write_text(path.read_text().replace("0x1000u", "0x1004u", 1))
            r = specgen("--check", "--out", d)
            self.assertEqual(r.returncode, 1)
            self.assertIn("docs/spec/c/tern/tern_hw.h", r.stderr)

    def test_bad_input_fails_at_its_line(self):
        for name, old, new, message in BAD:
            with self.subTest(file=name, new=new), tempfile.TemporaryDirectory() as d:
                spec = pathlib.Path(d) / "spec"
                shutil.copytree(ROOT / "docs/spec", spec)
                text = (spec / name).read_text()
                self.assertIn(old, text)
                line = text[:text.index(old)].count("\n") + 1
                (spec / name).write_text(text.replace(old, new, 1))
                r = specgen("--spec", str(spec), "--out", d)
                self.assertEqual(r.returncode, 2, r.stdout + r.stderr)
                where, said = r.stderr.split(": ", 1)
                self.assertIn(message, said)
                path, reported = where.rsplit(":", 1)
                self.assertEqual(pathlib.Path(path).name, pathlib.Path(name).name)
                if message and "stride" not in new:
                    self.assertEqual(int(reported), line, r.stderr)

    def test_a_missing_key_is_named(self):
        with tempfile.TemporaryDirectory() as d:
            spec = pathlib.Path(d) / "spec"
            shutil.copytree(ROOT / "docs/spec", spec)
            text = (spec / "faults.yaml").read_text()
            (spec / "faults.yaml").write_text(text.replace('code: 2,  text: "access that the page does not allow"',
                                                           "code: 2", 1))
            r = specgen("--spec", str(spec), "--out", d)
            self.assertEqual(r.returncode, 2)
            self.assertIn("'text' is missing", r.stderr)


if __name__ == "__main__":
    unittest.main()
