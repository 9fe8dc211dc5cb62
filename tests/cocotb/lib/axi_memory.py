# SPDX-License-Identifier: Apache-2.0
"""The memory at the AXI4 port of a cocotb bench: cocotbext-axi's slave, with answers late and in any order.

AXI keeps the order of the transfers of one id, and no other. Reads of different ids are answered in random order here,
and so are writes. A transfer that touches a bad line, or a line beyond the end, is answered with SLVERR and has no
effect. All five channels pause at random.
"""
import collections
import logging

import cocotb
from cocotb.triggers import ClockCycles
from cocotbext.axi import AxiBus, AxiSlaveRead, AxiSlaveWrite

LINE = 64  # Bytes of a line, which is the width of the port.


SIGNALS = """arvalid arready arid araddr arlen arsize arburst rvalid rready rid rdata rresp rlast
    awvalid awready awid awaddr awlen awsize awburst wvalid wready wdata wstrb wlast bvalid bready bid bresp"""


class Lines:
    """Bytes of memory, at addresses from `base` on."""

    def __init__(self, base, lines):
        self.base = base
        self.data = bytearray(lines * LINE)
        self.bad = None    # Number of a line that answers with an error, or None.
        self.reads = self.writes = self.errors = 0

    def offset(self, address):
        at = address - self.base
        if not 0 <= at < len(self.data) or at // LINE == self.bad:
            self.errors += 1
            raise ValueError(f"address {address:#x} answers with an error")
        return at

    async def read(self, address, length):
        at = self.offset(address)
        self.reads += 1
        return bytes(self.data[at:at + length])

    async def write(self, address, data):
        at = self.offset(address)
        self.writes += 1
        self.data[at:at + len(data)] = data


class Late:
    """Passes transactions on to the sender of an AXI channel after random times, in order for each id."""

    def __init__(self, channel, clock, random, slow):
        self.clock, self.random, self.slow = clock, random, slow
        self.queues = collections.defaultdict(collections.deque)  # Of each id; the first one has a task that waits.
        self.send_now, channel.send = channel.send, self.send

    async def send(self, transaction):
        queue = self.queues[int(transaction.rid if hasattr(transaction, "rid") else transaction.bid)]
        queue.append(transaction)
        if len(queue) == 1:
            cocotb.start_soon(self.deliver(queue))

    async def deliver(self, queue):
        while queue:
            await ClockCycles(self.clock, 1 + self.random.randrange(self.slow))
            await self.send_now(queue[0])
            queue.popleft()


class Ports:
    """The signals of an AXI port of the top, by name. cocotb_bus lists all objects of the entity that it is given, and
    with Verilator 5.006 the listed object of a port is a copy, of which the design takes no value."""

    def __init__(self, dut, prefix):
        self._log, self._name = dut._log, dut._name
        for name in SIGNALS.split():
            setattr(self, f"{prefix}_{name}", getattr(dut, f"{prefix}_{name}"))


def pauses(random, share):
    """Yields for each cycle whether a channel pauses: in `share` of the cycles."""
    while True:
        yield random.random() < share


class AxiMemory:
    """Lines of memory behind the AXI4 port `prefix` of the top."""

    def __init__(self, dut, prefix, base, lines, random, slow=40):
        logging.getLogger("cocotb." + dut._name).setLevel(logging.ERROR)
        self.lines = Lines(base, lines)
        bus = AxiBus.from_prefix(Ports(dut, prefix), prefix)
        self.write = AxiSlaveWrite(bus.write, dut.clk, dut.rst, target=self.lines)
        self.read = AxiSlaveRead(bus.read, dut.clk, dut.rst, target=self.lines)
        for channel in self.write.b_channel, self.read.r_channel:
            Late(channel, dut.clk, random, slow)
        for channel in (self.write.aw_channel, self.write.w_channel, self.write.b_channel, self.read.ar_channel,
                        self.read.r_channel):
            channel.set_pause_generator(pauses(random, 0.2))
