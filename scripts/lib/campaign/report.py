# SPDX-License-Identifier: Apache-2.0
"""The page of a campaign: one HTML file that needs no network."""
import collections
import html
import os

STYLE = """body{font:14px/1.45 sans-serif;margin:2em;max-width:100em}table{border-collapse:collapse;margin:.5em 0}
td,th{padding:2px 10px;text-align:left;vertical-align:top;border-bottom:1px solid #ddd}td.n{text-align:right}
td.code{font-family:monospace;white-space:pre-wrap}.bad{background:#fcc}.bar{width:40em;background:#ddd}
.bar b{display:block;height:12px;background:#6a6}"""
CODE = ("again", "text", "caught by", "command that repeats it here")


def cell(head, value):
    if isinstance(value, float):
        value = f"{value:.1f}"
    kind = " class=code" if head in CODE else " class=n" if str(value).replace(".", "").isdigit() else ""
    return f"<td{kind}>{html.escape(str(value))}"


def table(title, head, rows):
    if not rows:
        return f"<h2>{html.escape(title)}</h2><p>None."
    body = "".join("<tr>" + "".join(cell(h, v) for h, v in zip(head, row)) for row in rows)
    return (f"<h2>{html.escape(title)}</h2><table><tr>" + "".join(f"<th>{html.escape(h)}" for h in head) + body +
            "</table>")


def places(plan, store):
    """Returns a row for each host: workers, tasks, units of work, seconds, units a second."""
    weight = {t.name: t.weight for t in plan.tasks}
    found = collections.defaultdict(lambda: [set(), 0, 0, 0.0])
    for name in store.results:
        about = store.about[name]
        row = found[about["host"]]
        row[0].add(about["worker"])
        row[1] += 1
        row[2] += weight[name]
        row[3] += about["seconds"]
    return [(host, len(w), n, units, seconds, units / seconds if seconds else 0.0)
            for host, (w, n, units, seconds) in sorted(found.items())]


def page(plan, store, total, coverage):
    """Returns the text of the page. coverage: lines, empty if none was counted."""
    weight = {t.name: t.weight for t in plan.tasks}
    done, all_ = sum(weight[n] for n in store.results), sum(weight.values())
    state = "complete" if len(store.results) == len(plan.tasks) else "not complete: the same command goes on"
    out = [f"<!doctype html><html lang=en><meta charset=utf-8><title>Campaign {plan.kind}</title>",
           f"<style>{STYLE}</style>",
           f"<h1>Campaign {plan.kind}: {done:g} of {all_:g} {plan.unit}</h1>",
           f"<div class=bar><b style='width:{100 * done / max(all_, 1e-9):.1f}%'></b></div><p>{state}",
           *(f"<p>{html.escape(line)}" for line in total.lines)]
    out.append(table("What was run", ("what", "value"), [("Tern", store.key), *(
        (k, v if not isinstance(v, list) else f"{len(v)}: {', '.join(map(str, v))}")
        for k, v in plan.parameters.items())]))
    out.append(table("Tasks that failed twice", ("task", "why", "command that repeats it here"),
                     [(n, f["failed"], f["again"]) for n, f in sorted(store.failed.items())]))
    out += [table(*t) for t in total.tables]
    if plan.page:
        out.append(f"<p><a href='{plan.kind}.html'>Charts</a>")
    if coverage:
        out.append("<h2>Coverage</h2>" + "".join(f"<p>{html.escape(line)}" for line in coverage) +
                   "<p><a href='coverage/index.html'>All of it</a>")
    out.append(table("Machines", ("host", "workers", "tasks", plan.unit, "seconds", f"{plan.unit} a second and worker"),
                     places(plan, store)))
    return "\n".join(out) + "\n"


def write(folder, name, text):
    """Replaces a page. Returns its path."""
    path, part = folder / f"{name}.html", folder / f"{name}.html.part"
    part.write_text(text)
    os.replace(part, path)
    return path
