# SPDX-License-Identifier: Apache-2.0
"""Each test of ctest runs in a step of the full or the nightly tier of scripts/test. All items that
scripts/lib/testing/changed.yaml names for a file exist.

usage: test_full_tier.py BUILD
"""
import functools
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
from testing import changed, nightly, steps, suites  # noqa: E402

TREE = pathlib.Path(sys.argv.pop())


def names(folder, *select):
    listed = subprocess.run(["ctest", "--test-dir", str(folder), "-N", *select], check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    return set(re.findall(r"^ *Test +#\d+: (\S+)", listed, re.M))


def selected(step):
    """Returns the names of the tests that a step of ctest runs in TREE; none if the step uses another tree."""
    folder = pathlib.Path(step.argv[step.argv.index("--test-dir") + 1])
    if not folder.is_relative_to(steps.BUILD / "tests"):
        return set()
    select = [word for key in ("-L", "-LE", "-R") if key in step.argv
              for word in (key, step.argv[step.argv.index(key) + 1])]
    return names(TREE / folder.relative_to(steps.BUILD), *select)


class FullTier(unittest.TestCase):
    def test_nothing_is_left_out(self):
        every = suites.steps_of(suites.SUITES, True) + nightly.steps("7")
        run = set().union(*(selected(s) for s in every if s.argv[0] == "ctest"))
        self.assertEqual(sorted(names(TREE) - run), [])


class ChangedTier(unittest.TestCase):
    def test_every_pattern_finds_a_test(self):
        listed = functools.cache(names)
        files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        nothing = []
        for file in files.split():
            items = changed.items_for(file, changed.table())
            for item in dict.fromkeys(changed.itself(file) if i == "itself" else i for i in items):
                where, _, pattern = item.partition(": ")
                kind, _, folder = where.rpartition(" ")
                select = () if kind == "small" else ("-LE", "^rtl")
                if pattern and not any(re.search(pattern, n) for n in listed(TREE / "tests" / folder, *select)):
                    nothing.append((file, item))
        self.assertEqual(nothing, [])


if __name__ == "__main__":
    unittest.main()
