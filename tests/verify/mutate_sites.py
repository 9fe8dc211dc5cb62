# SPDX-License-Identifier: Apache-2.0
"""Finds the places of a SystemVerilog file that can be mutated, by its tokens. The RTL has one style, so no parser is
needed.

Mutated are right-hand sides of `assign`, of assignments in always blocks and of port connections; conditions of `if`;
and whole non-blocking assignments. Not mutated is what elaboration uses (parameters, ranges, widths, generate), and
assertions and proofs.
"""
import re

TOKEN = re.compile(r"""(?P<word>[A-Za-z_$`][\w$]*(?:::\w+)*)|"""
                   r"""(?P<number>\d*'[sS]?[bodhBODH][0-9a-fA-F_xzXZ?]+|'[01]|\d+)|"""
                   r"""(?P<op><<<|>>>|===|!==|<<|>>|<=|>=|==|!=
|&&|\|\||\+:|-:|\+=|->|[-+*/%&|^~!<>=?:;,.()\[\]{}@\#'])""", re.X)
SWAP = {"==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "<": ["<="], ">": [">="],
        "<=": ["<"], ">=": [">"], "&": ["|"], "|": ["&"], "^": ["|"]}
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}


class Site:
    """A mutant: text[start:end] becomes `new`; if guard is set, it is a statement that is not run."""

    def __init__(self, start, end, new, change, at, guard=False):
        self.start, self.end, self.new, self.change, self.at, self.guard = start, end, new, change, at, guard

    def edit(self, number):
        """Returns the edit that tests/verify/mutate takes."""
        if self.guard:
            return (self.start, self.end, number,
                    lambda body: f"begin if (tern_mutant_pkg::select != {number}) {body} end")
        return (self.start, self.end, number, self.new)


def blank(text):
    """Returns the text with comments, strings and code for simulation replaced by spaces, of the same length."""
    def spaces(m):
        return re.sub(r"[^\n]", " ", m[0])
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", spaces, text, flags=re.S)
    text = re.sub(r"`ifndef SYNTHESIS.*?`endif", spaces, text, flags=re.S)
    return re.sub(r"\bfunction\b.*?\bendfunction\b", spaces, text, flags=re.S)


class Tokens:
    def __init__(self, text):
        self.text = text
        self.list = [(m[0], m.start(), m.end(), m.lastgroup) for m in TOKEN.finditer(text)]
        self.match = {}
        stack = []
        for i, (t, *_) in enumerate(self.list):
            if t in OPEN:
                stack.append(i)
            elif t in CLOSE and stack:
                self.match[stack[-1]] = i
                self.match[i] = stack.pop()

    def __getitem__(self, i):
        return self.list[i][0] if 0 <= i < len(self.list) else ""

    def span(self, first, last):
        return self.list[first][1], self.list[last - 1][2]


def frozen(t, first, last):
    """Returns the tokens of an expression that elaboration uses: ranges, widths of casts, counts of replications."""
    out = set()
    for i in range(first, last):
        if t[i] == "[":
            inner = [t[k] for k in range(i + 1, t.match[i])]
            if any(x in (":", "+:", "-:") for x in inner):
                start = max((k for k in range(i + 1, t.match[i]) if t[k] in ("+:", "-:")), default=i)
                out |= set(range(i if t[start] not in ("+:", "-:") else start, t.match[i]))
        if t[i] == "(" and t[t.match[i] + 1] == "'":
            out |= set(range(i, t.match[i]))
        if t[i] == "{":
            if t[i + 1] == "(" and t[t.match[i + 1] + 1] == "{":
                out |= set(range(i + 1, t.match[i + 1]))
            elif t.list[i + 1][3] in ("number", "word") and t[i + 2] == "{":
                out.add(i + 1)
    return out


def literal(text):
    """Returns other values of a literal with a width: both neighbours, and the one with the top bit inverted."""
    if text in ("'0", "'1"):
        return ["'1" if text == "'0" else "'0"]
    m = re.fullmatch(r"(\d+)'([bdh])([0-9a-fA-F_]+)", text)
    if not m or int(m[1]) > 64:
        return []
    width, value = int(m[1]), int(m[3].replace("_", ""), {"b": 2, "d": 10, "h": 16}[m[2]])
    return [f"{width}'d{v}" for v in sorted({(value + 1) % (1 << width), (value - 1) % (1 << width),
                                             value ^ (1 << (width - 1))} - {value})]


