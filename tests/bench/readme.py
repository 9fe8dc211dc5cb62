#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""readme: writes the tables of figures in README.md and docs/benches.md from the baselines.

usage: readme.py [--check]
A table is the lines between <!-- NAME --> and <!-- /NAME -->. Nothing is measured here: `tests/bench/check`,
`check-preempt` and `check-migrate` measure, and write the tables when they write a baseline; scripts/synth --update
changes a figure of README.md too. --check writes nothing. Exit: 0; 1 a table is not that of the baselines.
"""
import json
import pathlib
import re
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
README, BENCHES, MIGRATION = ROOT / "README.md", ROOT / "docs/benches.md", ROOT / "docs/migration.md"
BASELINE, PREEMPT, SYNTH = HERE / "baseline.json", HERE / "baseline_preempt.json", ROOT / "tests/synth/baseline.json"

# Figures of Vortex at the commits that README.md links to. Cycles are of a core of 16 lanes and 4 warps
# (ci/baselines/perf/core.json), LUTs and MHz of one of 16 lanes and 16 warps on an Alveo U55C
# (ci/baselines/synthesis/xilinx/core.json).
VORTEX = {"vecadd-16384": 75335, "sgemm-128": 1821882, "LUT": 174612, "MHz": 274.7}


def read(path):
    return json.loads(path.read_text())


def results(data):
    """Returns the table of cycles, of docs/benches.md."""
    c = data["config"]
    rows = [f"Measured by `tern bench --full` on the simulated device ({c['engines']} engines of {c['lanes']} lanes x "
            f"{c['warps']} warps; one engine runs the kernel):", "",
            "| bench | cycles | limit | by | % of limit | bytes a cycle | % of FMA peak |",
            "|---|---:|---:|---|---:|---:|---:|"]
    for r in data["results"]:
        limit = f"{r['limit_cycles']:,.0f} | {r['limit_by']} | {r['limit_percent']:.1f}" if r["limit_by"] else " | | "
        rows.append(f"| {r['name']} | {r['cycles']:,} | {limit} | {r['bytes_per_cycle']:.2f} | "
                    f"{r['fma_percent']:.1f} |")
    shares = {}
    for r in data["results"]:
        if r["limit_by"] and r["thread_instructions"]:
            shares.setdefault(r["group"], []).append(r["limit_percent"])
    means = ", ".join(f"{statistics.geometric_mean(some):.1f} % by the {len(some)} {group} kernels"
                      for group, some in shares.items())
    return "\n".join([*rows, "", f"Geometric mean of what is reached of the limits: {means}."])


def preemption(data):
    """Returns the table of stops, of docs/benches.md."""
    rows = ["| kernel | stop: median | most | resume: median | most | context |", "|---|---:|---:|---:|---:|---:|"]
    for r in data["results"]:
        cycles = " | ".join(f"{r[k]:,}" for k in ("save_median", "save_max", "restore_median", "restore_max"))
        rows.append(f"| {r['kernel']} | {cycles} | {r['context_bytes'] / 1024:.1f} KiB |")
    costs = ", ".join(f"every {int(period):,} cycles {cost:.1f} %" for period, cost in data["overhead"].items())
    return "\n".join(rows) + f"\n\nShare of sgemm's throughput that stops cost: {costs}."


def blackout():
    """Returns the partition and KiB of the last row of the table of docs/migration.md, which check-migrate writes."""
    rows = re.search(r"<!-- migrations -->\n(.*?)\n\n", MIGRATION.read_text(), re.S)[1].split("\n")
    size, _, sent = [cell.strip() for cell in rows[-1].split("|")[1:4]]
    return size, sent


def figures():
    """Returns the table of README.md."""
    cycles = {r["name"]: r["cycles"] for r in read(BASELINE)["results"]}
    stops = read(PREEMPT)["results"]
    size, sent = blackout()

    def times(way):
        medians = [r[f"{way}_median"] for r in stops]
        return f"{min(medians):,} to {max(medians):,}; most {max(r[f'{way}_max'] for r in stops):,}"

    lut = read(SYNTH)["configurations"]["engines-1"]["LUT"]
    return "\n".join([
        "| figure | Tern | peer |", "|---|---|---|",
        f"| sum of two vectors of 16,384: cycles of an engine | {cycles['vecadd-16384']:,} | "
        f"Vortex {VORTEX['vecadd-16384']:,} [1] |",
        f"| product of two 128 x 128 matrices: cycles | {cycles['sgemm-128']:,}; by tiles "
        f"{cycles['sgemm-4x4-128']:,} | Vortex {VORTEX['sgemm-128']:,} [1] |",
        f"| stop of a running kernel: cycles, medians of {len(stops)} kernels | {times('save')} | "
        "Vortex: it runs to its end [2] |",
        f"| from the resumption to its first instruction: cycles | {times('restore')} | the same |",
        f"| sent while the programs of a partition of {size} stand still | {sent} | "
        "QEMU: as much as goes in 300 ms [3] |",
        f"| LUTs of a device with one engine | {lut:,}, not placed | Vortex {VORTEX['LUT']:,}, at "
        f"{VORTEX['MHz']} MHz [4] |"])


def renew(name, table, page, write=True):
    """Replaces the table (lines, without a newline at the end). Returns True if it was another one. Raises SystemExit
    if the page has no such place."""
    old = page.read_text()
    new, places = re.subn(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda m: f"{m[1]}{table}\n{m[2]}", old,
                          flags=re.S)
    if places != 1:
        raise SystemExit(f"{page}: {places} places <!-- {name} --> ... <!-- /{name} -->, not one")
    if write:
        page.write_text(new)
    return new != old


def write_all(write=True):
    """Writes all tables that follow from the baselines. Returns the pages that had other ones."""
    made = [("results", results(read(BASELINE)), BENCHES), ("preemption", preemption(read(PREEMPT)), BENCHES),
            ("figures", figures(), README)]
    return [f"{page.relative_to(ROOT)}: {name}" for name, table, page in made if renew(name, table, page, write)]


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    check = bool(sys.argv[1:])
    stale = write_all(not check)
    for page in stale:
        print(f"{page}: not the figures of the baselines; run tests/bench/readme.py" if check else f"wrote {page}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
