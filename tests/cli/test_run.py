# SPDX-License-Identifier: Apache-2.0
"""tern run on the functional model: every kind of argument, the output, and every wrong usage. test_asm: words, names
and branch targets are those that llvm-objdump finds in the same program binary, and Tern's own instructions have names;
program binaries are damaged."""
import json
import math
import pathlib
import random
import re
import struct
import subprocess
import unittest

from cli import Case

SCALE = ("kernel void scale(global float *y, global const float *x, float a) "
         "{ int i = get_global_id(0); y[i] = a * x[i]; }\n")
SHIFT = "kernel void shift(global int *x, int by) { x[get_global_id(0)] += by; }\n"


def printed(out):
    """Returns the values of the one printed buffer, on one line or on lines that begin with an index."""
    return " ".join(re.sub(r"^\w+: \S+\]( =)?|^ +\d+:", "", out, flags=re.M).split())


class Tools(Case):
    """A part of the compiler is missing: the message names it, and where it was searched."""

    def refused(self, message, **env):
        self.file("scale.cl", SCALE)
        return self.fails(1, message, "run", "scale.cl", "--global", 1, "1", "2", "3", TERN_CACHE="0", **env)

    def test_no_clang(self):
        self.refused("there is neither clang-19 nor clang in /nowhere", TERN_LLVM_DIR="/nowhere")

    def test_no_linker(self):
        (self.folder / "clang").symlink_to("/usr/bin/clang-19")
        self.refused(f"there is neither ld.lld-19 nor ld.lld in {self.folder}", TERN_LLVM_DIR=str(self.folder))

    def test_linker_crashes(self):
        (self.folder / "clang").symlink_to("/usr/bin/clang-19")
        self.file("ld.lld", "#!/bin/sh\nkill -SEGV $$\n").chmod(0o700)
        self.refused("ld.lld-19 crashed (signal 11)", TERN_LLVM_DIR=str(self.folder))

    def test_not_in_path(self):
        self.file("scale.cl", SCALE)
        self.assertEqual(printed(self.works("run", "scale.cl", "--global", 1, "1", "2", "3", TERN_CACHE="0",
                                            PATH="/nowhere")), "6")


