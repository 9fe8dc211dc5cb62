# SPDX-License-Identifier: Apache-2.0
"""The cluster: Dask's scheduler and workers, which run the tasks of a campaign.

Each worker runs one task at a time for each of its threads. A worker that dies loses its task to another: Dask gives
the task out again, up to DEATHS times. A worker is not used if its Dask, Python or Tern is another one, or if its disk
is full: it is retired, and its tasks are given to others. A task that fails on its own account is tried once more; if
it fails again, this is its result.

The client keeps only as many tasks in the scheduler as the workers need, so that a campaign of a million cases costs
no memory, and an interrupted one has little to take back.
"""
import asyncio
import collections
import contextlib
import dataclasses
import logging
import queue
import shutil
import subprocess
import tempfile
import time
import warnings

import cloudpickle
import dask
import distributed

from campaign import node
from campaign.kinds import Cannot, Output, Wrong

DEATHS = 3        # Workers that may die with a task before it has failed.
ATTEMPTS = 2      # Failures of a task until it is reported.
LOOK = 2.0        # Seconds between two looks at the workers.
GONE = 15.0       # Seconds without a scheduler until the campaign ends.
SAME = ("dask", "distributed", "cloudpickle")  # Packages that must have one version everywhere.

cloudpickle.register_pickle_by_value(node)


def configure(wait):
    """Sets Dask's configuration for this process and the workers that it starts."""
    dask.config.set({"distributed.scheduler.allowed-failures": DEATHS,
                     "distributed.worker.profile.enabled": False,
                     "distributed.comm.timeouts.connect": min(wait, 30),
                     "distributed.admin.low-level-log-length": 0})
    warnings.filterwarnings("ignore", module="distributed")  # Such as about hosts without a network.
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextlib.contextmanager
def local(workers):
    """Yields the address of a scheduler of this process, with workers on this machine."""
    with tempfile.TemporaryDirectory(prefix="tern-campaign-", ignore_cleanup_errors=True) as scratch, \
            distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None,
                                     memory_limit=0, host="127.0.0.1", local_directory=scratch,
                                     silence_logs=logging.CRITICAL) as cluster:
        yield cluster.scheduler_address


def try_job(script):
    """Asks Slurm whether it would run a job. Raises Cannot if not."""
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".sh") as file:
            file.write(script)
            file.flush()
            done = subprocess.run(["sbatch", "--test-only", file.name], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, errors="replace", timeout=60, check=False)
    except subprocess.TimeoutExpired as e:
        raise Cannot("--slurm: sbatch does not answer within 60 s") from e
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no reason given"]
        raise Cannot(f"--slurm: no job can be submitted: {said[-1]}; see --queue, --account, --walltime and --memory")


@contextlib.contextmanager
def slurm(jobs, options, logs):
    """Yields the address of a scheduler of this process, whose workers are jobs of Slurm of one core each. logs: folder
    of the jobs' output."""
    missing = [p for p in ("sbatch", "scancel") if not shutil.which(p)]
    if missing:
        raise Cannot(f"--slurm: {' and '.join(missing)} cannot be found: run the campaign on a machine that submits "
                     "jobs to Slurm")
    import dask_jobqueue  # pylint: disable=import-outside-toplevel
    cluster = None
    try:
        logs.mkdir(parents=True, exist_ok=True)
        cluster = dask_jobqueue.SLURMCluster(
            cores=1, processes=1, memory=options.memory or "2GB", queue=options.queue, account=options.account,
            walltime=options.walltime, job_directives_skip=[] if options.memory else ["--mem"],
            scheduler_options={"dashboard_address": None}, worker_extra_args=["--no-dashboard"],
            log_directory=str(logs), silence_logs="critical")
        try_job(cluster.job_script())
        cluster.scale(jobs=jobs)
        yield cluster.scheduler_address
    except (OSError, ValueError) as e:
        said = str(e).splitlines() or ["no reason given"]
        raise Cannot(f"--slurm: the jobs cannot be submitted: {said[-1]}") from e
    finally:
        with contextlib.suppress(Exception):  # A job that has not begun is no reason to lose a report.
            if cluster:
                cluster.close(timeout=20)


