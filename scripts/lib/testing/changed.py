# SPDX-License-Identifier: Apache-2.0
"""Chooses the steps of a test run that a change can break.

changed.yaml has rows for folders and files. For a changed file the row with the longest matching path decides. The
items of a row:

  NAME                         a step of the default tier, or else a suite or a step of full
  FOLDER: PATTERN              tests by ctest, on the model
  sanitize FOLDER: PATTERN     the same under the sanitizers
  small FOLDER: PATTERN        the same on the small RTL
  benches                      the unit benches of the RTL that contain a changed file
  lint                         the lint of the changed modules
  mutants                      the seeded bugs without a record
  itself                       the tests in a changed file of tests/FOLDER; all of the folder, if others include it
"""
import dataclasses
import functools
import pathlib
import re
import subprocess
import sys

import yaml

import rtl_files
from testing import suites
from testing.steps import BUILD, ROOT, ctest, lines, Step

sys.path.insert(0, str(ROOT / "tests/rtl"))
import bench as unit  # noqa: E402

TABLE = pathlib.Path(__file__).with_name("changed.yaml")
# Benches of other geometries than the small device's, which runs the same bench: two thirds of the time of all.
OTHER_GEOMETRY = ("simt_executor_wide", "simt_executor_tiny", "simt_executor", "simt_lsu_32", "simt_lsu", "simt_lsu_4")


class Bad(Exception):
    """The commit or the table cannot be used; the text is one sentence."""