class Values(Case):
    """copy.cl copies its arguments, so the output must equal the input."""

    def through(self, kind, text, *options):
        """Returns the text as which a buffer of this type is printed after it was on the device."""
        self.file("copy.cl", f"kernel void copy(global {kind} *x) {{ }}")
        return printed(self.works("run", "copy.cl", "--global", 1, "--print", "x", *options, text))

    def test_integers_to_their_bounds(self):
        bounds = {"char": (-128, 127), "uchar": (0, 255), "short": (-32768, 32767), "ushort": (0, 65535),
                  "int": (-2**31, 2**31 - 1), "uint": (0, 2**32 - 1), "long": (-2**63, 2**63 - 1),
                  "ulong": (0, 2**64 - 1)}
        for kind, (low, high) in bounds.items():
            self.assertEqual(self.through(kind, f"{low},{high},0x1f,010,+3"), f"{low} {high} 31 10 3")
            for wrong in (low - 1, high + 1, 2**70):
                self.fails(2, f"argument 1 'x' is {kind}*; got '{wrong}', but it holds {low} to {high}\n",
                           "run", "copy.cl", "--global", 1, f"{wrong}")

    def test_floating(self):
        same = "0 -0 1 -1.5 0.1 10 1e-20 1e+30 inf -inf nan"
        self.assertEqual(self.through("float", same), same)
        self.assertEqual(self.through("double", same + " 1e+300 0.1"), same + " 1e+300 0.1")
        self.assertEqual(self.through("half", "1 0.1 -2.5 65504 6e-08"), "1 0.1 -2.5 65504 6e-08")
        self.assertEqual(self.through("float", "0x1p-3,16777217,3.14159265358979"), "0.125 16777216 3.1415927")
        for kind, wrong in ("float", "1e39"), ("half", "65536"), ("double", "1e309"):
            self.through(kind, "1")
            self.fails(2, f"got '{wrong}', which is too large for it", "run", "copy.cl", "--global", 1, wrong)

    def test_not_numbers(self):
        for kind in ("float", "int"):
            self.through(kind, "1")
            for wrong in ("abc", "1x", "1.5.2", "1;2", "--", "zero:4"):
                self.fails(2, f"argument 1 'x' is {kind}*; got '{wrong}", "run", "copy.cl", "--global", 1, "--", wrong)
        self.assertEqual(self.through("int", "0" * 400 + "7"), "7")
        self.fails(2, "got a number of 600 characters", "run", "copy.cl", "--global", 1, "0" * 600)
        self.fails(2, "got '1.5'\n", "run", "copy.cl", "--global", 1, "1.5")
        self.fails(2, "got ''; expected numbers, zeros:N", "run", "copy.cl", "--global", 1, "")

    def test_makers(self):
        self.assertEqual(self.through("int", "zeros:3"), "0 0 0")
        self.assertEqual(self.through("int", "iota:4"), "0 1 2 3")
        self.assertEqual(self.through("float", "fill:-1.5:3"), "-1.5 -1.5 -1.5")
        self.assertEqual(self.through("uchar", "iota:258", "--print", "x").split()[-2:], ["0", "1"])
        self.assertEqual(self.through("int", "-3"), "-3")

    def test_counts(self):
        for text, elements in ("1K", 1024), ("0x10", 16), ("2M", 2 << 20):
            r = json.loads(self.works_json("zeros:" + text))
            self.assertEqual(r["buffers"][0]["elements"], elements)
        for wrong in ("zeros:", "zeros:x", "zeros:-1", "zeros:1.5", "zeros:1T", "iota:4:4", "fill:3", "fill:1:",
                      "random:4:x", "bytes:x", "zeros:99999999999999999999", "zeros:99999999999999G"):
            self.fails(2, "; got '" + wrong + "'; expected ", "run", "copy.cl", "--global", 1, wrong)
        for wrong in ("zeros:0", "bytes:0"):
            self.fails(2, "give at least 1", "run", "copy.cl", "--global", 1, wrong)

    def works_json(self, text):
        self.file("copy.cl", "kernel void copy(global int *x) { }")
        return self.works("run", "copy.cl", "--global", 1, "--json", text)

    def test_random(self):
        self.assertEqual(self.through("float", "random:9:7"), self.through("float", "random:9:7"))
        self.assertEqual(self.through("float", "random:9"), self.through("float", "random:9:1"))
        self.assertNotEqual(self.through("float", "random:9:7"), self.through("float", "random:9:8"))
        whole = json.loads(self.works_json("random:4K:3"))
        self.assertTrue(any(v < 0 for v in whole["buffers"][0]["values"]))
        self.file("two.cl", "kernel void two(global int *x, global int *y) { }")
        x, y = json.loads(self.works("run", "two.cl", "--global", 1, "--json", "random:8", "random:8"))["buffers"]
        self.assertNotEqual(x["values"], y["values"])

    def test_random_is_even(self):
        self.file("copy.cl", "kernel void copy(global float *x) { }")
        self.works("run", "copy.cl", "--global", 1, "--quiet", "--save", "x=x.bin", "random:64K")
        values = struct.unpack("<65536f", (self.folder / "x.bin").read_bytes())
        self.assertTrue(all(0 <= v < 1 for v in values))
        self.assertAlmostEqual(sum(values) / len(values), 0.5, delta=0.01)
        self.assertAlmostEqual(math.sqrt(sum((v - 0.5) ** 2 for v in values) / len(values)), 12 ** -0.5, delta=0.01)

    def test_vectors(self):
        self.assertEqual(self.through("int2", "1,2,3,4"), "(1,2) (3,4)")
        self.assertEqual(self.through("float3", "1,2,3 4,5,6"), "(1,2,3) (4,5,6)")
        self.assertEqual(self.through("uchar4", "fill:7:2"), "(7,7,7,7) (7,7,7,7)")
        self.assertEqual(self.through("short2", "fill:1,-2:2"), "(1,-2) (1,-2)")
        self.assertEqual(self.through("int3", "iota:2"), "(0,1,2) (3,4,5)")
        self.assertEqual(self.through("float16", "iota:1"), "(" + ",".join(map(str, range(16))) + ")")
        self.fails(2, "got 3 numbers, expected a multiple of 16", "run", "copy.cl", "--global", 1, "1,2,3")
        self.fails(2, "got 3 numbers, expected 1 or 16", "run", "copy.cl", "--global", 1, "fill:1,2,3:4")

    def test_scalars_and_vectors_by_value(self):
        self.file("v.cl", "kernel void v(global int *y, char c, ulong u, int3 t, uchar4 q, double d, float4 f)"
                          "{ y[0] = c; y[1] = u >> 40; y[2] = t.z; y[3] = q.w; y[4] = d * 4; y[5] = f.s3; }")
        self.assertEqual(self.works("run", "v.cl", "--global", 1, "zeros:6", "-5", "0xff0000000000", "1,2,3", "9",
                                    "2.25", "1,2,3,4"),
                         "y: int[6] = -5 255 3 9 9 4\n")
        good = ["zeros:6", "-5", "1", "1,2,3", "9", "2.25", "1,2,3,4"]
        for i, text, message in ((1, "1,2", "argument 2 'c' is char; got 2 numbers, expected 1"),
                                 (1, "", "argument 2 'c' is char; got ''"),
                                 (1, "null", "argument 2 'c' is char; got 'null'"),
                                 (3, "1,2", "argument 4 't' is int3; got 2 numbers, expected 1 or 3"),
                                 (5, "pi", "argument 6 'd' is double; got 'pi'"),
                                 (6, "local:64", "argument 7 'f' is float4; got 'local:64', but it does not point "
                                  "to local memory"),
                                 (2, "iota:4", "argument 3 'u' is ulong; got 'iota:4'"),
                                 (6, "hex:00", "argument 7 'f' is float4; got 1 bytes, expected a multiple of 16")):
            args = good[:i] + [text] + good[i + 1:]
            self.fails(2, message, "run", "v.cl", "--global", 1, *args)
        self.fails(2, "32 bytes are not its size", "run", "v.cl", "--global", 1, *good[:6], "bytes:32")

    def test_bytes(self):
        self.file("in.bin", struct.pack("<4i", 1, -2, 3, 4))
        self.assertEqual(self.through("int", "@in.bin"), "1 -2 3 4")
        self.assertEqual(self.through("short", "hex:0100FFff"), "1 -1")
        self.assertEqual(self.through("int", "bytes:8"), "0 0")
        self.assertEqual(self.works("run", "copy.cl", "--global", 1, "@-", stdin=struct.pack("<2i", 8, 9)),
                         "x: int[2] = 8 9\n")
        self.file("odd.bin", b"12345")
        self.file("empty.bin", b"")
        for text, message in (("@odd.bin", "got 5 bytes, expected a multiple of 4"),
                              ("@empty.bin", "'empty.bin' is empty"), ("hex:123", "two hexadecimal digits a byte"),
                              ("hex:zz", "two hexadecimal digits a byte"), ("hex:", "two hexadecimal digits a byte")):
            self.fails(2, message, "run", "copy.cl", "--global", 1, text)
        self.fails(1, "tern run: absent.bin: No such file or directory", "run", "copy.cl", "--global", 1, "@absent.bin")
        self.fails(1, "tern run: .: is a directory", "run", "copy.cl", "--global", 1, "@.")

    def test_structures(self):
        self.file("p.cl", "struct p { int id; float w; };\nkernel void move(global struct p *x, struct p d) { x[0].id "
                  "+= d.id; x[0].w = d.w; }")
        self.assertEqual(self.works("run", "p.cl", "--global", 1, "hex:0100000000000000", "hex:100000000000803f"),
                         "x: struct p, 8 bytes = 11 00 00 00 00 00 80 3f\n")
        self.assertEqual(self.works("run", "p.cl", "--global", 1, "--type", "struct p=uint2", "1,2", "3,4"),
                         "x: struct p[1] = (4,4)\n")
        self.fails(2, "what 'struct p' is made of is not known here: give @FILE, hex:DIGITS or bytes:N, or --type "
                   "struct p=TYPE", "run", "p.cl", "--global", 1, "zeros:1", "bytes:8")
        self.fails(2, "argument 2 'd' is struct p; 4 bytes are not its size", "run", "p.cl", "--global", 1, "bytes:8",
                   "bytes:4")
        r = json.loads(self.works("run", "p.cl", "--global", 1, "--json", "bytes:8", "hex:1000000000000000"))
        self.assertEqual(r["buffers"], [{"name": "x", "type": "struct p", "bytes": 8, "hex": "1000000000000000"}])

    def test_type_names(self):
        self.file("t.cl", "typedef float real; kernel void t(global real *x, real a) { x[get_global_id(0)] *= a; }")
        self.fails(2, "argument 1 'x' is real*; got 'iota:4', but what 'real' is made of is not known here",
                   "run", "t.cl", "--global", 4, "iota:4", "2")
        self.assertEqual(self.works("run", "t.cl", "--global", 4, "--type", "real=float", "iota:4", "2.5"),
                         "x: real[4] = 0 2.5 5 7.5\n")
        self.fails(2, "--type takes NAME=TYPE", "run", "t.cl", "--type", "real")
        self.fails(2, "--type takes NAME=TYPE", "run", "t.cl", "--type", "real=flout")

    def test_local_constant_and_null(self):
        self.file("l.cl", "kernel void l(global int *y, constant int *c, local int *t, global int *n) {"
                          " int i = get_local_id(0); t[i] = c[i]; barrier(CLK_LOCAL_MEM_FENCE); y[i] = t[3 - i] "
                          "+ (n == 0); }")
        run = ["run", "l.cl", "--global", 4, "--local", 4]
        self.assertEqual(self.works(*run, "zeros:4", "10,20,30,40", "local:16", "null"), "y: int[4] = 41 31 21 11\n")
        self.fails(2, "argument 3 't' is int*; got 'zeros:4'; expected local:BYTES", *run, "zeros:4", "zeros:4",
                   "zeros:4", "null")
        self.fails(2, "expected local:BYTES", *run, "zeros:4", "zeros:4", "local:0", "null")
        self.fails(2, "does not point to local memory", *run, "local:16", "zeros:4", "local:16", "null")
        self.fails(1, "1048576 bytes of local memory, and the device has 65536", *run, "zeros:4", "zeros:4",
                   "local:1M", "null")
        self.fails(1, "bytes of local memory, and the device has 65536\n", "run", self.file(
            "big.cl", "kernel void big(global int *x, local int *a, local int *b) { x[0] = a[0] + b[0]; }"),
            "--global", 1, "zeros:1", "local:48K", "local:48K")


