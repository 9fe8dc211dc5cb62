# SPDX-License-Identifier: Apache-2.0
"""The suites: their tests, and the condition that each must fulfil. A test has a name and
run(devices, work) -> (verdict, text).
"""
import fnmatch
import pathlib
import re
import struct

from device import TERN_ISA, Broken, Qemu, build, section

HERE = pathlib.Path(__file__).resolve().parent
# ISA for riscv-arch-test's conditions; F stands for Zfinx (env/arch_test.h)
ARCH_ISA = "RV32IMAF_Zicsr_Zba_Zbb_Zacas"
ARCH_MARCH = "rv32ima_zicsr_zfinx_zba_zbb_zacas1p0"
ARCH_FOLDERS = ["I", "M", "A", "B", "F", "Zacas", "Zifencei", "privilege"]
RISCV_FOLDERS = ["rv32ui", "rv32um", "rv32ua", "rv32uf", "rv32uzba", "rv32uzbb"]
# F computes the results of Zfinx. qemu 7.2 does not support Zacas.
QEMU_CPU = "rv32,zba=true,zbb=true"
QEMU_ZFINX = "rv32,f=false,d=false,c=false,zfinx=true,zba=true,zbb=true"


def skip_reason(suite, name):
    for line in (HERE / "skip.list").read_text().splitlines():
        if not line.startswith("#"):
            where, pattern, reason = line.split(None, 2)
            if where == suite and fnmatch.fnmatch(name, pattern):
                return reason
    return None


class Test:
    suite = None

    def __init__(self, name, source):
        self.name, self.source = name, source

    def run(self, devices, work):
        reason = skip_reason(self.suite, self.name)
        if reason:
            return "SKIP", reason
        elf = work / (self.name.replace("/", "-") + ".elf")
        try:
            return self.check(devices, elf)
        except Broken as broken:
            return "FAIL", str(broken)
        finally:
            for f in elf.parent.glob(elf.stem + ".*"):
                f.unlink()

    def check(self, devices, elf):
        raise NotImplementedError


def ended(answer, where):
    """Returns the codes of the work-items of a run, which must have completed."""
    if answer["end"] != "completed":
        raise Broken(f"{where}: {answer['message']}")
    return answer["codes"]


def expect_passed(answer, where):
    for item, code in enumerate(ended(answer, where)):
        if code != 1:
            raise Broken(f"{where}: work-item {item}: " + (f"case {code >> 1} failed" if code & 1
                                                           else "did not reach its end"))


class SelfChecking(Test):
    """A test that runs with one work-item, and, if that changes no shared data, as two full warps and a part of one.
    """

    def check_on(self, devices, elf):
        wide = True
        for backend in devices.backends:
            answer = devices.run(backend, elf)
            expect_passed(answer, f"{backend}, 1 work-item")
            if answer["written"]:
                wide = False
                continue
            items = 2 * devices.lanes[backend] + 3
            expect_passed(devices.run(backend, elf, items), f"{backend}, {items} work-items")
        return "PASS", "" if wide else "1 work-item: it writes data that work-items would share"


class RiscvTest(SelfChecking):
    suite = "riscv-tests"

    def __init__(self, name, source, macros):
        super().__init__(name, source)
        self.macros = macros

    def check(self, devices, elf):
        build(self.source, elf, options=["-I", str(self.macros)])
        return self.check_on(devices, elf)


def riscv_tests(opts):
    isa = opts.directory / "isa"
    return [RiscvTest(f"{folder}/{source.stem}", source, isa / "macros/scalar")
            for folder in RISCV_FOLDERS for source in sorted((isa / folder).glob("*.S"))]


