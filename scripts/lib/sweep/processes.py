# SPDX-License-Identifier: Apache-2.0
"""Programs that a sweep runs. Each is a process group of its own, so that all of it ends when the sweep is interrupted.
"""
import contextlib
import dataclasses
import os
import signal
import subprocess
import threading

LOCK = threading.Lock()
RUNNING = set()   # Process groups. Guarded by LOCK.
STOPPED = threading.Event()


@dataclasses.dataclass(frozen=True)
class Done:
    """returncode: the exit status, -N after the signal N. interrupted: stop() has ended it, or it was not begun."""
    returncode: int
    stdout: str
    stderr: str
    interrupted: bool


def run(argv, env, cwd=None):
    """Runs a program to its end. Raises OSError if it cannot be begun."""
    with LOCK:
        if STOPPED.is_set():
            return Done(-signal.SIGTERM, "", "", True)
        # pylint: disable-next=consider-using-with
        process = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
        RUNNING.add(process.pid)
    try:
        out, err = process.communicate()
    finally:
        with LOCK:
            RUNNING.discard(process.pid)
    return Done(process.returncode, out, err, process.returncode != 0 and STOPPED.is_set())


def stop():
    """Ends all programs. From now on none begins."""
    STOPPED.set()
    with LOCK:
        for group in RUNNING:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)
