# SPDX-License-Identifier: Apache-2.0
"""Puts the netlist of a piece between registers, so that its clock can be measured without what surrounds it.

Each bit that the piece reads comes from a flip-flop. These form a shift chain that one pin fills. Each bit that the
piece drives goes to a flip-flop. Behind these, LUTs fold four bits to their parity, which a flip-flop keeps, stage by
stage until one bit is left, for a second pin. All paths of the piece are therefore from register to register, and each
output is observed. The netlist is that of the finished synthesis, and nothing optimises it afterwards: no logic of the
piece is removed or merged with that of the wrapper.

A cell of the piece that is a box is a module that was cut off. What it drives, the piece reads, and the reverse.
"""
import collections

CLOCK, IN, OUT = "clk_i", "shift_i", "fold_o"  # Pins of the wrapped piece.
TOP = "piece"
FORMAT = 1  # Version of the wrapper, to be incremented when it makes another netlist of the same piece.
MARK = "wrap/"  # The names of the wrapper's cells and nets begin with it.
PARITY = format(0x6996, "016b")  # The table of a LUT4 that gives the parity of its inputs.


class Error(Exception):
    """The netlist cannot be wrapped. The text says why."""


def flip_flop(clock, d, q):
    return {"hide_name": 0, "type": "TRELLIS_FF", "attributes": {},
            "parameters": {"CEMUX": "1 ", "CLKMUX": "CLK", "GSR": "DISABLED", "LSRMUX": "LSR", "REGSET": "RESET"},
            "port_directions": {"CLK": "input", "DI": "input", "LSR": "input", "Q": "output"},
            "connections": {"CLK": [clock], "DI": [d], "LSR": ["0"], "Q": [q]}}


def parity(bits, z):
    pins = dict(zip("ABCD", [*bits, *["0"] * (4 - len(bits))]))
    return {"hide_name": 0, "type": "LUT4", "attributes": {}, "parameters": {"INIT": PARITY},
            "port_directions": {**dict.fromkeys("ABCD", "input"), "Z": "output"},
            "connections": {**{p: [b] for p, b in pins.items()}, "Z": [z]}}


def border(module, boxes):
    """Returns the bits that the piece reads and those that it drives, {bit: name}, each once, without the clock and
    without constants; and the clock's bit, or None."""
    clock = module["ports"].get(CLOCK, {"bits": [None]})["bits"][0]
    reads, drives = {}, {}
    sides = [(name, p["direction"], p["bits"]) for name, p in module["ports"].items()]
    for name, cell in module["cells"].items():
        if cell["type"] in boxes:
            sides += [(f"{name}.{p}", {"input": "output", "output": "input"}[cell["port_directions"][p]], bits)
                      for p, bits in cell["connections"].items()]
    for name, direction, bits in sides:
        if direction not in ("input", "output"):
            raise Error(f"the port {name} is of the direction {direction}: a piece has inputs and outputs only")
        found = reads if direction == "input" else drives
        for i, bit in enumerate(bits):
            if isinstance(bit, int) and bit != clock:
                found.setdefault(bit, f"{name}[{i}]" if len(bits) > 1 else name)
    return reads, drives, clock


def count(cells):
    """Returns the cells by type, without those that only tell where the others come from ($scopeinfo)."""
    return dict(sorted(collections.Counter(c["type"] for c in cells.values() if c["type"][0] != "$").items()))


def wrap(module, boxes=()):
    """Returns the netlist for nextpnr, the cells of the piece by type, and those of the wrapper by type.

    module: a module of Yosys's JSON after synth_ecp5, flattened. boxes: types of the cells that were cut off."""
    reads, drives, clock = border(module, boxes)
    if not drives:
        raise Error("it has no outputs that are not constant, so there is nothing to observe")
    inside = {n: c for n, c in module["cells"].items() if c["type"] not in boxes}
    used = [b for c in module["cells"].values() for bits in c["connections"].values() for b in bits]
    used += [b for p in module["ports"].values() for b in p["bits"]]
    used += [b for n in module["netnames"].values() for b in n["bits"]]
    last = max((b for b in used if isinstance(b, int)), default=1)
    added, names = {}, {}

    def new(name):
        nonlocal last
        last += 1
        names[f"{MARK}{name}/net"] = {"hide_name": 0, "bits": [last], "attributes": {}}
        return last

    clock = clock or new(CLOCK)
    first = before = new(IN)
    for bit, name in reads.items():
        added[f"{MARK}in/{name}"] = flip_flop(clock, before, bit)
        before = bit
    kept = [new(f"out/{name}") for name in drives.values()]
    for (bit, name), q in zip(drives.items(), kept):
        added[f"{MARK}out/{name}"] = flip_flop(clock, bit, q)
    stage = 0
    while len(kept) > 1:
        stage += 1
        folded = []
        for i in range(0, len(kept), 4):
            at = f"fold/{stage}[{i // 4}]"
            z, q = new(at + "/z"), new(at + "/q")
            added[f"{MARK}{at}/lut"] = parity(kept[i:i + 4], z)
            added[f"{MARK}{at}/ff"] = flip_flop(clock, z, q)
            folded.append(q)
        kept = folded
    ports = {CLOCK: {"direction": "input", "bits": [clock]}, IN: {"direction": "input", "bits": [first]},
             OUT: {"direction": "output", "bits": kept}}
    if clash := added.keys() & inside.keys():
        raise Error(f"its cell {min(clash)} has the name of one of the wrapper")
    whole = {"attributes": {"top": format(1, "032b")}, "ports": ports, "cells": {**inside, **added},
             "netnames": {**module["netnames"], **names}}
    return {"creator": "scripts/clock", "modules": {TOP: whole}}, count(inside), count(added)
