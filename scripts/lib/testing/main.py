# SPDX-License-Identifier: Apache-2.0
"""The command line of scripts/test. HELP describes it."""
import argparse
import os
import re
import shutil
import sys
import time

from testing import changed, nightly, parts, schedule
from testing.steps import BUILD
from testing.suites import DEFAULT, SUITES, steps_of

ROOM = 6 << 30  # Maximum bytes of the build trees and logs of a whole run.
TIERS = ("full", "nightly", "changed")
HELP = """usage: scripts/test [SUITE...]
       scripts/test full [SUITE...] [--part K/N] [--again] [--table]
       scripts/test changed [REV]
       scripts/test nightly [--part K/N] [--again] [--table]

Installs what is missing, builds, and runs tests. The work of each tier is fixed. The last line is: N passed, N failed.

  (no word)      the default tier, which is what continuous integration runs: ten minutes on two cores
  full           everything that a change must pass before it is called done: an hour
  changed [REV]  what the change since the commit REV can break, from two to a few minutes; REV is HEAD if it is not
                 given, so that it is what has not been committed. scripts/lib/testing/changed.yaml says which tests
                 belong to which folder; the tests of a folder end at their first failure
  nightly        the rest: hours
                 full and nightly that were interrupted go on where they were. --part 3/8 runs the third of eight parts.
                 --again forgets the results of this commit, --table prints them and runs nothing
  SUITE...       these suites whole, as in full: {suites}

  --list         print the steps that would be run, and run none
  -h, --help     this page

docs/verification.md says which command to use when. Environment: JOBS, the processes at a time (default: the cores).
Logs: build/test-logs. Exit: 0 all passed; 1 not; 2 wrong use, or it could not be run; 130 interrupted.
"""


def fail(message):
    sys.exit(report_error(message))


def report_error(message):
    print(f"test: {message}", file=sys.stderr)
    return 2


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"test: {message}; see scripts/test --help\n")

    def format_help(self):
        return HELP.format(suites=" ".join(SUITES))


def part_of(text):
    """Returns (K, N) of the text K/N."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    k, n = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= k <= n:
        raise argparse.ArgumentTypeError(f"'{text}' is no part: K/N with K from 1 to N, such as 3/8")
    return k, n


def arguments(argv):
    parser = Parser(prog="scripts/test")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--part", type=part_of, default=(0, 1))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--list", action="store_true")
    opts = parser.parse_args(argv)
    opts.tier = opts.words.pop(0) if opts.words and opts.words[0] in TIERS else "default"
    if opts.tier not in ("full", "nightly") and (opts.part[0] or opts.again or opts.table):
        parser.error("--part, --again and --table go with full and nightly")
    if opts.tier == "nightly" and opts.words:
        parser.error(f"nightly takes no '{opts.words[0]}'")
    if opts.tier == "changed":
        if len(opts.words) > 1:
            parser.error("changed takes one commit")
        return opts
    for name in opts.words:
        if name in TIERS:
            parser.error(f"'{name}' stands before the suites")
        if name not in SUITES:
            parser.error(f"unknown suite '{name}'; there are: {' '.join(SUITES)}")
    return opts


def jobs():
    text = os.environ.get("JOBS", str(os.cpu_count() or 1))
    if not text.isdigit() or int(text) < 1:
        fail(f"JOBS is '{text}'; it must be a number from 1 on")
    return int(text)


def room():
    """Exits with a message if the disk has too little room for a run, before any file is partly written."""
    BUILD.mkdir(exist_ok=True)
    built = any((BUILD / "lib").glob("*.so"))
    free, need = shutil.disk_usage(BUILD).free, ROOM // 6 if built else ROOM
    if free < need:
        fail(f"{BUILD} has {free >> 20} MiB free, and a run may need {need >> 20} MiB: free some, or move the tree")


def long_tier(opts):
    """Runs a tier whose results are kept."""
    all_steps = (nightly.steps(str(int(time.time() // 86400))) if opts.tier == "nightly"
                 else steps_of(opts.words or SUITES, True))
    kept = parts.Kept(BUILD / opts.tier / parts.state_of_tree())
    if opts.again and not (opts.list or opts.table):
        shutil.rmtree(kept.folder, ignore_errors=True)
    k, n = opts.part
    status = 0
    if not opts.table:
        wanted, before = parts.chosen(all_steps, k, n, kept)
        if before:
            print(f"test: {len(before)} steps had passed at this commit, with {sum(b.passed for b in before)} tests; "
                  "they are not run again (--again runs them)", flush=True)
        if opts.list:
            return listing(wanted)
        status = schedule.run(wanted, jobs(), kept.keep)
    print("\n".join(parts.table(all_steps, n, kept)), flush=True)
    return status


def listing(steps):
    for s in steps:
        print(f"{s.suite:10} {s.name:24} {s.cost:6.0f} s  {s.title}")
    return 0


def changed_tier(opts):
    try:
        files = changed.files_since(opts.words[0] if opts.words else "HEAD")
        steps = changed.steps_for(files)
    except changed.Bad as e:
        return report_error(e)
    print(f"test: {len(files)} files changed: {len(steps)} steps", flush=True)
    if opts.list:
        return listing(steps)
    return schedule.run(steps, jobs())


def main(argv):
    opts = arguments(argv)
    if not opts.list and not opts.table:
        room()
    if opts.tier in ("full", "nightly"):
        return long_tier(opts)
    if opts.tier == "changed":
        return changed_tier(opts)
    steps = steps_of(opts.words or DEFAULT, bool(opts.words))
    return listing(steps) if opts.list else schedule.run(steps, jobs())


