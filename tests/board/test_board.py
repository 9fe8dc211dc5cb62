#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tern on a simulated board: the driver, a pseudo terminal, and the Verilated link with a device behind it.

OpenCL programs run undisturbed, preempted, and with noise on the line. The board or a program is killed during a call.
Wrong rates, ports and boards, and a cable that is cut after any request, give errors. In tests of the whole board,
which has the device and the SDRAM, a kernel runs, and another is preempted.

usage: test_board.py BOARD LIBRARY BUILD-FOLDER [TEST...]

A test that waits for ever fails by TIMEOUT.
"""
import os
import pathlib
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

import line

BOARD, LIBRARY, BUILD = sys.argv[1:4]
ROOT = pathlib.Path(__file__).resolve().parents[2]
TERN = f"{BUILD}/bin/tern"
TIMEOUT = 300  # seconds
SAXPY = ["run", str(ROOT / "tests/bench/kernels.cl"), "--kernel", "saxpy", "--global", "64", "iota:64", "fill:1:64",
         "0.5"]
SAXPY_SAYS = "y: float[64] = 1 1.5 2 2.5 3 3.5 4 4.5"
ID, HASH, MEM_PAGES = 0, 8, 0x18  # offsets of registers of the device


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tern-board-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def env(self, path, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("TERN") or k == "TERN_LIB_DIR"}
        return {**env, "TERN_BACKEND": "uart", "TERN_UART": str(path), "TERN_CONFIG": "small",
                "XDG_RUNTIME_DIR": self.folder, "TERN_UART_TIMEOUT": "120",
                "TERN_CACHE_DIR": f"{BUILD}/opencl-cache", "OCL_ICD_VENDORS": f"{BUILD}/tern.icd", **more}

    def run_on(self, env, *argv):
        return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False)

    def refused(self, env, *words, program=(TERN, "info")):
        done = self.run_on(env, *program)
        for w in words:
            self.assertIn(w, done.stderr)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr


class Board(Case):
    def board(self, *options):
        return line.board(BOARD, LIBRARY, self.folder, "--memory", "64", *options)

    def start_program(self, b, after=1):
        """Starts an OpenCL program that runs for seconds. Returns when it has passed `after` of its tests."""
        p = subprocess.Popen(["stdbuf", "-oL", f"{BUILD}/tests/opencl_run_basic"], env=self.env(b.path),
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while after:
            text = p.stdout.readline()
            self.assertTrue(text, "it has ended before its first tests had")
            after -= "[       OK ]" in text
        return p

    def test_works(self):
        with self.board() as b:
            done = self.run_on(self.env(b.path), TERN, "info")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"backend +uart\n")
            self.assertRegex(done.stdout, r"device memory +67108864 bytes")
            done = self.run_on(self.env(b.path), TERN, *SAXPY)
            self.assertIn(SAXPY_SAYS, done.stdout, done.stderr)
            self.assertEqual(done.returncode, 0)

    def test_opencl_is_preempted(self):
        """An OpenCL program whose contexts are saved and restored every 600 cycles."""
        with self.board() as b:
            env = self.env(b.path, TERN_CONFIG="small,preempt=600")
            done = self.run_on(env, f"{BUILD}/tests/opencl_run_basic")
            self.assertIn("[  PASSED  ] 13 test(s).", done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_driver(self):
        """The driver's own tests of memory and of faults."""
        with self.board() as b:
            for name in ("submit_data", "fault"):
                done = self.run_on(self.env(b.path), f"{BUILD}/tests/driver/test_driver_{name}")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_noise(self):
        """One bit of 50000 is inverted, in both directions. The layers above the link do not notice."""
        with self.board("--noise", "50000", "--seed", "7") as b:
            done = self.run_on(self.env(b.path), f"{BUILD}/tests/opencl_run_basic")
            self.assertIn("[  PASSED  ] 13 test(s).", done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(int(re.search(r"(\d+) bits turned", b.said)[1]), 10)

    def test_hal(self):
        """Tests of the backend alone (uart_hal.c)."""
        seed = os.environ.get("TERN_TEST_SEED", str(random.randrange(1, 1 << 30)))
        print(f"seed {seed}: TERN_TEST_SEED={seed} {' '.join(sys.argv)}", flush=True)
        with self.board() as b:
            done = self.run_on(self.env(b.path), f"{BUILD}/tests/board/uart_hal", seed, "30")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_ends_in_a_call(self):
        """The board loses its power while a program uses it. The program gets an error, and ends."""
        with self.board() as b:
            p = self.start_program(b)
            b.kill()
            said = p.communicate(timeout=TIMEOUT)[0]
            self.assertIn("the board is given up: its serial port is gone", said)
            self.assertNotEqual(p.returncode, 0)

    def test_host_is_killed(self):
        """After a program was killed, the next one uses the board without an error."""
        with self.board() as b:
            for after in range(1, 4):
                p = self.start_program(b, after)
                p.kill()
                p.communicate()
                done = self.run_on(self.env(b.path), TERN, *SAXPY)
                self.assertIn(SAXPY_SAYS, done.stdout, done.stderr)

    def test_busy(self):
        with self.board() as b:
            p = self.start_program(b)
            p.send_signal(signal.SIGSTOP)  # the stopped program keeps the port
            self.refused(self.env(b.path), "another program has the serial port", "ternd")
            p.kill()
            p.communicate()

    def test_ternd_goes_on(self):
        """Programs share a board by ternd, which still answers after the board is lost."""
        socket = f"{self.folder}/socket"
        with self.board() as b, subprocess.Popen([f"{BUILD}/bin/ternd", "--socket", socket], env=self.env(b.path),
                                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as d:
            try:
                self.assertIn("ternd: uart, small", d.stdout.readline())
                client = self.env("/nowhere", TERND_SOCKET=socket)
                programs = [subprocess.Popen([TERN, *SAXPY], env=client, stdout=subprocess.PIPE, text=True)
                            for _ in range(2)]
                for p in programs:
                    self.assertIn(SAXPY_SAYS, p.communicate(timeout=TIMEOUT)[0])
                b.kill()
                b.wait()
                self.assertEqual(self.run_on(client, TERN, *SAXPY).returncode, 1)
                self.assertIsNone(d.poll())
            finally:
                d.terminate()
            self.assertIn("the board is given up: its serial port is gone", d.communicate(timeout=TIMEOUT)[0])

    def test_wrong_rate(self):
        with self.board() as b:
            env = self.env(b.path, TERN_UART_BAUD="2000000", TERN_UART_TIMEOUT="1")
            self.assertRegex(self.refused(env, "the board does not answer"), "TERN_UART")
            self.assertEqual(self.run_on(self.env(b.path), TERN, "info").returncode, 0)


class Whole(Case):
    """The whole board: link, arbiter, SDRAM controller, chip and device, all Verilated."""

    def env(self, path, **more):
        return super().env(path, TERN_UART_TIMEOUT="60", **more)  # seconds, for a simulation on a busy host

    def board(self, *options):
        return line.board(BOARD, None, self.folder, *options)

    def test_whole_works(self):
        with self.board() as b:
            done = self.run_on(self.env(b.path), TERN, "info")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"engines +1\n")
            self.assertRegex(done.stdout, r"device memory +67108864 bytes")
            done = self.run_on(self.env(b.path), TERN, *SAXPY)
            self.assertIn(SAXPY_SAYS, done.stdout, done.stderr)
            self.assertEqual(done.returncode, 0)

    def test_whole_is_preempted(self):
        """A kernel's state is saved to the SDRAM and restored, and the result is right."""
        source = pathlib.Path(self.folder) / "lcg.cl"
        source.write_text("kernel void lcg(global uint *y, uint n) { uint x = get_global_id(0); "
                          "for (uint i = 0; i < n; i++) x = x * 1664525u + 1013904223u; y[get_global_id(0)] = x; }")
        steps, want = 40000, []
        for x in range(32):
            for _ in range(steps):
                x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
            want.append(x)
        with self.board() as b:
            done = self.run_on(self.env(b.path, TERN_CONFIG="small,preempt=600"), TERN, "run", str(source), "--time",
                               "--global", "32", "--save", f"y={self.folder}/y", "zeros:32", str(steps))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(struct.unpack("<32I", pathlib.Path(self.folder, "y").read_bytes())), want)
        self.assertRegex(done.stdout, r"preempted [1-9][0-9]* times")

    def test_whole_wrong_use(self):
        """The option --memory is refused for a whole board, whose memory is fixed."""
        done = self.run_on(os.environ, BOARD, "--memory", "64")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("usage: tern-board", done.stderr)


