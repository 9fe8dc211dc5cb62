# SPDX-License-Identifier: Apache-2.0
"""scripts/clock without nextpnr: the wrapper around a piece's netlist, by its structure, by simulation and by Yosys;
pieces of a small device, and modules that are cut off; figures from nextpnr's report; limits of the baseline, edits of
it, and its table; updates that fail in part or are interrupted; wrong arguments. Routing runs at night."""
import contextlib
import copy
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/clock"
loader = importlib.machinery.SourceFileLoader("clock_script", str(SCRIPT))
script = importlib.util.module_from_spec(importlib.util.spec_from_loader("clock_script", loader))
loader.exec_module(script)
import ecp5_steps as steps  # noqa: E402
import record  # noqa: E402
from clock import baseline, figures, pieces, source, wrap  # noqa: E402
from synth import elaborate  # noqa: E402

# y_o is registered, z_o is not, same_o is the net of y_o[0], fixed_o is constant.
TOY = """
module toy (input clk_i, input [4:0] a_i, input [2:0] b_i, output [4:0] y_o, output z_o, output same_o, output fixed_o);
  reg [4:0] y_q;
  always @(posedge clk_i) y_q <= (a_i & {b_i, b_i[1:0]}) ^ {y_q[3:0], y_q[4]};
  assign y_o = y_q;
  assign z_o = a_i[0] ^ b_i[2];
  assign same_o = y_q[0];
  assign fixed_o = 1'b1;
endmodule
"""


def yosys(text, cwd):
    return subprocess.run(["yosys", "-p", text], cwd=cwd, check=True, capture_output=True, text=True).stdout


def pin(cell, name):
    return cell["connections"][name][0]


class Simulation:
    """A netlist of LUT4 and TRELLIS_FF without enable and reset; all registers begin at 0."""

    def __init__(self, top):
        self.top, self.value = top, {"0": 0, "1": 1, "x": 0}
        self.luts = [c for c in top["cells"].values() if c["type"] == "LUT4"]
        self.ffs = [c for c in top["cells"].values() if c["type"] == "TRELLIS_FF"]
        assert len(self.luts) + len(self.ffs) == len(top["cells"])
        assert all(pin(c, "CLK") == top["ports"]["clk_i"]["bits"][0] for c in self.ffs)
        self.value.update((pin(c, "Q"), 0) for c in self.ffs)

    def settle(self):
        left = list(self.luts)
        while left:
            known = [c for c in left if all(pin(c, p) in self.value for p in "ABCD")]
            assert known, "a loop, or a net without a driver"
            for c in known:
                at = sum(self.value[pin(c, p)] << i for i, p in enumerate("ABCD"))
                self.value[pin(c, "Z")] = int(c["parameters"]["INIT"][15 - at])
            left = [c for c in left if c not in known]
            for c in known:
                assert pin(c, "Z") in self.value

    def clock(self, shift):
        """Gives the pin of the chain a value, then a clock edge. Returns the value of the other pin after it."""
        for c in self.luts:
            self.value.pop(pin(c, "Z"), None)
        self.value[self.top["ports"]["shift_i"]["bits"][0]] = shift
        self.settle()
        new = {pin(c, "Q"): self.value[pin(c, "DI")] for c in self.ffs}
        self.value.update(new)
        return self.value[self.top["ports"]["fold_o"]["bits"][0]]


def port(direction, *bits):
    return {"direction": direction, "bits": list(bits)}


