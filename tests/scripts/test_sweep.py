# SPDX-License-Identifier: Apache-2.0
"""Parts of `tern sweep`: descriptions and their mistakes, and the cache of devices and results.

Devices are built by a stand-in for sim/rtl/build, and points are run by a stand-in for tern: each notes its calls.
"""
import concurrent.futures
import errno
import json
import os
import pathlib
import random
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
from sweep import cache as caches  # noqa: E402
from sweep import device, point, processes, spec  # noqa: E402

BENCHES = ["vecadd-16384", "saxpy-65536", "copy-1m"]
SEED = int(os.environ.get("SEED", random.randrange(1 << 32)))


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def parse(self, text):
        return spec.parse(text, "s.yaml", self.folder, BENCHES)


class Description(Folder):
    def test_all_is_given(self):
        (self.folder / "k.cl").write_text("")
        got = self.parse("title: T\ngeometry: {lanes: [8, 16], warps: 4, engines: 1, ports: 2, local_kib: 0x10}\n"
                         "memory: {kind: [hbm, ddr4], latency: 60, bandwidth: [16, 64], outstanding: 8}\n"
                         "benches: [copy-1m, vecadd-16384]\n"
                         "kernels: {file: k.cl, run: --kernel 'a b' --global 8 zeros:8}\n")
        self.assertEqual((got["title"], got["backend"]), ("T", "rtl"))
        base = {"warps": 4, "engines": 1, "ports": 2, "local_kib": 16}
        self.assertEqual(got["geometries"], [{"lanes": 8, **base}, {"lanes": 16, **base}])
        self.assertEqual(got["memories"], [{"kind": k, "latency": 60, "bandwidth": b, "outstanding": 8}
                                           for k in ("hbm", "ddr4") for b in (16, 64)])
        kernel = {"name": "a b", "file": str(self.folder / "k.cl"), "folder": str(self.folder),
                  "arguments": ["--kernel", "a b", "--global", "8", "zeros:8"]}
        self.assertEqual(got["works"], [{"name": "copy-1m", "bench": "copy-1m"},
                                        {"name": "vecadd-16384", "bench": "vecadd-16384"}, kernel])
        points = spec.points(got)
        self.assertEqual(len(points), 2 * 4 * 3)
        self.assertEqual(points[0], {"backend": "rtl", "geometry": got["geometries"][0], "memory": got["memories"][0],
                                     "work": got["works"][0]})
        self.assertEqual([p["geometry"]["lanes"] for p in points], [8] * 12 + [16] * 12)
        json.dumps(points)

    def test_what_is_left_out(self):
        got = self.parse("benches: copy-1m\n")
        self.assertEqual((got["geometries"], got["memories"]), ([spec.DEFAULT], [{}]))
        self.assertEqual(spec.DEFAULT, {"lanes": 16, "warps": 16, "engines": 2, "ports": 1, "local_kib": 64})
        got = self.parse("geometry: [tiny, {lanes: 8, warps: [4, 8]}]\nbenches: copy-1m\n")
        self.assertEqual([(g["lanes"], g["warps"], g["engines"]) for g in got["geometries"]],
                         [(4, 4, 1), (8, 4, 2), (8, 8, 2)])

    def test_random(self):
        """A sweep has each choice of values once."""
        rng = random.Random(SEED)
        for _ in range(40):
            several = {n: rng.sample(range(1, 17), rng.randint(1, 3)) for n in
                       rng.sample(list(spec.GEOMETRY), rng.randint(1, 5))}
            memory = {n: rng.sample(range(1, 65), rng.randint(1, 3)) for n in rng.sample(list(spec.MEMORY), 2)}
            benches = rng.sample(BENCHES, rng.randint(1, 3))
            points = spec.points(self.parse(json.dumps({"geometry": several, "memory": memory, "benches": benches})))
            expected = len(benches)
            for values in [*several.values(), *memory.values()]:
                expected *= len(values)
            with self.subTest(f"seed {SEED}"):
                self.assertEqual(len(points), expected)
                self.assertEqual(len({json.dumps(p) for p in points}), expected)
                for part, given in ("geometry", several), ("memory", memory):
                    for name, values in given.items():
                        self.assertEqual({p[part][name] for p in points}, set(values))

    WRONG = [
        ("", "s.yaml:1:1: the file is empty; docs/sweeps.md has an example"),
        ("- 1", "s.yaml:1:1: sweep: needed is a mapping with the keys title, backend, geometry, memory, benches, ker"),
        ("benches: copy-1m\nbenchs: copy-1m", "s.yaml:2:1: sweep: unknown key 'benchs'; did you mean benches?"),
        ("benches: copy-1m\nx: 1", "s.yaml:2:1: sweep: unknown key 'x'; known are title, backend, geometry, memory, "
         "benches, kernels"),
        ("title: a\ntitle: b", "s.yaml:2:1: sweep: the key 'title' is there twice; remove one"),
        ("title: [a]", "s.yaml:1:8: title: needed is a text that is not empty"),
        ("? [a]\n: b", "s.yaml:1:3: sweep: unknown key '?'"),
        ("backend: card", "s.yaml:1:10: backend: unknown 'card'; known are rtl and model"),
        ("benches: [copy-1m, vecad-16384]", "s.yaml:1:20: benches: there is no bench 'vecad-16384'; did you mean "
         "vecadd-16384?"),
        ("benches: [zzz]", "s.yaml:1:11: benches: there is no bench 'zzz'; known are vecadd-16384, saxpy-65536, copy"),
        ("benches: [copy-1m, copy-1m]", "s.yaml:1:20: benches: copy-1m is there twice; remove one"),
        ("geometry: smal", "s.yaml:1:11: geometry: unknown device 'smal'; did you mean small?, or give a mapping with "
         "lanes, warps, engines, ports, local_kib"),
        ("geometry: {lanes: 8,\n  lanez: 4}", "s.yaml:2:3: geometry: unknown key 'lanez'; did you mean lanes?"),
        ("geometry: {lanes: [8, 8]}", "s.yaml:1:23: geometry, lanes: 8 is there twice; remove one"),
        ("geometry: [small, {lanes: 8, warps: 8}]", "s.yaml:1:19: geometry: 8 lanes x 8 warps, 2 engines is "
         "there twice; remove one"),
        ("geometry: {lanes: 0}", "s.yaml:1:19: geometry, lanes: needed is a whole number from 1 to 1024, not '0'"),
        ("geometry: {lanes: 8.5}", "s.yaml:1:19: geometry, lanes: needed is a whole number from 1 to 1024, not '8.5'"),
        ("geometry: {lanes: {a: 1}}", "s.yaml:1:19: geometry, lanes: needed is a whole number from 1 to 1024"),
        ("geometry: []", "s.yaml:1:11: geometry: an empty list; give a value, or leave the key out"),
        ("memory: 60", "s.yaml:1:9: memory: needed is a mapping with the keys kind, latency, bandwidth, outstanding"),
        ("memory: {latency: 100001}", "s.yaml:1:19: memory, latency: needed is a whole number from 1 to 100000"),
        ("memory: {bandwidth: [64, 65]}", "s.yaml:1:26: memory, bandwidth: needed is a whole number from 1 to 64"),
        ("memory: {outstanding: 257}", "s.yaml:1:23: memory, outstanding: needed is a whole number from 1 to 256"),
        ("memory: {kind: hbm2}", "s.yaml:1:16: memory, kind: unknown kind 'hbm2'; did you mean hbm?"),
        ("kernels: {run: x}", "s.yaml:1:10: kernels: the key 'file' is missing; needed are file, the source"),
        ("kernels: {file: no.cl, run: x}", "no.cl is not there; its path begins at the folder of the description"),
        ("kernels: {file: k.cl, run: \"'x\"}", "s.yaml:1:28: kernels, run: no closing quotation; write it as for "
         "a shell"),
        ("kernels: [{file: k.cl, run: x},\n  {file: k.cl, run: y}]", "s.yaml:2:3: kernels: the name 'k' is "
         "there twice; give each kernel its own by the key name"),
        ("benches: copy-1m\nkernels: {file: k.cl, name: copy-1m, run: x}", "s.yaml:2:1: kernels: 'copy-1m' is the name "
         "of a bench"),
        ("a: [1", "s.yaml:1:6: not YAML: "), ("benches: copy-1m\n\tx: 1", "s.yaml:2:1: not YAML: found character"),
        ("a: *b", "s.yaml:1:4: not YAML: found undefined alias 'b'"),
    ]

    def test_mistakes(self):
        (self.folder / "k.cl").write_text("")
        for text, message in self.WRONG:
            with self.subTest(text), self.assertRaises(spec.Error) as caught:
                self.parse(text)
            self.assertIn(message, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))

    def test_files_that_are_none(self):
        for name, data, message in (("none", None, "No such file"), ("b", b"\xff\xfe", "not a text in UTF-8: byte 0")):
            if data:
                (self.folder / name).write_bytes(data)
            with self.assertRaisesRegex(spec.Error, message):
                spec.read(self.folder / name, BENCHES)

    def test_sweeps_that_are_none(self):
        for text, message in (
                ("geometry: small", "nothing is to be run"),
                ("benches: copy-1m\nbackend: model\nmemory: {latency: 1}", "no timing of memory"),
                ("benches: copy-1m\nbackend: model\ngeometry: {lanes: 8}", "not one of 8 lanes x 16 warps"),
                (json.dumps({"benches": "copy-1m", "memory": {"latency": list(range(1, 402)), "bandwidth": [16, 64],
                                                              "outstanding": list(range(1, 126))}}),
                 "has 100,250 points, 100,000 are the limit")):
            with self.assertRaisesRegex(spec.Error, message):
                spec.points(self.parse(text))
        self.assertEqual(len(spec.points(self.parse("benches: copy-1m\nbackend: model\ngeometry: [small, tiny]"))), 2)


