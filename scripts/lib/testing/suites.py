# SPDX-License-Identifier: Apache-2.0
"""The suites of scripts/test and the steps of each: those of the default tier, and all of them, which is `full`.

A suite is a function that takes whether all is wanted, and returns its steps. The work of a step is fixed: seeds and
counts are numbers here, and no step fills the time there is. Costs are processor seconds on a core that simulates
190,000 cycles of the small device a second.
"""
import dataclasses

from testing.steps import BUILD, ROOT, Step, ctest, lines, lines_or_skipped, whole, whole_or_skipped

MODEL = {"TERN_BACKEND": "model"}
RTL = {"TERN_BACKEND": "rtl"}
VERIFY = [str(BUILD / "lib/tern/tern-verify"), "--jobs", "{jobs}", "--output", str(BUILD / "verify")]
SANITIZE, TSAN = BUILD / "sanitize", BUILD / "tsan"
# The software: all but the Verilated devices, each of which is a step of its own.
LIBRARIES = ["sim/model/all", "driver/all", "runtime/all", "runtime/cli/all"]
SOFTWARE = [*LIBRARIES, "sim/xrt/all", "tests/all"]


def ninja(name, title, tree, targets, needs, cost):
    return Step(name, title, ["ninja", "-C", str(tree), "-j", "{jobs}", *targets], whole, needs, (f"ninja {tree}",),
                cost, suite="build")


def device(name, cost, needs=("build-configure",)):
    """The step that Verilates and compiles a device."""
    return ninja(f"build-{name}", f"build the device {name}", BUILD, [f"tern_sim_rtl_{name}"], needs, cost)


def beside(step, n):
    """The step with n processes at a time, however many cores there are: for tests that sleep."""
    return dataclasses.replace(step, argv=[str(n) if a == "{jobs}" else a for a in step.argv])


def build(_):
    return [
        Step("build-configure", "configure the build",
             ["cmake", "-S", str(ROOT), "-B", str(BUILD), "-G", "Ninja", "-DBUILD_TESTING=ON"], whole, cost=5),
        ninja("build-software", "build the software and its tests", BUILD, SOFTWARE, ("build-configure",), 120),
        device("small", 50), device("default", 80), device("tiny", 40), device("shell", 20),
        ninja("build-board", "build the simulated boards", BUILD, ["tern_board"], ("build-configure",), 60),
    ]


def static(full):
    unrecorded = [] if full else ["--new"]
    return [
        Step("specgen", "generated files match docs/spec", ["scripts/specgen", "--check"], whole, cost=1),
        Step("layers", "layers and manner", ["scripts/check-layers"], whole, cost=1),
        Step("version", "all places give the same version", ["scripts/check-version"], whole, cost=1),
        Step("lint-rtl", "the RTL lints and elaborates" + ("" if full else ": what is not recorded"),
             ["scripts/lint-rtl", *unrecorded], whole, cost=134 if full else 3),
        Step("ecp5-pins", "the board's pins are those of its constraints", ["scripts/ecp5", "--until", "pins"], whole,
             cost=1),
        Step("synth", "size and depth of the RTL: within 2 % of the baseline, no stage over its limit",
             ["scripts/synth", "--check", "--jobs", "{jobs}"], whole, cost=11),
    ]


# Folders of tests that ctest runs on the model, beside each other: processor seconds of each.
ON_MODEL = {"driver": 120, "opencl": 90, "ternd": 110, "compiler": 20, "sim": 20, "verify": 15, "cli": 15,
            "scripts": 20, "isa": 2, "bench": 30}
DEVICES = ("build-small", "build-default", "build-tiny", "build-shell")
BOARD = ("build-software", "build-board", "build-tiny")


def c(full):
    left_out = f"^(rtl.*|xrt{'' if full else '|full'})$"
    needs = ("build-software", *DEVICES, "build-board") if full else ("build-software",)  # cli.install has all of it
    steps = [ctest(f"c-{folder}", f"C tests on the functional model: {folder}", BUILD / "tests" / folder,
                   ["-LE", left_out], env=MODEL, needs=needs, cost=cost)
             for folder, cost in ON_MODEL.items()]
    steps = [beside(s, 3) if s.name == "c-ternd" else s for s in steps]  # some wait for the end of a silent link
    steps.append(ctest("c-docs", "the documents: links and site" + (", commands of tutorials" if full else ""),
                       BUILD / "tests/docs", ["-LE", left_out], needs=(*needs, "site") if full else needs,
                       cost=120 if full else 15))
    if full:
        steps.append(ctest("c-board", "the backend of boards on simulated ones", BUILD / "tests/board",
                           ["-LE", left_out], env=MODEL, needs=BOARD, cost=20))
        steps.append(Step("site", "the site of the documents, with what it needs from PyPI", ["scripts/site"], whole,
                          cost=20))
        steps.append(Step("foreign", "an OpenCL program of Debian ends right though its device moves",
                          ["/usr/bin/python3", "tests/ternd/test_foreign.py",
                           *(str(BUILD / x) for x in ("bin/ternd", "bin/tern", "tests/ternd_soak_client", "tern.icd",
                                                      "tests/ternd_move_client"))], whole_or_skipped,
                          ("build-software",), cost=20))
        steps.append(Step("campaign", "campaigns: workers and clients that die, other versions, full disks",
                          ["/usr/bin/python3", "tests/scripts/test_campaign_dask.py", str(BUILD)], whole_or_skipped,
                          ("build-software",), cost=15))
    return steps



