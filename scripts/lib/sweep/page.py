# SPDX-License-Identifier: Apache-2.0
"""The report of a sweep: one HTML page with table and charts, which loads nothing from elsewhere."""
import math
from xml.sax.saxutils import escape

from sweep import chart, spec, table

STYLE = """
body { font-family: sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; color: #222 }
table { border-collapse: collapse; font-size: 90%; font-variant-numeric: tabular-nums }
th, td { padding: .15em .6em; text-align: right; border-bottom: 1px solid #ddd }
th { position: sticky; top: 0; background: #fff }
td.text, th.text { text-align: left }
figure { display: inline-block; margin: 0 1em 1em 0; max-width: 560px; vertical-align: top }
.key { white-space: nowrap; margin-right: .8em; font-size: 85% }
"""
LEFT = ("kernel", "memory", "by")


def words(values):
    """Returns parameters as words, as `lanes 8, latency 60`."""
    return ", ".join(f"{table.TITLES.get(name, name)} {value}" for name, value in values.items())


def works(rows):
    """Returns {name of the work: its rows}."""
    found = {}
    for row in rows:
        found.setdefault(row["work"]["name"], []).append(row)
    return found


def over(rows, name, several):
    """Returns {words of the other parameters: [(value of the parameter, cycles)]} of the rows with a result."""
    series = {}
    for row in rows:
        values = table.parameters(row)
        if row["cycles"] is not None and name in values:
            others = words({n: values[n] for n in several if n != name and n in values})
            series.setdefault(others, []).append((values[name], row["cycles"]))
    return {others: sorted(points) for others, points in series.items()}


def device_name(row, several):
    values = {n: row["geometry"][n] for n in spec.GEOMETRY if n in several}
    return words(values) or spec.shown(row["geometry"])


def against(rows, several):
    """Returns {words of the memory: [(LUTs, cycles, name of the device)]} of the rows with both."""
    found = {}
    for row in rows:
        if row["cycles"] is not None and row["size"]:
            memory = words({n: v for n, v in row["memory"].items() if n in several})
            found.setdefault(memory, []).append((row["size"]["LUT"], row["cycles"], device_name(row, several)))
    return found


def together(rows):
    """Returns rows of an invented work: the geometric mean of the cycles of all works, for each device and memory for
    which all works have a result."""
    groups = {}
    for row in rows:
        groups.setdefault(words(table.parameters(row)), []).append(row)
    return [{**group[0], "work": {"name": "geometric mean of all kernels"},
             "cycles": math.exp(sum(math.log(r["cycles"]) for r in group) / len(group))}
            for group in groups.values() if all(r["cycles"] for r in group)]


def figures(rows):
    """Returns the charts as HTML: for each work one over each parameter, and LUTs for each memory."""
    several = table.varied(rows)
    of = works(rows)
    if len(of) > 1:
        of = {"geometric mean of all kernels": together(rows), **of}
    out = []
    for name, chosen in of.items():
        made = []
        for memory, points in against(chosen, several).items():
            if len({p[0] for p in points}) > 1:
                title = f"{name}: cycles against LUTs" + (f" ({memory})" if memory else "")
                made.append(f"<figure>{chart.pareto(title, points)}</figure>")
        for parameter in several:
            series = over(chosen, parameter, several)
            if parameter != "kind" and any(len(points) > 1 for points in series.values()):
                drawn = chart.lines(f"{name}: cycles over {parameter}", table.TITLES.get(parameter, parameter), series)
                keys = chart.legend(series) if len(series) > 1 else ""
                made.append(f"<figure>{drawn}<figcaption>{keys}</figcaption></figure>")
        if made:
            out.append(f"<h2>{escape(name)}</h2>\n" + "\n".join(made))
    return "\n".join(out)


def html(title, rows):
    head, body = table.cells(rows)
    kinds = [' class="text"' if h in LEFT else "" for h in head]
    lines = ["<tr>" + "".join(f"<td{kind}>{escape(x)}</td>" for kind, x in zip(kinds, line)) + "</tr>" for line in body]
    said = "".join(f"<li>{escape(sentence)}</li>" for sentence in table.gaps(rows) + table.notes(rows))
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(title)}</h1>", f"<p>{table.plural(rows)}; the same in all: {escape(table.fixed(rows))}.</p>",
        figures(rows), "<h2>All points</h2>", f"<ul>{said}</ul>" if said else "",
        "<table><thead><tr>" + "".join(f"<th{kind}>{escape(h)}</th>" for kind, h in zip(kinds, head)) +
        "</tr></thead><tbody>", *lines, "</tbody></table>",
        "<p>use %, unit %, idle %: cycles in which the engine issued nothing because operands were missing, a unit was "
        "busy, or no warp was ready. Filled points, joined by a broken line, are the Pareto front: no other device of "
        "the sweep has both fewer LUTs and fewer cycles.</p>",
        "</body></html>"]) + "\n"