class Wrapper(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "toy.v").write_text(TOY)
            yosys("read_verilog toy.v; synth_ecp5 -top toy -json toy.json", folder)
            cls.toy = json.loads(pathlib.Path(folder, "toy.json").read_text())["modules"]["toy"]

    def wrapped(self, module=None, boxes=()):
        whole, inside, added = wrap.wrap(module or copy.deepcopy(self.toy), boxes)
        return whole["modules"][wrap.TOP], inside, added

    def test_all_of_the_piece_is_there_and_unchanged(self):
        top, inside, added = self.wrapped()
        self.assertEqual({n: c for n, c in top["cells"].items() if not n.startswith(wrap.MARK)}, self.toy["cells"])
        self.assertEqual(inside, wrap.count(self.toy["cells"]))
        # 8 inputs; 6 outputs, since one is constant and one the same net; two stages of parities, of 2 bits and 1.
        self.assertEqual(added, {"LUT4": 3, "TRELLIS_FF": 8 + 6 + 3})

    def test_each_port_has_a_register(self):
        top, _, _ = self.wrapped()
        ffs = [c for n, c in top["cells"].items() if n.startswith(wrap.MARK) and c["type"] == "TRELLIS_FF"]
        by_q = {pin(c, "Q"): c for c in ffs}
        self.assertEqual(len(by_q), len(ffs))
        chain, bit = [], self.toy["ports"]["b_i"]["bits"][-1]
        while bit != top["ports"]["shift_i"]["bits"][0]:
            chain.append(bit)
            bit = pin(by_q[bit], "DI")
        self.assertEqual(sorted(chain), sorted(self.toy["ports"]["a_i"]["bits"] + self.toy["ports"]["b_i"]["bits"]))
        read = [pin(c, "DI") for c in ffs]
        for name in "y_o", "z_o", "same_o":
            for bit in self.toy["ports"][name]["bits"]:
                self.assertEqual(read.count(bit), 1, name)

    def test_simulation(self):
        """The pin behind the wrapper has the parity of all outputs, as a model of the piece gives them."""
        seed = random.randrange(1 << 30)
        rng, top = random.Random(seed), self.wrapped()[0]
        sim, chain, y, expected = Simulation(top), [0] * 8, [0] * 5, []
        for cycle in range(400):
            shift = rng.randrange(2)
            a, b = chain[:5], chain[5:]
            z = a[0] ^ b[2]
            expected.append(sum(y) + z & 1)
            y = [a[i] & (b[:2] + b)[i] ^ y[i - 1] for i in range(5)]
            chain = [shift] + chain[:7]
            got = sim.clock(shift)
            if cycle >= 2:  # a register behind each output, and two stages of parities
                self.assertEqual(got, expected[cycle - 2], f"cycle {cycle}, seed {seed}")
        self.assertEqual({0, 1}, set(expected))

    def test_yosys_finds_nothing_to_remove(self):
        """Yosys accepts the netlist, and finds no cell that is not observed, no net without a driver or with two."""
        whole, inside, added = wrap.wrap(copy.deepcopy(self.toy))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "w.json").write_text(json.dumps(whole))
            yosys("read_verilog -lib -specify +/ecp5/cells_sim.v +/ecp5/cells_bb.v; read_json w.json; "
                  f"hierarchy -check -top {wrap.TOP}; opt_clean -purge; check -assert; select {wrap.TOP}; "
                  "json -o out.json", folder)
            kept = json.loads(pathlib.Path(folder, "out.json").read_text())["modules"][wrap.TOP]["cells"]
        self.assertEqual(wrap.count(kept), {k: inside.get(k, 0) + added.get(k, 0) for k in {**inside, **added}})

    def test_a_module_that_is_cut_off(self):
        box = {"type": "lane", "port_directions": {"clk_i": "input", "d_i": "input", "q_o": "output"},
               "connections": {"clk_i": [2], "d_i": [10, "0"], "q_o": [11, 12]}}
        lut = wrap.parity([3, 11, 12], 10)
        module = {"ports": {"clk_i": port("input", 2), "a_i": port("input", 3), "y_o": port("output", 11)},
                  "cells": {"u_lane": box, "u_lut": lut}, "netnames": {}}
        reads, drives, clock = wrap.border(module, {"lane"})
        self.assertEqual((reads, drives, clock), ({3: "a_i", 11: "u_lane.q_o[0]", 12: "u_lane.q_o[1]"},
                                                  {11: "y_o", 10: "u_lane.d_i[0]"}, 2))
        top, inside, added = self.wrapped(module, {"lane"})
        self.assertEqual((inside, added), ({"LUT4": 1}, {"LUT4": 1, "TRELLIS_FF": 3 + 2 + 1}))
        self.assertNotIn("u_lane", top["cells"])
        self.assertEqual(pin(top["cells"]["wrap/in/u_lane.q_o[1]"], "Q"), 12)

    def test_a_piece_without_registers_and_one_output(self):
        module = {"ports": {"a_i": port("input", 3, 4), "y_o": port("output", 5)},
                  "cells": {"u": wrap.parity([3, 4], 5)}, "netnames": {}}
        top, _, added = self.wrapped(module)
        self.assertEqual(added, {"TRELLIS_FF": 3})
        sim = Simulation(top)
        self.assertEqual([sim.clock(x) for x in (1, 0, 0, 0, 0)], [0, 1, 1, 0, 0])

    def test_errors(self):
        def told(ports, cells=None):
            with self.assertRaises(wrap.Error) as e:
                wrap.wrap({"ports": ports, "cells": cells or {}, "netnames": {}})
            return str(e.exception)
        self.assertIn("pad_io is of the direction inout", told({"pad_io": port("inout", 2)}))
        self.assertIn("nothing to observe", told({"a_i": port("input", 2), "y_o": port("output", "1")}))
        self.assertIn("wrap/in/a_i has the name", told({"a_i": port("input", 2), "y_o": port("output", 2)},
                                                       {"wrap/in/a_i": wrap.parity([2], 3)}))


