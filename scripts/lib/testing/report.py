# SPDX-License-Identifier: Apache-2.0
"""Prints a test run: a line when a step begins and ends, the output of failed tests, the slowest tests, the time of
each suite, and the last line `N passed, N failed`."""
import os
import time

from testing.steps import ROOT

AT_ONCE, AT_END = 200, 40  # Lines of a failed test's output: when its step ends, and at the end of the run.
MOST, FEWEST = 160, 8      # Lines of all failed tests together at the end, and the minimum for each.
NAMED = 20                 # Maximum number of failed tests whose output is repeated.
SLOWEST = 10


def say(mark, line):
    print(f"[{time.strftime('%H:%M:%S')}] {mark:6} {line}", flush=True)


def last(text, most):
    """Returns the last `most` lines of a text, indented."""
    kept = [x for x in text.split("\n") if x.strip()]
    left = [f"({len(kept) - most} lines before these are in the log)"] if len(kept) > most else []
    return "\n".join("           " + x for x in left + kept[-most:])


def step_begins(step):
    say("begins", step.title)


def step_ended(step, found, text, seconds, cpu, ended, steps, left):
    more = "" if left is None else f", about {max(left, 1):.0f} min left"
    say("FAILED" if found.failed else "ok", f"{step.title}: {found.passed} passed, {len(found.failed)} failed, "
        f"{seconds:.0f} s, {cpu:.0f} s of CPU [{ended}/{steps}{more}]")
    if found.note:
        print("         " + found.note, flush=True)
    for f in found.failed:
        print(f"         {f} printed:\n{last(found.said[f], AT_ONCE)}", flush=True)
    if found.failed and text:
        print(f"         last lines of {os.path.relpath(step.log, ROOT)}:\n{last(text, 25)}", flush=True)


def slowest(results):
    """Returns the lines of the slowest tests, and of the slowest steps that are one test."""
    tests = [(s, f"{step.name}: {name}") for step, found, *_ in results for name, s in found.seconds.items()]
    tests += [(seconds, step.name) for step, found, seconds, _ in results if not found.seconds]
    return [f"  {s:7.1f} s  {name}" for s, name in sorted(tests, reverse=True)[:SLOWEST]]


def suites(results):
    """Returns a line for each suite: its tests, its time, and its processor time."""
    total = {}
    for step, found, seconds, cpu in results:
        t = total.setdefault(step.suite or step.name, [0, 0, 0.0, 0.0])
        for i, n in enumerate((found.passed, len(found.failed), seconds, cpu)):
            t[i] += n
    return [f"  {cpu:7.0f} s  {name}: {passed} passed, {failed} failed, in steps of {seconds:.0f} s together"
            for name, (passed, failed, seconds, cpu) in sorted(total.items(), key=lambda x: -x[1][3])]


def interrupted(results, steps):
    """Returns the message for an interrupted run."""
    passed, failed = (sum(n) for n in zip((0, 0), *((f.passed, len(f.failed)) for _, f, *_ in results)))
    return (f"test: interrupted when {len(results)} of {steps} steps had ended, with {passed} tests passed and "
            f"{failed} failed")


def ending(results, seconds):
    """Prints the end of a run and returns the number of failed tests."""
    failures = [(f"{step.name}: {f}", found.said.get(f, "")) for step, found, *_ in results for f in found.failed]
    passed = sum(found.passed for _, found, *_ in results)
    cpu = sum(c for *_, c in results)
    print("\n".join(["", f"the {SLOWEST} slowest tests:", *slowest(results), "processor time by suite:",
                     *suites(results), f"  {cpu:7.0f} s  in all, in {seconds / 60:.1f} min"]))
    share = max(FEWEST, min(AT_END, MOST // max(1, min(NAMED, len(failures)))))
    for name, said in failures[:NAMED]:
        print(f"output of {name}, its last lines:\n{last(said, share)}")
    for name, _ in failures:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failures)} failed", flush=True)
    return len(failures)
