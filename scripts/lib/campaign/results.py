# SPDX-License-Identifier: Apache-2.0
"""The results of a campaign, in a folder of its own:

    campaign.json    what the campaign is, by which the same command finds it again
    results.jsonl    a line for each task that has ended, in the order in which they ended
    files/TASK/      what a task has sent back, such as reports of differences
    index.html       the page (report.py)

A line of results.jsonl is written whole and brought to the disk before the next task is given out. If that fails, or if
the campaign is killed meanwhile, the part of the line that was written is removed, and the task is run again. A line is
{"task": NAME, "result": {...}} or {"task": NAME, "failed": TEXT, "again": COMMAND}; the last line of a task counts.
"""
import contextlib
import errno
import fcntl
import json
import os
import shutil

import record
from campaign.kinds import Cannot


def reason(error):
    """Returns why a file cannot be written, and what to do."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return f"{error.strerror}" + ("; free some room there" if full else "")


class Store:
    """A campaign's folder, open for one process at a time."""

    def __init__(self, folder, description):
        self.folder, self.file, self.key = folder, folder / "results.jsonl", description["tern"]
        self.results, self.failed = {}, {}   # By task name.
        self.about = {}                      # Task name -> {"host", "worker", "seconds"}.
        self.lock = self.out = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            self.hold()
            self.describe(description)
            self.out = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            self.end = self.load()
            os.ftruncate(self.out, self.end)
        except OSError as e:
            self.close()
            raise Cannot(f"{e.filename or folder}: {reason(e)}") from e
        except Cannot:
            self.close()
            raise

    def hold(self):
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            raise Cannot(f"{self.folder}: this campaign is being run by another process; wait until it has "
                         "ended") from e

    def describe(self, description):
        """Writes what the campaign is, or finds that the folder is of the same campaign."""
        path = self.folder / "campaign.json"
        try:
            if not path.exists():
                record.write(path, description)
            found = record.read(path, "description of a campaign", description, "scripts/campaign")
        except record.Error as e:
            raise Cannot(str(e)) from e
        if {k: v for k, v in found.items() if k != "digest"} != json.loads(json.dumps(description)):
            raise Cannot(f"{self.folder} has the results of another campaign; give another folder by --output")

    def load(self):
        """Reads all whole lines. Returns the offset behind the last one."""
        end = 0
        with open(self.file, "rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    self.take(json.loads(line))
                except (ValueError, KeyError, TypeError) as e:
                    raise Cannot(f"{self.file}:{number}: not a result: {e}; remove this line, and its task is run "
                                 "again") from e
                end += len(line)
        return end

    def take(self, line):
        name = line["task"]
        if "result" in line:
            if name in self.results:
                raise ValueError(f"the task {name} has a result already")
            self.results[name] = line["result"]
            self.failed.pop(name, None)
        else:
            self.failed[name] = {"failed": line["failed"], "again": line["again"]}
        self.about[name] = line.get("about", {})

    def add(self, line):
        """Adds a line, and brings it to the disk. Raises Cannot, and the file is as before, if it has no room."""
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        try:
            done = 0
            while done < len(data):
                done += os.pwrite(self.out, data[done:], self.end + done)
            os.fsync(self.out)
        except OSError as e:
            with contextlib.suppress(OSError):
                os.ftruncate(self.out, self.end)
            raise Cannot(f"{self.file}: {reason(e)}; all {len(self.results)} results before are kept, and the same "
                         "command goes on") from e
        self.end += len(data)
        self.take(line)

    def keep_files(self, task, files):
        """Writes the files of a task, each whole or not at all."""
        folder = self.folder / "files" / task
        try:
            shutil.rmtree(folder, ignore_errors=True)
            for name, data in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                part = path.with_name(path.name + ".part")
                part.write_bytes(data)
                os.replace(part, path)
        except OSError as e:
            raise Cannot(f"{folder}: {reason(e)}; the results before are kept, and the same command goes on") from e

    def close(self):
        for handle in self.out, self.lock:
            if handle is not None:
                os.close(handle)
        self.out = self.lock = None
