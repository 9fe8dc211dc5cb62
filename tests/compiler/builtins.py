#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""builtins.py CLANG VERSION: prints an OpenCL C program that calls every built-in function of that version.

builtins.py --extensions VERSION: prints the switches with which that version is compiled.

The list is the compiler's own header, preprocessed for the device. Each overload becomes a small function that calls
it. Features that the device does not claim are left out: pipes, device-side enqueue.
"""
import os
import pathlib
import re
import subprocess
import sys

DEFINED = pathlib.Path(__file__).resolve().parents[2] / "runtime/compiler/tc_extensions.def"
SKIP_TYPES = re.compile(r"image\w*msaa|pipe|reserve_id|queue_t|clk_event|ndrange|intel|"
                        r"atomic_half|cl_profiling")
SKIP_NAMES = re.compile(r"^(printf|enqueue|create_user|is_valid|release_event|retain_event|set_user|capture|"
                        r"get_default_queue|get_kernel_|intel|ndrange|"
                        r"(work|sub)_group_(commit|reserve)|amd_|arm_|__)")
# Declarations that runtime/device/atomics.h replaces: an operation on atomic_uintptr_t declared once more with another
# operand, and the forms in named address spaces of functions that take generic pointers.
REPLACED = re.compile(r"volatile __(global|local) atomic_(float|double) ?\*|"
                      r"volatile (__(global|local) )?atomic_uintptr_t ?\* ?\w*, (ptrdiff_t|intptr_t)")


def extensions(version):
    """Returns the front end's switches for the features of this version, as the compiler passes them."""
    names = re.findall(r"^(EXTENSION|NAMED|LATER|FEATURE|MACRO)\((\w+)\)", DEFINED.read_text(), re.M)
    return ",".join(["-all"] + ["+" + name for kind, name in names
                                if kind in ("EXTENSION", "NAMED", "LATER") or version == "CL3.0"])


def macros(version):
    """Returns the features and extensions of this version that the compiler defines as macros."""
    kinds = {"CL2.0": "LATER", "CL3.0": "MACRO|LATER"}.get(version)
    names = re.findall(rf"^(?:{kinds})\((\w+)\)", DEFINED.read_text(), re.M) if kinds else []
    return [f"-D{name}=1" for name in names]


def declarations(clang, version):
    resource = subprocess.run([clang, "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
    header = os.path.join(resource, "include", "opencl-c.h")
    text = subprocess.run(
        [clang, "--target=nvptx64-unknown-unknown", "-U__NVPTX__", "-U__PTX__", "-x", "cl", "-cl-std=" + version,
         "-cl-no-stdinc", "-Xclang", "-cl-ext=" + extensions(version), "-I" + os.path.dirname(header), "-E",
         *macros(version), "-P", "-include", "opencl-c-base.h", header],
        capture_output=True, text=True, check=True).stdout
    text = re.sub(r"__attribute__\(\(.*?\)\)(?=[ ;])", " ", text)
    text = re.sub(r"#.*", "", text)
    seen = set()
    for statement in text.split(";"):
        statement = " ".join(statement.split())
        m = re.fullmatch(r"([A-Za-z_][\w ]*?[ *]+)(\w+) ?\((.*)\)", statement)
        if not m or "typedef" in statement or "..." in statement or "__attribute__" in statement:
            continue
        result, name, parameters = m.group(1).strip(), m.group(2), m.group(3)
        if (SKIP_NAMES.search(name) or REPLACED.search(parameters) or SKIP_TYPES.search(result + "," + parameters) or
                (result, name, parameters) in seen):
            continue
        seen.add((result, name, parameters))
        yield result, name, [] if parameters in ("", "void") else [p.strip() for p in parameters.split(",")]


def main():
    clang, version = sys.argv[1:3]
    if clang in ("--extensions", "--macros"):
        print(extensions(version) if clang == "--extensions" else " ".join(macros(version)))
        return
    print("// Every built-in of %s, called once. Made by tests/compiler/builtins.py." % version)
    print("#pragma OPENCL EXTENSION cl_khr_fp16 : enable")
    count = 0
    for result, name, parameters in declarations(clang, version):
        arguments = []
        for i, p in enumerate(parameters):
            # A parameter may have a name. The type stands before it.
            m = re.fullmatch(r"(.*[ *])(\w+)", p)
            if (m and m.group(2) not in TYPES and
                    not re.fullmatch(r"u?(char|short|int|long)\d*|float\d*|double\d*|half\d*|image\w+_t|sampler_t",
                                     m.group(2))):
                p = m.group(1)
            arguments.append("%s a%d" % (p.strip(), i))
        names = ", ".join("a%d" % i for i in range(len(arguments)))
        give = "" if result == "void" else "return "
        print("%s t%d(%s) { %s%s(%s); }" % (result, count, ", ".join(arguments) or "void", give, name, names))
        count += 1
    print("__kernel void k(void) {}")


TYPES = {"size_t", "ptrdiff_t", "event_t", "bool", "void", "cl_mem_fence_flags", "memory_order", "memory_scope",
         "atomic_int", "atomic_uint", "atomic_long", "atomic_ulong", "atomic_float", "atomic_double", "atomic_flag",
         "intptr_t", "uintptr_t", "uint", "int", "float", "half", "uchar", "ushort", "ulong"}

if __name__ == "__main__":
    main()
