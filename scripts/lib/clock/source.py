# SPDX-License-Identifier: Apache-2.0
"""The sources of a piece: a text that Yosys can synthesise alone, as scripts/synth makes it of a unit.

The text has no line numbers and no comments, so it changes only with the piece itself, its parameters, or a constant
that it uses. Its hash decides whether the clock must be found again.
"""
import dataclasses
import re

from synth import elaborate

from . import pieces


@dataclasses.dataclass
class Source:
    """A piece to be synthesised. label: its name in the list and of its results; params: {parameter: value as text};
    key: name of its module in the text; boxes: names of the modules in the text that are cut off."""
    label: str
    module: str
    device: str
    params: dict
    cut: list
    key: str
    text: str
    boxes: list


def params(module):
    """Returns the parameters of a module as it is elaborated, without those that only tell its place."""
    return {k: elaborate.number(v) for k, v in module.params.items() if k not in elaborate.PLACES}


def made(label, piece, device, modules, key=None):
    """Returns the Source of a piece. modules: as elaborate.read returns them. key: which of several forms."""
    design = elaborate.Design(modules, set(piece.cut))
    found = sorted(k for k, m in design.by_key.items() if m.name == piece.module)
    key = key or (found[0] if len(found) == 1 else None)
    if not found:
        raise elaborate.Error(f"{label}: the device '{device}' has no module {piece.module}")
    if not key:
        raise elaborate.Error(f"{label}: the device '{device}' has {piece.module} with several sets of parameters: "
                              + ", ".join(found))
    design.add(key, "")
    boxes = design.children[key]
    absent = [c for c in piece.cut if c not in {design.by_key[b].name for b in boxes}]
    if absent:
        raise elaborate.Error(f"{label}: {piece.module} has no module {' or '.join(absent)} to cut off")
    given = params(design.by_key[key])
    return Source(label, piece.module, device, given, list(piece.cut), key, design.texts[key], boxes)


def listed(root, labels, work):
    """Returns the Sources of pieces of the list. Each device is elaborated once."""
    found = {}
    for device in dict.fromkeys(pieces.PIECES[x].device for x in labels):
        modules, _ = elaborate.read(root, {device: ("tern_kernel", pieces.DEVICES[device])}, work / device)
        for label in labels:
            if pieces.PIECES[label].device == device:
                found[label] = made(label, pieces.PIECES[label], device, modules)
    return [found[x] for x in labels]


def alone(root, module, given, work):
    """Returns the Source of any module with parameters, {name: value}; those that are not given have their default."""
    modules, kinds = elaborate.read(root, {"alone": (module, given)}, work / "alone")
    label = "-".join([module, *(f"{n.lower()}{v}" for n, v in sorted(given.items()))])
    top = next(m for m in modules if m.yosys_name == kinds["alone"])
    return made(re.sub(r"[^\w-]", "_", label), pieces.Piece(module), "", modules, top.key())
