# SPDX-License-Identifier: Apache-2.0
"""The tables of README.md that the benches' baselines are shown in: what stands between <!--
NAME --> and <!-- /NAME -->.
"""
import pathlib
import re

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def renew(name, table):
    """Puts the table (lines, no newline at the end) there. SystemExit: README.md has no such place."""
    text, places = re.subn(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda m: f"{m[1]}{table}\n{m[2]}",
                           README.read_text(), flags=re.S)
    if places != 1:
        raise SystemExit(f"{README}: {places} places <!-- {name} --> ... <!-- /{name} -->, not one")
    README.write_text(text)
