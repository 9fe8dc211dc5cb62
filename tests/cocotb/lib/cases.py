# SPDX-License-Identifier: Apache-2.0
"""Tests that every executor must pass, for the class `Work` of a bench (executor.py). Beside the members that
Bench.run uses, its objects have

    Work(random, most)       a random call, of at most `most` elements
    states(random)           a state that another implementation may have saved
    line(random)             the number of a line that the call reads or writes, or of one close to these
"""
import os


def count(most):
    """The number of cases of a test: `most`, or the share of it that tests/cocotb/run --percent gives."""
    return max(1, most * int(os.environ.get("TERN_PERCENT", "100")) // 100)


async def results(bench, work):
    """Packets of all lengths end with the right results."""
    for k in range(count(40)):
        await bench.run(work(bench.random, 200 if k % 4 == 0 else 40))


async def stopped(bench, work):
    """A packet that is stopped up to six times ends as it does when it is not stopped, bit by bit."""
    for _ in range(count(25)):
        one = work(bench.random, 120)
        cycles = await bench.run(one)
        await bench.change()
        await bench.run(one, [bench.random.randrange(cycles) for _ in range(bench.random.randint(1, 6))])
    assert bench.stops >= count(25) // 2, f"only {bench.stops} stops"


async def stopped_everywhere(bench, work):
    """A packet is stopped once at each of its cycles, until a stop comes too late."""
    for _ in range(count(2)):
        one, at, before = work(bench.random, 40), 0, -1
        while bench.stops != before:
            before = bench.stops
            await bench.run(one, [at], at_once=True)
            at += 1
    assert bench.stops >= count(2), "no stop"


async def resumed(bench, work):
    """A packet goes on from each state that another implementation may have saved."""
    for _ in range(count(25)):
        one = work(bench.random, 120)
        await bench.run(one, state=one.states(bench.random))
        await bench.change()


async def faults(bench, work):
    """A line of memory answers with an error: the packet reports the first access that touches it, or none."""
    for k in range(count(40)):
        one = work(bench.random, 120)
        await bench.run(one, [bench.random.randrange(300)] if k % 2 else [], bad=one.line(bench.random))
    assert bench.memory.lines.errors >= count(40) // 4, "hardly an error"
