# SPDX-License-Identifier: Apache-2.0
"""The baseline of scripts/clock, tests/synth/clock.json, and its table in docs/hardware/size.md.

The baseline: {"tools": {package: version}, "chip": nextpnr's arguments, "seed": N, "target_mhz": N, "limits": {"fmax":
fraction by which a clock may be slower, "use": fraction by which the use of a resource may be larger}, "pieces":
{label: figures, or in the place of fmax_mhz and all behind it "failed": why there are none}}.
"""
import textwrap

import ecp5_steps as steps
import record

from . import figures, pieces

LIMITS = {"fmax": 0.15, "use": 0.02}
NOISE = 16  # Logic cells and flip-flops that a changed constant can cost, granted always.
BEGIN, END = "<!-- table by scripts/clock: begin -->\n", "<!-- table by scripts/clock: end -->\n"
ACCEPT = "accept it with `scripts/clock --update {}` and commit what that changes"
COLUMNS = (("TRELLIS_COMB", "logic cells"), ("TRELLIS_FF", "flip-flops"), ("DP16KD", "block memories"),
           ("MULT18X18D", "multipliers"))
HEAD = {"tools": steps.TOOLS, "chip": steps.CHIP, "seed": figures.SEED, "target_mhz": pieces.TARGET_MHZ,
        "limits": LIMITS}


def write(file, found):
    """found: {label: figures}, written in the order of the list of pieces."""
    record.write(file, {**HEAD, "pieces": {x: found[x] for x in pieces.PIECES if x in found}})


def read(file):
    return record.read(file, "baseline of clocks", (*HEAD, "pieces"), "scripts/clock --update")


def foreign(old):
    """Returns a message for each thing other than the pieces in which the baseline is not made as here."""
    return [f"the baseline has the {k} {old[k]}, here it is {HEAD[k]}: they cannot be compared; " + ACCEPT.format("")
            for k in HEAD if old[k] != HEAD[k]]


def missing(old):
    """Returns a message for each piece that is in the list alone or in the baseline alone."""
    return [f"{x}: not in the baseline; `scripts/clock --update {x}` adds it" for x in pieces.PIECES
            if x not in old["pieces"]] + \
           [f"{x}: in the baseline and not in the list of pieces; " + ACCEPT.format("") for x in old["pieces"]
            if x not in pieces.PIECES]


def problems(label, new, old):
    """Returns a message for each limit that a piece exceeds. old: what the baseline has of it, not None."""
    accept = ACCEPT.format(label)
    if new["hash"] == old["hash"]:
        differ = [k for k in {**new, **old} if new.get(k) != old.get(k)]
        return [f"{label}: {k} is {old.get(k)} in the baseline, and the same source gives {new.get(k)}; somebody wrote "
                f"it by hand: run scripts/clock --update --force {label}" for k in differ]
    if "failed" in new:
        told = f"{label}: {new['failed']}; the baseline has {old.get('fmax_mhz')} MHz; {accept}"
        return [] if "failed" in old else [told]
    if "failed" in old:
        return []
    found, limits = [], LIMITS
    for name, title in COLUMNS:
        has, had = new["use"][name], old["use"][name]
        noise = NOISE if name.startswith("TRELLIS") else 0
        if has > max(had * (1 + limits["use"]), had + noise):
            found.append(f"{label}: {has:,} {title}, {had:,} in the baseline: {100 * limits['use']:g} % more is the "
                         f"limit; make it smaller, or {accept}")
    least = old["fmax_mhz"] * (1 - limits["fmax"])
    if new["fmax_mhz"] < least:
        found.append(f"{label}: {new['fmax_mhz']} MHz, {old['fmax_mhz']} in the baseline: {least:.1f} is the limit; "
                     f"shorten the path from {new['from']} to {new['to']}, or {accept}")
    return found


def described(f):
    """Returns which device a piece is taken from, and its parameters."""
    of = ", ".join(f"{n}={v}" for n, v in f["params"].items())
    less = " without " + ", ".join(f"`{c}`" for c in f["cut"]) if f["cut"] else ""
    return f"{f['device'] or 'alone'}{less}" + (f": {of}" if of else "")


def row(label, f):
    if "failed" in f:
        return [f"`{label}`", described(f), *[""] * len(COLUMNS), f["failed"], "", "no", "", ""]
    reached = "yes" if f["fmax_mhz"] >= pieces.TARGET_MHZ else "no"
    return [f"`{label}`", described(f), *(f"{f['use'][n]:,}" for n, _ in COLUMNS), f"{f['fmax_mhz']:.1f}",
            f"{f['routing_percent']}", reached, f"`{f['from']}`", f"`{f['to']}`"]


def table(found):
    """Returns the table of figures, {label: figures}, in Markdown."""
    head = ["piece", "device", *(t for _, t in COLUMNS), "MHz", "routing, %", f"{pieces.TARGET_MHZ} MHz", "from", "to"]
    lines = ["| " + " | ".join(head) + " |", "|---|---" + "|---:" * (len(COLUMNS) + 2) + "|---|---|---|"]
    return "\n".join([*lines, *("| " + " | ".join(row(x, f)) + " |" for x, f in found.items())]) + "\n"


def markdown(old):
    tools = ", ".join(f"{n} {v}" for n, v in old["tools"].items())
    reach = sum(f.get("fmax_mhz", 0) >= old["target_mhz"] for f in old["pieces"].values())
    left = [x for x in pieces.PIECES if x not in old["pieces"]]
    told = f"{reach} of {len(pieces.PIECES)} pieces reach {old['target_mhz']} MHz"
    rest = "Not measured yet: " + ", ".join(f"`{x}`" for x in left) + "."
    text = [f"Made with {tools}, seed {old['seed']}. {told}.", *([textwrap.fill(rest, 118)] if left else [])]
    return "\n\n".join([*text, table(old["pieces"])])


def with_table(page, old):
    """Returns the page with its table replaced."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise record.Error(f"docs/hardware/size.md: its table cannot be replaced: it has not one '{BEGIN.strip()}' "
                           f"before one '{END.strip()}'")
    return page[:page.index(BEGIN)] + BEGIN + "\n" + markdown(old) + "\n" + page[page.index(END):]
