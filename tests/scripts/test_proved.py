# SPDX-License-Identifier: Apache-2.0
"""Tests of tests/formal/run in a tree of its own: recorded proofs are not run again, and no others are skipped.

Yosys and the solver are scripts: yosys joins its sources, and the solver fails if they contain the word WRONG. A mutant
that writes this word is therefore caught. Each call of the two is counted. The real tools show what is read for a
proof.
"""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib"))
import record  # noqa: E402

TOOLS = {"yosys": """#!/bin/sh
if [ "$1" = -V ]; then echo "$YOSYS"; exit; fi
sources=$(sed -nE 's/^read_verilog -sv -formal (-D SYNTHESIS )?//p' "$2")
cat $sources > "$(sed -n 's/^write_smt2 -wires //p' "$2")"
echo yosys >> calls
""", "z3": """#!/bin/sh
echo "$Z3"
""", "yosys-smtbmc": """#!/bin/sh
for file; do :; done
echo solver >> calls
grep -q LATE "$file" && echo more >> rtl/late.sv
if grep -q HANG "$file"; then cat waiting; fi
if grep -q NONE "$file"; then exit 3; fi
if grep -q WRONG "$file"; then echo "Status: FAILED"; exit 1; fi
"""}
COPIED = "tests/formal/run", "tests/formal/prover.py", "tests/lib/jobs.py", "scripts/lib/record.py"
PROOF = "top {0}\nfiles rtl/{0}.sv\nbmc 2\ninduction 1\nmutant bad rtl/{0}.sv s/good/WRONG/\n"
RECORD = "tests/formal/proved.json"
CALLS = ["yosys", "solver", "solver", "yosys", "solver"]  # of one proof with one mutant
BROKEN = "a -> nothing\n{"

# A module with a false assertion for simulation, in another one; and a proof of what is inside them.
DESIGN = {"rtl/child.sv": """module child (input logic clk_i, input logic d_i, output logic q_o);
  logic kept_q;
  always_ff @(posedge clk_i) kept_q <= d_i;
  assign q_o = kept_q;
`ifndef SYNTHESIS
  always_comb never: assert (!d_i);
`endif
endmodule
""", "rtl/parent.sv": """module parent (input logic clk_i, input logic d_i, output logic q_o);
  child u_child (.clk_i, .d_i, .q_o);
endmodule
""", "tests/formal/child.svh": """logic f_given, f_same;
assign f_same = f_given == kept_q;
""", "tests/formal/parent.svh": """(* hierconn *) logic \\u_child.kept_q , \\u_child.f_given , \\u_child.f_same ;
assign \\u_child.f_given = \\u_child.kept_q ;
always_comb assert (\\u_child.f_same && \\u_child.kept_q == q_o);
""", "tests/formal/parent.proof": """top parent
files rtl/child.sv rtl/parent.sv
inside rtl/child.sv tests/formal/child.svh
inside rtl/parent.sv tests/formal/parent.svh
bmc 2
induction 1
mutant inverts rtl/child.sv s/q_o = kept_q/q_o = !kept_q/
"""}


