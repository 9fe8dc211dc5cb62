# SPDX-License-Identifier: Apache-2.0
"""The interface description as checked objects. Every error names its file and line."""
import re

import yaml


class SpecError(Exception):
    def __init__(self, node, message):
        mark = node.start_mark
        super().__init__(f"{mark.name}:{mark.line + 1}: {message}")


class Item:
    """A mapping of the description, with attribute access, and `node(key)` for the positions of errors."""

    def __init__(self, node, allowed, required, what):
        if not isinstance(node, yaml.MappingNode):
            raise SpecError(node, f"{what}: expected a mapping")
        self._node, self._nodes, self._values = node, {}, {}
        for k, v in node.value:
            if k.value in self._nodes:
                raise SpecError(k, f"{what}: '{k.value}' is given twice")
            if k.value not in allowed:
                raise SpecError(k, f"{what}: unknown key '{k.value}'; allowed: {', '.join(sorted(allowed))}")
            self._nodes[k.value] = v
            self._values[k.value] = yaml.SafeLoader.construct_object(_loader(v), v, deep=True)
        for k in required:
            if k not in self._nodes:
                raise SpecError(node, f"{what}: '{k}' is missing")

    def get(self, key, default=None):
        return self._values.get(key, default)

    def __getattr__(self, key):
        try:
            return self.__dict__["_values"][key]
        except KeyError:
            raise AttributeError(key) from None

    def node(self, key=None):
        return self._nodes.get(key, self._node)


def _loader(node):
    ld = yaml.SafeLoader("")
    return ld


class Spec:
    pass


NAME = re.compile(r"^[a-z][a-z0-9_]*$")


def _compose(path):
    try:
        with open(path) as f:
            loader = yaml.SafeLoader(f)
            loader.name = str(path)
            node = loader.get_single_node()
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        class N:  # A node with the position of a syntax error.
            start_mark = mark
        mark.name = str(path)
        raise SpecError(N, e.problem or "not YAML") from None
    except OSError as e:
        raise SystemExit(f"specgen: {path}: {e.strerror}; run it from a complete checkout") from None
    if node is None:
        raise SystemExit(f"specgen: {path}: empty file")
    return node


def _name(item, seen, what):
    n = item.name
    if not isinstance(n, str) or not NAME.match(n):
        raise SpecError(item.node("name"), f"{what}: '{n}' is no name; use lower case, digits and _")
    if n in seen:
        raise SpecError(item.node("name"), f"{what}: '{n}' is used twice")
    seen.add(n)


def _int(item, key, lo, hi, what):
    v = item.get(key)
    if not isinstance(v, int) or isinstance(v, bool) or not lo <= v <= hi:
        raise SpecError(item.node(key), f"{what}: {key} must be a number from {lo} to {hi}, not '{v}'")
    return v


def _bits(item, what):
    m = re.match(r"^(\d+)(?::(\d+))?$", str(item.bits))
    if not m:
        raise SpecError(item.node("bits"), f"{what}: bits must be \"high:low\" or \"bit\", not '{item.bits}'")
    hi = int(m[1])
    lo = int(m[2]) if m[2] is not None else hi
    if hi < lo or hi > 31:
        raise SpecError(item.node("bits"), f"{what}: bits {item.bits} do not fit a 32-bit word")
    return lo, hi - lo + 1


def _fields(node, with_word, words, what, used=None):
    if not isinstance(node, yaml.SequenceNode):
        raise SpecError(node, f"{what}: fields must be a list")
    out, seen, used = [], set(), dict(used or {})
    for n in node.value:
        allowed = {"name", "bits", "doc", "enum"} | ({"word", "words"} if with_word else set())
        f = Item(n, allowed, ["name", "doc"] + (["word"] if with_word else ["bits"]), f"{what} field")
        _name(f, seen, f"{what} field")
        w = f"{what}.{f.name}"
        f.word0 = _int(f, "word", 0, words - 1, w) if with_word else 0
        f.nwords = f.get("words", 1)
        if f.nwords != 1:
            _int(f, "words", 2, words - f.word0, w)
            f.lsb, f.width = 0, 32
        else:
            if f.get("bits") is None:
                raise SpecError(n, f"{w}: 'bits' is missing")
            f.lsb, f.width = _bits(f, w)
        for k in range(f.nwords):
            mask = ((1 << f.width) - 1) << f.lsb
            if used.get(f.word0 + k, 0) & mask:
                raise SpecError(n, f"{w}: overlaps an earlier field in word {f.word0 + k}")
            used[f.word0 + k] = used.get(f.word0 + k, 0) | mask
        for name, value in (f.get("enum") or {}).items():
            if not isinstance(value, int) or value >> f.width:
                raise SpecError(f.node("enum"), f"{w}: {name} = {value} does not fit {f.width} bits")
        out.append(f)
    return out, used


def _top(path, allowed):
    return Item(_compose(path), allowed, allowed, path.name)


