# SPDX-License-Identifier: Apache-2.0
"""A step of a test run: one command, its needs, and how its output is counted.

A command may contain the word {jobs}, the number of processes that it may run at a time, which the scheduler fills in
when the step begins. The output of a command goes to build/test-logs/NAME.log.
"""
import dataclasses
import pathlib
import re
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / "build"
LOGS = BUILD / "test-logs"


@dataclasses.dataclass
class Counted:
    """The result of a step: how many tests passed, the names of those that failed, the output of these, and the seconds
    of each test if known."""
    passed: int = 0
    failed: list = dataclasses.field(default_factory=list)
    said: dict = dataclasses.field(default_factory=dict)
    seconds: dict = dataclasses.field(default_factory=dict)
    note: str = ""  # A line that is printed with the result.


@dataclasses.dataclass
class Step:
    """needs: names of steps that must have passed before. holds: resources that no other step may use meanwhile, such
    as a ninja tree. cost: processor seconds on the reference machine, which decide the order and never the result.
    count(text, status) -> Counted."""
    name: str
    title: str
    argv: list
    count: object
    needs: tuple = ()
    holds: tuple = ()
    cost: float = 10
    env: dict = dataclasses.field(default_factory=dict)
    suite: str = ""
    here: bool = False  # It builds something, or needs tools of this machine: campaigns leave it out.

    @property
    def log(self):
        """The file of its output."""
        return LOGS / f"{self.name}.log"


def whole(_, status):
    """Counts a command that is one test."""
    return Counted(1) if status == 0 else Counted(0, [f"exit status {status}"])


def whole_or_skipped(text, status):
    """Counts a command that is one test and ends with 77 and a reason if it cannot be run."""
    if status == 77:
        return Counted(note=text.rstrip().split("\n")[-1] or "skipped without a reason")
    return whole(text, status)


def lines(text, status):
    """Counts a command that prints a line `PASS name` or `FAIL name` for each test, possibly with its seconds."""
    passed = re.findall(r"^PASS +(.*?)(?: \((\d+\.\d) s\))?$", text, re.M)
    failed = re.findall(r"^FAIL +(\S+)", text, re.M)
    if not failed and (status != 0 or not passed):
        failed = [f"exit status {status}, {len(passed)} tests"]
    return Counted(len(passed), failed, {f: section(text, f) for f in failed},
                   {name: float(seconds) for name, seconds in passed if seconds})


def lines_or_skipped(text, status):
    """Counts as `lines` does. Lines `SKIP name: reason` are the note, and a run that skipped all has not failed."""
    skipped = re.findall(r"^SKIP .*", text, re.M)
    found = lines(text, status) if status or not skipped or re.search(r"^(PASS|FAIL) ", text, re.M) else Counted()
    found.note = "\n         ".join(skipped)
    return found


def mutants(text, status):
    """Counts `tern verify --mutants`, which prints a line for each mutant."""
    caught = re.findall(r"^[\w-]+ +(?:program|stream|preempt) +\d+ ", text, re.M)
    missed = re.findall(r"^([\w-]+) +NOT CAUGHT", text, re.M)
    if not missed and (status != 0 or not caught):
        missed = [f"exit status {status}, {len(caught)} mutants caught"]
    return Counted(len(caught), missed)


def section(text, name):
    """Returns a test's part of the output of a command that prints a line `FAIL name` for each, or all of the
    output."""
    found = re.search(rf"^FAIL +{re.escape(name)}\b.*?(?=^(?:PASS|FAIL)\b|\Z)", text, re.M | re.S)
    return found[0] if found else text


def junit(path, text, status):
    """Counts the results that ctest wrote. A skipped test counts as failed: its device was not built."""
    if not path.exists():
        return Counted(0, [f"no results (exit status {status})"])
    found = Counted()
    cases = xml.parse(path).getroot().findall(".//testcase")
    for case in cases:
        name = case.get("name")
        found.seconds[name] = float(case.get("time") or 0)
        skipped = case.find("skipped") is not None
        if not skipped and case.find("failure") is None and case.get("status") != "fail":
            found.passed += 1
            continue
        listed = f"{name} (skipped: its device was not built)" if skipped else name
        how = re.search(rf"^ *\d+/\d+ Test +#\d+: {re.escape(name)} .*$", text, re.M)
        found.said[listed] = (case.findtext("system-out") or "") + ("\n" + how[0].strip() if how else "")
        found.failed.append(listed)
    if not cases:
        found.failed.append("no tests were found")
    return found


def ctest(name, title, folder, select, **more):
    """Returns a step that runs tests of a folder of a build tree. Two runs of ctest must not share a folder, where
    ctest keeps its state."""
    result = LOGS / f"{name}.xml"

    def count(text, status):
        found = junit(result, text, status)
        result.unlink(missing_ok=True)
        return found

    argv = ["ctest", "--test-dir", str(folder), "-j", "{jobs}", "--output-on-failure", "--output-junit", str(result),
            *select]
    return Step(name, title, argv, count, holds=(f"ctest {folder}",), **more)
