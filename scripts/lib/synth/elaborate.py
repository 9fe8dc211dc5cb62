# SPDX-License-Identifier: Apache-2.0
"""The device as a tree of units: Yosys elaborates it, each unit becomes a text that Yosys can synthesise alone.

A *unit* is a module that is reported by itself (UNITS). A module that is no unit is part of each unit that contains it.
A unit inside a unit is a black box there: it is synthesised once, however often it stands in the device.

The text of a unit names no line and no number that Yosys counts up, so it changes only when the unit itself, its
parameters or a constant that it uses change. The hash of the text is the key of the cache and of the baseline.
"""
import hashlib
import itertools
import re
import subprocess

import rtl_files

RECIPE = "synth_xilinx -family xcup -noiopad -noclkbuf -flatten"
# Modules that differ in these parameters only count as one. The constant selects a lane's place in a line.
PLACES = ("LANE",)
UNITS = set("""
    tern_kernel tern_regs mem_fabric mem_gate atomic_unit dirty_command dirty_plane axi_read axi_write
    engine command_processor mmu mover user_executors
    simt_executor simt_context simt_dispatch simt_icache simt_core simt_lane simt_convert div_lane
    simt_lsu lsu_address lsu_coalesce lsu_local lsu_merge
""".split())
# Parts of a unit that are also synthesised alone, to show where growth happens. The control of the SIMT core stays one
# unit: logic crosses between its modules, and synthesised in pieces it is a third deeper (docs/hardware/size.md).
PARTS = set("""
    simt_scoreboard simt_written simt_barrier simt_select lsu_retain lsu_extract
""".split())


class Error(Exception):
    """An error that the user must correct. The text says what it is."""


def version():
    try:
        return subprocess.run(["yosys", "-V"], capture_output=True, text=True, check=True).stdout.split(" (")[0].strip()
    except (OSError, subprocess.CalledProcessError) as e:
        raise Error(f"yosys cannot be run ({e}); scripts/setup test installs it") from e


def yosys(script, cwd, what):
    done = subprocess.run(["yosys", "-q", "-p", script], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.strip().splitlines() if not line.startswith("Warning")]
        raise Error(f"{what}: " + (lines[-1] if lines else f"yosys ended with status {done.returncode}"))


class Module:
    """A module as Yosys writes it: parameters, ports (lines of text), cells of other modules, all lines."""

    def __init__(self, head, lines):
        self.lines, self.yosys_name = lines, head
        self.name = head.rsplit("\\", 1)[1] if head.startswith("$paramod$") else head.split("\\")[1]
        self.params, self.ports, self.cells = {}, [], []
        for line in lines:
            words = line.split()
            if words[0] == "parameter" and line.startswith("  p"):
                self.params[words[1][1:]] = words[2] if len(words) > 2 else ""
            elif words[0] == "wire" and ("input" in words or "output" in words):
                self.ports.append(line)
            elif words[0] == "cell" and (words[1].startswith("\\") or words[1].startswith("$paramod")):
                self.cells.append((words[1], words[2][1:]))

    def key(self):
        """Returns a name that does not depend on the order of parameters in Yosys's hash."""
        kept = [f"{k}_{number(v)}" for k, v in self.params.items() if k not in PLACES]
        return "__".join([self.name, *kept])


def number(text):
    """Returns a short form of a parameter as Yosys writes it: 32'0101 is 5."""
    m = re.fullmatch(r"\d+'s?([01]+)", text)
    return str(int(m[1], 2)) if m else re.sub(r"\W", "", text)


def parse(text):
    modules, lines = [], []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#") or line.startswith("autoidx") or "attribute \\src " in line:
            continue
        lines.append(line)
        if line == "end":
            head = next(i for i, x in enumerate(lines) if x.startswith("module "))
            modules.append(Module(lines[head].split()[1], lines[head + 1:-1]))
            lines = []
    return modules


COUNTED = re.compile(r"\$\d|\$[\w/.]+:\d+\$")  # Matches a name that Yosys makes of a line and a number.


def ordered(lines):
    """Sorts the assignments of a case, and the updates of a register's process, by what they set. Yosys writes them in
    the order of its numbers, which only matters where two set the same."""
    out, group = [], []
    for line in [*lines, ""]:
        words = line.split()
        if words[:1] in (["assign"], ["update"]) and words[1] != "{":
            group.append((words[1], line))
        elif line.strip() != "assign { } { }":
            out += [text for _, text in sorted(group, key=lambda g: g[0])] + [line]
            group = []
    return out[:-1]