@contextlib.contextmanager
def connect(address, wait):
    """Yields a client of the scheduler at an address."""
    try:
        client = distributed.Client(address, timeout=wait, set_as_default=False)
    except (OSError, asyncio.TimeoutError, ValueError, TypeError) as e:
        raise Cannot(f"{address}: no scheduler of Dask answers within {wait:g} s; begin one with dask scheduler, or "
                     "leave out --scheduler") from e
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)


def different(found, mine):
    """Returns how the versions of a scheduler or worker differ from the client's, or None."""
    theirs, ours = found["packages"], mine["packages"]
    if theirs["python"].split(".")[:2] != ours["python"].split(".")[:2]:
        short = [".".join(p["python"].split(".")[:3]) for p in (theirs, ours)]
        return f"Python {short[0]}, and this machine has {short[1]}: the first two numbers must be equal"
    for name in SAME:
        if theirs[name] != ours[name]:
            return (f"{name} {theirs[name]}, and this machine has {ours[name]}: install the versions of "
                    "scripts/lib/campaign/requirements.txt there")
    return None


@dataclasses.dataclass
class Given:
    """A task that the scheduler has."""
    task: object
    failures: int


class Crew:
    """Runs the tasks of a plan by a client. say(text): prints a line between lines of the progress."""

    def __init__(self, client, plan, archive, say, wait):
        self.client, self.plan, self.say, self.wait = client, plan, say, wait
        self.address = client.scheduler.address
        self.name, self.function = f"tern-{archive.key}", node.runner()
        self.threads = {}                  # Worker's address -> threads, of those that are used.
        self.looked, self.seen = 0.0, set()
        self.refused = {}                  # Worker's address -> why it is not used.
        self.ended = queue.SimpleQueue()   # Futures, put there by the client's thread.
        self.given = {}                    # Future's key -> (future, Given).
        self.count = 0                     # Tasks given out so far: no two futures have one key.
        self.empty_since = time.monotonic()
        self.check_scheduler()
        plugin = node.plugin(archive.key, archive.read(), plan.probes, plan.shared)
        self.look(True)
        try:
            client.register_plugin(plugin, name=self.name)
        except Exception as e:  # pylint: disable=broad-except
            # Workers that could not take it say so when they get a task.
            self.say(f"a worker could not take the archive: {e}")

    # ------------------------------------------------------------ workers

    def ask(self, call, *words, **named):
        """Calls the scheduler. Raises Cannot if it is not there."""
        try:
            return call(*words, **named)
        except (OSError, asyncio.TimeoutError, asyncio.CancelledError, RuntimeError, ValueError) as e:
            raise self.lost() from e

    def lost(self):
        return Cannot(f"{self.address}: the scheduler does not answer any more; all results that came are kept, and "
                      "the same command goes on")

    def check_scheduler(self):
        found = self.ask(self.client.get_versions)
        self.mine = found["client"]
        wrong = different(found["scheduler"], self.mine) if found["scheduler"] else "no version"
        if wrong:
            raise Cannot(f"{self.address}: the scheduler has {wrong}")

    def look(self, now=False):
        """Counts the workers, and retires new ones that have another version. Returns whether any was."""
        if not now and time.monotonic() - self.looked < LOOK:
            return False
        self.looked = time.monotonic()
        threads = self.ask(self.client.nthreads)
        before = len(self.refused)
        if threads.keys() - self.seen:
            versions = self.ask(self.client.get_versions)["workers"]
            for address in threads.keys() - self.seen:
                wrong = different(versions[address], self.mine) if versions.get(address) else None
                if wrong:
                    self.refuse(address, f"it has {wrong}")
            self.seen |= threads.keys()
        self.threads = {a: n for a, n in threads.items() if a not in self.refused}
        if self.threads:
            self.empty_since = time.monotonic()
        elif time.monotonic() - self.empty_since > self.wait:
            raise Cannot(f"{self.address}: no worker that can be used has been there for {self.wait:g} s" +
                         "".join(f"; {a}: {why}" for a, why in list(self.refused.items())[-1:]) +
                         "; all results that came are kept, and the same command goes on")
        return len(self.refused) > before

    def refuse(self, address, why):
        """Stops using a worker."""
        if address in self.refused:
            return
        self.refused[address] = why
        self.threads.pop(address, None)
        self.say(f"{address}: this worker is not used: {why}")
        with contextlib.suppress(Exception):
            self.client.retire_workers([address], close_workers=True)

    # ------------------------------------------------------------ tasks

    def give(self, task, failures=0):
        self.count += 1
        words = dataclasses.asdict(task)
        key = f"{task.name}-{self.name}-{self.count}-{id(self):x}"
        future = self.ask(self.client.submit, self.function, self.name, words, key=key, pure=False)
        self.given[future.key] = future, Given(task, failures)
        future.add_done_callback(self.ended.put)

    def result(self, future, given):
        """Returns (result, files, about) of a future that has ended, or None if its task is to be given out again.
        Raises Wrong if it failed."""
        if future.status == "cancelled" or future.status == "lost":
            if self.client.status != "running":
                raise self.lost()
            return None
        if future.status == "error":
            error = future.exception(timeout=10)
            if isinstance(error, distributed.KilledWorker):
                raise Wrong(f"{DEATHS + 1} workers died with it, the last at {error.last_worker.address}")
            if self.look(True):
                return None
            raise Wrong(f"{type(error).__name__}: {(str(error).splitlines() or ['no reason given'])[0]}")
        found = future.result(timeout=30)
        about = {"host": found["host"], "worker": found["worker"]}
        if "unfit" in found:
            self.refuse(found["worker"], found["unfit"])
            return None
        if "dropped" in found:
            return None
        task = given.task
        if task.good and found["status"] not in task.good:
            said = [x for x in (found["err"].strip() or found["out"].strip()).splitlines() if x.strip()]
            raise Wrong(f"exit status {found['status']} at {about['host']}: {said[-1] if said else 'no output'}")
        output = Output(found["status"], found["out"], found["err"], found["files"], found["seconds"])
        return self.plan.read(task, output), found["files"], {**about, "seconds": round(found["seconds"], 3)}

    def run(self, tasks, more, took, failed, tick):
        """Runs tasks until there are none, or until more() is false and those that were given out have ended.
        took(task, result, files, about) and failed(task, why) are called for each; tick() at least five times a
        second."""
        todo = collections.deque((t, 0) for t in tasks)
        away = 0.0
        while todo or self.given:
            self.look()
            while todo and more() and len(self.given) < max(2, 2 * sum(self.threads.values())) and self.threads:
                self.give(*todo.popleft())
            if not self.given and not (todo and more()):
                break
            tick()
            away = away if self.client.status != "running" and away else time.monotonic()
            if time.monotonic() - away > GONE:
                raise self.lost()
            try:
                future = self.ended.get(timeout=0.2)
            except queue.Empty:
                continue
            _, given = self.given.pop(future.key)  # A future ends once.
            try:
                found = self.result(future, given)
            except Wrong as e:
                if given.failures + 1 < ATTEMPTS:
                    todo.appendleft((given.task, given.failures + 1))
                else:
                    failed(given.task, str(e))
            else:
                if found:
                    took(given.task, *found)
                else:
                    todo.appendleft((given.task, given.failures))
            finally:
                future.release()

    def close(self):
        """Takes back what has not ended, so that workers stop it."""
        with contextlib.suppress(Exception):
            self.client.cancel([f for f, _ in self.given.values()], force=True)
            self.given.clear()
            self.client.unregister_worker_plugin(self.name)
