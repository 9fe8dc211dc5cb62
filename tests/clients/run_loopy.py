# SPDX-License-Identifier: Apache-2.0
"""loopy: kernels that it generates from loops, transformed in several ways, compared with numpy."""
import loopy as lp
import numpy as np
import pyopencl as cl
import pyopencl.array as cla

from client import close, equal, rng, run, test

CONTEXT = cl.create_some_context(interactive=False)
QUEUE = cl.CommandQueue(CONTEXT)


def floats(*words, shape):
    return rng(*words).standard_normal(shape).astype(np.float32)


def sent(x):
    return cla.to_device(QUEUE, x)


@test
def first_example():
    kernel = lp.make_kernel("{ [i]: 0<=i<n }", "out[i] = 2*a[i]", lang_version=(2018, 2))
    a = floats("a", shape=1000)
    _, (out,) = kernel.executor(CONTEXT)(QUEUE, a=sent(a))
    equal(out.get(), 2 * a)
    split = lp.split_iname(kernel, "i", 128, outer_tag="g.0", inner_tag="l.0")
    _, (out,) = split.executor(CONTEXT)(QUEUE, a=sent(a))
    equal(out.get(), 2 * a)


@test
def matrix_product_with_tiles():
    n = 64
    kernel = lp.make_kernel("{ [i,j,k]: 0<=i,j,k<n }", "c[i, j] = sum(k, a[i, k]*b[k, j])", lang_version=(2018, 2))
    kernel = lp.fix_parameters(lp.add_and_infer_dtypes(kernel, {"a": np.float32, "b": np.float32}), n=n)
    for name, outer, inner in ("i", "g.0", "l.1"), ("j", "g.1", "l.0"), ("k", None, None):
        kernel = lp.split_iname(kernel, name, 16, outer_tag=outer, inner_tag=inner)
    kernel = lp.add_prefetch(kernel, "a", ["k_inner", "i_inner"], default_tag="l.auto",
                             fetch_outer_inames=frozenset(["i_outer", "j_outer", "k_outer"]))
    kernel = lp.add_prefetch(kernel, "b", ["j_inner", "k_inner"], default_tag="l.auto",
                             fetch_outer_inames=frozenset(["i_outer", "j_outer", "k_outer"]))
    a, b = floats("ma", shape=(n, n)), floats("mb", shape=(n, n))
    _, (c,) = kernel.executor(CONTEXT)(QUEUE, a=sent(a), b=sent(b))
    close(c.get(), a.astype(np.float64) @ b, 1e-5, 1e-5)


@test
def stencil():
    kernel = lp.make_kernel("{ [i,j]: 0<=i,j<n }",
                            "out[i,j] = -4*u[i+1,j+1] + u[i,j+1] + u[i+2,j+1] + u[i+1,j] + u[i+1,j+2]",
                            [lp.GlobalArg("u", np.float32, shape="n+2,n+2"), "..."], lang_version=(2018, 2))
    kernel = lp.split_iname(kernel, "i", 8, outer_tag="g.1", inner_tag="l.1")
    kernel = lp.split_iname(kernel, "j", 16, outer_tag="g.0", inner_tag="l.0")
    kernel = lp.add_prefetch(kernel, "u", ["i_inner", "j_inner"], fetch_bounding_box=True, default_tag="l.auto")
    u = floats("u", shape=(50, 50))
    _, (out,) = kernel.executor(CONTEXT)(QUEUE, u=sent(u), n=48)
    c = u[1:-1, 1:-1]
    close(out.get(), -4 * c + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:], 1e-5, 1e-5)


@test
def parallel_reduction():
    kernel = lp.make_kernel("{ [i,j]: 0<=i<40 and 0<=j<128 }", "out[i] = sum(j, a[i,j])", lang_version=(2018, 2))
    kernel = lp.tag_inames(lp.add_and_infer_dtypes(kernel, {"a": np.int32}), {"i": "g.0", "j": "l.0"})
    a = rng("sum").integers(-1000, 1000, (40, 128)).astype(np.int32)
    _, (out,) = kernel.executor(CONTEXT)(QUEUE, a=sent(a))
    equal(out.get(), a.sum(1))


@test
def scan():
    kernel = lp.make_kernel("[n] -> { [i,j]: 0<=i<n and 0<=j<=i }", "out[i] = reduce(sum, j, a[j])",
                            lang_version=(2018, 2))
    kernel = lp.add_and_infer_dtypes(lp.fix_parameters(kernel, n=64), {"a": np.int32})
    kernel = lp.realize_reduction(lp.tag_inames(kernel, {"i": "l.0"}), force_scan=True)
    a = rng("scan").integers(-1000, 1000, 64).astype(np.int32)
    _, (out,) = kernel.executor(CONTEXT)(QUEUE, a=sent(a))
    equal(out.get(), np.cumsum(a))


@test
def doubles_and_functions():
    kernel = lp.make_kernel("{ [i]: 0<=i<n }", "out[i] = sin(a[i])**2 + cos(a[i])**2 + exp(a[i])",
                            lang_version=(2018, 2))
    a = rng("double").standard_normal(500)
    _, (out,) = kernel.executor(CONTEXT)(QUEUE, a=sent(a))
    close(out.get(), 1 + np.exp(a), 1e-14)


run()
