# SPDX-License-Identifier: Apache-2.0
"""The command line of scripts/campaign, which docs/campaigns.md describes."""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
# pylint: disable=wrong-import-position
from campaign import cover, mutants, nightly, node, report, results, sweeps, tree, verify  # noqa: E402
from campaign.kinds import Cannot, Usage  # noqa: E402
from testing.steps import BUILD, ROOT  # noqa: E402

KINDS = {"verify": verify, "mutants": mutants, "nightly": nightly, "sweep": sweeps}
CANNOT, INTERRUPTED = 3, 130
EPILOG = """exit status:
  0 all of it passed; 1 something differs, was not caught or failed; 2 wrong usage; 3 it could not be run, or a task has
  no result; 4 something was too slow to be compared; 130 interrupted

Results: build/campaigns/KIND-NUMBER, with index.html. An interrupted campaign goes on when the same command is typed
again. docs/campaigns.md says all of it.
"""


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"campaign: {message}; see {self.prog} --help\n")


def at_least(least, kind=int):
    def number(text):
        try:
            n = kind(text)
        except ValueError:
            n = least - 1
        if n < least:
            raise argparse.ArgumentTypeError(f"'{text}' is no number from {least} on")
        return n
    return number


def add_common(parser):
    group = parser.add_argument_group("where it runs")
    group.add_argument("--jobs", type=at_least(1), default=os.cpu_count() or 1, metavar="N",
                       help="workers on this machine (its cores)")
    where = group.add_mutually_exclusive_group()
    where.add_argument("--scheduler", metavar="tcp://HOST:PORT", help="the workers of this scheduler of Dask instead")
    where.add_argument("--slurm", type=at_least(1), metavar="N", help="N jobs of Slurm instead, of a core each")
    group.add_argument("--queue", metavar="NAME", help="of Slurm: the partition")
    group.add_argument("--account", metavar="NAME", help="of Slurm: the account")
    group.add_argument("--walltime", default="04:00:00", metavar="H:M:S", help="of Slurm: time of a job (04:00:00)")
    group.add_argument("--memory", metavar="SIZE", help="of Slurm: memory of a job, such as 2GB (what Slurm gives)")
    group.add_argument("--wait", type=at_least(1, float), metavar="S", help="seconds to wait for a scheduler, and "
                       "without any worker (30; with --slurm 3600)")
    group = parser.add_argument_group("on what, and where to")
    group.add_argument("--build", type=pathlib.Path, default=BUILD, metavar="DIR", help="the build (build)")
    group.add_argument("--no-build", dest="build_first", action="store_false", help="take the build as it is")
    group.add_argument("--output", type=pathlib.Path, metavar="DIR", help="folder of the results")


def parse(argv):
    parser = Parser(prog="scripts/campaign", formatter_class=argparse.RawDescriptionHelpFormatter, epilog=EPILOG,
                    description="Runs work of hours in many processes, on this machine or on many.")
    kinds = parser.add_subparsers(dest="kind_of_campaign", required=True, metavar="KIND")
    for name, kind in KINDS.items():
        one = kinds.add_parser(name, help=kind.HELP, description=kind.HELP, epilog=EPILOG,
                               formatter_class=argparse.RawDescriptionHelpFormatter)
        kind.add_options(one)
        add_common(one)
    opts = parser.parse_args(argv)
    opts.wait = opts.wait or (3600 if opts.slurm else 30)
    if not opts.slurm and (opts.queue or opts.account or opts.memory):
        parser.error("--queue, --account and --memory go with --slurm")
    opts.build = opts.build.resolve()
    return opts


class Progress:
    """A line about a campaign while it runs."""

    def __init__(self, plan, store):
        self.plan, self.begin, self.told = plan, time.monotonic(), 0.0
        self.weight = {t.name: t.weight for t in plan.tasks}
        self.all, self.done = sum(self.weight.values()), sum(self.weight[n] for n in store.results)
        self.before = self.done
        self.terminal = sys.stderr.isatty()
        self.failed = self.found = 0

    def line(self, workers):
        seconds = time.monotonic() - self.begin
        rate = (self.done - self.before) / seconds
        left = f", {(self.all - self.done) / rate:.0f} s left" if rate > 0 and self.done < self.all else ""
        return (f"campaign {self.plan.kind}: {self.done:g} of {self.all:g} {self.plan.unit}, {rate:.1f}/s, "
                f"{workers} workers{left}" + (f", {self.found} differ" if self.found else "") +
                (f", {self.failed} tasks failed" if self.failed else ""))

    def show(self, workers, last=False):
        if not last and time.monotonic() - self.told < (0.5 if self.terminal else 10):
            return
        self.told = time.monotonic()
        self.say(self.line(workers), end="" if self.terminal and not last else "\n")

    def say(self, text, end="\n"):
        print(("\r\033[K" if self.terminal else "") + text, end=end, file=sys.stderr, flush=True)