class Tree(unittest.TestCase):
    """A tree with tests/formal/run and what it needs."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for name in COPIED:
            self.write(name, (ROOT / name).read_text())

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def read(self, name):
        return (self.root / name).read_text()


class Proved(Tree):
    def setUp(self):
        super().setUp()
        self.env = {"PATH": f"{self.root}/bin:{os.environ['PATH']}", "YOSYS": "Yosys 1", "Z3": "Z3 1",
                    "PYTHONDONTWRITEBYTECODE": "1"}
        for name, text in TOOLS.items():
            self.write(f"bin/{name}", text)
            (self.root / "bin" / name).chmod(0o755)
        self.write("rtl/check/check_channel.sv", "module check_channel; endmodule\n")
        for name in "a", "b":
            self.proof(name)

    def proof(self, name, more="", source="good"):
        self.write(f"tests/formal/{name}.proof", PROOF.format(name) + more)
        self.write(f"rtl/{name}.sv", f"module {name}; {source}\nendmodule\n")

    def start(self, *args, **more):
        return subprocess.Popen(["/usr/bin/python3", self.root / "tests/formal/run", *args], cwd=self.root,
                                env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def run_formal(self, *args, **more):
        """Runs the command. Returns (exit code, lines of results without times, standard error, calls of the tools)."""
        (self.root / "calls").unlink(missing_ok=True)
        process = self.start(*args, **more)
        out, err = process.communicate(timeout=600)
        calls = self.read("calls").split() if (self.root / "calls").exists() else []
        lines = [re.sub(r" \([\d.]+ s\)", "", x) for x in out.splitlines() if not x.startswith("  ")]
        return process.returncode, lines, err, calls

    def expect(self, code, lines, *args):
        found = self.run_formal(*args)
        self.assertEqual(found[:2], (code, lines), found[2])
        return found

    def recorded(self, kind="proofs"):
        return list(record.read(self.root / RECORD, "record", ("proofs", "slow"), "run")[kind])

    def test_not_proved_twice(self):
        self.assertEqual(self.expect(0, ["PASS a", "PASS b"], "--record")[3], 2 * CALLS)
        self.assertEqual(self.recorded(), ["a", "b"])
        self.assertEqual(self.expect(0, ["2 proofs are recorded, 0 are run", "PASS a (recorded)",
                                         "PASS b (recorded)"], "--new")[3], [])
        self.assertEqual(self.expect(0, ["1 proofs are recorded, 0 are run", "PASS b (recorded)"], "--new", "b")[3], [])
        self.assertEqual(self.expect(0, ["PASS a", "PASS b"])[3], 2 * CALLS)  # without --new all are proved

    def test_only_record_writes(self):
        self.expect(0, ["0 proofs are recorded, 2 are run", "PASS a", "PASS b"], "--new")
        self.expect(0, ["PASS a", "PASS b"])
        self.assertFalse((self.root / RECORD).exists())
        self.expect(0, ["PASS b"], "--record", "b")
        self.expect(0, ["1 proofs are recorded, 1 are run", "PASS b (recorded)", "PASS a"], "--new", "--record")
        self.assertEqual(self.recorded(), ["a", "b"])

    def test_what_a_proof_depends_on(self):
        self.proof("b", "inside rtl/b.sv tests/formal/b.svh\n")
        self.write("tests/formal/b.svh", "// assertions\n")
        one = ["1 proofs are recorded, 1 are run", "PASS a (recorded)", "PASS b"]
        both = ["0 proofs are recorded, 2 are run", "PASS a", "PASS b"]
        self.expect(0, ["PASS a", "PASS b"], "--record")
        for name, lines in (("rtl/b.sv", one), ("tests/formal/b.proof", one), ("tests/formal/b.svh", one),
                            ("rtl/check/check_channel.sv", both), ("tests/formal/prover.py", both)):
            with self.subTest(name):
                self.write(name, self.read(name) + ("more\n" if name.endswith(("sv", "svh")) else "# more\n"))
                self.expect(0, lines, "--new", "--record")
        jobs = self.read("tests/lib/jobs.py")
        self.write("tests/lib/jobs.py", jobs.replace("cwd=cwd,", "cwd=str(cwd),"))
        self.expect(0, both, "--new")
        self.write("tests/lib/jobs.py", jobs)
        for tool in "YOSYS", "Z3":
            with self.subTest(tool):
                self.env[tool] += ".1"
                self.expect(0, both, "--new", "--record")
        self.write("tests/formal/run", self.read("tests/formal/run") + "# what is around the proofs\n")
        self.expect(0, ["2 proofs are recorded, 0 are run", "PASS a (recorded)", "PASS b (recorded)"], "--new")

    def test_comments(self):
        """A record does not depend on comments, except those that tools obey."""
        recorded = ["2 proofs are recorded, 0 are run", "PASS a (recorded)", "PASS b (recorded)"]
        one = ["1 proofs are recorded, 1 are run", "PASS a (recorded)", "PASS b"]
        source = self.read("rtl/b.sv")
        self.write("rtl/b.sv", source + 'x = y // "z\n+ "//" + "\\"/*"; /* 1 */\n')
        self.expect(0, ["PASS a", "PASS b"], "--record")
        for more, lines in (('x = y\n+ "//" + "\\"/*";', recorded),
                            ('// w "\n\n  x = y\n/*\n * "\n\n*/+ "//" + "\\"/*";', recorded),
                            ('x = y\n+ "/ /" + "\\"/*";', one),
                            ('x = y\n+ "//" + "\\"/*"; "/* 1 */"', one),
                            ('x = y // verilator lint_off\n+ "//" + "\\"/*";', one),
                            ('x = y /* synthesis keep */\n+ "//" + "\\"/*";', one),
                            ('xx = y\n+ "//" + "\\"/*";', one)):
            with self.subTest(more):
                self.write("rtl/b.sv", source + more)
                self.expect(0, lines, "--new")

    def test_character_that_is_a_quotation_mark(self):
        """The character begins no string, so the signs of a comment in the next string are no comment."""
        source = self.read("rtl/b.sv") + "c = '\"'; d = \"//\" + e;\n"
        self.write("rtl/b.sv", source)
        self.expect(0, ["PASS a", "PASS b"], "--record")
        self.write("rtl/b.sv", source.replace("+ e", "+ f"))
        self.expect(0, ["1 proofs are recorded, 1 are run", "PASS a (recorded)", "PASS b"], "--new")

    def test_file_that_includes_another(self):
        """A proof that reads another file is never recorded, since the hash does not include that file."""
        self.proof("b", source='good\n`include "other.svh"')
        self.expect(0, ["PASS a", "PASS b"], "--record")
        self.assertEqual(self.recorded(), ["a"])

    def test_failure_is_not_hidden(self):
        self.expect(0, ["PASS a", "PASS b"], "--record")
        self.proof("a", source="good WRONG")  # a proof that fails
        self.proof("b", source="good\n")
        self.write("tests/formal/b.proof", self.read("tests/formal/b.proof").replace("WRONG", "fine"))  # a mutant lives
        code, lines, _, _ = self.run_formal("--new", "--record")
        self.assertEqual((code, lines), (1, ["0 proofs are recorded, 2 are run", "FAIL a", "FAIL b"]))
        self.assertEqual(self.recorded(), [])
        self.proof("a", source="good NONE")  # a solver that gives no answer
        self.expect(1, ["0 proofs are recorded, 1 are run", "FAIL a"], "--new", "--record", "a")
        self.assertEqual(self.recorded(), [])

    def test_recorded_and_fails_now(self):
        """A run of all proofs removes a proof from the record that fails although nothing has changed."""
        self.expect(0, ["PASS a", "PASS b"], "--record")
        self.write("bin/yosys-smtbmc", "#!/bin/sh\nexit 3\n")
        self.expect(1, ["FAIL a"], "--record", "a")
        self.assertEqual(self.recorded(), ["b"])

    def test_source_changed_meanwhile(self):
        self.proof("late", source="good LATE")
        self.expect(0, ["PASS late"], "--record", "late")
        self.assertEqual(self.recorded(), [])

    def test_slow_mutants_by_themselves(self):
        self.proof("b", "slow long rtl/b.sv s/b;/WRONG;/\n")
        self.expect(0, ["PASS a", "PASS b"], "--record")
        none = ["2 proofs are recorded, 0 are run", "PASS a (recorded)", "PASS b (recorded)"]
        self.expect(0, none, "--new")
        now = ["1 proofs are recorded, 1 are run", "PASS a (recorded)", "PASS b"]
        self.assertEqual(self.expect(0, now, "--new", "--record", "--slow")[3], ["yosys", "solver"])
        self.assertEqual((self.recorded(), self.recorded("slow")), (["a", "b"], ["b"]))
        self.assertEqual(self.expect(0, none, "--new", "--slow")[3], [])
        self.proof("b", "slow long rtl/b.sv s/b;/fine;/\n")
        self.expect(1, now[:2] + ["FAIL b"], "--new", "--slow", "--record")
        self.assertEqual((self.recorded(), self.recorded("slow")), (["a"], []))

    def test_proof_that_is_gone(self):
        self.expect(0, ["PASS a", "PASS b"], "--record")
        (self.root / "tests/formal/b.proof").unlink()
        self.expect(0, ["PASS a"], "--record", "a")
        self.assertEqual(self.recorded(), ["a"])

    def test_edited_record(self):
        self.expect(0, ["PASS a"], "--record", "a")
        good = self.read(RECORD)
        edited = good.replace('"a":', '"b":')
        self.assertNotEqual(edited, good)
        for text, said in ((edited, "changed by hand, or merged"), (good[:-9], "not a record of proofs"),
                           (BROKEN, "not a record of proofs"), ("[]", "it has no digest or proofs or slow"),
                           ("", "not a record of proofs")):
            with self.subTest(text):
                self.write(RECORD, text)
                code, lines, err, calls = self.run_formal("--new")
                self.assertEqual((code, lines, calls, err.count("\n")), (2, [], [], 1), err)
                self.assertIn(said, err)
                self.assertIn("tests/formal/run --record makes", err)
                self.assertEqual(self.read(RECORD), text)
                self.expect(0, ["PASS a", "PASS b"])  # needs no record
                self.expect(0, ["PASS a"], "--record", "a")
                self.assertEqual(self.read(RECORD), good)

    def test_full_disk(self):
        """If the record cannot be written, it stays as it was. A limit of file sizes simulates a full disk."""
        for i in range(60):
            self.proof(f"more{i}")
        record.write(self.root / RECORD, {"proofs": {f"more{i}": "0" * 20 for i in range(60)}, "slow": {}})
        before, listed = self.read(RECORD), sorted((self.root / "tests/formal").iterdir())
        self.assertGreater(len(before), 2000)
        code, lines, err, calls = self.run_formal(
            "--record", "a", "b", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
        self.assertEqual((code, lines, calls), (2, [], CALLS), err)  # b is not begun
        self.assertRegex(err, r"^formal: \S+/proved.json: cannot be written: File too large; it is as it was before\n$")
        self.assertEqual((self.read(RECORD), sorted((self.root / "tests/formal").iterdir())), (before, listed))

    def test_no_room_for_a_log(self):
        code, lines, err, _ = self.run_formal(
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)))
        self.assertEqual((code, lines, err), (2, [], "formal: [Errno 27] File too large\n"))

    def test_stopped(self):
        """A run that is stopped has recorded the proofs that had passed, and no others."""
        self.proof("b", source="good HANG")
        self.proof("c")
        os.mkfifo(self.root / "waiting")
        for number in signal.SIGKILL, signal.SIGINT:
            process = self.start("--record", start_new_session=True,  # a shell's background job ignores SIGINT
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            with process.stdout, process.stderr:
                self.assertTrue(process.stdout.readline().startswith("PASS a"))
                with open(self.root / "waiting", "w", encoding="ascii"):  # returns when the solver of b reads it
                    os.killpg(process.pid, number)
                    process.wait(600)
            self.assertEqual(self.recorded(), ["a"])
        self.proof("b")
        self.expect(0, ["1 proofs are recorded, 2 are run", "PASS a (recorded)", "PASS b", "PASS c"], "--new")

    def test_without_yosys(self):
        self.write("bin/yosys", "#!/bin/sh\nexit 1\n")
        code, lines, err, _ = self.run_formal("--new")
        self.assertEqual((code, lines), (2, []))
        self.assertIn("formal: yosys cannot be run", err)
        self.assertIn("scripts/setup test installs it", err)

    def test_nothing_to_run(self):
        for name in "a", "b":
            (self.root / f"tests/formal/{name}.proof").unlink()
        self.expect(1, ["0 proofs are recorded, 0 are run", "FAIL nothing to run"], "--new")

    def test_record_of_the_tree(self):
        """The record was not edited by hand, and its proofs exist."""
        found = record.read(ROOT / RECORD, "record of proofs", ("proofs", "slow"), "tests/formal/run --record")
        names = {p.stem for p in (ROOT / "tests/formal").glob("*.proof")}
        self.assertEqual((set(found["proofs"]) | set(found["slow"])) - names, set())


class Sources(Tree):
    """The prover gives Yosys the RTL as synthesis reads it, and the properties inside the modules."""

    def setUp(self):
        super().setUp()
        self.write("rtl/check/check_channel.sv", (ROOT / "rtl/check/check_channel.sv").read_text())
        for name, text in DESIGN.items():
            self.write(name, text)

    def prove(self):
        done = subprocess.run(["/usr/bin/python3", self.root / "tests/formal/run"], cwd=self.root, capture_output=True,
                              text=True, check=False, timeout=600)
        return done.returncode, done.stdout + done.stderr

    def change(self, name, before, after):
        self.assertIn(before, DESIGN[name])
        self.write(name, DESIGN[name].replace(before, after))

    def test_inside_modules(self):
        code, out = self.prove()
        self.assertEqual(code, 0, out)
        self.change("tests/formal/parent.svh", "kept_q == q_o", "kept_q != q_o")
        self.assertEqual(self.prove()[0], 1)

    def test_wire_of_no_instance(self):
        self.write("tests/formal/parent.svh", DESIGN["tests/formal/parent.svh"].replace("f_same", "f_sane"))
        code, out = self.prove()
        self.assertEqual(code, 1)
        self.assertIn("parent/u_child.f_sane", out)

    def test_assertions_for_simulation(self):
        """Assertions for simulation are proved if the proof has a statement `checks`."""
        self.change("tests/formal/parent.proof", "bmc", "checks rtl/child.sv\nbmc")
        code, out = self.prove()
        self.assertEqual(code, 1)
        self.assertIn("parent: the start failed", out)
        self.change("tests/formal/parent.proof", "bmc", "checks rtl/other.sv\nbmc")
        self.assertIn("parent: checks or inside: rtl/other.sv is not among the files", self.prove()[1])


if __name__ == "__main__":
    unittest.main()
