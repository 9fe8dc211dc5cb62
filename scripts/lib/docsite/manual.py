# SPDX-License-Identifier: Apache-2.0
"""The manual pages of docs/man as pages of the site, by mandoc."""
import re
import subprocess


def page(path, others, calls):
    """The page's text. others: names of manual pages as tern-run.1; calls: {name: page and anchor} of section 3."""
    html = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S", path], capture_output=True, text=True,
                          check=True).stdout
    html = re.sub(r'<table class="(head|foot)">.*?</table>', "", html, flags=re.S)
    html = re.sub(r"<(/?)h([12])\b", lambda m: f"<{m[1]}h{int(m[2]) + 1}", html)

    def reference(m):
        name = m[1].partition(".")[0] if m[1].endswith(".3") else m[1]
        if name in others:
            return f'<a class="Xr" href="{name}.html">{m[2]}</a>'
        return f'<a class="Xr" href="../{calls[name]}">{m[2]}</a>' if name in calls else m[2]

    html = re.sub(r'<a class="Xr" href="([^"]*)"[^>]*>(.*?)</a>', reference, html, flags=re.S)
    stem, _, section = path.name.rpartition(".")
    return f"# {stem}({section})\n\n```````{{raw}} html\n{html}\n```````\n"
