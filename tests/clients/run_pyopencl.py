# SPDX-License-Identifier: Apache-2.0
"""pyopencl: its first example, arrays, and the algorithms that it generates kernels for, compared with numpy."""
import numpy as np
import pyopencl as cl
import pyopencl.array as cla
import pyopencl.clmath as clmath
import pyopencl.clrandom as clrandom
from pyopencl.algorithm import RadixSort, copy_if, partition, unique
from pyopencl.bitonic_sort import BitonicSort
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import GenericScanKernel, InclusiveScanKernel

from client import ON_RTL, close, device, equal, rng, run, test, true

CONTEXT = cl.create_some_context(interactive=False)
QUEUE = cl.CommandQueue(CONTEXT)
SIZE = 1000 if ON_RTL else 50000


def floats(*words, size=SIZE, dtype=np.float32):
    return rng(*words).standard_normal(size).astype(dtype)


def sent(array):
    return cla.to_device(QUEUE, array)


@test(rtl=True)
def first_example():
    a, b = floats("a"), floats("b")
    flags = cl.mem_flags
    a_g = cl.Buffer(CONTEXT, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=a)
    b_g = cl.Buffer(CONTEXT, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=b)
    program = cl.Program(CONTEXT, """
__kernel void sum(__global const float *a_g, __global const float *b_g, __global float *res_g) {
  int gid = get_global_id(0);
  res_g[gid] = a_g[gid] + b_g[gid];
}
""").build()
    result_g = cl.Buffer(CONTEXT, flags.WRITE_ONLY, a.nbytes)
    program.sum(QUEUE, a.shape, None, a_g, b_g, result_g)
    result = np.empty_like(a)
    cl.enqueue_copy(QUEUE, result, result_g)
    equal(result, a + b)


@test(rtl=True)
def arrays_of_floats():
    x, y = floats("x"), floats("y")
    dx, dy = sent(x), sent(y)
    equal((dx + dy).get(), x + y)
    equal((dx * dy - 3).get(), x * y - np.float32(3))
    close((dx / dy).get(), x / y, rtol=1e-6)
    equal(abs(dx).get(), abs(x))
    equal((-dx).reverse().get(), (-x)[::-1])
    equal(cla.maximum(dx, dy).get(), np.maximum(x, y))
    equal(cla.if_positive(dx, dx, dy).get(), np.where(x > 0, x, y))


@test
def arrays_of_double():
    x, y = floats("xd", dtype=np.float64), floats("yd", dtype=np.float64)
    equal((sent(x) * sent(y) + 1).get(), x * y + 1)
    close(cla.sum(sent(x)).get(), x.sum(), rtol=1e-12, atol=1e-12)


@test
def arrays_of_integers():
    for dtype in np.int8, np.uint16, np.int32, np.uint64:
        low = 0 if np.dtype(dtype).kind == "u" else -100
        x = rng(dtype).integers(low, 100, SIZE).astype(dtype)
        y = rng(dtype, "y").integers(1, 100, SIZE).astype(dtype)
        dx, dy = sent(x), sent(y)
        equal((dx + dy).get(), x + y, f"x + y of {dtype}")
        equal((dx * dy).get(), x * y, f"x * y of {dtype}")
        equal((dx & dy).get(), x & y, f"x & y of {dtype}")
        equal(cla.max(dx).get(), x.max(), f"max(x) of {dtype}")


@test
def arrays_of_complex():
    x, y = ((floats(n, "re") + 1j * floats(n, "im")).astype(np.complex64) for n in "xy")
    dx, dy = sent(x), sent(y)
    close((dx * dy).get(), x * y, rtol=1e-5, atol=1e-5)
    close((dx / dy).get(), x / y, rtol=1e-5, atol=1e-5)
    equal(dx.conj().get(), x.conj())
    equal(dx.real.get(), x.real)


@test
def math_functions():
    x = np.abs(floats("math")) + np.float32(0.1)
    for name in "sqrt", "exp", "log", "sin", "cos", "tan", "atan", "tanh", "floor", "log10":
        expected = getattr(np, {"atan": "arctan"}.get(name, name))(x.astype(np.float64))
        close(getattr(clmath, name)(sent(x)).get(), expected, rtol=1e-6, atol=1e-7, what=name)


@test
def reductions():
    x, y = floats("rx"), floats("ry")
    close(cla.sum(sent(x)).get(), x.sum(dtype=np.float64), atol=1e-2)
    close(cla.dot(sent(x), sent(y)).get(), np.dot(x.astype(np.float64), y), atol=1e-2)
    equal(cla.min(sent(x)).get(), x.min())
    squares = ReductionKernel(CONTEXT, np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*x[i]",
                              arguments="__global const float *x")
    close(squares(sent(x)).get(), np.square(x, dtype=np.float64).sum(), rtol=1e-5)


@test(rtl=True)
def scans():
    for size in (1, 2, 511, 1000) if ON_RTL else (1, 2, 511, 512, 513, 2000, 30011):
        x = rng("scan", size).integers(-1000, 1000, size).astype(np.int32)
        dx = sent(x)
        InclusiveScanKernel(CONTEXT, np.int32, "a+b", neutral="0")(dx)
        equal(dx.get(), np.cumsum(x), f"the sums of {size}")


@test
def segmented_scan():
    x, starts = rng("seg").integers(0, 100, SIZE).astype(np.int32), (rng("start").random(SIZE) < .01).astype(np.int32)
    starts[0] = 1
    out = cla.empty(QUEUE, SIZE, np.int32)
    GenericScanKernel(CONTEXT, np.int32, arguments="__global int *ary, __global char *segflags, __global int *out",
                      input_expr="ary[i]", scan_expr="across_seg_boundary ? b : (a+b)", neutral="0",
                      is_segment_start_expr="segflags[i]", output_statement="out[i] = item;")(
        sent(x), sent(starts.astype(np.int8)), out)
    total = np.cumsum(x)
    base = np.maximum.accumulate(np.where(starts == 1, np.arange(SIZE), 0))
    equal(out.get(), total - np.where(base > 0, total[base - 1], 0))


