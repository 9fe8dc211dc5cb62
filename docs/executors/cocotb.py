# SPDX-License-Identifier: Apache-2.0
"""cocotb bench of user_NAME: random ranges, on AXI memory that answers late, in any order and sometimes with an error.
Packets are stopped at random and at every cycle, and resumed in the other one of two instances. tests/cocotb/run runs
it; tests/cocotb/lib/executor.py drives the instances and checks the interface.
"""
import struct

import cocotb

import cases
from cases import count
from description import FAULTS, Description
from executor import READ, WRITE, Bench, Limits

EXECUTOR = Description("NAME")
WORDS = 1 << 10  # of memory
LIMITS = Limits(
    lines=WORDS // 16,
    late=2,    # Requests after a stop: those of a line, one for each stream.
    quiet=20,  # Cycles from the last answer after a stop to the end.
)


class Work:
    """One call. src and dst are indexes of words, and multiples of 16."""

    def __init__(self, random, most):
        half = WORDS // 2
        self.n, self.key = random.randint(0, most), random.getrandbits(32)
        self.src = random.randrange(0, half - most, 16)
        self.dst = self.src if random.random() < 0.1 else half + random.randrange(0, half - most, 16)
        self.words = [random.getrandbits(32) for _ in range(WORDS)]
        self.memory = self.bytes_after(0)
        self.final = self.bytes_after(self.n)
        self.packet = EXECUTOR.packet(n=self.n, key=self.key, src=4 * self.src, dst=4 * self.dst)

    def __str__(self):
        return f"n {self.n} key {self.key:#010x} src {4 * self.src:#x} dst {4 * self.dst:#x}"

    def bytes_after(self, done):
        """Returns memory when so many words are done. This is the reference: dst[i] = src[i] ^ key."""
        words = list(self.words)
        for i in range(done):
            words[self.dst + i] = self.words[self.src + i] ^ self.key
        return struct.pack(f"<{WORDS}I", *words)

    def after(self, state):
        """Returns memory as it is when the state has been saved. Fails if the description does not allow this state."""
        done = EXECUTOR.values(state)["done"]
        assert done == self.n or (done % 16 == 0 and done < self.n), f"no stop saves done = {done}: {self}"
        return self.bytes_after(done)

    def states(self, random):
        """Returns a state that another implementation may have saved."""
        return EXECUTOR.state(done=random.choice([*range(0, self.n, 16), self.n]))

    def line(self, random):
        """Returns the number of a line that the call reads or writes, or of one behind these."""
        return random.choice([self.src, self.dst]) // 16 + random.randint(0, self.n // 12)

    def fault(self, bad, state):
        """Returns the fault of a run from this state when the line `bad` of memory answers with an error, or None."""
        first = EXECUTOR.values(state)["done"] if state else 0
        for i in range(first, self.n, 16):
            for access, stream in (READ, self.src), (WRITE, self.dst):
                if (stream + i) // 16 == bad:
                    return FAULTS["bus_error"], access, 4 * (stream + i)
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
    """Arguments that the description refuses are faults of the executor, and name the wrong address."""
    bench = await Bench.begin(dut, LIMITS)
    for _ in range(count(10)):
        work, off = Work(bench.random, 40), 1 + bench.random.randrange(63)
        for name, at in ("src", 4 * work.src + off), ("dst", 4 * work.dst + off):
            values = {"n": work.n, "key": work.key, "src": 4 * work.src, "dst": 4 * work.dst, name: at}
            work.packet = EXECUTOR.packet(**values)
            await bench.refused(work, FAULTS["executor"], at)
        work.packet = EXECUTOR.packet(n=1 << bench.random.randint(30, 31), key=0, src=0, dst=0)
        await bench.refused(work, FAULTS["executor"])


@cocotb.test()
async def forged(dut):
    """States that no stop has saved are faults: beyond the end, within a line, or with a bit that has no name."""
    bench = await Bench.begin(dut, LIMITS)
    for _ in range(count(15)):
        work = Work(bench.random, 120)
        within = bench.random.choice([d for d in range(1, work.n) if d % 16] or [work.n + 1])
        for state in (EXECUTOR.state(done=work.n + bench.random.randint(1, 100)),
                      EXECUTOR.state(done=bench.random.randint(0x80000000, 0xffffffff)),
                      EXECUTOR.state(done=0xffffffff - 15),
                      EXECUTOR.state(done=within),
                      1 << bench.random.randint(32, 511)):
            await bench.refused(work, FAULTS["context_invalid"], state=state)
