# SPDX-License-Identifier: Apache-2.0
"""clinfo: what its lines say of the device is tried on the device, with pyopencl."""
import itertools
import re
import sys

import numpy as np
import pyopencl as cl

from client import Failure, command, device, equal, run, test, true

CONTEXT = cl.create_some_context(interactive=False)
QUEUE = cl.CommandQueue(CONTEXT)
SAYS = device()
FLAGS = cl.mem_flags


def number(name):
    return int(SAYS["CL_DEVICE_" + name], 0)


def words(name):
    return SAYS.get("CL_DEVICE_" + name, "").split()


def built(source, *options):
    return cl.Program(CONTEXT, source).build(list(options))


def refused(error, call, *arguments):
    """The call fails with this error."""
    try:
        call(*arguments)
    except cl.Error as e:
        true(e.code == error, f"error {e.code} instead of {error}: {e}")
        return
    raise Failure(f"no error, and {error} is expected")


def ran(kernel, size, group, *arguments):
    kernel(QUEUE, size, group, *arguments).wait()


@test
def all_lines():
    """No line has an error in place of a value, and both forms of the output have the same values."""
    raw, text = command(["clinfo", "--raw"]), command(["clinfo"])
    wrong = [x for x in (raw + text).splitlines() if re.search(r"error|CL_INVALID|<.*>", x, re.I)
             and not re.search("error.correction", x, re.I)]
    true(not wrong, "lines with errors:\n" + "\n".join(wrong))
    for property_, title in (("NAME", "Device Name"), ("VERSION", "Device Version"), ("PROFILE", "Device Profile")):
        true(re.search(rf"^  {title} +{re.escape(SAYS['CL_DEVICE_' + property_])}$", text, re.M),
             f"clinfo and clinfo --raw differ in {title}")
    true(len(SAYS) > 80, f"only {len(SAYS)} lines")


@test
def platform():
    true(SAYS["CL_PLATFORM_NAME"] == "Tern" and len(cl.get_platforms()) == 1, "the platform is not Tern alone")
    true(command(["clinfo", "--list"]).count("Device #") == 1, "clinfo --list lists another number of devices")


@test
def null_platform():
    """The calls that clinfo tries itself, at the end of its output."""
    text = command(["clinfo"])
    tail = text[text.index("NULL platform behavior"):]
    kind = SAYS["CL_DEVICE_TYPE"].removeprefix("CL_DEVICE_TYPE_")
    for name in "ALL", "DEFAULT", kind:
        true(re.search(rf"CL_DEVICE_TYPE_{name}\) +Success \(1\)", tail), f"no context of type {name}:\n{tail}")
    for name in {"CPU", "GPU", "ACCELERATOR", "CUSTOM"} - {kind}:
        true(re.search(rf"CL_DEVICE_TYPE_{name}\) +No devices found", tail), f"a context of type {name}:\n{tail}")


@test
def group_sizes():
    most = number("MAX_WORK_GROUP_SIZE")
    sizes = [int(x) for x in words("MAX_WORK_ITEM_SIZES")]
    true(len(sizes) == number("MAX_WORK_ITEM_DIMENSIONS"), f"{len(sizes)} sizes")
    kernel = built("""__kernel void k(__global uint *out) { barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0) + get_global_id(1) + get_global_id(2)] = get_local_size(0) * get_local_size(1)
                                                                      * get_local_size(2); }""").k
    out = cl.Buffer(CONTEXT, FLAGS.READ_WRITE, 4 * most)
    for axis, size in enumerate(sizes):
        shape = tuple(min(size, most) if a == axis else 1 for a in range(len(sizes)))
        ran(kernel, shape, shape, out)
        found = np.empty(min(size, most), np.uint32)
        cl.enqueue_copy(QUEUE, found, out)
        equal(found, np.full_like(found, found.size), f"get_local_size of {shape}")
        more = tuple(2 * x if a == axis else x for a, x in enumerate(shape))
        refused(cl.status_code.INVALID_WORK_ITEM_SIZE if max(more) > size else cl.status_code.INVALID_WORK_GROUP_SIZE,
                ran, kernel, more, more, out)
    square = int(most**.5)
    refused(cl.status_code.INVALID_WORK_GROUP_SIZE, ran, kernel, (square, 2 * square), (square, 2 * square), out)


