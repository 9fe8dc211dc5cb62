# SPDX-License-Identifier: Apache-2.0
"""The folder of pages that Sphinx reads: those of docs, README.md and CONTRIBUTING.md, manual pages, and the API.

Pages of the tree keep their lines. Only targets of links differ, because pages have other places on the site. A file
or folder of the tree that a page links to, and that is no page itself, becomes a page below tree/.
"""
import pathlib
import re
import shutil

import yaml

import api
import manual

HEADERS = ["driver/include/tern/tern.h", "driver/include/tern/tern_checkpoint.h"]
CONTENTS = "docs/contents.yaml"
LANGUAGES = {".c": "c", ".cl": "c", ".h": "c", ".py": "python", ".sv": "systemverilog", ".yaml": "yaml", ".sh": "sh"}
MOVED = {"docs/README.md": "index.md", "README.md": "tern.md", "CONTRIBUTING.md": "contributing.md"}
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))|^(?<=)(\[[^]\n]*\]: )(\S+)", re.M)
MANUAL = re.compile(r"(?<![\w`\[-])((?:lib)?tern[\w-]*)\((\d)\)")
CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]+`", re.M | re.S)


def toctree(pages, *options):
    return ["```{toctree}", *options, "", *pages, "```", ""]


class Faults(Exception):
    """The faults of the pages, a line each."""


class Stage:
    def __init__(self, root, out):
        self.root, self.out = root, out
        self.sources = {}   # {page below out: file of the tree}
        self.texts = {}     # {page below out: its text}
        self.faults = []
        self.linked = []    # Files and folders of the tree that need a page below tree/.
        self.places = {}    # {manual page as tern_wait(3): page of the site}
        self.contents = yaml.compose((root / CONTENTS).read_text()).value
        self.groups = {entry.value[0][1].value.split("/")[0] for _, entries in self.contents for entry in entries.value
                       if entry.id == "mapping"}  # Folders whose pages a page lists.

    def place(self, path):
        """The page of the site for a file of the tree."""
        name = str(path.relative_to(self.root))
        if name in MOVED:
            return MOVED[name]
        if name.removeprefix("docs/") in self.groups:
            return f"{name.removeprefix('docs/')}/index.md"
        return name.removeprefix("docs/") if name.startswith("docs/") and path.suffix == ".md" else f"tree/{name}.md"

    def make(self):
        """Writes all pages, and removes those that are gone. Raises Faults."""
        pages = [self.root / "README.md", self.root / "CONTRIBUTING.md", *sorted((self.root / "docs").rglob("*.md"))]
        generated, calls = api.pages([self.root / h for h in HEADERS])
        self.places = {f"{name}(3)": "/" + re.sub(r"\.html.*", ".md", place) for name, place in calls.items()}
        man = sorted((self.root / "docs/man").glob("*.[1-9]"))
        self.places.update({f"{p.stem}({p.suffix[1:]})": f"/man/{p.name}.md" for p in man})
        for page in pages:
            self.add(self.place(page), page, self.page(page))
        for page in man:
            self.add(f"man/{page.name}.md", page, manual.page(page, {p.name for p in man}, calls))
        for name, text in generated.items():
            self.add(f"{name}.md", self.root / HEADERS[-1 if "checkpoint" in name else 0], text)
        for path in self.linked:  # which grows
            self.add(self.place(path), path, self.listing(path) if path.is_dir() else self.file(path))
        self.list_all()
        if self.faults:
            raise Faults("\n".join(self.faults))
        self.write()

    def add(self, name, source, text):
        self.texts[name], self.sources[name] = text, source

    def page(self, path):
        text = path.read_text()
        code = [m.span() for m in CODE.finditer(text)]

        def outside(m):
            return not any(a <= m.start() < b for a, b in code)

        def link(m):
            if not outside(m):
                return m[0]
            return (m[2] or "") + self.target(path, m[3] or m[1], text.count("\n", 0, m.start()) + 1)

        def reference(m):
            place = self.places.get(m[0])
            return m[0] if not place or not outside(m) else f"[{m[0]}]({place})"

        text = MANUAL.sub(reference, text)
        code = [m.span() for m in CODE.finditer(text)]
        return LINK.sub(link, text)

    def target(self, page, target, line):
        """The target of a link on the site."""
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:|/", target) or not name:
            return target
        path = (page.parent / name).resolve()
        if not path.exists() or self.root not in path.parents:
            self.faults.append(f"{page.relative_to(self.root)}:{line}: links to {name}, which is not there")
            return target
        if path.suffix in (".svg", ".png"):
            return "/" + str(path.relative_to(self.root / "docs"))
        if self.place(path).startswith("tree/") and path not in self.linked:
            self.linked.append(path)
        return f"/{self.place(path)}" + (f"#{anchor}" if anchor else "")

    def is_page(self, path):
        return path.suffix == ".md" and (path.is_relative_to(self.root / "docs") or path.parent == self.root)

    def file(self, path):
        text = path.read_text()
        fence = "`" * max([3, *(len(x) + 1 for x in re.findall("`{3,}", text))])
        name = path.relative_to(self.root)
        return f"---\norphan: true\n---\n# {name}\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}{fence}\n"

    def listing(self, path):
        lines = ["---", "orphan: true", "---", f"# {path.relative_to(self.root)}", ""]
        for p in sorted(path.iterdir()):
            if p.is_file():
                if not self.is_page(p) and p not in self.linked:
                    self.linked.append(p)
                title = re.search(r"^# (.*)$", p.read_text(), re.M) if self.is_page(p) else None
                lines.append(f"- [{p.name}](/{self.place(p)})" + (f": {title[1]}" if title else ""))
        return "\n".join(lines) + "\n"

    def list_all(self):
        """Puts the table of contents behind the index page: that of docs/contents.yaml, a caption a part."""
        listed = {}
        for caption, entries in self.contents:
            lines = []
            for entry in entries.value:
                if entry.id == "mapping":
                    title, pattern = entry.value[0]
                    group = f"{pattern.value.split('/')[0]}/index"
                    found = self.matching(pattern, listed)
                    self.add(f"{group}.md", self.root / CONTENTS, "\n".join(
                        [f"# {title.value}", "", *toctree([f"/{f}" for f in found], ":maxdepth: 1")]))
                    listed[f"{group}.md"] = entry.start_mark.line + 1
                    lines.append(group)
                else:
                    lines += self.matching(entry, listed)
            self.texts["index.md"] += "\n".join(["", *toctree(lines, ":hidden:", f":caption: {caption.value}")])
        for t, source in self.sources.items():
            if t not in listed and t != "index.md" and not t.startswith(("tree/", "reference/api/")):
                self.faults.append(f"{source.relative_to(self.root)}:1: the page is in no table of contents; add it to "
                                   f"{CONTENTS}")

    def matching(self, node, listed):
        """The pages that the entry names, without those of listed, which gets them."""
        pattern = pathlib.PurePosixPath(f"{node.value}.md")
        found = sorted(t for t in self.texts if pathlib.PurePosixPath(t).match(str(pattern))
                       and t.count("/") == len(pattern.parts) - 1 and t not in listed)
        line = node.start_mark.line + 1
        if not found and not re.search(r"[*?]", node.value):
            self.faults.append(f"{CONTENTS}:{line}: " + (
                f"line {listed[str(pattern)]} has the page {node.value} already" if str(pattern) in listed else
                f"there is no page {node.value}"))
        listed.update({t: line for t in found})
        return [t.removesuffix(".md") for t in found]

    def write(self):
        pictures = {f"pictures/{p.name}": p for p in (self.root / "docs/pictures").glob("*.svg")}
        self.out.mkdir(parents=True, exist_ok=True)
        for p in self.out.rglob("*"):
            if p.is_file() and str(p.relative_to(self.out)) not in {*self.texts, *pictures}:
                p.unlink()
        for name, text in self.texts.items():
            target = self.out / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() or target.read_text() != text:
                target.write_text(text)
        for name, source in pictures.items():
            target = self.out / name
            target.parent.mkdir(exist_ok=True)
            if not target.exists() or target.read_bytes() != source.read_bytes():
                shutil.copy(source, target)
