#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tern with Debian's XRT and the simulator that scripts/xclbin puts into an xclbin: a preempted kernel, a program that
moves between two cards, a simulator that is killed during a call, and ternd after that. test_users_program runs a
program that uses XRT and not Tern's driver (user.cpp).

usage: test_hw_emu.py BUILD-FOLDER [TEST...]

XRT sleeps for 10 s whenever a card is opened in emulation. Therefore properties that the fake card (test_hal.c) can
show are tested there. A test that waits for ever fails by TIMEOUT. Without the Verilated device the functional model is
the simulator.
"""
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from emulation import environment, simulators

BUILD = pathlib.Path(sys.argv[1])
TERN, TERND = BUILD / "bin/tern", BUILD / "bin/ternd"
TIMEOUT = 400  # seconds on a busy host, with XRT's sleep of 10 s
SOON = "60"    # seconds that a call of XRT may take in tests that kill the simulator
DEVICE = "rtl_small" if (BUILD / "lib/libtern_sim_rtl_small.so").exists() else "model_small"
SPIN = """__kernel void spin(__global int *y, int n)
{
    int s = get_global_id(0);
    for (int i = 0; i < n; i++)
        s = s * 1664525 + 1013904223;
    y[get_global_id(0)] = s;
}
"""


def spin(s, n):
    """The result of a work-item of the kernel, as int."""
    a, c = 1664525, 1013904223  # factor and summand of 1, 2, 4 ... steps at once
    while n:
        s = (s * a + c) & 0xffffffff if n & 1 else s
        a, c, n = a * a & 0xffffffff, (a * c + c) & 0xffffffff, n >> 1
    return s - (1 << 32) if s >> 31 else s


class HwEmu(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tern-hw-emu-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "spin.cl").write_text(SPIN)

    def make(self, *more, device=DEVICE):
        return environment(BUILD, self.folder, *more, device=device)

    def tern(self, env, *args):
        return subprocess.run([TERN, *args], env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False)

    def simulator(self):
        """The process that XRT has started for this test, after it has computed for some time."""
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until:
            for p in simulators(self.folder):
                ticks = int(pathlib.Path(f"/proc/{p}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[11])
                if ticks > 3 * os.sysconf("SC_CLK_TCK"):
                    return p
            time.sleep(0.1)
        self.fail("XRT has started no simulator that runs")

    def test_info(self):
        p = self.tern(self.make(), "info")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertRegex(p.stdout, r"backend +xrt\n")
        self.assertRegex(p.stdout, rf"device memory +{64 << 20} bytes")

    def test_users_program(self):
        """A program that uses XRT without Tern's driver (user.cpp)."""
        env = self.make()
        p = subprocess.run([BUILD / "tests/xrt_user", env["TERN_XCLBIN"], str(64 << 20)], env=env, capture_output=True,
                           text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(p.returncode, 0, p.stdout + p.stderr)
        self.assertIn("all so\n", p.stdout)

    def test_kernel_is_preempted(self):
        """A kernel that is preempted many times gives the right result. The model's time passes no faster than that of
        a card, so it needs a long kernel, during which the host can preempt."""
        n = 6000 if DEVICE.startswith("rtl") else 20000000
        p = self.tern({**self.make(), "TERN_CONFIG": "small,preempt=4000"}, "run", self.folder / "spin.cl", "--time",
                      "--global", "64", "--save", f"y={self.folder}/y", "zeros:64", str(n))
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertEqual(list(struct.unpack("64i", (self.folder / "y").read_bytes())), [spin(i, n) for i in range(64)])
        self.assertRegex(p.stdout, r"preempted [1-9][0-9]* times")

    def test_simulator_is_killed(self):
        """The simulator is killed during a call, as the driver always polls. The program soon ends with an error."""
        env = {**self.make(), "TERN_XRT_TIMEOUT": SOON}
        with subprocess.Popen([TERN, "run", self.folder / "spin.cl", "--global", "64", "zeros:64", "2000000000"],
                              env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as p:
            os.kill(self.simulator(), signal.SIGKILL)
            _, said = p.communicate(timeout=TIMEOUT)
        self.assertEqual(p.returncode, 1, said)
        self.assertIn("the card is given up: ", said)

    def test_ternd_goes_on(self):
        """ternd has the card. After the card is lost, clients get an error, and ternd still answers."""
        env = {**self.make(), "TERN_XRT_TIMEOUT": SOON}
        socket = self.folder / "s"
        log = self.folder / "log"
        with log.open("w") as out, subprocess.Popen([TERND, "--socket", socket], env=env, stdout=out,
                                                    stderr=out) as daemon:
            try:
                until = time.monotonic() + TIMEOUT
                while not socket.exists() and daemon.poll() is None and time.monotonic() < until:
                    time.sleep(0.1)
                client = {**env, "TERND_SOCKET": str(socket)}
                p = self.tern(client, "run", self.folder / "spin.cl", "--global", "4", "zeros:4", "3")
                self.assertIn(f"y: int[4] = {' '.join(str(spin(i, 3)) for i in range(4))}\n", p.stdout,
                              p.stderr + log.read_text())
                with subprocess.Popen([TERN, "run", self.folder / "spin.cl", "--global", "64", "zeros:64",
                                       "2000000000"], env=client, stderr=subprocess.PIPE, text=True) as p:
                    os.kill(self.simulator(), signal.SIGKILL)
                    _, said = p.communicate(timeout=TIMEOUT)
                self.assertEqual(p.returncode, 1, said)
                self.assertIsNone(daemon.poll(), log.read_text())
                p = self.tern(client, "run", self.folder / "spin.cl", "--global", "4", "zeros:4", "3")
                self.assertEqual(p.returncode, 1, p.stdout)
                self.assertIsNone(daemon.poll(), log.read_text())
            finally:
                daemon.terminate()
                daemon.wait(timeout=TIMEOUT)
            self.assertEqual(daemon.returncode, 0, log.read_text())

    def test_program_moves(self):
        """A program moves from one ternd to another, each with a card of its own, in the middle of a kernel."""
        env = self.make(device="model_small")
        n, sockets, daemons = 60000000, [self.folder / "from", self.folder / "to"], []
        try:
            for s in sockets:
                daemons.append(subprocess.Popen([TERND, "--socket", s], env=env, stderr=subprocess.DEVNULL))
            until = time.monotonic() + TIMEOUT
            while not all(s.exists() for s in sockets) and time.monotonic() < until:
                time.sleep(0.1)
            with subprocess.Popen([TERN, "run", self.folder / "spin.cl", "--global", "4", "zeros:4", str(n)],
                                  env={**env, "TERND_SOCKET": str(sockets[0])}, stdout=subprocess.PIPE,
                                  text=True) as p:
                moved = None
                while p.poll() is None and not moved:
                    m = self.tern(env, "migrate", "--from", sockets[0], "--to", sockets[1])
                    moved = m.returncode == 0
                self.assertTrue(moved, m.stderr)
                said, _ = p.communicate(timeout=TIMEOUT)
            self.assertEqual(p.returncode, 0)
            self.assertEqual(said, f"y: int[4] = {' '.join(str(spin(i, n)) for i in range(4))}\n")
        finally:
            for d in daemons:
                d.terminate()
                d.wait(timeout=TIMEOUT)

    def expect(self, env, *words):
        p = self.tern(env, "info")
        self.assertEqual(p.returncode, 1, p.stdout + p.stderr)
        for w in words:
            self.assertIn(w, p.stderr)

    def test_xclbin_is_none(self):
        env = self.make(device="model_small")
        text = self.folder / "text.xclbin"
        text.write_text("no xclbin\n")
        self.expect({**env, "TERN_XCLBIN": str(text)}, "is no xclbin")
        self.expect({**env, "TERN_XCLBIN": str(self.folder / "nowhere")}, "cannot be read")

    def test_xclbin_of_something_else(self):
        env = self.make(device="model_small")
        xclbin = pathlib.Path(env["TERN_XCLBIN"])
        xclbin.write_bytes(xclbin.read_bytes().replace(b"tern_kernel", b"some_kernel"))
        self.expect(env, "has no kernel tern_kernel")

    def test_memory_is_not_there(self):
        self.expect(self.make("--bank", "32M", device="model_small"), "67108864 bytes of memory", "bank of 33554432")

    def test_card_is_not_there(self):
        env = self.make(device="model_small")
        del env["XCL_EMULATION_MODE"]
        self.expect(env, "there is no card '0'")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])