TREE = {"rtl/top/tern_kernel.v": """
module tern_kernel #(parameter ENGINES = 2, LANES = 16, WARPS = 16, LMEM_KIB = 64) (input clk_i, output [1:0] q_o);
  core #(.LANES(LANES)) u_core (.clk_i(clk_i), .q_o(q_o[0]));
  queue #(.N(2)) u_a (.clk_i(clk_i), .q_o());
  queue #(.N(3)) u_b (.clk_i(clk_i), .q_o(q_o[1]));
endmodule
""", "rtl/simt/core.sv": """
module core #(parameter int LANES = 4) (input logic clk_i, output logic q_o);
  logic [LANES-1:0] q;
  for (genvar i = 0; i < LANES; i++) begin : g_lane
    lane #(.LANE(i), .WARPS(4)) u_lane (.clk_i, .q_o(q[i]));
  end
  assign q_o = ^q;
endmodule
""", "rtl/simt/lane.sv": """
module lane #(parameter int LANE = 0, WARPS = 16) (input logic clk_i, output logic q_o);
  always_ff @(posedge clk_i) q_o <= !q_o;
endmodule
""", "rtl/queue.sv": """
module queue #(parameter int N = 1) (input logic clk_i, output logic q_o);
  always_ff @(posedge clk_i) q_o <= !q_o;
endmodule
"""}


class Sources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in TREE.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self.addCleanup(setattr, pieces, "PIECES", pieces.PIECES)
        P = pieces.Piece
        pieces.PIECES = {"lane": P("lane"), "core": P("core", "tiny", ("lane",)), "whole": P("core"),
                         "queue": P("queue"), "none": P("none"), "uncut": P("core", cut=("queue",))}

    def listed(self, *labels):
        return source.listed(self.root, labels, self.root / "work")

    def test_parameters_are_those_of_the_device(self):
        lane, core, whole = self.listed("lane", "core", "whole")
        self.assertEqual([s.label for s in (lane, core, whole)], ["lane", "core", "whole"])
        self.assertEqual((lane.params, lane.device, lane.boxes), ({"WARPS": "4"}, "default", []))
        self.assertEqual((core.params, core.device, core.cut), ({"LANES": "4"}, "tiny", ["lane"]))
        self.assertEqual(whole.params, {"LANES": "16"})
        self.assertEqual(len(core.boxes), 1)
        self.assertIn("attribute \\blackbox 1\nmodule \\" + core.boxes[0], core.text)
        self.assertNotIn("blackbox", whole.text)

    def test_the_hash_is_of_the_piece(self):
        before = {s.label: figures.keys(s) for s in self.listed("lane", "core")}
        file = self.root / "rtl/simt/lane.sv"
        file.write_text("// A comment.\n" + file.read_text())
        self.assertEqual({s.label: figures.keys(s) for s in self.listed("lane", "core")}, before)
        file.write_text(file.read_text().replace("!q_o", "q_o"))
        after = {s.label: figures.keys(s) for s in self.listed("lane", "core")}
        self.assertEqual((after["core"], after["lane"] == before["lane"]), (before["core"], False))
        lane, = self.listed("lane")
        self.assertEqual(figures.keys(lane, 2)[0], figures.keys(lane)[0])
        self.assertNotEqual(figures.keys(lane, 2)[1], figures.keys(lane)[1])

    def test_a_module_alone(self):
        s = source.alone(self.root, "lane", {"WARPS": 8}, self.root / "work")
        self.assertEqual((s.label, s.params, s.device), ("lane-warps8", {"WARPS": "8"}, ""))
        with self.assertRaisesRegex(elaborate.Error, "COLOUR"):
            source.alone(self.root, "lane", {"COLOUR": 8}, self.root / "work")

    def test_errors(self):
        for label, said in (("none", "'default' has no module none"), ("queue", "several sets of parameters: queue"),
                            ("uncut", "core has no module queue to cut off")):
            with self.assertRaisesRegex(elaborate.Error, said):
                self.listed(label)


