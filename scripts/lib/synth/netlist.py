# SPDX-License-Identifier: Apache-2.0
"""Synthesises one unit and keeps from its netlist what is counted: resources, and the graph of its logic with levels.

Yosys does not know the delays of UltraScale+, so levels are counted instead: 1 for a LUT or the read of a LUT memory,
0.5 into a carry chain, 0.06 an element along it, 0.25 for a wide multiplexer. Routing is not included. An inverter
(LUT1) counts neither as a LUT nor as a level, since place and route merges it into the next LUT.
"""
import gzip
import json
import os
import re
import tempfile

from . import elaborate

SEQUENTIAL = re.compile(r"^(FD|LD|RAMB|DSP|SRL|URAM)")
CLOCK = re.compile(r"^(C|CLK|WCLK|CLK[A-Z]*CLK[LU]?|CLK[AB]?)$")
FORMAT = 1  # Version of the kept data, to be incremented when reduce() finds something else in the same netlist.
RESOURCES = ("LUT", "FF", "BRAM", "URAM", "DSP")


def size(kind):
    """Returns (resource, number) of a cell; BRAM in blocks of 36 kbit."""
    if kind.startswith("LUT"):
        return "LUT", 0 if kind == "LUT1" else 1
    if kind.startswith("SRL"):
        return "LUT", 1
    if kind.startswith("RAMB"):
        return "BRAM", 0.5 if kind.startswith("RAMB18") else 1
    if kind.startswith("RAM"):
        wide = re.match(r"RAM(\d+)(M(\d*)|X(\d)([SD]))", kind)
        if not wide:
            raise elaborate.Error(f"memory of a kind that is not known: {kind}; add it to scripts/lib/synth/netlist.py")
        if wide[2].startswith("M"):
            return "LUT", {"": 4, "8": 8, "16": 8}[wide[3]]
        return "LUT", max(1, int(wide[1]) // 64) * int(wide[4]) * (2 if wide[5] == "D" else 1)
    if kind.startswith("FD") or kind.startswith("LD"):
        return "FF", 1
    for name in ("URAM", "DSP"):
        if kind.startswith(name):
            return name, 1
    return "LUT", 0


def weight(kind, port):
    if kind.startswith(("LUT", "RAM")):
        return 0.0 if kind == "LUT1" else 1.0
    if kind.startswith("CARRY"):
        return 0.06 if port in ("CI", "CYINIT") else 0.5
    return 0.25 if kind.startswith("MUXF") else 0.0


def reads(port):
    """Returns the address port by which an output of a LUT memory is read."""
    return {"SPO": "A", "O": "A", "DPO": "DPRA"}.get(port, "ADDR" + port[2:])


class Graph:
    """The graph on which levels are counted. A net bit is a number.

    edges: bit -> [(levels, bit from which it is computed)]; starts: bit -> register that drives it; ends: [(bit,
    register that takes it)]; ports: name -> (is it an output, bits); boxes: [(instance, key of the unit, ports)].
    """

    def __init__(self, data):
        self.counts, self.ports, self.boxes = data["counts"], data["ports"], data["boxes"]
        self.edges = {int(b): e for b, e in data["edges"].items()}
        self.starts = {int(b): n for b, n in data["starts"].items()}
        self.ends = data["ends"]


def reduce(module):
    """Returns the data of a Graph, made from a netlist of Yosys."""
    names = {}
    for name, net in sorted(module["netnames"].items(), key=lambda n: plainness(n[0])):
        if not re.search(r"\$(abc|auto|techmap|procmux)\b", name):
            names.update((b, name) for b in net["bits"])
    counts, edges, starts, ends, boxes = dict.fromkeys(RESOURCES, 0), {}, {}, [], []
    for name, cell in module["cells"].items():
        kind, pins = cell["type"], {p: b for p, b in cell["connections"].items()}
        outs = [p for p in pins if cell["port_directions"].get(p) == "output"]
        if kind.islower() or "__" in kind:
            boxes.append([name, kind.lstrip("\\"), pins])
            continue
        resource, number = size(kind)
        counts[resource] += number
        memory = kind.startswith("RAM") and not kind.startswith("RAMB")
        registers = SEQUENTIAL.match(kind)
        at = next((names[b] for p in outs for b in pins[p] if b in names and not memory), name)
        for p in outs:
            for i, bit in enumerate(pins[p]):
                if not isinstance(bit, int):
                    continue
                if registers:
                    starts[bit] = names.get(bit, at)
                    continue
                frm = [reads(p)] if memory else [q for q in pins if q not in outs]
                edges[bit] = [(weight(kind, q), b) for q in frm for j, b in enumerate(pins.get(q, []))
                              if isinstance(b, int) and not (kind.startswith("CARRY") and q in ("S", "DI") and j > i)]
                if memory:
                    starts[bit] = at
        if registers or memory:
            read = {reads(p) for p in outs if any(isinstance(b, int) for b in pins[p])} if memory else set()
            writes = {"ADDRD", "ADDRH", "A"} if memory else set()
            ends += [(b, at) for p in pins if p not in outs and not CLOCK.match(p) and (p not in read or p in writes)
                     for b in pins[p] if isinstance(b, int)]
    ports = {n: [p["direction"] == "output", p["bits"]] for n, p in module["ports"].items()}
    return {"counts": counts, "edges": edges, "starts": starts, "ends": sorted(set(ends)), "ports": ports,
            "boxes": boxes}


def plainness(name):
    """Sort key for the names of a net. The last is the one that a reader knows: the register's own name, at the highest
    level of hierarchy."""
    return ("$" not in name, name.endswith("_q"), -name.count("."), name)


def path(cache, digest):
    return cache / f"{FORMAT}-{digest}.json.gz"


def synthesise(key, text, cache, digest):
    """Fills the cache with the Graph of a unit."""
    with tempfile.TemporaryDirectory(dir=cache) as work:
        source, out = f"{work}/unit.il", f"{work}/unit.json"
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        elaborate.yosys(f"read_rtlil {source}; hierarchy -top {key}; {elaborate.RECIPE} -top {key}; write_json {out}",
                        work, key)
        with open(out, encoding="utf-8") as f:
            module = json.load(f)["modules"][key]
        made = f"{work}/unit.json.gz"
        with gzip.open(made, "wt", compresslevel=3) as f:
            json.dump(reduce(module), f)
        os.replace(made, path(cache, digest))


def load(cache, digest):
    with gzip.open(path(cache, digest), "rt") as f:
        return Graph(json.load(f))
