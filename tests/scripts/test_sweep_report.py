# SPDX-License-Identifier: Apache-2.0
"""The report of `tern sweep`: tables, recorded sizes, charts with their Pareto front, the page, and progress."""
import html.parser
import json
import os
import pathlib
import random
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
from sweep import cache as caches  # noqa: E402
from sweep import chart, page, progress, size, spec, table  # noqa: E402
from synth import configs  # noqa: E402

SEED = int(os.environ.get("SEED", random.randrange(1 << 32)))
SMALL = spec.NAMED["small"]


def made_row(geometry=None, memory=None, name="k", cycles=100, lut=None, error=None):
    counters = {c: i for i, c in enumerate(table.COUNTERS, 1)}
    return {"backend": "rtl", "geometry": {**SMALL, **(geometry or {})}, "memory": memory or {},
            "work": {"name": name, "bench": name}, "cycles": None if error else cycles,
            "counters": None if error else counters, "limit_cycles": 50, "limit_by": "port",
            "limit_percent": None if error else 50.0, "seconds": None, "error": error,
            "size": lut and {"LUT": lut, "FF": 1, "BRAM": 0.5, "URAM": 0, "DSP": 2, "levels": 9.5,
                             "source": "measured"}}


class Tables(unittest.TestCase):
    ROWS = [made_row({"warps": 4}, lut=1000), made_row({"warps": 8}, cycles=90000),
            made_row({"warps": 6}, error="6 warps: does not elaborate")]

    def test_text(self):
        text = table.text("T", self.ROWS)
        self.assertEqual(text.splitlines()[0], "T: 3 points; lanes 8, engines 2, ports 1, local KiB 64")
        lines = [line.split() for line in text.splitlines()[2:6]]
        self.assertEqual(lines[0][:4], ["warps", "kernel", "cycles", "limit"])
        self.assertEqual(lines[1], ["4", "k", "100", "50.0", "port", "0.02", "4.0", "5.0", "6.0", "47.1", "17.28",
                                    "1,000", "9.50"])
        self.assertEqual(lines[2][2], "90,000")
        self.assertEqual(lines[2][-2:], ["-", "-"])
        self.assertEqual(set(lines[3][2:]) - {"port"}, {"-"})
        self.assertIn("1 point without a result: 6 warps: does not elaborate\n", text)
        self.assertIn("--synth measures them", text)

    def test_csv_and_json(self):
        lines = [line.split(",") for line in table.as_csv(self.ROWS).splitlines()]
        rows = [dict(zip(lines[0], line)) for line in lines[1:]]
        self.assertEqual([r["warps"] for r in rows], ["4", "8", "6"])
        self.assertEqual([r["cycles"] for r in rows], ["100", "90000", ""])
        self.assertEqual([r["LUT"] for r in rows], ["1000", "", ""])
        self.assertEqual([r["levels"] for r in rows], ["9.5", "", ""])
        self.assertEqual((rows[0]["wr_lines"], rows[2]["wr_lines"], rows[2]["error"]),
                         ("14", "", "6 warps: does not elaborate"))
        self.assertEqual(json.loads(table.as_json("T", self.ROWS)), {"title": "T", "points": self.ROWS})


class Sizes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_recorded_ones_only(self):
        """Geometries of the baseline have its figures. No other has any before it is synthesised."""
        cache = caches.Cache(self.folder, self.folder, ROOT)
        baseline = json.loads((ROOT / "tests/synth/baseline.json").read_text())
        geometries = [{**spec.DEFAULT, "engines": e, "ports": p, "warps": w} for e in (1, 2, 3, 4) for p in (1, 2)
                      for w in (8, 16)]
        found = size.known(cache, geometries)
        recorded = {size.name({**spec.DEFAULT, "engines": e, "ports": p}): c
                    for c, e, p in (("engines-1", 1, 1), ("engines-2", 2, 1), ("engines-4", 4, 1), ("ports-2", 2, 2))}
        self.assertLess(set(recorded.values()), set(configs.CONFIGS))
        self.assertEqual(set(found), set(recorded))
        for name, config in recorded.items():
            sums = baseline["configurations"][config]
            for resource in "LUT", "FF", "BRAM", "URAM", "DSP":
                self.assertEqual(found[name][resource], sums[resource])
            self.assertEqual(found[name]["source"], "baseline")
            self.assertGreater(found[name]["levels"], 8)
        self.assertEqual(size.known(caches.Cache(self.folder, self.folder, self.folder), geometries), {})

    def test_measured_ones_win(self):
        cache = caches.Cache(self.folder, self.folder, ROOT)
        measured = {"LUT": 1, "levels": 2.0, "source": "measured"}
        cache.store("synth", size.key(cache, spec.DEFAULT), measured)
        self.assertEqual(size.known(cache, [spec.DEFAULT]), {size.name(spec.DEFAULT): measured})
        with unittest.mock.patch("synth.elaborate.version", side_effect=size.elaborate.Error("no yosys")):
            self.assertEqual(size.known(cache, [spec.DEFAULT])[size.name(spec.DEFAULT)]["source"], "baseline")