class ArchTest(Test):
    """The signature must be the same on all backends and in the references: qemu, and a file of the suite if there is
    one.
    """
    suite = "riscv-arch-test"

    def __init__(self, name, source, env, qemu):
        super().__init__(name, source)
        self.env, self.qemu = env, qemu

    def defines(self):
        """Returns the definitions of the first RVTEST_CASE whose conditions hold for ARCH_ISA; None if the test is of
        another extension.
        """
        for case in re.findall(r"RVTEST_CASE\(\d+,\s*\"//\s*(.*?)\"", self.source.read_text()):
            parts = [p.strip() for p in case.split(";") if p.strip()]
            asked = [re.fullmatch(r"check ISA:=regex\((.*)\)", p) for p in parts if p.startswith("check")]
            if all(a is None or re.fullmatch(a[1], ARCH_ISA) for a in asked):
                return ["-D" + p.removeprefix("def").strip() for p in parts if p.startswith("def")]
        return None

    def check(self, devices, elf):
        defines = self.defines()
        if defines is None:
            return "SKIP", "of an extension that Tern does not have"
        common = ["-I", str(self.env), "-DXLEN=32", "-DFLEN=32", "-Wno-macro-redefined", *defines]
        build(self.source, elf, ARCH_MARCH, common)
        signatures = {}
        for backend in devices.backends:
            dump = elf.with_suffix("." + backend)
            expect_passed(devices.run(backend, elf, dump=dump), backend)
            signatures[backend] = dump.read_text().split()
        against = self.references(elf, common)
        for name, words in {**signatures, **against}.items():
            compare(signatures[devices.backends[0]], words, devices.backends[0], name)
        return "PASS", "" if against else "no reference but the other backend"

    def references(self, elf, common):
        found = {}
        kept = self.source.parent.parent / "references" / (self.source.stem + ".reference_output")
        if kept.exists():
            found["the suite's reference"] = kept.read_text().split()
        if self.qemu and not self.name.startswith("Zacas/"):
            other = elf.with_suffix(".reference")
            build(self.source, other, "rv32imaf_zicsr_zba_zbb", ["-DTERN_REFERENCE", *common])
            status, out = self.qemu.run(other, QEMU_CPU)
            if status != 0 or len(out) % 4:
                raise Broken(f"qemu: ended with {status}")
            found["qemu"] = [f"{w:08x}" for w, in struct.iter_unpack("<I", out)]
        return found


def compare(ours, theirs, a, b):
    if len(ours) != len(theirs):
        raise Broken(f"signature of {len(ours)} words on {a}, of {len(theirs)} from {b}")
    wrong = [i for i, (x, y) in enumerate(zip(ours, theirs)) if x != y]
    if wrong:
        i = wrong[0]
        raise Broken(f"{len(wrong)} words of the signature differ, first word {i}: {ours[i]} on {a}, "
                     f"{theirs[i]} from {b}")


def arch_tests(opts):
    root = opts.directory / "riscv-test-suite"
    qemu = None if opts.no_reference else Qemu.find()
    found = []
    for folder in ARCH_FOLDERS:
        place = root / "rv32i_m" / folder / "src"
        found += [ArchTest(f"{folder}/{source.relative_to(place).with_suffix('')}", source, root / "env", qemu)
                  for source in sorted(place.rglob("*.S"))]
    return found


class OwnTest(SelfChecking):
    """A test whose work-items do not disturb each other. qemu shows that its expectations are those of RISC-V.
    """
    suite = "own"

    def __init__(self, source, qemu):
        super().__init__(source.stem, source)
        self.qemu = qemu

    def check(self, devices, elf):
        build(self.source, elf)
        if self.qemu and self.name != "amocas":
            other = elf.with_suffix(".reference")
            build(self.source, other, options=["-DTERN_REFERENCE"])
            status, _ = self.qemu.run(other, QEMU_ZFINX)
            if status != 0:
                raise Broken(f"qemu: ended with {status}")
        for backend in devices.backends:
            for items in (1, 2 * devices.lanes[backend] + 3):
                expect_passed(devices.run(backend, elf, items), f"{backend}, {items} work-items")
        return "PASS", "" if self.qemu and self.name != "amocas" else "without the reference"


class FaultTest(Test):
    """Runs each row of section .faults (own/faults.S) alone, which must end by the row's fault and work-item."""
    suite = "own"
    ROW = struct.Struct("<6I24s")

    def check(self, devices, elf):
        build(self.source, elf)
        rows = list(self.ROW.iter_unpack(section(elf, ".faults")))
        if not rows:
            raise Broken("no rows in .faults")
        for backend in devices.backends:
            wrong = [w for w in (self.wrong(devices, backend, elf, row) for row in rows) if w]
            if wrong:
                raise Broken(f"{backend}: {len(wrong)} of {len(rows)}: " + "; ".join(wrong))
        return "PASS", f"{len(rows)} faults"

    @staticmethod
    def wrong(devices, backend, elf, row):
        entry, item, code, access, va, pc, name = row
        lanes = devices.lanes[backend]
        name = name.rstrip(b"\0").decode()
        answer = devices.run(backend, elf, 2 * lanes + 3, entry)
        if answer["end"] != "fault":
            return f"{name}: no fault"
        want = {"code": code, "access": access, "address": va, "pc": pc, "warp": item // lanes, "lane": item % lanes}
        differ = [f"{k} is {answer[k]:#x}, not {v:#x}" for k, v in want.items() if answer[k] != v]
        return f"{name}: " + ", ".join(differ) if differ else None


def own_tests(opts):
    qemu = None if opts.no_reference else Qemu.find()
    return [FaultTest(source.stem, source) if source.stem == "faults" else OwnTest(source, qemu)
            for source in sorted(opts.directory.glob("*.S"))]


SUITES = {"own": own_tests, "riscv-tests": riscv_tests, "riscv-arch-test": arch_tests}