def files_since(rev):
    """Returns the names of the files that differ from the commit, with new and deleted ones."""
    known = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}"], cwd=ROOT, check=False,
                           stdout=subprocess.PIPE)
    if known.returncode:
        raise Bad(f"'{rev}' is no commit of this tree; see git log")
    out = b"".join(subprocess.run(["git", *words], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout for words in (
        ("diff", "--name-only", "--no-renames", "-z", known.stdout.decode().strip()),
        ("ls-files", "-o", "--exclude-standard", "-z")))
    return sorted({f.decode() for f in out.split(b"\0") if f})


@functools.cache
def table():
    """Returns the rows of changed.yaml as {path: [item]}."""
    rows = yaml.safe_load(TABLE.read_text())
    return {row["path"]: row["run"] for row in rows}


def items_for(file, rows):
    """Returns the items of a file's row. A file without a row is an error, so that a new folder gets one."""
    paths = [p for p in rows if file == p or p.endswith("/") and file.startswith(p)]
    if not paths:
        raise Bad(f"{TABLE.relative_to(ROOT)} has no row for {file}: add one")
    return rows[max(paths, key=len)]


def itself(file):
    """Returns the item of the tests in a file of tests/FOLDER, by the names that CMake gives them."""
    folder, stem = pathlib.Path(file).parts[1], pathlib.Path(file).stem
    test = re.fullmatch(r"test_(\w+)|(\w+)_test|((?:api|app|run|unit)_\w+)", stem)
    if not test:
        return f"{folder}: ."
    return f"{folder}: ^{folder}(_tiny)?\\.{next(filter(None, test.groups()))}(\\.|_preempted|$)"


@functools.cache
def read_by_benches():
    """Returns {name: files of the bench} of all unit benches."""
    return {name: unit.files(name) for name in unit.names()}


def of_benches(files):
    """Returns the unit benches that read one of these files, those of other geometries only if their list of files or
    their checks have changed."""
    every = {"tests/rtl/run", "tests/rtl/bench.py", "tests/rtl/runtime.mk", "tests/lib/jobs.py"} & set(files)
    return [name for name, read in read_by_benches().items()
            if {f"tests/rtl/{unit.folder_of(name)}/bench.{kind}" for kind in ("f", "checks")} & set(files)
            or name not in OTHER_GEOMETRY and (every or set(files) & set(read))]


def steps_for(files):
    """Returns the steps of a run for the names of the changed files."""
    rows = table()
    items = {}
    for file in files:
        for item in items_for(file, rows):
            items.setdefault(itself(file) if item == "itself" else item, None)
    known = {s.name: s for s in suites.steps_of(suites.DEFAULT, False)}
    of_full = {s.name: s for s in suites.steps_of(suites.SUITES, True)}
    chosen, patterns = {}, {}
    for item in items:
        where, _, pattern = item.partition(": ")
        if pattern:
            patterns.setdefault(where, []).append(pattern)
        elif item == "benches":
            names = of_benches(files)
            if names:
                chosen["rtl"] = Step("rtl", f"unit benches of the RTL: {' '.join(names)}",
                                     ["tests/rtl/run", "--new", "-j", "{jobs}", *names], lines, cost=10 * len(names),
                                     suite="rtl")
        elif item == "lint":
            _, modules = rtl_files.sources()
            names = sorted(m for m, f in modules.items() if str(f) in files)
            if any(f.startswith("rtl/") and pathlib.Path(f).stem not in modules for f in files):
                names = []  # a package, a waiver, or a deleted file: all modules
            chosen["lint-rtl"] = dataclasses.replace(known["lint-rtl"], argv=["scripts/lint-rtl", *names], cost=20)
        elif item == "mutants":
            chosen[item] = suites.new_mutants()
        elif item in known:
            chosen[item] = known[item]
        elif item in suites.SUITES:
            chosen |= {s.name: s for s in suites.steps_of([item], True)}
        elif item in of_full:
            chosen[item] = of_full[item]
        else:
            raise Bad(f"{TABLE.relative_to(ROOT)}: there is no step '{item}'; scripts/test full --list prints all")
    for where, found in patterns.items():
        step = of_pattern(where, "|".join(dict.fromkeys(found)))
        chosen[step.name] = step
    return narrowed(suites.with_needs(chosen, False)) if chosen else []


# The targets of ninja for tests of a folder, and for a step. Others need all the software and its tests.
TARGETS = {**{folder: [*suites.LIBRARIES, f"tests/{folder}/all"] for folder in ("driver", "compiler", "opencl", "sim",
                                                                              "verify")},
           **{name: [*suites.LIBRARIES, "tests/bench/all"] for name in ("bench", "bench-preempt")},
           "verify-small": [*suites.LIBRARIES, "tests/verify/tool/all"], "fuzz": ["fuzz"]}


def targets_for(builder, steps):
    """Returns the targets that these steps need of a tree, which the step `builder` builds; none: all."""
    found = set()
    for s in steps:
        if builder in s.needs:
            wanted = TARGETS.get(s.name) or TARGETS.get(s.name.partition("-")[2])
            if not wanted:
                return []
            found |= set(wanted)
    return sorted(found)


def narrowed(steps):
    """Limits the build of each tree to the targets that these steps need: linking all tests takes longer than most
    tests."""
    wanted = {name: targets_for(name, steps) for name in ("build-software", "build-sanitize")}
    return [dataclasses.replace(s, argv=s.argv[:s.argv.index("{jobs}") + 1] + wanted[s.name])
            if wanted.get(s.name) else s for s in steps]


def of_pattern(where, pattern):
    """Returns a step of ctest for the item `WHERE: PATTERN` of the table. The step ends at its first failure, because a
    fault may make many tests hang until their timeout."""
    kind, _, folder = where.rpartition(" ")
    select = ["--stop-on-failure", "-LE", "^(rtl|whole)", "-R", pattern]
    if kind == "":
        needs = {"board": suites.BOARD, "scripts": ("build-configure",)}.get(folder, ("build-software",))
        return ctest(f"c-{folder}", f"tests of {folder}", BUILD / "tests" / folder, select, env=suites.MODEL,
                     needs=needs, suite="c")
    if kind == "sanitize":
        return ctest(f"sanitize-{folder}", f"tests of {folder} with sanitizers", suites.SANITIZE / "tests" / folder,
                     select, env=suites.WATCHED, needs=("build-sanitize",), suite="sanitize")
    if kind == "small":
        return ctest(f"small-{folder}", f"tests of {folder} on the small RTL", BUILD / "tests" / folder,
                     ["--stop-on-failure", "-R", pattern], env={**suites.RTL, "TERN_CONFIG": "small"},
                     needs=("build-software", "build-small"), suite="opencl")
    raise Bad(f"{TABLE.relative_to(ROOT)}: '{where}' is no kind of tests")