@test
def local_memory():
    size = number("LOCAL_MEM_SIZE")
    kernel = built("""__kernel void k(__local uint *t, uint n, __global uint *out) { uint s = 0;
        for (uint i = get_local_id(0); i < n; i += get_local_size(0)) t[i] = i;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) == 0) { for (uint i = 0; i < n; i++) s += t[i]; *out = s; } }""").k
    out = cl.Buffer(CONTEXT, FLAGS.READ_WRITE, 4)
    ran(kernel, (16,), (16,), cl.LocalMemory(size), np.uint32(size // 4), out)
    found = np.empty(1, np.uint32)
    cl.enqueue_copy(QUEUE, found, out)
    equal(found[0], np.arange(size // 4, dtype=np.uint32).sum(dtype=np.uint32))
    refused(cl.status_code.OUT_OF_RESOURCES, ran, kernel, (16,), (16,), cl.LocalMemory(size + 4), np.uint32(4), out)


@test
def allocations():
    most = number("MAX_MEM_ALLOC_SIZE")
    true(most >= max(number("GLOBAL_MEM_SIZE") // 4, 1 << 20), f"the largest allocation of {most} bytes is too small")
    buffer = cl.Buffer(CONTEXT, FLAGS.READ_WRITE, most)
    last = np.array([12345], np.uint32)
    cl.enqueue_copy(QUEUE, buffer, last, dst_offset=most - 4)
    found = np.empty(1, np.uint32)
    cl.enqueue_copy(QUEUE, found, buffer, src_offset=most - 4)
    equal(found, last)
    refused(cl.status_code.INVALID_BUFFER_SIZE, cl.Buffer, CONTEXT, FLAGS.READ_WRITE, most + 1)
    align = number("MEM_BASE_ADDR_ALIGN") // 8
    equal(buffer.get_sub_region(align, 4).size, 4)
    refused(cl.status_code.MISALIGNED_SUB_BUFFER_OFFSET, buffer.get_sub_region, align // 2, 4)


@test
def parameters():
    """As many bytes of arguments as clinfo says, and as many constant arguments."""
    longs = number("MAX_PARAMETER_SIZE") // 8
    most, buffers = longs - 1, number("MAX_CONSTANT_ARGS")
    kernel = built(f"""__kernel void k({', '.join(f'ulong a{i}' for i in range(most))}, __global ulong *out) {{
        *out = {' + '.join(f'a{i}' for i in range(most))}; }}""").k
    out = cl.Buffer(CONTEXT, FLAGS.READ_WRITE, 8)
    values = [np.uint64(1 << (i % 60)) for i in range(most)]
    ran(kernel, (1,), None, *values, out)
    found = np.empty(1, np.uint64)
    cl.enqueue_copy(QUEUE, found, out)
    equal(int(found[0]), sum(map(int, values)) % 2**64)
    kernel = built(f"""__kernel void k({', '.join(f'__constant ulong *a{i}' for i in range(buffers))},
        __global ulong *out) {{ *out = {' + '.join(f'*a{i}' for i in range(buffers))}; }}""").k
    inputs = [cl.Buffer(CONTEXT, FLAGS.READ_ONLY | FLAGS.COPY_HOST_PTR, hostbuf=np.array([i], np.uint64))
              for i in range(buffers)]
    ran(kernel, (1,), None, *inputs, out)
    cl.enqueue_copy(QUEUE, found, out)
    equal(int(found[0]), sum(range(buffers)))


@test
def program_variables():
    size = number("MAX_GLOBAL_VARIABLE_SIZE")
    program = built(f"""__global uint table[{size // 4}];
        __kernel void put(uint x) {{ table[{size // 4 - 1}] = x; table[0] = x + 1; }}
        __kernel void get(__global uint *out) {{ out[0] = table[{size // 4 - 1}]; out[1] = table[0]; }}""",
                    "-cl-std=CL3.0")
    out = cl.Buffer(CONTEXT, FLAGS.READ_WRITE, 8)
    ran(program.put, (1,), None, np.uint32(77))
    ran(program.get, (1,), None, out)
    found = np.empty(2, np.uint32)
    cl.enqueue_copy(QUEUE, found, out)
    equal(found, np.array([77, 78], np.uint32))


@test
def versions_and_features():
    """Each version of OpenCL C is compiled, and each feature and extension has its macro."""
    versions = [int(v, 16) for v in re.findall(r"OpenCL C:(0x\w+)", SAYS["CL_DEVICE_OPENCL_C_ALL_VERSIONS"])]
    true(len(versions) >= 4, f"only {len(versions)} versions of OpenCL C")
    for major, minor in ((v >> 22, v >> 12 & 0x3ff) for v in versions):
        if (major, minor) > (1, 0):  # There is no -cl-std=CL1.0.
            built(f"#if __OPENCL_C_VERSION__ != {major}{minor}0\n#error version\n#endif\n"
                  "__kernel void k(__global int *x) { *x = 1; }", f"-cl-std=CL{major}.{minor}")
    features = [f.split(":")[0] for f in words("OPENCL_C_FEATURES")]
    built("".join(f"#ifndef {f}\n#error {f}\n#endif\n" for f in features) + "__kernel void k() {}", "-cl-std=CL3.0")
    api = {"cl_khr_icd", "cl_khr_il_program", "cl_khr_priority_hints", "cl_khr_throttle_hints",
           "cl_khr_extended_versioning", "cl_khr_create_command_queue", "cl_tern_counters", "cl_khr_spir"}
    macros = [e for e in words("EXTENSIONS") if e not in api]
    built("".join(f"#ifndef {e}\n#error {e}\n#endif\n" for e in macros) + "__kernel void k() {}",
          "-cl-std=CL3.0")
    true([e.split(":")[0] for e in words("EXTENSIONS_WITH_VERSION")] == words("EXTENSIONS"), "two lists of extensions")


@test
def absent_features():
    """Features that clinfo calls absent are refused, and have no macro."""
    features = {f.split(":")[0] for f in words("OPENCL_C_FEATURES")}
    known = {"__opencl_c_images", "__opencl_c_3d_image_writes", "__opencl_c_read_write_images", "__opencl_c_pipes",
             "__opencl_c_device_enqueue", "__opencl_c_subgroups", "__opencl_c_fp64",
             "__opencl_c_atomic_scope_all_devices"}
    built("".join(f"#ifdef {f}\n#error {f}\n#endif\n" for f in sorted(known - features)) + "__kernel void k() {}",
          "-cl-std=CL3.0")
    if SAYS["CL_DEVICE_IMAGE_SUPPORT"] == "CL_FALSE":
        refused(cl.status_code.INVALID_OPERATION, cl.create_image, CONTEXT,
                FLAGS.READ_ONLY, cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT), (4, 4))
    if SAYS["CL_DEVICE_PIPE_SUPPORT"] == "CL_FALSE":
        refused(cl.status_code.INVALID_OPERATION, cl.Pipe, CONTEXT, FLAGS.READ_WRITE, 4, 16)


@test
def floating_point():
    """Denormals, infinities, fma and rounding are those that the lines name."""
    config = SAYS["CL_DEVICE_SINGLE_FP_CONFIG"].split(" | ")
    source = """__kernel void k(__global float *x) { x[0] *= 0.5f; x[1] /= 0.0f; x[2] = fma(x[2], x[3], x[4]);
        x[5] = x[5] / x[6]; x[7] = sqrt(x[7]); }"""
    flags = ["-cl-fp32-correctly-rounded-divide-sqrt"] if "CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT" in config else []
    x = np.array([2e-38, 1, 1 + 2**-12, 1 + 2**-12, -1 - 2**-11, 1, 3, 2], np.float32)
    with np.errstate(divide="ignore"):
        wanted = np.array([x[0] / 2, np.inf, 2**-24, x[3], x[4], x[5] / x[6], x[6], np.sqrt(x[7])], np.float32)
    buffer = cl.Buffer(CONTEXT, FLAGS.READ_WRITE | FLAGS.COPY_HOST_PTR, hostbuf=x)
    ran(built(source, *flags).k, (1,), None, buffer)
    found = np.empty_like(x)
    cl.enqueue_copy(QUEUE, found, buffer)
    checked = {"CL_FP_DENORM": [0], "CL_FP_INF_NAN": [1], "CL_FP_FMA": [2],
               "CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT": [5, 7]}
    for name, places in checked.items():
        if name in config:
            equal(found[places], wanted[places], name)


@test
def order_and_addresses():
    """The byte order, and the width of addresses."""
    out = cl.Buffer(CONTEXT, FLAGS.READ_WRITE, 8)
    ran(built("""__kernel void k(__global uint *out) { uint x = 0x01020304; out[0] = *(uchar *)&x;
        out[1] = 8 * sizeof(void *); }""").k, (1,), None, out)
    found = np.empty(2, np.uint32)
    cl.enqueue_copy(QUEUE, found, out)
    equal(found[0], 4 if SAYS["CL_DEVICE_ENDIAN_LITTLE"] == "CL_TRUE" else 1, "the byte order")
    equal(found[1], number("ADDRESS_BITS"), "the width of addresses")


@test
def queues():
    for flags in itertools.chain([0], (1 << i for i in range(2))):
        cl.CommandQueue(CONTEXT, properties=flags)
    true(SAYS["CL_DEVICE_QUEUE_ON_HOST_PROPERTIES"].count("CL_QUEUE_") == 2, "other properties than two")
    true(number("PROFILING_TIMER_RESOLUTION") == 1000 // number("MAX_CLOCK_FREQUENCY"), "the timer's tick is no cycle")


@test
def printf_buffer():
    """Output that fits in the buffer of printf is printed, from many work-items."""
    n = 1000
    true(number("PRINTF_BUFFER_SIZE") >= 100 * n, "the buffer is smaller than this test needs")
    script = f"""
import pyopencl as cl
c = cl.create_some_context(interactive=False); q = cl.CommandQueue(c)
k = cl.Program(c, '__kernel void k() {{ printf("item %d\\\\n", (int)get_global_id(0)); }}').build().k
k(q, ({n},), None); q.finish()
"""
    lines = command([sys.executable, "-c", script]).split("\n")
    equal(sorted(int(x.split()[1]) for x in lines if x.startswith("item ")), np.arange(n))


run()
