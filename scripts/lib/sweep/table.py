# SPDX-License-Identifier: Apache-2.0
"""The rows of a sweep as text, CSV and JSON. A dash, an empty field or null stands where there is no number."""
import csv
import io
import json

from sweep import spec

COUNTERS = ("busy", "issue", "lanes_active", "stall_use", "stall_unit", "stall_idle", "fma", "l1_hit", "l1_miss",
            "ic_miss", "tlb_hit", "tlb_miss", "rd_lines", "wr_lines", "buffers")
PARAMETERS = (*spec.GEOMETRY, "kind", *spec.MEMORY)
TITLES = {"local_kib": "local KiB", "kind": "memory"}
LINE = 64  # Bytes of rd_lines and wr_lines.


def parameters(row):
    """Returns the parameters of a row, {name: value}; of memory only those that the sweep sets."""
    return {**row["geometry"], **row["memory"]}


def varied(rows):
    """Returns {parameter: values in order} of the parameters that have several values."""
    found = {}
    for name in PARAMETERS:
        values = list(dict.fromkeys(parameters(r)[name] for r in rows if name in parameters(r)))
        if len(values) > 1:
            found[name] = sorted(values) if name != "kind" else values
    return found


def fixed(rows):
    """Returns the parameters that have the same value in all rows, as words."""
    several = varied(rows)
    told = [f"{TITLES.get(n, n)} {v}" for n, v in parameters(rows[0]).items() if n not in several]
    return ", ".join(told)


def share(row, of, *counters):
    """Returns counters in per cent of others, or None."""
    count = row["counters"]
    if not count or not row["cycles"]:
        return None
    whole = row["cycles"] if of == "cycles" else sum(count[c] for c in of)
    return 100 * sum(count[c] for c in counters) / whole if whole else None


def columns(rows):
    """Returns [title, function of a row, decimals] of what the text and the page show."""
    def rate(name):
        return lambda r: r["counters"][name] / r["cycles"] if r["counters"] and r["cycles"] else None

    def stall(name):
        return lambda r: share(r, "cycles", name) if any(r["counters"][c] for c in COUNTERS[3:6]) else None

    def moved(r):
        lines = r["counters"]["rd_lines"] + r["counters"]["wr_lines"]
        return LINE * lines / r["cycles"] if lines and r["cycles"] else None

    def guarded(function):
        return lambda r: function(r) if r["counters"] else None
    out = [[TITLES.get(n, n), lambda r, n=n: parameters(r).get(n), 0] for n in varied(rows)]
    return out + [
        ["kernel", lambda r: r["work"]["name"], 0],
        ["cycles", lambda r: r["cycles"], 0],
        ["limit %", lambda r: r["limit_percent"], 1],
        ["by", lambda r: r["limit_by"], 0],
        ["IPC", rate("issue"), 2],
        ["use %", guarded(stall("stall_use")), 1],
        ["unit %", guarded(stall("stall_unit")), 1],
        ["idle %", guarded(stall("stall_idle")), 1],
        ["L1 %", lambda r: share(r, ("l1_hit", "l1_miss"), "l1_hit"), 1],
        ["B/cycle", guarded(moved), 2],
        ["LUTs", lambda r: (r["size"] or {}).get("LUT"), 0],
        ["levels", lambda r: (r["size"] or {}).get("levels"), 2],
    ]


def shown(value, decimals):
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:,.{decimals}f}"


def cells(rows):
    """Returns titles, and rows of texts."""
    of = columns(rows)
    return [c[0] for c in of], [[shown(function(row), decimals) for _, function, decimals in of] for row in rows]


def gaps(rows):
    """Returns the sentences of points without a result, each once, with the number of points that it is of."""
    count = {}
    for row in rows:
        if row["error"]:
            count[row["error"]] = count.get(row["error"], 0) + 1
    return [f"{n} point{'s' if n > 1 else ''} without a result: {sentence}" for sentence, n in count.items()]


def plural(rows):
    return f"{len(rows):,} point{'s' if len(rows) != 1 else ''}"


def notes(rows):
    """Returns sentences about where figures are from."""
    out = []
    if any(row["backend"] == "model" for row in rows):
        out.append("cycles are estimates of the functional model")
    sources = {row["size"]["source"] for row in rows if row["size"]}
    if "baseline" in sources:
        out.append("LUTs and levels: recorded (tests/synth/baseline.json)" +
                   (", and measured" if "measured" in sources else ""))
    if any(row["size"] is None for row in rows):
        out.append("LUTs and levels that are not recorded: --synth measures them, some minutes a geometry")
    return out


def text(title, rows):
    head, body = cells(rows)
    wide = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    left = [title in ("kernel", "memory", "by") for title in head]
    lines = ["  ".join(x.ljust(w) if at else x.rjust(w) for x, w, at in zip(line, wide, left)).rstrip()
             for line in [head, *body]]
    said = gaps(rows) + notes(rows)
    return "\n".join([f"{title}: {plural(rows)}; {fixed(rows)}", "", *lines, *([""] + said if said else [])]) + "\n"


def as_csv(rows):
    """Returns all parameters, figures and counters; a line for each row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    resources = ("LUT", "FF", "BRAM", "URAM", "DSP", "levels", "source")
    writer.writerow(["backend", *PARAMETERS, "kernel", "cycles", "limit_cycles", "limit_by", "limit_percent", *COUNTERS,
                     *("synth_source" if r == "source" else r for r in resources), "error"])
    for row in rows:
        counters, size = row["counters"] or {}, row["size"] or {}
        writer.writerow([row["backend"], *(parameters(row).get(p) for p in PARAMETERS), row["work"]["name"],
                         row["cycles"], row["limit_cycles"], row["limit_by"], row["limit_percent"],
                         *(counters.get(c) for c in COUNTERS), *(size.get(r) for r in resources), row["error"]])
    return out.getvalue()


def as_json(title, rows):
    return json.dumps({"title": title, "points": rows}, indent=1) + "\n"
