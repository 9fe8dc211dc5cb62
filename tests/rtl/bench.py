# SPDX-License-Identifier: Apache-2.0
"""Reads, builds and runs a bench of tests/rtl and its mutants, and decides whether they pass. The hash of each recorded
result includes this file, so code that does not affect results is in tests/rtl/run.
"""
import fcntl
import hashlib
import inspect
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in "tests/lib", "tests/formal", "scripts/lib":
    sys.path.insert(0, str(ROOT / folder))
import jobs  # noqa: E402
import prover  # noqa: E402
import record  # noqa: E402
import rtl_files  # noqa: E402

# Compilation takes most of the time. Three things reduce it: clang instead of gcc; few large files instead of many that
# include the same headers; and Verilator's runtime and headers, compiled once for all benches (runtime.mk). A large
# bench that runs only for seconds has -CFLAGS -O0 in its bench.f. CFG_CXXFLAGS_COROUTINES is set because its default is
# -fcoroutines, an option of gcc.
# -fno-life: in Verilator 5.006 this optimization loses an assignment before a delay in a loop. A variable that is
# constant before the loop then has that value after the loop as well, and tests of it there are removed.
REPORT = "tests/rtl/lib/report.sv"
CORRECT = ["-fno-life", REPORT]
VERILATOR = ["verilator", "--binary", "--timing", "--assert", "-O3", "-Wall", "-Wno-fatal", "-y", "rtl/check", "-j",
             "1", "--output-split", "200000", "--output-split-cfuncs", "2000", "-LDFLAGS", "-lm", "-o", "tb",
             "--top-module", "tb", "-MAKEFLAGS", "VM_GLOBAL_FAST= VM_GLOBAL_SLOW=", *CORRECT]