def terms(t, first, last, operator):
    """Yields the spans of terms in chains of && or ||, with an operator beside them, in this group and nested ones."""
    groups = [(first, last)] + [(i + 1, t.match[i]) for i in range(first, last) if t[i] in ("(", "{") and i in t.match]
    for low, high in groups:
        depth, starts, ops = 0, [low], []
        parts = []
        for i in range(low, high + 1):
            x = t[i] if i < high else ","
            depth += (x in OPEN) - (x in CLOSE)
            if depth == 0 and (x in (",", "?", ":") or (x == "||" and operator == "&&")):
                parts.append((starts, ops, i))
                starts, ops = [i + 1], []
            elif depth == 0 and x == operator:
                ops.append(i)
                starts.append(i + 1)
        for starts, ops, end in parts:
            for k in range(len(starts)):
                if ops:
                    yield (starts[k], ops[k] + 1) if k < len(ops) else (ops[-1], end)


def operands(t, first, last, at):
    """Returns the spans of both sides of a comparison."""
    ends = {"&&", "||", "?", ":", ",", "=", "&", "|", "^"}
    low, depth = at, 0
    while low > first and not (depth == 0 and (t[low - 1] in OPEN or t[low - 1] in ends)):
        low -= 1
        depth += (t[low] in CLOSE) - (t[low] in OPEN)
    high, depth = at + 1, 0
    while high < last and not (depth == 0 and (t[high] in CLOSE or t[high] in ends)):
        depth += (t[high] in OPEN) - (t[high] in CLOSE)
        high += 1
    return (low, at), (at + 1, high)


def arms(t, first, last):
    """Yields (question, colon, end) of each ?: whose arms are in one group."""
    for q in range(first, last):
        if t[q] != "?":
            continue
        depth = nested = 0
        colon = None
        for i in range(q + 1, last + 1):
            x = t[i] if i < last else ","
            if depth == 0 and (x in CLOSE or x == ",") or (depth == 0 and colon and x == ":" and not nested):
                if colon:
                    yield q, colon, i
                break
            depth += (x in OPEN) - (x in CLOSE)
            nested += depth == 0 and x == "?"
            if depth == 0 and x == ":":
                if nested:
                    nested -= 1
                elif not colon:
                    colon = i


def expression(t, first, last):
    """Yields the mutants of an expression, as sites that replace all of it."""
    if first >= last:
        return
    (start, end), kept = t.span(first, last), frozen(t, first, last)
    whole = t.text[start:end]

    def site(low, high, new, change):
        return Site(start, end, whole[:low - start] + new + whole[high - start:], change, low)
    for i in range(first, last):
        x, low, high, kind = t.list[i]
        if i in kept:
            continue
        binary = i > first and (t.list[i - 1][3] in ("word", "number") or t[i - 1] in (")", "]", "}"))
        for new in SWAP.get(x, []) if binary else []:
            yield site(low, high, new, f"{x} becomes {new}")
        for new in literal(x) if kind == "number" else []:
            yield site(low, high, new, f"{x} becomes {new}")
        if x == "==" and binary:
            (a, b), (c, d) = operands(t, first, last, i)
            left, right = t.text[slice(*t.span(a, b))], t.text[slice(*t.span(c, d))]
            if not re.search(r"'|^\s*\d+\s*$|::", left + right):  # not with a constant
                yield site(t.span(a, b)[0], t.span(c, d)[1], f"((({left}) ^ ({right})) | 64'd1) == 64'd1",
                           "== without bit 0")
        if x in ("!", "~") and not binary:
            yield site(low, high, "", f"{x} is left out")
    for operator in "&&", "||":
        for a, b in terms(t, first, last, operator):
            low, high = t.span(a, b)
            yield site(low, high, "", f"left out: {' '.join(t.text[low:high].split())}")
    for q, colon, stop in arms(t, first, last):
        (a, b), (c, d) = t.span(q + 1, colon), t.span(colon + 1, stop)
        yield Site(start, end, whole[:a - start] + t.text[c:d] + " : " + t.text[a:b] + whole[d - start:],
                   f"arms swapped: {' '.join(t.text[a:b].split())}", a)


