# SPDX-License-Identifier: Apache-2.0
"""scripts/synth on a small device: resources are counted, and a path that leaves a module by an output is followed
through a sibling without registers. Growth and a stage that is too deep are refused. A module that is unchanged is not
synthesised, whatever numbers Yosys gives. Documents are compared with the baseline; a baseline that was changed by hand
is refused, by the whole synthesis also if its digest is new. Wrong input is reported.

The device has the module names of the real one, so that the command runs as it does there. Each engine: 36 registers of
mover, reduced in a level of LUTs to six outputs; mmu makes one bit of them in a level, without a register; engine takes
that with five of its own registers, in a level. Three levels therefore lead from mover through mmu to engine.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
import record  # noqa: E402
from synth import elaborate, figures, gate, report  # noqa: E402

RTL = {"rtl/top/tern_kernel.v": """
module tern_kernel #(parameter ENGINES = 2, parameter MEM_PAGES = 1048576) (
    input wire clk_i, input wire [35:0] d_i, input wire [21:0] addr_i, output wire [ENGINES-1:0] q_o, output wire p_o);
  genvar e;
  generate for (e = 0; e < ENGINES; e = e + 1) begin : g_engine
    engine u_engine (.clk_i(clk_i), .d_i({d_i, d_i} >> e), .q_o(q_o[e]));
  end endgenerate
  dirty_plane #(.UNITS(MEM_PAGES)) u_plane (.clk_i(clk_i), .addr_i(addr_i), .d_i(d_i), .q_o(p_o));
endmodule
""", "rtl/top/tern_top.sv": """
module tern_top #(parameter int ENGINES = 2, parameter int PORTS = 1) (
    input logic clk_i, input logic [35:0] d_i, output logic [ENGINES*PORTS-1:0] q_o);
  for (genvar e = 0; e < ENGINES * PORTS; e++) begin : g_engine
    engine u_engine (.clk_i, .d_i, .q_o(q_o[e]));
  end
endmodule
""", "rtl/engine/engine.sv": """
module engine (input logic clk_i, input logic [35:0] d_i, output logic q_o);
  logic [5:0] y;
  logic [4:0] kept_q;
  logic z, q_q;
  mover u_mover (.clk_i, .d_i, .y_o(y));
  mmu u_mmu (.y_i(y), .z_o(z));
  always_ff @(posedge clk_i) begin
    kept_q <= d_i[4:0];
    q_q <= z ^ (^kept_q);
  end
  assign q_o = q_q;
endmodule
""", "rtl/engine/mover.sv": """
module mover (input logic clk_i, input logic [35:0] d_i, output logic [5:0] y_o);
  logic [35:0] d_q;
  always_ff @(posedge clk_i) d_q <= d_i;
  always_comb for (int i = 0; i < 6; i++) y_o[i] = ^d_q[6*i +: 6];
endmodule
""", "rtl/mem/mmu.sv": """
module mmu (input logic [5:0] y_i, output logic z_o);
  assign z_o = y_i[0] ? &y_i[5:1] : |y_i[5:1];
endmodule
""", "rtl/mem/dirty_plane.sv": """
module dirty_plane #(parameter int UNITS = 1048576) (
    input logic clk_i, input logic [21:0] addr_i, input logic [35:0] d_i, output logic q_o);
  localparam int WORDS = UNITS / 128;
  logic [127:0] plane [0:WORDS-1];
  logic [127:0] q_q;
  logic [$clog2(WORDS)-1:0] at_q;
  always_ff @(posedge clk_i) begin
    if (d_i[0]) q_q <= plane[addr_i[$clog2(WORDS)-1:0]];
    if (d_i[1]) plane[at_q] <= 128'({4{d_i}});
    at_q <= at_q + d_i[$clog2(WORDS)-1:0];
  end
  assign q_o = ^q_q;
