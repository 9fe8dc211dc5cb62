# SPDX-License-Identifier: Apache-2.0
"""The result of `cmake --install`: it works, finds its own parts and none of the build's, contains no path of the
machine that built it, runs on other processors, and serves other programs that use the driver. The second argument is
the build.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

BUILD = pathlib.Path(sys.argv.pop(2))

import cli  # This import takes the first argument.


class Install(cli.Case):
    @classmethod
    def setUpClass(cls):
        cls.prefix = BUILD / "tests" / "prefix"
        shutil.rmtree(cls.prefix, ignore_errors=True)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, stdout=subprocess.DEVNULL)
        cls.addClassCleanup(shutil.rmtree, cls.prefix)

    def run_it(self, *args, **env):
        """Returns standard output, and the loaded shared objects of Tern."""
        env = {k: v for k, v in os.environ.items() if k not in ("TERN_LIB_DIR", "OCL_ICD_VENDORS")} | env
        r = subprocess.run([self.prefix / "bin" / "tern", *map(str, args)], cwd=self.folder, capture_output=True,
                           text=True, check=False, env=env | {"TERN_BACKEND": "model", "TERN_CACHE": "0",
                                                              "LD_DEBUG": "files",
                                      "LD_DEBUG_OUTPUT": str(self.folder / "ld")})
        self.assertEqual((r.returncode, r.stderr), (0, ""), args)
        loaded = "".join(p.read_text() for p in self.folder.glob("ld.*"))
        return r.stdout, {os.path.normpath(x) for x in re.findall(r"calling init: (\S*libtern\S*)", loaded)}

    def test_a_kernel_runs_with_what_is_installed(self):
        self.file("k.cl", "kernel void k(global int *x) { x[get_global_id(0)] = popcount(get_global_id(0)) + "
                  "printf(\"%d;\", 7); }")
        out, loaded = self.run_it("run", "k.cl", "--global", 4, "fill:0:4")
        self.assertEqual(out, "7;7;7;7;x: int[4] = 0 1 1 2\n")
        lib = self.prefix / "lib"
        self.assertEqual(loaded, {str(lib / "libtern_opencl.so"), str(lib / "libtern_sim_model_default.so")})

    def test_the_loader_finds_it(self):
        self.assertEqual((self.prefix / "etc/OpenCL/vendors/tern.icd").read_text(),
                         f"{self.prefix}/lib/libtern_opencl.so\n")
        self.file("k.cl", "kernel void k(global int *x) { *x = 5; }")
        out, _ = self.run_it("run", "k.cl", "--global", 1, "fill:0:1",
                             OCL_ICD_VENDORS=str(self.prefix / "etc/OpenCL/vendors"))
        self.assertEqual(out, "x: int[1] = 5\n")

    def test_all_commands_and_pages_are_there(self):
        out, _ = self.run_it("help")
        self.assertNotIn("(not built)", out)
        for command in re.findall(r"^  (\w+) ", out, flags=re.M):
            self.assertTrue((self.prefix / f"share/man/man1/tern-{command}.1").exists(), command)
            self.run_it(command, "--help")
        for suite in ("migrate", "preempt", "sched", "submit"):
            self.run_it("bench", suite, "--help")


    def test_examples_by_their_own_lines(self):
        """Each example is compiled and run by the lines in its first comment, in a shell with pkg-config's path set."""
        expected = {"fill": "fence 1: first byte 0x2a, last 0x2a\n", "dispatch": "y[1] = 1000001, y[999] = 999000999\n",
                    "user_call": "y[1] = 1.5, y[999] = 500.5\n"}
        examples = sorted((self.prefix / "share/doc/tern/docs/examples").glob("*.c"))
        self.assertEqual({p.stem for p in examples}, set(expected))
        env = {k: v for k, v in os.environ.items() if k not in ("TERN_LIB_DIR", "LD_LIBRARY_PATH", "TERN_CONFIG",
                                                                "TERN_BACKEND")}
        for p in examples:
            shutil.copy(p, self.folder)
            lines = re.findall(r"^ \*     (.+)$", p.read_text(), flags=re.M)
            self.assertEqual(len(lines), 2, p)
            for line, out in zip(lines, ("", expected[p.stem])):
                r = subprocess.run(["sh", "-c", line], cwd=self.folder, capture_output=True, text=True, check=False,
                                   env=env | {"PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")})
                self.assertEqual((r.returncode, r.stdout, r.stderr), (0, out, ""), line)

    def test_pages_that_are_named_are_there(self):
        """Headers, examples, manual pages and units name documents as docs/PAGE, and these name each other by links."""
        docs = self.prefix / "share/doc/tern/docs"
        named = {}
        for p in self.files():
            if p.suffix in (".h", ".c", ".service", ".socket", ".conf") or p.parent.parent.name == "man":
                for page in re.findall(r"\bdocs/([\w./-]*\w)", p.read_text()):
                    named[docs / page] = p
            elif p.suffix == ".md":
                for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", p.read_text()):
                    named[p.parent / link] = p
        named.pop(docs / "spec", None)  # tern_spec.h is generated from this folder.
        self.assertGreater(len(named), 20)
        self.assertEqual({str(page): str(p) for page, p in named.items() if not page.exists()}, {})

    def files(self):
        return [p for p in self.prefix.rglob("*") if p.is_file() and not p.is_symlink()]

    def test_nothing_names_a_folder_of_the_build(self):
        """No path of the build is contained as text or in debug information. tern.icd contains the prefix, which is in
        the build here, and is tested above.
        """
        cache = (BUILD / "CMakeCache.txt").read_text()
        source = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, flags=re.M)[1]
        named = {}
        for p in self.files():
            text = p.read_bytes()
            for folder in {source, str(BUILD), str(BUILD.resolve())}:
                # The end of another path does not count: the sources may be in /tern.
                if p.name != "tern.icd" and (m := re.search(rb"(?<![\w./%-])" + re.escape(folder.encode()) +
                                                            rb"(?![\w-])", text)):
                    named[str(p)] = text[m.start():m.start() + 100]
        self.assertEqual(named, {})
        self.assertGreater(len(self.files()), 20)

    def elf(self):
        return [p for p in self.files() if p.read_bytes()[:4] == b"\x7fELF" and p.suffix != ".o"]

    def test_no_path_for_libraries_of_the_build(self):
        for p in self.elf():
            dynamic = subprocess.run(["readelf", "-d", p], capture_output=True, text=True, check=True).stdout
            self.assertNotRegex(dynamic, r"\((RPATH|RUNPATH)\)", p)
            self.assertNotIn(".debug_info", subprocess.run(["readelf", "-SW", p], capture_output=True, text=True,
                                                           check=True).stdout, p)

    def test_simulators_say_which_processors_they_want(self):
        """An instruction that a processor lacks would end the program. The dynamic loader refuses objects marked for a
        newer processor.
        """
        cache = (BUILD / "CMakeCache.txt").read_text()
        if "TERN_NATIVE:BOOL=ON" in cache or os.uname().machine != "x86_64":
            self.skipTest("built for this machine alone, as was asked for")
        level = re.search(r"^TERN_CPU:STRING=(.*)$", cache, flags=re.M)[1]
        simulators = sorted(self.prefix.glob("lib/libtern_sim_*.so"))
        self.assertGreaterEqual(len(simulators), 2)
        for p in simulators:
            notes = subprocess.run(["readelf", "-nW", p], capture_output=True, text=True, check=True).stdout
            self.assertIn(f"x86 ISA needed: {level}", notes, p)
            for line in self.disassembly(p):
                self.assertNotIn("%zmm", line, p)
        for p in [q for q in self.elf() if q not in simulators]:
            for line in self.disassembly(p):
                self.assertNotRegex(line, "%[yz]mm", p)

    @staticmethod
    def disassembly(path):
        with subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", path], stdout=subprocess.PIPE, text=True) as p:
            yield from p.stdout

    def test_an_old_processor(self):
        """Nehalem (2008) has no AVX. The model runs on it, and a simulator that cannot is refused with a message."""
        qemu = shutil.which("qemu-x86_64")
        if not qemu or os.uname().machine != "x86_64":
            self.skipTest("needs qemu-x86_64 (scripts/setup test)")
        env = {k: v for k, v in os.environ.items() if k != "TERN_LIB_DIR"} | {"TERN_BACKEND": "model"}
        tern = self.prefix / "bin" / "tern"
        for cpu in "Nehalem", "Haswell":
            r = subprocess.run([qemu, "-cpu", cpu, tern, "info"], env=env, capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertIn("model", r.stdout)
        shutil.rmtree(self.folder / "lib", ignore_errors=True)
        shutil.copytree(self.prefix / "lib", self.folder / "lib", symlinks=True)
        shutil.rmtree(self.folder / "lib" / "baseline")
        r = subprocess.run([qemu, "-cpu", "Nehalem", tern, "info"],
                           env=env | {"TERN_LIB_DIR": str(self.folder / "lib")}, capture_output=True, text=True,
                           check=False)
        self.assertNotEqual(r.returncode, 0)
        self.assertIn("CPU ISA level is lower than required", r.stderr)


AT_EXIT = r"""
#include <stdio.h>
#include <stdlib.h>
#include <tern/tern.h>

static struct tern_device *dev;
static struct tern_process *p;
static struct tern_context *c;

static void last(void)
{
    const struct tern_submission null = {.size = sizeof null, .flags = TERN_SUBMISSION_NULL, .label = "last"};
    uint64_t fence;
    if (tern_submit(c, &null, &fence) || tern_wait(c, fence, -1)) {
        printf("%s\n", tern_last_error());
    }
    tern_context_destroy(c);
    printf("%d ", tern_process_destroy(p));
    printf("%d\n", tern_device_close(dev));
}

__attribute__((destructor)) static void after_it(void)
{
    printf("%d\n", tern_device_open("model", "small", &dev));
}

int main(void)
{
    const struct tern_context_desc d = {.size = sizeof d, .engine = -1};
    atexit(last);
    return tern_device_open("model", "small", &dev) || tern_process_create(dev, "exit", &p) ||
        tern_context_create(p, &d, &c);
}
"""


class Driver(cli.Case):
    """libtern for other programs, with a prefix that was moved after the installation."""

    @classmethod
    def setUpClass(cls):
        made, cls.prefix = BUILD / "tests" / "stage", BUILD / "tests" / "moved to"
        for folder in made, cls.prefix:
            shutil.rmtree(folder, ignore_errors=True)
            cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", "/opt/tern"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "DESTDIR": str(made)})
        shutil.move(made / "opt" / "tern", cls.prefix)

    def pkg_config(self, *args):
        r = subprocess.run(["pkg-config", *args, "tern"], capture_output=True, text=True, check=True,
                           env={**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib" / "pkgconfig")})
        return shlex.split(r.stdout)

    def compile(self, source):
        subprocess.run(["cc", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", source, "-o", "app",
                        *self.pkg_config("--cflags", "--libs")],
                       cwd=self.folder, check=True)

    def runs(self, *argv, **env):
        """Runs a program, which must succeed without messages. Returns its standard output."""
        r = subprocess.run(argv, cwd=self.folder, capture_output=True, text=True, check=False, env=os.environ | env)
        self.assertEqual((r.returncode, r.stderr), (0, ""), argv)
        return r.stdout

    def test_ends_of_programs(self):
        self.file("at_exit.c", AT_EXIT)
        self.compile("at_exit.c")
        env = {k: v for k, v in os.environ.items() if k != "TERN_LIB_DIR"}
        r = subprocess.run(["./app"], cwd=self.folder, capture_output=True, text=True, check=False, timeout=250,
                           env=env | {"LD_LIBRARY_PATH": str(self.prefix / "lib")})
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "0 0\n0\n", ""))

    def test_the_library_is_found_where_it_was_moved_to(self):
        self.compile(self.prefix / "share/doc/tern/docs/examples/fill.c")
        env = {k: v for k, v in os.environ.items() if k != "TERN_LIB_DIR"}
        r = subprocess.run(["./app"], cwd=self.folder, capture_output=True, text=True, check=False,
                           env=env | {"LD_LIBRARY_PATH": str(self.prefix / "lib"), "LD_DEBUG": "files",
                                      "TERN_BACKEND": "model", "TERN_CONFIG": "small",
                                      "LD_DEBUG_OUTPUT": str(self.folder / "ld")})
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "fence 1: first byte 0x2a, last 0x2a\n", ""))
        loaded = "".join(p.read_text() for p in self.folder.glob("ld.*"))
        found = {os.path.realpath(x) for x in re.findall(r"calling init: (.*libtern.*)", loaded)}
        version = self.pkg_config("--modversion")[0]
        lib = self.prefix.resolve() / "lib"
        self.assertEqual(found, {str(lib / f"libtern.so.{version}"), str(lib / "libtern_sim_model_small.so")})

    def test_the_version_is_one(self):
        """The header, pkg-config, the library's file name and the programs give the same version."""
        self.file("version.c", """#include <stdio.h>
#include <tern/tern.h>
#if TERN_VERSION_MAJOR == 0 && TERN_VERSION_MINOR < 1
#error "older than the first"
#endif
int main(void) { printf("%d.%d.%d\\n", TERN_VERSION_MAJOR, TERN_VERSION_MINOR, TERN_VERSION_PATCH); }
""")
        self.compile("version.c")
        said = self.runs("./app", LD_LIBRARY_PATH=str(self.prefix / "lib")).strip()
        self.assertEqual([said], self.pkg_config("--modversion"))
        self.assertTrue((self.prefix / "lib" / f"libtern.so.{said}").is_file())
        for program in "tern", "ternd":
            self.assertIn(said, self.runs(self.prefix / "bin" / program, "--version"))

    def test_the_library_offers_what_its_headers_declare_and_nothing_else(self):
        library = self.prefix / "lib" / "libtern.so"
        dynamic = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
        self.assertIn(f"soname: [libtern.so.{self.pkg_config('--modversion')[0].split('.')[0]}]", dynamic)
        self.assertIn("NODELETE", dynamic)
        names = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                               check=True).stdout
        offered = {line.split()[-1] for line in names.splitlines() if " A " not in line}
        declared = set()
        for header in "tern.h", "tern_checkpoint.h", "tern_spec.h":
            text = re.sub(r"/\*.*?\*/", "", (self.prefix / "include" / "tern" / header).read_text(), flags=re.S)
            declared |= set(re.findall(r"^(?:TERN_API )?(?:const )?\w+ \*?(tern_\w+)\(", text, flags=re.M))
            declared |= set(re.findall(r"^(?:TERN_API )?(?:const )?(?:struct |enum )\w+ \*?(tern_\w+)\(", text,
                                       flags=re.M))
        self.assertEqual(offered, {name + "@@TERN_0" for name in declared})
        self.assertIn("tern_device_open@@TERN_0", offered)

    def test_headers_in_cpp(self):
        """A C++ program includes all headers and calls functions of several of them."""
        self.file("app.cpp", "".join(f"#include <tern/{p.name}>\n" for p in
                                     sorted((self.prefix / "include" / "tern").glob("*.h"))) + """
int main()
{
    const tern_executor *e = tern_executor_find(0);
    int (*volatile save)(tern_device *, const char *) = tern_checkpoint_save;
    return tern_last_error() == nullptr || save == nullptr || e == nullptr ||
        tern_pkt_lines(TERN_PKT_COPY) != TERN_PKT_COPY_LINES;
}
""")
        subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "app.cpp", "-o", "app",
                        *self.pkg_config("--cflags", "--libs")],
                       cwd=self.folder, check=True)
        subprocess.run(["./app"], cwd=self.folder, check=True,
                       env=os.environ | {"LD_LIBRARY_PATH": str(self.prefix / "lib")})


if __name__ == "__main__":
    unittest.main()
