# SPDX-License-Identifier: Apache-2.0
"""docs/testplan.md names what exists: each test, bench, proof and fuzzer, each function in parentheses, each command.
Each rule of docs/rules.md has a row, rows follow the order of the rules, and no line is over 120 columns.

    test_testplan.py BUILD

BUILD is a build tree, for the list of its tests. A group of which the tree has none, as boards without the RTL, is not
looked up.
"""
import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COLUMNS = 120
OTHERS = {"rtl": "tests/rtl/*/bench.f", "formal": "tests/formal/*.proof", "fuzz": "tests/fuzz/*.c"}  # not ctest's
ITEM = re.compile(r"`(?P<command>[^`]+)`|(?P<group>[a-z_]+)\.(?P<name>[\w.*{},-]+)(?: \((?P<functions>[\w*, ]+)\))?")


def registered(build):
    """Returns the names of all tests: ctest's, and those of the other groups."""
    shown = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], check=True, capture_output=True)
    names = {test["name"] for test in json.loads(shown.stdout)["tests"]}
    for group, pattern in OTHERS.items():
        names |= {f"{group}.{f.parent.name if f.stem == 'bench' else f.stem}" for f in ROOT.glob(pattern)}
    return names


def tables(page):
    """Yields (number of the line, titles of the columns, cells) of each row."""
    titles = None
    for number, line in enumerate(page.split("\n"), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else None
        if cells and titles and not set(line) <= set("|-"):
            yield number, titles, cells
        titles = (titles or cells) if cells else None


WORDS_OF_TEST = "".join((ROOT / "scripts/lib/testing" / f).read_text() for f in ("main.py", "suites.py"))


def expanded(name):
    """Expands a.{b,c} to a.b and a.c."""
    m = re.fullmatch(r"([^{}]*)\{([^{}]*)\}([^{}]*)", name)
    return [m[1] + part + m[3] for part in m[2].split(",")] if m else [name]


def command_faults(command):
    first, *rest = command.split()
    if first == "tern":
        if not (ROOT / "docs/man" / "-".join(["tern", *rest[:1]])).with_suffix(".1").exists():
            yield f"`{command}`: tern has no such command"
    elif not (ROOT / first).is_file():
        yield f"`{command}`: there is no {first}"
    elif first == "scripts/test" and rest and not re.search(rf"\b{rest[0]}\b", WORDS_OF_TEST):
        yield f"`{command}`: scripts/test names no such suite"


def name_faults(group, name, functions, sources, names):
    full = f"{group}.{name}"
    if group not in sources:
        yield f"{full}: '{group}' is not among the names of the page"
        return
    if not any(n.startswith(group + ".") for n in names):
        return
    if not any(fnmatch.fnmatchcase(n, p) for n in names for p in (full, full + ".*")):
        yield f"{full}: there is no such test"
        return
    stems = [x.replace("-", "_") for x in (name, name.split(".")[0])]
    files = [f for s in sources[group].split(", ") for x in stems for f in ROOT.glob(s.replace("X", x))]
    if not files and "*" not in name:
        yield f"{full}: there is no source of it: {sources[group]}"
    text = "\n".join(f.read_text() for f in files if f.is_file())
    for function in functions:
        if not re.search(rf"\b{function.replace('*', '[a-z0-9_]*')}\(", text):
            yield f"{full}: there is no function {function} in its source"


def rule_faults(page, rules):
    """Each rule has a row, and the rows follow the order of the rules."""
    order = re.findall(r"^- ([A-Z]\d+) ", rules, re.M)
    have, last = [], 0
    for number, titles, cells in tables(page):
        if titles[0] == "rule":
            have.append(cells[0])
            at = order.index(cells[0]) if cells[0] in order else -1
            if at < last:
                yield f"line {number}: {cells[0]} is no rule, or has its place above"
            last = max(at, last)
    yield from (f"{rule} has no row" for rule in order if rule not in have)


def reference_faults(page, names):
    """No line is too long, and all names in the column `tests` exist."""
    sources = {cells[0].strip("`").removesuffix(".X"): cells[1] for _, titles, cells in tables(page)
               if titles == ["name", "source"]}
    for number, line in enumerate(page.split("\n"), 1):
        if len(line) > COLUMNS:
            yield f"line {number}: {len(line)} columns"
    for number, titles, cells in tables(page):
        if len(cells) != len(titles):
            yield f"line {number}: {len(cells)} cells, and {len(titles)} columns"
        for item in cells[-1].split("; ") if titles[-1] == "tests" else []:
            m = ITEM.fullmatch(item)
            if not m:
                yield f"line {number}: '{item}' is neither a test nor a `command`"
            elif m["command"]:
                yield from (f"line {number}: {fault}" for fault in command_faults(m["command"]))
            else:
                functions = m["functions"].split(", ") if m["functions"] else []
                for name in expanded(m["name"]):
                    yield from (f"line {number}: {fault}"
                                for fault in name_faults(m["group"], name, functions, sources, names))


class TestPlan(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.page = (ROOT / "docs/testplan.md").read_text()
        cls.rules = (ROOT / "docs/rules.md").read_text()
        cls.names = registered(sys.argv[1])

    def test_the_page_is_true(self):
        self.assertEqual([], [*reference_faults(self.page, self.names), *rule_faults(self.page, self.rules)])

    def with_row(self, tests, names=None):
        """Returns the faults of a page with a row that names these tests."""
        head = self.page[:re.search(r"^\| rule ", self.page, re.M).start()]
        return list(reference_faults(f"{head}| case | tests |\n|---|---|\n| one | {tests} |\n", names or self.names))

    def test_each_fault_is_found(self):
        self.assertEqual([], self.with_row("driver.{engine,kmd}; rtl.engine; `tern verify`; fuzz.ternd"))
        cases = [("driver.nothing", "no such test"), ("driver.{engine,nothing}", "driver.nothing: there is no such"),
                 ("driver.engine.nothing", "no such test"), ("opencl.nothing_*", "no such test"),
                 ("rtl.nothing", "no such test"), ("formal.{tlb,nothing}", "no such test"),
                 ("fuzz.nothing", "no such test"), ("nothing.engine", "not among the names"),
                 ("driver.engine (test_nothing)", "no function test_nothing"),
                 ("driver.engine (test_random, test_nothing_*)", "no function test_nothing_*"),
                 ("driver.{engine,kmd} (test_random)", "driver.kmd: there is no function test_random"),
                 ("cli.run (test_nothing)", "no function test_nothing"), ("a test of the driver", "neither a test nor"),
                 ("driver.engine, driver.kmd", "neither a test nor"), ("`tests/nothing`", "there is no tests/nothing"),
                 ("`tern nothing`", "tern has no such command"), ("`scripts/test nosuite`", "no such suite"),
                 ("driver.engine | driver.kmd", "3 cells, and 2 columns"),
                 (" " * COLUMNS + "driver.engine", "columns")]
        for tests, message in cases:
            with self.subTest(tests=tests):
                self.assert_among(message, self.with_row(tests))

    def test_a_group_that_the_tree_lacks_is_not_looked_up(self):
        self.assertEqual([], self.with_row("cli.*; cli.top", {n for n in self.names if not n.startswith("cli.")}))
        self.assert_among("cli.top: there is no such test", self.with_row("cli.*; cli.top", self.names - {"cli.top"}))

    def test_each_rule_has_a_row_in_its_place(self):
        def found(page):
            return list(rule_faults(page, self.rules))
        for rule in "C1", "D4", "M6":
            self.assertEqual([f"{rule} has no row"],
                             found(re.sub(rf"^\| {rule} \|.*\n", "", self.page, flags=re.M)))
        self.assert_among("C99 is no rule", found(self.page.replace("| C2 |", "| C99 |", 1)))
        self.assert_among("S1 is no rule, or has its place above", found(self.page.replace("| S3 |", "| S1 |", 1)))

    def assert_among(self, message, found):
        self.assertTrue(any(message in fault for fault in found), f"{message}: not among {found}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
