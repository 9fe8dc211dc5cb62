# SPDX-License-Identifier: Apache-2.0
"""The runner of tutorials, tutorial.py, finds each fault of a page, with its line: output that differs, a
command that fails or does not end, a change that does not fit, a block that nothing runs. The pages of docs/tutorials
have no such block, and each is run by a test.

    test_tutorials.py                      invented pages
    test_tutorials.py PAGE BUILD           each line of output that the page shows, changed in turn: its run must fail
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import tutorial
from invented import ROOT

TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
GOOD = """# A

Of `$x`.

```console
$ cd .. && mkdir work && cd work
$ x=4 && echo "x is $x"
x is 4
```

Write `of/words`, two of them:

```text
not used
```

The file is `words`:

```
one two
three
```

A change of `words`:

```diff
@@ -1,2 +1,2 @@
-one two
+one  2
 three
```

```console
$ cat words; echo $x
one 2
...
4
$ cat <<EOF
> a
> b
> EOF
a
b
$ echo some 12 cycles, at 7
some ... cycles, at 7
$ seq 5
1
...
5
$ sleep 100 &
$ p=$!
$ kill $p; wait $p || echo $?
143
$ pwd
...work
```
"""


class Invented(unittest.TestCase):
    maxDiff = None

    def run_page(self, text, limit=20):
        with tempfile.TemporaryDirectory() as build:
            return tutorial.run(text, pathlib.Path(build), limit=limit)

    def differs(self, line, what, old, new, limit=20):
        """The page with the change fails there."""
        self.assertEqual(GOOD.count(old), 1, old)
        with self.assertRaises(tutorial.Differs) as caught:
            self.run_page(GOOD.replace(old, new), limit)
        self.assertEqual(caught.exception.line, line, caught.exception)
        self.assertIn(what, str(caught.exception))

    def test_good(self):
        self.assertEqual(self.run_page(GOOD), 10)

    def test_output(self):
        self.differs(8, "shown, and not printed: x is 5", "x is 4\n", "x is 5\n")
        self.differs(37, "shown, and not printed: 5", "...\n4\n", "...\n5\n")
        self.differs(42, "more is printed than is shown", "EOF\na\nb\n", "EOF\na\n\n")
        self.differs(44, "shown, and not printed: c", "EOF\na\nb\n", "EOF\na\nb\nc\n")
        self.differs(45, "some ... cycle, at 7\n$ echo", "some ... cycles", "some ... cycle")

    def test_commands(self):
        self.differs(7, "ended with status 3", '$ x=4 && echo "x is $x"', "$ (exit 3)")
        self.differs(46, "did not end within 2 s", "$ seq 5", "$ sleep 30", 2)
        self.differs(46, "the shell ended", "$ seq 5", "$ exit")
        self.differs(46, "unexpected end of file", "$ seq 5", "$ if true; then")

    def test_blocks(self):
        self.differs(19, "has no name", "The file is `words`:", "The file is below:")
        self.differs(26, "the change does not fit words", "-one two", "-one three")
        self.differs(26, "the change does not fit words", "\n three\n", "\n four\n")
        self.differs(6, "begins with a command", "$ cd ..", "cd ..")
        self.differs(3, "without a fence", "Of `$x`.\n", "    $ ls\n")

    def test_command_line(self):
        with tempfile.TemporaryDirectory() as d:
            page = pathlib.Path(d) / "page.md"
            for text, status, out, error in ((GOOD, 0, f"{page}: 10 commands, all as shown\n", ""),
                                             (GOOD.replace("x is 4", "x is 5"), 1, "", f"{page}:8: shown")):
                page.write_text(text)
                r = subprocess.run([sys.executable, tutorial.__file__, page, d], capture_output=True, text=True,
                                   check=False)
                self.assertEqual((r.returncode, r.stdout), (status, out))
                self.assertTrue(r.stderr.startswith(error))

    def test_nothing_is_left(self):
        """Processes that a page has started end with it, also those that ignore a signal."""
        with tempfile.TemporaryDirectory() as d:
            left = pathlib.Path(d) / "left"
            self.run_page(f"```console\n$ (trap '' TERM; while :; do date > {left}; sleep 0.1; done) &\n"
                          "$ sleep 0.3\n```\n")
            left.unlink()
            subprocess.run(["sleep", "0.5"], check=True)
            self.assertFalse(left.exists())

    def test_tutorials_have_tests(self):
        """Each page has only blocks that are run, more than three of them, and CMakeLists.txt runs it."""
        lists = (ROOT / "tests/docs/CMakeLists.txt").read_text()
        self.assertGreater(len(TUTORIALS), 4)
        for page in TUTORIALS:
            found = list(tutorial.steps(page.read_text()))
            self.assertGreater(sum(kind == "command" for _, kind, _ in found), 3, page)
            self.assertRegex(lists, rf"\b{page.stem}\b", page)


def mutants(text):
    """Yields (line, page) with one line of shown output changed."""
    lines = text.split("\n")
    for _, kind, what in tutorial.steps(text):
        for n, shown in what.shown if kind == "command" else ():
            m = re.search(r"[0-9]|(?<!\.)[a-z](?!\.\.)", shown)
            if m:
                changed = shown[:m.start()] + ("8" if m[0] == "7" else "7" if m[0].isdigit() else "#") + shown[m.end():]
                yield n, "\n".join([*lines[:n - 1], changed, *lines[n:]])


def each_change_is_found(page, build):
    text = page.read_text()
    tried = missed = 0
    for line, changed in mutants(text):
        tried += 1
        try:
            tutorial.run(changed, build)
            at = None
        except tutorial.Differs as e:
            at = e.line
        if at != line:
            missed += 1
            print(f"{page.name}:{line}: changed, and " + (f"line {at} fails" if at else "nothing fails"))
    print(f"{page.name}: {tried} lines changed, {missed} not found")
    return 0 if tried > 5 and not missed else 1


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.exit(each_change_is_found(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
    unittest.main()
