# SPDX-License-Identifier: Apache-2.0
"""Figures as text, as the tables of docs/hardware/size.md, and as the chart docs/pictures/size.svg."""
import re
from xml.sax.saxutils import escape

from . import gate, netlist

DEVICE = "engines-2"  # The configuration whose instances and chart are shown.
BEGIN, END = "<!-- tables by scripts/synth: begin -->\n", "<!-- tables by scripts/synth: end -->\n"
COLUMNS = [*netlist.RESOURCES, "inside", "in", "out", "through"]


def number(value):
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def by_stage(figures, more_than):
    """Returns the longest path of each stage in which paths start: [(levels, from stage, to stage, register,
    register)]."""
    worst = {}
    for pair, (levels, frm, to) in figures["paths"].items():
        a, b = pair.split(" -> ")
        if levels > more_than and (a not in worst or worst[a][0] < levels):
            worst[a] = (levels, a, b, frm, to)
    return sorted(worst.values(), key=lambda w: (-w[0], w[1]))


def rows(figures, group):
    """Returns a row for each unit, the largest in the device first: [label, instances, resources of one, levels]."""
    many = figures["configurations"].get(DEVICE, next(iter(figures["configurations"].values())))["units"]
    out = [[label, many.get(label, 0), *(u[c] for c in COLUMNS)] for label, u in figures[group].items()]
    return sorted(out, key=lambda r: (-max(r[1], group == "parts") * r[2], r[0]))


def table(head, body):
    """Returns the lines of a text table, with the first column left-aligned and the others right-aligned."""
    text = [head, *([x if isinstance(x, str) else number(x) for x in row] for row in body)]
    wide = [max(len(row[i]) for row in text) for i in range(len(head))]
    return ["  ".join(x.ljust(w) if i == 0 else x.rjust(w) for i, (x, w) in enumerate(zip(row, wide))).rstrip()
            for row in text]


def plane_line(figures):
    bits = sum(b for _, b in gate.plane(figures).values())
    return f"dirty plane for 16 GiB: {bits / 8192:,.0f} KiB of block memory" if bits else ""


def text(figures, paths):
    sums = [[name, *(c[r] for r in netlist.RESOURCES)] for name, c in figures["configurations"].items()]
    out = table(["configuration", *netlist.RESOURCES], sums)
    out += ["", *table(["unit", "count", *COLUMNS], rows(figures, "units"))]
    if figures["parts"]:
        out += ["", *table(["part of a unit", "count", *COLUMNS], rows(figures, "parts"))]
    worst = by_stage(figures, -1.0)
    out += ["", "deepest path of each stage:" if len(worst) <= paths else f"deepest paths of {len(worst)} stages:"]
    out += [f"  {levels:6.2f}  {a} -> {b}   {frm} -> {to}" for levels, a, b, frm, to in worst[:paths]]
    return "\n".join([*out, "", plane_line(figures)]).rstrip() + "\n"


def markdown(figures):
    """Returns the tables of docs/hardware/size.md."""
    def rule(head, body):
        lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
        return lines + ["| " + " | ".join(x if isinstance(x, str) else number(x) for x in row) + " |" for row in body]
    sums = [[name, *(c[r] for r in netlist.RESOURCES)] for name, c in figures["configurations"].items()]
    out = [f"Made with {figures['tool']}.", "", *rule(["configuration", *netlist.RESOURCES], sums), "",
           plane_line(figures)[:1].upper() + plane_line(figures)[1:] + " (limit: 1,024 KiB).", "",
           *rule(["unit", f"in {DEVICE}", *COLUMNS], rows(figures, "units")), "",
           *rule(["part of a unit, alone", *COLUMNS], [[r[0], *r[2:]] for r in rows(figures, "parts")]), "",
           f"Stages with a path of more than {gate.LEVELS:g} levels, the deepest of each:", "",
           *rule(["from a register of", "to a register of", "levels", "from", "to"],
                 [[a, b, levels, f"`{frm}`", f"`{to}`"] for levels, a, b, frm, to
                  in by_stage(figures, gate.LEVELS)])]
    return "\n".join(out) + "\n"


def with_tables(document, figures):
    """Returns the document with its tables replaced. Raises ValueError if the marks are missing."""
    before, rest = document.split(BEGIN)
    return before + BEGIN + "\n" + markdown(figures) + "\n" + END + rest.split(END)[1]


def chart(figures):
    """Returns an SVG chart of the device's LUTs by unit, with all instances added."""
    bars = [(label, n, n * lut) for label, n, lut, *_ in rows(figures, "units") if n * lut > 0]
    shown, rest = bars[:20], sum(b[2] for b in bars[20:])
    if rest:
        shown.append((f"{len(bars) - 20} others", 1, rest))
    total, most = sum(b[2] for b in bars), max(b[2] for b in shown)
    high, left, full = 22, 190, 430
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{high * len(shown) + 50}" '
           'font-family="sans-serif" font-size="13">',
           "<!-- made by scripts/synth -->",
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           f'<text x="10" y="22" font-weight="bold">LUTs by unit, all its instances together; {DEVICE}: {total:,}'
           "</text>"]
    for i, (label, n, luts) in enumerate(shown):
        y, wide = 36 + high * i, round(full * luts / most)
        what = escape(re.sub(r"\(.*", "", label)) + (f" × {n}" if n > 1 else "")
        out += [f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{what}</text>',
                f'<rect x="{left}" y="{y + 2}" width="{max(1, wide)}" height="16" fill="#3a6ea5"/>',
                f'<text x="{left + 6 + wide}" y="{y + 14}">{luts:,} '
                f'({100 * luts / total:.1f} %)</text>']
    return "\n".join([*out, "</svg>"]) + "\n"
