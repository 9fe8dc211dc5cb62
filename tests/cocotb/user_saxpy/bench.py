# SPDX-License-Identifier: Apache-2.0
"""cocotb bench of user_saxpy: streams of integers as float32, whose results are exact, on AXI memory that answers late,
in any order and sometimes with an error. Packets are stopped at random and at every cycle, and resumed in the other one
of two instances.
"""
import struct

import cocotb

import cases
from cases import count
from description import FAULTS, Description
from executor import READ, Bench, Limits

SAXPY = Description("saxpy")
WORDS = 1 << 10  # of memory
LIMITS = Limits(lines=WORDS // 16, late=4, quiet=20)


class Work:
    """One call. x and y are indexes of words, of two streams that are the same or do not overlap."""

    def __init__(self, random, most):
        half = WORDS // 2
        self.n, self.a = random.randint(0, most), random.randint(-100, 100)
        self.x = random.randint(0, half - most)
        self.y = self.x if random.random() < 0.1 else half + random.randint(0, half - most)
        self.numbers = [random.randint(-1000, 1000) for _ in range(WORDS)]
        self.memory = self.bytes_after(0)
        self.final = self.bytes_after(self.n)
        self.packet = SAXPY.packet(n=self.n, a=self.a, x=4 * self.x, y=4 * self.y)

    def __str__(self):
        return f"n {self.n} a {self.a} x {4 * self.x:#x} y {4 * self.y:#x}"

    def bytes_after(self, done):
        """Returns memory when so many elements are done. This is the reference: y[i] = a * x[i] + y[i]."""
        numbers = list(self.numbers)
        for i in range(done):
            numbers[self.y + i] = self.a * self.numbers[self.x + i] + self.numbers[self.y + i]
        return struct.pack(f"<{WORDS}f", *numbers)

    def after(self, state):
        """Returns memory as it is when the state has been saved. Fails if the description does not allow this state."""
        done = SAXPY.values(state)["done"]
        assert done <= self.n, f"no stop saves done = {done}: {self}"
        return self.bytes_after(done)

    def states(self, random):
        """Returns a state that another implementation may have saved."""
        return SAXPY.state(done=random.randint(0, self.n))

    def line(self, random):
        """Returns the number of a line that the call reads or writes, or of one behind these."""
        return random.choice([self.x, self.y]) // 16 + random.randint(0, self.n // 12)

    def fault(self, bad, state):
        """Returns the fault of a run from this state when the line `bad` of memory answers with an error, or None. y is
        read before it is written, so every fault is that of a read."""
        first = SAXPY.values(state)["done"] if state else 0
        for i in range(first, self.n):
            for stream in self.x, self.y:
                if (stream + i) // 16 == bad:
                    return FAULTS["bus_error"], READ, 4 * (stream + i)
        return None


@cocotb.test()
async def results(dut):
    """Packets of all lengths end with the right results."""
    await cases.results(await Bench.begin(dut, LIMITS), Work)


@cocotb.test()
async def stopped(dut):
    """A packet that is stopped up to six times ends as it does when it is not stopped, bit by bit."""
    await cases.stopped(await Bench.begin(dut, LIMITS), Work)


@cocotb.test()
async def stopped_everywhere(dut):
    """A packet is stopped once at each of its cycles, until a stop comes too late."""
    await cases.stopped_everywhere(await Bench.begin(dut, LIMITS), Work)


@cocotb.test()
async def resumed(dut):
    """A packet goes on from each state that another implementation may have saved."""
    await cases.resumed(await Bench.begin(dut, LIMITS), Work)


@cocotb.test()
async def faults(dut):
    """A line of memory answers with an error: the packet reports the first access that touches it, or none."""
    await cases.faults(await Bench.begin(dut, LIMITS), Work)


@cocotb.test()
async def refused(dut):
    """Streams that are not aligned, and too many elements, are faults of the executor."""
    bench = await Bench.begin(dut, LIMITS)
    for _ in range(count(10)):
        work, off = Work(bench.random, 40), bench.random.randint(1, 3)
        for x, y, at in ((4 * work.x + off, 4 * work.y, 4 * work.x + off), (4 * work.x, 4 * work.y + off,
                                                                            4 * work.y + off)):
            work.packet = SAXPY.packet(n=work.n, a=1, x=x, y=y)
            await bench.refused(work, FAULTS["executor"], at)
        work.packet = SAXPY.packet(n=1 << bench.random.randint(30, 31), a=1, x=0, y=0)
        await bench.refused(work, FAULTS["executor"])


@cocotb.test()
async def forged(dut):
    """States that no stop has saved are faults: beyond the end, or with a bit that has no name."""
    bench = await Bench.begin(dut, LIMITS)
    for _ in range(count(15)):
        work = Work(bench.random, 120)
        for state in (SAXPY.state(done=work.n + bench.random.randint(1, 100)),
                      SAXPY.state(done=bench.random.randint(0x80000000, 0xffffffff)),
                      SAXPY.state(done=0xffffffff - bench.random.randint(0, 100)),
                      1 << bench.random.randint(32, 511)):
            await bench.refused(work, FAULTS["context_invalid"], state=state)
