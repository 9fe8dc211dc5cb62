# SPDX-License-Identifier: Apache-2.0
"""Levels of logic from register to register, in a unit and through all units that it contains.

A unit is reduced to a *model*: for each bit of an output the levels from registers inside, for each bit of an input the
levels to registers inside, and the logic from inputs to outputs. A unit that contains
others is its own logic with their models in it, so a path that leaves a unit by an output and goes on in another one,
or in several, is followed to its end. The longest path is kept for each pair of *stages*: a stage is the unit in which
a path starts or ends, and in the units of PIPELINES the letter that names of registers begin with.

The result counts each border between units as a border between LUTs: Yosys merges no logic across it.
"""
import re

from . import elaborate

PIPELINES = {"simt_core": re.compile(r"^([fdrxb])_")}
OUTSIDE = "port"


def stage(unit, register):
    """Returns the stage of a register: `unit`, `unit.R` in a pipeline, `unit/part` in a module that is part of the
    unit."""
    inside = re.findall(r"(?:^|\.)u_(\w+?)\.", register)
    if inside:
        return f"{unit}/{inside[-1]}"
    m = unit in PIPELINES and PIPELINES[unit].match(register)
    return f"{unit}.{m[1].upper()}" if m else unit


def short(register):
    """Returns a register's name without its bit number and without Yosys's additions, or `(no name)` if it has none in
    the RTL."""
    register = re.sub(r"\$auto\$.*", "(no name)", register)
    register = re.sub(r"\$rdreg\[\d+\]\$\w+|\$\\?|\\", "", register)
    return re.sub(r"(_reg)?(\[\d+(:\d+)?\]|\.\d+)*$", "", register)


def keep(best, label, levels, name):
    if label not in best or best[label][0] < levels:
        best[label] = (levels, name)


class Model:
    """The model of a unit. arrive: output bit -> {stage: (levels, register)}. need: likewise for input bits. feed:
    edges from inputs to outputs.

    Bits are numbered as in the unit's own netlist. Bits of units inside get the numbers after these.
    """

    def __init__(self, arrive, need, feed, ports):
        self.arrive, self.need, self.feed, self.ports = arrive, need, feed, ports


def order(edges, unit):
    """Returns all bits that edges name, each after those from which it is computed."""
    done, open_bits, out = set(), set(), []
    for root in edges:
        stack = [root]
        while stack:
            bit = stack[-1]
            if bit in done:
                stack.pop()
                continue
            todo = [b for _, b in edges.get(bit, ()) if b not in done]
            if not todo:
                done.add(bit)
                open_bits.discard(bit)
                out.append(bit)
                stack.pop()
                continue
            if bit in open_bits:
                raise elaborate.Error(f"{unit}: a loop of logic without a register")
            open_bits.add(bit)
            stack += todo
    return out


def assemble(unit, graph, models):
    """Returns the graph with the models of the units inside, as edges, starts and ends: {bit: {stage: (levels,
    register)}}."""
    edges, starts, ends = dict(graph.edges), {}, {}
    for bit, name in graph.starts.items():
        starts[bit] = {stage(unit, short(name)): (0.0, short(name))}
    for bit, name in graph.ends:
        keep(ends.setdefault(bit, {}), stage(unit, short(name)), 0.0, short(name))
    following = 1 + max([*edges, *(b for _, bits in graph.ports.values() for b in bits if isinstance(b, int)),
                         *starts, *ends, *(b for _, _, pins in graph.boxes for bits in pins.values()
                                           for b in bits if isinstance(b, int))], default=0)
    for instance, key, pins in graph.boxes:
        model, where = models[key], {}
        for port, bits in pins.items():
            is_output, inner = model.ports[port]
            for mine, its in zip(bits, inner):
                if not isinstance(mine, int) or not isinstance(its, int):
                    continue
                if not is_output:
                    where[its] = mine
                    for label, (levels, name) in model.need.get(its, {}).items():
                        keep(ends.setdefault(mine, {}), label, levels, f"{instance}.{name}")
        for bit, sources in model.feed.items():
            where.setdefault(bit, following)
            following += where[bit] == following
            for _, b in sources:
                where.setdefault(b, following)
                following += where[b] == following
        for bit, sources in model.feed.items():
            edges[where[bit]] = [(w, where[b]) for w, b in sources]
        for port, bits in pins.items():
            is_output, inner = model.ports[port]
            for mine, its in zip(bits, inner) if is_output else ():
                if not isinstance(mine, int) or not isinstance(its, int):
                    continue
                if its in where:
                    edges[mine] = [(0.0, where[its])]
                for label, (levels, name) in model.arrive.get(its, {}).items():
                    keep(starts.setdefault(mine, {}), label, levels, f"{instance}.{name}")
    return edges, starts, ends


