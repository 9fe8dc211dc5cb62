# SPDX-License-Identifier: Apache-2.0
"""pyvkfft: transforms by kernels that VkFFT writes, compared with scipy."""
import numpy as np
import pyopencl as cl
import pyopencl.array as cla
from pyvkfft.fft import dctn, fftn, idctn, ifftn, irfftn, rfftn
from pyvkfft.opencl import VkFFTApp
from scipy import fft

from client import close, rng, run, test

QUEUE = cl.CommandQueue(cl.create_some_context(interactive=False))
SHAPES = (64,), (4, 30), (3, 5, 7), (16, 16), (2, 97), (2, 1000), (4096,)


def near(got, expected, what, error=1e-6):
    close(got, expected, 0, error * np.abs(expected).max(), what)


def complex_of(shape, kind=np.complex64):
    r = rng("complex", *shape)
    return (r.standard_normal(shape) + 1j * r.standard_normal(shape)).astype(kind)


def real_of(shape, kind=np.float32):
    return rng("real", *shape).standard_normal(shape).astype(kind)


def sent(x):
    return cla.to_device(QUEUE, x)


@test
def complex_transforms():
    for shape in SHAPES:
        x = complex_of(shape)
        near(fftn(sent(x)).get(), fft.fftn(x), f"fftn of {shape}")
        near(ifftn(sent(x)).get(), fft.ifftn(x), f"ifftn of {shape}")


@test
def double_precision():
    for shape in (64,), (4, 30), (2, 97):
        x = complex_of(shape, np.complex128)
        near(fftn(sent(x)).get(), fft.fftn(x), f"fftn of {shape}", 1e-14)


@test
def real_transforms():
    for shape in (64,), (4, 30), (3, 5, 8), (2, 194):
        x = real_of(shape)
        there = rfftn(sent(x))
        near(there.get(), fft.rfftn(x), f"rfftn of {shape}")
        near(irfftn(there).get(), x, f"irfftn of {shape}")


@test
def cosine_transforms():
    for kind in 2, 3, 4:
        x = real_of((8, 24))
        there = dctn(sent(x), dct_type=kind)
        near(there.get(), fft.dctn(x, kind), f"DCT {kind}", 2e-6)
        near(idctn(there, dct_type=kind).get(), x, f"inverse of DCT {kind}", 2e-6)


@test
def in_place_along_an_axis():
    x = complex_of((12, 16, 20))
    for axes in (0,), (1,), (2,), (0, 2):
        d = sent(x)
        VkFFTApp(x.shape, x.dtype, QUEUE, axes=axes, inplace=True).fft(d)
        near(d.get(), fft.fftn(x, axes=axes), f"axes {axes}")


run()
