# SPDX-License-Identifier: Apache-2.0
"""What runs on a worker. The client sends this module's code with the campaign, so it uses the standard library alone;
only runner() and plugin() know Dask.

The archive of the tree is kept in the worker's cache (default_cache), by its key:

    archives/KEY.tar.zst    the archive
    trees/KEY/              its files. manifest.json has the SHA-256 of each

A name that is there is whole, since it is written beside its place and renamed; several workers may share the cache.
"""
import contextlib
import errno
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

OLD = 14 * 86400   # Seconds after its last use when a tree, or an archive, is removed from the cache.
KEPT = 16 << 20    # Characters of an output that are sent back at most.


class Unfit(Exception):
    """This worker cannot run the campaign's tasks. The text says why, without the worker's name."""


def default_cache():
    """The folder of the compiler's cache (docs/runtime.md), in it the folder campaigns."""
    own, base = os.environ.get("TERN_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME", "")
    base = pathlib.Path(base) if base.startswith("/") else pathlib.Path.home() / ".cache"
    return (pathlib.Path(own) if own else base / "tern") / "campaigns"


def no_room(error, place):
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return f"{place}: {error.strerror}" + ("; free some room there, or set TERN_CACHE_DIR" if full else "")


def forget_old(folder):
    for path in folder.glob("*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > OLD:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def keep_archive(blob, cache, key):
    """Writes the archive into the cache unless it is there, and returns its path."""
    folder = cache / "archives"
    path = folder / f"{key}.tar.zst"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size == len(blob):
            os.utime(path)
            return path
        forget_old(folder)
        handle, part = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(blob)
            os.replace(part, path)
        except OSError:
            pathlib.Path(part).unlink(missing_ok=True)
            raise
    except OSError as e:
        raise Unfit(no_room(e, folder)) from e
    return path


def unpack(archive, folder):
    """Unpacks an archive into an empty folder."""
    try:
        done = subprocess.run(["tar", "--zstd", "-xf", archive, "-C", folder], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    except OSError as e:
        raise Unfit(f"tar cannot be started: {e.strerror}") from e
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        if "zstd" in said[0] and "exec" in said[0].lower():
            raise Unfit("the program zstd is missing: install the package zstd")
        raise Unfit(f"the archive cannot be unpacked into {folder}: {said[0]}")


def unpack_shared(archive, cache, key):
    """Returns the folder of the unpacked archive, which all tasks on this machine share."""
    folder = cache / "trees"
    tree = folder / key
    if not tree.is_dir():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            forget_old(folder)
            part = pathlib.Path(tempfile.mkdtemp(dir=folder))
            try:
                unpack(archive, part)
                part.chmod(0o755)
                with contextlib.suppress(OSError):  # Another worker was faster.
                    part.rename(tree)
            finally:
                shutil.rmtree(part, ignore_errors=True)
        except OSError as e:
            raise Unfit(no_room(e, folder)) from e
    return tree


def check(tree, key):
    """Raises Unfit if the tree is not what the archive with this key has."""
    again = f"; remove {tree}, and start the worker again"
    try:
        manifest = json.loads((tree / "manifest.json").read_text())
    except (OSError, ValueError) as e:
        raise Unfit(f"{tree} is no tree of Tern: {e}{again}") from e
    if manifest["key"] != key:
        raise Unfit(f"{tree} has another version of Tern, {manifest['key']}, and the campaign has {key}{again}")
    for name, expected in manifest["files"].items():
        try:
            found = hashlib.sha256((tree / name).read_bytes()).hexdigest()
        except OSError as e:
            raise Unfit(f"{tree / name}: {e.strerror}{again}") from e
        if found != expected:
            raise Unfit(f"{tree / name} is of another version of Tern than the campaign, {key}{again}")


def probe(tree, commands):
    """Runs commands that show that the programs start on this machine."""
    for words in commands:
        try:
            done = subprocess.run([tree / words[0], *words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, errors="replace", timeout=120, check=False)
        except (OSError, subprocess.SubprocessError) as e:
            raise Unfit(f"{words[0]} does not start: {e}") from e
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise Unfit(f"{words[0]} does not start: {said[0]}; scripts/setup build installs what it needs")


class Tree:
    """The archive on one worker. Dask calls setup() on each worker that there is or will be; a worker that has no room,
    or whose programs do not start, says so when it gets a task."""

    def __init__(self, key, blob, probes, shared):
        self.key, self.blob, self.probes, self.shared = key, blob, probes, shared
        self.problem, self.tree, self.archive = None, None, None

    def setup(self, worker=None):
        del worker
        try:
            cache = default_cache()
            self.archive = keep_archive(self.blob, cache, self.key)
            if self.shared:
                self.tree = unpack_shared(self.archive, cache, self.key)
                check(self.tree, self.key)
                probe(self.tree, self.probes)
            else:
                probe_view()
        except Unfit as e:
            self.problem = str(e)
        self.blob = b""

    def teardown(self, worker=None):
        """Dask calls it when the worker ends. The cache stays."""

    def run(self, worker, task):
        """Runs a task. Returns a dictionary: `unfit`, a sentence, if the worker cannot run tasks; `dropped` if the
        client has gone; otherwise what the command left. `worker` and `host` name the place."""
        where = {"worker": worker.address, "host": socket.gethostname()}
        key = worker.get_current_task()

        def wanted():
            mine = worker.state.tasks.get(key)
            return mine is not None and mine.state not in ("cancelled", "released", "forgotten")

        if self.problem:
            return {**where, "unfit": self.problem}
        try:
            with tempfile.TemporaryDirectory(prefix="tern-campaign-", ignore_cleanup_errors=True) as scratch:
                return {**where, **execute(self, task, pathlib.Path(scratch), wanted)}
        except Unfit as e:
            return {**where, "unfit": str(e)}
        except OSError as e:
            if e.errno in (errno.ENOSPC, errno.EDQUOT):
                return {**where, "unfit": no_room(e, tempfile.gettempdir()).replace("TERN_CACHE_DIR", "TMPDIR")}
            raise


def spaces():
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--mount"]


def view(tree, root, words):
    """Returns the command that sees the tree at the path `root`, in name spaces of its own."""
    script = 'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"'
    return [*spaces(), "sh", "-c", script, "sh", str(tree), root, *words]


def probe_view():
    """Raises Unfit if view() cannot work on this machine."""
    try:
        done = subprocess.run([*spaces(), "true"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    except OSError as e:
        raise Unfit(f"unshare cannot be started: {e.strerror}") from e
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unfit(f"no file system can be shown at another path there, which the nightly tier needs: {said}")


def end(child):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    try:
        child.wait(10)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def tail(path):
    text = path.read_text(errors="replace")
    return text if len(text) <= KEPT else f"... {len(text) - KEPT} characters are left out\n" + text[-KEPT:]


def execute(place, task, scratch, wanted):
    """Runs the command of a task until it ends, or is not wanted any more. Returns what it left."""
    tree = place.tree
    if task["root"]:
        tree = scratch / "tree"
        tree.mkdir()
        unpack(place.archive, tree)
        check(tree, place.key)
        try:
            os.makedirs(task["root"], exist_ok=True)
        except OSError as e:
            raise Unfit(f"{task['root']} cannot be made, where the tree must be: {e.strerror}") from e
    out = scratch / "out"
    out.mkdir()
    words = [w.replace("{scratch}", str(out)).replace("{tree}", str(tree)).replace("{jobs}", "1")
             for w in task["argv"]]
    # The kernel ends the command when the worker dies.
    guard = ["setpriv", "--pdeathsig", "TERM" if task["root"] else "KILL"] if shutil.which("setpriv") else []
    if task["root"]:
        words = view(tree, task["root"], [*guard, *words])
    else:
        words = [*guard, str(tree / words[0]), *words[1:]]
        with contextlib.suppress(OSError):
            os.utime(tree)  # forget_old() looks at it.
    start = time.monotonic()
    texts = scratch / "stdout", scratch / "stderr"
    with texts[0].open("w") as stdout, texts[1].open("w") as stderr:
        child = subprocess.Popen(words, cwd=out, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                                 env={**os.environ, **dict(task["env"])}, start_new_session=True)
        while True:
            try:
                child.wait(0.25)
                break
            except subprocess.TimeoutExpired:
                if not wanted():
                    end(child)
                    return {"dropped": True}
    base = tree if task["root"] else out
    files = {str(p.relative_to(base)): p.read_bytes() for pattern in task["collect"]
             for p in sorted(base.glob(pattern)) if p.is_file()}
    return {"status": child.returncode, "out": tail(texts[0]), "err": tail(texts[1])[-4000:], "files": files,
            "seconds": time.monotonic() - start}


def runner():
    """Returns the function of all tasks. It is a local one, so that Dask sends its code and not its name."""
    def run(name, task):
        from distributed import get_worker  # pylint: disable=import-outside-toplevel
        worker = get_worker()
        place = worker.plugins.get(name)
        if place is None:
            return {"worker": worker.address, "host": worker.address, "unfit": "it could not take the code of the "
                    "campaign, as another version of Python or Dask cannot"}
        return place.run(worker, task)

    return run


def plugin(key, blob, probes, shared):
    """Returns the Tree as Dask's plug-in."""
    from distributed.diagnostics.plugin import WorkerPlugin  # pylint: disable=import-outside-toplevel

    class Plugin(Tree, WorkerPlugin):
        pass

    return Plugin(key, blob, probes, shared)
