# SPDX-License-Identifier: Apache-2.0
"""The nightly tier: tests that are too long for every change, in parts that may run on several nights or machines.

No night runs all arguments of a function, or all mutants: each takes the next share, by its date.
"""
import re

from testing.steps import BUILD, ROOT, Step, ctest, lines, lines_or_skipped, mutants, whole, whole_or_skipped
from testing.suites import MODEL, RTL, VERIFY, ninja, ports

READY = ("build-software", "build-small", "build-default", "build-tiny", "build-shell")
FUZZERS = re.compile(r"^tern_fuzz\((\w+)", re.M)


def last_lines(count, n):
    """Returns a counter whose note is the last n lines that the command printed."""
    def counted(text, status):
        found = count(text, status)
        found.note = "\n         ".join(text.rstrip().split("\n")[-n:])
        return found
    return counted


def soaks():
    for harm in "kill", "stop":
        for backend, clients in ("model", "64"), ("rtl", "8"):
            yield Step(f"soak-{backend}-{harm}",
                       f"{clients} clients of a ternd on {backend} for five minutes, one harmed each second: {harm}",
                       ["tests/ternd/soak", str(BUILD / "bin/ternd"), str(BUILD / "tests/ternd_soak_client"),
                        str(BUILD / "tern.icd"), "--backend", backend, "--clients", clients, "--seconds", "300",
                        "--harm", harm], whole, READY, cost=450)


def fuzzers():
    """Returns a step for each fuzzer, since together they take hours."""
    for name in FUZZERS.findall((ROOT / "tests/fuzz/CMakeLists.txt").read_text()):
        yield Step(f"fuzz-{name}", f"what reads foreign bytes, ten minutes: {name}",
                   ["tests/fuzz/run", "-j", "1", "--seconds", "600", name], lines, ("build-sanitize",), cost=600)


def verification(night):
    stops = [*VERIFY, "--kind", "preempt", "--seeds", "200"]
    yield Step("programs", "co-verification of 10 million warp instructions of programs",
               [*VERIFY, "--kind", "program", "--seed", "100000", "--instructions", "10000000"], whole, READY,
               cost=1500)
    yield Step("streams", "co-verification of 20,000 streams",
               [*VERIFY, "--kind", "stream", "--seed", "100000", "--seeds", "20000"], whole, READY, cost=1200)
    for geometry, cost in {"tiny": 600, "small": 1500, "default": 4000}.items():
        yield Step(f"preempt-{geometry}",
                   f"kernels of the {geometry} device stopped at every cycle and at random times",
                   [*stops, "--geometry", geometry], whole, READY, cost=cost)
    yield ninja("build-mutants-default", "build the default device with seeded bugs", BUILD,
                ["tern_sim_rtl_mutants_default"], ("build-configure",), 120)
    yield Step("mutants-default", "seeded bugs of the RTL are caught on the default device",
               [*VERIFY, "--mutants", "--geometry", "default", "--seeds", "2000"], mutants,
               (*READY, "build-mutants-default"), cost=2000)
    yield Step("mutate-auto", f"mutants by a tool of the whole RTL, sample {night}: the score by module is in the log",
               ["tests/verify/mutate-auto", "run", "--night", night, "--count", "75", "--seeds", "500", "--preempt",
                "61", "--jobs", "{jobs}", "--least", "60"],
               last_lines(whole, 1), READY, cost=1800, here=True)


def campaigns():
    yield Step("campaign-nodes", "a campaign on eight machines, of which one dies every 20 seconds: each case once",
               ["tests/scripts/campaign-nodes", str(BUILD)], whole_or_skipped, READY, cost=400)


def tools():
    yield Step("ecp5", "the bitstream of a board without the device: its size and clock as in the baseline",
               ["scripts/ecp5", "--check"], whole, holds=("ecp5 tools",), cost=600)
    yield Step("netlist", "the netlist of that board, from pin to pin", ["tests/rtl/netlist"], lines, ("ecp5",),
               cost=200)
    yield Step("synth-all", "size and depth of the RTL, all of it",
               ["scripts/synth", "--check", "--all", "--jobs", "{jobs}"], whole, cost=1200)
    yield Step("clock", "pieces of the device, placed and routed: clock and size as in the baseline",
               ["scripts/clock", "--check"], whole, holds=("ecp5 tools",), cost=1800)
    yield Step("formal-slow", "proofs and all their mutants", ["tests/formal/run", "-j", "{jobs}", "--slow"], lines,
               cost=1500)
    yield Step("attacks-all", "all protections, each removed: its test fails", ["tests/attacks/run", "-j", "{jobs}"],
               lines, cost=1800)
    yield Step("float-rtl", "20 million vectors of each floating-point operation in the RTL",
               ["tests/rtl/run", "-j", "{jobs}", "--timeout", "7200", "fp_fma", "simt_convert", "simt_int", "div_unit",
                "+floats", "+count=20000000"], lines, cost=900)


