# SPDX-License-Identifier: Apache-2.0
"""The figures of the device: synthesises what the cache lacks, adds up resources, and follows the paths.

    {"tool": ..., "units": {label: {"hash", "LUT", "FF", "BRAM", "URAM", "DSP", "inside", "in", "out", "through"}},
     "parts": the same for parts of units, "configurations": {name: {"units": {label: instances}, "LUT", ...}},
     "paths": {"stage -> stage": [levels, first register, last register]}}

Resources of a unit are its own, without the units inside it; those of a configuration are the sum of all instances.
Levels include the units inside: `inside` is from register to register, `in` from an input to a register, `out` from a
register to an output, `through` from an input to an output.
"""
import concurrent.futures
import os
import sys
import time

from . import compose, elaborate, netlist


def labels(design, keys):
    """Returns short names: the module, and those of its parameters in which units of this module differ."""
    groups, out = {}, {}
    for key in keys:
        groups.setdefault(design.by_key[key].name, []).append(key)
    for name, group in groups.items():
        params = [design.by_key[k].params for k in group]
        differ = [p for p in params[0] if len({q.get(p) for q in params}) > 1 and p not in elaborate.PLACES]
        for key, q in zip(group, params):
            told = ", ".join(f"{p}={elaborate.number(q[p])}" for p in differ)
            out[key] = name + (f"({told})" if told else "")
    return out


def instances(design, root):
    """Returns {key: number of instances of a unit below root, root included}."""
    graph_cells, found = {}, {}

    def boxes(key):
        if key not in graph_cells:
            counts, todo = {}, [(key, 1)]
            while todo:
                at, times = todo.pop()
                for kind, _ in design.by_key[at].cells:
                    child = design.module(kind)
                    if child.name in design.units:
                        counts[child.key()] = counts.get(child.key(), 0) + times
                    else:
                        todo.append((child.key(), times))
            graph_cells[key] = counts
        return graph_cells[key]

    def walk(key, times):
        found[key] = found.get(key, 0) + times
        for child, number in boxes(key).items():
            walk(child, times * number)
    walk(root, 1)
    return found


def synthesise(design, wanted, cache, jobs, quiet):
    """Synthesises the units that are not in the cache, large ones first, with a line for each."""
    cache.mkdir(parents=True, exist_ok=True)
    missing = sorted((k for k in dict.fromkeys(wanted) if not netlist.path(cache, design.hashes[k]).exists()),
                     key=lambda k: -len(design.texts[k]))
    said = labels(design, wanted)

    def one(key):
        start = time.time()
        netlist.synthesise(key, design.texts[key], cache, design.hashes[key])
        return key, time.time() - start

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(one, k) for k in missing]
        try:
            for n, done in enumerate(concurrent.futures.as_completed(running), 1):
                key, took = done.result()
                if not quiet:
                    print(f"[{n}/{len(missing)}] {said[key]}: {took:.0f} s", file=sys.stderr, flush=True)
        finally:
            for r in running:
                r.cancel()
    return len(missing)


class Measure:
    """The figures of a Design. roots: {configuration: key}. only: {configuration: modules}; in these configurations
    only units of these modules are counted."""

    def __init__(self, design, roots, only, cache, jobs=os.cpu_count() or 1, quiet=False):
        self.design, self.cache, self.jobs, self.quiet = design, cache, jobs, quiet
        self.present = {name: {k: n for k, n in instances(design, root).items()
                               if design.by_key[k].name in only.get(name, {design.by_key[k].name})}
                        for name, root in roots.items()}
        self.tops = {root for name, root in roots.items() if name not in only}
        units = list(dict.fromkeys(k for name in roots for k in self.present[name]))
        self.keys = units + sorted(design.parts)
        self.said = labels(design, self.keys)
        self.models, self.worst, self.figures = {}, {}, {}

    def inside(self, keys):
        """Returns the keys and all units inside them."""
        found, todo = [], list(keys)
        while todo:
            key = todo.pop()
            if key not in found:
                found.append(key)
                todo += self.design.children[key]
        return found

    def changed(self, baseline):
        """Returns the units and parts that differ from the baseline."""
        old = baseline["units"] | baseline["parts"]
        return [k for k in self.keys if old.get(self.said[k], {}).get("hash") != self.design.hashes[k]]

    def measure(self, keys):
        """Synthesises keys and the units inside them if the cache lacks them, and follows their paths."""
        synthesise(self.design, self.inside(keys), self.cache, self.jobs, self.quiet)
        for key in keys:
            self.visit(key)

    def visit(self, key):
        if key in self.models:
            return
        design, graph = self.design, netlist.load(self.cache, self.design.hashes[key])
        for _, box, _ in graph.boxes:
            self.visit(box)
        self.models[key], found = compose.analyse(design.by_key[key].name, graph, self.models)
        across = compose.outside(graph, self.models[key])
        if key not in design.parts:
            for pair, path in [*found.items(), *(across.items() if key in self.tops else ())]:
                if pair not in self.worst or self.worst[pair][0] < path[0]:
                    self.worst[pair] = path

        def most(paths, a, b):
            return round(max((p[0] for (x, y), p in paths.items() if a == (x == compose.OUTSIDE)
                              and b == (y == compose.OUTSIDE)), default=0.0), 2)
        self.figures[key] = {"hash": design.hashes[key], **graph.counts, "inside": most(found, False, False),
                             "in": most(across, True, False), "out": most(across, False, True),
                             "through": most(across, True, True)}

    def result(self, baseline=None):
        """Returns the figures (above) of everything measured, and those of the baseline for the rest."""
        old = baseline and {**baseline["units"], **baseline["parts"]}
        of = {k: self.figures[k] if k in self.figures else old[self.said[k]] for k in self.keys}
        out = {"tool": elaborate.version(), "units": {}, "parts": {}, "configurations": {}}
        for key in self.keys:
            out["parts" if key in self.design.parts else "units"][self.said[key]] = of[key]
        for name, counts in self.present.items():
            out["configurations"][name] = {
                **{r: sum(n * of[k][r] for k, n in counts.items()) for r in netlist.RESOURCES},
                "units": {self.said[k]: n for k, n in sorted(counts.items(), key=lambda c: self.said[c[0]])}}
        out["paths"] = {f"{a} -> {b}": [round(levels, 2), frm, to] for (a, b), (levels, frm, to)
                        in sorted(self.worst.items(), key=lambda w: (-round(w[1][0], 2), w[0]))}
        return out


def quick(measure, baseline):
    """Returns figures with little synthesis: of what changed since the baseline, and of the units inside it. If a
    changed unit has more levels at its ports than before, any path through it may be longer, so all units are measured.
    """
    changed = measure.changed(baseline)
    measure.measure(changed)
    old = baseline["units"]
    for key in changed:
        label, now = measure.said[key], measure.figures[key]
        if key not in measure.design.parts and (label not in old or any(now[x] > old[label][x]
                                                                       for x in ("in", "out", "through"))):
            if not measure.quiet and key not in measure.tops:
                print(f"{label}: more levels at its ports than before: paths are followed through the whole device",
                      file=sys.stderr, flush=True)
            measure.measure(measure.keys)
            break
    return measure.result(baseline)