def _registers(path):
    blocks, seen, taken = [], set(), {}
    for n in _top(path, {"blocks"}).node("blocks").value:
        b = Item(n, {"name", "base", "count", "stride", "doc", "registers"}, ["name", "base", "doc", "registers"],
                 "block")
        _name(b, seen, "block")
        _int(b, "base", 0, 0x3ffc, b.name)
        b.n, b.step = b.get("count", 1), b.get("stride", 0)
        b.regs, rseen, end = [], set(), 0
        for rn in b.node("registers").value:
            r = Item(rn, {"name", "offset", "access", "doc", "fields", "wide"}, ["name", "offset", "access", "doc"],
                     f"{b.name} register")
            _name(r, rseen, f"{b.name} register")
            w = f"{b.name}.{r.name}"
            if r.name == "ctrl":
                raise SpecError(r.node("name"), f"{w}: no register may be named CTRL (Vitis reserves it)")
            off = _int(r, "offset", 0, 0x3ffc, w)
            if off % 4:
                raise SpecError(r.node("offset"), f"{w}: offset {off:#x} is not a multiple of 4")
            if r.access not in ("ro", "rw", "wo"):
                raise SpecError(r.node("access"), f"{w}: access must be ro, rw or wo, not '{r.access}'")
            size = 8 if r.get("wide") else 4
            for i in range(b.n):
                for k in range(0, size, 4):
                    a = b.base + i * b.step + off + k
                    if a in taken:
                        raise SpecError(r.node("offset"), f"{w}: address {a:#06x} already belongs to {taken[a]}")
                    taken[a] = w
            end = max(end, off + size)
            r.fields_ = _fields(r.node("fields"), False, 1, w)[0] if r.get("fields") else []
            b.regs.append(r)
        if b.n > 1 and end > b.step:
            raise SpecError(b.node("stride"), f"{b.name}: stride {b.step:#x} is smaller than the block "
                            f"({end:#x} bytes)")
        blocks.append(b)
    return blocks


def _packets(path):
    top = _top(path, {"header", "packets"})
    header, used = _fields(top.node("header"), True, 1, "header")
    out, seen, codes = [], set(), {}
    for n in top.node("packets").value:
        p = Item(n, {"name", "opcode", "lines", "privileged", "doc", "fields"},
                 ["name", "opcode", "lines", "doc", "fields"], "packet")
        _name(p, seen, "packet")
        _int(p, "opcode", 0, 255, p.name)
        _int(p, "lines", 1, 2, p.name)
        if p.opcode in codes:
            raise SpecError(p.node("opcode"), f"{p.name}: opcode {p.opcode:#x} already belongs to {codes[p.opcode]}")
        codes[p.opcode] = p.name
        p.fields_, p.used = _fields(p.node("fields"), True, 16 * p.lines, p.name, used)
        out.append(p)
    return header, out


def _list(path, key, allowed, number, hi):
    out, seen, nums = [], set(), {}
    for n in _top(path, {key}).node(key).value:
        i = Item(n, allowed, allowed, key)
        _name(i, seen, key)
        v = _int(i, number, 0, hi, i.name)
        if v in nums:
            raise SpecError(i.node(number), f"{i.name}: {number} {v:#x} already belongs to {nums[v]}")
        nums[v] = i.name
        out.append(i)
    return out


def load(directory):
    s = Spec()
    s.blocks = _registers(directory / "registers.yaml")
    s.header, s.packets = _packets(directory / "packets.yaml")
    s.pte = _fields(_top(directory / "pte.yaml", {"pte"}).node("pte"), False, 1, "pte")[0]
    ctx = _top(directory / "context.yaml", {"magic", "context", "layouts"})
    s.magic = ctx.magic["value"]
    s.context = _fields(ctx.node("context"), True, 16, "context")[0]
    seen = set()
    s.layouts = [Item(n, {"name", "doc", "fields"}, ["name", "doc", "fields"], "layout")
                 for n in ctx.node("layouts").value]
    for l in s.layouts:
        _name(l, seen, "layout")
        l.fields_, l.used = _fields(l.node("fields"), True, 16, l.name)
    s.faults = _list(directory / "faults.yaml", "faults", {"name", "code", "text"}, "code", 255)
    simt = _top(directory / "simt.yaml", {"windows", "csrs", "instructions"})
    s.windows = [Item(n, {"name", "base", "size", "doc"}, ["name", "base", "size", "doc"], "window")
                 for n in simt.node("windows").value]
    seen, nums = set(), {}
    s.csrs = []
    for n in simt.node("csrs").value:
        c = Item(n, {"name", "number", "access", "doc"}, ["name", "number", "access", "doc"], "csr")
        _name(c, seen, "csr")
        v = _int(c, "number", 0, 0xfff, c.name)
        if v in nums:
            raise SpecError(c.node("number"), f"{c.name}: number {v:#x} already belongs to {nums[v]}")
        nums[v] = c.name
        s.csrs.append(c)
    s.instructions = [Item(n, {"name", "funct3", "doc"}, ["name", "funct3", "doc"], "instruction")
                      for n in simt.node("instructions").value]
    return s
