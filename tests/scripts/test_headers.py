# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles alone, as C11 and as C++17, without a warning, by gcc and clang. Sizes and places of
fields are the same in both languages."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / f for f in ("docs/spec/c", "driver/include", "runtime/include", "sim/include")]
HEADERS = sorted(str(p.relative_to(f)) for f in FOLDERS for p in f.rglob("*.h"))
COMPILERS = [c for c in ("gcc", "clang-19") if shutil.which(c)]
LANGUAGES = (("c", "c11"), ("c++", "c++17"))
FLAGS = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-DCL_TARGET_OPENCL_VERSION=300", *(f"-I{f}" for f in FOLDERS)]

USE = "struct a_declaration;"  # C wants one, and a header may have macros alone

SIZES = """
#include <stddef.h>
#include <tern/tern.h>
#include <tern/tern_hw.h>
#include <tern/tern_spec.h>
#include <tern/tern_stats.h>
const size_t NAME[] = {sizeof(struct tern_stats), offsetof(struct tern_stats, updates),
    offsetof(struct tern_stats, partition), sizeof(struct tern_device_info), sizeof(struct tern_executor),
    sizeof(struct tern_ctx_simt_pending), offsetof(struct tern_ctx_simt_pending, pc)};
"""

MAIN = """
extern "C" const size_t in_c[];
int main()
{
    for (size_t i = 0; i < sizeof in_cpp / sizeof *in_cpp; i++) {
        if (in_c[i] != in_cpp[i]) {
            printf("size or offset %zu of tests/scripts/test_headers.py: %zu in C, %zu in C++\\n", i, in_c[i],
                   in_cpp[i]);
            return 1;
        }
    }
}
"""


class Headers(unittest.TestCase):
    def test_each_alone(self):
        for name in "tern/tern.h", "tern/tern_hw.h", "tern/tern_spec.h", "tern/tern_stats.h", "CL/cl_tern.h":
            self.assertIn(name, HEADERS)
        for compiler in COMPILERS:
            for language, standard in LANGUAGES:
                for name in HEADERS:
                    with self.subTest(f"{name} by {compiler} as {standard}"):
                        r = subprocess.run([compiler, "-x", language, f"-std={standard}", *FLAGS, "-fsyntax-only", "-"],
                                           input=f"#include <{name}>\n{USE}\n", capture_output=True, text=True,
                                           check=False)
                        self.assertEqual((r.returncode, r.stderr), (0, ""))

    def test_same_layout(self):
        with tempfile.TemporaryDirectory() as d:
            path = pathlib.Path(d)
            (path / "a.c").write_text(SIZES.replace("NAME", "in_c"))
            (path / "b.cpp").write_text(SIZES.replace("const size_t NAME", "static const size_t in_cpp") + MAIN)
            subprocess.run(["gcc", "-std=c11", *FLAGS, "-c", "a.c"], cwd=d, check=True)
            subprocess.run(["g++", "-std=c++17", *FLAGS, "b.cpp", "a.o", "-o", "app"], cwd=d, check=True)
            r = subprocess.run(["./app"], cwd=d, capture_output=True, text=True, check=False)
            self.assertEqual((r.returncode, r.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
