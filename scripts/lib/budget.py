# SPDX-License-Identifier: Apache-2.0
"""How much random work scripts/test does: what fits into the time that it may take on this machine.

A short co-verification of fixed seeds measures the machine's speed first: cycles of the small RTL that all processes
together simulate in a second of their processor time. The limit of the whole run is 40 minutes on the reference machine
and 75 on one a third as fast, on a straight line through both. What is left of it when the random steps begin, less
what the steps after them need, is shared out: each step's numbers lie between a floor and what the reference machine
does, by one factor for all.
"""
import json
import math
import subprocess

REFERENCE = 380_000.0      # cycles a second: two processes, 190,000 each; sgemm-128 simulates at 132,000 there
LIMIT, SLOPE = 40.0, 17.5  # minutes at the reference's speed; more for each time that the machine is slower
CALIBRATION = 60           # seeds of each kind: 1.2 million cycles

# Steps: what is counted; how many at the factor 1, at least; minutes that all of them take on the reference machine,
# and minutes of the step that do not depend on it. At its floor each step still shows what it is there for:
# tests/verify/holes.yaml tells what the coverage of 400 seeds may miss.
STEPS = {
    "small": ("seeds", 2000, 400, 2.2, 0.0),
    "default": ("seeds", 150, 40, 0.2, 1.5),
    "preempt": ("stops in 256 cycles", 16, 5, 1.0, 0.2),
    "preempt-default": ("seeds", 8, 3, 0.4, 0.0),
    "mutants": ("seeds at most", 2000, 2000, 0.0, 3.0),
    "coverage": ("seeds", 400, 400, 0.0, 3.5),
}


def limit(slowness):
    """Minutes that the whole run may take."""
    return LIMIT + SLOPE * (max(slowness, 1.0) - 1.0)


def factor(slowness, used, steps=tuple(STEPS)):
    """Of the numbers of the steps that are left, when `used` minutes are over; 0 to 1."""
    random = sum(STEPS[name][3] for name in steps)
    fixed = sum(STEPS[name][4] for name in steps)
    if not random:
        return 1.0
    return min(1.0, max(0.0, (limit(slowness) - used - fixed * slowness) / (random * slowness)))


def numbers(share):
    """Of each step, at this factor."""
    return {name: max(floor, math.floor(share * most)) for name, (_, most, floor, _, _) in STEPS.items()}


def every(stops):
    """Kernels are stopped at every Nth cycle: N, for so many stops in 256 cycles."""
    return math.ceil(256 / stops)


class Budget:
    """Everything at its full number until the speed is known."""

    def __init__(self, clock):
        self.clock, self.start, self.slowness = clock, clock(), None

    def measure(self, verify, jobs):
        """Runs the calibration: the command of co-verification, its processes. A line that
        says the speed; None: it failed.
        """
        run = subprocess.run([*verify, "--seeds", str(CALIBRATION), "--json"], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=False)
        try:
            measured = json.loads(run.stdout)
            each = measured["cycles"] / measured["cpu_seconds"]
        except (ValueError, KeyError, ZeroDivisionError):
            return None
        self.slowness = REFERENCE / (each * jobs)
        return (f"speed: {each:,.0f} simulated cycles a second of CPU, {jobs} processes: {1 / self.slowness:.2f} of "
                f"the reference; "
                f"the whole run may take {limit(self.slowness):.0f} min")

    def share(self, *steps):
        """The numbers of these steps, which are all that are left, and a line that says them."""
        used = (self.clock() - self.start) / 60
        f = 1.0 if self.slowness is None else factor(self.slowness, used, steps)
        n = numbers(f)
        return n, f"random work after {used:.0f} min: factor {f:.2f}: " + ", ".join(
            f"{name} {n[name]} {STEPS[name][0]}" for name in steps)