def rtl(full):
    if full:
        return [Step("rtl", "unit benches of the RTL and their mutants", ["tests/rtl/run", "-j", "{jobs}"], lines,
                     cost=900)]
    return [Step("rtl", "unit benches of the RTL and their mutants: what is not recorded",
                 ["tests/rtl/run", "--new", "-j", "{jobs}"], lines, cost=2)]


def formal(full):
    if not full:
        return [Step("formal", "proofs and their mutants: what is not recorded",
                     ["tests/formal/run", "--new", "-j", "{jobs}"], lines, cost=5)]
    return [Step("formal", "proofs and their mutants", ["tests/formal/run", "-j", "{jobs}"], lines, cost=500)]


def opencl(full):
    """Programs and drivers on the simulated hardware."""
    short = [] if full else ["-LE", "^long$"]
    steps = [ctest("opencl-rtl-small", "OpenCL programs on the RTL, small device", BUILD / "tests/opencl",
                   ["-R", r"^opencl\.", *short], env={**RTL, "TERN_CONFIG": "small"},
                   needs=("build-software", "build-small"), cost=186 if full else 30)]
    if not full:
        return steps
    devices = ("build-software", *DEVICES)
    return [
        *steps,  # These run the tests that choose the small device themselves.
        ctest("opencl-rtl-default", "OpenCL programs on the RTL, default device", BUILD / "tests/opencl",
              ["-R", r"^opencl\.", "-E", r"_preempted$|^opencl\.executor_"],
              env={**RTL, "TERN_CONFIG": "default"}, needs=devices, cost=168),
        ctest("opencl-rtl-tiny", "OpenCL programs on the RTL, tiny device", BUILD / "tests/opencl",
              ["-R", r"^opencl_tiny\.(api_kernels|run_(memory|events|barriers|random|svm))$"], env=RTL, needs=devices,
              cost=30),
        *(ctest(f"device-rtl-{folder}", f"device and driver tests on the RTL: {folder}", BUILD / "tests" / folder,
                ["-L", "^rtl$"], env=RTL, needs=devices + BOARD, cost=cost)
          for folder, cost in {"driver": 250, "sim": 150, "ternd": 40, "cli": 30, "scripts": 60, "isa": 10,
                               "board": 40, "bench": 60}.items()),
    ]


def bench(full):
    needs = ("build-software", "build-default")
    return [Step("bench", "benches: results right, cycles as in the baseline",
                 ["tests/bench/check", str(BUILD / "bin/tern")], lines, needs, cost=70),
            Step("bench-preempt", "preemption: memory right, cycles as in the baseline and as promised",
                 ["tests/bench/check-preempt", str(BUILD / "bin/tern"), *([] if full else ["--short"])], lines, needs,
                 cost=95 if full else 35)]


def new_mutants():
    """The step of `changed` that runs the seeded bugs of co-verification which have no record; `full` runs all."""
    return Step("mutants", "seeded bugs of the RTL are caught: what is not recorded",
                ["tests/verify/caught", "--new", "-j", "{jobs}"], lines, ("build-software", "build-small"),
                (f"ninja {BUILD}",), 5, suite="verify")


