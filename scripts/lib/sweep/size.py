# SPDX-License-Identifier: Apache-2.0
"""LUTs and levels of logic of a geometry, as scripts/synth counts them (docs/hardware/size.md).

Figures are those that were measured for exactly these sources, else those of the baseline if it has the geometry, else
none: nothing is estimated. `levels` is the longest path from register to register in the device.
"""
import pathlib
import tempfile

import record
from sweep import cache as caches
from sweep import spec
from synth import configs, elaborate, figures, gate, netlist


def name(geometry):
    return "-".join(str(geometry[parameter]) for parameter in spec.GEOMETRY)


def top(geometry):
    """Returns the module and its parameters. The kernel of Vitis, as in the baseline, has one memory port."""
    parameters = {spec.GEOMETRY[p][0]: value for p, value in geometry.items()}
    if geometry["ports"] == 1:
        return "tern_kernel", {p: v for p, v in parameters.items() if p != "PORTS"}
    return "tern_top", parameters


def key(cache, geometry):
    return caches.digest(cache.rtl, geometry, elaborate.RECIPE, netlist.FORMAT, elaborate.version())


def recorded(cache):
    """Returns the figures of the baseline: {name of the geometry: figures}."""
    try:
        baseline = gate.read(cache.tree / "tests/synth/baseline.json")
    except record.Error:
        return {}
    found = {}
    for config, (_, given) in configs.CONFIGS.items():
        if config in configs.ONLY or config not in baseline["configurations"]:
            continue
        geometry = {p: given.get(parameter, default) for p, (parameter, default) in spec.GEOMETRY.items()}
        sums = baseline["configurations"][config]
        found[name(geometry)] = {**{r: sums[r] for r in netlist.RESOURCES}, "source": "baseline",
                                 "levels": max(baseline["units"][unit]["inside"] for unit in sums["units"])}
    return found


def known(cache, geometries):
    """Returns {name of the geometry: figures} of those that have any."""
    found = {n: f for n, f in recorded(cache).items() if n in map(name, geometries)}
    try:
        for geometry in geometries:
            measured = cache.load("synth", key(cache, geometry))
            if measured:
                found[name(geometry)] = measured
    except elaborate.Error:  # Without Yosys there is no key of what it measured.
        pass
    return found


def measure(cache, geometry, work, jobs):
    """Synthesises a geometry, keeps its figures in the cache and returns them. work: folder of netlists of units, which
    other geometries and scripts/synth share. Raises elaborate.Error."""
    kept = key(cache, geometry)
    with tempfile.TemporaryDirectory() as scratch:
        design, tops = elaborate.elaborate(cache.tree, {"device": top(geometry)}, pathlib.Path(scratch))
    found = figures.Measure(design, tops, {}, work, jobs, quiet=True)
    found.measure([k for k in found.keys if k not in design.parts])
    counts = found.present["device"]
    out = {**{r: sum(n * found.figures[k][r] for k, n in counts.items()) for r in netlist.RESOURCES},
           "levels": max(found.figures[k]["inside"] for k in counts), "source": "measured"}
    cache.store("synth", kept, out)
    return out
