# SPDX-License-Identifier: Apache-2.0
"""The public headers as pages of the site: one for each section of a header, in MyST with Sphinx's C domain."""
import re
import textwrap

import headers

KINDS = {"struct": "struct", "enum": "enum", "#define": "macro", "typedef": "type"}


class Names:
    """The names that the headers define, and the text of comments with references to them."""

    def __init__(self, read):
        self.kinds = {}
        for h in read:
            self.kinds.update({name: "struct" for name in opaque(h)})
            for d in h.definitions:
                self.kinds.update({e.name: e.role for e in entries(d)})
            self.kinds.update({c.name: "func" for c in h.calls})

    def text(self, words, own=""):
        """A paragraph as Markdown. own: the name that is described, which is no reference."""
        parts = re.split(r"(`[^`]*`|docs/[\w/-]+\.md|\b(?:struct |enum )?(?:tern|TERN)_\w+(?:\*|\(\)|\.h\b)?)", words)
        return "".join(self.name(p, own) if i % 2 else escaped(p) for i, p in enumerate(parts))

    def name(self, word, own):
        if word.startswith("docs/"):
            return f"[{word}](/{word.removeprefix('docs/')})"
        plain = word.strip("`").removesuffix("()").split(" ")[-1]
        if plain in self.kinds and plain != own:
            return f"{{c:{self.kinds[plain]}}}`{plain}`"
        return f"`{word.strip('`')}`"


def escaped(text):
    """Text whose characters mean nothing to Markdown, but for *emphasis*."""
    text = re.sub(r"[\\<>\[\]_|#$]", r"\\\g<0>", text)
    return re.sub(r"(?<![\w*])\*(?!\w)|(?<=[\w\s])\*(?=\s)", r"\\*", text)


def opaque(header):
    return re.findall(r"^struct (\w+);", header.path.read_text(), re.M)


class Entry:
    """A definition, or a field or constant of one: its declaration and its comment."""

    def __init__(self, role, name, declaration, comment, value=""):
        self.role, self.name, self.declaration, self.value = role, name, declaration, value
        self.comment, self.fields = comment, []


def entries(definition):
    """The entries of a definition of headers.py, which may be several constants with a comment above the first."""
    found = []
    pattern = re.compile(r"(/\*\*(?!<).*?\*/)|^(struct|enum) (\w+) \{\n(.*?)^\};|^#define (\w+) +(.*?)(/\*\*<.*?\*/)?$|"
                         r"^(typedef [^;]*\(\*(\w+)\)[^;]*);", re.S | re.M)
    above = []
    for m in pattern.finditer(definition.text):
        if m[1]:
            above = headers.paragraphs(m[1])
            continue
        if m[2]:
            e = Entry(m[2], m[3], m[3], above)
            e.fields = list(fields(m[4]) if m[2] == "struct" else constants(m[4]))
            found += [e, *(f for f in e.fields if f.role == "enumerator")]
        elif m[5] and m[5] != "TERN_API":
            found.append(Entry("macro", m[5], m[5], headers.paragraphs(m[7]) if m[7] else above, m[6].strip()))
        elif m[8]:
            found.append(Entry("type", m[9], m[8].removeprefix("typedef ").replace("\n", " "), above))
        above = []
    return found


def commented(body, end):
    """The parts of a body that end with the character, each with the comment above or behind it."""
    above, behind = r"(?:/\*\*(?!<)(.*?)\*/\s*)?", r"[ \t]*\n?[ \t]*(?:/\*\*<(.*?)\*/)?"
    for m in re.finditer(rf"{above}([^{end}/]*?){end}{behind}", body, re.S):
        if m[2].strip():
            yield " ".join(m[2].split()), headers.paragraphs(f"/**{m[3] or m[1] or ''}*/")


def fields(body):
    for declaration, comment in commented(body, ";"):
        m = re.fullmatch(r"(.*?[ *])(\w+(?:\[\w+\])?(?:, \w+(?:\[\w+\])?)*)", declaration)
        yield from (Entry("member", re.match(r"\w+", n)[0], m[1] + n, comment) for n in m[2].split(", "))


