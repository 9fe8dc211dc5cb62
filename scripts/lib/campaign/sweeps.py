# SPDX-License-Identifier: Apache-2.0
"""Campaigns of sweeps (docs/sweeps.md): a task is a point, which a worker runs on a device that the client has made."""
import json
import pathlib

import sweep
from campaign import tree
from campaign.kinds import Cannot, Plan, Task, Total, Usage, Wrong
from sweep import cache as caches
from sweep import main as sweeping
from sweep import page, processes, size, spec, table
from sweep import point as points
from sweep.device import Gap
from testing.steps import ROOT

HELP = "the points of a sweep (tern sweep)"
RUNNER = "scripts/lib/campaign/point"
PROBES = (("build/bin/tern", "--version"),)
TARGETS = ["runtime/all", "runtime/cli/all", "driver/all", "sim/model/all", "tests/bench/all"]


def add_options(parser):
    parser.add_argument("file", type=pathlib.Path, metavar="FILE", help="the description of the sweep, in YAML")


def devices(cache, wanted):
    """Makes the devices of all points here. Returns {name of the geometry: Device or Gap}."""
    found = {}
    for point in sweeping.distinct(wanted):
        print(f"campaign: device of {spec.shown(point['geometry'])}", flush=True)
        try:
            found[size.name(point["geometry"])] = cache.device(point)
        except Gap as e:
            found[size.name(point["geometry"])] = e
        except KeyboardInterrupt:
            processes.stop()
            raise
    return found


def work_files(work):
    """Returns the files of a work by their place in the archive, its words behind tern, and the folder for them."""
    if "bench" in work:
        return {}, ["bench", work["bench"], "--json"], None
    given = [*points.data_files(work["arguments"]), *points.include_folders(work["arguments"])]
    away = [x for x in given if pathlib.PurePath(x).is_absolute()]
    if away:
        raise Usage(f"{work['name']}: {away[0]} is a path of this machine: give it from the folder of the description "
                    "on")
    try:
        files = {f"files{pathlib.Path(f).resolve()}": pathlib.Path(f).resolve() for f in points.files_of(work)}
    except Gap as e:
        raise Cannot(str(e)) from e
    kernel = f"{{tree}}/files{pathlib.Path(work['file']).resolve()}"
    return (files, ["run", kernel, "--json", "--quiet", *work["arguments"]],
            f"{{tree}}/files{pathlib.Path(work['folder']).resolve()}")


def again(point):
    """Returns the command that runs a point by itself here."""
    def flags(values):
        return [w for name, value in values.items() for w in (f"--{name.replace('_', '-')}", str(value))]
    work = point["work"]
    what = ["--bench", work["bench"]] if "bench" in work else ["--kernel", " ".join([work["file"], *work["arguments"]])]
    return ("build/bin/tern", "sweep", *flags(point["geometry"]), *flags(point["memory"]), *what, "--backend",
            point["backend"])


def plan(opts, build):
    if opts.build_first:
        tree.make(build, TARGETS)
    try:
        description = sweep.read(opts.file, sweeping.benches(build))
        wanted = sweep.points(description)
    except sweep.Error as e:
        raise Usage(str(e)) from e
    cache = sweep.Cache(caches.default_folder(), build, ROOT, build / "lib/tern", opts.jobs)
    made = devices(cache, wanted)
    places = ["bin/tern", "lib/libtern_opencl.so"]
    places += [str(p.relative_to(build)) for folder, names in (("lib/tern", "*"), ("lib", "libtern_sim_model_*.so"))
               for p in sorted((build / folder).glob(names)) if p.is_file()]
    files = {**tree.of_build(build, *places), RUNNER: ROOT / RUNNER}
    tasks, of, gaps = [], {}, []
    for number, point in enumerate(wanted, 1):
        device = made[size.name(point["geometry"])]
        if isinstance(device, Gap):
            gaps.append({**point, **dict.fromkeys(points.MEASURED), "seconds": None, "error": str(device)})
            continue
        more, argv, folder = work_files(point["work"])
        files |= more
        library = None
        if "TERN_LIB_DIR" in device.variables:
            library = f"{device.key}.so"
            files[f"devices/{library}"] = pathlib.Path(device.variables["TERN_LIB_DIR"], "libtern_sim_rtl_default.so")
        text = json.dumps({"argv": argv, "config": points.config(device, point["memory"]), "device": library,
                           "folder": folder})
        task = Task(f"point-{number}", (RUNNER, text, "{scratch}"), again=again(point))
        tasks.append(task)
        of[task.name] = point
    sizes = size.known(cache, [p["geometry"] for p in wanted])

    def rows(results):
        found = [{**of[n], **results[n], "error": None} for n in of if n in results] + gaps
        return [{**row, "size": sizes.get(size.name(row["geometry"]))} for row in found]

    def total(results):
        found = rows(results)
        lines = table.text(description["title"], found).splitlines() if found else []
        titles, cells = table.cells(found) if found else ((), ())
        return Total(lines, [("Points", titles, cells)], 1 if gaps else 0)

    return Plan("sweep", {"title": description["title"], "points": wanted}, tasks, files, "points",
                lambda task, output: read(of[task.name]["work"], output), total, PROBES,
                page=lambda results: page.html(description["title"], rows(results)))


def read(work, output):
    try:
        return {**points.figures(work, processes.Done(0, output.out, output.err, False)),
                "seconds": round(output.seconds, 3)}
    except Gap as e:
        raise Wrong(str(e)) from e
    except (LookupError, TypeError) as e:
        raise Wrong(f"its output is no result of tern {'bench' if 'bench' in work else 'run'}: {e!r}") from e
