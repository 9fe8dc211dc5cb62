# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of the model continue on the Verilated hardware, with a waveform, and end with the same memory.
Checkpoints of the hardware continue on the model."""
import random
import struct
import unittest

from test_checkpoint import Checkpoints


class Rtl(Checkpoints):
    rounds = 4

    def cut(self, config, backend="model"):
        """Saves a checkpoint at a random place in the middle. Returns the expected bytes, and the digests of the
        model's result."""
        want, cycles = self.uninterrupted(TERN_CONFIG=config)
        after = random.Random(config).randrange(cycles // 8, cycles // 2)
        self.saved("--at-kernel", "mix", "--after", after, "--stop", "--backend", backend, "--config", config)
        return want, self.digests(self.ends_with(want, "--config", config))

    def test_on_the_hardware(self):
        for config in "small", "default":
            want, digests = self.cut(config)
            r = self.ends_with(want, "--backend", "rtl", "--config", config)
            self.assertEqual((r["backend"], self.digests(r)), ("rtl", digests))

    def test_waveform(self):
        """The waveform has all cycles from the loading of the state to the end."""
        want, digests = self.cut("small")
        r = self.ends_with(want, "--backend", "rtl", "--config", "small,trace=run.fst")
        self.assertEqual(self.digests(r), digests)
        head = (self.folder / "run.fst").read_bytes()[:25]
        kind, length, begin, end = struct.unpack(">BQQQ", head)
        self.assertEqual((kind, length, begin), (0, 329, 0))  # These are the header block of FST.
        # Each unit of the waveform's time has a clock edge.
        self.assertGreaterEqual(end, 2 * (r["began"] + r["cycles"]))

    def test_from_the_hardware(self):
        self.cut("small", "rtl")

    def test_for_some_cycles(self):
        """Only some cycles are simulated after the restore."""
        self.cut("small")
        r = self.restored("--cycles", 1000, "--backend", "rtl", "--config", "small,trace=run.fst")
        self.assertEqual((r["end"], r["processes"][0]["contexts"][0]["label"]), ("stopped", "mix"))
        self.assertLess(r["cycles"], 5000)
        self.assertTrue((self.folder / "run.fst").stat().st_size)


if __name__ == "__main__":
    unittest.main()