endmodule
"""}
PAGE = "# Size\n\n" + report.BEGIN + report.END + "\nMore.\n"
DEEP = "&y_i[5:1] : |y_i[5:1]"
DEEPER = "&y_i[5:1] + y_i[4:1] > y_i[5:2] : |y_i[5:1] & (y_i[5:3] * y_i[4:2] > 6'd20)"


class Tree:
    """A copy of the small device, with its baseline, in a directory of its own."""

    def __init__(self, base=None):
        self.root = pathlib.Path(tempfile.mkdtemp())
        if base:
            shutil.copytree(base.root, self.root, dirs_exist_ok=True)
            return
        for name, text in RTL.items():
            self.write(name, text)
        self.write("docs/hardware/size.md", PAGE)
        for folder in "docs/pictures", "tests/synth":
            (self.root / folder).mkdir(parents=True)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def change(self, name, old, new):
        text = (self.root / name).read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        self.write(name, text.replace(old, new))

    def run(self, *args):
        done = subprocess.run([ROOT / "scripts/synth", "--root", self.root, *args], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def baseline(self):
        return json.loads((self.root / "tests/synth/baseline.json").read_text())

    def rewrite(self, baseline):
        """Writes a baseline with a valid digest and any numbers."""
        self.write("tests/synth/baseline.json", json.dumps({**baseline, "digest": record.digest(baseline)}))

    def remove(self):
        shutil.rmtree(self.root)


class Synth(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.first = Tree()
        cls.status, cls.out, cls.err = cls.first.run("--update")

    @classmethod
    def tearDownClass(cls):
        cls.first.remove()

    def copy(self):
        tree = Tree(self.first)
        self.addCleanup(tree.remove)
        return tree

    def test_counts(self):
        self.assertEqual(self.status, 0, self.err)
        found = self.first.baseline()
        engine = {"FF": 6, "DSP": 0, "URAM": 0}
        self.assertEqual({k: found["units"]["engine"][k] for k in engine}, engine)
        self.assertEqual(found["units"]["mover"]["FF"], 36)
        for number in 1, 2, 4:
            sums = found["configurations"][f"engines-{number}"]
            self.assertEqual(sums["units"]["mover"], number)
            self.assertEqual(sums["FF"], number * 42 + found["units"]["dirty_plane(UNITS=1048576)"]["FF"])
        ports = found["configurations"]["ports-2"]
        self.assertEqual((ports["units"]["engine"], ports["FF"]), (4, 4 * 42))

    def test_path_through_a_module(self):
        found = self.first.baseline()
        _, out, _ = self.first.run("--json")
        levels, frm, to = json.loads(out)["paths"]["mover -> engine"]
        self.assertEqual((levels, frm, to), (3.0, "u_mover.d_q", "q_q"))
        unit = found["units"]
        self.assertEqual((unit["mover"]["out"], unit["mmu"]["through"], unit["mover"]["inside"]), (1.0, 1.0, 0.0))

    def test_pieces_are_as_deep_as_the_whole(self):
        """An engine as one unit is not deeper than as three units, and at most one level less deep for each border."""
        with tempfile.TemporaryDirectory() as work:
            design, tops = elaborate.elaborate(self.first.root, {"alone": ("engine", {})}, pathlib.Path(work),
                                                {"engine"})
            measure = figures.Measure(design, tops, {}, pathlib.Path(work), 1, True)
            measure.measure(measure.keys)
            whole = max(levels for levels, _, _ in measure.result()["paths"].values())
        self.assertTrue(3.0 - 2 <= whole <= 3.0, whole)

    def test_unchanged(self):
        tree = self.copy()
        shutil.rmtree(tree.root / "build")
        tree.change("rtl/engine/mover.sv", "  logic [35:0] d_q;", "\n\n  // the register\n  logic [35:0] d_q;")
        status, out, err = tree.run("--check")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r" 0 synthesised")

    def test_numbers_of_yosys(self):
        """Yosys numbers names over the whole elaboration. A change in an earlier module leaves the text of a unit as it
        was."""
        tree = self.copy()
        tree.write("rtl/engine/mover.sv", """
