# SPDX-License-Identifier: Apache-2.0
"""The description of an executor (docs/spec/executors/NAME.yaml), by which a bench fills packets and reads states."""
import pathlib
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts/lib"))
import spec_executors  # noqa: E402
import spec_model  # noqa: E402

SPEC = spec_model.load(ROOT / "docs/spec")
PACKET = next(p for p in SPEC.packets if p.name == "user_call")
PAYLOAD = 16  # First word of the payload in the packet, which is its second line.
FAULTS = {f.name: f.code for f in SPEC.faults}
FORMATS = {"int": "<i", "uint": "<I", "float": "<f", "long": "<q", "ulong": "<Q", "double": "<d"}


class Description:
    def __init__(self, name):
        found = spec_executors.load(ROOT / "docs/spec/executors", [p.name for p in SPEC.packets])
        self.of = next(x for x in found if x.name == name)

    def packet(self, **values):
        """Returns the packet user_call with these arguments and values of the range, by their names. A pointer is an
        address."""
        words = bytearray(128)
        struct.pack_into("<II", words, 0, PACKET.opcode, self.of.id)
        for item in [*self.of.args, *self.of.ranges]:
            pointer = getattr(item, "pointer", None)
            kind = "uint" if pointer or pointer is None else item.plain
            struct.pack_into(FORMATS[kind], words, 4 * (PAYLOAD + item.word), values.pop(item.name))
        assert not values, f"{self.of.name} has no argument {', '.join(values)}"
        return int.from_bytes(words, "little")

    def state(self, **values):
        """Returns the line of state with these values, by their names."""
        line = bytearray(64)
        for item in self.of.state_:
            struct.pack_into("<I", line, 4 * item.word, values.pop(item.name))
        assert not values, f"{self.of.name} has no state {', '.join(values)}"
        return int.from_bytes(line, "little")

    def values(self, state):
        """Returns the values of a line of state by their names. Other bits of the line must be zero."""
        found = {s.name: state >> 32 * s.word & 0xffffffff for s in self.of.state_}
        assert self.state(**found) == state, f"the state {state:#x} has a bit that the description does not name"
        return found
