# SPDX-License-Identifier: Apache-2.0
"""`tern sweep` Verilates a device of 8 lanes and 4 warps, which no build has, and sweeps the latency of its memory."""
import json
import pathlib
import time
import unittest

from cli import Case

LATENCIES = [30, 60, 240]


class Verilated(Case):
    def test_latency_of_an_unusual_geometry(self):
        self.file("s.yaml", f"geometry: {{lanes: [8, 12], warps: 4, engines: 1}}\nmemory: {{latency: {LATENCIES}}}\n"
                  "benches: [vecadd-16384, transpose-128]\n")
        r = self.tern("sweep", "s.yaml", "--cache", "cache", "--json", "--html", "page.html")
        self.assertEqual(r.returncode, 1, r.stderr)  # for the gap
        points = json.loads(r.stdout)["points"]
        good = [p for p in points if p["geometry"]["lanes"] == 8]
        self.assertEqual(len(points), 12)
        for p in points[6:]:
            self.assertEqual((p["cycles"], p["error"]), (
                None, "12 lanes x 4 warps, 1 engine: does not elaborate: LANES is 0, 4, 8, 16 or 32 "
                f"(rtl/top/tern_top.sv, line {self.line('LANES is 0, 4')}); choose another value in geometry"))
        for bench, limit in ("vecadd-16384", 4 * 16384 / 8), ("transpose-128", None):
            of = [p for p in good if p["work"]["name"] == bench]
            self.assertEqual([p["memory"]["latency"] for p in of], LATENCIES)
            cycles = [p["cycles"] for p in of]
            self.assertEqual(cycles, sorted(set(cycles)))  # More latency takes more cycles.
            for p in of:
                self.assertIsNone(p["error"])
                self.assertGreaterEqual(p["counters"]["lanes_active"], p["counters"]["issue"])
                self.assertLessEqual(p["counters"]["lanes_active"], 8 * p["counters"]["issue"])
                self.assertGreater(p["counters"]["rd_lines"], 0)
                self.assertEqual(p["limit_cycles"], limit or p["limit_cycles"])
        self.assertEqual(len({p["counters"]["fma"] for p in good[::2]}), 1)  # The work is the same.
        device, = {p.parent for p in (self.folder / "cache/devices").glob("*/libtern_sim_rtl_default.so")}
        info = json.loads(self.works("info", "--json", TERN_BACKEND="rtl", TERN_LIB_DIR=str(device)))
        self.assertEqual((info["lanes"], info["warps"], info["engines"]), (8, 4, 1))
        self.assertFalse((device / "work").exists())
        self.assertIn("vecadd-16384: cycles over latency", (self.folder / "page.html").read_text())
        start = time.monotonic()
        r = self.tern("sweep", "s.yaml", "--lanes", "8", "--warps", "4", "--engines", "1", "--cache", "cache", "--json")
        self.assertEqual([p["seconds"] for p in json.loads(r.stdout)["points"]], [None] * 6)
        self.assertLess(time.monotonic() - start, 20)

    @staticmethod
    def line(text):
        lines = (pathlib.Path(__file__).resolve().parents[2] / "rtl/top/tern_top.sv").read_text().splitlines()
        return next(i for i, line in enumerate(lines, 1) if text in line and "$error" in line)


if __name__ == "__main__":
    unittest.main()
