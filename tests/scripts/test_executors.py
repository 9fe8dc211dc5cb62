# SPDX-License-Identifier: Apache-2.0
"""docs/executors.md is enough to make a new executor: the commands of the guide run in a copy of the tree. The template
runs through OpenCL on the model, also preempted, and in its RTL bench.

    test_executors.py [--rtl | --cocotb]

Runs the commands for the model, with --rtl those for the RTL, or with --cocotb those of the bench in Python. That
bench must also catch its mutants, and mistakes against the executor interface. tests/cocotb/run --install has been run
before.
"""
import contextlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ["docs", "driver", "rtl", "runtime", "scripts", "sim", "tests", "CMakeLists.txt", "LICENSE"]
RTL, COCOTB = "--rtl" in sys.argv, "--cocotb" in sys.argv
OTHER = RTL or COCOTB
# Mistakes against the interface, beside those of the template: it does not stop; a state that no stop has saved is not
# refused; a fault names the wrong access.
MISTAKES = r"""
mutant goes_on rtl/user/user_mask.sv s/end else if \(stop_req_i && stop_gran_i\[1\]\)/end else if (1'b0)/
mutant forged rtl/user/user_mask.sv s/assign lost = .*/assign lost = 1'b0;/
mutant access rtl/user/user_mask.sv s/access_q <= write_q \? 2'd1 : 2'd0/access_q <= 2'd0/
"""


def commands():
    """Returns the indented blocks of the guide, each as a list of lines."""
    blocks = re.findall(r"(?:^    \S.*\n)+", (ROOT / "docs/executors.md").read_text(), re.M)
    return [[line.strip() for line in block.splitlines()] for block in blocks]


@contextlib.contextmanager
def copied():
    """A copy of the tree."""
    with tempfile.TemporaryDirectory() as d:
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, pathlib.Path(d) / part)
        yield d


