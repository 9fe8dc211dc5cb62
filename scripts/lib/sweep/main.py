# SPDX-License-Identifier: Apache-2.0
"""The command line of tern sweep. HELP describes it."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from sweep import cache as caches
from sweep import page, processes, progress, size, spec, table
from sweep.device import Gap
from sweep.point import run_point
from synth import elaborate

HELP = """usage: tern sweep FILE [options]
       tern sweep --bench NAME [options]

Runs benches and kernels on simulated devices of several geometries with several memories, and prints a table of device
cycles, counters, the share of the limit, and LUTs and levels of logic of each geometry. FILE is the description of the
sweep in YAML (docs/sweeps.md). A device that the build does not have is Verilated, once; results of points are kept.
The same command goes on where it was interrupted, and is quick the second time.

Values of the sweep, which replace those of FILE; several are joined by commas:
  --device NAME        default, small or tiny, in place of a geometry
  --lanes N  --warps N  --engines N  --ports N  --local-kib N    the geometry; each left out is that of default
  --kind KIND  --latency N  --bandwidth N  --outstanding N       memory: ideal, hbm or ddr4; cycles; bytes a cycle;
                       transfers of each direction
  --bench NAME         a bench of tern bench
  --kernel 'FILE ARG...'    a kernel, with arguments as tern run takes them; may be given several times
  --backend NAME       rtl, or model: a quick trial, with cycles only estimated

What is printed and written:
  --csv                all figures as CSV
  --json               all figures as JSON
  --html FILE          also a page with table and charts: cycles over each parameter, and against LUTs with the front
  --synth              measure LUTs and levels of geometries for which none are recorded: some minutes of a core each

How it runs:
  --jobs N             processes at a time (the cores)
  --cache DIR          where devices and results are kept
  --list               print the points, and run nothing
  --help               this text

Exit: 0 all points have a result; 1 some have none (the table shows which, and why), or a file cannot be written;
2 wrong usage or description; 130 interrupted.
"""
VALUES = ("device", "lanes", "warps", "engines", "ports", "local-kib", "kind", "latency", "bandwidth", "outstanding",
          "bench")
PATIENCE = 0.5  # Seconds between looks at an interruption.
AT_ONCE = 5.0   # A device that is there in so many seconds was not built, and says nothing of the time of others.


class Usage(Exception):
    """A mistake on the command line."""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Usage(message)

    def format_help(self):
        return HELP


def arguments(argv):
    parser = Parser(prog="tern sweep", add_help=False, allow_abbrev=False)
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    for name in VALUES:
        parser.add_argument(f"--{name}")
    parser.add_argument("--kernel", action="append", default=[])
    parser.add_argument("--backend")
    for name in "csv", "json", "synth", "list":
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--html", type=pathlib.Path)
    parser.add_argument("--cache", type=pathlib.Path, default=caches.default_folder())
    parser.add_argument("--jobs", "-j", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(argv)
    if options.jobs < 1:
        raise Usage(f"--jobs takes a number from 1 on, not {options.jobs}")
    if options.csv and options.json:
        raise Usage("--csv and --json: choose one of them")
    return options


def benches(prefix):
    """Returns the names of all benches."""
    tern = prefix / "bin/tern"
    try:
        done = subprocess.run([tern, "bench", "--list", "--json"], capture_output=True, text=True, check=True,
                              env={k: v for k, v in os.environ.items() if k != "TERN_LIB_DIR"})
        return json.loads(done.stdout)["benches"]
    except (OSError, subprocess.CalledProcessError, ValueError) as e:
        raise spec.Error(f"{tern} bench does not work, so that no point can run: build Tern ({e})") from e


def of_flags(options):
    """Returns the flags as the text of a description: its parser checks them as it checks a file."""
    def listed(text):
        return [x.strip() for x in text.split(",")]
    out, given = {}, {n: listed(v) for n in VALUES if (v := getattr(options, n.replace("-", "_"))) is not None}
    geometry = {n.replace("-", "_"): given[n] for n in VALUES[1:6] if n in given}
    if "device" in given and geometry:
        raise Usage("--device names a whole geometry: leave it out, or the flags of single parameters")
    if "device" in given or geometry:
        out["geometry"] = given.get("device") or geometry
    memory = {n: given[n] for n in VALUES[6:10] if n in given}
    if memory:
        out["memory"] = memory
    if "bench" in given:
        out["benches"] = given["bench"]
    if options.kernel:
        split = [text.strip().partition(" ") for text in options.kernel]
        several = len(split) > 1  # They may differ in their arguments only.
        out["kernels"] = [{"file": file, "run": rest} |
                          ({"name": f"{pathlib.Path(file).name} {rest}"} if several else {}) for file, _, rest in split]
    if options.backend:
        out["backend"] = options.backend
    return out


def description(options, prefix):
    known = benches(prefix)
    flags = of_flags(options)
    if not options.file and not flags:
        raise Usage("name a FILE, or give benches by --bench or kernels by --kernel")
    here = spec.parse(json.dumps(flags), "", pathlib.Path(), known) if flags else None
    if not options.file:
        return here
    out = spec.read(options.file, known)
    if flags:
        out |= {part: here[part] for key, part in (("geometry", "geometries"), ("memory", "memories"),
                                                   ("backend", "backend")) if key in flags}
        if "benches" in flags or "kernels" in flags:
            out["works"] = here["works"]
    return out


def distinct(points):
    """Returns a point for each device."""
    return list({size.name(p["geometry"]): p for p in points}.values())


def devices(cache, points, options, told):
    """Builds what is missing. A device that cannot be built is a gap of its points, which run_point finds again only
    after another attempt; its reason is returned instead: {name of the geometry: sentence}."""
    wanted = distinct(points)
    told.begin("devices", len(wanted))
    at_a_time = min(options.jobs, len(wanted))
    cache.jobs = max(1, options.jobs // at_a_time)
    failed = {}

    def one(point):
        start = time.monotonic()
        try:
            cache.device(point)
        except Gap as e:
            failed[size.name(point["geometry"])] = str(e)
        took = time.monotonic() - start
        told.step(spec.shown(point["geometry"]), took if took > AT_ONCE else None)
    everywhere(one, wanted, at_a_time)
    return failed


def everywhere(function, items, jobs):
    """Calls the function for all items in threads, and returns the results in their order."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(function, item) for item in items]
        try:
            while concurrent.futures.wait(running, PATIENCE).not_done:
                pass
        except BaseException:
            processes.stop()
            for future in running:
                future.cancel()
            raise
    return [future.result() for future in running]


