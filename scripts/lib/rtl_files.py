# SPDX-License-Identifier: Apache-2.0
"""Which files the RTL has, and in which order they are read.

Names of files are relative to the tree's top. A module lies in the file of its name; one that contains another names
it at the beginning of a line, followed by parameters or the name of an instance, which begins with u_.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def sources(root=ROOT):
    """Packages, as a list in the order in which they are read; and the file of each module, by its name."""
    files = sorted(p.relative_to(root) for p in (root / "rtl").rglob("*.*v"))
    packages = [f for f in files if f.stem.endswith("_pkg")]
    # the generated packages name nothing; hand-written ones may use them
    packages.sort(key=lambda f: (f.parts[1] != "gen", len(f.parts), f.name))
    return packages, {f.stem: f for f in files if f not in packages}


def contents(root=ROOT):
    """Of each module, by its name: the modules of the tree that stand in its text."""
    _, modules = sources(root)
    line = re.compile(r"^\s*(\w+)\s+(?:#|u_)", re.M)
    named = {m: set(line.findall(re.sub(r"//.*", "", (root / f).read_text()))) for m, f in modules.items()}
    return {m: sorted(names & set(modules) - {m}) for m, names in named.items()}


def roots(root=ROOT):
    """The modules that no other one contains."""
    inside = contents(root)
    contained = {m for names in inside.values() for m in names}
    return [m for m in inside if m not in contained]


def files_of(top, root=ROOT):
    """All that `top` is made of: packages first, then the files of the modules that it contains and its own, sorted.
    KeyError, if there is no such module."""
    packages, modules = sources(root)
    inside = contents(root)
    found, wanted = set(), [top]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += inside[name]
    return packages + sorted(modules[n] for n in found)
