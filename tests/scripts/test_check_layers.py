# SPDX-License-Identifier: Apache-2.0
"""check-layers finds each kind of violation that its rules name, and no others."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"
SV = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = "module m #(parameter int N = 2, M = 3) (\n" \
         "  input  logic [N-1:0] x_i,  // input, output\n  output p::t {}\n);\n"

# path, contents, part of the message (None: clean)
CASES = [
    ("runtime/core/x.c", SPDX + '#include "tern/tern.h"\n', None),
    ("runtime/core/x.c", SPDX + '#include "tern/tern_hw.h"\n', "x.c:2: includes tern/tern_hw.h"),
    ("runtime/core/x.c", SPDX + '#include "tern_sim/tern_sim.h"\n', "x.c:2: includes tern_sim"),
    ("runtime/core/x.c", SPDX + '#include "base/lock.h"\n', None),
    ("runtime/core/x.c", SPDX + '#include "base/ticket_lock.h"\n', "x.c:2: includes base/ticket_lock.h"),
    ("runtime/api/x.c", SPDX + '#include "base/error.h"\n', "x.c:2: includes base/error.h"),
    ("runtime/cli/x.c", SPDX + '#include "base/file.h"\n', None),
    ("runtime/cli/x.c", SPDX + '#include "os/service.h"\n', "x.c:2: includes os/service.h"),
    ("driver/os/proc/x.c", SPDX + "\n#include <tern/tern_hw.h>\n", "x.c:3: includes tern/tern_hw.h"),
    ("driver/os/proc/x.c", SPDX + '#include "hal/hal.h"\n', "x.c:2: includes hal/hal.h"),
    ("driver/migration/state/x.c", SPDX + '#include "hal/hal.h"\n', "x.c:2: includes hal/hal.h"),
    ("driver/migration/state/x.c", SPDX + "#include <tern/tern_hw.h>\n", "x.c:2: includes tern/tern_hw.h"),
    ("driver/migration/proxy/x.c", SPDX + '#include "migration/state/a.h"\n', "x.c:2: includes migration/state/a.h"),
    ("driver/ternd/x.c", SPDX + '#include "migration/state/a.h"\n', "x.c:2: includes migration/state/a.h"),
    ("driver/client/x.c", SPDX + '#include "migration/format/a.h"\n', "x.c:2: includes migration/format/a.h"),
    ("runtime/core/x.c", SPDX + '#include "migration/state/a.h"\n', "x.c:2: includes migration/state/a.h"),
    ("driver/kmd/x.c", SPDX + '#include "os/sched/sched.h"\n', "x.c:2: includes os/sched/sched.h"),
    ("driver/kmd/x.c", SPDX + '#include "tern/tern_hw.h"\n', None),
    ("driver/hal/x.c", SPDX + '#include "tern/tern_hw.h"\n', "x.c:2: includes tern/tern_hw.h"),
    ("sim/model/x.c", SPDX + '#include "tern/tern.h"\n', "x.c:2: includes tern/tern.h"),
    ("driver/os/proc/x.c", SPDX + 'int f(char *s) { return strcmp(s, "model"); }\n', "x.c:2: names the backend"),
    ("driver/os/proc/x.c", SPDX + 'int x; /* "model" */\n/* "rtl"\n * "rtl" */\n', None),
    ("driver/hal/x.c", SPDX + 'char *s = "model";\n', None),
    ("driver/os/proc/x.cpp", SPDX, "C++ is only for"),
    ("driver/os/proc/x.c", "int x;\n", "SPDX"),
    ("driver/os/what/x.c", SPDX, "driver/os/what/x.c:1: its folder is no layer of the driver"),
    ("driver/os/proc/x.c", SPDX + "\n" * 600, "split it"),
    ("stuff/x.c", SPDX, "fixed folders"),
    ("driver/os/proc/x.c", SPDX + "/* " + "x" * 114 + " */\n", None),
    ("driver/os/proc/x.c", SPDX + "/* " + "x" * 115 + " */\n", "x.c:2: over 120 columns"),
    ("docs/x.md", "x " * 61, "x.md:1: over 120 columns"),
    ("docs/x.md", "| " + "x " * 61 + "|\n" + "https://" + "x" * 120, None),
    ("docs/x.svg", "x " * 61, None),
    ("tests/formal/x.proof", "mutant " + "x" * 120 + "\nfiles " + "x" * 120, "x.proof:2: over 120 columns"),
    ("tests/rtl/x/bench.checks", "mutant " + "x" * 120 + "\n# " + "x" * 120, "bench.checks:2: over 120 columns"),
    ("tests/rtl/x/tb.sv", SV + "initial begin $display(\"PASS\"); end\n", "tb.sv:2: '\"PASS': a bench ends"),
    ("tests/rtl/x/tb.sv", SV + "initial $finish;\n", "tb.sv:2: '$finish'"),
    ("tests/rtl/x/y.svh", SV + "\nif (a != b) $error(\"a\");\n", "y.svh:3: '$error'"),
    ("tests/rtl/x/tb.sv", SV + "if (errors != 0) $fatal(1, \"%0d errors\", errors);\n", "tb.sv:2: 'errors !='"),
    ("tests/rtl/x/tb.sv", SV + "u_errors[2] ++;\n", "tb.sv:2: 'u_errors[2] ++'"),
    ("tests/rtl/x/tb.sv", SV + "errors_o += 1;\n", "tb.sv:2: 'errors_o +='"),
    ("docs/executors/tb.sv", SV + "$finish;\n", "tb.sv:2: '$finish'"),
    ("tests/rtl/x/tb.sv", SV + "if (a != b) $fatal(1, \"2 errors\"); // $finish, errors++\nreport::pass();\n", None),
    ("tests/rtl/lib/report.sv", SV + "errors++; $display(\"PASS\"); $finish;\n", None),
    ("rtl/x.sv", "// SPDX-License-Identifier: Apache-2.0\n`include \"y.svh\"\n", "not `include"),
    ("rtl/x.sv", SV + "  .a_i, .b_i(c),\n", "x.sv:2: connects several ports"),
    ("rtl/x.sv", SV + "  .A(B[1:0]), .b_i\n  .a_i,\n  .b(c.d(e)), .f(g)\n", "2 violations"),
    ("rtl/x.sv", SV + "  .a_i,\n  .b_o(c),\n  .d_i({e, f.g})\n" * 300, None),
    ("rtl/x.sv", SV + "  x.y = z;\n" * 600, "split it"),
    ("rtl/x.sv", SV + HEADER.format("a, b" + ",\n  c" * 37), None),
    ("rtl/x.sv", SV + HEADER.format("a, b" + ",\n  c" * 38), "x.sv:1: m has 41 ports, the limit is 40"),
    ("rtl/top/x.sv", SV + HEADER.format("a, b" + ",\n  c" * 38), None),
    ("rtl/x.sv", SV + "`ifdef FORMAL\n`endif\n", "x.sv:2: rtl/ has no condition but"),
    ("rtl/x.sv", SV + "`ifndef SYNTHESIS\n`ifndef FORMAL\n`endif\n`endif\n", "x.sv:3: rtl/ has no condition but"),
    ("rtl/x.sv", SV + "`ifndef SYNTHESIS\n  `else\n`endif\n", "x.sv:3: rtl/ has no condition but"),
    ("rtl/x.sv", SV + "`ifdef SYNTHESIS\n`elsif  FORMAL\n`endif\n", "2 violations"),
    ("rtl/x.sv", SV + "`define WIDTH 8\n", "x.sv:2: rtl/ has no condition but"),
    ("rtl/x.sv", SV + "`ifndef SYNTHESIS\n// `ifdef FORMAL\n`endif\n", None),
    ("tests/formal/x.svh", SV + "`ifdef FORMAL\n`endif\n", None),
]


def said(files):
    """Runs check-layers on a tree of these files, {path: contents}. Returns its output and exit status."""
    with tempfile.TemporaryDirectory() as d:
        top = pathlib.Path(d)
        (top / "scripts").mkdir()
        shutil.copy(ROOT / "scripts/check-layers", top / "scripts")
        for path, text in files.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text)
        subprocess.run(["git", "init", "-q", d], check=True)
        r = subprocess.run([str(top / "scripts/check-layers")], capture_output=True, text=True, check=False)
        return r.stdout, r.returncode


class CheckLayers(unittest.TestCase):
    def test_each_rule(self):
        for path, text, message in CASES:
            with self.subTest(path=path, text=text[:60]):
                out, status = said({path: text})
                self.assertEqual(status, 0 if message is None else 1, out)
                self.assertIn(message or "", out)

    def test_headers_of_headers(self):
        files = {"driver/os/proc/x.c": SPDX + '#include "os/proc/y.h"\n',
                 "driver/os/proc/y.h": SPDX + '#include "kmd/z.h"\n',
                 "driver/kmd/z.h": SPDX + '#include "kmd/z.h"\n#include "hal/hal.h"\n', "driver/kmd/x.c": SPDX}
        out, status = said(files)
        self.assertEqual(status, 1)
        for f in "driver/os/proc/x.c", "driver/os/proc/y.h":
            self.assertIn(f"driver/kmd/z.h:3: includes hal/hal.h, which {f} sees", out)
        self.assertIn("driver/kmd/z.h:2: includes driver/kmd/z.h", out)
        self.assertIn("3 violations", out)
        files["driver/kmd/z.h"] = SPDX + "struct tern_hal;\n"
        self.assertEqual(said(files)[1], 0)

    def check_driver(self, files, *messages):
        """Each message, and nothing else, is said of these files of driver/, path -> contents without a licence."""
        out, status = said({f"driver/{path}": SPDX + text for path, text in files.items()})
        self.assertEqual(status, 1 if messages else 0, out)
        for m in messages:
            self.assertIn(m, out)
        self.assertIn(f" {len(messages)} violations", out)

    def test_includes_go_down(self):
        self.check_driver({"os/job/x.c": '#include "os/state/state.h"\n', "os/state/state.h": ""})
        self.check_driver({"os/state/x.c": '\n#include "os/job/job.h"\n', "os/job/job.h": ""},
                          "driver/os/state/x.c:3: includes driver/os/job/job.h: "
                          "driver/os/job/ is above driver/os/state/")
        self.check_driver({"base/x.h": '#include "wire/wire.h"\n', "wire/wire.h": ""},
                          "driver/base/x.h:2: includes driver/wire/wire.h: driver/wire/ is above driver/base/")
        self.check_driver({"ternd/x.c": '#include "daemon/main.h"\n', "ternd/daemon/main.h": ""},
                          "driver/ternd/x.c:2: includes driver/ternd/daemon/main.h: ")

    def test_places_of_migration(self):
        """Each folder of migration/ lies between the folder that it builds on and the one that uses it."""
        chains = [["wire", "migration/format", "hal", "os/proc", "migration/state", "os/device", "client", "ternd",
                   "migration/session", "ternd/daemon"], ["migration/session", "migration/proxy", "migration/tool"]]
        for chain in chains:
            calls = "".join(f"    tern_f{n}();\n" for n in range(len(chain)))
            out, _ = said({f"driver/{folder}/x.c": f"{SPDX}void tern_f{n}(void)\n{{\n{calls}}}\n"
                           for n, folder in enumerate(chain)})
            uses = [(a, b) for n, a in enumerate(chain) for b in chain[n + 1:]]
            for low, high in uses:
                self.assertRegex(out, f"driver/{low}/x.c:[0-9]+: uses tern_f[0-9]+ of driver/{high}/x.c: "
                                 f"driver/{high}/ is above driver/{low}/")
            self.assertIn(f" {len(uses)} violations", out)

    def test_headers_for_other_folders(self):
        files = {"os/mem/victim.h": "", "os/mem/x.c": '#include "victim.h"\n'}
        self.check_driver(files)
        self.check_driver({**files, "os/proc/x.c": '#include "os/mem/victim.h"\n'},
                          "driver/os/proc/x.c:2: includes driver/os/mem/victim.h, which is for driver/os/mem/ alone")

    def test_no_cycle(self):
        files = {"wire/a.h": '#include "wire/b.h"\n', "wire/b.h": '\n#include "c.h"\n', "wire/c.h": "",
                 "wire/a.c": '#include "wire/a.h"\n#include "wire/c.h"\n'}
        self.check_driver(files)
        self.check_driver({**files, "wire/c.h": '#include "wire/a.h"\n'},
                          "driver/wire/c.h:2: includes driver/wire/a.h, which includes driver/wire/c.h, itself or")
        self.check_driver({**files, "wire/c.h": '#include "wire/c.h"\n'},
                          "driver/wire/c.h:2: includes driver/wire/c.h, which includes driver/wire/c.h, itself or")
        # each header that is in two cycles
        self.check_driver({**files, "wire/b.h": '#include "wire/a.h"\n#include "wire/c.h"\n',
                           "wire/c.h": '#include "wire/b.h"\n'},
                          "driver/wire/b.h:2: includes driver/wire/a.h", "driver/wire/c.h:2: includes driver/wire/b.h")

    def test_calls_go_down(self):
        low = {"os/state/x.c": "void tern_low(void)\n{\n}\nconst struct ops tern_ops = {1};\nint tern_n[2] = {0};\n"}
        high = "void tern_high(void)\n{\n    tern_low();\n    use(&tern_ops, tern_n);\n}\n"
        self.check_driver({**low, "os/proc/y.c": high})
        up = {**low, "os/proc/y.c": high + "int tern_count = 1;\nstatic int tern_low_too(void)\n{\n}\n"}
        for text in ("void f(void)\n{\n    tern_high();\n}\n", "\n\nstruct ops o = {.high = tern_high};\n",
                     "void f(void)\n{\n    g('\"'), tern_high(\"x\");\n}\n"):
            self.check_driver({**up, "os/mem/z.c": text}, "driver/os/mem/z.c:4: uses tern_high of driver/os/proc/y.c: "
                              "driver/os/proc/ is above driver/os/mem/")
        self.check_driver({**up, "os/mem/mem.h": "void tern_high(void);\nextern int tern_count;\n"},
                          "driver/os/mem/mem.h:2: uses tern_high of driver/os/proc/y.c",
                          "driver/os/mem/mem.h:3: uses tern_count of driver/os/proc/y.c")
        # a comment, a text, a member, a struct and a function of one file are no uses
        none = ("/* tern_high() */\nint f(struct tern_high *t)\n{\n    t->tern_count = 1;\n"
                "    return say(\"tern_high\") + tern_low_too();\n}\n")
        self.check_driver({**up, "os/mem/z.c": none, "os/service.h": "void tern_high(void);\n"})


if __name__ == "__main__":
    unittest.main()
