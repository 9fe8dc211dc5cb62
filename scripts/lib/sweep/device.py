# SPDX-License-Identifier: Apache-2.0
"""Devices of a geometry: one that the build has, one that the cache has, or one that is Verilated now.

A device of the build counts only if no source is newer, so that a sweep never measures old RTL. An installation has the
devices of its own sources.
"""
import contextlib
import dataclasses
import errno
import fcntl
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess

from sweep import cache as caches
from sweep import processes, spec

# Devices of a build: name, and geometry.
BUILT = {**spec.NAMED, "ports2": {**spec.NAMED["small"], "ports": 2}, "ports4": {**spec.NAMED["small"], "ports": 4}}
NEEDED = {"verilator": "verilator", "clang++-19": "clang-19", "clang-19": "clang-19", "make": "make"}


class Gap(Exception):
    """The point has no result. The text says what, where and what to do."""


@dataclasses.dataclass(frozen=True)
class Device:
    """key: changes whenever the device does. variables: environment of the programs that open it."""
    key: str
    variables: dict


def sources(tree):
    """Returns the files of which a device is made."""
    board = tree / "rtl/board"
    rtl = [f for f in tree.glob("rtl/**/*") if f.suffix in (".sv", ".vlt") and board not in f.parents]
    bridge = [f for folder in ("rtl", "dram", "include") for f in tree.glob(f"sim/{folder}/**/*")
              if f.suffix in (".cpp", ".c", ".h", ".vlt") or f.name == "build"]
    return sorted(rtl + bridge)


@functools.cache
def tool_version(name):
    """Returns the first line of a tool's version, or an empty text if it is not there."""
    try:
        said = subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    return said.split("\n", maxsplit=1)[0]


@functools.cache
def content(file, _):
    """Returns a hash of a file; the second argument is its time of change."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:20]


def built(cache, backend, geometry):
    """Returns the library of a device that the build has and that is not older than its sources, or None."""
    for name in (n for n, has in BUILT.items() if has == geometry):
        for folder in cache.tools.parent, cache.tools:
            library = folder / f"libtern_sim_{backend}_{name}.so"
            if library.is_file() and (backend == "model" or not cache.in_build or is_new(library, cache.tree)):
                return library
    return None


def is_new(library, tree):
    age = library.stat().st_mtime
    return all(f.stat().st_mtime <= age for f in sources(tree))


def get(cache, point):
    """Returns the Device of a point."""
    geometry, backend = point["geometry"], point["backend"]
    library = built(cache, backend, geometry)
    if backend == "model":
        if not library:
            raise Gap(f"the functional model of {spec.shown(geometry)} is not in {cache.tools.parent}: build it")
        name = library.stem.rpartition("_")[2]
        return Device(content(library, library.stat().st_mtime), {"TERN_BACKEND": "model", "TERN_CONFIG": name})
    if library:
        key = content(library, library.stat().st_mtime)
    else:
        key = caches.digest(cache.rtl, geometry, [tool_version(tool) for tool in ("verilator", "clang++-19")],
                            os.environ.get("TERN_CPU_FLAGS"))
    folder = cache.folder / "devices" / key
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(f"{folder}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            complete(cache, folder, library, geometry)
    except OSError as e:
        raise Gap(f"{folder}: cannot be written: {e.strerror}; make room, or choose another place by --cache") from e
    return Device(key, {"TERN_BACKEND": "rtl", "TERN_CONFIG": "default", "TERN_LIB_DIR": str(folder)})


def complete(cache, folder, library, geometry):
    """Makes the folder of a device what TERN_LIB_DIR needs."""
    device = folder / "libtern_sim_rtl_default.so"
    if library:
        link(library, device)
    elif not device.exists():
        build(cache, folder, device, geometry)
    link(cache.tools, folder / "tern")  # Another build may have shared the device.


def link(target, file):
    target = str(target.resolve())
    if not file.is_symlink() or os.readlink(file) != target:
        part = file.with_name(file.name + ".part")
        with contextlib.suppress(FileNotFoundError):
            part.unlink()
        part.symlink_to(target)
        os.replace(part, file)


def processor():
    """Returns the variables of sim/rtl/build for this machine: it builds for x86-64-v3 unless that cannot run here."""
    with contextlib.suppress(OSError):
        if "TERN_CPU_FLAGS" not in os.environ and " avx2" not in pathlib.Path("/proc/cpuinfo").read_text():
            return {"TERN_CPU_FLAGS": "", "TERN_CPU_LINK": ""}
    return {}


def build(cache, folder, device, geometry):
    """Verilates and compiles a device. What an interruption leaves in the folder `work` is used the next time."""
    what = spec.shown(geometry)
    script = cache.tree / "sim/rtl/build"
    for tool, package in NEEDED.items():
        if not shutil.which(tool):
            raise Gap(f"{what}: the build has no such device, and {tool} is not installed to make one: install the "
                      f"package {package} (scripts/setup build), or sweep {', '.join(spec.NAMED)}")
    if not script.exists():
        raise Gap(f"{what}: the build has no such device, and the sources to make one are not in {cache.tree}: install "
                  f"all of Tern, or sweep {', '.join(spec.NAMED)}")
    parameters = [f"-G{spec.GEOMETRY[name][0]}={value}" for name, value in geometry.items()]
    done = processes.run([str(script), str(device), str(folder / "work"), *parameters],
                         env={**os.environ, **processor(), "JOBS": str(cache.jobs)})
    if done.returncode == 0:
        shutil.rmtree(folder / "work", ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        (folder / "log").write_text(done.stdout + done.stderr)
    if done.interrupted:
        raise Gap(f"{what}: interrupted while it was built")
    shutil.rmtree(folder / "work", ignore_errors=True)
    raise Gap(f"{what}: {reason(done.stdout + done.stderr, folder / 'log')}")


def reason(said, log):
    """Returns one sentence of what Verilator, compiler and linker said."""
    full = os.strerror(errno.ENOSPC)
    if full in said:
        return f"it was not built: {full}: make room, or choose another place by --cache"
    # Modules inside refuse as well; the top module names the parameter.
    refused = sorted(re.findall(r"^%Error-USERERROR: (\S+?):(\d+):(?:\d+:)? (?:\w+: )?(.*)", said, re.M),
                     key=lambda found: found[0] != "rtl/top/tern_top.sv")
    if refused:
        file, line, what = refused[0]
        return f"does not elaborate: {what} ({file}, line {line}); choose another value in geometry"
    error = re.search(r"^%Error[-\w]*: (.*)", said, re.M) or re.search(r"(?:error|Error): (.*)", said)
    if error and error[0].startswith("%"):
        return f"does not elaborate: {error[1].rstrip('.')}; choose another geometry, or see {log}"
    lines = [line for line in said.splitlines() if line.strip()]
    last = error[1] if error else lines[-1] if lines else "no message"
    return f"it was not built: {last.rstrip('.')}; see {log}"
