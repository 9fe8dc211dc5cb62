# SPDX-License-Identifier: Apache-2.0
"""`tern migrate --report` and `--json` give the same rounds, bytes and times, and refusals with their reason. Further
tests: the page cannot be written, at the beginning or at the end; its name is a device, a folder or a link; standard
output is full."""
import json
import pathlib
import re
import resource
import signal
import subprocess
import unittest
import xml.etree.ElementTree as xml

from moving import MIGRATE, PATIENCE, Moving


def texts(element):
    return ["".join(x.itertext()) for x in element]


class Report(Moving):
    """The daemons' names contain characters that have a meaning in HTML and JSON."""

    def page(self, path):
        self.assertFalse(path.with_name(path.name + ".part").exists())
        return xml.parse(path).getroot()

    def test_rounds_bytes_and_times_are_those_that_were_told(self):
        here, there = self.daemon('a<b>&"'), self.daemon("c&amp;")
        clients = [self.client(here, seed) for seed in (1, 2)]
        self.works(here, 2)
        path = self.folder / "report.html"
        r = self.move(here, there, "--report", str(path), "--json")
        self.assertEqual(r.returncode, 0, r.stderr)
        told = json.loads(r.stdout)
        self.assertEqual((told["from"], told["to"]), (str(here.socket), str(there.socket)))
        self.assertEqual((told["partition"], told["moved"], told["programs"]), ("default", True, 2))
        self.assertEqual([x["number"] for x in told["rounds"]], list(range(1, len(told["rounds"]) + 1)))
        self.assertEqual(sum(x["bytes"] for x in told["rounds"]) + told["blackout_bytes"], told["bytes"])
        for x in told["rounds"]:
            self.assertGreater(x["bytes"], 0)
            self.assertAlmostEqual(x["dirty_bytes_per_second"], x["pages_left"] * 4096e9 / x["ns"], delta=1)
        self.assertGreater(told["blackout_bytes"], 0)
        self.assertGreater(told["blackout_ns"], 0)

        page = self.page(path)
        self.assertEqual(texts(page.iter("code")), [str(here.socket), str(there.socket)])
        self.assertEqual(texts(page.iter("h1")), ["Partition default has moved"])
        rows = [texts(tr) for tr in page.iter("tr")][1:]
        self.assertEqual([x[1:5:3] for x in rows[:-1]],
                         [[str(x["pages"]), str(x["pages_left"])] for x in told["rounds"]])
        self.assertEqual([x[2] for x in rows], [f"{n / 2**20:.2f}" for n in
                                                [x["bytes"] for x in told["rounds"]] + [told["blackout_bytes"]]])
        *convergence, sent, times = page.iter("svg")
        self.assertEqual(len(convergence), len(told["rounds"]) > 1 and any(x["pages_left"] for x in told["rounds"]))
        for chart in convergence:
            self.assertEqual(len(chart.find("polyline").get("points").split()), len(told["rounds"]))
        n = [x["bytes"] for x in told["rounds"]] + [told["blackout_bytes"]]
        heights = [float(x.get("height")) for x in sent.iter("rect")]
        for height, bytes_ in zip(heights, n, strict=True):
            self.assertAlmostEqual(height / max(heights), bytes_ / max(n), delta=0.01)
        spans = [(float(x.get("x")), float(x.get("width"))) for x in times.iter("rect")]
        for (x, width), (following, _) in zip(spans, spans[1:]):
            self.assertAlmostEqual(x + width, following, delta=0.02)
        ns = [x["ns"] for x in told["rounds"]] + [told["blackout_ns"]]
        self.assertAlmostEqual(spans[-1][1] / sum(w for _, w in spans), ns[-1] / sum(ns), delta=0.01)
        for p in clients:
            self.end(p)

    def test_a_refusal_is_reported_with_its_reason(self):
        here, other = self.daemon("a"), self.daemon("b", "default,mem=64M")
        client = self.client(here, 4)
        self.works(here, 1)
        path = self.folder / "report.html"
        r = self.move(here, other, "--report", str(path), "--json")
        self.assertEqual(r.returncode, 1)
        told = json.loads(r.stdout)
        self.assertEqual((told["moved"], told["blackout_bytes"], told["blackout_ns"]), (False, 0, 0))
        self.assertRegex(told["error"], "lanes|warps")
        self.assertIn(told["error"], r.stderr)
        page = self.page(path)
        self.assertEqual(texts(page.iter("h1")), ["Partition default has not moved"])
        self.assertIn(told["error"], texts(page.iter("p")))
        self.end(client)

    def test_a_page_that_cannot_be_written_moves_nothing(self):
        here, there = self.daemon("a"), self.daemon("b")
        client = self.client(here, 5)
        self.works(here, 1)
        r = self.move(here, there, "--report", str(self.folder / "none" / "report.html"))
        self.assertEqual(r.returncode, 1)
        self.assertRegex(r.stderr, r"none/report.html: No such file")
        r = self.move(here, there, "--report", "/dev/full/x" * 400)
        self.assertEqual((r.returncode, bool(re.search("File name too long", r.stderr))), (1, True))
        self.assertEqual(len(self.completed(here)), 1)
        for place in (self.folder, "/dev/null", "/dev/full"):
            r = self.move(here, there, "--report", str(place))
            self.assertEqual(r.returncode, 1)
            self.assertIn(f"{place}: it is no regular file", r.stderr)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        nothing = self.folder / "nothing.html"
        nothing.symlink_to("not there")
        r = self.move(here, there, "--report", str(nothing))
        self.assertEqual((r.returncode, "it is a link to no file" in r.stderr), (1, True))
        self.assertEqual(len(self.completed(here)), 1)
        missing = self.folder / "kept.html"
        r = self.move(here, there, "--partition", "none", "--report", str(missing))
        self.assertEqual(r.returncode, 1)
        self.end(client)

    def test_a_link_stays_a_link(self):
        here, there = self.daemon("a"), self.daemon("b")
        target, link = self.folder / "target.html", self.folder / "link.html"
        target.write_text("old")
        link.symlink_to("target.html")
        client = self.client(here, 6)
        self.works(here, 1)
        r = self.move(here, there, "--report", str(link))
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertTrue(link.is_symlink())
        self.assertEqual(texts(self.page(target).iter("h1")), ["Partition default has moved"])
        self.end(client)

    def test_moved_but_not_told(self):
        """The exit status says that the programs have moved and that the report is lost."""
        here, there = self.daemon("a"), self.daemon("b")
        client = self.client(here, 7)
        for i, json_ in enumerate(((), ("--json",))):
            self.works(here, 1)
            with open("/dev/full", "w", encoding="utf-8") as full:
                r = subprocess.run([MIGRATE, "--from", str(here.socket), "--to", str(there.socket), *json_],
                                   stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=PATIENCE)
            self.assertEqual(r.returncode, 3, r.stderr)
            self.assertIn("standard output: No space left", r.stderr, i)
            here, there = there, here
        self.works(here, 1)

        def short_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        path = self.folder / "report.html"
        r = subprocess.run([MIGRATE, "--from", str(here.socket), "--to", str(there.socket), "--report", str(path)],
                           capture_output=True, text=True, check=False, timeout=PATIENCE, preexec_fn=short_files)
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn(f"{path}: File too large", r.stderr)
        self.assertIn("has moved", r.stdout)
        self.assertFalse(path.exists() or path.with_name("report.html.part").exists())
        self.works(there, 1)
        self.end(client)


if __name__ == "__main__":
    unittest.main()