class Charts(unittest.TestCase):
    def test_front(self):
        """By the definition: nobody has at most as many of both and less of one."""
        rng = random.Random(SEED)
        for _ in range(300):
            points = [(rng.randint(1, 6), rng.randint(1, 6), i) for i in range(rng.randint(1, 9))]
            best = [p for p in points if not any(q[0] <= p[0] and q[1] <= p[1] and q[:2] != p[:2] for q in points)]
            self.assertEqual(sorted(chart.front(points)), sorted(best), f"seed {SEED}: {points}")
        self.assertEqual(chart.front([]), [])

    def test_ticks(self):
        rng = random.Random(SEED)
        for low, high in [(0, 1), (0, 7), (5, 5), (0, 0), (0, 99999), *((0, rng.random() * 10 ** rng.randint(-2, 9))
                                                                        for _ in range(200))]:
            found = chart.ticks(low, high)
            with self.subTest(f"seed {SEED}: {low} {high}"):
                self.assertLessEqual(found[0], low)
                self.assertGreaterEqual(found[-1], high - 1e-9)
                self.assertEqual(found, sorted(set(found)))
                self.assertLessEqual(len(found), 8)

    def marks(self, text):
        root = xml.fromstring(text)
        name = "{http://www.w3.org/2000/svg}"
        dots = [(float(c.get("cx")), float(c.get("cy")), c[0].text, c.get("fill")) for c in root.iter(name + "circle")]
        for x, y, *_ in dots:
            self.assertTrue(chart.LEFT <= x <= chart.WIDE - chart.RIGHT, x)
            self.assertTrue(chart.TOP <= y <= chart.HIGH - chart.BOTTOM, y)
        return dots

    def test_lines(self):
        dots = self.marks(chart.lines("a < b & c", "latency", {"<x>": [(60, 100), (480, 400)], "y": [(60, 50)]}))
        self.assertEqual([d[2] for d in dots], ["<x>: latency 60, 100 cycles", "<x>: latency 480, 400 cycles",
                                                "y: latency 60, 50 cycles"])
        self.assertLess(dots[0][0], dots[1][0])
        self.assertGreater(dots[0][1], dots[1][1])
        self.assertAlmostEqual(dots[0][1] - dots[1][1], 6 * (dots[2][1] - dots[0][1]), delta=0.5)
        dots = self.marks(chart.lines("doubling", "warps", {"": [(4, 9), (8, 8), (16, 7), (32, 6)]}))
        self.assertAlmostEqual(dots[1][0] - dots[0][0], dots[3][0] - dots[2][0], delta=0.2)
        self.assertEqual(dots[0][2], "warps 4, 9 cycles")
        self.marks(chart.lines("one", "warps", {"": [(4, 9)]}))

    def test_pareto(self):
        dots = self.marks(chart.pareto("p", [(100, 50, "small"), (200, 40, "large"), (150, 60, "poor")]))
        filled = {said.split(":")[0]: fill != "#ffffff" for _, _, said, fill in dots}
        self.assertEqual(filled, {"small": True, "large": True, "poor": False})
        rng = random.Random(SEED)
        for _ in range(30):
            self.marks(chart.pareto("p", [(rng.randint(1, 10 ** 6), rng.randint(1, 10 ** 7), "n") for _ in range(9)]))


class Reader(html.parser.HTMLParser):
    """Checks that tags nest, and that the page loads nothing."""

    def __init__(self, text):
        super().__init__()
        self.open, self.count, self.text = [], {}, ""
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "link") and not {"src", "href", "onload"} & {name for name, _ in attrs}, attrs
        self.count[tag] = self.count.get(tag, 0) + 1
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data


class Pages(unittest.TestCase):
    def test_page(self):
        rows = [made_row({"warps": w}, {"latency": t}, name, 100 * w + t, 1000 * w) for w in (4, 8) for t in (60, 120)
                for name in ("a<b", "c")]
        text = page.html("T & U", rows)
        read = Reader(text)
        self.assertEqual(read.count["tr"], 1 + 8)
        # For each kernel and their mean: LUTs at each latency, cycles over warps, cycles over latency.
        self.assertEqual(read.count["figure"], 3 * 4)
        self.assertIn("a<b: cycles against LUTs (latency 60)", read.text)
        self.assertNotIn("http", text.replace('xmlns="http://www.w3.org/2000/svg"', ""))
        self.assertNotIn("url(", text)
        self.assertNotIn("@import", text)

    def test_gaps(self):
        """A gap is in the table and in no chart; the mean is of devices that have all kernels."""
        rows = [made_row({"warps": 4}, name="a", cycles=4, lut=10), made_row({"warps": 4}, name="b", cycles=9, lut=10),
                made_row({"warps": 8}, name="a", cycles=5), made_row({"warps": 8}, name="b", lut=20, error="it failed")]
        self.assertEqual([(r["geometry"]["warps"], round(r["cycles"], 6)) for r in page.together(rows)], [(4, 6.0)])
        read = Reader(page.html("T", rows))
        self.assertEqual(read.count["figure"], 1)
        self.assertIn("1 point without a result: it failed", read.text)
        self.assertEqual(Reader(page.html("T", rows[3:])).count.get("figure"), None)


class Times(unittest.TestCase):
    def test_time_left(self):
        told = progress.Progress(2, stream=open(os.devnull, "w", encoding="utf-8"))
        self.addCleanup(told.stream.close)
        told.begin("points", 10)
        self.assertIsNone(told.left())
        told.step("a", None)  # from the cache
        self.assertIsNone(told.left())
        told.step("b", 4.0)
        told.step("c", 2.0)
        self.assertEqual(told.left(), 3.0 * 7 / 2)
        self.assertIn("points [3/10] c; 0 s, 10 s left", told.line())
        told.last = "x" * 200
        self.assertEqual(len(told.line()), 79)
        for _ in range(6):
            told.step("d", 3.0)
        self.assertEqual(told.left(), told.took / told.counted)  # one process for the last point
        told.step("e", 3.0)
        self.assertIsNone(told.left())


if __name__ == "__main__":
    unittest.main()