def measured(cache, points, options, told):
    """Runs all points. Returns their rows."""
    failed = devices(cache, points, options, told)
    told.begin("points", len(points))

    def one(point):
        reason = failed.get(size.name(point["geometry"]))
        row = run_point(point, cache) if not reason else \
            {**point, "cycles": None, "counters": None, "limit_cycles": None, "limit_by": None, "limit_percent": None,
             "seconds": None, "error": reason}
        told.step(f"{spec.shown(point['geometry'])}, {point['work']['name']}", row["seconds"])
        return row
    rows = everywhere(one, points, options.jobs)
    sizes = sized(cache, [p["geometry"] for p in distinct(points) if size.name(p["geometry"]) not in failed], options,
                  told)
    for row in rows:
        row["size"] = sizes.get(size.name(row["geometry"]))
    return rows


def sized(cache, geometries, options, told):
    """Returns the figures of geometries; with --synth also of those that are not recorded."""
    found = size.known(cache, geometries)
    missing = [g for g in geometries if size.name(g) not in found]
    if not options.synth or not missing:
        return found
    told.begin("synthesis", len(missing))
    netlists = cache.prefix / "synth" if cache.in_build else cache.folder / "netlists"
    for geometry in missing:
        try:
            found[size.name(geometry)] = size.measure(cache, geometry, netlists, options.jobs)
        except (elaborate.Error, OSError) as e:
            told.say(f"{spec.shown(geometry)}: no LUTs and levels: {e}")
        told.step(spec.shown(geometry))
    return found


def put(text):
    """Writes to standard output. Raises OSError if that fails."""
    sys.stdout.write(text)
    sys.stdout.flush()


def output(options, title, rows, cache):
    """Prints and writes what is asked for. Returns whether all of it could be written."""
    good = True
    if options.html:
        try:
            caches.write(options.html, page.html(title, rows))
        except OSError as e:
            good = False
            complain(f"{options.html}: cannot be written: {e.strerror}; the results are kept: make room, and give the "
                     "command again")
    try:
        put(table.as_csv(rows) if options.csv else table.as_json(title, rows) if options.json else
            table.text(title, rows))
    except OSError as e:
        good = False
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # Python flushes it once more at the end.
        complain(f"standard output cannot be written: {e.strerror}; the results are kept: give the command again")
    if cache.full:
        good = False
        complain(f"{cache.full}; results that are not kept are measured again the next time: make room, or choose "
                 "another place by --cache")
    return good


def complain(message):
    print(f"tern sweep: {message}", file=sys.stderr)


def run(argv, tools, tree):
    options = arguments(argv)
    if options.help:
        put(HELP)
        return 0
    prefix = next((p for p in tools.parents if (p / "bin/tern").is_file()), None)
    if not prefix:
        raise spec.Error(f"{tools}: no folder above has bin/tern: build Tern, and run the sweep as tern sweep")
    wanted = description(options, prefix)
    points = spec.points(wanted)
    if options.list:
        put("".join(f"{spec.shown(p['geometry'])}; {page.words(p['memory']) or 'memory default'}; {p['work']['name']}\n"
                    for p in points))
        return 0
    cache = caches.Cache(options.cache.absolute(), prefix, tree, tools)
    with progress.Progress(options.jobs) as told:
        try:
            rows = measured(cache, points, options, told)
        except KeyboardInterrupt:
            told.hide()
            complain("interrupted; finished points are kept, and the same command goes on")
            return 130
    good = output(options, wanted["title"], rows, cache)
    return 0 if good and not any(row["error"] for row in rows) else 1


def main(tools, tree, argv=None):
    """tools: the folder of Tern's own programs; tree: that of the sources of devices."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return run(sys.argv[1:] if argv is None else argv, tools, tree)
    except Usage as e:
        complain(f"{e}; see tern sweep --help")
        return 2
    except spec.Error as e:
        complain(e)
        return 2
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
