# SPDX-License-Identifier: Apache-2.0
"""Reads the public headers: calls, definitions, and the parts of their comments. For manual pages and the site."""
import re

USUAL = {"ENOMEM": "Host memory.", "ENOSPC": "Device memory.", "ETIMEDOUT": "The time has passed.",
         "EIO": "The device is lost.", "EMFILE": "Descriptors.", "ENFILE": "Descriptors."}
ITEM = re.compile(r"(/\*\*<?.*?\*/)|(^TERN_API [^;]*;)(?: */\*\*<(.*?)\*/)?|^/\* -{3,} (.*?) \*/$|"
                  r"(^(?:struct|enum) \w+ \{\n.*?^\};|^typedef [^;]*;|^#define TERN_\w+ .*?$)|(\n\n)|(^/\*\n.*?\*/)",
                  re.S | re.M)
ERROR = r"-E[A-Z0-9]+"


class Call:
    """A declaration and the text of its comment."""

    def __init__(self, header, declaration, comment, section):
        self.header, self.comment, self.section = header, comment, section
        m = re.fullmatch(r"TERN_API (.*?)(\w+)\((.*)\);", " ".join(declaration.split()))
        self.type, self.name = m[1].strip(), m[2]
        self.parameters = m[3].split(", ")

    def uses(self):
        return " ".join([self.type, *self.parameters, " ".join(self.comment)])


class Header:
    """The contents of a public header: its first comment, its calls in order, and its definitions."""

    def __init__(self, path):
        self.path, self.calls, self.definitions, self.about, self.faults = path, [], [], {}, []
        self.items = []  # Calls and definitions in the order of the file.
        text = path.read_text()
        self.overview, section, comment, above, fresh = None, "", None, [], False
        for m in ITEM.finditer(text):
            if m[1] and self.overview is None:
                self.overview = paragraphs(m[1])
            elif m[1] and not m[1].startswith("/**<"):
                comment, fresh, above = paragraphs(m[1]), True, [m[1]]
            elif m[2]:
                own = paragraphs(f"/**{m[3]}*/") if m[3] else comment
                if not own:
                    line = text[:m.start()].count("\n") + 1
                    self.faults.append(f"{path}:{line}: no comment says what {Call(path, m[2], [], section).name} does")
                    continue
                self.calls.append(Call(path, m[2], own, section))
                self.items.append(self.calls[-1])
                above = []
            elif m[4]:
                section, comment, above = m[4].strip(), None, []
            elif m[5]:
                whole = "\n".join([*above, text[m.start():end_of_line(text, m.end())]])
                if above or not self.definitions or fresh or self.definitions[-1].closed:
                    self.definitions.append(Definition(whole, section))
                    self.items.append(self.definitions[-1])
                else:
                    self.definitions[-1].add(whole)
                comment, above = None, []
            elif m[7] and self.overview:
                self.about[section] = paragraphs(m[7])
            elif m[6]:
                comment, above = None, []
                if self.definitions:
                    self.definitions[-1].closed = True
            fresh = bool(m[1])


def end_of_line(text, at):
    """The end of the line, and of the comment that begins on it."""
    end = text.index("\n", at)
    comment = text.rfind("/*", text.rfind("\n", 0, end), end)
    return max(end, text.index("*/", comment) + 2) if comment >= 0 else end


class Definition:
    """Structs, enums, types or constants that stand together, with their comments."""

    def __init__(self, text, section):
        self.text, self.section, self.closed = text, section, False

    def add(self, text):
        self.text += "\n" + text

    def uses(self):
        """The text in which it names others: a struct's with comments on its fields, and code alone of constants."""
        return self.text if "struct" in self.text else re.sub(r"/\*.*?\*/", "", self.text, flags=re.S)

    def names(self):
        return re.findall(r"^(?:struct|enum|#define) (\w+)|^typedef.*?\(\*(\w+)\)", self.text, re.M)

    def is_used(self, words):
        return any(name in words or any(w.endswith("_") and name.startswith(w) for w in words)
                   for pair in self.names() for name in pair if name)


def paragraphs(comment):
    """The paragraphs of a comment. One that is indented is an example and keeps its lines."""
    body = re.sub(r"^/\*\*?<?|\*/$", "", comment.strip())
    lines = [re.sub(r"^ *\* ?| +$", "", line) if n else line.strip() for n, line in enumerate(body.split("\n"))]
    out = []
    for block in re.split(r"\n\s*\n", "\n".join(lines).strip("\n")):
        example = all(line.startswith("    ") for line in block.split("\n"))
        out.append(block if example else " ".join(block.split()))
    return [p for p in out if p]


def sentences(paragraph):
    return re.split(r"(?<![ei]\.[ge]\.)(?<=[.!?])\s+", paragraph)


def split(comment):
    """The comment's paragraphs of description, sentences of results, and sentences of errors."""
    told, results, errors = [], [], []
    for p in comment:
        rest = []
        for s in [p] if p.startswith("    ") else sentences(p):
            (results if s.startswith("Returns ") else errors if re.match(rf"{ERROR}\b|Errors\b", s) else rest).append(s)
        if rest:
            told.append(rest)
    return told, results, errors


def summary(call):
    """The purpose of the call: its first sentence without what stands in parentheses or behind a colon."""
    told, results, _ = split(call.comment)
    first = min([some[0] for some in told[:1]] + results[:1], key=call.comment[0].find).rstrip(".").replace("`", "")
    first = re.sub(r"\s*\([^()]*\)", "", first)
    first = re.split(r": |; |, as far as |, which ", first)[0]
    return first[0].lower() + first[1:] if re.match(r"[A-Z][a-z]+\b", first) else first


def capital(text):
    return text[0].upper() + text[1:] if re.match(r"[a-z]+(?![\w])", text) else text


def errors_of(sentence):
    """The parts of a sentence that lists errors, as `-EIO: it is lost; -EAGAIN, -ENFILE, through ternd: no more.`

    It may begin as `Errors as tern_wait; also -EIO: ...` or as `Errors of a ternd: -EIO: ...`. Returns what it begins
    with, a sentence or None, and a list of (names, whether others are meant, meaning); None for the list if the rest
    is no list of errors. A meaning is empty if the header says none and the error has no usual one.
    """
    m = re.match(rf"(Errors\b.*?)([;:]) (?:also )?(?={ERROR})", sentence)
    begin = m and m[1] + (", and:" if m[2] == ";" else ":")
    where, several = "(?:through ternd )?(?:also )?", rf"{ERROR}(?:(?:,| and| or) {ERROR})*"
    found = []
    for part in re.split(rf"; (?={where}{ERROR})", sentence[m.end():] if m else sentence):
        e = re.match(rf"({where})({several})( and others)?[:,.]?(.*)", part)
        if not e:
            return begin, None
        names = re.findall("-(E[A-Z0-9]+)", e[2])
        meaning = e[4].strip().rstrip(".") or "; ".join(USUAL[n].rstrip(".") for n in names if n in USUAL)
        found.append((names, bool(e[3]), meaning and capital(e[1].replace("also ", "") + meaning) + "."))
    return begin, found
