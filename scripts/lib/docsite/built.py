# SPDX-License-Identifier: Apache-2.0
"""Checks of the built site: each link and picture is there, with its anchor, and nothing comes from the network."""
import html
import pathlib
import re
import urllib.parse

TARGET = re.compile(r"<(\w+)\b[^>]*?\s(?:href|src)=\"([^\"]*)\"")
ANCHOR = re.compile(r"\s(?:id|name)=\"([^\"]*)\"")
LOADED = ("script", "link", "img", "iframe", "source")


def faults(folder):
    """Yields (page, what is wrong) for the HTML files of the folder."""
    folder = pathlib.Path(folder)
    texts = {p: p.read_text() for p in sorted(folder.rglob("*.html"))}
    anchors = {p: set(map(html.unescape, ANCHOR.findall(t))) for p, t in texts.items()}
    for page, text in texts.items():
        name = str(page.relative_to(folder))
        for tag, target in dict.fromkeys(TARGET.findall(text)):
            target = html.unescape(target)
            if re.match(r"(https?:)?//", target):
                if tag in LOADED:
                    yield name, f"loads {target} from the network"
                continue
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            path = urllib.parse.unquote(path.partition("?")[0])
            file = (page.parent / path).resolve() if path else page
            if not file.is_file():
                yield name, f"links to {path}, which is not there"
            elif anchor and file.suffix == ".html" and urllib.parse.unquote(anchor) not in anchors.get(file, ()):
                yield name, f"links to {target}, and there is no such place"
