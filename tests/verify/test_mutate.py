# SPDX-License-Identifier: Apache-2.0
"""Tests of the tools that put mutants into RTL: which mutants they find, nested edits, and reviews that no longer fit.
"""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))


def load(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


mutate, auto = load("mutate"), load("mutate-auto")

MODULE = """module m #(parameter int W = 8 + 1) (input logic clk_i, rst_i, a_i, b_i, input logic [W-1:0] x_i, y_i, \
output logic [W-1:0] o);
  localparam logic [3:0] K = 4'd3 + 4'd1;
  // assign c = a && b;
  assign o = a_i && !b_i ? x_i[W-1:0] + {(W-1){b_i}} : W'(y_i);
  always_ff @(posedge clk_i) begin
    if (a_i == b_i) q <= 4'd5;
    for (int i = 0; i < 4; i++) r[i] <= x_i[i+:2] < y_i[i];
    if (rst_i) q <= '0;
    case (x_i) p_pkg::K, p_pkg::L: s <= a_i; default: ; endcase
  end
  always_comb begin
    case (x_i)
      K: z = a_i || b_i;
      default: z = a_i ? b_i : 1'b0;
    endcase
  end
  n #(.W(W + 1)) u_n (.clk_i, .v_i(a_i && b_i), .o(o2));
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) assert (a_i == b_i);
`endif
endmodule
"""
FOUND = [
    (4, "! is left out"), (4, "&& becomes ||"), (4, "+ becomes -"), (4, "arms swapped: x_i[W-1:0] + {(W-1){b_i}}"),
    (4, "left out: && !b_i"), (4, "left out: a_i &&"),
    (6, "4'd5 becomes 4'd13"), (6, "4'd5 becomes 4'd4"), (6, "4'd5 becomes 4'd6"), (6, "== becomes !="),
    (6, "== without bit 0"), (6, "left out"), (6, "the condition is negated"), (7, "< becomes <="), (7, "left out"),
    (9, "left out"), (13, "left out: a_i ||"), (13, "left out: || b_i"), (13, "|| becomes &&"),
    (14, "1'b0 becomes 1'd1"), (14, "arms swapped: b_i"), (17, "&& becomes ||"), (17, "left out: && b_i"),
    (17, "left out: a_i &&"),
]


class Sites(unittest.TestCase):
    def test_which(self):
        with tempfile.TemporaryDirectory() as folder:
            rtl = pathlib.Path(folder)
            (rtl / "m.sv").write_text(MODULE)
            (rtl / "m_pkg.sv").write_text("package m_pkg; localparam int A = 1 + 2; endpackage\n")
            self.assertEqual(sorted((m.line, m.site.change) for m in auto.all_mutants(rtl)), sorted(FOUND))

    def test_each_changes_what_it_says(self):
        sites = {(MODULE.count("\n", 0, s.at) + 1, s.change): s for s in auto.mutate_sites.sites(MODULE)}
        text = lambda line, change: sites[line, change].new
        self.assertEqual(text(4, "left out: a_i &&").split(), "!b_i ? x_i[W-1:0] + {(W-1){b_i}} : W'(y_i)".split())
        self.assertEqual(text(6, "== without bit 0"), "(((a_i) ^ (b_i)) | 64'd1) == 64'd1")
        self.assertEqual(mutate.apply("a <= b;",
                                      [auto.mutate_sites.Site(0, 7, None, "left out", 0, guard=True).edit(3)]),
                         "begin if (tern_mutant_pkg::select != 3) a <= b; end")
        s = sites[9, "left out"]
        self.assertEqual(MODULE[s.start:s.end], "s <= a_i;")
        self.assertEqual(text(14, "arms swapped: b_i").split(), "a_i ? 1'b0 : b_i".split())

    def test_all_of_the_device(self):
        """Every module of the device has mutants, and all fit in one text: none cuts another one."""
        files = collected = 0
        for file in sorted((ROOT / "rtl").rglob("*.sv")):
            if not file.name.endswith("_pkg.sv") and file.parent.name not in ("check", "cells"):
                source = file.read_text()
                sites = auto.mutate_sites.sites(source)
                mutate.apply(source, [s.edit(n) for n, s in enumerate(sites, 1)][:60])
                self.assertTrue(sites, file)
                files, collected = files + 1, collected + len(sites)
        self.assertGreater(files, 90)
        self.assertGreater(collected, 10000)


class Edits(unittest.TestCase):
    def test_equal_nested_apart(self):
        s = "tern_mutant_pkg::select"
        got = mutate.apply("x = a + b * c; y = d;",
                           [(4, 13, 1, "p"), (8, 13, 2, "q"), (8, 13, 3, "r"), (19, 20, 4, "t")])
        inner = f"(({s} == 2) ? (q) : ((({s} == 3) ? (r) : (b * c))))"
        self.assertEqual(got, f"x = (({s} == 1) ? (p) : (a + {inner})); y = (({s} == 4) ? (t) : (d));")

    def test_cut(self):
        with self.assertRaises(ValueError):
            mutate.apply("a + b + c", [(0, 5, 1, "x"), (4, 9, 2, "y")])


class Seeded(unittest.TestCase):
    def test_the_list_fits_the_rtl(self):
        """Each bug of mutants.list is in one place of the RTL, or no device with seeded bugs can be built."""
        with tempfile.TemporaryDirectory() as out:
            mutate.mutate(HERE / "mutants.list", ROOT / "rtl", pathlib.Path(out) / "mutants")

    def test_a_bug_that_does_not_fit_is_named(self):
        with tempfile.TemporaryDirectory() as tmp:
            folder = pathlib.Path(tmp)
            (folder / "m.sv").write_text(MODULE)
            for text, times in ("a_i == b_i", 2), ("gone", 0):
                (folder / "list").write_text(f"bug: it is wrong\nm.sv\n- {text}\n+ 1\n")
                with self.assertRaisesRegex(mutate.BadList, f"list:1: bug: m.sv has {times} times"):
                    mutate.mutate(folder / "list", folder, folder / "out")


class Reviews(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.rtl = pathlib.Path(tmp.name)
        (self.rtl / "m.sv").write_text(MODULE)
        self.mutants = auto.all_mutants(self.rtl)
        self.list = self.rtl / "survivors.yaml"

    def review(self, text):
        self.list.write_text(text)
        return auto.reviewed(self.list)

    def test_an_entry_fits_or_is_stale(self):
        entries = self.review('- {file: m.sv, in: "if (a_i == b_i) q <= 4\'d5;", change: "== becomes !=", '
                              'why: "a reason"}\n'
                              '- {file: m.sv, in: "if (a_i == b_i) q <= 4\'d6;", change: "== becomes !=", '
                              'why: "the line has changed"}\n')
        self.assertEqual([key[1] for key in auto.stale(entries, self.mutants)], ["if (a_i == b_i) q <= 4'd6;"])
        self.assertNotIn(("m.sv", "if (a_i == b_i) q <= 4'd5;", "== becomes !="),
                         {m.key for m in auto.sample(self.mutants, entries, 0, 1000)})

    def test_a_reason_is_needed(self):
        for text in ("- {file: m.sv, in: x, change: y}\n", '- {file: m.sv, in: x, change: y, why: " "}\n'):
            with self.assertRaises(SystemExit):
                self.review(text)

    def test_nights_take_all_in_turn(self):
        seen = [m for night in range(5) for m in auto.sample(self.mutants, {}, night, 5)]
        self.assertEqual({m.key for m in seen}, {m.key for m in self.mutants})

    def test_the_list_of_the_repository(self):
        entries = auto.reviewed(HERE / "survivors.yaml")
        self.assertEqual(auto.stale(entries, auto.all_mutants(ROOT / "rtl")), [])


if __name__ == "__main__":
    unittest.main()
