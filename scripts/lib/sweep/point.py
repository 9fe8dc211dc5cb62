# SPDX-License-Identifier: Apache-2.0
"""One point of a sweep: runs a bench or a kernel on a device, unless the cache has the result."""
import json
import os
import pathlib
import re
import time

from sweep import cache as caches
from sweep import processes, spec
from sweep.device import Gap

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)
MEASURED = ("cycles", "counters", "limit_cycles", "limit_by", "limit_percent")
# Variables that would send the program to another device than that of the point, or change how it is driven.
OTHERS = ("TERND_SOCKET", "TERN_BACKEND", "TERN_CONFIG", "TERN_LIB_DIR", "TERN_TIMEOUT_CYCLES", "TERN_LIMIT_CYCLES")


def run_point(point, cache):
    """Returns the row of a point: the point, what was measured (MEASURED; None if there is none), `seconds` of the host
    (None: from the cache), and `error`, None or a sentence of why nothing was measured."""
    row = {**point, **dict.fromkeys(MEASURED), "seconds": None, "error": None}
    try:
        device = cache.device(point)
        key = caches.digest(cache.software, device.key, point["backend"], point["memory"], identity(point["work"]))
        found = cache.load("points", key)
        if not isinstance(found, dict) or set(found) != set(MEASURED):
            start = time.monotonic()
            found = measure(point, device, cache)
            cache.store("points", key, found)
            row["seconds"] = round(time.monotonic() - start, 3)
        row |= found
    except Gap as e:
        row["error"] = str(e)
    return row


def identity(work):
    """Returns all that makes a work what it is: of a kernel the arguments and the contents of the files that they name.
    """
    return work["bench"] if "bench" in work else [work["arguments"], sorted(files_of(work).values())]


def files_of(work):
    """Returns {path: digest} of the files that a kernel's `tern run` reads. Raises Gap if one cannot be read."""
    folder = pathlib.Path(work["folder"])
    found, todo = {}, [pathlib.Path(work["file"]), *(folder / x for x in data_files(work["arguments"]))]
    search = [folder / x for x in include_folders(work["arguments"])]
    while todo:
        file = todo.pop()
        if str(file) in found:
            continue
        try:
            data = file.read_bytes()
        except OSError as e:
            raise Gap(f"{file}: cannot be read: {e.strerror}; correct the kernel's file or its arguments") from e
        found[str(file)] = caches.digest(data)
        if file.suffix not in (".bin", ".spv"):
            for name in INCLUDE.findall(data.decode(errors="replace")):
                todo += [at / name for at in (file.parent, *search) if (at / name).is_file()][:1]
    return found


def data_files(arguments):
    """Returns the files whose bytes are arguments of the kernel: @FILE, and image:...:@FILE."""
    return [name for a in arguments for name in re.findall(r"(?:^|:)@(.+)$", a) if name != "-"]


def include_folders(arguments):
    found = [a[2:] for a in arguments if a.startswith("-I") and len(a) > 2]
    return found + [b for a, b in zip(arguments, arguments[1:]) if a == "-I"]


def config(device, memory):
    """Returns the driver's configuration (docs/driver.md)."""
    told = [device.variables["TERN_CONFIG"]] + ([f"memory={memory['kind']}"] if "kind" in memory else [])
    told += [f"{key}={memory[name]}" for name, (keys, _, _) in spec.MEMORY.items() if name in memory for key in keys]
    return ",".join(told)


def measure(point, device, cache):
    """Runs the program, and returns what it measured."""
    work, tern = point["work"], str(cache.prefix / "bin/tern")
    argv = [tern, "bench", work["bench"], "--json"] if "bench" in work else \
        [tern, "run", work["file"], "--json", "--quiet", *work["arguments"]]
    env = {k: v for k, v in os.environ.items() if k not in OTHERS}
    env |= {**device.variables, "TERN_CONFIG": config(device, point["memory"])}
    try:
        done = processes.run(argv, env, work.get("folder"))
    except OSError as e:
        raise Gap(f"{tern}: cannot be run: {e.strerror}; build Tern, or name its folder by --prefix") from e
    if done.interrupted:
        raise Gap("interrupted")
    return figures(work, done)


def figures(work, done):
    """Returns what the program of a work has measured. done: how it ended. Raises Gap if it measured nothing."""
    try:
        out = json.loads(done.stdout)
    except ValueError:
        out = {}
    if done.returncode or not out:
        raise Gap(refusal(work, done, out))
    return of_bench(out["results"][0]) if "bench" in work else of_run(out)


def refusal(work, done, out):
    """Returns one sentence of why the program failed."""
    if any(not result["correct"] for result in out.get("results", [])):
        return (f"{work['name']}: the result is wrong on this device; tern bench {work['name']} with the device's "
                "TERN_LIB_DIR shows it")
    said = [line for line in done.stderr.splitlines() if line.strip() and not re.match(r"tern \w+: \[\d+/\d+\]", line)]
    ended = f"ended by signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
    return f"{work['name']}: {said[0] if said else ended}"


def of_bench(result):
    return {name: result[name] for name in MEASURED}


def of_run(out):
    """Returns the figures of the run with the median of cycles, as tern run --time prints them."""
    runs = sorted(out["runs"], key=lambda r: r["cycles"])
    if not runs:
        raise Gap("tern run ran nothing: give --global in run")
    chosen = runs[(len(runs) - 1) // 2]
    return {**dict.fromkeys(MEASURED), "cycles": chosen["cycles"], "counters": chosen["counters"]}