def verify(full):
    small = ("build-software", "build-small")
    if not full:
        return [Step("verify-small", "co-verification of the small device, 200 seeds", [*VERIFY, "--seeds", "200"],
                     whole, small, cost=20)]
    checked = ["--geometry", "default", "--rtl", "rtl_checked"]
    with_checked, tiny = (*small, "build-checked"), ("build-software", "build-tiny")
    stops = [*VERIFY, "--kind", "preempt"]
    return [
        device("checked", 100),
        Step("verify-small", "co-verification of the small device, 2,000 seeds", [*VERIFY, "--seeds", "2000"], whole,
             small, cost=180),
        Step("verify-tiny", "co-verification of the tiny device", [*VERIFY, "--geometry", "tiny", "--seeds", "200"],
             whole, tiny, cost=20),
        Step("verify-default", "co-verification of the default device", [*VERIFY, *checked, "--seeds", "150"], whole,
             with_checked, cost=60),
        Step("verify-preempt", "kernels stopped at every 16th cycle and resumed: no bit differs",
             [*stops, "--every", "16", "--seeds", "2"], whole, small, cost=140),
        Step("verify-preempt-tiny", "kernels of the tiny device stopped at random and resumed: no bit differs",
             [*stops, "--geometry", "tiny", "--stop", "none", "--seeds", "2"], whole, tiny, cost=20),
        Step("verify-preempt-default", "kernels of the default device stopped at random and resumed: no bit differs",
             [*stops, *checked, "--stop", "none", "--seeds", "8"], whole, with_checked, cost=60),
        ninja("build-mutants", "build the small device with seeded bugs", BUILD, ["tern_sim_rtl_mutants"],
              ("build-configure",), 60),
        Step("mutants", "seeded bugs of the RTL are caught", ["tests/verify/caught", "-j", "{jobs}"], lines,
             (*small, "build-mutants"), cost=180),
    ]


def coverage(_):
    return [ninja("build-coverage", "build the small device with coverage", BUILD, ["tern_sim_rtl_coverage"],
                  ("build-configure",), 90),
            Step("coverage", "coverage of bins and pipeline events, 400 seeds",
                 ["scripts/coverage", "--check", "--", "--jobs", "{jobs}", "--seeds", "400"], whole,
                 ("build-software", "build-small", "build-coverage"), (f"ninja {BUILD}",), 200)]


def sanitizer_tree(tree, targets, cost):
    """The steps that build a tree of CMakePresets.json."""
    name = tree.name
    configured = Step(f"build-{name}-configure", f"configure the {name} tree", ["cmake", "--preset", name], whole,
                      cost=5, suite="build")
    return [configured, ninja(f"build-{name}", f"build the {name} tree", tree, targets, (configured.name,), cost)]


