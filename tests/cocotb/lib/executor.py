# SPDX-License-Identifier: Apache-2.0
"""Drives two instances of a user executor in a cocotb bench, and checks the executor interface in every cycle.

A test begins with `bench = await Bench.begin(dut, limits)`. It gives work to `bench.run`, which starts the packet,
stops it as the test says, resumes it in the other instance, and compares memory and every saved state with those that
the work expects. A work is an object of the bench's own class with these members:

    packet            the packet, as Description.packet returns it
    memory            all bytes of memory at the start
    after(state)      all bytes of memory when this state has been saved; a state that the description does not allow is
                      an AssertionError
    final             all bytes of memory at the end
    fault(bad, state) the fault of a run that begins with this state (None: at the beginning) when the line `bad` cannot
                      be read or written: (code, access, address), or None if the run does not touch the line

Rules that are checked (docs/hardware/interfaces.md): one end a packet, without a request in flight; no request by an
idle instance, while state moves, or beyond memory; no tag twice in flight; after a stop at most `late` requests, and
the end at most `quiet` cycles after the last answer; one line of state, then idle. Assertions in executor_axi.sv check
that offered requests and lines of state do not change.
"""
import dataclasses
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from axi_memory import LINE, AxiMemory

AXI_BASE = 0x5_4000_0000  # Added to every address by the fabric.
LONGEST = 20000         # Cycles that a packet may take.
READ, WRITE = 0, 1        # Values of `access` of a fault.


@dataclasses.dataclass
class Limits:
    lines: int        # Lines of memory; a request beyond them is an error.
    late: int         # Greatest number of requests after a stop: those of the current piece of work.
    quiet: int        # Greatest number of cycles from the last answer after a stop to the end.
    slow: int = 40    # Greatest number of cycles that memory takes for an answer.


@dataclasses.dataclass
class End:
    kind: str           # done, faulted or stopped
    fault: tuple        # (code, access, address) of a fault, otherwise None
    state: int          # the saved line of a stop, otherwise None
    cycles: int         # from the start or resume to the end


class Seen:
    """One instance's signals of `watch` in a cycle, in the order of executor_axi.sv from the lowest bit."""

    def __init__(self, bits):
        self.line, self.op = bits & 0xfffffff, bits >> 28 & 3
        self.rsp_tag, self.req_tag = bits >> 30 & 0xff, bits >> 38 & 0xff
        (self.rsp_valid, self.req_ready, self.req_valid, self.restore_ready, self.save_valid, self.stopped,
         self.faulted, self.done, self.start_ready) = (bits >> n & 1 for n in range(55, 64))