BUILD = """#!/bin/bash
echo "$JOBS $*" >>"$(dirname "$0")/calls"
[ -e "$(dirname "$0")/says" ] && { cat "$(dirname "$0")/says" >&2; mkdir -p "$2"; exit 1; }
sleep 0.2; echo "device $*" >"$1"; mkdir -p "$2"
"""
TERN = """#!/bin/bash
here=$(cd "$(dirname "$0")" && pwd)
echo "$TERN_BACKEND $TERN_CONFIG ${TERN_LIB_DIR:+lib} $*" >>"$here/calls"
[ -e "$here/script" ] && . "$here/script"
if [ "$1" = run ]; then
  echo '{"runs": [{"cycles": 30, "counters": {"issue": 3}}, {"cycles": 10, "counters": {"issue": 1}},'
  echo ' {"cycles": 20, "counters": {"issue": 2}}, {"cycles": 40, "counters": {"issue": 4}}]}'
else
  echo '{"results": [{"name": "x", "cycles": 7, "counters": {"issue": 5}, "limit_cycles": 3, "limit_by": "port",'
  echo ' "limit_percent": 42.8, "correct": true}]}'
fi
"""
SMALL = spec.NAMED["small"]


class Stubs(Folder):
    """A tree whose devices are texts, and a build whose tern notes how it is called."""

    def setUp(self):
        super().setUp()
        self.tree, self.prefix = self.folder / "tree", self.folder / "prefix"
        for name in ("rtl/top/a.sv", "rtl/board/b.sv", "sim/rtl/bridge.cpp", "sim/dram/dram.c"):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_text(name)
        self.program(self.tree / "sim/rtl/build", BUILD)
        self.program(self.prefix / "bin/tern", TERN)
        (self.prefix / "lib/tern").mkdir(parents=True)
        for tool in device.NEEDED:
            self.program(self.folder / f"tools/{tool}", f"#!/bin/sh\necho {tool} 1")
        path = unittest.mock.patch.dict(os.environ, {"PATH": f"{self.folder}/tools:/usr/bin:/bin"})
        path.start()
        self.addCleanup(path.stop)
        device.tool_version.cache_clear()
        self.addCleanup(device.tool_version.cache_clear)

    def program(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def cache(self, jobs=1):
        return caches.Cache(self.folder / "cache", self.prefix, self.tree, jobs=jobs)

    def point(self, memory=None, work=None, **geometry):
        return {"backend": "rtl", "geometry": {**SMALL, **geometry}, "memory": memory or {},
                "work": work or {"name": "copy-1m", "bench": "copy-1m"}}

    def calls(self, file):
        return (file.parent / "calls").read_text().splitlines() if (file.parent / "calls").exists() else []

    def built(self):
        return len(self.calls(self.tree / "sim/rtl/build"))

    def ran(self):
        return len(self.calls(self.prefix / "bin/tern"))

    def row(self, *args, **more):
        return point.run_point(self.point(*args, **more), self.cache())


class Devices(Stubs):
    def test_built_once(self):
        """Eight points at a time wait for one build."""
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n: self.cache(3).device(self.point({"latency": n + 1}, warps=4)), range(8)))
        self.assertEqual(len({d.key for d in found}), 1)
        call, = self.calls(self.tree / "sim/rtl/build")
        self.assertRegex(call, r"^3 \S+/libtern_sim_rtl_default.so \S+/work -GLANES=8 -GWARPS=4 -GENGINES=2 -GPORTS=1 "
                         r"-GLMEM_KIB=64$")
        folder = pathlib.Path(found[0].variables["TERN_LIB_DIR"])
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ["libtern_sim_rtl_default.so", "tern"])
        self.assertEqual((folder / "tern").resolve(), (self.prefix / "lib/tern").resolve())

    def test_what_the_key_depends_on(self):
        def key(**geometry):
            device.tool_version.cache_clear()
            return self.cache().device(self.point(warps=4, **geometry)).key
        first = key()
        self.assertEqual(key(), first)
        (self.tree / "rtl/board/b.sv").write_text("logic around the device")
        self.assertEqual(key(), first)
        keys = {first, key(lanes=16), key(ports=2), key(engines=1), key(local_kib=16)}
        for file in "rtl/top/a.sv", "sim/rtl/bridge.cpp", "sim/dram/dram.c":
            (self.tree / file).write_text("other")
            keys.add(key())
        (self.tree / "rtl/top/new.sv").write_text("")
        keys.add(key())
        for tool in "verilator", "clang++-19":
            self.program(self.folder / f"tools/{tool}", "#!/bin/sh\necho 2")
            keys.add(key())
        with unittest.mock.patch.dict(os.environ, {"TERN_CPU_FLAGS": "-march=native"}):
            keys.add(key())
        self.assertEqual(len(keys), 12)
        self.assertEqual(self.built(), 12)

    def test_those_of_the_build(self):
        """A device of the build is used if no source is newer; one of an installation always."""
        library = self.prefix / "lib/libtern_sim_rtl_small.so"
        library.write_text("small")
        installed = self.cache().device(self.point())
        link = pathlib.Path(installed.variables["TERN_LIB_DIR"]) / "libtern_sim_rtl_default.so"
        self.assertEqual(link.resolve(), library.resolve())
        self.assertEqual(self.cache().device(self.point(ports=2)).key == installed.key, False)
        self.assertEqual(self.built(), 1)
        (self.prefix / "CMakeCache.txt").write_text("")
        newest = max(f.stat().st_mtime for f in device.sources(self.tree))
        os.utime(library, (newest, newest))
        self.assertEqual(self.cache().device(self.point()).key, installed.key)
        os.utime(library, (newest - 1, newest - 1))
        self.assertNotEqual(self.cache().device(self.point()).key, installed.key)
        self.assertEqual(self.built(), 2)
        os.utime(library, (newest + 1, newest + 1))
        library.write_text("another")
        self.assertNotIn(self.cache().device(self.point()).key, (installed.key,))

    def test_models(self):
        with self.assertRaisesRegex(device.Gap, "functional model of 8 lanes x 8 warps, 2 engines is not in"):
            self.cache().device({**self.point(), "backend": "model"})
        (self.prefix / "lib/libtern_sim_model_small.so").write_text("")
        found = self.cache().device({**self.point(), "backend": "model"})
        self.assertEqual(found.variables, {"TERN_BACKEND": "model", "TERN_CONFIG": "small"})

    SAID = [
        ("%Error: rtl/a.sv:7:40: Size-changing cast\n%Error-USERERROR: rtl/simt/x.sv:8:7: x: out of range\n"
         "%Error-USERERROR: rtl/top/tern_top.sv:97:7: tern_top: LANES is 4 or 8\n%Error: Exiting due to 3 error(s)",
         "does not elaborate: LANES is 4 or 8 (rtl/top/tern_top.sv, line 97); choose another value in geometry"),
        ("%Warning-WIDTH: x\n%Error: rtl/a.sv:7:40: Size-changing cast.\n",
         "does not elaborate: rtl/a.sv:7:40: Size-changing cast; choose another geometry, or see /log"),
        ("x\nclang: fatal error: no such file: 'x'\nmake: *** [y] Error 1\n",
         "it was not built: no such file: 'x'; see /log"),
        ("a.cpp: error: cannot write\nLLVM ERROR: IO failure on output stream: No space left on device\n",
         "it was not built: No space left on device: make room, or choose another place by --cache"),
        ("", "it was not built: no message; see /log"), ("one\n\ntwo\n\n", "it was not built: two; see /log"),
    ]

    def test_reasons(self):
        for said, reason in self.SAID:
            self.assertEqual(device.reason(said, "/log"), reason)

    def test_a_geometry_that_is_none(self):
        """Its points are gaps, nothing of it is kept but what was said, and other points go on."""
        (self.tree / "sim/rtl/says").write_text(self.SAID[0][0])
        row = self.row(lanes=12)
        self.assertEqual((row["cycles"], row["error"]), (None, "12 lanes x 8 warps, 2 engines: " + self.SAID[0][1]))
        folder, = (p for p in (self.folder / "cache/devices").iterdir() if p.is_dir())
        self.assertEqual([p.name for p in folder.iterdir()], ["log"])
        (self.tree / "sim/rtl/says").unlink()
        self.assertEqual(self.row(lanes=16)["cycles"], 7)

    def test_tools_that_are_missing(self):
        for tool in device.NEEDED:
            with unittest.mock.patch("shutil.which", lambda name, tool=tool: None if name == tool else name):
                self.assertRegex(self.row()["error"], rf"{tool.replace('+', '.')} is not installed to make one: "
                                 r"install the package \S+ \(scripts/setup build\), or sweep default, small, tiny$")
        (self.tree / "sim/rtl/build").unlink()
        self.assertIn(f"the sources to make one are not in {self.tree}", self.row()["error"])

    def test_no_room(self):
        (self.folder / "cache").write_text("a file")
        self.assertRegex(self.row()["error"], "cannot be written: Not a directory; make room, or choose another place")

    def test_an_interruption_leaves_what_is_built(self):
        self.program(self.tree / "sim/rtl/build", "#!/bin/bash\nmkdir -p $2; touch $2/half $2/../go; sleep 60\n")
        self.addCleanup(processes.STOPPED.clear)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(self.row)
            while not list((self.folder / "cache").glob("devices/*/go")):
                self.assertFalse(running.done())
            processes.stop()
            self.assertIn("interrupted", running.result(20)["error"])
        self.assertEqual(len(list((self.folder / "cache").glob("devices/*/work/half"))), 1)
        self.assertIn("interrupted", self.row()["error"])


