# SPDX-License-Identifier: Apache-2.0
"""`cmake --install`: what lies there works, finds its own parts and none of the build's. The second argument is the build."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(2))

import cli  # noqa: E402  (takes the first argument)


class Install(cli.Case):
    @classmethod
    def setUpClass(cls):
        cls.prefix = BUILD / "tests" / "prefix"
        shutil.rmtree(cls.prefix, ignore_errors=True)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, stdout=subprocess.DEVNULL)
        cls.addClassCleanup(shutil.rmtree, cls.prefix)

    def run_it(self, *args, **env):
        """Standard output, and the shared objects of Tern that were loaded."""
        env = {k: v for k, v in os.environ.items() if k not in ("TERN_LIB_DIR", "OCL_ICD_VENDORS")} | env
        r = subprocess.run([self.prefix / "bin" / "tern", *map(str, args)], cwd=self.folder, capture_output=True, text=True, check=False,
                           env=env | {"TERN_BACKEND": "model", "TERN_CACHE": "0", "LD_DEBUG": "files",
                                      "LD_DEBUG_OUTPUT": str(self.folder / "ld")})
        self.assertEqual((r.returncode, r.stderr), (0, ""), args)
        loaded = "".join(p.read_text() for p in self.folder.glob("ld.*"))
        return r.stdout, {os.path.normpath(x) for x in re.findall(r"calling init: (\S*libtern\S*)", loaded)}

    def test_a_kernel_runs_with_what_is_installed(self):
        self.file("k.cl", "kernel void k(global int *x) { x[get_global_id(0)] = popcount(get_global_id(0)) + printf(\"%d;\", 7); }")
        out, loaded = self.run_it("run", "k.cl", "--global", 4, "fill:0:4")
        self.assertEqual(out, "7;7;7;7;x: int[4] = 0 1 1 2\n")
        lib = self.prefix / "lib"
        self.assertEqual(loaded, {str(lib / "libtern_opencl.so"), str(lib / "libtern_sim_model_default.so")})

    def test_the_loader_finds_it(self):
        self.assertEqual((self.prefix / "etc/OpenCL/vendors/tern.icd").read_text(), f"{self.prefix}/lib/libtern_opencl.so\n")
        self.file("k.cl", "kernel void k(global int *x) { *x = 5; }")
        out, _ = self.run_it("run", "k.cl", "--global", 1, "fill:0:1", OCL_ICD_VENDORS=str(self.prefix / "etc/OpenCL/vendors"))
        self.assertEqual(out, "x: int[1] = 5\n")

    def test_all_commands_and_pages_are_there(self):
        out, _ = self.run_it("help")
        self.assertNotIn("(not built)", out)
        for command in re.findall(r"^  (\w+) ", out, flags=re.M):
            self.assertTrue((self.prefix / f"share/man/man1/tern-{command}.1").exists(), command)
            self.run_it(command, "--help")
        for suite in ("preempt", "sched"):
            self.run_it("bench", suite, "--help")


if __name__ == "__main__":
    unittest.main()