class Executors(unittest.TestCase):
    def run_in(self, folder, command):
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"in a copy of the tree: {command}\n{(done.stdout + done.stderr)[-3000:]}")
        return done.stdout

    def test_the_guide(self):
        begin, model, rtl, cocotb, _ = commands()  # the last is a sentence about a fault
        self.assertTrue(begin[0].startswith("scripts/new-executor ") and model[0].startswith("cmake "))
        self.assertTrue(rtl[0].startswith("scripts/lint-rtl"))
        name = begin[0].split()[1]
        with copied() as d:
            if COCOTB:
                self.bench_in_python(d, name, cocotb)
                return
            for command in begin:
                self.run_in(d, command)
            self.run_in(d, "scripts/specgen --check")
            if RTL:
                self.assertEqual(self.run_in(d, rtl[0]), "")
                self.assertIn(f"PASS user_{name}", self.run_in(d, rtl[1]))
                return
            # without optimisation, which builds faster
            self.run_in(d, model[0] + " -DCMAKE_BUILD_TYPE=Debug")
            for command in model[1:-1]:
                self.run_in(d, command)
            said = self.run_in(d, model[-1])
            for test in "opencl.executor", "ternd.opencl_executor":
                for config in "small", "preempt":
                    self.assertRegex(said, rf" {test}_{name}\.{config} .*Passed")

    def bench_in_python(self, d, name, commands):
        """The bench passes, and catches each mutant."""
        tools = pathlib.Path(d) / "build/cocotb/tools"
        tools.parent.mkdir(parents=True)
        tools.symlink_to(ROOT / "build/cocotb/tools")
        said = "".join(self.run_in(d, command) for command in commands)
        self.assertIn(f"wrote tests/cocotb/user_{name}/bench.py", said)
        self.assertRegex(said, rf"seed 1\nPASS user_{name} ")
        with (pathlib.Path(d) / f"tests/rtl/user_{name}/bench.checks").open("a") as checks:
            checks.write(MISTAKES)
        mutants = [n for n in self.run_in(d, "tests/cocotb/run --list").split() if n.startswith(f"user_{name}:")]
        self.assertEqual(len(mutants), 6)
        said = self.run_in(d, f"tests/cocotb/run -j 2 {' '.join(mutants)}")
        self.assertEqual(sorted(re.findall(r"PASS (\S+)", said)), sorted(mutants))

    def refuses(self, folder, name, why):
        r = subprocess.run(["scripts/new-executor", name], cwd=folder, capture_output=True, text=True, check=False)
        self.assertEqual((r.returncode, r.stdout), (1, ""), name)
        self.assertIn(why, r.stderr, name)

    @unittest.skipIf(OTHER, "needs no RTL")
    def test_names(self):
        """A name that is refused leaves no file behind. The longest name makes no line that is too wide."""
        longest = "a_name_of_24_characters_"
        with copied() as d:
            self.run_in(d, "git init -q . && git add -A")
            for name in "copy", "fill", "dispatch", "user_call", "simt", "mover", "executors":
                self.refuses(d, name, "choose another")
            for name in "Mask", "_mask", "mask-2", "a.b", "true", "null", "on", longest + "x", "ma sk", "\u00e4":
                self.refuses(d, name, "is no name")
            self.refuses(d, "saxpy", "is there already")
            self.assertEqual(self.run_in(d, "git ls-files -o -m -x '*.pyc'"), "")
            for name in "start", "run", "save", "int", longest:  # words of C and of the model
                self.run_in(d, f"scripts/new-executor {name}")
                self.refuses(d, name, "is there already")
            self.run_in(d, "scripts/specgen --check && scripts/check-layers")
            self.run_in(d, "for f in sim/model/e*.c sim/model/user/*.c docs/spec/c/tern_spec.c; do"
                           " cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -Idocs/spec/c -Isim/include"
                           " -DMODEL_ENGINES=1 -DMODEL_LANES=4 -DMODEL_WARPS=4 -DMODEL_LMEM_KIB=16 $f || exit 1; done")
            for i in range(16 - 6):
                self.run_in(d, f"scripts/new-executor more_{i}")
            self.refuses(d, "another", "16 user executors")

    @unittest.skipIf(OTHER, "needs no RTL")
    def test_constants_that_would_have_one_name(self):
        with copied() as d:
            self.run_in(d, "scripts/new-executor mask && scripts/new-executor mask_state")
            path = pathlib.Path(d) / "docs/spec/executors/mask_state.yaml"
            path.write_text(path.read_text().replace("{name: key,", "{name: done,"))
            r = subprocess.run(["scripts/specgen"], cwd=d, capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, 2)
            self.assertRegex(r.stderr, r"yaml:\d+: .*TERN_USER_MASK_STATE_DONE is already that of mask.done")

    @unittest.skipIf(OTHER, "needs no RTL")
    def test_examples_come_last(self):
        with copied() as d:
            self.run_in(d, "scripts/new-executor mask")
            yaml = {name: pathlib.Path(d) / f"docs/spec/executors/{name}.yaml" for name in ("mask", "saxpy")}
            self.assertIn("id: 0\n", yaml["mask"].read_text())
            self.assertIn("id: 1\n", yaml["saxpy"].read_text())
            header = (pathlib.Path(d) / "docs/spec/c/tern/tern_spec.h").read_text()
            self.assertIn("#define TERN_EXECUTORS 2u\n", header)
            self.assertIn("#define TERN_EXECUTOR_EXAMPLES 1u\n", header)
            self.assertIn("#define TERN_EXECUTOR_ID_SAXPY 1u\n", header)
            for name, old, new in ("mask", "id: 0", "id: 1"), ("saxpy", "id: 1", "id: 0"):
                yaml[name].write_text(yaml[name].read_text().replace(old, new))
            r = subprocess.run(["scripts/specgen"], cwd=d, capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, 2)
            self.assertIn("mask: its id must be lower than that of saxpy, which is an example", r.stderr)
            yaml["saxpy"].write_text(yaml["saxpy"].read_text().replace("example: true", "example: 1"))
            r = subprocess.run(["scripts/specgen"], cwd=d, capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, 2)
            self.assertIn("saxpy: example must be true or false", r.stderr)

    @unittest.skipIf(OTHER, "needs no RTL")
    def test_removal(self):
        """An executor before others is removed as the guide describes."""
        with copied() as d:
            before = {f: (pathlib.Path(d) / f).read_text() for f in ("docs/spec/c/tern/tern_spec.h",
                                                                     "rtl/gen/user_executors.sv")}
            written = self.run_in(d, "scripts/new-executor mask")
            self.run_in(d, "scripts/new-executor other")
            for f in re.findall(r"wrote (.*mask.*)", written):
                (pathlib.Path(d) / f).unlink()
            other = pathlib.Path(d) / "docs/spec/executors/other.yaml"
            saxpy = pathlib.Path(d) / "docs/spec/executors/saxpy.yaml"
            other.write_text(other.read_text().replace("id: 1", "id: 0"))
            saxpy.write_text(saxpy.read_text().replace("id: 2", "id: 1"))
            self.run_in(d, "scripts/specgen")
            self.assertIn("user_other", (pathlib.Path(d) / "rtl/gen/user_executors.sv").read_text())
            for f in re.findall(r"wrote (.*mask.*)", written):
                (pathlib.Path(d) / f.replace("mask", "other")).unlink()
            saxpy.write_text(saxpy.read_text().replace("id: 1", "id: 0"))
            self.run_in(d, "scripts/specgen")
            self.assertEqual({f: (pathlib.Path(d) / f).read_text() for f in before}, before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
