# SPDX-License-Identifier: Apache-2.0
"""What tests printed that failed, and which of them are tried a second time: those with the ctest label `host`, whose
result may depend on when the host runs processes and threads (docs/verification.md)."""
import json
import re
import subprocess
import xml.etree.ElementTree as xml

LABEL = "host"
AT_ONCE, AT_END = 200, 40  # lines of a failed test's output: when its suite has ended, and at the end of all
MOST, FEWEST = 160, 8      # of all failed tests together at the end, and of each one whatever their number
NAMED = 20                 # of so many failed tests the output is repeated


class Outcome:
    """Of the tests of one ctest run: passed is a number, failed and again are names, said what each of these printed.
    """

    def __init__(self, path, text, status, steady):
        """path: its JUnit file, text: what it printed; steady(name): a failure of this test is not tried again."""
        self.passed, self.failed, self.again, self.said = 0, [], [], {}
        if not path.exists():
            self.failed = [f"no results (exit status {status})"]
            return
        cases = xml.parse(path).getroot().findall(".//testcase")
        for case in cases:
            name = case.get("name")
            skipped = case.find("skipped") is not None
            if not skipped and case.find("failure") is None and case.get("status") != "fail":
                self.passed += 1
                continue
            listed = f"{name} (skipped: its device was not built)" if skipped else name
            how = re.search(rf"^ *\d+/\d+ Test +#\d+: {re.escape(name)} .*$", text, re.M)
            self.said[listed] = (case.findtext("system-out") or "") + ("\n" + how[0].strip() if how else "")
            (self.failed if skipped or steady(name) else self.again).append(listed)
        if not cases:
            self.failed = ["no tests were found"]


def of_host(tree):
    """Names of the tests of a tree, or of a part of it, that have the label."""
    r = subprocess.run(["ctest", "--test-dir", str(tree), "-L", f"^{LABEL}$", "--show-only=json-v1"],
                       stdout=subprocess.PIPE, check=True)
    return {test["name"] for test in json.loads(r.stdout)["tests"]}


def exactly(name):
    """A pattern of ctest for this name."""
    return "^" + re.sub(r"([^\w-])", r"[\1]", name) + "$"


def section(text, name):
    """What belongs to one test in the output of a command that runs several, a line `FAIL name` each; else all."""
    found = re.search(rf"^FAIL +{re.escape(name)}\b.*?(?=^(?:PASS|FAIL)\b|\Z)", text, re.M | re.S)
    return found[0] if found else text


def last(text, lines):
    """So many lines, or all (None), indented."""
    kept = [x for x in text.split("\n") if x.strip()]
    lines = lines or len(kept)
    left = [f"({len(kept) - lines} lines before these are in the log)"] if len(kept) > lines else []
    return "\n".join("           " + x for x in left + kept[-lines:])


def ending(failures, said, unsteady, passed):
    """The last lines of all: what failed tests printed, so that the end of the log is enough to see why; then names."""
    share = max(FEWEST, min(AT_END, MOST // max(1, min(NAMED, len(failures)))))
    out = []
    for f in failures[:NAMED]:
        out += [f"output of {f}, its last lines:", last(said.get(f, ""), share)]
    out += [f"unsteady: {u} failed once and passed at the second attempt" for u in unsteady]
    out += [f"{len(unsteady)} unsteady: {', '.join(unsteady)}"] if unsteady else []
    out += [f"failed: {f}" for f in failures]
    return "\n".join([*out, f"{passed} passed, {len(failures)} failed"])
