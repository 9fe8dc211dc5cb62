# SPDX-License-Identifier: Apache-2.0
"""The RTL's files and the order in which they are read.

File names are relative to the top of the tree. A module is in the file of its name. A module that contains another one
names it at the beginning of a line, followed by parameters or the instance's name, which begins with u_.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def sources(root=ROOT):
    """Returns the packages, in the order in which they are read, and the file of each module by its name."""
    files = sorted(p.relative_to(root) for p in (root / "rtl").rglob("*.*v"))
    packages = [f for f in files if f.stem.endswith("_pkg")]
    # Generated packages use no others. Hand-written ones may use them.
    packages.sort(key=lambda f: (f.parts[1] != "gen", len(f.parts), f.name))
    return packages, {f.stem: f for f in files if f not in packages}


def contents(root=ROOT):
    """Returns, for each module by name, the modules of the tree that it contains."""
    _, modules = sources(root)
    line = re.compile(r"^\s*(\w+)\s+(?:#|u_)", re.M)
    named = {m: set(line.findall(re.sub(r"//.*", "", (root / f).read_text()))) for m, f in modules.items()}
    return {m: sorted(names & set(modules) - {m}) for m, names in named.items()}


def roots(root=ROOT):
    """Returns the modules that no other one contains."""
    inside = contents(root)
    contained = {m for names in inside.values() for m in names}
    return [m for m in inside if m not in contained]


def files_of(top, root=ROOT):
    """Returns all files of `top`: packages first, then the files of the module and of those that it contains, sorted.
    Raises KeyError if there is no such module."""
    packages, modules = sources(root)
    inside = contents(root)
    found, wanted = set(), [top]
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += inside[name]
    return packages + sorted(modules[n] for n in found)
