# SPDX-License-Identifier: Apache-2.0
"""`tern sweep` on the functional model: its output, its files, gaps, mistakes, interruptions and a full disk.
"""
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from cli import TERN, Case

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts/lib"))
from sweep import device, spec  # noqa: E402

KERNEL = """kernel void k(global uint *x)
{
    uint v = get_global_id(0);
    for (uint i = 0; i < N; i++) v = (v ^ i) * 1664525 + (v >> 7);
    x[get_global_id(0)] = v;
}
"""
PATIENCE = 120  # Seconds, for a busy host.


class Sweeps(Case):
    def sweep(self, *args, **env):
        return self.tern("sweep", *args, "--cache", "cache", **env)

    def kept(self):
        return sorted((self.folder / "cache/points").glob("*.json"))

    def test_a_sweep(self):
        """Cycles are those of tern bench and tern run; the second time all comes from the cache."""
        self.file("k.cl", KERNEL)
        self.file("s.yaml", "title: Two devices\nbackend: model\ngeometry: [small, default]\n"
                  "benches: [vecadd-16384, empty-64-warm]\n"
                  "kernels: {name: mine, file: k.cl, run: -D N=9 --global 64 zeros:64}\n")
        r = self.sweep("s.yaml", "--json", "--html", "page.html", TERN_BACKEND="none", TERN_CONFIG="none",
                       TERND_SOCKET=str(self.folder / "none"), TERN_LIMIT_CYCLES="1000")
        self.assertEqual(r.returncode, 0, r.stderr)
        out = json.loads(r.stdout)
        self.assertEqual(out["title"], "Two devices")
        self.assertEqual([(p["geometry"]["lanes"], p["work"]["name"]) for p in out["points"]],
                         [(n, w) for n in (8, 16) for w in ("vecadd-16384", "empty-64-warm", "mine")])
        for p in out["points"]:
            config = "small" if p["geometry"]["lanes"] == 8 else "default"
            if "bench" in p["work"]:
                out_of = self.tern("bench", p["work"]["bench"], "--json", TERN_CONFIG=config)
                one = json.loads(out_of.stdout)["results"][0]
                self.assertEqual(p["limit_percent"], one["limit_percent"])
            else:
                one = json.loads(self.tern("run", "k.cl", "-D", "N=9", "--global", "64", "zeros:64", "--json",
                                           TERN_CONFIG=config).stdout)["runs"][0]
                self.assertIsNone(p["limit_percent"])
            self.assertEqual((p["cycles"], p["counters"]), (one["cycles"], one["counters"]))
            self.assertGreater(p["counters"]["issue"], 0)
            self.assertEqual(p["size"] is None, config == "small")
        self.assertEqual(len(self.kept()), 6)
        page = (self.folder / "page.html").read_text()
        self.assertIn("<h1>Two devices</h1>", page)
        self.assertIn('<td class="text">mine</td>', page)
        start = time.monotonic()
        r = self.sweep("s.yaml", "--csv")
        rows = list(csv.DictReader(io.StringIO(r.stdout)))
        self.assertEqual([int(row["cycles"]) for row in rows], [p["cycles"] for p in out["points"]])
        r = self.sweep("s.yaml", "--json", "--jobs", "1")
        self.assertEqual({p["seconds"] for p in json.loads(r.stdout)["points"]}, {None})
        self.assertLess(time.monotonic() - start, 20)
        r = self.sweep("s.yaml", "--device", "tiny", "--bench", "empty-64-warm", "--json")
        self.assertEqual([(p["geometry"]["lanes"], p["work"]["name"]) for p in json.loads(r.stdout)["points"]],
                         [(4, "empty-64-warm")])
        self.file("k.cl", KERNEL + "\n")
        r = self.sweep("s.yaml", "--json")
        self.assertEqual([p["seconds"] is None for p in json.loads(r.stdout)["points"]], [True, True, False] * 2)

    def test_names_of_devices(self):
        """The geometries that the sweep takes for those of devices are theirs."""
        for name, geometry in spec.NAMED.items():
            config = json.loads(self.works("info", "--json", TERN_CONFIG=name))
            self.assertEqual({k: config[k] for k in ("engines", "lanes", "warps")},
                             {k: geometry[k] for k in ("engines", "lanes", "warps")}, name)
        text = (pathlib.Path(__file__).resolve().parents[2] / "sim/rtl/CMakeLists.txt").read_text()
        for name in ("ports2", "ports4"):
            has = device.BUILT[name]
            self.assertIn(f"tern_add_device({name} {has['lanes']} {has['warps']} EXAMPLES --assert "
                          f"PORTS {has['ports']})", text)

    def test_gaps(self):
        """A kernel that does not build is a gap with the compiler's sentence, and the others go on."""
        self.file("bad.cl", "kernel void k(global int *x) { x[0] = nothing; }\n")
        self.file("good.cl", KERNEL)
        r = self.sweep("--backend", "model", "--device", "small,tiny", "--kernel", "bad.cl --global 4 zeros:4",
                       "--kernel", "good.cl -DN=2 --global 4 zeros:4", "--json")
        self.assertEqual(r.returncode, 1)
        points = json.loads(r.stdout)["points"]
        self.assertEqual([p["cycles"] is None for p in points], [True, False] * 2)
        self.assertEqual([p["error"] is None for p in points], [False, True] * 2)
        self.assertIn("bad.cl", points[0]["error"])
        self.assertNotIn("\n", points[0]["error"])
        text = self.sweep("--backend", "model", "--kernel", "bad.cl --global 4 zeros:4")
        self.assertEqual(text.returncode, 1)
        self.assertRegex(text.stdout, r"\nbad +- +- .*\n\n1 point without a result: bad: \S*bad.cl:1:39: error: ")

    def test_mistakes(self):
        self.file("s.yaml", "benches: copy-1m\nmemory: {latency: x}\n")
        for message, *args in (
                ("s.yaml:2:19: memory, latency: needed is a whole number from 1 to 100000, not 'x'", "s.yaml"),
                ("none.yaml: cannot be read: No such file or directory", "none.yaml"),
                ("benches: there is no bench 'copy-2m'; did you mean copy-1m", "--bench", "copy-2m"),
                ("name a FILE, or give benches by --bench or kernels by --kernel; see tern sweep --help",),
                ("nothing is to be run: name benches or kernels", "--lanes", "8"),
                ("--device names a whole geometry", "--device", "small", "--lanes", "8", "--bench", "copy-1m"),
                ("geometry, warps: needed is a whole number from 1 to 1024, not '8x'", "--warps", "4,8x"),
                ("--jobs takes a number from 1 on, not 0", "s.yaml", "--jobs", "0"),
                ("--csv and --json: choose one of them", "s.yaml", "--csv", "--json"),
                ("unrecognized arguments: --bandwith; see tern sweep --help", "--bandwith", "8"),
                ("kernels, file: no.cl is not there", "--kernel", "no.cl --global 1")):
            said = self.fails(2, message, "sweep", *args)
            self.assertEqual(said.count("\n"), 1, said)
        self.assertFalse((self.folder / "cache").exists())

    def test_no_room(self):
        """Nothing is lost: the table is printed though a file is not written, and results are kept though it is not."""
        args = ["--backend", "model", "--bench", "empty-64-warm"]
        r = self.sweep(*args, "--html", "no/page.html")
        self.assertEqual(r.returncode, 1)
        self.assertRegex(r.stderr, r"^tern sweep: no/page.html: cannot be written: No such file or [^\n]*\n$")
        self.assertIn("empty-64-warm", r.stdout)
        with open("/dev/full", "wb") as full:
            r = subprocess.run([TERN, "sweep", *args, "--cache", "cache"], cwd=self.folder, stdout=full, check=False,
                               stderr=subprocess.PIPE, text=True)
        self.assertEqual(r.returncode, 1)
        self.assertRegex(r.stderr, r"^tern sweep: standard output cannot be written: No space left on [^\n]*\n$")
        self.assertEqual(len(self.kept()), 1)
        self.file("cache2", "")
        r = self.tern("sweep", *args, "--cache", "cache2")
        self.assertEqual(r.returncode, 1)
        self.assertRegex(r.stdout, r"empty-64-warm +[0-9]+ ")
        self.assertRegex(r.stderr, r"^tern sweep: \S*/cache2: cannot be written: Not a directory; [^\n]*\n$")

    def runs(self, arguments):
        """Is there a `tern run` of the sweep's kernel whose arguments begin so?"""
        line = f"run {self.folder.resolve()}/k.cl --json --quiet {arguments}"
        return subprocess.run(["pgrep", "-f", line], check=False, stdout=subprocess.DEVNULL).returncode == 0

    def test_an_interrupted_sweep_goes_on(self):
        self.file("k.cl", KERNEL)
        kernels = [f"k.cl -DN={n} --global 256 zeros:256" for n in (2, 3, 1 << 30)]
        argv = ["sweep", "--backend", "model", "--jobs", "1", "--cache", "cache"]
        for kernel in kernels:
            argv += ["--kernel", kernel]
        for end in signal.SIGINT, signal.SIGTERM:
            with subprocess.Popen([TERN, *argv], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as p:
                until = time.monotonic() + PATIENCE
                while not self.runs(f"-DN={1 << 30}") and time.monotonic() < until:
                    time.sleep(0.05)
                p.send_signal(end)
                out, said = p.communicate(timeout=PATIENCE)
            self.assertEqual((p.returncode, out), (130, ""), said)
            self.assertTrue(said.endswith("tern sweep: interrupted; finished points are kept, and the same command "
                                          "goes on\n"), said)
            self.assertEqual(len(self.kept()), 2)
            self.assertFalse(self.runs(""))
        r = self.sweep(*argv[1:-6], "--kernel", kernels[0], "--kernel", kernels[1], "--json")
        self.assertEqual([p["seconds"] for p in json.loads(r.stdout)["points"]], [None, None])

    def test_list(self):
        self.assertEqual(self.works("sweep", "--lanes", "8", "--ports", "1,2", "--latency", "60", "--bench", "copy-1m",
                                    "--list"), "8 lanes x 16 warps, 2 engines; latency 60; copy-1m\n"
                         "8 lanes x 16 warps, 2 engines, 2 ports; latency 60; copy-1m\n")

    def test_the_default_cache(self):
        for env in ({"TERN_CACHE_DIR": "own"}, {"TERN_CACHE_DIR": "", "XDG_CACHE_HOME": f"{self.folder}/xdg"},
                    {"TERN_CACHE_DIR": "", "XDG_CACHE_HOME": "", "HOME": f"{self.folder}/home"}):
            self.assertEqual(self.tern("sweep", "--backend", "model", "--bench", "empty-64-warm", **env).returncode, 0)
        for place in "own", "xdg/tern", "home/.cache/tern":
            self.assertEqual(len(list((self.folder / place / "sweeps/points").iterdir())), 1, place)


if __name__ == "__main__":
    os.environ.pop("TERN_LIB_DIR", None)
    unittest.main()