def programs(night):
    opencl = BUILD / "tests/opencl"
    yield ctest("float-model", "20 million vectors of each floating-point instruction in the model",
                BUILD / "tests/sim", ["-R", r"^sim\.float\.model_default"], env={"TERN_TEST_VECTORS": "20000000"},
                needs=READY, cost=300)
    yield ctest("sweep", "built-in functions: 20,000 random arguments each, all vector widths", opencl / "sweep",
                ["-R", r"^sweep\."], env={**MODEL, "TERN_SWEEP": "20000"}, needs=READY, cost=1500)
    for piece in range(4):  # These are parts of this night's 64th of all arguments.
        n = int(night) % 64 * 4 + piece
        yield Step(f"ranges-{piece}", "functions of one argument of 32 bits, a 256th of all arguments: which is in "
                   "the log", ["tests/opencl/sweep/ranges", "--night", str(n), "--nights", "256", "--minutes", "25",
                               "-j", "{jobs}"], last_lines(lines, 2), READY, cost=1400)
    yield ctest("kernels", "200 programs of random kernels, coarsened, not coarsened and not optimized", opencl,
                ["-R", r"^opencl\.run_random_kernels"],
                env={**MODEL, "TERN_TEST_STEPS": "200", "TERN_TEST_SEED": night}, needs=READY, cost=600)
    driver = BUILD / "tests/driver"
    yield ctest("moves", "programs that move between two devices 1,000 times, on the model", driver,
                ["-R", r"^driver\.migrate_many$"], env={**MODEL, "TERN_TEST_MOVES": "1000"}, needs=READY, cost=600)
    yield ctest("moves-rtl", "programs that move between two devices 20 times, of which one is, or both are, RTL",
                driver, ["-R", r"^driver\.migrate_many\."], env={"TERN_TEST_MOVES": "20"}, needs=READY, cost=900)
    yield Step("bench-all", "benches, the large ones too: results right, cycles as in the baseline",
               ["tests/bench/check", str(BUILD / "bin/tern"), "--full"], lines, READY, cost=600)
    yield Step("bench-migrate", "what moves of partitions of up to 4 GiB cost, on the model",
               ["tests/bench/check-migrate", str(BUILD / "bin/tern"), "--full"], lines, READY, cost=600)
    yield Step("bench-migrate-rtl", "what moves of a partition of 256 MiB cost, on the RTL",
               ["tests/bench/check-migrate", str(BUILD / "bin/tern"), "--sizes", "1"], lines, READY,
               cost=600, env=RTL)


def clients():
    for name, title, options, cost in ("clients-all", "on the model", [], 600), ("clients-rtl", "on the small RTL",
                                                                                 ["--rtl"], 200):
        yield Step(name, f"OpenCL programs of others {title}", ["tests/clients/run", *options], lines_or_skipped, READY,
                   ("build/clients",), cost)


def cluster():
    yield Step("cluster", "jobs of Slurm share a device, and one moves", ["tests/cluster/run"], lines_or_skipped, READY,
               cost=60)


def cards():
    yield Step("xrt-opencl", "OpenCL programs on the RTL behind XRT's emulation, small device",
               ["tests/xrt/opencl", "--device", "rtl_small", "--slow"], lines, READY, ("XRT",), 1500)
    yield Step("xrt-demo", "the demo on the RTL behind XRT's emulation, and moves of its picture",
               ["bash", "-c", 'settings=$(scripts/xclbin --device rtl_default --memory 256M) && eval "$settings" && '
                "exec scripts/demo --backend xrt"], whole, READY, ("XRT", f"ninja {BUILD}"), 600)
    yield Step("xrt-ratio", "the demo by XRT takes at most 1.5 times the processor time of the backend rtl",
               ["tests/xrt/ratio", "--most", "1.5"], whole, READY, ("XRT",), 900)


def steps(night):
    """Returns all steps of a night. night: its number as text, from which random choices follow."""
    anywhere = [*soaks(), *verification(night), *programs(night), *ports(True, 4)]
    here = [*fuzzers(), *campaigns(), *tools(), *clients(), *cluster(), *cards()]
    for s in here:
        s.here = True
    found = anywhere + here
    for s in found:
        s.suite = s.suite or "nightly"
    return found