class Bench:
    @classmethod
    async def begin(cls, dut, limits):
        """Resets the device. All random choices of the test follow from the seed of the run and the test's name."""
        self = cls()
        self.dut, self.limits = dut, limits
        self.random = random.Random(f"{cocotb.RANDOM_SEED} {os.environ['TESTCASE']}")
        self.sel = self.hold = self.cycle = self.late = self.quiet = self.stops = self.compared = 0
        self.flying, self.busy, self.stopping, self.now = set(), False, False, Seen(0)
        cocotb.start_soon(Clock(dut.clk, 10, "ns").start())
        for name in ("executor_rst", "sel", "hold", "start_valid", "packet", "resume", "stop_req", "stop_gran",
                     "save_ready", "restore_valid", "restore_data", "m_axi_rvalid", "m_axi_bvalid"):
            getattr(dut, name).value = 0
        dut.mem_pages.value = -(-limits.lines * LINE // 4096)
        dut.axi_base.value = AXI_BASE
        dut.rst.value = 1
        for _ in range(4):
            await RisingEdge(dut.clk)
        self.memory = AxiMemory(dut, "m_axi", AXI_BASE, limits.lines, self.random, limits.slow)
        await RisingEdge(dut.clk)
        dut.rst.value = 0
        for _ in range(4):
            await self.step()
        assert self.now.start_ready, "it is not idle after the reset"
        return self

    async def step(self):
        """Waits for the next clock edge, and checks the rules for the cycle that it ends. Inputs that the caller sets
        then belong to the next cycle."""
        await RisingEdge(self.dut.clk)
        bits = self.dut.watch.value.integer
        self.cycle += 1
        if self.random.random() < 0.3:
            self.hold = 1 - self.hold
            self.dut.hold.value = self.hold
        now, other = Seen(bits >> 64 * self.sel & (1 << 64) - 1), Seen(bits >> 64 * (1 - self.sel) & (1 << 64) - 1)
        self.now = now
        assert not (other.req_valid or other.save_valid or other.done or other.faulted or other.stopped), \
            "the instance that is not used does something"
        if now.rsp_valid:
            self.flying.discard(now.rsp_tag)
        if now.req_valid:
            assert self.busy, "an idle executor makes a request"
            assert not now.save_valid and not now.restore_ready, "a request while state moves"
            assert now.line < self.limits.lines, f"the request of line {now.line:#x} is beyond memory"
            assert now.req_tag not in self.flying, f"tag {now.req_tag:#x} is in flight"
        ends = now.done + now.faulted + now.stopped
        if ends:
            assert self.busy and ends == 1, "more than one end of a packet"
            assert not self.flying and not now.req_valid, f"an end with {len(self.flying)} requests in flight"
            self.busy = False
        if now.req_valid and now.req_ready:
            self.flying.add(now.req_tag)
            self.late += self.stopping
            assert self.late <= self.limits.late, f"more than {self.limits.late} requests after a stop"
        if self.stopping and self.busy and not self.flying and not now.req_valid and not now.restore_ready:
            self.quiet += 1
            assert self.quiet <= self.limits.quiet, f"no end {self.limits.quiet} cycles after the last answer of a stop"
        else:
            self.quiet = 0

    async def pause(self):
        while self.random.random() < 0.6:
            await self.step()

    async def until(self, signal, most, what):
        """Steps until a signal is set, which may take `most` cycles."""
        for _ in range(most):
            await self.step()
            if getattr(self.now, signal):
                return
        raise AssertionError(f"{what}: {most} cycles without {signal}")

    def stop(self):
        """Requests a stop, at first perhaps at a granularity of which an executor without groups takes no notice."""
        if not self.dut.stop_req.value:
            gran = self.random.choice([0, 1, 2, 2, 3, 3])
        elif not self.stopping and self.random.random() < 0.1:
            gran = self.random.choice([2, 3])
        else:
            return
        self.dut.stop_req.value, self.dut.stop_gran.value = 1, gran
        self.stopping = gran >= 2

    async def go(self, packet, stop=None, state=None, at_once=False):
        """Starts the packet, or resumes it from a state, and returns its End. stop: the cycle in which a stop is
        requested, None for never; at_once: of a granularity that stops within the packet."""
        dut, self.late = self.dut, 0
        await self.pause()
        dut.packet.value, dut.resume.value, dut.start_valid.value = packet, state is not None, 1
        await self.until("start_ready", 20, "the instance is idle")
        dut.start_valid.value = 0
        dut.packet.value = self.random.getrandbits(1024)  # The packet is there in the cycle of the start alone.
        begun, self.busy = self.cycle, True
        if state is not None:
            await self.pause()
            dut.restore_data.value, dut.restore_valid.value = state, 1
            await self.until("restore_ready", 20, "it takes its state")
            dut.restore_valid.value = 0
        while self.busy:
            if stop is not None and self.cycle - begun >= stop:
                if at_once and not self.stopping:
                    dut.stop_req.value, dut.stop_gran.value, self.stopping = 1, 3, True
                self.stop()
            await self.step()
            assert self.cycle - begun < LONGEST, f"no end in {LONGEST} cycles"
        asked, self.stopping, now = self.stopping, False, self.now
        dut.stop_req.value = 0
        end = End("done" if now.done else "faulted" if now.faulted else "stopped", None, None, self.cycle - begun)
        if now.faulted:
            bits = dut.fault.value.integer
            end.fault = bits >> 34, bits >> 32 & 3, bits & 0xffffffff
        if now.stopped:
            assert asked, "it stops by itself, or between packets only"
            end.state = await self.save()
        return end

    async def save(self):
        await self.pause()
        self.dut.save_ready.value = 1
        await self.until("save_valid", 20, "it offers its state")
        state = self.dut.save_data.value.integer
        assert self.dut.save_last.value, "more than a line of state"
        self.dut.save_ready.value = 0
        await self.step()
        assert self.now.start_ready, "it is not idle after its state"
        self.stops += 1
        return state

    async def change(self):
        """Goes on with the other instance, which has done other work before, or has been reset just now."""
        self.sel = 1 - self.sel
        self.dut.sel.value = self.sel
        if self.random.random() < 0.5:
            self.dut.executor_rst.value = 1 << self.sel
            await self.step()
            self.dut.executor_rst.value = 0
        await self.step()

    def compare(self, work, expected, what):
        """Compares all of memory, and tells the first word that differs."""
        found = self.memory.lines.data
        self.compared += 1
        if found != expected:
            at = next(i for i in range(0, len(expected), 4) if found[i:i + 4] != expected[i:i + 4])
            raise AssertionError(
                f"{what}: the word at {at:#x} is {int.from_bytes(found[at:at + 4], 'little'):#010x}, expected "
                f"{int.from_bytes(expected[at:at + 4], 'little'):#010x}: {work}")

    async def run(self, work, stops=(), state=None, bad=None, at_once=False):
        """Runs the packet to its end, and returns the cycles of all its pieces together. stops: for each piece the
        cycle of its stop; the piece after the last one is not stopped. state: the packet is resumed from it at first.
        bad: the line that answers with an error."""
        lines, total, stops = self.memory.lines, 0, list(stops)
        lines.data[:] = work.memory if state is None else work.after(state)
        lines.bad = bad
        begun = state
        while True:
            end = await self.go(work.packet, stops.pop(0) if stops else None, state, at_once)
            total += end.cycles
            if end.kind != "stopped":
                break
            self.compare(work, work.after(end.state), f"stopped with the state {end.state:#x}")
            state = end.state
            await self.change()
        expected = work.fault(bad, begun)
        assert end.fault == expected, f"the fault is {end.fault}, expected {expected}: {work}"
        if not expected:
            self.compare(work, work.final, "ended")
        lines.bad = None
        return total

    async def refused(self, work, code, address=0, state=None):
        """The packet must fault before any access to memory, with this code."""
        lines = self.memory.lines
        lines.data[:] = work.memory
        before = lines.reads, lines.writes
        end = await self.go(work.packet, None, state)
        assert end.fault == (code, READ, address), f"the fault is {end.fault}, expected code {code}: {work}"
        assert (lines.reads, lines.writes) == before, f"refused, but memory was accessed: {work}"
        self.compare(work, work.memory, "refused")
        await self.change()
