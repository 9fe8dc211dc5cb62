# SPDX-License-Identifier: Apache-2.0
"""silx: tests that it brings for its OpenCL code, and its filters and SIFT on small images, compared with scipy."""
import numpy as np
from scipy import ndimage as nd
from silx.opencl.convolution import Convolution
from silx.opencl.image import ImageProcessing
from silx.opencl.medfilt import MedianFilter2D
from silx.opencl.sift import LinearAlign, SiftPlan

from client import close, equal, pytest, rng, run, test, true

PICTURE = nd.gaussian_filter(rng("picture").random((96, 120)), 2).astype(np.float32)
PICTURE = (255 * (PICTURE - PICTURE.min()) / np.ptp(PICTURE)).astype(np.float32)
BRING = "silx.opencl"


@test
def median_filter():
    for size in (3, 3), (5, 7), (9, 9):
        got = MedianFilter2D(PICTURE.shape, devicetype="all").medfilt2d(PICTURE, size)
        equal(got, nd.median_filter(PICTURE, size, mode="nearest"), f"window {size}")


@test
def histogram_and_range():
    plan = ImageProcessing(PICTURE.shape, ncolors=1, devicetype="all")
    got, _ = plan.histogram(PICTURE, 64)
    expected, _ = np.histogram(PICTURE, 64)
    true(got.sum() == PICTURE.size and np.abs(got - expected).sum() <= PICTURE.size // 200,
         f"{np.abs(got - expected).sum()} of {PICTURE.size} values are counted elsewhere")
    normalized = plan.normalize(PICTURE, -1, 2)
    close(normalized, -1 + 3 * (PICTURE - PICTURE.min()) / np.ptp(PICTURE), 1e-5, 1e-4)


@test
def convolutions():
    row = np.exp(-np.linspace(-2, 2, 9)**2).astype(np.float32)
    for kernel in row, np.outer(row, row[::-1] * np.float32(1.5)).astype(np.float32):
        got = Convolution(PICTURE.shape, kernel, extra_options={"dont_use_textures": True})(PICTURE)
        got = np.asarray(got.get() if hasattr(got, "get") else got)
        expected = nd.convolve(PICTURE, np.outer(kernel, kernel) if kernel.ndim == 1 else kernel, mode="reflect")
        close(got, expected, 1e-4, 1e-3, f"a kernel of {kernel.shape}")


@test
def sift_finds_the_same_points_in_a_moved_picture():
    move = 10
    plan = SiftPlan(template=PICTURE[:, :-move], devicetype="ALL")
    first, second = plan(PICTURE[:, :-move].copy()), plan(PICTURE[:, move:].copy())
    true(len(first) >= 20 and len(second) >= 20, f"only {len(first)} and {len(second)} points")
    near = sum(bool(((np.abs(second.x - (p.x - move)) < .5) & (np.abs(second.y - p.y) < .5)).any()) for p in first)
    inside = sum(p.x > move + 15 for p in first)
    true(near >= .8 * inside, f"{near} points of {inside} are found again")


@test(needs="images")
def sift_aligns_a_moved_picture():
    align = LinearAlign(PICTURE, devicetype="ALL")
    moved = nd.shift(PICTURE, (3, -5), order=1, mode="nearest")
    got = align.align(moved, shift_only=True, return_all=True)
    close(np.asarray(got["offset"]), [3, -5], 0, .5, "the offset")


@test
def tests_of_sift():
    """The tests of SIFT that need no photograph from a network."""
    pytest("--pyargs", f"{BRING}.sift", least=11, expression="gaussian or algebra or reductions or keypoints "
           "and not TestCpu and not orientation and not descriptor")


@test
def tests_of_numbers():
    pytest("--pyargs", f"{BRING}.test.test_addition", f"{BRING}.test.test_doubleword", f"{BRING}.test.test_kahan",
           f"{BRING}.test.test_array_utils", f"{BRING}.test.test_processing", least=15)


@test
def tests_of_codecs():
    pytest("--pyargs", f"{BRING}.codec", least=4, expression="not many and not from and not encode_to")


run()