def report():
    def step(kind, frm, to, delay):
        return {"type": kind, "from": {"cell": frm}, "to": {"cell": to}, "delay": delay}
    path = [step("clk-to-q", "u_a", "u_a", 0.5), step("routing", "u_a", "u_l", 6.0), step("logic", "u_l", "u_l", 1.5),
            step("setup", "wrap/out/y_o[3]", "wrap/out/y_o[3]", 0)]
    return {"fmax": {"clk": {"achieved": 123.456, "constraint": 70.0}},
            "critical_paths": [{"from": "posedge clk", "to": "posedge clk", "path": path},
                               {"from": "<async>", "to": "posedge clk", "path": []}],
            "utilization": {"TRELLIS_COMB": {"used": 30, "available": 83640},
                            "TRELLIS_FF": {"used": 12, "available": 83640}, "DP16KD": {"used": 1, "available": 208}}}


MODULE = {"cells": {"u_a": {"connections": {"Q": [7], "DI": [8]}}},
          "netnames": {"a_q": {"bits": [6, 7]}, "$auto$1": {"bits": [7]}}}


class Figures(unittest.TestCase):
    def read(self, edited=None, inside=None):
        return figures.read(edited or report(), MODULE, inside or {"TRELLIS_FF": 4, "LUT4": 20, "DP16KD": 1},
                            {"TRELLIS_FF": 8, "LUT4": 3})

    def test_figures(self):
        f = self.read()
        self.assertEqual((f["fmax_mhz"], f["routing_percent"], f["from"], f["to"]), (123.5, 75, "a_q", "output y_o"))
        self.assertEqual(f["use"], {"TRELLIS_COMB": 27, "TRELLIS_FF": 4, "DP16KD": 1, "MULT18X18D": 0})
        self.assertEqual(figures.end("wrap/fold/1[2]/ff", MODULE, {}), "the wrapper")
        self.assertEqual(figures.end("wrap/in/u_lane.q_o[12]", MODULE, {}), "input u_lane.q_o")
        self.assertEqual(figures.end("u_mult", MODULE, {}), "u_mult")
        self.assertEqual(figures.end("ram_DP16KD_DOA", MODULE, {}), "near ram")
        self.assertEqual(figures.end("u_a", MODULE, {7: "x_q_TRELLIS_FF_Q_4_DI_LUT4_Z"}), "near x_q")
        names = {"x_q_LUT4_Z_q": {"bits": [1, 2]}, "b": {"bits": [2]}}
        self.assertEqual(figures.named_bits({"netnames": names}), {1: "x_q_LUT4_Z_q", 2: "b"})

    def test_a_design_that_lost_cells_is_refused(self):
        for inside in ({"TRELLIS_FF": 5, "DP16KD": 1}, {"TRELLIS_FF": 4}, {"TRELLIS_FF": 4, "DP16KD": 1,
                                                                           "MULT18X18D": 1}):
            with self.assertRaisesRegex(steps.Failed, "not be those of the piece"):
                self.read(inside=inside)
        no_path = report()
        no_path["critical_paths"] = no_path["critical_paths"][1:]
        with self.assertRaisesRegex(steps.Failed, "not one clock and one path"):
            self.read(no_path)

    def test_a_step_that_takes_too_long_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.time()
            with self.assertRaisesRegex(steps.Failed, "route: not finished after 0.005 minutes, last at: Routing"):
                steps.run("route", ["/bin/sh", "-c", "echo Info: Routing 5 arcs.; exec sleep 60"],
                          pathlib.Path(folder, "log"), "", 0.3)
            self.assertLess(time.time() - begin, 30)

    def test_a_silent_step_shows_progress(self):
        self.addCleanup(setattr, steps, "PROGRESS", steps.PROGRESS)
        steps.PROGRESS, err = 0.1, io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(err):
            steps.run("synth", ["/bin/sh", "-c", "echo 4.1 Executing ABC9 pass.; sleep 1; echo \"$0\"; sleep 1",
                                "Info:       7000 |      718       6281 |   84   916 |     76209|       0.62       6|"],
                      pathlib.Path(folder, "log"), "")
        self.assertIn("  synth: 0 s, Executing ABC9 pass\n", err.getvalue())
        self.assertIn(" s, 76209 arcs left\n", err.getvalue())


