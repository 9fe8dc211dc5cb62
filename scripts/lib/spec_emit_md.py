# SPDX-License-Identifier: Apache-2.0
"""The interface as a reference page."""
import textwrap

import spec_executors


def _table(o, fields, word):
    o.append("| " + ("word | " if word else "") + "bits | field | meaning |")
    o.append("|" + ("---|" if word else "") + "---|---|---|")
    for f in fields:
        bits = "31:0" if f.nwords > 1 else (f"{f.lsb + f.width - 1}:{f.lsb}" if f.width > 1 else str(f.lsb))
        w = f"{f.word0}-{f.word0 + f.nwords - 1}" if f.nwords > 1 else str(f.word0)
        enum = f.get("enum")
        e = " " + ", ".join(f"{v} = {k}" for k, v in enum.items()) + "." if enum else ""
        o.append("| " + (f"{w} | " if word else "") + f"{bits} | `{f.name}` | {f.doc}{e} |")
    o.append("")


def page(s):
    o = ["# The hardware/software interface", "",
         "This page is the reference of the interface between driver and device, for who writes either, or packets. "
         "Do not", "edit it: it is generated from `docs/spec` by", "", "    scripts/specgen", "",
         f"Hash of the description: `0x{s.hash32:08x}` (register `dev.spec_hash`).", "", "## Registers", ""]
    for b in s.blocks:
        rep = f", repeated {b.n} times every {b.step:#x} bytes" if b.n > 1 else ""
        o += [f"### {b.name} (at {b.base:#06x}{rep})", "", b.doc, "", "| offset | register | access | meaning |",
              "|---|---|---|---|"]
        for r in b.regs:
            wide = " (64 bits: low word, then high word)" if r.get("wide") else ""
            o.append(f"| {r.offset:#05x} | `{r.name}` | {r.access} | {r.doc}{wide} |")
        o.append("")
        for r in b.regs:
            if r.fields_:
                o += [f"`{b.name}.{r.name}`", ""]
                _table(o, r.fields_, False)
    o += ["## DMA-buffer packets", "", "A packet is one or two 64-byte lines. Word 0 is the header:", ""]
    _table(o, s.header, True)
    for p in s.packets:
        priv = ", privileged" if p.get("privileged") else ""
        o += [f"### {p.name} (opcode {p.opcode:#04x}, {p.lines} line{'s' if p.lines > 1 else ''}{priv})", "",
              textwrap.fill(p.doc, 120), ""]
        if p.fields_:
            _table(o, p.fields_, True)
    o += ["## Page-table entry", ""]
    _table(o, s.pte, False)
    o += [f"## Context-save header", "", f"`magic` is {s.magic:#010x}.", ""]
    _table(o, s.context, True)
    for l in s.layouts:
        o += [f"### {l.name}", "", l.doc, ""]
        _table(o, l.fields_, True)
    o += ["## Fault codes", "", "| code | name | meaning |", "|---|---|---|"]
    o += [f"| {f.code} | `{f.name}` | {f.text} |" for f in s.faults]
    o += ["", "## What a kernel sees", "", "| window | base | size | meaning |", "|---|---|---|---|"]
    o += [f"| {w.name} | {w.base:#010x} | {w.size:#x} | {w.doc} |" for w in s.windows]
    o += ["", "| CSR | number | access | meaning |", "|---|---|---|---|"]
    o += [f"| `{c.name}` | {c.number:#05x} | {c.access} | {c.doc} |" for c in s.csrs]
    o += ["", "| custom-0 instruction | funct3 | meaning |", "|---|---|---|"]
    o += [f"| `{i.name}` | {i.funct3} | {i.doc} |" for i in s.instructions]
    o += spec_executors.page(s)
    return "\n".join(o) + "\n"
