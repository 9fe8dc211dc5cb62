# SPDX-License-Identifier: Apache-2.0
"""scripts/site: the site of this tree is made without a warning, has a search, a list of calls, and loads nothing from
the network. Pages of an invented tree have each fault, which is told with page and line.

    test_site.py [Site | Faults]    this tree, or the invented one

Where Sphinx is not installed in the versions of scripts/lib/docsite/requirements.txt, this tree's test ends as skipped,
with 77, and that of the faults fails; scripts/site installs it.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from invented import ROOT, Tree

sys.path[:0] = [str(ROOT / "scripts/lib"), str(ROOT / "scripts/lib/docsite")]
import built  # noqa: E402
import pypi  # noqa: E402

TOOLS = ROOT / "build/site/tools"


def installed():
    return pypi.present(TOOLS, pypi.pinned(ROOT / "scripts/lib/docsite/requirements.txt"))


class Site(unittest.TestCase):
    def test_this_tree(self):
        with tempfile.TemporaryDirectory() as d:
            r = subprocess.run([ROOT / "scripts/site", "--out", d], capture_output=True, text=True, check=False)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertRegex(r.stdout, rf"^\d+ pages: {d}/index.html\n$")
            index = (pathlib.Path(d) / "searchindex.js").read_text()
            found = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)\s*", index, re.S)[1])
            for word in "saxpi", "mandelbrot", "memori", "tlb":
                self.assertIn(word, found["terms"])
            self.assertIn("reference/api/contexts-submission", found["docnames"])
            calls = (pathlib.Path(d) / "reference/api/contexts-submission.html").read_text()
            self.assertIn('id="c.tern_submission.packet_bytes"', calls)
            manual = (pathlib.Path(d) / "man/tern-run.1.html").read_text()
            self.assertRegex(manual, r'<a class="Xr" href="tern.1.html">\s*tern\(1\)</a>')


class Faults(Tree):
    def setUp(self):
        super().setUp()
        (self.root / "build/site").mkdir(parents=True)
        (self.root / "build/site/tools").symlink_to(TOOLS)

    def test_without_fault(self):
        self.assertRegex(self.works(), r"^\d+ pages: .*/build/site/html/index.html\n$")
        page = (self.root / "build/site/html/a.html").read_text()
        self.assertIn('href="reference/api/contexts-submission.html#c.tern_wait"', page)
        self.works("--force")

    def test_faults(self):
        """Each is told again by the next run, which reads no page that has not changed."""
        self.change("docs/sub/b.md", "#a-part", "#another-part")
        self.change("docs/why/one.md", "Because.", "### Deep\n\n```{unknown}\n```")
        for _ in range(2):
            said = "\n".join(self.fails())
            self.assertRegex(said, r"site: docs/sub/b\.md:3: WARNING: .*another-part")
            self.assertRegex(said, r"site: docs/why/one\.md:3: WARNING: .*H1 to H3")
            self.assertRegex(said, r"site: docs/why/one\.md:5: WARNING: Unknown directive type: 'unknown'")
        self.change("docs/sub/b.md", "#another-part", "#a-part")
        self.file("docs/why/one.md", "# One\n")
        self.works()

    def test_a_comment_of_a_header(self):
        self.change("driver/include/tern/tern.h", "/** Closes the device.", "/** Closes the device (docs/none.md).")
        said = self.fails()
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], r"site: driver/include/tern/tern\.h: reference/api/devices\.md:\d+: .*none\.md")

    def test_a_manual_page_links_nowhere(self):
        self.change("scripts/lib/docsite/manual.py", "in others:", "not in calls:")
        self.assertEqual(self.fails(), ["site: docs/man/tern-info.1: links to ls.1.html, which is not there"])


    def test_built(self):
        """Faults of built pages, which Sphinx does not see."""
        for body, fault in (
                ('<a href="b.html#there">b</a> <img src="x.svg"> <a href="https://e.org/">e</a>', None),
                ('<a class="x" href="c.html">c</a>', "links to c.html, which is not there"),
                ('<a href="b.html#gone">b</a>', "links to b.html#gone, and there is no such place"),
                ('<a href="#gone">b</a>', "links to #gone, and there is no such place"),
                ('<img alt="" src="y.svg">', "links to y.svg, which is not there"),
                ('<script src="https://e.org/x.js"></script>', "loads https://e.org/x.js from the network"),
                ('<link rel="stylesheet" href="//e.org/x.css">', "loads //e.org/x.css from the network")):
            with tempfile.TemporaryDirectory() as d:
                for name, text in ("a.html", body), ("b.html", '<p id="there">'), ("x.svg", ""):
                    (pathlib.Path(d) / name).write_text(text)
                self.assertEqual(list(built.faults(d)), [("a.html", fault)] if fault else [], body)


if __name__ == "__main__":
    if not installed():
        print("Sphinx is not installed in build/site/tools; scripts/site installs it")
        sys.exit(77 if sys.argv[1:] == ["Site"] else 1)
    unittest.main()