WATCHED = {**MODEL, "ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}


# The driver's and the runtime's own tests, on a model at rest: driver.X, and neither driver.X.async nor driver.X.tiny.
OWN = {"driver": (r"^driver\.[a-z_]+$", 300), "compiler": (".", 40), "opencl": (r"^opencl\.(unit|api)_", 20),
       "ternd": (r"^ternd\.(hostile|partitions)$", 20)}
OWN_TARGETS = ["opencl_own" if folder == "opencl" else f"tests/{folder}/all" for folder in OWN]


def sanitize(full):
    """Address and undefined-behaviour sanitizers; the same tree has the fuzzers."""
    steps = sanitizer_tree(SANITIZE, [*SOFTWARE, "fuzz"] if full else
                           [*LIBRARIES, "fuzz", *OWN_TARGETS], 250)
    if full:
        chosen = {folder: (["-LE", "^rtl"], 2 * cost) for folder, cost in {**ON_MODEL, "xrt": 20}.items()}
    else:
        short = ["-LE", "^(rtl.*|full|long)$"]
        chosen = {folder: ([*short, "-R", pattern], cost) for folder, (pattern, cost) in OWN.items()}
    return steps + [ctest(f"sanitize-{folder}", f"{folder} with address and undefined-behaviour sanitizers",
                          SANITIZE / "tests" / folder, select, env=WATCHED, needs=("build-sanitize",), cost=cost)
                    for folder, (select, cost) in chosen.items()]


THREADS = {
    "driver": r"^driver\.(completions|device|fault|app|kill|preempt|published|space|process_state|tdr|threads|"
              r"blocking)$",
    "opencl": r"^opencl\.(api|run|app)_",
    "ternd": r"^ternd\.(hostile|gone|soak|driver_(threads|concurrent_waits|completions)|"
             r"opencl_run_(events|threads|races|callbacks))$",
    "xrt": r"^xrt\.hal$",
}


def tsan(_):
    """What has threads: the driver on a device, and the OpenCL programs."""
    targets = [*LIBRARIES, *(f"tests/{folder}/all" for folder in THREADS)]
    return sanitizer_tree(TSAN, targets, 100) + [
        ctest(f"tsan-{folder}", f"{folder} with the thread sanitizer", TSAN / "tests" / folder, ["-R", pattern],
              env={**MODEL, "TSAN_OPTIONS": "second_deadlock_stack=1"}, needs=("build-tsan",), cost=80)
        for folder, pattern in THREADS.items()]


def fuzz(full):
    seconds = "30" if full else "0"
    return [Step("fuzz", "what reads foreign bytes: " + ("30 s a fuzzer" if full else "the corpus of each fuzzer"),
                 ["tests/fuzz/run", "-j", "{jobs}", "--seconds", seconds], lines, ("build-sanitize",),
                 (f"ninja {SANITIZE}",), 338 if full else 60)]


def attacks(_):
    return [Step("attacks", "protections of processes from each other, each removed: its test fails",
                 ["tests/attacks/run", "--tier", "quick", "-j", "{jobs}"], lines, cost=60)]


def bare(_):
    return [Step("bare", "a bare Debian builds Tern and runs a kernel", ["tests/scripts/bare-root"], whole_or_skipped,
                 cost=180),
            Step("packages", "Debian packages are made, install, work and go without a trace",
                 ["tests/package/in-bare-root"], whole_or_skipped, holds=("build/package",), cost=400)]


def cocotb(_):
    """Benches in Python, with cocotb of PyPI."""
    return [Step("cocotb", "benches of user executors in Python and their mutants",
                 ["tests/cocotb/run", "--install", "-j", "{jobs}"], lines, cost=70),
            Step("cocotb-new", "the bench in Python of a new executor, and its mutants",
                 ["/usr/bin/python3", "tests/scripts/test_executors.py", "--cocotb"], whole, ("cocotb",), cost=160)]


def clients(_):
    """Programs of others are installed from Debian and PyPI; the nightly tier runs all."""
    return [Step("clients", "OpenCL programs of others: those that are quick", ["tests/clients/run", "--quick"],
                 lines_or_skipped, ("build-software",), ("build/clients",), 60)]


def xrt(_):
    """XRT sleeps for 10 s when a card is opened in emulation: many tests at a time."""
    return [beside(ctest("xrt", "cards by XRT: one that is none, and XRT's emulation", BUILD / "tests/xrt",
                         ["-L", "^xrt$"], env=MODEL, needs=("build-software", "build-small", "build-default"),
                         cost=185), 6)]


AS_SYNTHESISED = {"sim": r"^sim\.(device|dirty|kernels|preempt)\.rtl_synthesis$",
                  "driver": r"^driver\.(device|space)\.rtl$",
                  "opencl": r"^opencl\.run_(basic|algorithms|memory)$"}


def synthesis(_):
    """The RTL as it goes into a card, whole: no clock is gated, and no memory is clear after power-on."""
    env = {**RTL, "TERN_CONFIG": "small", "TERN_LIB_DIR": str(BUILD / "lib/synthesis")}
    return [device("synthesis", 47)] + [
        ctest(f"synthesis-{folder}", f"the RTL as it is synthesised: {folder}", BUILD / "tests" / folder,
              ["-R", pattern], env=env, needs=("build-software", "build-synthesis"), cost=42)
        for folder, pattern in AS_SYNTHESISED.items()]


def ports(_, n=2):
    """A device with n memory ports."""
    name = f"ports{n}"
    env = {**RTL, "TERN_LIB_DIR": str(BUILD / "lib" / name)}
    needs = ("build-software", f"build-{name}", "build-small")
    return [device(name, 55)] + [
        ctest(f"{name}-{folder}", f"a device with {n} memory ports: {folder}", BUILD / "tests" / folder,
              ["-R", pattern], env=env, needs=needs, cost=50)
        for folder, pattern in {"sim": rf"^sim\.[a-z_]+\.rtl_{name}$", "driver": r"^driver\.(space|dirty_bits)\.rtl$"
                                }.items()] + [
        Step(f"verify-{name}", f"co-verification of the device with {n} memory ports",
             [*VERIFY, "--rtl", f"rtl_{name}", "--seeds", "300"], whole, needs, cost=30)]


SUITES = {s.__name__: s for s in (static, c, rtl, formal, opencl, bench, verify, sanitize, fuzz, tsan, xrt, synthesis,
                                  ports, attacks, bare, clients, cocotb, coverage)}
DEFAULT = ("static", "c", "rtl", "formal", "opencl", "bench", "verify", "sanitize", "fuzz")


def steps_of(names, full):
    """The steps of these suites, and those that build what they need; each once."""
    found = {}
    for name in names:
        for step in SUITES[name](full):
            step.suite = step.suite or name
            found[step.name] = step
    return with_needs(found, full)


def with_needs(found, full):
    """Adds the steps that build what these need."""
    builders = {s.name: s for suite in (build, sanitize) for s in suite(full)}
    missing = True
    while missing:
        missing = {n for s in found.values() for n in s.needs} - set(found)
        for n in sorted(missing):
            found[n] = builders[n]
            found[n].suite = found[n].suite or "build"
    return list(found.values())
