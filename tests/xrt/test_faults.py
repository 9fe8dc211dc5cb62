#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the simulator behind XRT's emulation (sim/xrt/fault.h), in programs with a card of their own and in clients
of a ternd. The simulator is killed, stopped, closed or late, or its answers are cut, short, empty or meaningless. This
happens at opening, register accesses, copies and doorbells, and while a kernel runs. The program must get an error and
end, no process or socket may be left, and ternd must go on.

usage: test_faults.py BUILD-FOLDER [TEST...]

XRT sleeps for 10 s when a card is opened, and a call that does not return takes its time limit. Therefore several cases
run at a time. Each has a process group of its own, because XRT's handlers send signals to the whole group until a card
is open. A case that waits for ever fails by TIMEOUT.
"""
import concurrent.futures
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from emulation import environment, simulators

BUILD = pathlib.Path(sys.argv[1])
TERN, TERND = BUILD / "bin/tern", BUILD / "bin/ternd"
TIMEOUT = 600  # seconds on a busy host
SOON = "20"    # seconds that a call of XRT may take
AT_ONCE = 8
LOST = "XRT has not come back for "
SPIN = """__kernel void spin(__global int *y, int n)
{
    int s = get_global_id(0);
    for (int i = 0; i < n; i++)
        s = s * 1664525 + 1013904223;
    y[get_global_id(0)] = s;
}
"""
LONG, SHORT = "2000000000", "2"
RIGHT = "y: int[4] = 1196435762 1586005467 1975575172 -1929822419\n"
ENDED = ("kill", "close", "cut")
AT_OPENING = {f"{what}@any:2": LOST for what in ("kill", "stop", "close")} | {"garbage@any:1": "Assertion"}
AT_REGISTERS = {f"{what}@read:7": LOST for what in ("kill", "stop", "close", "cut", "promise", "empty", "garbage")}
AT_COPIES = {f"{what}@to:3": LOST for what in ("kill", "stop", "close", "cut", "promise", "empty", "garbage")}
AT_DOORBELL = {f"{what}@doorbell": LOST for what in ("kill", "stop", "close", "promise", "garbage")}
IN_KERNEL = {f"{what}@polling:2000": LOST for what in ("kill", "stop", "close", "cut", "promise", "empty", "garbage")}
LATE = ("late@read:7", "late@to:3", "late@from", "late@doorbell", "late@polling:9")


def patient(condition):
    until = time.monotonic() + TIMEOUT
    while not condition() and time.monotonic() < until:
        time.sleep(0.1)
    return condition()


class Faults(unittest.TestCase):
    def each(self, cases, run):
        """Runs run(self, case) for all cases. The test fails with the messages of the cases that are wrong."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            said = list(pool.map(lambda c: run(*c), cases.items()))
        self.assertEqual([s for s in said if s], [])

    def program(self, fault, n):
        """Runs a program on a card whose simulator has the fault. Returns the exit code, output, error output, and the
        processes and sockets that are left."""
        with tempfile.TemporaryDirectory(prefix="tern-fault-", dir="/tmp") as name:
            folder = pathlib.Path(name)
            (folder / "spin.cl").write_text(SPIN)
            env = {**environment(BUILD, folder, device="model_small"), "TERN_XRT_TIMEOUT": SOON,
                   "TERN_HW_EMU_FAULT": fault}
            before = set(folder.iterdir())
            with subprocess.Popen([TERN, "run", folder / "spin.cl", "--global", "4", "zeros:4", n], env=env,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  start_new_session=True) as p:
                try:
                    out, said = p.communicate(timeout=TIMEOUT)
                except subprocess.TimeoutExpired:
                    os.killpg(p.pid, signal.SIGKILL)
                    return None, "", "", ["it hangs"]
            left = [] if patient(lambda: not simulators(folder)) else ["a simulator"]
            sockets = {x.name for x in set(folder.iterdir()) - before if x.is_socket()}
            if fault.split("@", maxsplit=1)[0] not in ENDED:  # otherwise the process that removes them was ended
                left += sockets
            return p.returncode, out, said, left

    def fails(self, fault, words):
        code, out, said, left = self.program(fault, LONG)
        good = code == 1 and words in said and not left
        return "" if good else f"{fault}: exit status {code}, left {left}, {out}{said}"

    def test_opening(self):
        self.each(AT_OPENING, self.fails)

    def test_registers(self):
        self.each(AT_REGISTERS, self.fails)

    def test_copies(self):
        self.each(AT_COPIES, self.fails)

    def test_doorbell(self):
        self.each(AT_DOORBELL, self.fails)

    def test_kernel(self):
        self.each(IN_KERNEL, self.fails)

    def test_late(self):
        """A late answer is no fault: the program waits, and its result is right."""
        def late(fault, _):
            code, out, said, left = self.program(fault, SHORT)
            return "" if code == 0 and out == RIGHT and not left else f"{fault}: {code}, left {left}, {out}{said}"
        self.each(dict.fromkeys(LATE), late)

    def test_short_data(self):
        """XRT does not notice that data is missing, and Tern cannot. The program must end, with any result."""
        def ends(fault, _):
            code, out, said, left = self.program(fault, SHORT)
            return "" if code in (0, 1) and not left else f"{fault}: {code}, left {left}, {out}{said}"
        self.each(dict.fromkeys(("short@read:9", "short@from", "short@polling:5")), ends)

    def test_ternd(self):
        """After any fault, ternd reports it to its clients, and to later ones, and goes on until it is ended."""
        def one(fault, words):
            with tempfile.TemporaryDirectory(prefix="tern-fault-", dir="/tmp") as name:
                folder = pathlib.Path(name)
                (folder / "spin.cl").write_text(SPIN)
                env = {**environment(BUILD, folder, device="model_small"), "TERN_XRT_TIMEOUT": SOON}
                client = {**env, "TERND_SOCKET": str(folder / "s")}
                log = folder / "log"
                run = [TERN, "run", folder / "spin.cl", "--global", "4", "zeros:4"]
                with log.open("w") as to, subprocess.Popen([TERND, "--socket", folder / "s"], stdout=to, stderr=to,
                                                           env={**env, "TERN_HW_EMU_FAULT": fault},
                                                           start_new_session=True) as daemon:
                    try:
                        patient(lambda: (folder / "s").exists() or daemon.poll() is not None)
                        for _ in range(2):
                            p = subprocess.run([*run, LONG], env=client, capture_output=True, text=True,
                                               timeout=TIMEOUT, check=False)
                            if p.returncode != 1 or daemon.poll() is not None:
                                return f"{fault}: a program ended with {p.returncode}, {p.stderr}{log.read_text()}"
                    finally:
                        daemon.terminate()
                        daemon.wait(timeout=TIMEOUT)
                if daemon.returncode or words not in log.read_text() or not patient(lambda: not simulators(folder)):
                    return f"{fault}: ternd ended with {daemon.returncode}, {log.read_text()}"
                return ""
        self.each(IN_KERNEL, one)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
