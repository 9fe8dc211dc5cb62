# SPDX-License-Identifier: Apache-2.0
"""Runs of hours, in parts that may run on several days or machines: the full and the nightly tier.

The steps are dealt to N parts in descending order of cost, each to the part with the lowest sum. A step's result is
kept in build/TIER/COMMIT/STEP.json as soon as the step ends. A step with a result for this very commit is not run
again, so an interrupted part continues where it was. A table shows the results of all parts.
"""
import os
import pathlib
import subprocess

import record
from testing.steps import ROOT, Counted
from testing.suites import with_needs


def is_test(step):
    return step.suite != "build"


def parts(all_steps, n):
    """Returns the steps of n parts. A step that needs another test is in the same part as that test."""
    tests = {s.name: s for s in all_steps if is_test(s)}
    follows = {s.name: [n for n in s.needs if n in tests] for s in tests.values()}
    groups = [[s] + [t for t in tests.values() if s.name in follows[t.name]] for s in tests.values()
              if not follows[s.name]]
    dealt = [[] for _ in range(n)]
    for group in sorted(groups, key=lambda g: (-sum(s.cost for s in g), g[0].name)):
        min(dealt, key=lambda p: sum(s.cost for s in p)).extend(group)
    return dealt


def state_of_tree():
    """Returns a name for the tested state: the commit, and a hash of the differences from it."""
    def git(*words, **more):
        return subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE, **more).stdout
    commit = git("rev-parse", "--short=12", "HEAD").decode().strip()
    new = git("ls-files", "-o", "--exclude-standard", "-z").split(b"\0")
    changes = git("diff", "HEAD") + b"".join(p + (ROOT / os.fsdecode(p)).read_bytes() for p in new if p)
    if not changes:
        return commit
    return commit + "-" + git("hash-object", "--stdin", input=changes).decode()[:8]


class Kept:
    """The results of one state of the tree, a file for each step."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def keep(self, step, found, seconds):
        """Writes the result of a step atomically. Raises record.Error if it cannot."""
        if is_test(step):
            record.write(self.folder / f"{step.name}.json",
                         {"title": step.title, "passed": found.passed, "failed": found.failed,
                          "seconds": round(seconds), "note": found.note})

    def get(self, name):
        """Returns the result of a step, or None."""
        try:
            return record.read(self.folder / f"{name}.json", "result", ("passed", "failed", "seconds"),
                               "scripts/test")
        except record.Error:
            return None

    def passed(self, name):
        r = self.get(name)
        return bool(r) and not r["failed"] and r["passed"] > 0


def table(all_steps, n, kept):
    """Returns the lines of the table of all parts."""
    out = [f"{kept.folder.parent.name} at {kept.folder.name}, {n} part{'s' if n > 1 else ''}:",
           f"  {'part':>4} {'passed':>7} {'failed':>6} {'minutes':>7}  step"]
    for i, part in enumerate(parts(all_steps, n), 1):
        for step in sorted(part, key=lambda s: s.name):
            r = kept.get(step.name)
            cells = f"{r['passed']:7} {len(r['failed']):6} {r['seconds'] / 60:7.1f}" if r else f"{'not run':>22}"
            out.append(f"  {i:4} {cells}  {step.name}")
    return out


def with_builders(steps, all_steps):
    """Returns these steps, by name, and all that build what they need: steps of all_steps, or of the suites."""
    builders = {s.name: s for s in all_steps if not is_test(s)}
    wanted, more = dict(steps), list(steps.values())
    while more:
        found = {x: builders[x] for x in more.pop().needs if x in builders and x not in wanted}
        wanted |= found
        more += found.values()
    return with_needs(wanted, True) if wanted else []


def chosen(all_steps, part, n, kept):
    """Returns the steps to run now, with those that build what they need, and the Counted of those that passed
    before."""
    mine = parts(all_steps, n)[part - 1] if part else [s for p in parts(all_steps, n) for s in p]
    wanted = {s.name: s for s in mine if not kept.passed(s.name)}
    for step in wanted.values():
        step.needs = tuple(x for x in step.needs if x not in {m.name for m in mine} or x in wanted)
    before = [Counted(kept.get(s.name)["passed"]) for s in mine if s.name not in wanted]
    return with_builders(wanted, all_steps), before