module mover (input logic clk_i, input logic [35:0] d_i, output logic [5:0] y_o);
  logic [35:0] d_q;
  logic [5:0] a, b, c_q, e_q;
  function automatic logic [5:0] ones(input logic [35:0] of);
    ones = '0;
    for (int i = 0; i < 36; i++) if (of[i]) ones = ones + 6'd1;
  endfunction
  always_comb begin
    b = '0; a = 6'd1; y_o = ones(d_q);
    case (d_q[1:0])
      2'd0: begin y_o = c_q; b = d_q[5:0]; a = e_q; end
      2'd1: begin b = e_q; a = c_q; end
      default: ;
    endcase
  end
  always_ff @(posedge clk_i) begin
    d_q <= d_i; e_q <= b; c_q <= a ^ e_q;
    if (d_i[35]) begin e_q <= '0; c_q <= '1; end
  end
endmodule
""")
        hashes = []
        for more in 0, 3, 7, 95:
            lines = "".join(f"\n  wire w{i} = &(d_i ^ (d_i + {i})) ? d_i[0] : d_i[1];" for i in range(more))
            tree.write("rtl/engine/engine.sv", RTL["rtl/engine/engine.sv"].replace("  logic z", lines + "\n  logic z"))
            design, _ = elaborate.elaborate(tree.root, {"alone": ("engine", {})}, tree.root / "build/synth")
            hashes.append(design.hashes)
        self.assertEqual(len({h["mover"] for h in hashes}), 1)
        self.assertEqual(len({h["engine"] for h in hashes}), 4)

    def test_order_of_assignments(self):
        """Yosys orders the assignments of a case by its own numbers. Two assignments to one wire keep their order."""
        def of(*lines):
            return elaborate.canonical(["  wire \\a", "  wire \\b", *lines, "  end"], {})
        first = of("    assign \\b 1'0", "    assign \\a 1'0", "    assign \\a 1'1")
        self.assertEqual(first, of("    assign \\a 1'0", "    assign \\b 1'0", "    assign \\a 1'1"))
        self.assertNotEqual(first, of("    assign \\b 1'0", "    assign \\a 1'1", "    assign \\a 1'0"))

    def test_growth(self):
        tree = self.copy()
        tree.change("rtl/engine/engine.sv", "logic z, q_q;", "logic z, q_q, more_q;")
        tree.change("rtl/engine/engine.sv", "q_o = q_q", "q_o = more_q")
        tree.change("rtl/engine/engine.sv", "    q_q <=", "    more_q <= q_q;\n    q_q <=")
        status, out, err = tree.run("--check")
        self.assertEqual(status, 1, out + err)
        self.assertIn("engine: 7 FF, 6 in the baseline: +16.7 %, 2 % is the limit", out)
        self.assertIn("configuration engines-4: ", out)
        self.assertEqual(tree.run("--update", "-q")[0], 0)
        self.assertEqual(tree.run("--check")[0], 0)

    def test_growth_within_the_limit(self):
        old = self.first.baseline()
        new = json.loads(json.dumps(old))
        new["units"]["mover"]["LUT"] = old["units"]["mover"]["LUT"] = 1000
        for luts, refused in (1020, 0), (1021, 1):
            new["units"]["mover"]["LUT"] = luts
            self.assertEqual(len(gate.problems(new, old)), refused, luts)
        new["units"]["mover"]["LUT"] = old["units"]["mover"]["LUT"] = 100
        for luts, refused in (116, 0), (117, 1):  # as many as a constant moves, in a small unit too
            new["units"]["mover"]["LUT"] = luts
            self.assertEqual(len(gate.problems(new, old)), refused, luts)
        new["units"]["mover"] = {**old["units"]["mover"], "FF": old["units"]["mover"]["FF"] + 1}
        self.assertEqual(len(gate.problems(new, old)), 1)

    def test_depth_within_the_limit(self):
        old = self.first.baseline()
        old["limits"]["excess"] = {"mover -> mover": 9.25}
        for pair, most in ("mover -> mover", 9.75), ("mover -> engine", 8.5):
            for levels, refused in (most, 0), (most + 0.01, 1):
                new = {**old, "paths": {pair: [levels, "a", "b"]}}
                self.assertEqual(len(gate.problems(new, old)), refused, (pair, levels))

    def test_only_what_changed(self):
        """A module that has fewer levels at its ports than before is synthesised alone."""
        tree = self.copy()
        shutil.rmtree(tree.root / "build")
        tree.change("rtl/mem/mmu.sv", DEEP, "y_i[1] : y_i[2]")
        status, out, err = tree.run("--check")
        self.assertEqual((status, "1 synthesised" in out), (0, True), out + err)
        self.assertNotIn("whole device", err)

    def test_stage_in_a_sibling(self):
        """Logic that is added to mmu, which has no register, makes the path from mover to engine too deep."""
        tree = self.copy()
        baseline = tree.baseline()
        baseline["limits"]["levels"] = 3.0
        tree.rewrite(baseline)
        tree.change("rtl/mem/mmu.sv", DEEP, DEEPER)
        status, out, err = tree.run("--check")
        self.assertEqual(status, 1, out + err)
        self.assertRegex(out, r"mover -> engine: [4-9]\.\d\d levels of logic from u_mover\.d_q to q_q, 3\.00 is the")
        self.assertIn("mmu: more levels at its ports than before", err)
        baseline["limits"]["excess"] = {"mover -> engine": 20.0}
        tree.rewrite(baseline)
        self.assertNotIn("mover -> engine", tree.run("--check")[1])

    def test_changed_by_hand(self):
        """A changed baseline with a wrong digest is refused at once; one with the right digest is refused by --all."""
        tree = self.copy()
        tree.change("tests/synth/baseline.json", '"growth": 0.02', '"growth": 0.5')
        status, _, err = tree.run("--check")
        self.assertEqual((status, "baseline.json: changed by hand" in err), (2, True), err)
        tree.write("tests/synth/baseline.json", (self.first.root / "tests/synth/baseline.json").read_text())
        self.assertEqual(tree.run("--check", "--all", "-q"), (0, tree.run("--check", "--all")[1], ""))

        def change(said, *where):
            found = self.first.baseline()
            *path, last, value = where
            at = found
            for name in path:
                at = at[name]
            at[last] = value
            tree.rewrite(found)
            gate.read(tree.root / "tests/synth/baseline.json")
            self.assertIn(said, tree.run("--check", "--all")[1])
        change("mover: 60 LUT in the baseline, and the same source gives 6;", "units", "mover", "LUT", 60)
        change("mover: 9.0 out in the baseline, and the same source gives 1.0;", "units", "mover", "out", 9.0)
        change("configuration engines-2: 9999 FF in the baseline, its units have ", "configurations", "engines-2", "FF",
               9999)
        change("a -> b: [9.0, 'x', 'y'] in the baseline, and the same source gives None;", "paths", "a -> b",
               [9.0, "x", "y"])
        change("the limits of the baseline are not those", "limits", "excess", {"mover -> engine": 20.0})

    def test_modules_come_and_go(self):
        old = self.first.baseline()
        new = json.loads(json.dumps(old))
        new["units"]["other"] = new["units"].pop("mover")
        found = "\n".join(gate.problems(new, old))
        self.assertIn("other: not in the baseline", found)
        self.assertIn("mover: in the baseline and not in the device", found)

    def test_other_tool(self):
        tree = self.copy()
        tree.rewrite({**tree.baseline(), "tool": "Yosys 9.9"})
        status, _, err = tree.run("--check")
        self.assertEqual((status, "made with Yosys 9.9, here is Yosys " in err), (2, True), err)

    def test_dirty_plane(self):
        """The plane of 16 GiB: 4 Mbit in blocks. A device with one twice as large is over the limit of 1 MiB."""
        found = self.first.baseline()
        (label, (number, bits)), = gate.plane(found).items()
        self.assertEqual((label, number), ("dirty_plane(UNITS=4194304)", 1))
        self.assertTrue(1 << 22 <= bits <= 5 << 20, bits)
        self.assertEqual(gate.problems(found, found), [])
        found["units"][label]["BRAM"] = 228
        self.assertIn("dirty plane of 16 GiB: 8,404,992 bits", "\n".join(gate.problems(found, found)))
        found["units"][label]["BRAM"] = 0
        self.assertIn("dirty plane of 16 GiB: 0 bits", "\n".join(gate.problems(found, found)))

    def test_documents(self):
        tree = self.copy()
        self.assertIn("| mover |", (tree.root / "docs/hardware/size.md").read_text())
        self.assertTrue((tree.root / "docs/hardware/size.md").read_text().endswith("\nMore.\n"))
        tree.change("docs/hardware/size.md", "| mover | 2 |", "| mover | 3 |")
        tree.write("docs/pictures/size.svg", "<svg/>")
        status, out, _ = tree.run("--check")
        self.assertEqual(status, 1)
        self.assertEqual(re.findall(r"^docs/\S+: not as", out, re.M),
                         ["docs/hardware/size.md: not as", "docs/pictures/size.svg: not as"])
        tree.write("docs/hardware/size.md", "# Size\n")
        status, _, err = tree.run("--check")
        self.assertEqual((status, "cannot be replaced" in err), (2, True), err)

    def test_module_alone(self):
        status, out, err = self.first.run("--json", "--param", "UNITS=2048", "dirty_plane")
        self.assertEqual(status, 0, err)
        self.assertEqual(list(json.loads(out)["units"]), ["dirty_plane"])
        self.assertRegex(self.first.run("engine")[1], r"(?m)^ +3\.00  mover -> engine   u_mover\.d_q -> q_q$")

    def test_errors(self):
        tree = self.copy()
        for args, said in ((("no_such",), "no_such"), (("--check", "--update"), "one of them"),
                           (("--check", "mover"), "MODULE"), (("--all",), "--check"), (("--param", "A=1"), "MODULE"),
                           (("--param", "A", "mover"), "NAME=VALUE"), (("--jobs", "0", "mover"), "from 1 on"),
                           (("--check", "--baseline", "nowhere"), "nowhere")):
            status, _, err = tree.run(*args)
            self.assertEqual((status, said in err), (2, True), (args, err))
        for text, said in ("{", "not a baseline"), ("{}", "it has no configurations or digest"):
            tree.write("tests/synth/baseline.json", text)
            status, _, err = tree.run("--check")
            self.assertEqual((status, said in err), (2, True), err)
        tree.change("rtl/mem/mmu.sv", "  assign", "  nothing u_nothing ();\n  assign")
        status, _, err = tree.run("mmu")
        self.assertEqual((status, "nothing" in err and "mmu" in err), (2, True), err)

    def test_loop(self):
        """A combinational loop through two modules is an error and not a path."""
        tree = self.copy()
        tree.change("rtl/engine/engine.sv", "u_mmu (.y_i(y)", "u_mmu (.y_i({z, y[4:0]})")
        status, _, err = tree.run("engine")
        self.assertEqual((status, "engine: a loop of logic" in err), (2, True), err)


class Repository(unittest.TestCase):
    def test_documents_are_of_the_baseline(self):
        numbers = gate.read(ROOT / "tests/synth/baseline.json")
        page = (ROOT / "docs/hardware/size.md").read_text()
        self.assertEqual(report.with_tables(page, numbers), page, "run scripts/synth --update")
        self.assertEqual(report.chart(numbers), (ROOT / "docs/pictures/size.svg").read_text())

    def test_baseline_is_within_its_limits(self):
        numbers = gate.read(ROOT / "tests/synth/baseline.json")
        self.assertEqual(gate.problems(numbers, numbers), [])


if __name__ == "__main__":
    unittest.main()