def sorted_items(lines):
    """Sorts a module's wires, cells and processes by their names, with 9 before 10. Yosys has 10 before 9."""
    items, item, inside = [], [], False
    for line in lines:
        item.append(line)
        words = line.split()
        if inside:
            inside = line != "  end"
        elif words[0] in ("cell", "process"):
            inside = True
        if not inside and words[0] != "attribute":
            head = next(x for x in item if not x.startswith("  attribute")).split()
            where = {"cell": 2, "wire": -1, "process": 1}.get(head[0])
            key = [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", head[where])] if where else []
            items.append((head[0], key, item))
            item = []
    out = []
    for _, group in itertools.groupby(items, key=lambda i: i[0]):
        out += [line for _, _, lines in sorted(group, key=lambda i: i[1]) for line in lines]
    return out + item


def canonical(lines, names):
    """Returns a module's lines with its automatic names counted from 1 and other modules' names replaced."""
    fixed = {w.split()[-1] for w in lines if w.lstrip().startswith("memory ")}
    auto, out = {}, []
    for line in sorted_items(lines):
        if "$" not in line and " cell " not in line:
            out.append(line)
            continue
        words = line.split(" ")
        cell = line.lstrip().startswith("cell ")
        for i, w in enumerate(words):
            if cell and i and words[i - 1] == "cell":
                words[i] = names.get(w, w)
            elif (w.startswith("$") or COUNTED.search(w)) and w not in fixed:
                words[i] = auto.setdefault(w, f"$n{len(auto) + 1}")
        out.append(" ".join(words))
    return ordered(out)


class Design:
    """The units of all configurations: texts (key -> text), children (key -> keys of units inside), hashes (key -> hash
    of the text), parts (keys of parts of units)."""

    def __init__(self, modules, units):
        self.units, self.by_key, self.names = units, {}, {}
        for m in sorted(modules, key=lambda m: len(m.lines)):
            self.by_key[m.key()] = m
            self.names[m.yosys_name] = "\\" + m.key()
        self.texts, self.children, self.hashes, self.parts = {}, {}, {}, set()

    def module(self, yosys_name):
        return self.by_key[self.names[yosys_name][1:]]

    def add(self, key, tool):
        """Adds a unit and all units inside it."""
        if key in self.texts:
            return
        inside, boxes, todo, parts = [], {}, [self.by_key[key]], set()
        while todo:
            m = todo.pop()
            if m in inside:
                continue
            inside.append(m)
            for kind, _ in m.cells:
                child = self.module(kind)
                if child.name in self.units:
                    boxes[child.key()] = child
                else:
                    todo.append(child)
                    if child.name in PARTS:
                        parts.add(child.key())
        text = []
        for m in sorted(inside, key=lambda m: m.key()):
            text += [f"module \\{m.key()}", *canonical(m.lines, self.names), "end"]
        for m in sorted(boxes.values(), key=lambda m: m.key()):
            text += ["attribute \\blackbox 1", f"module \\{m.key()}", *m.ports, "end"]
        self.texts[key] = "\n".join(text) + "\n"
        self.children[key] = sorted(boxes)
        self.hashes[key] = hashlib.sha256(f"{tool}\n{RECIPE}\n{self.texts[key]}".encode()).hexdigest()[:20]
        self.parts |= parts
        for child in [*boxes, *parts]:
            self.add(child, tool)


def read(root, configs, work):
    """Returns the modules of the configurations, {name: (module, {parameter: value})}, as Yosys elaborates them, and
    the name that Yosys gives to the module of each, {name: Yosys's name}."""
    packages, files = rtl_files.sources(root)
    packages, folders = [str(p) for p in packages], sorted({str(f.parent) for f in files.values()})
    work.mkdir(parents=True, exist_ok=True)
    wrapper, out = (work / "configs.sv").resolve(), (work / "elaborated.il").resolve()
    cells = "".join(f"  {top} #({', '.join(f'.{p}({v})' for p, v in params.items())}) u_{n} ();\n"
                    for n, (top, params) in enumerate(configs.values()))
    wrapper.write_text(f"module synth_configs;\n{cells}endmodule\n")
    libs = " ".join("-libdir " + d for d in folders)
    yosys(f"read_verilog -sv {' '.join(packages)} {wrapper}; hierarchy -check -top synth_configs {libs}; "
          f"write_rtlil {out}", root, "elaboration")
    modules = parse(out.read_text())
    wrap = next(m for m in modules if m.name == "synth_configs")
    kinds = {name: kind for kind, name in wrap.cells}
    return [m for m in modules if m is not wrap], {name: kinds[f"u_{n}"] for n, name in enumerate(configs)}


def elaborate(root, configs, work, units=None):
    """Returns a Design of the configurations, {name: (module, {parameter: value})}, and its roots, {name: key}."""
    modules, kinds = read(root, configs, work)
    design, tool = Design(modules, units or UNITS), version()
    roots = {name: design.module(kind).key() for name, kind in kinds.items()}
    for key in roots.values():
        design.add(key, tool)
    return design, roots
