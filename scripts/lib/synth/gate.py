# SPDX-License-Identifier: Apache-2.0
"""The baseline of figures, and the comparison with it."""
import record

from . import netlist

BLOCK_BITS = {"BRAM": 36 * 1024, "URAM": 288 * 1024}
ACCEPT = "accept it with `scripts/synth --update` and commit what that changes"
LEVELS, GROWTH = 8.0, 0.02
NOISE = {"LUT": 16, "levels": 0.5}  # Changes that a constant such as the specification's hash can cause.


def plane(figures):
    """Returns {label: (instances, bits of block memory)} of the dirty planes of the configuration with 16 GiB."""
    found = {}
    for label, number in figures["configurations"].get("memory-16g", {"units": {}})["units"].items():
        bits = sum(int(figures["units"][label][r] * b) for r, b in BLOCK_BITS.items())
        found[label] = (number, bits * number)
    return found


def limits(figures):
    """Returns the limits that these figures keep. Each path with more than LEVELS is listed with its levels."""
    return {"levels": LEVELS, "growth": GROWTH, "noise": NOISE, "dirty plane of 16 GiB, bits": 8 << 20,
            "excess": {pair: path[0] for pair, path in figures["paths"].items() if path[0] > LEVELS}}


def growth(what, new, old, limit):
    allowed = limit["growth"]
    for r in netlist.RESOURCES:
        if new[r] > max(old[r] * (1 + allowed), old[r] + limit["noise"].get(r, 0)):
            more = f"+{100 * (new[r] / old[r] - 1):.1f} %" if old[r] else "none before"
            yield (f"{what}: {new[r]:,g} {r}, {old[r]:,g} in the baseline: {more}, {100 * allowed:g} % is the limit; "
                   f"make it smaller, or {ACCEPT}")


def other_tool(tool, baseline):
    return (f"the baseline was made with {baseline['tool']}, here is {tool}: their figures cannot be compared; use the "
            f"same one, or {ACCEPT}")


def problems(figures, baseline):
    """Returns a message for each limit that is exceeded. Only the paths in `figures` are compared."""
    limit = baseline["limits"]
    found = []
    for group in "units", "parts":
        new, old = figures[group], baseline[group]
        found += [f"{x}: not in the baseline; {ACCEPT}" for x in new if x not in old]
        found += [f"{x}: in the baseline and not in the device; {ACCEPT}" for x in old if x not in new]
        for label in new:
            if label in old:
                found += growth(label, new[label], old[label], limit)
    for name, sums in figures["configurations"].items():
        if name in baseline["configurations"]:
            found += growth(f"configuration {name}", sums, baseline["configurations"][name], limit)
    for pair, (levels, frm, to) in figures["paths"].items():
        most = max(limit["levels"], limit["excess"].get(pair, 0))
        if levels > most + limit["noise"]["levels"]:
            found.append(f"{pair}: {levels:.2f} levels of logic from {frm} to {to}, {most:.2f} is the limit, with "
                         f"{limit['noise']['levels']} for noise; cut the path by a register, or {ACCEPT}")
    planes = plane(figures)
    bits, most = sum(b for _, b in planes.values()), limit["dirty plane of 16 GiB, bits"]
    if bits > most or not bits:
        found.append(f"dirty plane of 16 GiB: {bits:,} bits of block memory, not between 1 and {most:,}")
    return found


def invented(figures, baseline):
    """Returns a message for each number of the baseline that the sources do not reproduce. `figures` must be complete.
    """
    found, same = [], True
    for group in "units", "parts":
        for label, new in figures[group].items():
            old = baseline[group].get(label, {})
            if old.get("hash") != new["hash"]:
                same = False
                continue
            found += [f"{label}: {old.get(x)} {x} in the baseline, and the same source gives {number}"
                      for x, number in new.items() if old.get(x) != number]
    for name, sums in baseline["configurations"].items():
        of = {**baseline["units"], **baseline["parts"]}
        found += [f"configuration {name}: {sums[r]} {r} in the baseline, its units have {added} together"
                  for r in netlist.RESOURCES
                  if (added := sum(n * of[u][r] for u, n in sums["units"].items() if u in of)) != sums[r]]
    if same and baseline["paths"] != kept_paths(figures):
        pairs = sorted({**baseline["paths"], **kept_paths(figures)})
        found += [f"{p}: {baseline['paths'].get(p)} in the baseline, and the same source gives {now}"
                  for p in pairs if baseline["paths"].get(p) != (now := kept_paths(figures).get(p))]
    if baseline["limits"] != limits(baseline):
        found.append("the limits of the baseline are not those that follow from its figures")
    return [f"{sentence}; somebody wrote it by hand: run scripts/synth --update" for sentence in found]


def kept_paths(figures):
    """Returns the paths over the limit. The columns of the units describe the others."""
    return {p: list(v) for p, v in figures["paths"].items() if v[0] > LEVELS}


def write(figures, file):
    record.write(file, {"tool": figures["tool"], "limits": limits(figures), **figures, "paths": kept_paths(figures)})


def read(file):
    return record.read(file, "baseline", ("tool", "limits", "units", "parts", "configurations", "paths"),
                       "scripts/synth --update")