class Errors(Case):
    """Fake boards (line.Fake), and files that are not serial ports."""

    def spec_hash(self):
        text = (ROOT / "docs/spec/c/tern/tern_spec.h").read_text()
        return int(re.search(r"#define TERN_SPEC_HASH (0x[0-9a-f]+)u", text)[1], 16)

    def fake(self, registers=None, **what):
        good = {ID: 0x5445524E, HASH: self.spec_hash(), MEM_PAGES: 4096}
        fake = line.Fake({**good, **(registers or {})}, **what)
        self.addCleanup(fake.thread.join)
        self.addCleanup(fake.close)
        return fake

    def test_no_port(self):
        self.refused(self.env("/nowhere"), "there is no serial port '/nowhere'", "TERN_UART")

    def test_no_terminal(self):
        path = f"{self.folder}/file"
        pathlib.Path(path).touch()
        self.refused(self.env(path), f"TERN_UART: '{path}' is no serial port")

    def test_settings(self):
        fake = self.fake()
        for more, words in (({"TERN_UART_BAUD": "1234"}, "TERN_UART_BAUD: 1234 is none of 115200"),
                            ({"TERN_UART_BAUD": "fast"}, "TERN_UART_BAUD: 'fast' is not a number"),
                            ({"TERN_UART_TIMEOUT": "0"}, "TERN_UART_TIMEOUT, seconds: 0 is out of range, 1 to 3600"),
                            ({"TERN_CONFIG": "small,mem=32M"}, "'mem': the device has 16777216 bytes"),
                            ({"TERN_CONFIG": "small,memory=hbm"}, "leave out memory, dram_ and trace")):
            self.refused(self.env(fake.path, **more), words)

    def test_no_answer(self):
        self.refused(self.env(self.fake(silent=True).path, TERN_UART_TIMEOUT="1"), "the board does not answer",
                     "it has not answered for 1000 ms", "bitstream")

    def test_garbage(self):
        self.refused(self.env(self.fake(garbage=True).path, TERN_UART_TIMEOUT="10"), "but no frame", "TERN_UART_BAUD")

    def test_version(self):
        self.refused(self.env(self.fake(version=2).path), "the board speaks version 2 of the link")

    def test_hash(self):
        self.refused(self.env(self.fake({HASH: 1}).path), "interface description")

    def test_ones(self):
        fake = self.fake({ID: 0xFFFFFFFF, HASH: 0xFFFFFFFF, MEM_PAGES: 0xFFFFFFFF, None: 0xFFFFFFFF})
        self.refused(self.env(fake.path), "its registers read all ones")

    def test_no_device(self):
        self.refused(self.env(self.fake({ID: 7}).path), "there is no Tern")

    def test_memory(self):
        self.refused(self.env(self.fake({MEM_PAGES: 0}).path), "0 bytes of memory")

    def test_cable_is_cut(self):
        """The cable is cut after any number of requests of an opening."""
        for after in range(0, 12, 3):
            fake = self.fake(cut_after=after)
            done = self.run_on(self.env(fake.path), TERN, "info")
            self.assertEqual(done.returncode, 1, after)
            self.assertIn("its serial port is gone", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
