# SPDX-License-Identifier: Apache-2.0
"""Campaigns of the nightly tier: a task is one of its steps (scripts/lib/testing/nightly.py), which a worker runs on a
copy of the whole built tree, at the path that the tree has here.

Steps that build something, or need tools of this machine, are left out. What passed is kept for `scripts/test nightly`
too, which then runs only the rest.
"""
import fnmatch
import os
import time

from campaign import tree
from campaign.kinds import Cannot, Plan, Task, Total, Usage, Wrong
from testing import main as tiers
from testing import nightly, parts, schedule
from testing.steps import BUILD, LOGS, ROOT, Counted

HELP = "the steps of the nightly tier that build nothing (scripts/test nightly)"
# Folders that no test reads: anywhere in the build, and in its top folder.
OF_BUILD = {"CMakeFiles", "Testing"}
UNREAD = {"attacks", "bare", "campaign", "campaigns", "coverage", "demo-test", "ecp5", "full",
          "fuzz", "mutate-auto", "nightly", "opencl-cache", "sanitize", "sim", "synth", "test-logs", "tsan", "verify",
          "vitis"}
SHELL = ("sh", "-c", 'mkdir -p build/test-logs && exec "$@" 2>&1', "sh")


def add_options(parser):
    parser.add_argument("--part", type=tiers.part_of, default=(0, 1), metavar="K/N",
                        help="only the Kth of N parts, as of scripts/test nightly")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="only steps of these names")
    parser.add_argument("--night", type=int, default=int(time.time() // 86400), metavar="N",
                        help="the night, from which random choices follow (today's)")


def chosen(opts):
    """Returns the steps to run, by name, those that build what they need, and the names of those that are left out.
    """
    k, n = opts.part
    all_steps = nightly.steps(str(opts.night))
    dealt = parts.parts(all_steps, n)
    wanted = [s for p in (dealt[k - 1:k] if k else dealt) for s in p
              if not opts.only or any(fnmatch.fnmatchcase(s.name, glob) for glob in opts.only)]
    if opts.only and not wanted:
        raise Usage(f"--only {opts.only[0]}: no step of these parts has such a name; scripts/test nightly --list "
                    "prints them")
    steps = {s.name: s for s in wanted if not s.here}
    builders = [s for s in parts.with_builders(steps, all_steps) if not parts.is_test(s)]
    return steps, builders, [s.name for s in wanted if s.here]


def files(build):
    """Returns all files that a test may read: those that git tracks or would, and what was built."""
    names = tree.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], "archive").split("\0")
    found = {name: ROOT / name for name in names if name and (ROOT / name).is_file()}
    for folder, folders, here in os.walk(build):
        folders[:] = [f for f in folders if f not in OF_BUILD and (folder != str(build) or f not in UNREAD)]
        for name in here:
            path = os.path.join(folder, name)
            place = os.path.relpath(path, build)
            if os.path.isfile(path) and (place.startswith("lib/") or not name.endswith((".o", ".a", ".ninja"))):
                found[f"build/{place}"] = build / place
    return found


def plan(opts, build):
    if build != BUILD:
        raise Usage(f"the nightly tier runs on {BUILD}: it goes without --build")
    steps, builders, left_out = chosen(opts)
    if left_out:
        print(f"campaign: {len(left_out)} steps build something or need this machine; scripts/test nightly runs them: "
              f"{' '.join(left_out)}", flush=True)
    if opts.build_first and steps and schedule.run(builders, opts.jobs):
        raise Cannot("the nightly tier could not be built: see above")
    tasks = [Task(s.name, (*SHELL, *s.argv), s.cost, (), tuple(s.env.items()), (f"build/test-logs/{s.name}.xml",),
                  str(ROOT), tuple(s.argv)) for s in steps.values()]
    kept = parts.Kept(BUILD / "nightly" / parts.state_of_tree())

    def keep(task, result, _):
        kept.keep(steps[task.name], Counted(result["passed"], result["failed"], note=result["note"]), result["seconds"])

    return Plan("nightly", {"night": opts.night, "part": "/".join(map(str, opts.part)), "only": opts.only}, tasks,
                files(build), "processor seconds", lambda task, output: read(steps[task.name], output), total,
                kept=keep, shared=False)


def read(step, output):
    """Counts a step's output as scripts/test does, and keeps its log where scripts/test does."""
    try:
        LOGS.mkdir(parents=True, exist_ok=True)
        step.log.write_text(output.out)
        for name, data in output.files.items():
            (ROOT / name).write_bytes(data)
        found = step.count(output.out, output.status)
    except OSError as e:
        raise Cannot(f"{e.filename}: {e.strerror}; the results before are kept, and the same command goes on") from e
    except ValueError as e:
        raise Wrong(f"its output cannot be counted: {e}") from e
    said = "\n".join(output.out.rstrip().splitlines()[-20:]) if found.failed else ""
    return {"step": step.title, "passed": found.passed, "failed": found.failed, "note": found.note, "said": said,
            "seconds": output.seconds}


def total(results):
    failed = [(name, f) for name, r in sorted(results.items()) for f in r["failed"]]
    lines = [f"failed: {name}: {f}; its log is {os.path.relpath(LOGS / name)}.log" for name, f in failed]
    lines += [f"{name}: {r['note']}" for name, r in sorted(results.items()) if r["note"]]
    lines.append(f"{sum(r['passed'] for r in results.values())} passed, {len(failed)} failed")
    rows = [(name, r["step"], r["passed"], len(r["failed"]), r["seconds"] / 60, r["note"])
            for name, r in sorted(results.items())]
    tables = [("Steps", ("step", "what", "passed", "failed", "minutes", "note"), rows),
              ("Tests that failed", ("step", "test", "text"),
               [(name, f, results[name]["said"]) for name, f in failed])]
    return Total(lines, tables, 1 if failed else 0)
