# SPDX-License-Identifier: Apache-2.0
"""A waveform is complete however the program ends: by exit; with handlers and destructors that are older or younger
than the device; with the device left open or in use; after children ended; with the library unloaded. The exit status
and the output do not change. Further arguments: waveform_ends, a program of OpenCL's ends, the folder of libtern.
"""
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import unittest

ENDS, OPENCL_ENDS, LIB = (pathlib.Path(p).resolve() for p in sys.argv[2:5])
del sys.argv[2:5]

from cli import Case  # noqa: E402
from waveforms import Waveform  # noqa: E402

FILL = 2 * 65536 // 64  # Minimum time units of a fill of 64 KiB: two units a cycle, 64 bytes a cycle.

# C++ destructors of an object that is older than the device and of one that is younger. Neither releases anything.
STATICS = """
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <iostream>

static cl_command_queue queue;
static cl_mem buffer;

struct user {
    ~user()
    {
        cl_uint zero = 0;
        if (clEnqueueFillBuffer(queue, buffer, &zero, 4, 0, 65536, 0, nullptr, nullptr) || clFinish(queue))
            std::cerr << "the device is gone\\n";
    }
};

static user older;

static user &younger()
{
    static user u;
    return u;
}

int main()
{
    cl_platform_id p;
    cl_device_id d;
    std::cout << "kept\\n";
    if (clGetPlatformIDs(1, &p, nullptr) || clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, nullptr))
        return 1;
    cl_context c = clCreateContext(nullptr, 1, &d, nullptr, nullptr, nullptr);
    queue = clCreateCommandQueueWithProperties(c, d, nullptr, nullptr);
    buffer = clCreateBuffer(c, CL_MEM_READ_WRITE, 65536, nullptr, nullptr);
    younger();
    return 5;
}
"""


class Waveforms(Case):
    def ends(self, *argv, status=5, out="kept\n", **env):
        r = subprocess.run(list(map(str, argv)), cwd=self.folder, capture_output=True, text=True, check=False,
                           timeout=500, env={**os.environ, "LD_LIBRARY_PATH": str(LIB), **env})
        self.assertEqual((r.returncode, r.stderr), (status, ""), argv)
        if out is not None:
            self.assertEqual(r.stdout, out, argv)
        return r.stdout

    def waveform(self, name, fills):
        w = Waveform(self.folder / name)
        self.assertEqual(w.begin, 0)
        self.assertGreaterEqual(w.end, fills * FILL, name)
        return w

    def opencl(self, *argv, fills=0, **more):
        out = self.ends(*argv, TERN_BACKEND="rtl", TERN_CONFIG="tiny,trace=cl.fst", **more)
        self.waveform("cl.fst", fills)
        (self.folder / "cl.fst").unlink()
        return out

    def test_programs_of_the_driver(self):
        self.ends(ENDS, "closed", "reference.fst")
        reference = self.waveform("reference.fst", 2)
        for end, fills in {"left": 2, "in_flight": 1, "older_handler": 2, "younger_handler": 2,
                           "handler_that_leaves": 2, "destructor": 2, "destructor_that_leaves": 2, "other_thread": 1,
                           "children": 3, "unloaded": 0}.items():
            with self.subTest(end):
                self.ends(ENDS, end, "a.fst")
                self.assertEqual(self.waveform("a.fst", fills).same, reference.same)

    def test_several_devices(self):
        for end in "closed", "left", "older_handler", "destructor_that_leaves", "children":
            with self.subTest(end):
                self.ends(ENDS, end, "a.fst", "b.fst")
                self.assertEqual(self.waveform("a.fst", 2).same, self.waveform("b.fst", 2).same)

    def test_programs_of_opencl(self):
        for end in "leaving_all", "in_flight", "atexit_first", "atexit_last", "destructor", "released":
            with self.subTest(end):
                self.opencl(OPENCL_ENDS, end, status=0, out=None)
        self.opencl(OPENCL_ENDS, "in_a_callback", status=7, out=None)

    def test_static_objects(self):
        self.file("statics.cpp", STATICS)
        subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "statics.cpp", "-o", "statics", "-lOpenCL"],
                       cwd=self.folder, check=True)
        self.opencl("./statics", fills=2)

    @unittest.skipUnless(shutil.which("clinfo"), "needs clinfo (scripts/setup)")
    def test_clinfo(self):
        self.assertIn("Tern", self.opencl("clinfo", "-l", status=0, out=None))

    def test_what_cannot_be_a_waveform(self):
        """A folder or a pipe of that name is not changed."""
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        for name, why in ("folder", "regular file"), ("pipe", "regular file"), ("none/a.fst", "No such file"):
            r = self.tern("info", TERN_BACKEND="rtl", TERN_CONFIG=f"tiny,trace={name}")
            self.assertEqual((r.returncode, r.stdout), (1, ""), name)
            self.assertRegex(r.stderr, f"trace '{name}': .*{why}")
        self.assertTrue((self.folder / "pipe").is_fifo() and (self.folder / "folder").is_dir())
        r = subprocess.run([ENDS, "left", "a.fst", "a.fst"], cwd=self.folder, capture_output=True, text=True,
                           check=False, timeout=500, env={**os.environ, "LD_LIBRARY_PATH": str(LIB)})
        self.assertEqual(r.returncode, 1)
        self.assertIn("another device of this process writes its waveform there", r.stderr)
        self.assertEqual(Waveform(self.folder / "a.fst").begin, 0)

    def test_a_file_that_cannot_grow(self):
        """Only the waveform is incomplete, and a message says so. The limit exceeds the writer's other files, which are
        half as long."""
        self.ends(ENDS, "closed", "a.fst")
        limit = (self.folder / "a.fst").stat().st_size * 2 // 3
        for end in "closed", "left":
            r = subprocess.run([ENDS, end, "a.fst"], cwd=self.folder, capture_output=True, text=True, check=False,
                               timeout=500, env={**os.environ, "LD_LIBRARY_PATH": str(LIB)},
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            self.assertEqual((r.returncode, r.stdout), (5, "kept\n"), r.stderr)
            self.assertEqual(r.stderr, "tern: the waveform a.fst is not whole: some of it could not be written\n")


if __name__ == "__main__":
    unittest.main()