class Campaign:
    """A campaign on its way: what happens to a result."""

    def __init__(self, plan, store):
        self.plan, self.store = plan, store
        self.coverage = cover.Coverage(store.folder) if plan.coverage else None
        self.progress = Progress(plan, store)
        self.found = self.progress.found = sum(map(self.differences, store.results.values()))

    def differences(self, result):
        return self.plan.found(result) if self.plan.found else 0

    def more(self):
        return not self.plan.stop_after or self.found < self.plan.stop_after

    def took(self, task, result, files, about):
        if files and self.plan.shared:
            self.store.keep_files(task.name, files)
        self.store.add({"task": task.name, "result": result, "about": about})
        if self.plan.kept:
            self.plan.kept(task, result, files)
        if self.coverage:
            self.coverage.add(self.store.results, cover.EVERY)
        self.found += self.differences(result)
        self.progress.found = self.found
        self.progress.done += task.weight

    def failed(self, task, why):
        self.store.add({"task": task.name, "failed": why, "again": task.repeat()})
        self.progress.failed += 1
        self.progress.say(f"the task {task.name} failed twice: {why}; this repeats it here: {task.repeat()}")

    def left(self):
        return [t for t in self.plan.tasks if t.name not in self.store.results]

    def end(self):
        """Prints the sum, and writes the page. Returns the exit status."""
        total = self.plan.total(self.store.results)
        lines = []
        if self.coverage:
            self.coverage.add(self.store.results)
            lines = self.coverage.report()
        for line in [*total.lines, *lines]:
            print(line)
        for name, f in sorted(self.store.failed.items()):
            print(f"no result: {name}: {f['failed']}; again: {f['again']}")
        page = report.write(self.store.folder, "index", report.page(self.plan, self.store, total, lines))
        if self.plan.page and self.store.results:
            report.write(self.store.folder, self.plan.kind, self.plan.page(self.store.results))
        left = len(self.left()) - len(self.store.failed)
        if left:
            print(f"{len(self.store.results)} of {len(self.plan.tasks)} tasks have a result; the same command goes on")
        print(f"report: {os.path.relpath(page)}", flush=True)
        return CANNOT if self.store.failed else total.status


def cluster_of(opts, store, tasks):
    """Returns the context whose value is the address of the scheduler that was asked for."""
    from campaign import crew  # pylint: disable=import-outside-toplevel
    if opts.scheduler:
        return contextlib.nullcontext(opts.scheduler)
    if opts.slurm:
        return crew.slurm(opts.slurm, opts, store.folder / "slurm")
    return crew.local(min(opts.jobs, tasks))


def run(opts, plan, archive, store):
    """Runs what has no result yet. Returns the exit status."""
    from campaign import crew  # pylint: disable=import-outside-toplevel
    it = Campaign(plan, store)
    left, status = it.left(), None
    if store.results:
        it.progress.say(f"{len(store.results)} of {len(plan.tasks)} tasks have a result in {store.folder}")
    try:
        if left and it.more():
            crew.configure(opts.wait)
            with cluster_of(opts, store, len(left)) as address, crew.connect(address, opts.wait) as client:
                team = crew.Crew(client, plan, archive, it.progress.say, opts.wait)
                it.progress.begin = time.monotonic()
                try:
                    team.run(left, it.more, it.took, it.failed,
                             lambda: it.progress.show(len(team.threads)))
                finally:
                    team.close()
                it.progress.show(len(team.threads), True)
    except KeyboardInterrupt:
        it.progress.say(f"campaign: interrupted: {len(store.results)} of {len(plan.tasks)} results are kept, and the "
                        "same command goes on")
        status = INTERRUPTED
    except Cannot as e:
        it.progress.say(f"campaign: {e}")
        status = CANNOT
    if status == CANNOT and not store.results and not store.failed:
        return status
    try:
        ended = it.end()
    except (Cannot, OSError) as e:
        print(f"campaign: no report: {e}", file=sys.stderr)
        ended = CANNOT
    return ended if status is None else status


def main(argv):
    opts = parse(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        plan = KINDS[opts.kind_of_campaign].plan(opts, opts.build)
        archive = tree.Archive(plan.files, opts.build, node.default_cache())
        description = {"kind": plan.kind, "tern": archive.key, "parameters": plan.parameters}
        number = hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:12]
        store = results.Store(opts.output or ROOT / "build/campaigns" / f"{plan.kind}-{number}", description)
        try:
            return run(opts, plan, archive, store)
        finally:
            store.close()
    except Usage as e:
        print(f"campaign: {e}; see scripts/campaign {opts.kind_of_campaign} --help", file=sys.stderr)
        return 2
    except Cannot as e:
        print(f"campaign: {e}", file=sys.stderr)
        return CANNOT
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