def one(fmax=80.0, cells=2000, key="h", **more):
    return {"module": "fp_fma", "device": "default", "params": {"N": "4"}, "cut": [], "hash": key, "seed": 1,
            "fmax_mhz": fmax, "routing_percent": 60, "from": "a_q", "to": "output y_o",
            "use": {"TRELLIS_COMB": cells, "TRELLIS_FF": 100, "DP16KD": 2, "MULT18X18D": 4}, **more}


def failed(key="h"):
    return {k: v for k, v in one(key=key).items() if k in ("module", "device", "params", "cut", "hash", "seed")} | {
        "failed": "route: no place"}


class Baseline(unittest.TestCase):
    def told(self, new, old=None):
        return "\n".join(baseline.problems("fp_fma", new, old or one(key="old")))

    def test_limits(self):
        self.assertEqual(self.told(one()), "")
        self.assertEqual(self.told(one(68.0, 2040)), "")
        self.assertIn("67.9 MHz, 80.0 in the baseline: 68.0 is the limit; shorten the path from a_q to output y_o",
                      self.told(one(67.9)))
        self.assertIn("2,041 logic cells, 2,000 in the baseline", self.told(one(cells=2041)))
        self.assertEqual(self.told(one(cells=116), one(cells=100, key="old")), "")
        self.assertIn("117 logic cells", self.told(one(cells=117), one(cells=100, key="old")))
        blocks = one()
        blocks["use"]["DP16KD"] = 3
        self.assertIn("3 block memories, 2 in the baseline", self.told(blocks))

    def test_the_same_source_gives_the_same(self):
        self.assertEqual(self.told(one(), one()), "")
        self.assertIn("fmax_mhz is 90.0 in the baseline, and the same source gives 80.0; somebody wrote it by hand",
                      self.told(one(), one(90.0)))

    def test_failures(self):
        self.assertIn("route: no place; the baseline has 80.0 MHz", self.told(failed("new")))
        self.assertEqual(self.told(failed("new"), failed("old")), "")
        self.assertEqual(self.told(one(), failed("old")), "")

    def test_table(self):
        page = baseline.with_table("a\n" + baseline.BEGIN + baseline.END + "b\n",
                                   {**baseline.HEAD, "pieces": {"fp_fma": one(), "mmu": failed(), "mover": one(69.9)}})
        self.assertIn(f"1 of {len(pieces.PIECES)} pieces reach 70 MHz.\n\nNot measured yet: `div_lane`, `simt", page)
        self.assertIn("| `fp_fma` | default: N=4 | 2,000 | 100 | 2 | 4 | 80.0 | 60 | yes | `a_q` | `output y_o` |\n",
                      page)
        self.assertIn("| `mmu` | default: N=4 |  |  |  |  | route: no place |  | no |  |  |", page)
        self.assertIn("| 69.9 | 60 | no |", page)
        for wrong in "", baseline.END + baseline.BEGIN, 2 * (baseline.BEGIN + baseline.END):
            with self.assertRaisesRegex(record.Error, "cannot be replaced"):
                baseline.with_table(wrong, {**baseline.HEAD, "pieces": {}})

    def test_another_tool_or_list(self):
        self.assertEqual(baseline.foreign(baseline.HEAD), [])
        self.assertIn("the tools {'yosys': '1'}", baseline.foreign({**baseline.HEAD, "tools": {"yosys": "1"}})[0])
        told = baseline.missing({"pieces": {"fp_fma": one(), "gone": one()}})
        self.assertEqual(len(told), len(pieces.PIECES))
        self.assertIn("gone: in the baseline and not in the list", told[-1])