class Points(Stubs):
    def kernel(self, *arguments, name="k.cl"):
        return {"name": "k", "file": str(self.folder / name), "arguments": list(arguments), "folder": str(self.folder)}

    def test_the_second_time(self):
        first = self.row({"latency": 90, "bandwidth": 16, "outstanding": 8, "kind": "hbm"})
        self.assertEqual({k: first[k] for k in point.MEASURED}, {
            "cycles": 7, "counters": {"issue": 5}, "limit_cycles": 3, "limit_by": "port", "limit_percent": 42.8})
        self.assertIsNone(first["error"])
        self.assertGreaterEqual(first["seconds"], 0)
        self.assertEqual(self.calls(self.prefix / "bin/tern"), [
            "rtl default,memory=hbm,dram_latency=90,dram_bandwidth=16,dram_reads=8,dram_writes=8 lib bench copy-1m "
            "--json"])
        again = self.row({"latency": 90, "bandwidth": 16, "outstanding": 8, "kind": "hbm"})
        self.assertEqual(again, {**first, "seconds": None})
        self.assertEqual((self.ran(), self.built()), (1, 1))

    def test_what_a_result_depends_on(self):
        for i, change in enumerate((lambda: self.row({"latency": 90}), lambda: self.row({"latency": 91}),
                                    lambda: self.row(warps=4), lambda: self.row(),
                                    lambda: self.row(work={"name": "x", "bench": "x"})), 1):
            change()
            change()
            self.assertEqual(self.ran(), i)
        (self.prefix / "lib/tern/runtime.o").write_text("another runtime")
        self.row()
        self.assertEqual(self.ran(), 6)
        (self.tree / "rtl/top/a.sv").write_text("another device")
        self.row()
        self.assertEqual(self.ran(), 7)

    def test_kernels(self):
        """A kernel's result depends on its source, on what that includes, on its arguments and on files of data."""
        (self.folder / "inc").mkdir()
        for name, text in (("k.cl", '#include "a.h"\n  # include <b.h>\n#include "absent.h"\n'), ("a.h", ""),
                           ("inc/b.h", '#include "b.h"\n'), ("data", "1"), ("pixels", "2"), ("other", "")):
            (self.folder / name).write_text(text)
        work = self.kernel("--kernel", "k", "-I", "inc", "@data", "image:4:R:FLOAT:@pixels", "@-")
        row = self.row(work=work)
        self.assertEqual((row["cycles"], row["counters"], row["limit_percent"]), (20, {"issue": 2}, None))
        self.assertTrue(self.calls(self.prefix / "bin/tern")[0].endswith(
            f"run {self.folder}/k.cl --json --quiet --kernel k -I inc @data image:4:R:FLOAT:@pixels @-"))
        expected = 1
        for name in "k.cl", "a.h", "inc/b.h", "data", "pixels":
            self.row(work=work)
            self.assertEqual(self.ran(), expected, name)
            (self.folder / name).write_text((self.folder / name).read_text() + "\n")
            self.row(work=work)
            expected += 1
            self.assertEqual(self.ran(), expected, name)
        (self.folder / "other").write_text("not named")
        self.row(work=work)
        self.assertEqual(self.ran(), expected)
        self.row(work={**work, "arguments": [*work["arguments"], "1"]})
        self.assertEqual(self.ran(), expected + 1)
        (self.folder / "data").unlink()
        self.assertIn("data: cannot be read: No such file", self.row(work=work)["error"])

    FAILURES = [
        ("echo 'tern bench: [1/1] x' >&2; echo 'tern bench: no device' >&2; exit 1", "copy-1m: tern bench: no device"),
        ("exit 3", "copy-1m: exit status 3"), ("kill -9 $$", "copy-1m: ended by signal 9"),
        ("echo '{'; exit 0", "copy-1m: exit status 0"),
        ('echo \'{"results": [{"name": "x", "correct": false}]}\'; exit 1',
         "copy-1m: the result is wrong on this device"),
    ]

    def test_failures(self):
        """A point that fails has a sentence, and is tried again the next time."""
        for script, error in self.FAILURES:
            (self.prefix / "bin/script").write_text(script)
            row = self.row()
            self.assertIsNone(row["cycles"])
            self.assertTrue(row["error"].startswith(error), row["error"])
        (self.prefix / "bin/script").unlink()
        self.assertEqual(self.row()["cycles"], 7)

    def test_a_cache_that_cannot_be_used(self):
        self.row()
        file, = (self.folder / "cache/points").iterdir()
        good = file.read_text()
        for i, text in enumerate(("", good[:-5], "[1]", "7", '{"cycles": 7}', "null"), 2):
            file.write_text(text)
            self.assertEqual(self.row()["cycles"], 7)
            self.assertEqual((self.ran(), file.read_text()), (i, good))

    def test_keys(self):
        """Parts of a key do not run together."""
        keys = {caches.digest(*parts) for parts in ((b"ab", b"c"), (b"a", b"bc"), (b"abc",), (b"abc", b""), ("abc",))}
        self.assertEqual(len(keys), 5)

    def test_a_full_disk(self):
        """The figures are there though they cannot be kept, and nothing half-written is left."""
        self.row()
        cache = self.cache()
        with unittest.mock.patch("os.replace", side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))):
            row = point.run_point(self.point({"latency": 1}), cache)
        self.assertEqual((row["cycles"], row["error"]), (7, None))
        self.assertEqual(cache.full, f"{self.folder}/cache: cannot be written: No space left on device")
        self.assertEqual(len(list((self.folder / "cache/points").iterdir())), 1)


if __name__ == "__main__":
    unittest.main()
