# SPDX-License-Identifier: Apache-2.0
"""The tables of benches' figures in README.md and other pages: the lines between <!-- NAME --> and <!-- /NAME -->."""
import pathlib
import re

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def renew(name, table, page=README):
    """Replaces the table (lines, without a newline at the end). Raises SystemExit if the page has no such place."""
    text, places = re.subn(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", lambda m: f"{m[1]}{table}\n{m[2]}",
                           page.read_text(), flags=re.S)
    if places != 1:
        raise SystemExit(f"{page}: {places} places <!-- {name} --> ... <!-- /{name} -->, not one")
    page.write_text(text)
