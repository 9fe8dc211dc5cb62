# SPDX-License-Identifier: Apache-2.0
"""The manual pages for tests: their sections, and their examples, which are run."""
import pathlib
import re
import subprocess

from cli import TERN, Case

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/man").glob("*.1"))
BUILD = pathlib.Path(TERN).parents[1]
NEED_RTL = {"tern-verify.1"}  # Pages whose examples run on the Verilated device.
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]


def sections(page):
    parts = re.split(r"^\.Sh (.*)\n", page.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def examples(text):
    """Returns [command, output lines] of each `$ command` in the literal displays. A line that begins with `> `
    continues the command.
    """
    out = []
    for block in re.findall(r"^\.Bd -literal.*\n((?:.*\n)*?)\.Ed", text, flags=re.M):
        for line in block.replace("\\e", "\\").replace("\\&", "").splitlines():
            if line.startswith("$ "):
                out.append([line[2:], []])
            elif line.startswith("> "):
                out[-1][0] += "\n" + line[2:]
            else:
                out[-1][1].append(line)
    return out


class Pages(Case):
    def try_page(self, page):
        """Runs the examples of a page one after another in one shell. Examples of DIAGNOSTICS come last and must fail.
        """
        parts = sections(page)
        good, bad = examples(parts["EXAMPLES"]), examples(parts.get("DIAGNOSTICS", ""))
        self.assertTrue(good, page.name)
        mark = "----done"
        script = f'PATH="{BUILD / "bin"}:$PATH"\n' + "".join(f"{c}\ns=$?; echo; echo {mark} $s\n"
                                                             for c, _ in good + bad)
        r = subprocess.run(["bash", "-c", script], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, check=False)
        seen = re.findall(rf"((?:.*\n)*?)\n{mark} (\d+)\n", r.stdout)
        self.assertEqual(len(seen), len(good + bad), r.stdout)
        for i, ((command, want), (got, status)) in enumerate(zip(good + bad, seen)):
            pattern = "\n".join(re.escape(" ".join(x.split())).replace(r"\.\.\.", ".*") for x in want)
            got = "\n".join(" ".join(x.split()) for x in got.splitlines())
            self.assertRegex(got, "^" + pattern + "$", f"{page.name}: $ {command}")
            self.assertEqual(status != "0", i >= len(good), f"{page.name}: $ {command}: exit status {status}")