class Commands(unittest.TestCase):
    """--check and --update with a baseline and a page of their own, and figures that the test gives."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.page, self.file = pathlib.Path(folder.name, "page.md"), pathlib.Path(folder.name, "clock.json")
        for place, name, value in ((script, "PAGE", self.page), (script, "BASELINE", self.file),
                                   (script, "ROOT", pathlib.Path(folder.name)), (script, "sources", self.sources),
                                   (figures, "measure", self.measure), (figures, "keys", lambda s, _=1: ("", s.text)),
                                   (pieces, "PIECES", {x: pieces.Piece(x) for x in ("a", "b", "c")})):
            self.addCleanup(setattr, place, name, getattr(place, name))
            setattr(place, name, value)
        self.page.write_text("before\n" + baseline.BEGIN + baseline.END + "after\n")
        self.now = {x: one(key=f"{x}1") for x in pieces.PIECES}
        self.measured = []

    def sources(self, opts):
        return [source.Source(x, "", "", {}, [], "", self.now[x]["hash"], []) for x in opts.pieces or pieces.PIECES]

    def measure(self, s, *_):
        self.measured.append(s.label)
        f = self.now[s.label]
        if isinstance(f.get("raises"), BaseException):
            raise f["raises"]
        return f

    def run_(self, *args):
        """Returns status, standard output and standard error of scripts/clock, and which pieces it measured."""
        self.measured = []
        argv, sys.argv = sys.argv, ["scripts/clock", *args]
        out, err = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = script.main()
        except SystemExit as e:
            status = e.code
        finally:
            sys.argv = argv
        return status, out.getvalue(), err.getvalue(), "".join(self.measured)

    def test_update_then_check(self):
        self.assertEqual(self.run_("--update")[::3], (0, "abc"))
        self.assertEqual(self.run_("--update")[::3], (0, ""))
        self.assertEqual(self.run_("--check")[::3], (0, ""))
        self.assertEqual(self.run_("--check", "--all")[::3], (0, "abc"))
        self.now["b"] = one(60.0, key="b2")
        status, out, _, measured = self.run_("--check")
        self.assertEqual((status, measured), (1, "b"))
        self.assertIn("b: 60.0 MHz, 80.0 in the baseline", out)
        self.assertEqual(self.run_("--check", "a")[::3], (0, ""))
        self.assertEqual(self.run_("--update", "--force", "c")[::3], (0, "c"))
        self.assertEqual(self.run_("--update")[::3], (0, "b"))
        self.assertIn("| 60.0 |", self.page.read_text())
        self.assertEqual(self.run_("--check")[0], 0)

    def test_an_interrupted_update_goes_on(self):
        self.now["b"]["raises"] = KeyboardInterrupt()
        with self.assertRaises(KeyboardInterrupt):
            self.run_("--update")
        self.assertEqual(list(baseline.read(self.file)["pieces"]), ["a"])
        self.assertIn("Not measured yet: `b`, `c`.", self.page.read_text())
        self.assertEqual(self.run_("--check")[0], 1)
        del self.now["b"]["raises"]
        self.assertEqual(self.run_("--update")[::3], (0, "bc"))
        self.assertEqual(self.run_("--check")[0], 0)

    def test_a_piece_that_fails_does_not_end_it(self):
        told = f"route: failed with status 1; all of it is in {ROOT}/log\n  ERROR: no BEL | left\n  hint"
        self.now["b"]["raises"] = steps.Failed(told)
        status, _, err, measured = self.run_("--update")
        self.assertEqual((status, measured, told in err), (1, "abc", True))
        self.assertEqual(baseline.read(self.file)["pieces"]["b"]["failed"], "no BEL / left")
        self.assertEqual(self.run_("--check")[::3], (0, ""))  # The table says so.

    def test_edits_are_refused(self):
        self.run_("--update")
        good, page = self.file.read_text(), self.page.read_text()
        for text, said in (("{", "not a baseline"), ("{}", "it has no "), (good.replace("80.0", "90.0"), "by hand")):
            self.file.write_text(text)
            status, _, err, _ = self.run_("--check")
            self.assertEqual((status, said in err), (1, True), err)
        content = json.loads(good)
        content["pieces"]["a"]["fmax_mhz"] = 90.0
        record.write(self.file, {k: v for k, v in content.items() if k != "digest"})
        self.page.write_text(baseline.with_table(page, content))
        self.assertEqual(self.run_("--check")[0], 0)
        status, out, _, _ = self.run_("--check", "--all")
        self.assertEqual((status, "a: fmax_mhz is 90.0 in the baseline" in out), (1, True), out)
        self.file.write_text(good)
        status, out, _, _ = self.run_("--check")
        self.assertEqual((status, "page.md: its table is not that of the baseline" in out), (1, True), out)
        self.file.write_text("{")
        status, _, err, measured = self.run_("--update")  # It makes it again.
        self.assertEqual((status, measured, "all pieces anew" in err), (0, "abc", True))
        self.assertEqual((self.file.read_text(), self.page.read_text()), (good, page))

    def test_figures_alone(self):
        status, out, _, _ = self.run_("a")
        self.assertEqual((status, out.count("| yes |")), (0, 1))
        self.now["b"] = one(69.9)
        self.assertEqual(self.run_("a", "b")[0], 1)
        self.assertEqual(json.loads(self.run_("--json", "b")[1])["b"]["fmax_mhz"], 69.9)

    def test_arguments(self):
        for args, told in ((["--check", "--update"], "give one of them"), (["--all"], "goes with --check"),
                           (["--check", "--seed", "2"], "seed 1"), (["--update", "--until", "synth"], "all steps"),
                           (["nothing"], "no piece and no module nothing"), (["--check", "tlb"], "not in the list"),
                           (["--param", "A=1"], "one MODULE"), (["tlb", "--param", "a=1"], "is no NAME=VALUE"),
                           (["a", "--param", "N=1"], "no module a"), (["--minutes", "0"], "above 0"),
                           (["--until", "pack"], "invalid choice")):
            status, _, err, _ = self.run_(*args)
            self.assertEqual((status, told in err), (2, True), err)


class Repository(unittest.TestCase):
    def test_page_is_of_the_baseline(self):
        old, page = baseline.read(script.BASELINE), script.PAGE.read_text()
        self.assertEqual(baseline.with_table(page, old), page, "run scripts/clock --update")
        self.assertEqual(baseline.foreign(old), [])
        self.assertEqual(set(old["pieces"]) - set(pieces.PIECES), set())

    def test_pieces_are_modules_of_the_device(self):
        inside = script.rtl_files.contents()
        for label, piece in pieces.PIECES.items():
            self.assertIn(piece.module, inside, label)
            self.assertIn(piece.device, pieces.DEVICES, label)
            below = {f.stem for f in script.rtl_files.files_of(piece.module)}
            self.assertEqual(set(piece.cut) - below, set(), label)


if __name__ == "__main__":
    unittest.main()
