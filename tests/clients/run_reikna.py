# SPDX-License-Identifier: Apache-2.0
"""reikna: its computations on the OpenCL API, compared with numpy."""
import numpy as np
from reikna import cluda
from reikna.algorithms import Reduce, Scan, Transpose, predicate_sum
from reikna.cbrng import CBRNG
from reikna.core import Type
from reikna.fft import FFT, FFTShift
from reikna.linalg import EntrywiseNorm, MatrixMul

from client import close, equal, rng, run, test, true

THREAD = cluda.ocl_api().Thread.create()


def complex_of(*shape):
    r = rng("complex", *shape)
    return (r.standard_normal(shape) + 1j * r.standard_normal(shape)).astype(np.complex64)


def real_of(*shape):
    return rng("real", *shape).standard_normal(shape).astype(np.float32)


@test
def transforms():
    for shape, axes in ((16, 64), (1,)), ((4, 24), (0, 1)), ((8, 8, 8), (0, 2)), ((2, 1000), (1,)):
        x = complex_of(*shape)
        d = THREAD.to_device(x)
        compiled = FFT(d, axes=axes).compile(THREAD)
        compiled(d, d)
        expected = np.fft.fftn(x, axes=axes)
        close(d.get(), expected, 0, 1e-6 * np.abs(expected).max(), f"FFT of {shape} along {axes}")
        compiled(d, d, inverse=True)
        close(d.get(), x, 0, 1e-5, f"inverse FFT of {shape} along {axes}")


@test
def shifts():
    x = complex_of(6, 10)
    d = THREAD.to_device(x)
    FFTShift(d).compile(THREAD)(d, d)
    equal(d.get(), np.fft.fftshift(x))


@test
def matrix_products():
    for m, k, n in (64, 64, 64), (30, 17, 45), (1, 100, 1):
        a, b = real_of(m, k), real_of(k, n)
        c = THREAD.array((m, n), np.float32)
        MatrixMul(a, b, out_arr=c).compile(THREAD)(c, THREAD.to_device(a), THREAD.to_device(b))
        close(c.get(), a.astype(np.float64) @ b, 1e-5, 1e-5, f"{m} by {k} by {n}")
    a, b = complex_of(20, 30), complex_of(30, 40)
    c = THREAD.array((20, 40), np.complex64)
    MatrixMul(a, b, out_arr=c).compile(THREAD)(c, THREAD.to_device(a), THREAD.to_device(b))
    close(c.get(), a @ b, 1e-4, 1e-4)


@test
def transposition():
    x = real_of(40, 5, 33)
    out = THREAD.array((33, 40, 5), np.float32)
    Transpose(x, axes=(2, 0, 1)).compile(THREAD)(out, THREAD.to_device(x))
    equal(out.get(), x.transpose(2, 0, 1))


@test
def reductions_and_scans():
    x = rng("int").integers(-100, 100, (30, 500)).astype(np.int64)
    d = THREAD.to_device(x)
    reduced = Reduce(x, predicate_sum(x.dtype), axes=(1,))
    out = THREAD.empty_like(reduced.parameter.output)
    reduced.compile(THREAD)(out, d)
    equal(out.get(), x.sum(1))
    out = THREAD.empty_like(d)
    Scan(x, predicate_sum(x.dtype), axes=(1,)).compile(THREAD)(out, d)
    equal(out.get(), np.cumsum(x, 1))


@test
def norms():
    x = real_of(1000)
    norm = EntrywiseNorm(x, order=2)
    out = THREAD.empty_like(norm.parameter.output)
    norm.compile(THREAD)(out, THREAD.to_device(x))
    close(out.get(), np.linalg.norm(x.astype(np.float64)), 1e-6)


@test
def random_numbers():
    randoms = Type(np.float32, shape=(1, 20000))
    generator = CBRNG.normal_bm(randoms, 1, sampler_kwds={"mean": 2, "std": 3}, seed=5)
    counters = THREAD.to_device(generator.create_counters())
    out = THREAD.empty_like(randoms)
    generator.compile(THREAD)(counters, out)
    x = out.get()
    true(abs(x.mean() - 2) < .1 and abs(x.std() - 3) < .1, f"mean {x.mean()} instead of 2, deviation {x.std()} of 3")


run()
