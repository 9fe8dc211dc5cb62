# SPDX-License-Identifier: Apache-2.0
"""Builds programs for Tern and for qemu, and runs them on devices that stay open (loader.c)."""
import json
import pathlib
import queue
import shutil
import subprocess

ENV = pathlib.Path(__file__).resolve().parent / "env"
CLANG = ["clang-19", "--target=riscv32-unknown-elf", "-mabi=ilp32", "-nostdlib", "-fuse-ld=lld-19",
         "-Wl,-T," + str(ENV / "link.ld"), "-Wl,--no-relax", "-mno-relax", "-menable-experimental-extensions",
         "-Wno-unused-command-line-argument"]
TERN_ISA = "rv32ima_zicsr_zifencei_zfinx_zba_zbb_zacas1p0"
LIMIT = "2000000000"  # cycles after which a test that loops is ended, and reported as a fault


class Broken(Exception):
    """A test could not be built, or a tool failed. The text is its output."""


def build(source, out, march=TERN_ISA, options=()):
    done = subprocess.run([*CLANG, "-march=" + march, "-I", str(ENV), *options, str(source), "-o", str(out)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Broken("does not assemble: " + " / ".join(done.stderr.splitlines()[:3]))
    return out


def section(elf, name):
    """Returns the bytes of a section, empty if there is no such section."""
    out = elf.with_suffix(name)
    subprocess.run(["llvm-objcopy-19", f"--dump-section={name}={out}", str(elf), "/dev/null"], capture_output=True,
                   check=False)
    data = out.read_bytes() if out.exists() else b""
    out.unlink(missing_ok=True)
    return data


class Qemu:
    """qemu-riscv32, a reference that is independent of Tern; None where it is not installed."""

    def __init__(self, path):
        self.path = path

    @classmethod
    def find(cls):
        path = shutil.which("qemu-riscv32") or shutil.which("qemu-riscv32-static")
        return cls(path) if path else None

    def run(self, elf, cpu):
        """Runs a program. Returns (exit status, standard output); the status is negative if a signal ended it."""
        done = subprocess.run([self.path, "-cpu", cpu, str(elf)], capture_output=True, timeout=120, check=False)
        return done.returncode, done.stdout


class Loader:
    def __init__(self, build_tree, backend, config):
        self.backend = backend
        self.argv = [str(build_tree / "tests/isa/isa_loader"), backend, f"{config},mem=64M,limit={LIMIT}"]
        self.process = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        hello = self.process.stdout.readline()
        self.lanes = json.loads(hello)["lanes"] if hello else 0
        self.why = None if hello else self.process.stderr.read().strip()  # reason why there is no device

    def run(self, elf, items=1, entry=0, dump="-"):
        self.process.stdin.write(f"{elf} {items} {entry:x} {dump}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise Broken("no answer")
        return json.loads(answer)

    def close(self):
        self.process.communicate()


class Pool:
    """A pool of loaders by backend. A test takes one and returns it for the next test. A loader that ends is replaced.
    """

    def __init__(self, build_tree, backends, config):
        self.make = lambda backend: Loader(build_tree, backend, config)
        self.backends = backends
        first = {b: self.make(b) for b in backends}
        self.lanes = {b: first[b].lanes for b in backends}
        self.free = {b: queue.SimpleQueue() for b in backends}
        for b in backends:
            self.free[b].put(first[b])
        self.missing = {b: (first[b].process.wait(), first[b].why) for b in backends if first[b].why is not None}

    def run(self, backend, *args, **named):
        try:
            loader = self.free[backend].get_nowait()
        except queue.Empty:
            loader = self.make(backend)
        try:
            answer = loader.run(*args, **named)
        except (Broken, OSError):
            loader.process.kill()
            loader.process.wait()
            raise Broken(f"{backend}: the loader died: {loader.process.stderr.read().strip()[-300:]}") from None
        self.free[backend].put(loader)
        return answer

    def close(self):
        for free in self.free.values():
            while not free.empty():
                free.get().close()
