# SPDX-License-Identifier: Apache-2.0
"""Coverage of all tasks together.

A task sends its counts as files, as `tern verify --coverage` writes them. The campaign's folder has the sum of some
tasks with their names in coverage.json, which is replaced as a whole, and the files of the tasks that came since. Each
task is thus in the sum once, wherever the campaign is interrupted.
"""
import collections
import json
import re
import subprocess
import sys

import record
from campaign.kinds import Cannot
from testing.steps import ROOT

EVERY = 16  # Tasks that are added at a time.
POINT = re.compile(r"(C '.*') (\d+)$")


class Coverage:
    """The coverage of the campaign in a folder."""

    def __init__(self, folder):
        self.folder, self.file = folder, folder / "coverage.json"
        self.tasks, self.bins, self.points = set(), collections.Counter(), collections.Counter()
        if self.file.exists():
            try:
                found = record.read(self.file, "sum of coverage", ("tasks", "bins", "points"), "scripts/campaign")
            except record.Error as e:
                raise Cannot(str(e)) from e
            self.tasks = set(found["tasks"])
            self.bins.update(found["bins"])
            self.points.update(found["points"])

    def place(self, task):
        return self.folder / "files" / task / "coverage"

    def add(self, names, least=1):
        """Adds the counts of these tasks, if at least `least` of them are not in the sum."""
        new = sorted(n for n in names if n not in self.tasks)
        if len(new) < least:
            return
        for name in new:
            self.one(self.place(name))
        self.tasks.update(new)
        try:
            record.write(self.file, {"tasks": sorted(self.tasks), "bins": dict(self.bins), "points": dict(self.points)})
        except record.Error as e:
            raise Cannot(f"{e}; the results are kept, and the same command goes on") from e
        for name in new:
            for path in self.place(name).glob("*"):
                path.unlink()

    def one(self, folder):
        """Adds the counts of one task."""
        if not any(folder.glob("*.json")):
            raise Cannot(f"{folder}: the coverage of a task is missing; remove {self.folder}, and begin again")
        for path in folder.glob("*.json"):
            for name, n in json.loads(path.read_text()).items():
                self.bins[name] += n  # Bins that nothing reached are counted as 0.
        for path in folder.glob("*.dat"):
            for line in path.read_text(errors="replace").splitlines():
                found = POINT.match(line)
                if found:
                    self.points[found[1]] += int(found[2])

    def report(self):
        """Writes coverage/index.html as scripts/coverage does. Returns the lines that sum it up."""
        place = self.folder / "coverage"
        place.mkdir(exist_ok=True)
        (place / "0.json").write_text(json.dumps(self.bins))
        (place / "0.dat").write_text("".join(f"{k} {n}\n" for k, n in self.points.items()))
        done = subprocess.run([sys.executable, ROOT / "scripts/lib/coverage_report.py", place], capture_output=True,
                              text=True, check=False)
        if done.returncode:
            return [f"coverage: no report: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}"]
        return [line for line in done.stdout.splitlines() if not line.startswith("report:")]
