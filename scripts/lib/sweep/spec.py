# SPDX-License-Identifier: Apache-2.0
"""The description of a sweep: a YAML file, read with the line and column of each mistake, and its points.

A description is a dictionary: `title`; `backend`, rtl or model; `geometries` and `memories`, lists of dictionaries of
numbers; `works`, a list of dictionaries with `name` and either `bench` or `file`, `arguments` and `folder`.
"""
import difflib
import itertools
import pathlib
import shlex

import yaml

# Parameters of a device: the parameter of tern_top, and the value that the device `default` has.
GEOMETRY = {"lanes": ("LANES", 16), "warps": ("WARPS", 16), "engines": ("ENGINES", 2), "ports": ("PORTS", 1),
            "local_kib": ("LMEM_KIB", 64)}
DEFAULT = {name: value for name, (_, value) in GEOMETRY.items()}
NAMED = {"default": DEFAULT, "small": {**DEFAULT, "lanes": 8, "warps": 8},
         "tiny": {"lanes": 4, "warps": 4, "engines": 1, "ports": 1, "local_kib": 16}}
# Parameters of memory: keys of the driver's configuration, least and greatest value (docs/driver.md).
MEMORY = {"latency": (("dram_latency",), 1, 100000), "bandwidth": (("dram_bandwidth",), 1, 64),
          "outstanding": (("dram_reads", "dram_writes"), 1, 256)}
KINDS = ("ideal", "hbm", "ddr4")
KEYS = ("title", "backend", "geometry", "memory", "benches", "kernels")
MOST = 100000  # Points of a sweep.


class Error(Exception):
    """A mistake in the description. The text says what, where and what to do."""


def near(word, known):
    """Returns how a sentence about an unknown word ends: with the names that look like it, or with all."""
    found = difflib.get_close_matches(str(word), known, 3, 0.5)
    return f"did you mean {' or '.join(found)}?" if found else f"known are {', '.join(known)}"


class Reader:
    """Turns the nodes of a YAML document into values. Mistakes carry the place of their node, if the text has a name.
    """

    def __init__(self, name):
        self.name = name

    def wrong(self, node, message):
        mark = node.start_mark
        raise Error(f"{self.name}:{mark.line + 1}:{mark.column + 1}: {message}" if self.name else message)

    def mapping(self, node, what, known):
        """Returns {key: (node of the key, node of the value)} of a mapping with these keys only."""
        if not isinstance(node, yaml.MappingNode):
            self.wrong(node, f"{what}: needed is a mapping with the keys {', '.join(known)}")
        found = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else "?"
            if name not in known:
                self.wrong(key, f"{what}: unknown key '{name}'; {near(name, known)}")
            if name in found:
                self.wrong(key, f"{what}: the key '{name}' is there twice; remove one")
            found[name] = (key, value)
        return found

    def items(self, node, what):
        """Returns the nodes of a list, or the node alone."""
        if isinstance(node, yaml.SequenceNode):
            if not node.value:
                self.wrong(node, f"{what}: an empty list; give a value, or leave the key out")
            return node.value
        return [node]

    def text(self, node, what):
        if not isinstance(node, yaml.ScalarNode) or not node.value.strip():
            self.wrong(node, f"{what}: needed is a text that is not empty")
        return node.value

    def number(self, node, what, least, most):
        try:
            value = int(node.value, 0) if isinstance(node, yaml.ScalarNode) else None
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            shown = f", not '{node.value}'" if isinstance(node, yaml.ScalarNode) else ""
            self.wrong(node, f"{what}: needed is a whole number from {least} to {most}{shown}")
        return value

    def once(self, node, what, value, values, told=None):
        """Adds a value to a list in which it must not be. told: its name in a message."""
        if value in values:
            self.wrong(node, f"{what}: {told or value} is there twice; remove one")
        values.append(value)

    def numbers(self, node, what, least, most):
        values = []
        for item in self.items(node, what):
            self.once(item, what, self.number(item, what, least, most), values)
        return values

    def geometries(self, node):
        """Each item is the name of a device, or a mapping of parameters to one value or several."""
        found = []
        for item in self.items(node, "geometry"):
            if isinstance(item, yaml.ScalarNode):
                if item.value not in NAMED:
                    self.wrong(item, f"geometry: unknown device '{item.value}'; {near(item.value, list(NAMED))}, or "
                               f"give a mapping with {', '.join(GEOMETRY)}")
                self.once(item, "geometry", NAMED[item.value], found, item.value)
                continue
            keys = self.mapping(item, "geometry", tuple(GEOMETRY))
            values = {name: self.numbers(keys[name][1], f"geometry, {name}", 1, 1024) if name in keys else [default]
                      for name, default in DEFAULT.items()}
            for chosen in product(values):
                self.once(item, "geometry", chosen, found, shown(chosen))
        return found

    def memories(self, node):
        keys = self.mapping(node, "memory", ("kind", *MEMORY))
        values = {}
        if "kind" in keys:
            values["kind"] = []
            for item in self.items(keys["kind"][1], "memory, kind"):
                if self.text(item, "memory, kind") not in KINDS:
                    self.wrong(item, f"memory, kind: unknown kind '{item.value}'; {near(item.value, KINDS)}")
                self.once(item, "memory, kind", item.value, values["kind"])
        for name, (_, least, most) in MEMORY.items():
            if name in keys:
                values[name] = self.numbers(keys[name][1], f"memory, {name}", least, most)
        return product(values)

    def benches(self, node, known):
        found = []
        for item in self.items(node, "benches"):
            if self.text(item, "benches") not in known:
                self.wrong(item, f"benches: there is no bench '{item.value}'; {near(item.value, known)}")
            self.once(item, "benches", {"name": item.value, "bench": item.value}, found, item.value)
        return found

    def kernels(self, node, folder):
        found = []
        for item in self.items(node, "kernels"):
            keys = self.mapping(item, "kernels", ("name", "file", "run"))
            for name in "file", "run":
                if name not in keys:
                    self.wrong(item, f"kernels: the key '{name}' is missing; needed are file, the source of the "
                               "kernel, and run, the arguments of tern run after it")
            file = folder / self.text(keys["file"][1], "kernels, file")
            if not file.is_file():
                self.wrong(keys["file"][1], f"kernels, file: {file} is not there; its path begins at the folder of the "
                           "description")
            value = keys["run"][1]
            try:
                arguments = shlex.split(self.text(value, "kernels, run"))
            except ValueError as e:
                self.wrong(value, f"kernels, run: {str(e).lower()}; write it as for a shell")
            named = dict(zip(arguments, arguments[1:])).get("--kernel", file.stem)
            name = self.text(keys["name"][1], "kernels, name") if "name" in keys else named
            if any(work["name"] == name for work in found):
                self.wrong(item, f"kernels: the name '{name}' is there twice; give each kernel its own by the key name")
            found.append(kernel(name, file, arguments, folder))
        return found