def statement_end(t, i):
    """Returns the index of the token behind the statement at i."""
    if t[i] == "begin":
        depth = 0
        while i < len(t.list):
            depth += (t[i] in ("begin", "case", "casez", "unique0")) - (t[i] in ("end", "endcase"))
            i += 1
            if depth == 0:
                return i
        return i
    if t[i] in ("case", "casez"):
        while t[i] != "endcase":
            i += 1
        return i + 1
    if t[i] in ("if", "for"):
        i = statement_end(t, t.match[i + 1] + 1)
        return statement_end(t, i + 1) if t[i] == "else" else i
    while t[i] != ";":
        i += 1
    return i + 1


def reset_spans(t, first, last):
    """Returns the tokens under `if (rst_i ...)`, whose mutants show only before the first work."""
    out = set()
    for i in range(first, last):
        if t[i] == "if" and "rst_i" in [t[k] for k in range(i + 2, t.match[i + 1])]:
            out |= set(range(i, statement_end(t, t.match[i + 1] + 1)))
    return out


def assignment(t, first, end):
    """Returns the index of the = or <= of a statement; None if it is no assignment."""
    depth = 0
    for i in range(first, end):
        depth += (t[i] in OPEN) - (t[i] in CLOSE)
        if depth == 0 and t[i] in ("=", "<="):
            return i
    return None


def always(t, first, last):
    reset = reset_spans(t, first, last)
    i = first
    while i < last:
        if t[i] == "for":
            i = t.match[i + 1] + 1
        elif t[i] in ("assert", "assume", "cover", "int", "automatic"):
            i = statement_end(t, i)
        elif t[i] == "if":
            if i not in reset:
                low, high = t.span(i + 2, t.match[i + 1])
                yield Site(low, high, f"!({t.text[low:high]})", "the condition is negated", low)
                yield from expression(t, i + 2, t.match[i + 1])
            i = t.match[i + 1] + 1
        elif t[i] in ("case", "casez"):
            i = t.match[i + 1] + 1
        elif (t.list[i][3] == "word" and t[i] not in ("begin", "end", "else", "endcase", "default", "unique") or
              t[i] == "{"):
            stop = i
            while stop < last and t[stop] != ";" and not (t[stop] == ":" and stop not in inside(t, i, stop)):
                stop += 1
            at = assignment(t, i, stop) if t[stop] == ";" else None
            if at and i not in reset:
                yield from expression(t, at + 1, stop)
                low, high = t.span(i, stop + 1)
                if t[at] == "<=":
                    yield Site(low, high, None, "left out", low, guard=True)
            i = stop + 1
        else:
            i += 1


def inside(t, first, at):
    """Returns {at} if that token is in brackets or in the arms of a ?: that begin behind first."""
    depth = question = 0
    for i in range(first, at):
        depth += (t[i] in OPEN) - (t[i] in CLOSE)
        question += t[i] == "?"
    return {at} if depth or question else set()


def sites(source):
    """Returns all mutants of a file, in the order of their places."""
    t = Tokens(blank(source))
    out, i = [], 0
    while i < len(t.list):
        if t[i] == "#" and t[i + 1] == "(":
            i = t.match[i + 1] + 1
        elif t[i] == "assign":
            end = statement_end(t, i)
            at = assignment(t, i, end)
            out += expression(t, at + 1, end - 1)
            i = end
        elif t[i] in ("always_ff", "always_comb"):
            begin = i + 1
            if t[begin] == "@":
                begin = t.match[begin + 1] + 1
            end = statement_end(t, begin)
            out += always(t, begin, end)
            i = end
        elif t[i] == "." and t[i + 2] == "(" and t.match.get(i + 2):
            out += expression(t, i + 3, t.match[i + 2])
            i = t.match[i + 2] + 1
        else:
            i += 1
    unique = {(s.start, s.end, s.new, s.guard): s for s in out}
    return sorted(unique.values(), key=lambda s: (s.at, s.change, s.new or ""))
