# SPDX-License-Identifier: Apache-2.0
"""Campaigns of seeded bugs: a task is a few mutants, which `tern verify --mutants` must catch."""
import json

from campaign import tree
from campaign.kinds import Cannot, Plan, Task, Total, Usage, Wrong
from campaign.verify import PROBES, TOOL
from testing.steps import ROOT

HELP = "seeded bugs of the RTL, which the cases must catch (tern verify --mutants)"
BATCH = 4  # Mutants of a task. Several of one run are first tried on what caught them the last time.
HINTS = "tests/verify/mutants.hints"


def add_options(parser):
    parser.add_argument("names", nargs="*", metavar="NAME", help="these only; tern verify --mutants list prints them")
    parser.add_argument("--seeds", type=int, default=2000, metavar="N", help="cases of each kind for a mutant (2000)")
    parser.add_argument("--geometry", choices=("small", "default"), default="small", help="(small)")


def batches(names, size):
    """Deals names to tasks of nearly equal size."""
    count = -(-len(names) // size)
    return [names[i * len(names) // count:(i + 1) * len(names) // count] for i in range(count)]


def plan(opts, build):
    if opts.seeds < 1:
        raise Usage("--seeds is at least 1")
    rtl = "rtl_mutants" if opts.geometry == "small" else "rtl_mutants_default"
    model = f"model_{opts.geometry}"
    if opts.build_first:
        tree.make(build, ["tern_verify", "tern_cli", f"tern_sim_{model}", f"tern_sim_{rtl}"])
    files = tree.of_build(build, "lib/tern/tern-verify", f"lib/libtern_sim_{rtl}.so", f"lib/libtern_sim_{model}.so")
    files[HINTS] = ROOT / HINTS
    said = tree.run([str(build / "lib/tern/tern-verify"), "--geometry", opts.geometry, "--rtl", rtl, "--mutants",
                     "list", "--json"], "mutants")
    names = json.loads(said)["mutants"]
    unknown = sorted(set(opts.names) - set(names))
    if unknown:
        raise Cannot(f"there is no mutant {' or '.join(unknown)}; see tern verify --mutants list")
    names = [n for n in names if n in opts.names] if opts.names else names
    tasks = []
    for number, batch in enumerate(batches(names, BATCH), 1):
        words = (TOOL, "--geometry", opts.geometry, "--rtl", rtl, "--seeds", str(opts.seeds), "--jobs", "1")
        argv = (*words, "--hints", f"{{tree}}/{HINTS}", "--output", "{scratch}", "--json", "--mutants", *batch)
        tasks.append(Task(f"mutants-{number}", argv, len(batch), (0, 1, 4),
                          again=(*words, "--hints", HINTS, "--mutants", *batch)))
    return Plan("mutants", {"geometry": opts.geometry, "seeds": opts.seeds, "names": names}, tasks, files, "mutants",
                read, total, PROBES)


def read(task, output):
    """Returns {mutant: how it was caught, "too slow", or None}."""
    wanted = task.argv[task.argv.index("--mutants") + 1:]
    try:
        found = {m["name"]: m for m in json.loads(output.out)["mutants"] if m["mutant"]}
        result = {}
        for name in wanted:
            m = found[name]
            d = m["difference"]
            result[name] = "too slow" if m["too_slow"] else d["again"] if m["caught"] else None
    except KeyError as e:
        said = output.err.strip().splitlines()
        raise Wrong(f"tern verify ended before the mutant {e}: {said[-1] if said else 'no reason given'}") from e
    except (ValueError, TypeError) as e:
        raise Wrong(f"its output is no result of tern verify: {e}") from e
    return {"mutants": result}


def total(results):
    found = {n: how for r in results.values() for n, how in r["mutants"].items()}
    missed = sorted(n for n, how in found.items() if how is None)
    slow = sorted(n for n, how in found.items() if how == "too slow")
    lines = [f"{len(found)} mutants, {len(found) - len(missed) - len(slow)} caught, {len(missed)} not" +
             (f", {len(slow)} too slow" if slow else "")]
    lines += [f"not caught: {n}; again: tern verify --mutants {n}" for n in missed]
    rows = [(n, how or "NOT CAUGHT") for n, how in sorted(found.items(), key=lambda x: (x[1] is not None, x[0]))]
    return Total(lines, [("Mutants", ("mutant", "caught by"), rows)], 1 if missed else 4 if slow else 0)
