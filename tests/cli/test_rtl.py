# SPDX-License-Identifier: Apache-2.0
"""The command line on the Verilated device: results as on the model, cycles that repeat, and tern verify."""
import json
import pathlib
import unittest

from cli import Case
from pages import NEED_RTL, PAGES, Pages
from tracefile import Trace

KERNEL = """kernel void mix(global uint *y, global const uint *x, local uint *t, uint salt)
{
    int l = get_local_id(0), n = get_local_size(0);
    t[l] = x[get_global_id(0)] * 2654435761u ^ salt;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < n; i++)
        y[get_global_id(0)] = rotate(y[get_global_id(0)], 5u) + t[(l + i) % n];
}
"""


class Rtl(Case):
    def mix(self, backend, config):
        self.file("mix.cl", KERNEL)
        r = json.loads(self.works("run", "mix.cl", "--global", 96, "--local", 32, "--json", "--print", "y", "--repeat",
                                  2, "random:96", "random:96", "local:128", "0xfeed", TERN_BACKEND=backend,
                                  TERN_CONFIG=config))
        self.assertEqual((r["config"]["backend"], r["config"]["name"].split(",")[0]), (backend, config))
        return r

    def test_the_same_as_on_the_model(self):
        model = self.mix("model", "default")
        for config in ("small", "default"):
            rtl = self.mix("rtl", config)
            self.assertEqual(rtl["buffers"], model["buffers"])
            for a, b in zip(rtl["runs"], model["runs"]):
                self.assertEqual(a["thread_instructions"], b["thread_instructions"])
                self.assertGreater(a["counters"]["stall_use"], 0)
                self.assertGreater(a["counters"]["rd_lines"], 0)

    def test_trace(self):
        """Work that is preempted every 2,000 cycles runs on both engines in turn."""
        r = self.tern("trace", "-o", "out.json", "tern", "bench", "vecadd-16384", TERN_BACKEND="rtl",
                      TERN_CONFIG="default,preempt=2000")
        self.assertEqual(r.returncode, 0, r.stderr)
        t = Trace(self.folder / "out.json")
        t.check()
        pieces = [e for e in t.ran() if e["name"] == "vecadd"]
        self.assertGreater(len(pieces), 2)
        self.assertEqual({e["tid"] for e in pieces}, {tid for _, tid in t.engines()})

    def test_cycles_repeat(self):
        first, again = self.mix("rtl", "small"), self.mix("rtl", "small")
        self.assertEqual([r["cycles"] for r in first["runs"]], [r["cycles"] for r in again["runs"]])

    def test_time(self):
        self.file("mix.cl", KERNEL)
        out = self.works("run", "mix.cl", "--global", 32, "--quiet", "--time", "zeros:32", "zeros:32", "local:4K", 1,
                         TERN_BACKEND="rtl")
        for line in ("device               rtl, default", "issue lost", "L1 ", "memory "):
            self.assertIn(line, out)

    def test_fault(self):
        self.file("wild.cl", "kernel void wild(global int *x) { x[0x4000000] = 1; }")
        self.fails(1, "not mapped", "run", "wild.cl", "--global", 1, "zeros:4", TERN_BACKEND="rtl", TERN_CONFIG="small")


class Verify(Pages):
    def test_examples(self):
        pages = [p for p in PAGES if p.name in NEED_RTL]
        self.assertTrue(pages)
        for page in pages:
            self.try_page(page)

    def test_json(self):
        r = json.loads(self.tern("verify", "--seeds", 1, "--json").stdout)
        self.assertEqual((r["cases"], r["differences"], pathlib.Path(r["rtl"]).name),
                         (2, [], "libtern_sim_rtl_small.so"))


if __name__ == "__main__":
    unittest.main()