class Runs(Case):
    def setUp(self):
        super().setUp()
        self.file("scale.cl", SCALE)
        self.file("shift.cl", SHIFT)

    def test_sizes(self):
        self.file("ids.cl", "kernel void ids(global int *x) { size_t g = get_global_linear_id(); x[g] = "
                            "get_global_id(0) + 10 * get_global_id(1) + 100 * get_global_id(2) + 1000 * "
                            "get_local_size(0); }")
        run = ["run", "ids.cl", "-cl-std=CL3.0", "--print", "x", "zeros:12"]
        self.assertEqual([int(v) % 1000
                          for v in printed(self.works(*run, "--global", "2,3,2", "--local", "2,1,1")).split()],
                         [x + 10 * y + 100 * z for z in range(2) for y in range(3) for x in range(2)])
        out = self.works("run", "ids.cl", "--global", 4, "--local", 2, "--print", 1, "-cl-std=CL3.0", "--offset", 5,
                         "zeros:4")
        self.assertEqual(out, "x: int[4] = 2005 2006 2007 2008\n")
        for option in ("--global", "--local", "--offset"):
            for wrong in ("", "x", "1,2,3,4", "1,", "-1", "1;2", "99999999999999999999"):
                self.fails(2, f"{option} takes one to three sizes", *run, option, wrong)
            self.fails(2, f"{option} needs a value", *run, option)
        self.fails(2, "--local has 2 sizes, --global has 1", *run, "--global", 8, "--local", "2,2")
        self.fails(2, "--offset has 1 sizes, --global has 2", *run, "--global", "8,1", "--offset", "2")
        self.fails(2, "--global is missing", *run)
        self.fails(1, "a group has at most 1024", *run, "--global", 2048, "--local", 2048)
        self.file("meet.cl", "kernel void meet(global int *x) {"
                  " x[get_global_id(0)] = 1; barrier(CLK_GLOBAL_MEM_FENCE); x[get_global_id(0)] += get_local_id(0); }")
        out = self.works("run", "meet.cl", "--global", 1024, "--local", 512, "--print", "x:2", "--quiet", "zeros:1024")
        self.assertEqual(out, "x: int[1024] = 1 2 ...\n")
        self.fails(1, "cannot run in groups of 1021x1x1 work-items, because", "run", "meet.cl", "--global", 1021,
                   "--local", 1021, "zeros:1021")
        self.fails(1, "groups must divide --global", "run", "shift.cl", "--global", 10, "--local", 4, "zeros:10", 1)
        self.fails(1, "ids must fit in 32 bits", *run, "--global", 2**40)
        self.file("req.cl", "kernel __attribute__((reqd_work_group_size(4,2,1))) void req(global int *x) { x[0] = 1; }")
        self.fails(1, "requires 4,2,1", "run", "req.cl", "--global", "8,8", "--local", "8,8", "zeros:1")

    def test_choosing_a_kernel(self):
        self.file("two.cl", SCALE + SHIFT)
        self.assertEqual(self.works("run", "two.cl", "--list"),
                         "scale(global float *y, global const float *x, float a)\nshift(global int *x, int by)\n")
        self.assertEqual(self.works("run", "two.cl", "--kernel", "shift", "--global", 2, "1,2", 3), "x: int[2] = 4 5\n")
        self.assertEqual(self.works("run", "two.cl", "--kernel=shift", "--global=2", "1,2", "-3"),
                         "x: int[2] = -2 -1\n")
        self.fails(2, "has several kernels; choose one with --kernel: scale, shift", "run", "two.cl", "--global", 2)
        self.fails(2, "two.cl has no kernel 'spin'; it has: scale, shift", "run", "two.cl", "--kernel", "spin")
        self.fails(1, "none.cl has no kernels", "run", self.file("none.cl", "int f(int x) { return x; }"))

    def test_argument_count(self):
        for args, given in ([], 0), (["zeros:4"], 1), (["zeros:4", "zeros:4", 1, 2], 4):
            self.fails(2, f"kernel 'scale' takes 3 arguments, {given} given: scale(global float *y, global const "
                       f"float *x, float a)", "run", "scale.cl", "--global", 4, *args)
        self.assertEqual(self.works("run", self.file("n.cl", "kernel void n() { }"), "--global", 1), "")
        self.fails(2, "kernel 'n' takes 0 arguments, 1 given: n()", "run", "n.cl", "--global", 1, 3)

    def test_output(self):
        run = ["run", "scale.cl", "--global", 16, "zeros:16", "iota:16", 2]
        self.assertEqual(self.works(*run), "y: float[16] = 0 2 4 6 8 10 12 14 ...\n")
        self.assertEqual(self.works(*run, "--quiet"), "")
        self.assertEqual(self.works(*run, "--print", "y"), "y: float[16]\n       0: 0 2 4 6 8 10 12 14\n       8: 16 "
                         "18 20 22 24 26 28 30\n")
        self.assertEqual(self.works(*run, "--quiet", "--print", "x:2", "--print", "1:1"),
                         "y: float[16] = 0 ...\nx: float[16] = 0 1 ...\n")
        for wrong, message in (("z", "has no argument 'z'; it has y, x, a"), ("4", "has no argument '4'"),
                               ("0", "has no argument '0'"), ("", "has no argument ''"),
                               ("a", "argument 3 'a' is no buffer"), ("y:", "--print takes ARG or ARG:COUNT"),
                               ("y:0", "--print takes ARG or ARG:COUNT"), ("y:3x", "--print takes ARG or ARG:COUNT")):
            self.fails(2, message, *run, "--print", wrong)
        self.fails(2, "--save takes ARG=FILE; got 'y'", *run, "--save", "y")
        self.fails(2, "has no argument 'z'", *run, "--save", "z=f")

    def test_saving(self):
        run = ["run", "scale.cl", "--global", 4, "zeros:4", "iota:4", 0.5, "--quiet"]
        want = struct.pack("<4f", 0, 0.5, 1, 1.5)
        self.assertEqual(self.works(*run, "--save", "y=out.bin"), "")
        self.assertEqual((self.folder / "out.bin").read_bytes(), want)
        self.assertEqual(self.tern(*run, "--save", "1=-").bytes, want)
        self.fails(1, "tern run: no/such/folder: No such file or directory", *run, "--save", "y=no/such/folder")
        self.fails(1, "No space left on device", *run, "--save", "y=/dev/full")

    def test_json(self):
        r = json.loads(self.works("run", "scale.cl", "--global", "8", "--local", 4, "--json", "--repeat", 3, "zeros:8",
                                  "iota:8", "inf"))
        self.assertEqual((r["kernel"], r["file"], r["global"], r["local"], r["offset"]),
                         ("scale", "scale.cl", [8], [4], None))
        self.assertEqual((r["config"]["backend"], r["config"]["name"], r["config"]["lanes"]), ("model", "default", 16))
        self.assertEqual(len(r["runs"]), 3)
        for run in r["runs"]:
            self.assertGreater(run["cycles"], 0)
            self.assertGreater(run["seconds"], 0)
            self.assertEqual(run["thread_instructions"] % 8, 0)
            self.assertGreater(run["thread_instructions"], 8)
            self.assertEqual(run["counters"]["lanes_active"], run["thread_instructions"])
        s = r["scheduler"]
        self.assertEqual((s["submitted"], s["completed"], s["aborted"]), (3, 3, 0))
        self.assertEqual(s["cycles"] >= sum(run["cycles"] for run in r["runs"]) - 3, True)
        y, = r["buffers"]
        self.assertEqual((y["name"], y["type"], y["bytes"], y["elements"]), ("y", "float", 32, 8))
        self.assertEqual(y["values"], ["nan"] + ["inf"] * 7)
        big = json.loads(self.works("run", self.file("l.cl", "kernel void l(global ulong2 *x) {}"), "--global",
                                    1, "--json", f"{2**64 - 1},3"))
        self.assertEqual(big["buffers"][0]["values"], [[2**64 - 1, 3]])

    def test_options_that_would_be_ignored(self):
        """Options without a meaning are refused by name before anything is built."""
        save = ["--save-binary", "x.bin"]
        for option, *args in (("--global", "--global", 1), ("--local", "--local", 1), ("--offset", "--offset", 1),
                              ("an ARG", "3"), ("--repeat", "--repeat", 1), ("--print", "--print", 1),
                              ("--save", "--save", "1=x"), ("--time", "--time"), ("--quiet", "--quiet"),
                              ("--type", "--type", "t=int"), ("--kernel", "--kernel", "shift"), ("--json", "--json")):
            if option != "--json":
                self.fails(2, f"runs none; {option} has no meaning with it", "run", "no.cl", "--list", *args)
            if option not in ("--global", "an ARG"):
                self.fails(2, f"nothing runs; {option} has no meaning then", "run", "no.cl", *save, *args)
        self.fails(2, "standard output takes one thing", "run", "no.cl", "--global", 1, "--json", "--save", "1=-", "3")
        self.fails(2, "standard output takes one thing", "run", "no.cl", "--global", 1, "--save", "2=-", "--save",
                   "1=-", "3")
        self.file("shift.cl", SHIFT)
        self.works("run", "shift.cl", *save)
        for option in (["-g"], ["-D", "X=1"], ["--build-options", "-w"], ["-cl-std=CL3.0"]):
            self.fails(2, "x.bin is a program binary", "run", "x.bin", "--global", 1, *option, "1", "2")
        self.assertEqual(self.works("run", "x.bin", "--global", 1, "1", "2"), "x: int[1] = 3\n")

    def test_list_as_json(self):
        self.file("two.cl", SCALE + SHIFT + "kernel void none() {} kernel void l(local int *t, constant uint2 *c) {}")
        r = json.loads(self.works("run", "two.cl", "--list", "--json"))
        self.assertEqual(r["file"], "two.cl")
        self.assertEqual({k["name"]: [(a["name"], a["type"], a["address"]) for a in k["arguments"]]
                          for k in r["kernels"]},
                         {"scale": [("y", "float*", "global"), ("x", "float*", "global"), ("a", "float", "private")],
                          "shift": [("x", "int*", "global"), ("by", "int", "private")], "none": [],
                          "l": [("t", "int*", "local"), ("c", "uint2*", "constant")]})
        lines = self.works("run", "two.cl", "--list").splitlines()
        self.assertEqual(lines, [f"{k['name']}({', '.join(a['declaration'] for a in k['arguments'])})"
                                 for k in r["kernels"]])

    def test_what_kernels_print(self):
        self.file("p.cl", 'kernel void p(global int *x) { printf("id %d\\n", (int)get_global_id(0)); }')
        self.assertEqual(self.works("run", "p.cl", "--global", 1, "3"), "id 0\nx: int[1] = 3\n")
        r = self.tern("run", "p.cl", "--global", 1, "3", "--json")
        self.assertEqual((json.loads(r.stdout)["kernel"], r.stderr), ("p", "id 0\n"))
        r = self.tern("run", "p.cl", "--global", 1, "3", "--quiet", "--save", "x=-")
        self.assertEqual((r.bytes, r.stderr), (b"\3\0\0\0", "id 0\n"))

    def test_time_and_repeat(self):
        out = self.works("run", "shift.cl", "--global", 64, "zeros:64", 1, "--repeat", 5, "--time")
        self.assertIn("x: int[64] = 5 5 5 5 5 5 5 5 ...\n", out)
        self.assertRegex(out, r"\ncycles +[1-9][0-9]* \(")
        self.assertRegex(out, r"\nthread instructions +[1-9][0-9]*, 16\.0 of 16 lanes active\n")
        self.assertIn("of 5      runs", out)
        self.assertNotIn("cycles", self.works("run", "shift.cl", "--global", 64, "zeros:64", 1))
        for wrong in ("0", "-1", "x", "1.5", "9999999999"):
            self.fails(2, "--repeat takes a number from 1", "run", "shift.cl", f"--repeat={wrong}")

    def test_build_options(self):
        self.file("d.cl", '#include "n.h"\nkernel void d(global int *x) { x[0] = N; x[1] = M; }')
        (self.folder / "include").mkdir()
        self.file("include/n.h", "#ifndef M\n#define M 2\n#endif\n#define N 1\n")
        run = ["run", "d.cl", "--global", 1, "zeros:2"]
        for options in (["-I", "include"], ["-Iinclude"], ["--build-options", "-I include"]):
            self.assertEqual(self.works(*run, *options), "x: int[2] = 1 2\n")
        self.assertEqual(self.works(*run, "-Iinclude", "-DM=3", "-g", "-w", "-cl-mad-enable"), "x: int[2] = 1 3\n")
        self.assertEqual(self.works(*run, "-Iinclude", "-D", "M=(2 + 2)"), "x: int[2] = 1 4\n")
        self.file("n.h", "#define N 7\n#define M 8\n")  # This file is beside the one that includes it.
        self.assertEqual(self.works("run", self.folder / "d.cl", "--global", 1, "zeros:2"), "x: int[2] = 7 8\n")
        self.fails(1, "unknown option '-frob'", *run, "--build-options", "-frob")
        self.fails(2, "unknown option '-frob'", *run, "-frob")
        self.fails(2, "-I needs a value", *run, "-I")

    def test_build_errors_name_the_file(self):
        self.file("bad.cl", "kernel void f(global int *x)\n{\n    x[0] = y;\n}\n")
        message = self.fails(1, "bad.cl:3:12: error: use of undeclared identifier 'y'", "run", "bad.cl", "--global", 1)
        self.assertIn("CL_BUILD_PROGRAM_FAILURE", message)
        self.file('a "b\\.cl', "kernel void f() { int x = y; }")
        self.fails(1, "undeclared identifier 'y'", "run", 'a "b\\.cl', "--global", 1)
        self.assertIn("warning", self.tern("run", self.file("w.cl", "#warning look\nkernel void w() { }"), "--global",
                                           1).stderr)

    def test_files(self):
        self.fails(2, "no FILE is given", "run")
        self.fails(1, "tern run: absent.cl: No such file or directory", "run", "absent.cl")
        self.fails(1, "is a directory", "run", self.folder)
        self.fails(1, "is empty", "run", self.file("empty.cl", ""))
        self.fails(1, "neither SPIR-V nor a program binary of this version of Tern", "run",
                   self.file("noise.bin", b"\0\1\2\3" * 100))
        for text, line in ((b"\0", 1), (SHIFT.encode() + b"\0", SHIFT.count("\n") + 1), (b"// a\n\n/* \0 */\n", 3)):
            self.fails(1, f"tern run: nul.cl:{line}: there is a NUL byte, which no source text has", "run",
                       self.file("nul.cl", text).name)
        self.assertEqual(self.works("run", "-", "--global", 1, "5", 1, stdin=SHIFT.encode()), "x: int[1] = 6\n")

    def test_binaries(self):
        self.assertEqual(self.works("run", "shift.cl", "--save-binary", "shift.bin"), "")
        self.assertEqual(self.works("run", "shift.bin", "--global", 2, "iota:2", 5, TERN_CACHE="0"),
                         "x: int[2] = 5 6\n")
        self.assertEqual(self.works("run", "shift.bin", "--list"), "shift(global int *x, int by)\n")
        binary = (self.folder / "shift.bin").read_bytes()
        self.fails(1, "tern run: ", "run", self.file("cut.bin", binary[:len(binary) // 2]), "--list")
        self.fails(1, "No such file", "run", "shift.cl", "--save-binary", "no/such")

    def test_spirv(self):
        """A module runs as a source does. Arguments have numbers, because this module has no names."""
        text = pathlib.Path(__file__).resolve().parents[1] / "opencl/il/constants.spvasm"
        module = self.folder / "constants.spv"
        subprocess.run(["spirv-as", "--target-env", "spv1.0", text, "-o", module], check=True)
        self.assertEqual(self.works("run", module, "--list"), "values(global int *1)\n")
        self.assertEqual(self.works("run", module, "--global", 1, "zeros:9"),
                         "1: int[9] = 5 1075838976 1 200 50000 -1698898192 305419896 6 ...\n")
        self.fails(1, "this is no SPIR-V that the device takes", "run",
                   self.file("cut.spv", module.read_bytes()[:200]), "--list")

    def test_asm(self):
        """The listing has the same instructions as LLVM's tool finds, and the names that this tool does not know."""
        steps = "".join(f"x = x * {i} + (x >> {i % 31}) ^ n; if (x == {i}) x += n;" for i in range(3, 200))
        self.file("asm.cl", f"int big(int x, int n) {{ {steps} return x; }}"
                  "kernel void k(global int *a, local int *t, int n) { int l = get_local_id(0); t[l] = a[l];"
                  "barrier(CLK_LOCAL_MEM_FENCE); for (int i = 0; i < n; i++) t[l] = big(t[l ^ 1], i) + big(t[l], n);"
                  "a[l] = t[l] + big(n, l); } kernel void s(global int *a) { a[get_global_id(1)] = 1; }")
        text = self.works("run", "asm.cl", "--asm", "--save-binary", "asm.bin")
        found, theirs, at = {}, {}, 0
        for line in text.splitlines():
            if line.endswith(":"):
                code = found[line[:-1]] = []
            elif line:
                code.append(line)
        self.assertEqual(list(found), ["function big", "kernel k", "kernel s", "kernel s, several work-items at once"])
        dump = subprocess.run(["llvm-objdump-19", "-d", "--mattr=+m,+a,+zfinx,+zba,+zbb,+experimental-zacas",
                               self.folder / "asm.bin"], check=True, capture_output=True, text=True).stdout
        for line in dump.splitlines():
            if head := re.fullmatch(r"([0-9a-f]+) <([^.].*)>:", line):
                at, code = int(head[1], 16), theirs.setdefault(head[2], [])
            elif row := re.match(r" +([0-9a-f]+): ([0-9a-f]{8}) +\t?(\S+)\t?(.*)", line):
                code.append((int(row[1], 16) - at, row[2], row[3], row[4], at))
        self.assertEqual(list(theirs), ["u.big", "__entry_k", "__entry_s", "__entry_s.coarse"])
        names, branches = {"0000000b": "tern.barrier", "0000100b": "tern.exit"}, 0
        for mine, their in zip(found.values(), theirs.values()):
            self.assertEqual(len(mine), len(their))
            for a, (offset, word, name, operands, at) in zip(mine, their):
                self.assertRegex(a, f"^ *{offset:x}  {word}  {names.get(word, name)}( |$)")
                if goes := re.search("0x([0-9a-f]+) <", operands):
                    branches += "# to" in a
                    self.assertRegex(a, f"# to {int(goes[1], 16) - at:x}$|  # big$")
        self.assertGreater(branches, 200)
        self.assertGreaterEqual(sum(line.endswith("  # big") for line in found["kernel k"]), 3)
        for name in r"csrr \w+, global_id_y", r"csrr \w+, local_id_x", "tern.barrier", "tern.exit":
            self.assertTrue(re.search(f"  {name}$", text, re.M), name)
        self.assertTrue(self.works("run", "asm.bin", "--asm") == text)
        self.assertEqual(self.works("run", "asm.cl", "--asm", "--kernel", "k"), text[:text.index("\nkernel s:")])
        self.assertEqual(self.works("run", "asm.bin", "--asm", "--kernel", "s"), text[text.index("kernel s:"):])
        self.fails(2, "has no kernel 'x'; it has: k, s", "run", "asm.cl", "--asm", "--kernel", "x")
        for option, *args in ("--json", "--json"), ("--global", "--global", 1), ("an ARG", "3"), ("--list", "--list"):
            self.fails(2, f"runs nothing; {option} has no meaning with it", "run", "no.cl", "--asm", *args)
        binary, draw = (self.folder / "asm.bin").read_bytes(), random.Random(1)
        for i in range(40):  # Half of the binaries are cut, the others have a changed byte in their tables.
            at = draw.randrange(len(binary))
            wrong = binary[:at] if i % 2 else bytes(x ^ (255 if k in (at, at // 8 + 28) else 0)
                                                     for k, x in enumerate(binary))
            r = self.tern("disassemble", "k", stdin=wrong)
            self.assertIn(r.returncode, (0, 1), (i, at, r.stderr))

    def test_explain(self):
        """Text, JSON, a kernel by name, a program binary, and each wrong usage. compiler.explain has the reasons."""
        self.file("two.cl", "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n"
                  "kernel void count(global int *a) {\n    atomic_inc(a + get_global_id(1));\n}\n")
        text = self.works("run", "two.cl", "--explain", "--save-binary", "two.bin")
        self.assertEqual(re.findall("^kernel (.*)$", text, re.M), ["add", "count"])
        self.assertIn("\n  no rounds   it has an atomic operation (two.cl:3)\n", text)
        self.assertEqual(self.works("run", "two.cl", "--explain", "--kernel", "count"),
                         text[text.index("kernel count"):])
        data = json.loads(self.works("run", "two.cl", "--explain", "--json"))
        self.assertEqual([k["runs"] for k in data["kernels"]], ["rounds", "plain"])
        self.assertEqual(data["kernels"][0]["least_range"], {"x": 256, "y": 1, "hardware": 128})
        self.assertEqual(data["kernels"][1]["no_tiles"],
                         {"text": "it has an atomic operation", "file": "two.cl", "line": 3})
        small = json.loads(self.works("run", "two.cl", "--explain", "--json", "--kernel", "add", TERN_CONFIG="small"))
        self.assertLess(small["kernels"][0]["least_range"]["hardware"], 128)
        listing = self.works("run", "two.cl", "--asm")
        for kernel in data["kernels"]:  # The code is that of the listing.
            self.assertGreater(len(kernel["loop"]["code"]), 0)
            for line in kernel["loop"]["code"]:
                self.assertIn(f"{line['at']:8x}  {line['word']}  {line['text']}\n", listing)
        self.assertEqual(self.works("run", "two.bin", "--explain"), text)
        self.works("run", "two.cl", "--save-binary", "plain.bin")
        self.assertIn("\n  reasons     a program binary has none", self.works("run", "plain.bin", "--explain"))
        self.fails(2, "has no kernel 'x'; it has: add, count", "run", "two.cl", "--explain", "--kernel", "x")
        self.fails(1, "bad.cl:1:", "run", self.file("bad.cl", "kernel void k(global int *a) { b; }"), "--explain")
        for option, *args in ("--global", "--global", 1), ("an ARG", "3"), ("--list", "--list"), ("--time", "--time"):
            self.fails(2, f"runs nothing; {option} has no meaning with it", "run", "no.cl", "--explain", *args)
        self.fails(2, "runs nothing; --explain has no meaning with it", "run", "no.cl", "--explain", "--asm")
        binary, draw = (self.folder / "two.bin").read_bytes(), random.Random(2)
        for i in range(40):
            at = draw.randrange(len(binary))
            wrong = binary[:at] if i % 2 else bytes(x ^ (255 if k == at else 0) for k, x in enumerate(binary))
            r = self.tern("disassemble", "--json", stdin=wrong)
            self.assertEqual((r.returncode, r.stdout), (1, ""), (i, at, r.stderr))

    def test_explain_page(self):
        """The examples of docs/kernels.md are what the tool prints."""
        root = pathlib.Path(__file__).resolve().parents[2]
        found = re.findall(r"^    \$ tern (run .*) \| head -n (\d+)\n((?:    .*\n)+)",
                           (root / "docs/kernels.md").read_text(), re.M)
        self.assertEqual(len(found), 2)
        (self.folder / "docs").symlink_to(root / "docs")
        for command, lines, text in found:
            printed = self.works(*command.split()).splitlines()[:int(lines)]
            self.assertEqual(printed, [line[4:] for line in text.splitlines()])

    def test_faults(self):
        self.file("wild.cl", "kernel void wild(global int *x) { x[0x4000000] = 1; }")
        message = self.fails(1, "kernel 'wild' did not complete", "run", "wild.cl", "--global", 1, "zeros:4")
        self.assertIn("kernel wild", message)
        self.assertIn("not mapped", message)
        self.fails(1, " at wild.cl:1:", "run", "wild.cl", "--global", 1, "zeros:4", "-g")
        self.fails(1, "did not complete", "run",
                   self.file("spin.cl", "kernel void spin(global int *x) { while (x[0] == 0) { } }"), "--global", 1,
                   "zeros:1", TERN_LIMIT_CYCLES="100000")

    def test_memory(self):
        env = {"TERN_CONFIG": "default,mem=64M,host=0"}
        self.fails(1, "are more than the largest buffer here has", "run", "shift.cl", "--global", 1,
                   "zeros:1G", 1, **env)
        self.file("many.cl", "kernel void many(global int *a, global int *b, global int *c, global int *d, "
                  "global int *e) { }")
        one = json.loads(self.works("info", "--json", **env))["allocatable_bytes"] // 4 // 4
        self.fails(1, "; the key mem of TERN_CONFIG gives it more", "run", "many.cl", "--global", 1,
                   *[f"zeros:{one}"] * 5, **env)

    def test_options(self):
        self.assertEqual(self.works("run", "--global", 1, "--", "shift.cl", "4", "-1"), "x: int[1] = 3\n")
        self.fails(2, "unknown option '--frob'", "run", "shift.cl", "--frob")
        self.fails(2, "--kernel needs a value", "run", "shift.cl", "--kernel")
        self.fails(2, "more than 256 arguments", "run", "shift.cl", *["1"] * 257)

    def test_device_errors(self):
        self.fails(1, "unknown backend 'fpga'", "run", "shift.cl", TERN_BACKEND="fpga")

    def test_small_device(self):
        self.assertEqual(self.works("run", "scale.cl", "--global", 40, "zeros:40", "iota:40", 3, "--print", "y:3",
                                    TERN_CONFIG="small"),
                         "y: float[40] = 0 3 6 ...\n")


if __name__ == "__main__":
    unittest.main()