def kernel(name, file, arguments, folder):
    return {"name": name, "file": str(file.resolve()), "arguments": arguments, "folder": str(folder.resolve())}


def product(values):
    """Returns all choices of one value each, {name: value}, of {name: values}."""
    return [dict(zip(values, chosen)) for chosen in itertools.product(*values.values())]


def parse(text, name, folder, benches):
    """Returns the description in a text. name: that of its file, in messages and as title, or empty; folder: where
    paths in it begin; benches: the names of all benches."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        raise Error(f"{name}:{mark.line + 1}:{mark.column + 1}: not YAML: {e.problem or e.context}; correct it there "
                    "or in the line before") from e
    except yaml.YAMLError as e:
        raise Error(f"{name}: not YAML: {' '.join(str(e).split())}") from e
    if node is None:
        raise Error(f"{name}:1:1: the file is empty; docs/sweeps.md has an example")
    reader = Reader(name)
    keys = reader.mapping(node, "sweep", KEYS)
    out = {"title": reader.text(keys["title"][1], "title") if "title" in keys else pathlib.Path(name).stem or "sweep",
           "backend": reader.text(keys["backend"][1], "backend") if "backend" in keys else "rtl",
           "geometries": reader.geometries(keys["geometry"][1]) if "geometry" in keys else [DEFAULT],
           "memories": reader.memories(keys["memory"][1]) if "memory" in keys else [{}],
           "works": reader.benches(keys["benches"][1], benches) if "benches" in keys else []}
    if "kernels" in keys:
        for work in reader.kernels(keys["kernels"][1], folder):
            if any(work["name"] == other["name"] for other in out["works"]):
                reader.wrong(keys["kernels"][0], f"kernels: '{work['name']}' is the name of a bench of this sweep, "
                             "too; give the kernel another by the key name")
            out["works"].append(work)
    if out["backend"] not in ("rtl", "model"):
        reader.wrong(keys["backend"][1], f"backend: unknown '{out['backend']}'; known are rtl and model")
    return out


def read(file, benches):
    """Returns the description in a file."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as e:
        raise Error(f"{file}: cannot be read: {e.strerror}; name the YAML file of a sweep") from e
    except UnicodeDecodeError as e:
        raise Error(f"{file}: not a text in UTF-8: byte {e.start}; name the YAML file of a sweep") from e
    return parse(text, str(file), file.parent, benches)


def points(description):
    """Returns all points of a description: {"backend", "geometry", "memory", "work"}, those of a device together."""
    several = len(description["geometries"]) * len(description["memories"]) * len(description["works"])
    if not several:
        raise Error("nothing is to be run: name benches or kernels")
    if several > MOST:
        raise Error(f"the sweep has {several:,} points, {MOST:,} are the limit; give fewer values")
    if description["backend"] == "model":
        if any(description["memories"]):
            raise Error("the functional model has no timing of memory: leave out memory, or choose the backend rtl")
        for geometry in description["geometries"]:
            if geometry not in NAMED.values():
                raise Error(f"the functional model has the devices {', '.join(NAMED)} only, not one of "
                            f"{shown(geometry)}: choose one of these, or the backend rtl")
    return [{"backend": description["backend"], "geometry": geometry, "memory": memory, "work": work}
            for geometry, memory, work in itertools.product(description["geometries"], description["memories"],
                                                            description["works"])]


def shown(geometry):
    """Returns a geometry as words: parameters that all sweeps name, and others if they differ from the default."""
    told = f"{geometry['lanes']} lanes x {geometry['warps']} warps, {geometry['engines']} engines"
    told = told[:-1] if geometry["engines"] == 1 else told
    told += f", {geometry['ports']} ports" if geometry["ports"] != 1 else ""
    return told + (f", {geometry['local_kib']} KiB" if geometry["local_kib"] != DEFAULT["local_kib"] else "")
