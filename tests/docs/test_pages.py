# SPDX-License-Identifier: Apache-2.0
"""The pages that scripts/site makes for Sphinx: links to what is there, nothing without a place in the table of
contents, and all of the public headers. An invented tree has each fault.
"""
import re
import subprocess
import unittest

from invented import ROOT, Tree


class Pages(Tree):
    def test_this_tree(self):
        r = subprocess.run([ROOT / "scripts/site", "--until", "pages"], capture_output=True, text=True, check=False)
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))

    def test_links(self):
        self.assertEqual(self.works("--until", "pages"), "")
        self.assertEqual(self.page("tern.md"), "# Of the tree\n\nSee [the page](/a.md), [a part](/a.md#a-part).\n")
        self.assertIn("By [LICENSE](/tree/LICENSE.md).", self.page("contributing.md"))
        self.assertIn("[a.md](/a.md), [why](/why/index.md) |\n\n![x](/pictures/x.svg)", self.page("index.md"))
        self.assertEqual(self.page("a.md"), "# A\n\n## A part\n\n"
                         "Of `tern_wait` and [tern-info(1)](/man/tern-info.1.md), "
                         "[tern_wait(3)](/reference/api/contexts-submission.md).\n\n"
                         "    [no](link.md) tern-info(1)\n\n"
                         "In `[code](none.md)` too. [tool](/tree/scripts/tool.py.md), [back](/tern.md)\n\n[ref]\n\n"
                         "[ref]: /sub/b.md#b\n")
        self.assertIn("# scripts/tool.py\n\n````python\nprint('```')\n````\n", self.page("tree/scripts/tool.py.md"))

    def test_contents(self):
        self.works("--until", "pages")
        self.assertIn("```{toctree}\n:hidden:\n:caption: Read\n\ntern\na\nsub/b\n```\n", self.page("index.md"))
        self.assertIn(":caption: Change\n\ncontributing\nwhy/index\nreference/api\nman/tern-info.1\n```\n",
                      self.page("index.md"))
        self.assertEqual(self.page("why/index.md"),
                         "# Why\n\n```{toctree}\n:maxdepth: 1\n\n/why/one\n/why/two\n```\n")

    def test_a_page_that_is_gone(self):
        self.works("--until", "pages")
        (self.root / "docs/why/one.md").unlink()
        self.file("docs/why/two.md", "# Two\n")
        self.works("--until", "pages")
        self.assertFalse((self.root / "build/site/source/why/one.md").exists())

    def test_faults(self):
        self.file("docs/a.md", "# A\n\n[x](none.md), [y](../LICENCE)\n\n[z]: why/none.md\n[web](https://e.org/n.md)\n")
        self.file("docs/lost.md", "# Lost\n")
        self.change("docs/contents.yaml", "  - later*\n", "  - later\n  - a\n")
        self.assertEqual(self.fails("--until", "pages"), [
            "site: docs/a.md:3: links to none.md, which is not there",
            "site: docs/a.md:3: links to ../LICENCE, which is not there",
            "site: docs/a.md:5: links to why/none.md, which is not there",
            "site: docs/contents.yaml:5: there is no page later",
            "site: docs/contents.yaml:6: line 3 has the page a already",
            "site: docs/lost.md:1: the page is in no table of contents; add it to docs/contents.yaml"])

    def test_a_link_out_of_the_tree(self):
        self.change("docs/a.md", "../scripts/tool.py", "../../../../../../etc/passwd")
        self.assertEqual(self.fails("--until", "pages"), [
            "site: docs/a.md:9: links to ../../../../../../etc/passwd, which is not there"])

    def test_a_call_without_a_comment(self):
        header = "driver/include/tern/tern.h"
        self.change(header, "/** Closes the device. -EBUSY: it still has a process or a completion queue. */\n", "\n")
        line = (self.root / header).read_text()
        line = line[:line.index("TERN_API int tern_device_close")].count("\n") + 1
        self.assertEqual(self.fails("--until", "pages"), [
            f"site: {self.root / header}:{line}: no comment says what tern_device_close does"])

    def test_wrong_usage(self):
        for args in ["--until", "x"], ["more"]:
            self.assertEqual(self.site(*args).returncode, 2)
        self.file("kept/file", "")
        r = self.site("--force", "--out", self.root / "kept")
        self.assertEqual(r.returncode, 2)
        self.assertIn("kept, which is no site", r.stderr)

    def test_the_calls(self):
        """Each call, struct, field, constant and word of the public headers is on a page of the API."""
        self.works("--until", "pages")
        text = "".join(p.read_text() for p in (self.root / "build/site/source/reference").rglob("*.md"))
        self.assertIn("\nReturns the number of partitions, which may exceed max.\n", text)
        devices = self.page("reference/api/devices.md")
        self.assertLess(devices.index("struct} tern_device_info"), devices.index("tern_device_open("))
        self.assertLess(devices.index("tern_device_open("), devices.index("tern_device_close("))
        plain = set(re.findall(r"\w+", text.replace("\\_", "_")))
        for name in "tern.h", "tern_checkpoint.h":
            header = (ROOT / "driver/include/tern" / name).read_text()
            body = header[header.index("extern"):header.rindex("#ifdef")]
            for call in re.findall(r"^TERN_API [^;]*?(\w+)\(", body, re.M):
                self.assertRegex(text, rf"\{{c:function\}} [^\n]*\b{call}\(")
            for struct in re.findall(r"^struct (\w+)", body, re.M):
                self.assertRegex(text, rf"\{{c:struct\}} {struct}\n|struct {struct} \{{")
            comments = " ".join(re.findall(r"(?<!\*)/\*\*<?(.*?)\*/", body, re.S))
            code = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
            for wanted in comments, code:
                words = {w for w in re.findall(r"\w+", wanted) if w.lower() not in {x.lower() for x in plain}}
                self.assertLessEqual(words, {"TERN_API", "define", "typedef", "extern", "endif", "__attribute__",
                                             "visibility"}, name)


if __name__ == "__main__":
    unittest.main()
