# SPDX-License-Identifier: Apache-2.0
"""Tests of README.md, CONTRIBUTING.md and docs. All that a page names is there: files, folders, sections, links and
manual pages. Each page is in the index, and begins with its purpose and a line to type. Tables are whole, and no
sentence stands twice on a page. README.md fits on two screens, and its figures are those of the baselines. Invented
pages have each fault.
"""
import collections
import glob
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/bench"))
import readme  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = {p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith(".")} - {"build"}
# Files that do not exist: names with a variable part, and those that scripts/new-executor writes.
INVENTED = re.compile(r"X|NAME|(mask|limit)(?=[./]|$)|CARD")
PLACES = [ROOT / f for f in ("docs", "docs/decisions", "docs/hardware")]  # of pages that are named without a folder
INVENTORS = ("tests/fuzz/corpus/", "tests/docs/", "scripts/lib/docsite/")  # Sources that name pages of other trees.
INSIDE = {"ip/", "link/"}  # Folders of build/vitis/CARD (docs/card.md).


def shown(page):
    return str(page.relative_to(ROOT))


def prose(text):
    """The text without tables, examples, headings and comments of HTML."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"^(    |\||#|<!--|\[[^]]*\]:).*$", "\n", text, flags=re.M)


def sections(text):
    """The headings of a page, and the anchors that GitHub makes of them."""
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return set(titles), {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


def links(page, text, read):
    """Faults of links to files and anchors. read(path) is the text of a page, None if there is none."""
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^\[[^]]*\]: (\S+)", text, re.M):
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", name):
            continue
        file = (page.parent / name).resolve() if name else page
        if not file.exists() and read(file) is None:
            yield f"links to {name}, which is not there"
        elif anchor and anchor not in sections(read(file) or "")[1]:
            yield f"links to {target}, and there is no such heading"


def quoted_sections(page, text, read):
    """Faults of `page.md, "Section"` and `page.md, section 2`, also where the name of the page is a link."""
    flat = re.sub(r"\]\([^)]*\)", "]", re.sub(r"\s+(\*+ |// |# )?", " ", text))
    for name, title, number in re.findall(
            r'(?<![\w./-])([\w/-]+\.md)\]?(?:, "([^"]+)"|, (?:section )?(\d+)\b)?', flat):
        for file in (ROOT / name, *(f / name for f in (page.parent, *PLACES))):
            if read(file) is not None:
                titles = sections(read(file))[0]
                if title and title not in titles or number and not any(t.startswith(f"{number}. ") for t in titles):
                    yield f"names {name}, {title or number}, and there is no such heading"
                break
        else:
            yield f"names {name}, which is not there"


def exists(name):
    pattern = re.sub(r"\{[^}]*\}|:[\w*]+$", "*", name)
    return bool(glob.glob(str(ROOT / pattern)) or glob.glob(str(ROOT / pattern) + ".*"))


def files(text):
    """Faults of files and folders of the tree that are named."""
    for name in set(re.findall(r"(?<![\w/.$~:@+{}*-])([a-z_]+/[\w.*{},/-]*)", text)):
        name = name.rstrip(".,-")
        if INVENTED.search(name) or name in INSIDE:
            continue
        if name.split("/")[0] in FOLDERS and not exists(name):
            yield f"names {name}, which is not there"
        elif re.search(rf"[(`]{name}[)`]", text) and re.fullmatch(r"[a-z_]+/", name) and not known_folder(name):
            yield f"names the folder {name}, which is not there"


def known_folder(name):
    return any((p / name).is_dir() for p in (ROOT, *(ROOT / f for f in FOLDERS)))


def tables(text):
    block = []
    for line in [*text.split("\n"), ""]:
        if line.startswith("|"):
            block.append(line)
        elif block:
            columns = {len(re.findall(r"(?<!\\)\|", row)) for row in block}
            if len(block) < 3 or not re.fullmatch(r"\|[-:| ]+\|", block[1]):
                yield f"has the row {block[0]!r} without a head"
            elif len(columns) > 1:
                yield f"has a table with rows of {sorted(columns)} columns: {block[0]}"
            block = []


def twice(text):
    parts = re.split(r"(?<=[.:;])\s+", prose(text))
    count = collections.Counter(" ".join(s.split()) for s in parts)
    return [f"says twice: {s}" for s, n in count.items() if n > 1 and len(s) > 25]


def beginning(text):
    """Faults of the part before the second heading."""
    head = re.split(r"^## ", text, flags=re.M)[0]
    if not re.search(r"\b[Tt]his (page|index|tutorial)\b|\bUse this page\b", " ".join(head.split())):
        yield "does not begin with its purpose: This page ..."
    if not re.search(r"^    \S|^```console$", head, re.M):
        yield "does not begin with a line to type"


def read_page(path):
    return path.read_text() if path.is_file() else None


class Docs(unittest.TestCase):
    maxDiff = None

    def test_nothing_is_wrong(self):
        wrong = []
        for page in PAGES:
            text = page.read_text()
            found = [*links(page, text, read_page), *quoted_sections(page, text, read_page), *files(text),
                     *tables(text), *twice(text)]
            wrong += [f"{shown(page)} {fault}" for fault in found]
        self.assertEqual(wrong, [])

    def test_sources_name_pages(self):
        """Pages and headings that comments and manual pages name are there; test data and this file's aside."""
        tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        wrong, named = [], 0
        for name in tracked.split():
            path = ROOT / name
            if path.suffix in (".md", ".json", ".svg") or not path.is_file() or name.startswith(INVENTORS):
                continue
            text = path.read_bytes().decode(errors="replace")
            if path.name in ("test_docs.py", "test_check_layers.py", "test_testing.py", "check-layers"):
                continue
            pages = re.findall(r"(?<![\w/])docs/[\w/-]+\.md", text)
            named += len(pages)
            wrong += [f"{name} {fault}" for fault in quoted_sections(path, text, read_page)] if pages else []
        self.assertEqual(wrong, [])
        self.assertGreater(named, 100)

    def test_beginnings(self):
        pages = [p for p in PAGES if "decisions" not in p.parts and p.parent != ROOT]
        self.assertGreater(len(pages), 20)
        self.assertEqual([f"{shown(p)} {fault}" for p in pages for fault in beginning(p.read_text())], [])

    def test_index(self):
        index = ROOT / "docs/README.md"
        named = {(index.parent / x.partition("#")[0]).resolve()
                 for x in re.findall(r"\]\(([^)\s]+)\)", index.read_text())}
        decisions = ROOT / "docs/decisions"
        self.assertIn(decisions, named)
        self.assertEqual([shown(p) for p in PAGES if p.parent not in (ROOT, decisions) and p != index and
                          p not in named], [])

    def test_manual_pages(self):
        """A manual page that a document names as NAME(1), (3) or (8) is there, if it is one of Tern's."""
        calls = set(re.findall(r"\b(tern_\w+)\(", "".join(
            (ROOT / "driver/include/tern" / h).read_text() for h in ("tern.h", "tern_checkpoint.h"))))
        for page in PAGES:
            for name, number in re.findall(r"\b((?:lib)?tern[\w-]*)\((\d)\)", page.read_text()):
                there = (name in calls | {"libtern"}) if number == "3" else (
                    ROOT / "docs/man" / f"{name}.{number}").exists()
                self.assertTrue(there, f"{shown(page)}: {name}({number})")

    def test_readme_fits(self):
        text = (ROOT / "README.md").read_text()
        lines = text.rstrip("\n").split("\n")
        self.assertLessEqual(len(lines), 96)
        self.assertEqual([x for x in lines if len(x) > 120], [])
        self.assertEqual(len(re.findall(r"^!\[", text, re.M)), 1)
        linked = set(re.findall(r"\]\(([^)#\s]+)", text))
        self.assertLessEqual({"LICENSE", "CONTRIBUTING.md", "docs/README.md", "docs/status.md"}, linked)
        rows = re.search(r"<!-- figures -->\n(.*)\n<!-- /figures -->", text, re.S)[1].split("\n")[2:]
        self.assertEqual(len(rows), 6)

    def test_figures(self):
        r = subprocess.run([ROOT / "tests/bench/readme.py", "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((r.returncode, r.stdout + r.stderr), (0, ""))

    def test_stale_figures(self):
        """Each table differs if the figure that is read for it does."""
        table = readme.figures()
        for name in readme.BASELINE, readme.PREEMPT, readme.SYNTH, readme.MIGRATION:
            kept = readme.read, readme.blackout
            try:
                readme.read = lambda path, name=name, read=kept[0]: changed(read(path)) if path == name else read(path)
                if name == readme.MIGRATION:
                    readme.blackout = lambda: ("4 GiB", "1 KiB")
                self.assertNotEqual(readme.figures(), table, name)
            finally:
                readme.read, readme.blackout = kept

    def test_each_fault_is_found(self):
        page = ROOT / "docs/invented.md"
        pages = {ROOT / "docs/other.md": "# Other\n\n## A part, of two\n\n## 2. More\n"}
        for text, fault in (
                ("[a](other.md)", None), ("[a](nowhere.md)", "links to nowhere.md"),
                ("[a](other.md#a-part-of-two)", None), ("[a](other.md#b)", "no such heading"),
                ("[a][1]\n\n[1]: gone.md", "links to gone.md"), ("[a](https://example.org/a.md#b)", None)):
            self.found(links(page, text, pages.get), fault, text)
        for text, fault in (
                ('other.md, "A part, of two"', None), ('[other.md](other.md), "B"', "no such heading"),
                ('docs/other.md,\n"A part,\nof two"', None), ('none.md, "A"', "names none.md"),
                ("other.md, section 2", None), ("other.md, 3)", "names other.md, 3"),
                ('/*\n * docs/other.md, "A\n * part, of two" */', None), ("docs/none.md", "names docs/none.md")):
            self.found(quoted_sections(page, text, pages.get), fault, text)
        for text, fault in (
                ("see driver/os/service.h.", None), ("driver/os/servise.h", "names driver/os/servise.h"),
                ("`tests/driver/*/test_*.c`", None), ("tests/driver/base/tset_*.c", "tset_"),
                ("(seeds/)", "folder seeds/"), ("`seeds/`", "folder seeds/"), ("`os/` and `driver/`, or and/or", None),
                ("hardware/software, 3/4", None), ("docs/{rules,status}.md", None)):
            self.found(files(text), fault, text)
        for text, fault in (
                ("| a | b |\n|---|---|\n| 1 | 2 \\| 3 |\n", None), ("text\n| 1 | 2 |\ntext", "without a head"),
                ("| a | b |\n|---|---|\n| 1 |\n", "[2, 3] columns"),
                ("| a |\n|---|\n| 1 |\n\n| 2 |\n| 3 |\n| 4 |\n", "'| 2 |' without a head")):
            self.found(tables(text), fault, text)
        long = "This sentence is long enough, and stands here.\n"
        for text, fault in ((long, None), (f"{long}Another one. {long}", "says twice"),
                            (f"A: {long}\n\n    {long}\n| {long}", None)):
            self.found(twice(text), fault, text)
        for text, fault in (("# A\n\nThis\npage is for you.\n\n    ls\n", None), ("# A\n\n    ls\n", "purpose"),
                            ("# A\n\nThis page.\n\n## B\n\n    ls\n", "a line to type")):
            self.found(beginning(text), fault, text)

    def found(self, faults, fault, text):
        faults = list(faults)
        if fault:
            self.assertEqual(len(faults), 1, (text, faults))
            self.assertIn(fault, faults[0])
        else:
            self.assertEqual(faults, [], text)


def changed(data):
    """The data with 1 added to each number."""
    if isinstance(data, dict):
        return {k: changed(v) for k, v in data.items()}
    if isinstance(data, list):
        return [changed(v) for v in data]
    return data + 1 if isinstance(data, (int, float)) and not isinstance(data, bool) else data


if __name__ == "__main__":
    unittest.main()
