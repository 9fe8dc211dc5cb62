# SPDX-License-Identifier: Apache-2.0
"""scripts/ecp5 without the tools that it calls: pins against ports, errors of a step that fails, steps that are
repeated, figures read from nextpnr's report, limits of the baseline and wrong limits, and the table of the page. The
whole of scripts/ecp5 runs at night."""
import copy
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/ecp5"
loader = importlib.machinery.SourceFileLoader("ecp5", str(SCRIPT))
ecp5 = importlib.util.module_from_spec(importlib.util.spec_from_loader("ecp5", loader))
loader.exec_module(ecp5)
base = ecp5.ecp5_baseline
DESIGN = (ROOT / "rtl/board/board_ulx3s.sv").read_text()
PINS = (ROOT / "constraints/ecp5/ulx3s.lpf").read_text()


class Pins(unittest.TestCase):
    def test_ours_fit(self):
        self.assertEqual(ecp5.check_pins(DESIGN, PINS), [])
        names = ecp5.ports(DESIGN)
        self.assertEqual(len([n for n in names if n.startswith("sdram_d[")]), 16)
        self.assertEqual(len(names), 5 + 5 + 6 + 2 + 13 + 2 + 16)

    def check(self, old, new, *told):
        self.assertIn(old, PINS)
        self.assertEqual(ecp5.check_pins(DESIGN, PINS.replace(old, new)), list(told))

    def test_what_is_wrong_is_told(self):
        self.check('LOCATE COMP "ftdi_txd" SITE "M1";', "", "the port ftdi_txd has no LOCATE")
        self.check('IOBUF PORT "sdram_a[10]"', '# "sdram_a[10]"', "the port sdram_a[10] has no IOBUF")
        self.check('SITE "N19"', 'SITE "H20"', "the pin H20 has two ports")
        self.check('LOCATE COMP "led[4]"', 'LOCATE COMP "led[0]"', "the port led[4] has no LOCATE",
                   "led[0] has two LOCATE")
        self.assertEqual(ecp5.check_pins(DESIGN, PINS + 'LOCATE COMP "led[5]" SITE "E2";\n'),
                         ["led[5] is no port of board_ulx3s"])
        self.assertIn("the port sdram_a[13] has no LOCATE", ecp5.check_pins(DESIGN.replace("[12:0] sdram_a",
                                                                                          "[13:0] sdram_a"), PINS))


class Steps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)

    def test_a_failed_step_says_what_and_where(self):
        with self.assertRaises(ecp5.Failed) as told:
            ecp5.run("route", ["/bin/sh", "-c", "echo Info: x; echo ERROR: no bels left; exit 3"], self.out / "r.log",
                     "Choose a smaller one.")
        for part in ("route: failed with status 3", str(self.out / "r.log"), "ERROR: no bels left", "Choose"):
            self.assertIn(part, str(told.exception))
        self.assertIn("Info: x", (self.out / "r.log").read_text())
        with self.assertRaises(ecp5.Failed) as told:
            ecp5.run("pack", [self.out / "absent"], self.out / "p.log", "")
        self.assertIn("cannot be started: No such file", str(told.exception))

    def test_a_step_is_repeated_when_its_inputs_change(self):
        self.assertTrue(ecp5.needed(self.out, "synth", "a", False))
        (self.out / "synth.key").write_text("a")
        self.assertFalse(ecp5.needed(self.out, "synth", "a", False))
        self.assertTrue(ecp5.needed(self.out, "synth", "a", True))
        (self.out / "synth.key").write_text("a")
        self.assertTrue(ecp5.needed(self.out, "synth", "b", False))
        self.assertTrue(ecp5.needed(self.out, "synth", "b", False))  # it has not been made since

    def test_figures(self):
        (self.out / "report.json").write_text(json.dumps({
            "fmax": {"25": {"achieved": 300.0, "constraint": 25.0}, "core": {"achieved": 53.217, "constraint": 50.0}},
            "utilization": {"TRELLIS_COMB": {"used": 10, "available": 83640}, "DCUA": {"used": 0, "available": 2}}}))
        f = ecp5.figures(self.out, {"LANES": 8}, 1)
        self.assertEqual((f["clock"], f["fmax_mhz"], f["asked_mhz"]), ("core", 53.22, 50.0))
        self.assertEqual(list(f["use"]), ["TRELLIS_COMB"])

    def test_arguments(self):
        for args, told in ((["--param", "LANES"], "is no NAME=VALUE"),
                           (["--param", "COLOUR=1"], "has no parameter COLOUR"),
                           (["--until", "noon"], "invalid choice"),
                           (["--check", "--update"], "give one of them"),
                           (["--check", "--seed", "2"], "seed 1"), (["--update", "--param", "LANES=8"], "DEVICE=0")):
            r = subprocess.run([SCRIPT, *args], check=False, capture_output=True, text=True)
            self.assertEqual(r.returncode, 2, r)
            self.assertIn(told, r.stderr)
        r = subprocess.run([SCRIPT, "--until", "pins"], check=False, capture_output=True, text=True)
        self.assertEqual((r.returncode, r.stdout), (0, ""), r)


