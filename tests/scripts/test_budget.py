# SPDX-License-Identifier: Apache-2.0
"""The budget of random work: within the time that is promised, between its floors and its full numbers."""
import pathlib
import stat
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts/lib"))
import budget  # noqa: E402

FULL = {name: most for name, (_, most, *_) in budget.STEPS.items()}
FLOOR = {name: floor for name, (_, _, floor, *_) in budget.STEPS.items()}


def minutes(slowness, n):
    """What the steps take with these numbers."""
    return sum(slowness * (fixed + minutes * n[name] / most)
               for name, (_, most, _, minutes, fixed) in budget.STEPS.items())


class Numbers(unittest.TestCase):
    def test_limits(self):
        self.assertAlmostEqual(budget.limit(0.5), 40)
        self.assertAlmostEqual(budget.limit(1), 40)
        self.assertAlmostEqual(budget.limit(3), 75)

    def test_fast_machine_does_everything(self):
        self.assertEqual(budget.numbers(budget.factor(1.0, 25)), FULL)
        self.assertEqual(budget.numbers(budget.factor(0.3, 35)), FULL)

    def test_no_time_is_left(self):
        self.assertEqual(budget.numbers(budget.factor(3.0, 300)), FLOOR)

    def test_between_it_ends_in_time(self):
        seen = set()
        for tenth in range(10, 40):
            for used in range(10, 70, 3):
                f = budget.factor(tenth / 10, used)
                n = budget.numbers(f)
                self.assertTrue(all(FLOOR[x] <= n[x] <= FULL[x] for x in n), n)
                if n != FLOOR and all(n[x] > FLOOR[x] or FLOOR[x] == FULL[x] for x in n):
                    self.assertLessEqual(used + minutes(tenth / 10, n), budget.limit(tenth / 10) + 0.1)
                    seen.add(round(f, 1))
        self.assertGreater(len(seen), 4)

    def test_never_more_on_a_slower_machine_after_the_same_share_of_its_time(self):
        for used in 10, 20, 25:
            f = [budget.factor(s / 10, used * s / 10) for s in range(5, 50)]
            self.assertEqual(f, sorted(f, reverse=True))

    def test_stops(self):
        self.assertEqual([budget.every(n) for n in (16, 8, 5)], [16, 32, 52])


class Speed(unittest.TestCase):
    def setUp(self):
        tmp = tempfile.TemporaryDirectory()
        self.addCleanup(tmp.cleanup)
        self.tool = pathlib.Path(tmp.name) / "verify"
        self.time = 0.0
        self.budget = budget.Budget(lambda: self.time)

    def says(self, text):
        self.tool.write_text(f"#!/bin/sh\n[ \"$2\" = {budget.CALIBRATION} ] || exit 2\necho '{text}'\n")
        self.tool.chmod(self.tool.stat().st_mode | stat.S_IXUSR)
        return self.budget.measure([str(self.tool)], 2)

    def test_it_says_what_it_does(self):
        line = self.says('{"cycles": 1000000, "cpu_seconds": 12.5}')
        self.assertEqual(line, "speed: 80,000 simulated cycles a second of CPU, 2 processes: 0.42 of the reference; "
                               "the whole run may take 64 min")
        self.time = 42 * 60
        n, line = self.budget.share(*budget.STEPS)
        self.assertIn("random work after 42 min: factor 0.", line)
        self.assertTrue(FLOOR["small"] < n["small"] < FULL["small"], n)
        for name in budget.STEPS:
            self.assertIn(f"{name} {n[name]} ", line)
        self.assertEqual(self.budget.share("coverage")[0]["coverage"], FULL["coverage"])  # alone it has the time

    def test_what_cannot_be_measured_changes_nothing(self):
        for text in "", "{}", '{"cycles": 0, "cpu_seconds": 0}':
            self.assertIsNone(self.says(text))
        self.time = 1e6
        self.assertEqual(self.budget.share(*budget.STEPS)[0], FULL)


if __name__ == "__main__":
    unittest.main()
