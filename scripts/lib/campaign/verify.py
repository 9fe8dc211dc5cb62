# SPDX-License-Identifier: Apache-2.0
"""Campaigns of co-verification: a task is a range of seeds, which `tern verify` compares in one process."""
import json

from campaign import tree
from campaign.kinds import Plan, Task, Total, Usage, Wrong

HELP = "random cases on the RTL and the model, which must agree (tern verify)"
TOOL = "build/lib/tern/tern-verify"
PROBES = ((TOOL, "--help"),)
SUMS = ("cases", "warp_instructions", "indications", "faults", "page_requests", "cycles")
CHUNK, CHUNK_COVERAGE = 200, 2000  # Cases of a task: some six seconds; coverage is merged by task.


def add_options(parser):
    parser.add_argument("--cases", type=int, required=True, metavar="N", help="cases in all")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="the first seed (1)")
    parser.add_argument("--kind", choices=("all", "program", "stream"), default="all",
                        help="of which kind: all is one of each kind by turns (all)")
    parser.add_argument("--geometry", choices=("tiny", "small", "default"), default="small", help="(small)")
    parser.add_argument("--rtl", metavar="NAME", help="the device library libtern_sim_NAME.so that is tested "
                        "(rtl_GEOMETRY)")
    parser.add_argument("--model", metavar="NAME", help="the library that says what is expected (model_GEOMETRY)")
    parser.add_argument("--coverage", action="store_true",
                        help="count what the cases reach, on the device rtl_coverage of the small geometry")
    parser.add_argument("--stop-after", type=int, default=100, metavar="N",
                        help="begin no more tasks after N cases differ; 0: never stop (100)")
    parser.add_argument("--chunk", type=int, metavar="N", help=f"cases of a task ({CHUNK}; {CHUNK_COVERAGE} with "
                        "--coverage): what a worker that dies loses")


def check(opts):
    kinds = 2 if opts.kind == "all" else 1
    if opts.coverage and (opts.rtl or opts.geometry != "small"):
        raise Usage("--coverage is of the device rtl_coverage: it goes without --rtl and --geometry")
    chunk = opts.chunk if opts.chunk is not None else CHUNK_COVERAGE if opts.coverage else CHUNK
    for name, n in ("--cases", opts.cases), ("--chunk", chunk):
        if n < 1 or n % kinds:
            even = ", and even, since each seed is a case of each of two kinds" if kinds > 1 else ""
            raise Usage(f"{name} is {n}: it must be at least {kinds}{even}")
    if opts.seed < 0 or opts.stop_after < 0:
        raise Usage("--seed and --stop-after are at least 0")
    return kinds, chunk


def tasks(opts, kinds, chunk, rtl, model):
    """Yields the tasks: ranges of seeds in order."""
    seeds, each = opts.cases // kinds, chunk // kinds
    for first in range(opts.seed, opts.seed + seeds, each):
        count = min(each, opts.seed + seeds - first)
        what = ["--kind", opts.kind, "--seed", str(first), "--seeds", str(count), "--geometry", opts.geometry]
        on = [w for flag, name, usual in (("--rtl", rtl, f"rtl_{opts.geometry}"),
                                          ("--model", model, f"model_{opts.geometry}"))
              if name != usual for w in (flag, name)]
        more = ["--coverage", "{scratch}/coverage"] if opts.coverage else []
        yield Task(f"seeds-{first}-{first + count - 1}",
                   (TOOL, *what, *on, *more, "--jobs", "1", "--keep-going", "--json", "--output", "{scratch}"),
                   count * kinds, (0, 1, 4), collect=("*.txt", "coverage/*"),
                   again=(TOOL, *what, *on, "--jobs", "1", "--keep-going"))


def plan(opts, build):
    kinds, chunk = check(opts)
    rtl = opts.rtl or ("rtl_coverage" if opts.coverage else f"rtl_{opts.geometry}")
    model = opts.model or f"model_{opts.geometry}"
    if opts.build_first:
        tree.make(build, ["tern_verify", "tern_cli", f"tern_sim_{model}", f"tern_sim_{rtl}"])
    files = tree.of_build(build, "lib/tern/tern-verify", f"lib/libtern_sim_{rtl}.so", f"lib/libtern_sim_{model}.so")
    parameters = {"cases": opts.cases, "seed": opts.seed, "kind": opts.kind, "geometry": opts.geometry, "rtl": rtl,
                  "model": model, "coverage": opts.coverage, "chunk": chunk}
    return Plan("verify", parameters, list(tasks(opts, kinds, chunk, rtl, model)), files, "cases", read, total,
                PROBES, found=lambda r: len(r["differences"]), stop_after=opts.stop_after, coverage=opts.coverage)


def read(task, output):
    """Returns the sums of a task and its cases that differ or were too slow."""
    try:
        found = json.loads(output.out)
        result = {name: found[name] for name in SUMS}
        result["differences"] = [{"case": f"{d['kind']} {d['seed']}", "what": d["what"], "text": d["text"],
                                  "again": d["again"]} for d in found["differences"]]
        result["too_slow"] = [{"case": f"{d['kind']} {d['seed']}", "again": d["again"]} for d in found["too_slow"]]
    except (ValueError, KeyError, TypeError) as e:
        said = output.err.strip().splitlines()
        raise Wrong(said[-1] if said and output.status else f"its output is no result of tern verify: {e}") from e
    if result["cases"] != task.weight or found["interrupted"]:
        raise Wrong(f"it compared {result['cases']} of its {task.weight} cases")
    return result


def total(results):
    sums = {name: sum(r[name] for r in results.values()) for name in SUMS}
    differ = [d for r in results.values() for d in r["differences"]]
    slow = [d for r in results.values() for d in r["too_slow"]]
    lines = [f"{sums['cases']} cases, {sums['warp_instructions']} warp instructions, {sums['indications']} "
             f"indications, {sums['faults']} of them faults, {sums['page_requests']} page requests: " +
             (f"{len(differ)} differ" if differ else "no difference") + (f", {len(slow)} too slow" if slow else "")]
    lines += [f"differs: {d['case']}: {d['what']}; again: {d['again']}" for d in differ[:20]]
    lines += [f"too slow: {d['case']}; again: {d['again']}" for d in slow[:20]]
    tables = [("Sums", ("what", "count"), [(n.replace("_", " "), v) for n, v in sums.items()]),
              ("Cases that differ", ("case", "what", "text", "again"),
               [(d["case"], d["what"], d["text"], d["again"]) for d in differ]),
              ("Cases that were too slow", ("case", "again"), [(d["case"], d["again"]) for d in slow])]
    return Total(lines, tables, 1 if differ else 4 if slow else 0)