FIGURES = {"board": "b", "params": {"DEVICE": 0}, "seed": 1, "clock": "c", "asked_mhz": 50.0, "fmax_mhz": 80.0,
           "use": {"TRELLIS_COMB": {"used": 2000, "available": 83640}, "DP16KD": {"used": 2, "available": 208}},
           "bitstream": "/somewhere/tern.bit"}


class Baseline(unittest.TestCase):
    """compare() on a baseline and a page of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page, self.file = pathlib.Path(folder.name, "page.md"), pathlib.Path(folder.name, "ecp5.json")
        self.addCleanup(setattr, ecp5, "PAGE", ecp5.PAGE)
        self.addCleanup(setattr, ecp5, "BASELINE", ecp5.BASELINE)
        self.addCleanup(setattr, ecp5, "ROOT", ecp5.ROOT)
        ecp5.PAGE, ecp5.BASELINE, ecp5.ROOT = self.page, self.file, pathlib.Path(folder.name)
        self.old = base.baseline(FIGURES, ecp5.TOOLS)
        self.write(self.old)

    def write(self, old):
        self.file.write_text(json.dumps(old))
        self.page.write_text(base.with_table("before\n" + base.BEGIN + base.END + "after\n", old))

    def told(self, fmax=80.0, cells=2000, blocks=2, **more):
        f = copy.deepcopy(FIGURES) | {"fmax_mhz": fmax} | more
        f["use"]["TRELLIS_COMB"]["used"], f["use"]["DP16KD"]["used"] = cells, blocks
        return "\n".join(ecp5.compare(f))

    def test_limits(self):
        self.assertEqual(self.told(), "")
        self.assertEqual(self.told(68.0, 2040), "")
        self.assertIn("67.9 MHz, 80.0 in the baseline: 68.0 is the limit", self.told(67.9))
        self.assertIn("2,041 TRELLIS_COMB, 2,000 in the baseline: 2 % more", self.told(cells=2041))
        self.assertIn("3 DP16KD, 2 in the baseline", self.told(blocks=3))
        with_multiplier = {**copy.deepcopy(FIGURES["use"]), "MULT18X18D": {"used": 1, "available": 156}}
        self.assertIn("1 MULT18X18D, 0 in the baseline", self.told(use=with_multiplier))

    def test_what_cannot_be_compared(self):
        self.assertIn("seed 1, not of {'DEVICE': 0} and seed 2", self.told(seed=2))
        self.write({**self.old, "tools": {"yosys": "1"}})
        self.assertIn("the baseline was made with {'yosys': '1'}", self.told())

    def test_page(self):
        self.assertIn("| link and memory (DEVICE=0) | 2,000 | 2 | 80.0 MHz |", self.page.read_text())
        self.page.write_text(self.page.read_text().replace("80.0 MHz", "90.0 MHz"))
        self.assertIn("page.md: its table is not that of the baseline", self.told())
        for page in "", base.END + base.BEGIN, 2 * (base.BEGIN + base.END):
            self.page.write_text(page)
            with self.assertRaisesRegex(base.BaselineError, "cannot be replaced"):
                self.told()

    def test_no_baseline(self):
        for text, said in ("{", "not a baseline"), ("[]", "it has no asked_mhz"), ("{}", "it has no asked_mhz"):
            self.file.write_text(text)
            with self.assertRaisesRegex(base.BaselineError, said):
                self.told()
        self.file.unlink()
        with self.assertRaisesRegex(base.BaselineError, "No such file"):
            self.told()


class Repository(unittest.TestCase):
    def test_page_is_of_the_baseline(self):
        old, page = base.read(ecp5.BASELINE), ecp5.PAGE.read_text()
        self.assertEqual(base.with_table(page, old), page, "run scripts/ecp5 --update")
        self.assertEqual((old["tools"], old["params"], old["limits"]), (ecp5.TOOLS, ecp5.MEASURED, base.LIMITS))


if __name__ == "__main__":
    unittest.main()
