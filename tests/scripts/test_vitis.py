# SPDX-License-Identifier: Apache-2.0
"""scripts/vitis as far as it can be tested without Vitis: the Tcl runs with commands that check names and objects.
Ports, registers, parameters, files and memory of the kernel are compared with the RTL and docs/spec. Tools fail, and
memory is somewhere else."""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "scripts/vitis/build"
CARDS = yaml.safe_load((ROOT / "scripts/vitis/cards.yaml").read_text())
KERNEL = (ROOT / "rtl/top/tern_kernel.v").read_text()


def dry_run(*args):
    return subprocess.run([BUILD, "--dry-run", *args], check=False, capture_output=True, text=True)


class Vitis(unittest.TestCase):
    def package(self, card, change=lambda text: text, options=()):
        """Runs the Tcl script of a card on a stub. Returns exit status, commands and stderr. change: a function that
        changes the text of the script."""
        vivado = shlex.split(dry_run("--card", card, *options).stdout.splitlines()[0])
        at = vivado.index("-source")
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "package_kernel.tcl"
            text = pathlib.Path(vivado[at + 1]).read_text()
            script.write_text(change(text))
            self.assertEqual(change is Vitis.package.__defaults__[0], script.read_text() == text)
            r = subprocess.run(["tclsh", ROOT / "tests/scripts/vitis_stub.tcl", script, *vivado[at + 3:]], check=False,
                               capture_output=True, text=True)
        return r.returncode, [x.split("\t") for x in r.stdout.splitlines()], r.stderr

    def test_every_card_is_packaged(self):
        for card in CARDS:
            code, did, err = self.package(card)
            self.assertEqual((code, err), (0, ""), card)
            xo = [x for x in did if x[0] == "xo"]
            self.assertEqual([x[2:4] for x in xo], [["tern_kernel", "user_managed"]])
            self.assertEqual([x for x in did if x[0] == "ip"][0][1], xo[0][4])
            self.assertEqual([x[1] for x in did if x[0] == "project"], [CARDS[card]["part"]])

    def test_the_files_are_all_that_the_kernel_contains(self):
        _, did, _ = self.package("u55c")
        files = [pathlib.Path(x[1]) for x in did if x[0] == "file"]
        self.assertEqual(len(files), len(set(files)))
        packages = [f.stem for f in files if f.stem.endswith("_pkg")]
        self.assertEqual([f.stem for f in files][:len(packages)], packages)  # before what uses them
        r = subprocess.run(["verilator", "--lint-only", "-Wno-fatal", "-Wno-lint", "--top-module", "tern_kernel",
                            ROOT / "rtl/lint.vlt", *files], check=False, capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, r.stderr)  # no module is missing

    def test_each_port_is_of_an_interface_with_the_clock(self):
        _, did, _ = self.package("u55c")
        ports = re.findall(r"^\s*(?:input|output)\s+wire\s+(?:\[[^]]*\]\s*)?(\w+)", KERNEL, re.M)
        self.assertGreater(len(ports), 40)
        signals = {x[1] for x in did if x[0] == "bus"}
        clocked = {x[1]: x[2] for x in did if x[0] == "clocked"}
        for port in ports:
            bus = re.match(r"(s_axi_control|m_axi_\w+?)_[a-z]+$", port)
            self.assertIn(bus[1] if bus else port, clocked if bus else signals, port)
        self.assertEqual(set(clocked.values()), {"ap_clk"})
        self.assertIn(["reset", "ap_rst_n", "ap_clk"], did)
        self.assertIn(["set", "parameter:bus:interrupt.SENSITIVITY", "value", "LEVEL_HIGH"], did)

    def test_registers_are_those_of_the_interface(self):
        _, did, _ = self.package("u55c")
        bits = int(re.search(r"\[\s*(\d+):0\] s_axi_control_awaddr", KERNEL)[1]) + 1
        self.assertIn(["set", "block:reg0", "range", str(2**bits)], did)
        self.assertLessEqual(2**bits, 65536)  # XRT's most
        blocks = {b["name"]: b for b in yaml.safe_load((ROOT / "docs/spec/registers.yaml").read_text())["blocks"]}
        low, high = (blocks["dirty"]["base"] + r["offset"] for r in blocks["dirty"]["registers"]
                     if r["name"] in ("target_lo", "target_hi"))
        self.assertEqual(high, low + 4)
        self.assertIn(["set", "register:m_axi_gmem_pointer", "address_offset", hex(low)], did)
        self.assertIn(["set", "parameter:register:m_axi_gmem_pointer.ASSOCIATED_BUSIF", "value", "m_axi_gmem"], did)
        buffer = next(r["offset"] for r in blocks["engine"]["registers"] if r["name"] == "sub_buffer_lo")
        _, did, _ = self.package("u55c", options=("--ports", "4", "--engines", "4"))
        at = [low] + [blocks["engine"]["base"] + e * blocks["engine"]["stride"] + buffer for e in range(3)]
        for p in range(4):
            name = f"m_axi_gmem{p}"
            self.assertIn(["set", f"register:{name}_pointer", "address_offset", hex(at[p])], did)
            self.assertIn(["set", f"parameter:register:{name}_pointer.ASSOCIATED_BUSIF", "value", name], did)
            self.assertIn(["clocked", name, "ap_clk"], did)

    def test_a_kernel_with_several_ports(self):
        """The wrapper for several ports elaborates, and connects each signal of each port to the device."""
        for ports in (2, 4):
            _, did, _ = self.package("u55c", options=("--ports", str(ports), "--engines", "4"))
            files = [pathlib.Path(x[1]) for x in did if x[0] == "file"]
            kernel = next(f for f in files if f.name == "tern_kernel.v")
            names, one = (re.findall(r"^\s*(?:input|output)\s+wire\s+(?:\[[^]]*\]\s*)?m_axi_gmem(\w+)", text, re.M)
                          for text in (kernel.read_text(), KERNEL))
            self.assertGreater(len(one), 25)
            self.assertEqual(sorted(names), sorted(f"{p}{signal}" for p in range(ports) for signal in one))
            for signal in one:
                all_ = ", ".join(f"m_axi_gmem{p}{signal}" for p in reversed(range(ports)))
                self.assertIn("({" + all_ + "})", kernel.read_text())
            if ports == 2:
                r = subprocess.run(["verilator", "--lint-only", "-Wall", "--top-module", "tern_kernel",
                                    ROOT / "rtl/lint.vlt", *files], check=False, capture_output=True, text=True)
                self.assertEqual((r.returncode, r.stderr), (0, ""))
            config = (kernel.parent / "link.cfg").read_text().splitlines()
            self.assertEqual([x for x in config if x.startswith("sp=")],
                             [f"sp=tern_kernel_1.m_axi_gmem{p}:{CARDS['u55c']['memory']}" for p in range(ports)])

    def test_parameters_are_of_the_kernel_and_memory_fits_it(self):
        known = re.findall(r"parameter\s+(?:\[[^]]*\]\s*)?(\w+)\s*=", KERNEL)
        width = int(re.search(r"MEM_PAGES\[(\d+):0\]", KERNEL)[1]) + 1
        for card, about in CARDS.items():
            _, did, _ = self.package(card)
            generic = next(x[3] for x in did if x[:3] == ["set", "fileset:sources_1", "generic"]).split()
            values = dict(g.split("=") for g in generic)
            self.assertLessEqual(set(values), set(known))
            self.assertEqual(int(values["MEM_PAGES"]) * 4096, about["mib"] * 2**20)
            self.assertLess(int(values["MEM_PAGES"]), 2**width, card)
            self.assertEqual(int(values["MEM_BASE"].split("'h")[1], 16), about["base"])
            for name, value in values.items():
                self.assertIn(["set", f"parameter:user.{name}", "value", value], did)

    def test_v_plus_plus_is_told_of_each_memory_port(self):
        ports = set(re.findall(r"\b(m_axi_\w+?)_awvalid", KERNEL))
        for card, about in CARDS.items():
            link = shlex.split(dry_run("--card", card).stdout.splitlines()[1])
            self.assertEqual(link[link.index("--platform") + 1], about["platform"])
            config = pathlib.Path(link[link.index("--config") + 1]).read_text().splitlines()
            self.assertEqual(config[0], "[connectivity]")
            self.assertEqual({x for x in config if x.startswith("sp=")},
                             {f"sp=tern_kernel_1.{p}:{about['memory']}" for p in ports})
            self.assertIn("nk=tern_kernel:1:tern_kernel_1", config)
            self.assertIn(f"slr=tern_kernel_1:{about['slr']}", config)
            self.assertEqual(int(link[link.index("--kernel_frequency") + 1]), about["clock_mhz"])

    def test_what_is_wrong_in_the_tcl_is_seen(self):
        for old, new, says in (("ipx::save_core", "ipx::store_core", "invalid command name"),
                               ("-ctrl_protocol", "-protocol", "unknown option -protocol"),
                               ("set_property width 32 $block", "set_property widht 32 $block", "no property widht"),
                               ("add_files -norecurse $files", "add_files -norecurse none.sv", "no such file: none.sv"),
                               ("get_bus_interfaces interrupt", "get_bus_interfaces irq", "is no bus"),
                               ("-reset ap_rst_n", "-reset rst", "is no bus")):
            code, _, err = self.package("u50", lambda text, old=old, new=new: text.replace(old, new))
            self.assertEqual(code, 1, new)
            self.assertIn(says, err)

    def build(self, card, topology, tools=("vivado", "v++", "xclbinutil"), fails=None):
        """A whole build with tools that do nothing, but that xclbinutil says what memory there is."""
        with tempfile.TemporaryDirectory() as folder:
            for tool in tools:
                path = pathlib.Path(folder) / tool
                path.write_text("#!/bin/sh\n" + ("exit 3\n" if tool == fails else ""))
                if tool == "xclbinutil" and tool != fails:
                    text = json.dumps({"mem_topology": {"m_count": str(len(topology)), "m_mem_data": topology}})
                    path.write_text(f"#!/bin/sh\nfor a; do :; done\nprintf '%s' '{text}' >${{a##*:}}\n")
                path.chmod(0o755)
            return subprocess.run([sys.executable, BUILD, "--card", card, "--out", f"{folder}/x.xclbin"], check=False,
                                  capture_output=True, text=True, env={"PATH": f"{folder}:/bin:/usr/bin"})

    def test_memory_that_is_elsewhere_is_refused(self):
        def banks(name, n, base, kib):
            return [{"m_type": "MEM_DRAM", "m_used": "1", "m_sizeKB": hex(kib), "m_tag": f"{name}[{i}]",
                     "m_base_address": hex(base + i * kib * 1024)} for i in range(n)]

        ddr = banks("DDR", 4, 0x4000000000, 2**26)
        hbm = banks("HBM", 32, 0, 2**18)
        for card, memory, says in (("u50", hbm, ""), ("u50", hbm[:31], r"HBM\[31\] is not there"),
                                   ("u50", banks("HBM", 32, 4096, 2**18), r"HBM\[0\] is at 0x1000, not at 0x0"),
                                   ("u50", banks("HBM", 32, 0, 2**17), "has 4096 MiB, not 8192"),
                                   ("u55c", hbm, "has 8192 MiB, not 16384"),
                                   ("u250", ddr, ""), ("u250", ddr[:1], r"DDR\[1\] is not there")):
            r = self.build(card, memory)
            self.assertEqual(r.returncode, 1 if says else 0, r.stderr)
            if says:
                self.assertRegex(r.stderr, says)
            else:
                self.assertIn("TERN_BACKEND=xrt TERN_XCLBIN=", r.stdout)

    def test_a_tool_that_fails_ends_the_build(self):
        for tool in ("vivado", "v++", "xclbinutil"):
            r = self.build("u50", [], fails=tool)
            self.assertEqual(r.returncode, 1)
            self.assertIn(f"{tool} ended with status 3", r.stderr)

    def test_wrong_usage_and_no_tools(self):
        for args in ((), ("--card", "u9"), ("--card", "u50", "--engines", "9"), ("--card", "u50", "--lanes", "7"),
                     ("--card", "u50", "--ports", "3"), ("--card", "u50", "--ports", "4")):
            r = dry_run(*args)
            self.assertEqual((r.returncode, r.stdout), (2, ""), args)
        r = subprocess.run([BUILD, "--list"], check=False, capture_output=True, text=True)
        self.assertEqual([x.split()[0] for x in r.stdout.splitlines()], list(CARDS))
        r = subprocess.run([sys.executable, BUILD, "--card", "u50"], check=False, capture_output=True, text=True,
                           env={"PATH": "/nonexistent"})
        self.assertEqual(r.returncode, 1)
        self.assertIn("vivado is not in PATH: run settings64.sh of Vitis and setup.sh of XRT first", r.stderr)


if __name__ == "__main__":
    unittest.main()
