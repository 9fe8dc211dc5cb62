#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one HTML report of the counts in a directory: *.json are functional bins
(tests/verify/tool/cover.h), *.dat are Verilator's.

usage: coverage_report.py [--check] DIR

Three parts: functional bins (instruction x operands x divergence), pipeline events (cover properties of sim/rtl/cover),
and lines of RTL. A hole is a bin that nothing reached; tests/verify/holes.yaml gives reasons, by pattern.
"""
import collections
import fnmatch
import html
import json
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOAL = 95.0  # percent of functional bins, and of pipeline events, for --check
STYLE = """body{font:14px/1.4 sans-serif;margin:2em;max-width:110em}table{border-collapse:collapse}
td,th{padding:1px 8px;text-align:right}
td:first-child,th:first-child{text-align:left}.no{background:#fcc}.yes{background:#dfd}.why{background:#ffd}
pre{margin:0}
h2{margin-top:1.5em}.bar{display:inline-block;width:120px;background:#fcc}
.bar b{display:block;background:#6b6;height:10px}"""


def functional(directory):
    """Returns the counts of all *.json together, by bin."""
    total = collections.Counter()
    for path in sorted(directory.glob("*.json")):
        for name, n in json.loads(path.read_text()).items():
            total[name] += n
    return total


def verilator(directory):
    """Returns the counts of coverage.dat: events by module.label, lines by (file, line)."""
    events, lines = collections.Counter(), collections.Counter()
    for path in sorted(directory.glob("*.dat")):
        for text in path.read_text(errors="replace").splitlines():
            m = re.match(r"C '(.*)' (\d+)$", text)
            if not m:
                continue
            keys = dict(p.split("\x02", 1) for p in m[1].split("\x01") if "\x02" in p)
            n, page = int(m[2]), keys.get("page", "")
            if page.startswith("v_user/"):
                events[f"{page[7:].removeprefix('cover_').split('__')[0]}.{keys.get('o', '?')}"] += n
            elif page.startswith(("v_line/", "v_branch/")) and "/rtl/" in "/" + keys["f"] and "cover_" not in keys["f"]:
                file = "rtl/" + ("/" + keys["f"]).split("/rtl/", 1)[1]
                for line in expand(keys.get("S", ""), int(keys["l"])):
                    lines[file, line] = max(lines[file, line], n) if (file, line) in lines else n
    return events, lines


def expand(spans, line):
    """Returns the lines of a block, as Verilator writes them ("12,14-16"), or the line where it begins."""
    out = []
    for part in filter(None, spans.split(",")):
        first, _, last = part.partition("-")
        out += range(int(first), int(last or first) + 1)
    return out or [line]


def bar(share):
    return f"<span class=bar><b style='width:{share:.0f}%'></b></span> {share:.1f} %"


def percent(counts):
    return 100.0 * sum(n > 0 for n in counts.values()) / len(counts) if counts else 0.0


def reason(name, holes):
    return next((h["why"] for h in holes if fnmatch.fnmatchcase(name, h["bins"])), None)


def holes_table(title, counts, holes):
    rows, unexplained = [], []
    for name in sorted(n for n, c in counts.items() if c == 0):
        why = reason(name, holes)
        if why is None:
            unexplained.append(name)
        rows.append(f"<tr class={'why' if why else 'no'}><td>{html.escape(name)}<td style='text-align:left'>"
                    f"{html.escape(why or 'no reason given')}")
    return f"<h3>Holes: {title}</h3><table>{''.join(rows) or '<tr><td>none'}</table>", unexplained


def grouped(counts):
    """Returns a table for each group. A name's group is its instruction, or its part before the first dot."""
    groups = collections.defaultdict(dict)
    for name, n in counts.items():
        head = re.match(r"(tern\.\w+|\w+(?:\.(?:w|s|wu|b|h|i)\b)*)\.(.*)$", name)
        groups[head[1] if head else name][head[2] if head else ""] = n
    out = []
    for g in sorted(groups):
        cells = "".join(f"<tr class={'yes' if n else 'no'}><td>{html.escape(k)}<td>{n}" for k, n in groups[g].items())
        out.append(f"<details><summary>{html.escape(g)} "
                   f"{bar(percent(groups[g]))}</summary><table>{cells}</table></details>")
    return "".join(out)


def source(file, lines):
    out = []
    for i, text in enumerate((ROOT / file).read_text().split("\n"), 1):
        n = lines.get((file, i))
        mark = "" if n is None else " class=yes" if n else " class=no"
        out.append(f"<tr{mark}><td>{i}<td>{'' if n is None else n}<td "
                   f"style='text-align:left'><pre>{html.escape(text)}</pre>")
    return f"<table>{''.join(out)}</table>"


def write(directory, bins, events, lines, holes):
    parts = [("functional bins", bins), ("pipeline events", events), ("RTL lines", lines)]
    page = [f"<!doctype html><meta charset=utf-8><title>Coverage</title><style>{STYLE}</style><h1>Coverage</h1><table>"]
    page += [f"<tr><td>{t}<td>{sum(n > 0 for n in c.values())} of {len(c)}<td>{bar(percent(c))}" for t, c in parts]
    page.append("</table>")
    unexplained = []
    for title, counts in parts[:2]:
        table, bad = holes_table(title, counts, holes)
        unexplained += bad
        page.append(table)
    page.append("<h2>Functional bins</h2>" + grouped(bins) + "<h2>Pipeline events</h2>" + grouped(events) +
                "<h2>RTL lines</h2>")
    for file in sorted({f for f, _ in lines}):
        mine = {k: n for k, n in lines.items() if k[0] == file}
        name = file.replace("/", "_") + ".html"
        (directory / name).write_text(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><h1>{file}</h1>" +
                                      source(file, mine))
        page.append(f"<div><a href='{name}'>{file}</a> {bar(percent(mine))}</div>")
    (directory / "index.html").write_text("\n".join(page))
    return unexplained


def main():
    args = [a for a in sys.argv[1:] if a != "--check"]
    if len(args) != 1 or not pathlib.Path(args[0]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    directory = pathlib.Path(args[0])
    holes = yaml.safe_load((ROOT / "tests/verify/holes.yaml").read_text()) or []
    bins = functional(directory)
    events, lines = verilator(directory)
    unexplained = write(directory, bins, events, lines, holes)
    bad = []
    for title, counts in (("functional bins", bins), ("pipeline events", events), ("RTL lines", lines)):
        print(f"{title}: {sum(n > 0 for n in counts.values())} of {len(counts)}, {percent(counts):.1f} %")
        if title != "RTL lines" and percent(counts) < GOAL:
            bad.append(f"{title}: {percent(counts):.1f} % is less than {GOAL:.0f} %")
    if unexplained:
        bad.append(f"{len(unexplained)} holes without a reason in tests/verify/holes.yaml: "
                   f"{' '.join(unexplained[:20])}")
    print(f"report: {directory / 'index.html'}")
    for b in bad:
        print(f"coverage: {b}", file=sys.stderr)
    return 1 if bad and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