COMPILER = ["CXX=clang++-19", "CFG_CXXFLAGS_COROUTINES=-std=c++20", "OPT_GLOBAL=-O1"]
RUNTIME = ROOT / "build/tests/rtl/runtime"
# -frounding-math: references call fesetround
CC = ["cc", "-std=c17", "-O2", "-g", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-frounding-math", "-c"]
INCLUDES = re.compile(r'^\s*[#`]\s*include\s+"([^"]+)"', re.M)
INSTANCE = re.compile(r"\b(\w+)\s+(?:#|`|\w+\s*\()")
COMPARED = re.compile(r"^PASS (\d+) compared$", re.M)
NOTICED = re.compile(r"^ERROR |^%Error: tests/rtl/\S+:\d+: Verilog \$stop", re.M)


class BadBench(Exception):
    """bench.f, bench.checks or one of the mutants cannot be used."""


def listings():
    """Returns {bench: (folder, words)} of all benches and their variants, sorted. The words are those of bench.f; a
    variant's -GNAME=VALUE or -DNAME=VALUE replaces that of the bench."""
    found = {}
    for path in (ROOT / "tests/rtl").glob("*/bench.f"):
        folder, own, variants = path.parent.name, [], []
        for line in re.sub(r"(^|\s)(//|#).*", "", path.read_text(), flags=re.M).splitlines():
            listed = shlex.split(line)
            if listed[:1] == ["variant"]:
                variants.append(listed[1:])
            else:
                own += listed
        for name, *more in [[folder], *variants]:
            if name in found:
                raise BadBench(f"two benches have the name {name}")
            replaced = {w.partition("=")[0] for w in more if w.startswith(("-G", "-D"))}
            found[name] = folder, [w for w in own if w.partition("=")[0] not in replaced] + more
    return dict(sorted(found.items()))


def names():
    return list(listings())


def folder_of(name):
    """Returns the folder of a bench, which its variants share."""
    return listings()[name][0]


def words(name):
    """Returns the words of a bench for Verilator and the compiler."""
    return listings()[name][1]


def checks(name):
    """Returns what bench.checks says of a bench as {"compares": N, "rule": [(rule, plusarg)], "mutant": {name: (path,
    sed)}}."""
    found = {"compares": 0, "rule": [], "mutant": {}}
    try:
        text = (ROOT / "tests/rtl" / folder_of(name) / "bench.checks").read_text()
    except OSError as e:
        raise BadBench(f"bench.checks: {e.strerror}; see tests/rtl/run --help") from e
    known, subject = listings(), folder_of(name)
    for line in text.splitlines():
        key, _, rest = line.strip().partition(" ")
        if key == "variant":
            if rest not in known or known[rest][0] != folder_of(name):
                raise BadBench(f"bench.checks: bench.f has no variant '{rest}'")
            subject = rest
        elif subject != name:
            continue
        elif key == "compares" and rest.isdigit():
            found[key] = int(rest)
        elif key == "rule" and len(rest.split()) == 2:
            found[key].append(tuple(rest.split()))
        elif key == "mutant" and len(rest.split(None, 2)) == 3:
            mutant, path, sed = rest.split(None, 2)
            if mutant in found[key]:
                raise BadBench(f"bench.checks has two mutants {mutant}")
            found[key][mutant] = path, sed
        elif key and not key.startswith("#"):
            raise BadBench(f"bench.checks: '{line.strip()}' is no statement; see tests/rtl/run --help")
    if not found["compares"] or not found["mutant"]:
        raise BadBench(f"bench.checks needs 'compares N' and at least one mutant of {name}")
    return found


def included(files, folders):
    """Returns the files and all files that they include."""
    seen, todo = {}, list(files)
    while todo:
        file = todo.pop()
        if file not in seen:
            seen[file] = None
            for name in INCLUDES.findall((ROOT / file).read_text(errors="replace")):
                places = (os.path.normpath(os.path.join(d, name)) for d in (os.path.dirname(file), *folders, ""))
                todo += [p for p in places if (ROOT / p).is_file()][:1]
    return list(seen)


def files(name):
    """Returns all files of a bench, sorted: those named in bench.f, the modules that these instantiate, and all files
    in the folders of its own files."""
    named = [w for w in words(name) if w.endswith((".sv", ".v", ".c", ".vlt"))] + [REPORT]
    own = {os.path.dirname(f) for f in named if f.startswith("tests/rtl/")} | {f"tests/rtl/{folder_of(name)}"}
    own.discard("tests/rtl/lib")
    inside, (_, modules) = rtl_files.contents(), rtl_files.sources()
    texts = [re.sub(r'//.*|"[^"]*"', "", (ROOT / f).read_text())
             for f in included([f for f in named if f.endswith((".sv", ".v"))], [])]
    modules = {m: f for m, f in modules.items()  # without modules that the bench replaces
               if str(f) in named or not any(re.search(rf"\bmodule\s+{m}\b", text) for text in texts)}
    seen, todo = set(), {m for text in texts for m in INSTANCE.findall(text) if m in modules}
    while todo:
        module = todo.pop()
        if module not in seen:
            seen.add(module)
            todo |= set(inside[module]) & set(modules)
    found = set(named) | {str(modules[m]) for m in seen}
    found |= {str(p.relative_to(ROOT)) for d in own for p in (ROOT / d).rglob("*") if p.is_file()}
    folders = [w[2:] for w in words(name) if w.startswith("-I")]
    return sorted(included(sorted(found), folders))


def tools():
    """Returns what determines a result beside the bench: Verilator's version, and the code that builds, runs and
    decides. Raises BadBench if Verilator cannot be run."""
    try:
        version = subprocess.run(["verilator", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as e:
        raise BadBench(f"verilator cannot be run ({e}); scripts/setup test installs it") from e
    return [version, record.code(pathlib.Path(__file__)),
            *(record.python(inspect.getsource(f)) for f in (jobs.call, prover.mutate))]


def digest(name, mutant, tools_used):
    """Returns a hash of all that determines whether the bench passes, or, with a mutant, whether it catches the mutant;
    None if a file cannot be read. The hash of a bench has the least number of comparisons in the place of a mutant."""
    try:
        listed = checks(name)
        subject = listed["mutant"][mutant] if mutant else listed["compares"]
        rest = [f for f in files(name) if not f.endswith(("/bench.f", "/bench.checks"))]
        texts = [(f, record.code(ROOT / f)) for f in rest]
        parts = [tools_used, words(name), listed["rule"], subject, texts]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]
    except (BadBench, KeyError, OSError, ValueError):
        return None


def unknown(name, folder):
    """Returns files of the tree that Verilator has read and files() does not have: their changes would be missed."""
    listing = folder / "Vtb__ver.d"
    read = listing.read_text().partition(":")[2].split() if listing.exists() else []
    return [f for f in read if (ROOT / f).is_file() and not os.path.isabs(f) and f not in files(name)]


def runtime(optimization, compiler, log, timeout):
    """Builds Verilator's runtime and headers for all benches. Returns Verilator's arguments that use them, or None."""
    RUNTIME.mkdir(parents=True, exist_ok=True)
    root = subprocess.run(["verilator", "--getenv", "VERILATOR_ROOT"], capture_output=True, text=True, check=True)
    headers = f"{optimization[1:]}.pch"
    with (RUNTIME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the first bench builds it, the others wait
        if jobs.call(["make", "-s", "-C", str(RUNTIME), "-f", str(ROOT / "tests/rtl/runtime.mk"), "runtime.a", headers,
                      f"VERILATOR_ROOT={root.stdout.strip()}"] + compiler, ROOT, log, timeout) != 0:
            return None
    flags = f"{optimization} -include-pch {RUNTIME / headers}"
    return ["-MAKEFLAGS", " ".join(["-s", *compiler, f"OPT_FAST='{flags}' OPT_SLOW='{flags}'"]),
            "-MAKEFLAGS", f"LIBS={RUNTIME / 'runtime.a'}"]


def build(listed, folder, log, timeout):
    """Builds folder/tb from the words of a bench.f. C sources are compiled here because Verilator would treat them as
    C++."""
    objects = []
    flags = [w for w in listed if w.startswith(("-I", "-D"))]
    cache = [shutil.which("ccache")] if shutil.which("ccache") else []
    for source in (w for w in listed if w.endswith(".c")):
        objects.append(str(folder / (source.replace("/", "_") + ".o")))
        if jobs.call(cache + CC + flags + [source, "-o", objects[-1]], ROOT, log, timeout) != 0:
            return False
    compiler = COMPILER + [f"OBJCACHE={c}" for c in cache]
    shared = runtime("-O0" if "-O0" in listed else "-O1", compiler, log, timeout)
    if not shared:
        return False
    (folder / "tb").unlink(missing_ok=True)  # Verilator's makefile has no dependency on C objects and the runtime
    rest = [w for w in listed if not w.endswith(".c")]
    return jobs.call(VERILATOR + shared + ["--Mdir", str(folder)] + rest + objects, ROOT, log, timeout) == 0


def told(log, start):
    """Returns the text that was written to the log since offset `start`."""
    return pathlib.Path(log.name).read_bytes()[start:].decode(errors="replace")


def passed(code, text, least):
    """Returns whether a bench with this exit status and output has passed: one line PASS, of report.sv, with at least
    `least` comparisons, and no error before or after it."""
    found = COMPARED.findall(text)
    return code == 0 and len(found) == 1 and text.count("PASS") == 1 and int(found[0]) >= max(least, 1) and \
        not re.search(r"^ERROR |%Error", text, re.M)


def execute(name, tb, plusargs, rules, least, log, timeout):
    """Runs a bench. Returns (whether it passes and each rule stops it, whether the bench itself has reported an error).
    """
    start = log.tell()
    code = jobs.call([str(tb), *plusargs], ROOT, log, timeout)
    text = told(log, start)
    good, noticed = passed(code, text, least), code not in (0, -1) and bool(NOTICED.search(text))
    if code == 0 and not good:
        log.write(f"{name}: ended without a line 'PASS N compared', N at least {max(least, 1)}, or with an error\n")
    for rule, fault in rules if good else []:
        start = log.tell()
        code = jobs.call([str(tb), *plusargs, fault], ROOT, log, timeout)
        text = told(log, start)
        if code in (0, -1) or not re.search(rf"Assertion failed in \S+\.{re.escape(rule)}:", text):
            log.write(f"{name}: {rule} did not fail with {fault}\n")
            good, noticed = False, noticed or code != -1
    return good, noticed


def check(name, plusargs, timeout):
    """Builds and runs a bench; returns what jobs.run_all expects. Without plusargs the bench must make at least the
    comparisons of bench.checks."""
    folder = ROOT / "build/tests/rtl" / name
    folder.mkdir(parents=True, exist_ok=True)
    log, good = folder / "log", False
    with log.open("w") as out:
        try:
            listed = checks(name)
            if build(words(name), folder, out, timeout):
                if missing := unknown(name, folder):
                    raise BadBench("tests/rtl/bench.py does not know that it reads " + ", ".join(missing))
                good, _ = execute(name, folder / "tb", plusargs, listed["rule"], 0 if plusargs else listed["compares"],
                                  out, timeout)
        except (BadBench, OSError, ValueError) as bad:
            out.write(f"{name}: {bad}\n")
    seed = re.search(r"^seed (\d+)", log.read_text(errors="replace"), flags=re.M)
    again = [p for p in plusargs if not p.startswith("+seed=")] + ([f"+seed={seed[1]}"] if seed else [])
    return good, log, " ".join(["tests/rtl/run", name] + again)


def check_mutant(name, mutant, timeout):
    """Builds and runs a bench with a mutant; returns what jobs.run_all expects. The bench must build and report an
    error itself. Only the log and the changed file are kept."""
    folder = ROOT / "build/tests/rtl" / name / "mutants" / mutant
    objects = folder / "objects"
    objects.mkdir(parents=True, exist_ok=True)
    log, caught = folder / "log", False
    with log.open("w") as out:
        try:
            listed = checks(name)
            path, sed = listed["mutant"][mutant]
            copy = folder / pathlib.Path(path).name
            copy.write_text(prover.mutate(path, sed))
            if path not in files(name):
                raise BadBench(f"{path} is no file of the bench")
            used = words(name)
            used = [str(copy) if w == path else w for w in used] + ([] if path in used else [str(copy)])
            if not build([*used, "-CFLAGS", "-O0"], objects, out, timeout):
                raise BadBench("it cannot be built")
            good, caught = execute(name, objects / "tb", [], listed["rule"], listed["compares"], out, timeout)
            if not caught:
                out.write(f"{name}: mutant {mutant} " + ("was not noticed\n" if good else
                          "ended the bench by something else than what the bench says itself\n"))
        except (BadBench, prover.BadProof, OSError, ValueError, KeyError) as bad:
            out.write(f"{name}: mutant {mutant}: {bad}\n")
    shutil.rmtree(objects, ignore_errors=True)
    return caught, log, f"tests/rtl/run {name}:{mutant}"