def spread(sequence, edges, first, backwards=False):
    """Returns the longest way to each bit from the bits of `first`, or from each bit to them (backwards), by the stage
    of the latter: {bit: {stage: (levels, register)}}."""
    found = {b: dict(best) for b, best in first.items()}
    for bit in reversed(sequence) if backwards else sequence:
        for levels, source in edges.get(bit, ()):
            frm, to = (bit, source) if backwards else (source, bit)
            for label, (so_far, name) in found.get(frm, {}).items():
                keep(found.setdefault(to, {}), label, so_far + levels, name)
    return found


def analyse(unit, graph, models):
    """Returns the unit's Model, and its longest paths from register to register or port: {(stage, stage): (levels,
    from, to)}."""
    edges, starts, ends = assemble(unit, graph, models)
    inputs = {b for o, bits in graph.ports.values() if not o for b in bits if isinstance(b, int)}
    outputs = {b for o, bits in graph.ports.values() if o for b in bits if isinstance(b, int)}
    sequence = order(edges, unit)
    arrive = spread(sequence, edges, starts)
    need = spread(sequence, edges, ends, backwards=True)
    worst = {}
    for bit, targets in ends.items():
        for a, (before, frm) in arrive.get(bit, {}).items():
            for b, (after, to) in targets.items():
                if (a, b) not in worst or worst[a, b][0] < before + after:
                    worst[a, b] = (before + after, frm, to)
    from_input, to_output = set(inputs), set(outputs)
    for bit in sequence:
        if any(b in from_input for _, b in edges.get(bit, ())):
            from_input.add(bit)
    for bit in reversed(sequence):
        if bit in to_output:
            to_output.update(b for _, b in edges.get(bit, ()))
    feed = {b: [(w, s) for w, s in edges[b] if s in from_input] for b in sequence
            if b in edges and b in from_input and b in to_output and b not in inputs}
    return Model({b: arrive[b] for b in outputs if b in arrive}, {b: need[b] for b in inputs if b in need}, feed,
                 graph.ports), worst


def outside(graph, model):
    """Returns the longest paths between a port and a register of a unit, or two ports: {(stage, stage): (levels, from,
    to)}."""
    worst = {}

    def put(a, b, levels, frm, to):
        if (a, b) not in worst or worst[a, b][0] < levels:
            worst[a, b] = (levels, frm, to)
    name = {b: n for n, (_, bits) in graph.ports.items() for b in bits}
    first = {b: {OUTSIDE: (0.0, name[b])} for o, bits in graph.ports.values() if not o for b in bits}
    through = spread(order(model.feed, ""), model.feed, first)
    for bit, best in model.arrive.items():
        for a, (levels, frm) in best.items():
            put(a, OUTSIDE, levels, frm, name[bit])
    for bit, best in model.need.items():
        for b, (levels, to) in best.items():
            put(OUTSIDE, b, levels, name[bit], to)
    for port, (is_output, bits) in graph.ports.items():
        for bit in bits if is_output else ():
            for a, (levels, frm) in through.get(bit, {}).items():
                put(a, OUTSIDE, levels, frm, port)
    return worst