@test
def selections():
    x = rng("select").integers(0, 1000, SIZE).astype(np.int32)
    kept, count, _ = copy_if(sent(x), "ary[i] > 300")
    equal(kept.get()[:int(count.get())], x[x > 300])
    yes, no, count, _ = partition(sent(x), "ary[i] > 300")
    n = int(count.get())
    equal(yes.get()[:n], x[x > 300])
    equal(no.get()[:len(x) - n], x[x <= 300])
    x.sort()
    once, count, _ = unique(sent(x))
    equal(once.get()[:int(count.get())], np.unique(x))


@test
def sorting():
    x = rng("radix").integers(0, 2**31, 20000).astype(np.int32)
    sort = RadixSort(CONTEXT, "int *ary", key_expr="ary[i]", sort_arg_names=["ary"])
    (found,), _ = sort(sent(x), key_bits=32)
    equal(found.get(), np.sort(x))
    y = floats("bitonic", size=2**13)
    found, event = BitonicSort(CONTEXT)(sent(y))
    event.wait()
    equal(found.get(), np.sort(y))


@test(rtl=True)
def elementwise():
    x, y = floats("ex"), floats("ey")
    z = cla.empty_like(sent(x))
    ElementwiseKernel(CONTEXT, "float a, float *x, float *y, float *z", "z[i] = a*x[i] + y[i]")(
        np.float32(5), sent(x), sent(y), z)
    close(z.get(), np.float32(5) * x + y, rtol=1e-6, atol=1e-6)


@test
def take_and_put():
    x, at = floats("take"), rng("at").permutation(SIZE).astype(np.int32)
    equal(cla.take(sent(x), sent(at)).get(), x[at])
    out = cla.zeros(QUEUE, SIZE, np.float32)
    cla.multi_put([sent(x)], sent(at), out=[out])
    expected = np.zeros_like(x)
    expected[at] = x
    equal(out.get(), expected)


@test
def structures():
    kind = np.dtype([("id", np.int32), ("value", np.float32)])
    kind, declaration = cl.tools.match_dtype_to_c_struct(CONTEXT.devices[0], "thing", kind)
    kind = cl.tools.get_or_register_dtype("thing", kind)
    x = np.empty(1000, kind)
    x["id"], x["value"] = np.arange(1000), floats("struct", size=1000)
    dx = sent(x)
    program = cl.Program(CONTEXT, declaration + """
        __kernel void twice(__global thing *x) { int i = get_global_id(0); x[i].id += i; x[i].value *= 2; }""").build()
    program.twice(QUEUE, x.shape, None, dx.data)
    equal(dx.get()["id"], 2 * np.arange(1000))
    equal(dx.get()["value"], 2 * x["value"])


@test
def random_numbers():
    for generator in clrandom.PhiloxGenerator(CONTEXT), clrandom.ThreefryGenerator(CONTEXT):
        u = generator.uniform(QUEUE, 40000, np.float32).get()
        true(0 <= u.min() and u.max() <= 1 and abs(u.mean() - .5) < .01 and abs(u.std() - 12**-.5) < .01,
             f"uniform numbers from {u.min()} to {u.max()}, mean {u.mean()}, deviation {u.std()}")
        n = generator.normal(QUEUE, 40000, np.float32).get()
        true(abs(n.mean()) < .03 and abs(n.std() - 1) < .03, f"normal numbers of mean {n.mean()}, deviation {n.std()}")
        true(np.unique(u).size > 39000, "numbers repeat")


@test
def shared_virtual_memory():
    x = floats("svm")
    memory = cl.csvm_empty(CONTEXT, x.shape, np.float32)
    with cl.SVM(memory).map_rw(QUEUE) as mapped:
        mapped[:] = x
    program = cl.Program(CONTEXT, "__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }").build()
    program.twice(QUEUE, x.shape, None, cl.SVM(memory))
    with cl.SVM(memory).map_ro(QUEUE) as mapped:
        equal(mapped, 2 * x)


@test(needs="images")
def images():
    x = rng("image").random((48, 80, 4), dtype=np.float32)
    image = cl.image_from_array(CONTEXT, x, 4)
    out = cl.create_image(CONTEXT, cl.mem_flags.WRITE_ONLY,
                          cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT), shape=(80, 48))
    program = cl.Program(CONTEXT, """
        __constant sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
        __kernel void mirror(read_only image2d_t from, write_only image2d_t to) {
          int2 at = (int2)(get_global_id(0), get_global_id(1));
          write_imagef(to, at, read_imagef(from, s, (int2)(get_image_width(from) - 1 - at.x, at.y)));
        }""").build()
    program.mirror(QUEUE, (80, 48), None, image, out)
    found = np.empty_like(x)
    cl.enqueue_copy(QUEUE, found, out, origin=(0, 0), region=(80, 48))
    equal(found, x[:, ::-1])


@test
def queries():
    d = CONTEXT.devices[0]
    true(d.name == device()["CL_DEVICE_NAME"], f"the device is {d.name}, and clinfo names {device()['CL_DEVICE_NAME']}")
    event = cl.enqueue_marker(cl.CommandQueue(CONTEXT, properties=cl.command_queue_properties.PROFILING_ENABLE))
    event.wait()
    p = event.profile
    true(0 < p.queued <= p.submit <= p.start <= p.end, f"times {p.queued} {p.submit} {p.start} {p.end}")


run()