def constants(body):
    for declaration, comment in commented(body, ","):
        name, _, value = declaration.partition(" = ")
        yield Entry("enumerator", name, name, comment, value)


def directive(role, argument, lines, depth=0):
    fence = "`" * (6 - depth)
    return [f"{fence}{{c:{role}}} {argument}", *lines, fence, ""]


def described(names, paragraphs, own):
    out = []
    for p in paragraphs:
        if p.startswith("    "):
            out += ["```c", *textwrap.dedent(p).split("\n"), "```", ""]
        else:
            out += [names.text(p, own), ""]
    return out


def definition(names, entry, text):
    if names.kinds[entry.name] == "func":  # C has two names where Sphinx's C domain has one.
        return ["```c", re.sub(r"/\*\*<?", "/*", text), "```", ""]
    lines = described(names, entry.comment, entry.name)
    if entry.role == "macro":
        lines += [f"Value: `{entry.value}`", ""]
    for f in entry.fields:
        value = [f"Value: `{f.value}`", ""] if f.value else []
        lines += directive(f.role, f.declaration, [*described(names, f.comment, f.name), *value], 1)
    return directive(entry.role, entry.declaration, lines)


def call(names, c):
    told, results, errors = headers.split(c.comment)
    lines = []
    for some in [*told, *([results] if results else [])]:
        lines += described(names, [some[0]] if some[0].startswith("    ") else [" ".join(some)], c.name)
    if c.type == "int" and not results:
        lines += ["Returns 0, or a negative error number:" if errors else "Returns 0, or a negative error number.", ""]
    for sentence in errors:
        begin, found = headers.errors_of(sentence)
        if begin or found is None:
            lines += [names.text(begin if found else sentence, c.name), ""]
        for numbers, others, meaning in found or []:
            what = ", ".join(f"`-{n}`" for n in numbers) + (" and others" if others else "")
            lines.append(f"- {what}: {names.text(meaning, c.name)}")
        lines.append("")
    return directive("function", f"{c.type} {c.name}({', '.join(c.parameters)})", lines)


def slug(header, section):
    return re.sub(r"\W+", "-", section or header.path.stem).strip("-")


def section_page(names, header, section):
    title = headers.capital(section) if section else headers.capital("checkpoints")
    lines = [f"# {title} ({header.path.name})", ""]
    about = header.about.get(section, []) if section else header.overview
    lines += described(names, about, "")
    if not section:
        for name in opaque(header):
            lines += directive("struct", name, ["Opaque.", ""])
    for item in header.items:
        if item.section == section:
            if isinstance(item, headers.Call):
                lines += call(names, item)
            else:
                lines += [x for e in entries(item) if e.role != "enumerator" for x in definition(names, e, item.text)]
    return "\n".join(lines)


def pages(paths):
    """Returns {page: its text}, of which reference/api is the list, and {call: the HTML page and the anchor of it}."""
    read = [headers.Header(p) for p in paths]
    faults = [f for h in read for f in h.faults]
    if faults:
        raise ValueError("\n".join(faults))
    names, out, listed, places = Names(read), {}, [], {"libtern": "reference/api.html"}
    first = read[0]
    index = ["# Calls of libtern", "", f"From the comments of {first.path.name} and the headers beside it.", ""]
    index += described(names, first.overview, "")
    index += ["## Objects and limits", ""]
    for name in opaque(first):
        index += directive("struct", name, ["Opaque.", ""])
    for item in first.items:
        if not item.section:
            index += [x for e in entries(item) for x in definition(names, e, item.text)]
    for h in read:
        for section in dict.fromkeys(i.section for i in h.items if i.section or h is not first):
            name = slug(h, section)
            out[f"reference/api/{name}"] = section_page(names, h, section)
            listed.append(f"api/{name}")
            calls = [c for c in h.calls if c.section == section]
            places.update({c.name: f"reference/api/{name}.html#c.{c.name}" for c in calls})
            if calls:
                index += [f"## {headers.capital(section) if section else h.path.name}", ""]
                index += [f"- {names.name(c.name, '')}: {names.text(headers.summary(c))}" for c in calls] + [""]
    index += ["```{toctree}", ":hidden:", "", *listed, "```", ""]
    out["reference/api"] = "\n".join(index)
    return out, places
