# SPDX-License-Identifier: Apache-2.0
"""Runs two steps at a time, each with its share of the cores, the step with the longest chain first.

Most steps use one thread for a part of their time, such as a proof or the last file of a compiler; two steps at a time
keep the cores busy. A step with nothing left to run beside it gets all cores. A step whose need failed is not run and
counts as failed, so that a run with an omission fails.
"""
import errno
import os
import signal
import subprocess
import sys
import threading
import time

import record
from testing import report
from testing.steps import ROOT, Counted, section

LANES = 2


class CannotWrite(Exception):
    """A log could not be written. The text says which, and why."""


def processor_seconds(usage):
    return usage.ru_utime + usage.ru_stime


class Run:
    """One run. kept(step, Counted, seconds) is called for each step that ended, before the next one begins."""

    def __init__(self, steps, jobs, kept=None):
        names = [s.name for s in steps]
        assert len(set(names)) == len(names), f"two steps have one name: {sorted(names)}"
        self.steps, self.jobs, self.kept = steps, jobs, kept
        self.waiting = list(steps)
        self.running = {}   # Step name -> its process.
        self.ended = {}     # Step name -> whether it passed.
        self.results = []   # (step, Counted, seconds, processor seconds)
        self.lock = threading.Condition()
        self.broken = None  # The exception that ended the run early.
        self.chain = {}
        needed_by = {n: [s for s in steps if n in s.needs] for n in names}
        for s in steps:
            self.longest(s, needed_by)

    def longest(self, step, needed_by):
        """Returns the processor seconds from the beginning of this step to the end of the steps that need it."""
        if step.name not in self.chain:
            self.chain[step.name] = step.cost + max((self.longest(s, needed_by) for s in needed_by[step.name]),
                                                    default=0)
        return self.chain[step.name]

    def ready(self):
        """Returns the step to begin now, or None. Called with the lock held."""
        held = {h for s in self.steps if s.name in self.running for h in s.holds}
        known = {s.name for s in self.steps}
        free = [s for s in self.waiting if not held & set(s.holds)
                and all(n in self.ended for n in s.needs if n in known)]
        return max(free, key=lambda s: self.chain[s.name], default=None)

    def share(self):
        """Returns the number of processes for a step that begins now: all cores if nothing else runs or waits."""
        return self.jobs if not self.waiting and not self.running else max(1, self.jobs // LANES)

    def left(self):
        """Estimates the minutes left from the pace so far. Returns None while there is no pace."""
        done = sum(s.cost for s, *_ in self.results)
        if done < 30:
            return None
        pace = sum(cpu for *_, cpu in self.results) / done
        rest = sum(s.cost for s in self.steps if s.name not in self.ended)
        return rest * pace / min(LANES, self.jobs) / 60

    def begin(self, step, jobs):
        """Starts the process of a step in its own process group, so that an interrupt ends everything that it
        started."""
        try:
            step.log.parent.mkdir(parents=True, exist_ok=True)
            with open(step.log, "w", encoding="utf-8") as out:
                return subprocess.Popen([a.replace("{jobs}", str(jobs)) for a in step.argv], cwd=ROOT, stdout=out,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
                                        env={**os.environ, "JOBS": str(jobs), **step.env})
        except OSError as e:
            raise CannotWrite(f"cannot run {step.argv[0]} with its output in {os.path.relpath(step.log, ROOT)}: "
                              f"{e.strerror}") from e

    def one(self, step, child):
        start = time.monotonic()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        try:
            text = step.log.read_text(errors="replace")
            found = step.count(text, child.returncode)
        except OSError as e:
            raise CannotWrite(f"cannot read {os.path.relpath(step.log, ROOT)}: {e.strerror}") from e
        self.finish(step, found, text, time.monotonic() - start, processor_seconds(used))

    def finish(self, step, found, text, seconds, cpu):
        with self.lock:
            self.running.pop(step.name, None)
            if self.broken:
                return
            self.ended[step.name] = not found.failed
            self.results.append((step, found, seconds, cpu))
            for f in found.failed:
                found.said.setdefault(f, section(text, f))
            report.step_ended(step, found, text, seconds, cpu, len(self.ended), len(self.steps), self.left())
            if self.kept:
                try:
                    self.kept(step, found, seconds)
                except record.Error as e:
                    raise CannotWrite(str(e)) from e

    def lane(self):
        try:
            while True:
                with self.lock:
                    while True:
                        if self.broken or not self.waiting:
                            return
                        step = self.ready()
                        if step:
                            break
                        self.lock.wait()
                    self.waiting.remove(step)
                    failed = [n for n in step.needs if self.ended.get(n) is False]
                    child = None
                    if not failed:
                        report.step_begins(step)
                        child = self.begin(step, self.share())
                        self.running[step.name] = child
                if failed:
                    self.finish(step, Counted(0, [f"not run, for {failed[0]} failed"]), "", 0, 0)
                else:
                    self.one(step, child)
                with self.lock:
                    self.lock.notify_all()
        except BaseException as e:  # pylint: disable=broad-except
            self.stop(e)

    def stop(self, why):
        """Ends the running steps. The first reason is kept."""
        with self.lock:
            self.broken = self.broken or why
            for child in self.running.values():
                try:
                    os.killpg(child.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass
            self.lock.notify_all()

    def go(self):
        """Runs all steps. Raises the exception that ended the run early."""
        lanes = [threading.Thread(target=self.lane, daemon=True) for _ in range(max(1, min(LANES, self.jobs)))]
        try:
            for t in lanes:  # The first one may begin a step before the others are there.
                t.start()
            for t in lanes:
                while t.is_alive():
                    t.join(0.5)
        except KeyboardInterrupt as e:
            self.stop(e)
            for t in lanes:
                if t.is_alive():
                    t.join(10)
        if self.broken:
            raise self.broken
        return self.results


def run(steps, jobs, kept=None):
    """Runs the steps and prints their results. Returns the exit status of scripts/test."""
    it = Run(steps, jobs, kept)
    start = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        it.go()
    except KeyboardInterrupt:
        print(report.interrupted(it.results, len(steps)), file=sys.stderr)
        return 130
    except CannotWrite as e:
        print(f"test: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        hint = "; free some and run it again" if e.errno == errno.ENOSPC else ""
        print(f"test: {e.filename or 'a file'}: {e.strerror}{hint}", file=sys.stderr)
        return 2
    return 1 if report.ending(it.results, time.monotonic() - start) else 0
