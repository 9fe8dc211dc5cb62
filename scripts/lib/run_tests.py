# SPDX-License-Identifier: Apache-2.0
"""The suites of scripts/test: what each runs, how its results are counted, and one line of progress per step."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import budget
import outcome

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "test-logs"
JOBS = os.environ.get("JOBS", str(os.cpu_count() or 1))


class Tally:
    """What all steps found. Suites may run side by side, each in a thread of its own with its share of the cores: jobs.
    """

    def __init__(self):
        self.passed, self.failures, self.lock, self.jobs = 0, [], threading.Lock(), JOBS
        self.said = {}       # what each failed test printed
        self.later = []      # second attempts to make: the log, the test's name, and how it is run
        self.unsteady = []   # tests that passed at the second attempt
        self.attempts = 2

    def say(self, mark, line):
        print(f"[{time.strftime('%H:%M:%S')}] {mark:6} {line}", flush=True)

    def step(self, title, log, argv, count, env=None, cwd=ROOT, suite=None):
        """Runs argv with its output in a log file; count(text, status) -> (passed, [names of failures]), or an
        outcome.Outcome. suite: what its failures are told of, if that is not the name of the log."""
        path = LOGS / f"{log}.log"
        with self.lock:
            self.say("begins", title)
        start = time.time()
        with open(path, "w") as out:
            child = subprocess.Popen(argv, cwd=cwd, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                     env={**os.environ, **(env or {})})
            _, status, used = os.wait4(child.pid, 0)
        status = child.returncode = os.waitstatus_to_exitcode(status)
        text = path.read_text(errors="replace")
        found = count(text, status)
        again, said = (found.again, found.said) if isinstance(found, outcome.Outcome) else ([], {})
        passed, failed = (found.passed, found.failed) if isinstance(found, outcome.Outcome) else found
        with self.lock:
            self.passed += passed
            self.failures += [f"{suite or log}: {f}" for f in failed]
            self.said |= {f"{suite or log}: {f}": said.get(f) or outcome.section(text, f) for f in failed}
            took, cpu = time.time() - start, used.ru_utime + used.ru_stime
            self.say("FAILED" if failed else "AGAIN" if again else "ok",
                     f"{title}: {passed} passed, {len(failed)} failed, " +
                     (f"{len(again)} to be tried again, " if again else "") + f"{took:.0f} s, {cpu:.0f} s of CPU")
            for f, most in [*((f, outcome.AT_ONCE) for f in failed if f in said), *((f, None) for f in again)]:
                print(f"         {f} printed:\n{outcome.last(said[f], most)}", flush=True)
            if failed:
                print(f"         last lines of {os.path.relpath(path, ROOT)}:\n{outcome.last(text, 25)}", flush=True)
        return not failed


def whole(text, status):
    """The command is one test."""
    return (1, []) if status == 0 else (0, [f"exit status {status}"])


def whole_or_skipped(text, status):
    """The command is one test, which ends with 77 and a reason where it cannot be run."""
    if status == 77:
        print("           " + (text.rstrip().split("\n")[-1] or "skipped without a reason"))
        return 0, []
    return whole(text, status)


def lines(text, status):
    """A line `PASS name` or `FAIL name` a test."""
    passed = len(re.findall(r"^PASS\b", text, re.M))
    failed = re.findall(r"^FAIL\s+(\S+)", text, re.M)
    if not failed and (status != 0 or passed == 0):
        failed = [f"exit status {status}, {passed} tests"]
    return passed, failed


def mutants(text, status):
    """The table of `tern verify --mutants`: a line a mutant."""
    caught = re.findall(r"^[\w-]+ +(?:program|stream|preempt) +\d+ ", text, re.M)
    missed = re.findall(r"^([\w-]+) +NOT CAUGHT", text, re.M)
    if not missed and (status != 0 or not caught):
        missed = [f"exit status {status}, {len(caught)} mutants caught"]
    return len(caught), missed


def configure_and_build(t, tree, *options):
    log = f"build-{tree.name}"
    return (t.step(f"configure {tree.name}", f"{log}-cmake",
                   ["cmake", "-S", ".", "-B", str(tree), "-G", "Ninja", "-DBUILD_TESTING=ON", *options], whole)
            and t.step(f"build {tree.name}", log, ["nice", "ninja", "-C", str(tree), "-j", t.jobs], whole))


def ctest(t, title, log, tree, pattern, env=None, jobs=None):
    """Tests of one tree are not run twice at a time: ctest keeps its notes in the tree, or in the part of it."""
    result = LOGS / f"{log}.xml"

    def count(text, status):
        may = outcome.of_host(tree) if t.attempts > 1 else ()
        found = outcome.Outcome(result, text, status, lambda name: name not in may)
        t.later += [(log, name, tree, env) for name in found.again]
        return found

    result.unlink(missing_ok=True)
    t.step(title, log, ["ctest", "--test-dir", str(tree), "-j", jobs or t.jobs, "--output-on-failure", "--output-junit",
                        str(result), *pattern], count, env)


def second_attempts(t):
    """Of tests with the label that failed, one each, when nothing else runs."""
    for log, name, tree, env in t.later:
        result = LOGS / f"{log}.again.xml"
        result.unlink(missing_ok=True)

        def count(text, status, result=result):
            return outcome.Outcome(result, text, status, lambda _: True)

        if t.step(f"{log}: {name}, which failed, once more and alone", f"{log}.again.{name}",
                  ["ctest", "--test-dir", str(tree), "--output-on-failure", "--output-junit", str(result), "-R",
                   outcome.exactly(name)], count, env, suite=log):
            t.unsteady.append(f"{log}: {name}")
            print(f"unsteady: {log}: {name} failed once and passed at the second attempt", flush=True)
    t.later = []


def static(t):
    t.step("generated files match docs/spec", "specgen", ["scripts/specgen", "--check"], whole)
    t.step("layers and manner", "layers", ["scripts/check-layers"], whole)
    t.step("RTL lints and elaborates", "lint-rtl", ["scripts/lint-rtl"], whole)
    t.step("the board's pins are those of its constraints", "ecp5-pins", ["scripts/ecp5", "--until", "pins"], whole)


def c(t):
    ctest(t, "C tests on the functional model", "c", BUILD, ["-LE", "^(rtl.*|xrt)$"], {"TERN_BACKEND": "model"})
    t.step("an OpenCL program of Debian ends right though its device moves", "foreign",
           ["/usr/bin/python3", "tests/ternd/test_foreign.py",
            *(str(BUILD / x) for x in ("bin/ternd", "bin/tern", "tests/ternd_soak_client", "tern.icd",
                                       "tests/ternd_move_client"))], whole_or_skipped)


def xrt(t):
    """XRT sleeps for 10 s when a card is opened in emulation: many tests at a time."""
    ctest(t, "cards by XRT: one that is none, and XRT's emulation", "xrt", BUILD / "tests/xrt", ["-L", "^xrt$"],
          {"TERN_BACKEND": "model"}, jobs="6")


def sanitize(t):
    tree = BUILD / "sanitize"
    if configure_and_build(t, tree, "-DTERN_SANITIZE=address,undefined", "-DTERN_RTL=OFF"):
        ctest(t, "C tests with address and undefined-behaviour sanitizers", "sanitize", tree, ["-LE", "rtl"],
              {"TERN_BACKEND": "model", "ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"})


def fuzz(t):
    t.step("what reads foreign bytes, 30 s a fuzzer", "fuzz", ["tests/fuzz/run", "-j", t.jobs, "--seconds", "30"],
           lines)


def attacks(t):
    t.step("protections of processes from each other, each removed: its test fails", "attacks",
           ["tests/attacks/run", "--tier", "quick", "-j", t.jobs], lines)


def bare(t):
    t.step("a bare Debian builds Tern and runs a kernel", "bare", ["tests/scripts/bare-root"], whole_or_skipped,
           {"JOBS": t.jobs})


THREADS = (r"^driver\.(completions|device|fault|app|kill|preempt|published|space|survey|tdr|threads|wait)$|"
           r"^opencl\.(api|run|app)_|"
           r"^ternd\.(hostile|gone|soak|driver_(threads|waits|completions)|"
           r"opencl_run_(events|threads|races|callbacks))$|^xrt\.hal$")


def tsan(t):
    """What has threads: the driver on a device, and the OpenCL programs."""
    tree = BUILD / "tsan"
    if configure_and_build(t, tree, "-DTERN_SANITIZE=thread", "-DTERN_RTL=OFF"):
        ctest(t, "driver and OpenCL programs with the thread sanitizer", "tsan", tree, ["-R", THREADS],
              {"TERN_BACKEND": "model", "TSAN_OPTIONS": "second_deadlock_stack=1"})


def rtl(t):
    t.step("RTL unit benches", "rtl", ["tests/rtl/run", "-j", t.jobs], lines)


def formal(t):
    t.step("proofs and their mutants", "formal", ["tests/formal/run", "-j", t.jobs], lines)


def opencl(t):
    ctest(t, "device and driver tests on the RTL", "device-rtl", BUILD, ["-L", "^rtl$"], {"TERN_BACKEND": "rtl"})
    for config in ("small", "default"):
        ctest(t, f"OpenCL programs on the RTL, {config} device", f"opencl-rtl-{config}", BUILD, ["-R", r"^opencl\."],
              {"TERN_BACKEND": "rtl", "TERN_CONFIG": config})
    ctest(t, "OpenCL programs on the RTL, tiny device", "opencl-rtl-tiny", BUILD,
          ["-R", r"^opencl_tiny\.(api_kernels|run_(memory|events|barriers|random|svm))$"], {"TERN_BACKEND": "rtl"})


AS_SYNTHESISED = (r"^sim\.(device|kernels|preempt)\.rtl_synthesis$|^driver\.(device|space)\.rtl$|"
                  r"^opencl\.run_(basic|algorithms|memory)$")


def synthesis(t):
    """The RTL as it goes into a card, whole: how large and how deep it is; no clock is gated, and no memory is clear
    after power-on."""
    t.step("size and depth of the RTL: within 2 % of the baseline, no stage over its limit", "synth",
           ["scripts/synth", "--check", "--jobs", t.jobs], whole)
    if t.step("build the device as it is synthesised", "build-synthesis",
              ["nice", "ninja", "-C", str(BUILD), "-j", t.jobs, "tern_sim_rtl_synthesis"], whole):
        ctest(t, "driver and OpenCL programs on the RTL as it is synthesised", "synthesis", BUILD,
              ["-R", AS_SYNTHESISED],
              {"TERN_BACKEND": "rtl", "TERN_CONFIG": "small", "TERN_LIB_DIR": str(BUILD / "lib/synthesis")})


def ports(t, n=2):
    """A device with n memory ports."""
    device = f"ports{n}"
    if t.step(f"build the device with {n} memory ports", f"build-{device}",
              ["nice", "ninja", "-C", str(BUILD), "-j", t.jobs, f"tern_sim_rtl_{device}"], whole):
        ctest(t, f"device and driver tests on {n} memory ports; their bandwidth", device, BUILD,
              ["-R", rf"^sim\.[a-z_]+\.rtl_{device}$|^driver\.(space|stamps)\.rtl$"],
              {"TERN_BACKEND": "rtl", "TERN_LIB_DIR": str(BUILD / "lib" / device)})
        t.step(f"co-verification of the device with {n} memory ports", f"verify-{device}",
               [*VERIFY, "--rtl", f"rtl_{device}", "--seeds", "300"], whole)


def bench(t):
    t.step("benches: results right, cycles as in the baseline", "bench",
           ["tests/bench/check", str(BUILD / "bin/tern")], lines)
    t.step("preemption: memory right, cycles as in the baseline and as promised", "bench-preempt",
           ["tests/bench/check-preempt", str(BUILD / "bin/tern")], lines)


VERIFY = [str(BUILD / "lib/tern/tern-verify"), "--jobs", JOBS, "--output", str(BUILD / "verify")]
BUDGET = budget.Budget(time.time)


def share(*steps):
    """How many cases each of the steps gets, as text."""
    numbers, line = BUDGET.share(*steps)
    print(f"[{time.strftime('%H:%M:%S')}] {line}", flush=True)
    return {name: str(n) for name, n in numbers.items()}


def verify(t):
    n = share(*budget.STEPS)
    every = str(budget.every(int(n["preempt"])))
    t.step("co-verification of the small device", "verify-small", [*VERIFY, "--seeds", n["small"]], whole)
    t.step("co-verification of the tiny device", "verify-tiny", [*VERIFY, "--geometry", "tiny", "--seeds", "200"],
           whole)
    t.step("kernels of the tiny device stopped at random and resumed: no bit differs", "verify-preempt-tiny",
           [*VERIFY, "--kind", "preempt", "--geometry", "tiny", "--stop", "none", "--seeds", "2"], whole)
    checked = ["--geometry", "default", "--rtl", "rtl_checked"]
    t.step("build the default device with assertions", "build-checked",
           ["nice", "ninja", "-C", str(BUILD), "-j", t.jobs, "tern_sim_rtl_checked"], whole)
    t.step("co-verification of the default device", "verify-default", [*VERIFY, *checked, "--seeds", n["default"]],
           whole)
    t.step(f"kernels stopped at every {every}th cycle and resumed: no bit differs", "verify-preempt",
           [*VERIFY, "--kind", "preempt", "--every", every, "--seeds", "2"], whole)
    t.step("kernels of the default device stopped at random and resumed: no bit differs", "verify-preempt-default",
           [*VERIFY, "--kind", "preempt", *checked, "--stop", "none", "--seeds", n["preempt-default"]], whole)
    t.step("seeded bugs of the RTL are caught", "mutants", [*VERIFY, "--mutants", "--seeds", n["mutants"]], mutants)


def coverage(t):
    t.step("coverage of bins and pipeline events", "coverage",
           ["scripts/coverage", "--check", "--", "--jobs", JOBS, "--seeds", share("coverage")["coverage"]], whole)


def nightly(t):
    """What is too long for every change: some hours. Nothing gets a second attempt."""
    t.attempts = 1
    many = {"TERN_TEST_VECTORS": "20000000"}
    t.step("co-verification of 10 million warp instructions of programs", "nightly-programs",
           [*VERIFY, "--kind", "program", "--seed", "100000", "--instructions", "10000000"], whole)
    t.step("co-verification of 20,000 streams", "nightly-streams",
           [*VERIFY, "--kind", "stream", "--seed", "100000", "--seeds", "20000"], whole)
    t.step("seeded bugs of the RTL are caught on the default device", "nightly-mutants-default",
           [*VERIFY, "--mutants", "--geometry", "default", "--seeds", "2000"], mutants)
    for harm in "kill", "stop":
        for backend, clients in ("model", "64"), ("rtl", "8"):
            t.step(f"{clients} clients of a ternd on {backend} for ten minutes, one harmed each second: {harm}",
                   f"nightly-soak-{backend}-{harm}",
                   ["tests/ternd/soak", str(BUILD / "bin/ternd"), str(BUILD / "tests/ternd_soak_client"),
                    str(BUILD / "tern.icd"), "--backend", backend, "--clients", clients, "--seconds", "600",
                    "--harm", harm], whole)
    t.step("what reads foreign bytes, 20 minutes a fuzzer", "nightly-fuzz",
           ["tests/fuzz/run", "-j", JOBS, "--seconds", "1200"], lines)
    t.step("the bitstream of a board without the device: its size and clock as in the baseline", "nightly-ecp5",
           ["nice", "scripts/ecp5", "--check"], whole)
    t.step("the netlist of that board, from pin to pin", "nightly-netlist", ["nice", "tests/rtl/netlist"], lines)
    t.step("size and depth of the RTL, all of it", "nightly-synth",
           ["nice", "scripts/synth", "--check", "--all", "--jobs", JOBS], whole)
    t.step("proofs and all their mutants", "nightly-formal", ["tests/formal/run", "-j", JOBS, "--slow"], lines)
    t.step("all protections, each removed: its test fails", "nightly-attacks", ["tests/attacks/run", "-j", JOBS], lines)
    night = str(int(time.time() // 86400))
    if t.step(f"mutants by a tool of the whole RTL, sample {night}: the score by module is in the log",
              "nightly-mutate-auto",
              ["tests/verify/mutate-auto", "run", "--night", night, "--count", "150", "--seeds", "500",
               "--preempt", "61", "--jobs", JOBS, "--least", "60"], whole):
        print("           " + re.findall(r"^all .*", (LOGS / "nightly-mutate-auto.log").read_text(), re.M)[-1],
              flush=True)
    for geometry in "tiny", "small", "default":
        t.step(f"kernels of the {geometry} device stopped at every cycle and at random times",
               f"nightly-preempt-{geometry}",
               [*VERIFY, "--kind", "preempt", "--geometry", geometry, "--seeds", "200"], whole)
    t.step("20 million vectors of each floating-point operation in the RTL", "nightly-float-rtl",
           ["tests/rtl/run", "-j", JOBS, "--timeout", "7200", "fp_fma", "fp_misc", "div_unit", "+count=20000000"],
           lines)
    ctest(t, "built-in functions: 20,000 random arguments each, all vector widths", "nightly-sweep", BUILD,
          ["-R", r"^sweep\."],
          {"TERN_SWEEP": "20000"})
    t.step("functions of one argument of 32 bits, a sixteenth of all arguments: which is in the log", "nightly-ranges",
           ["nice", "tests/opencl/sweep/ranges", "--night", night, "--nights", "16", "--minutes", "360", "-j", JOBS],
           lines)
    print("           " + "\n           ".join((LOGS / "nightly-ranges.log").read_text().rstrip().split("\n")[-2:]),
          flush=True)
    ctest(t, "200 programs of random kernels, coarsened, not coarsened and not optimized", "nightly-kernels", BUILD,
          ["-R", r"^opencl\.run_random_kernels"], {"TERN_TEST_STEPS": "200", "TERN_TEST_SEED": night})
    ctest(t, "programs that move between two devices 1,000 times, on the model", "nightly-moves", BUILD,
          ["-R", r"^driver\.migrate_many$"], {"TERN_TEST_MOVES": "1000"})
    ctest(t, "programs that move between two devices 20 times, of which one is, or both are, RTL", "nightly-moves-rtl",
          BUILD, ["-R", r"^driver\.migrate_many\."], {"TERN_TEST_MOVES": "20"})
    t.step("benches, the large ones too: results right, cycles as in the baseline", "nightly-bench",
           ["nice", "tests/bench/check", str(BUILD / "bin/tern"), "--all"], lines)
    ports(t, 4)
    t.step("OpenCL programs on the RTL behind XRT's emulation, small device", "nightly-xrt",
           ["tests/xrt/opencl", "--device", "rtl_small", "--slow"], lines)
    t.step("the demo on the RTL behind XRT's emulation, and moves of its picture", "nightly-xrt-demo",
           ["bash", "-c", 'settings=$(scripts/xclbin --device rtl_default --memory 256M) && eval "$settings" && '
            "exec scripts/demo --backend xrt"], whole)
    t.step("the demo by XRT takes at most 1.5 times the processor time of the backend rtl", "nightly-xrt-ratio",
           ["tests/xrt/ratio", "--most", "1.5"], whole)
    t.step("what moves of partitions of up to 4 GiB cost, on the model", "nightly-migrate",
           ["nice", "tests/bench/check-migrate", str(BUILD / "bin/tern")], lines)
    t.step("what moves of a partition of 256 MiB cost, on the RTL", "nightly-migrate-rtl",
           ["nice", "tests/bench/check-migrate", str(BUILD / "bin/tern"), "--quick", "--sizes", "1"], lines,
           {"TERN_BACKEND": "rtl"})
    ctest(t, "20 million vectors of each floating-point instruction in the model", "nightly-float-model", BUILD,
          ["-R", r"^sim\.float\.model_default"], many)


# The suites of a line run one after the other, two lines at a time, the long ones first.
SIDE_BY_SIDE = [
    {"c": c, "opencl": opencl, "synthesis": synthesis, "ports": ports, "bench": bench},
    {"formal": formal},
    {"rtl": rtl},
    {"xrt": xrt},
    {"sanitize": sanitize, "tsan": tsan},
    {"fuzz": fuzz},
    {"attacks": attacks},
    {"bare": bare},
    {"static": static},
]
LAST = {"verify": verify, "coverage": coverage}  # with all cores; how much they do follows from the time that is left
NIGHTLY = {"nightly": nightly}


def side_by_side(t, lines_of_suites):
    """Steps have one thread in part, as a proof or a compiler's last file; two at a time keep the cores busy."""
    lanes = max(1, min(2, int(JOBS), len(lines_of_suites)))
    t.jobs = str(int(JOBS) // lanes)
    with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
        for done in [pool.submit(lambda line: [suite(t) for suite in line], line) for line in lines_of_suites]:
            done.result()
    t.jobs = JOBS


def main():
    every = {name: suite for line in [*SIDE_BY_SIDE, LAST] for name, suite in line.items()}
    names = sys.argv[1:] or list(every)
    for n in names:
        if n not in every | NIGHTLY:
            print(f"test: unknown suite '{n}'; there are: {' '.join(every | NIGHTLY)}", file=sys.stderr)
            return 2
    LOGS.mkdir(parents=True, exist_ok=True)
    t = Tally()
    if configure_and_build(t, BUILD):
        if {"verify", "coverage"} & set(names):
            print(BUDGET.measure(VERIFY, int(JOBS)) or "speed: not measured; the random work is not adapted",
                  flush=True)
        chosen = [[suite for name, suite in line.items() if name in names] for line in SIDE_BY_SIDE]
        side_by_side(t, [line for line in chosen if line])
        second_attempts(t)
        for n in names:
            if n in LAST | NIGHTLY:
                (LAST | NIGHTLY)[n](t)
    print(outcome.ending(t.failures, t.said, t.unsteady, t.passed))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
