# SPDX-License-Identifier: Apache-2.0
"""The baseline of scripts/ecp5: the ECP5 resources of the board without the device, and its clock.

tests/synth/ecp5.json: {"tools": {package: version}, "limits": {"fmax": fraction by which the clock may be slower,
"use": fraction by which the use of a resource may be larger}, and the output of scripts/ecp5 --json without the
bitstream}.
"""
import json

LIMITS = {"fmax": 0.15, "use": 0.02}
BEGIN, END = "<!-- table by scripts/ecp5: begin -->\n", "<!-- table by scripts/ecp5: end -->\n"
ACCEPT = "accept it with `scripts/ecp5 --update` and commit what that changes"
COLUMNS = (("TRELLIS_COMB", "logic cells"), ("TRELLIS_FF", "flip-flops"), ("IOLOGIC", "pads with registers"),
           ("DP16KD", "block memories"), ("MULT18X18D", "multipliers"))


class BaselineError(Exception):
    """The baseline, or the page with its table, cannot be used. The text says why."""


def baseline(figures, tools):
    return {"tools": tools, "limits": LIMITS, **{k: v for k, v in figures.items() if k != "bitstream"}}


def read(file):
    try:
        found = json.loads(file.read_text())
        missing = {"tools", "limits", "params", "seed", "use", "fmax_mhz", "asked_mhz"} - set(found)
    except (OSError, ValueError, TypeError) as e:
        raise BaselineError(f"{file}: not a baseline: {e}; scripts/ecp5 --update makes one") from e
    if missing:
        raise BaselineError(f"{file}: not a baseline: it has no {' or '.join(sorted(missing))}")
    return found


def problems(figures, old, tools):
    """Returns a message for each limit that the figures exceed."""
    if old["tools"] != tools:
        return [f"the baseline was made with {old['tools']}, here is {tools}: they cannot be compared; {ACCEPT}"]
    if [old["params"], old["seed"]] != [figures["params"], figures["seed"]]:
        return [f"the baseline is of {old['params']} and seed {old['seed']}, not of {figures['params']} and seed "
                f"{figures['seed']}"]
    found = []
    for name in sorted(old["use"].keys() | figures["use"].keys()):
        new, was = (f["use"].get(name, {"used": 0})["used"] for f in (figures, old))
        if new > was * (1 + old["limits"]["use"]):
            found.append(f"{new:,} {name}, {was:,} in the baseline: {100 * old['limits']['use']:g} % more is the limit;"
                         f" make it smaller, or {ACCEPT}")
    least = old["fmax_mhz"] * (1 - old["limits"]["fmax"])
    if figures["fmax_mhz"] < least:
        found.append(f"{figures['fmax_mhz']} MHz, {old['fmax_mhz']} in the baseline: {least:.1f} is the limit; shorten "
                     f"the path that build/ecp5's report.json names, or {ACCEPT}")
    return found


def table(old):
    """Returns the table of docs/ecp5.md."""
    shown = [(name, title) for name, title in COLUMNS if name in old["use"]]
    head = [f"{title} of {old['use'][name]['available']:,}" for name, title in shown]
    row = [f"{old['use'][name]['used']:,}" for name, _ in shown]
    params = ", ".join(f"{n}={v}" for n, v in sorted(old["params"].items()))
    tools = ", ".join(f"{n} {v}" for n, v in old["tools"].items())
    return "\n".join([f"Made with {tools}, seed {old['seed']}; {old['asked_mhz']:g} MHz requested.", "",
                      "| design | " + " | ".join(head) + " | Fmax |", "|---" * (len(head) + 2) + "|",
                      f"| link and memory ({params}) | " + " | ".join(row) + f" | {old['fmax_mhz']} MHz |"]) + "\n"


def with_table(page, old):
    """Returns the page with its table replaced."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise BaselineError(f"docs/ecp5.md: its table cannot be replaced: it has not one '{BEGIN.strip()}' before one "
                            f"'{END.strip()}'")
    return page[:page.index(BEGIN)] + BEGIN + "\n" + table(old) + "\n" + page[page.index(END):]
