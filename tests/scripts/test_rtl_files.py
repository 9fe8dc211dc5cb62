# SPDX-License-Identifier: Apache-2.0
"""The list of RTL files for lint and packaging: the order of packages, the parts of a module, and modules that no other
one contains; of small trees and of rtl/."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
import rtl_files  # noqa: E402

TREE = {
    "rtl/gen/z_spec_pkg.sv": "package z_spec_pkg; endpackage",
    "rtl/mem/a_pkg.sv": "package a_pkg; import z_spec_pkg::*; endpackage",
    "rtl/b_pkg.sv": "package b_pkg; endpackage",
    "rtl/top/top.v": "module top;\n  middle #(.N(1)) u_m ();\n  // other u_o ();\nendmodule",
    "rtl/mem/middle.sv": "module middle;\n  leaf u_a ();\n  leaf u_b ();\nendmodule",
    "rtl/mem/leaf.sv": "module leaf;\n  logic u_x;\nendmodule",
    "rtl/mem/other.sv": "module other;\n  leaf // of two\n    #(.N(2)) u_l ();\nendmodule",
    "rtl/lint.vlt": "lint_off",
}


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in TREE.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def test_packages_come_in_the_order_in_which_they_may_use_each_other(self):
        packages, modules = rtl_files.sources(self.root)
        self.assertEqual([str(p) for p in packages],
                         ["rtl/gen/z_spec_pkg.sv", "rtl/b_pkg.sv", "rtl/mem/a_pkg.sv"])
        self.assertEqual(sorted(modules), ["leaf", "middle", "other", "top"])

    def test_a_module_is_made_of_what_it_contains_and_comments_do_not_matter(self):
        self.assertEqual([p.stem for p in rtl_files.files_of("top", self.root)],
                         ["z_spec_pkg", "b_pkg", "a_pkg", "leaf", "middle", "top"])
        self.assertEqual([p.stem for p in rtl_files.files_of("other", self.root)][3:], ["leaf", "other"])
        with self.assertRaises(KeyError):
            rtl_files.files_of("none", self.root)

    def test_roots_are_in_no_other_module(self):
        self.assertEqual(sorted(rtl_files.roots(self.root)), ["other", "top"])

    def test_the_device_is_the_one_root_beside_boards(self):
        _, modules = rtl_files.sources()
        self.assertEqual([m for m in rtl_files.roots() if modules[m].parts[1] != "board"], ["tern_kernel"])


if __name__ == "__main__":
    unittest.main()
