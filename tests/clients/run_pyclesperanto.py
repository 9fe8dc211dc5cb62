# SPDX-License-Identifier: Apache-2.0
"""pyclesperanto: operations on images, compared with scipy and numpy."""
import numpy as np
import pyclesperanto as cle
from scipy import ndimage as nd

from client import close, device, equal, rng, run, test, true

FLAT = rng("flat").random((40, 57), dtype=np.float32)
SOLID = rng("solid").random((9, 20, 31), dtype=np.float32)
BLOBS = (nd.gaussian_filter(rng("blobs").random((48, 64)), 3) > .5).astype(np.uint8)
BOTH = ("flat", FLAT), ("solid", SOLID)


def pulled(operation, *images, **options):
    """Runs an operation of pyclesperanto and returns its result."""
    return cle.pull(operation(*(cle.push(i) if isinstance(i, np.ndarray) else i for i in images), **options))


def windows(image, radius=1):
    """Returns the values around each pixel, with those of the border repeated."""
    size = 2 * radius + 1
    padded = np.pad(image, radius, mode="edge")
    return np.lib.stride_tricks.sliding_window_view(padded, (size,) * image.ndim).reshape(*image.shape, -1)


@test
def the_device_is_found():
    name = device()["CL_DEVICE_NAME"]
    true(name in cle.list_available_devices(), f"{cle.list_available_devices()} lacks {name}")
    cle.select_device(name)


@test
def arithmetic():
    for name, x in BOTH:
        equal(pulled(cle.add_images_weighted, x, x[::-1].copy(), factor1=1, factor2=1), x + x[::-1], name)
        equal(pulled(cle.multiply_images, x, x), x * x, name)
        close(pulled(cle.power, x, scalar=1.5), x.astype(np.float64)**1.5, 2e-6, 1e-7, name)
        close(pulled(cle.exponential, x), np.exp(x.astype(np.float64)), 1e-6, 0, name)


@test
def comparisons():
    equal(pulled(cle.greater_constant, FLAT, scalar=.5), (FLAT > .5).astype(np.uint8))
    equal(pulled(cle.binary_xor, BLOBS, BLOBS.T[:48, :48].repeat(2, 1)[:, :64].copy()),
          BLOBS ^ BLOBS.T[:48, :48].repeat(2, 1)[:, :64])


@test
def gaussian_blur():
    for name, x in BOTH:
        got = pulled(cle.gaussian_blur, x, sigma_x=2, sigma_y=2, sigma_z=2 if x.ndim == 3 else 0)
        close(got, nd.gaussian_filter(x, 2, mode="nearest"), 0, 5e-3, name)


@test
def filters_of_boxes():
    for name, x in BOTH:
        around = windows(x)
        close(pulled(cle.mean_box, x, radius_x=1, radius_y=1, radius_z=1), around.mean(-1), 1e-5, 0, "mean " + name)
        equal(pulled(cle.maximum_box, x, radius_x=1, radius_y=1, radius_z=1), around.max(-1), "maximum " + name)
        equal(pulled(cle.minimum_box, x, radius_x=1, radius_y=1, radius_z=1), around.min(-1), "minimum " + name)
        equal(pulled(cle.median_box, x, radius_x=1, radius_y=1, radius_z=1), np.median(around, -1), "median " + name)


@test
def edges():
    got = pulled(cle.sobel, FLAT)[1:-1, 1:-1]
    expected = np.hypot(nd.sobel(FLAT, 0), nd.sobel(FLAT, 1))[1:-1, 1:-1]
    close(got, expected, 1e-5, 1e-6)
    inner = np.s_[1:-1, 1:-1]
    laplace = pulled(cle.laplace_box, FLAT)[inner]
    close(laplace, -nd.convolve(FLAT, np.array([[1, 1, 1], [1, -8, 1], [1, 1, 1]], np.float32))[inner], 1e-5, 1e-5)


@test
def morphology():
    box = np.ones((3, 3))
    equal(pulled(cle.dilate_box, BLOBS)[1:-1, 1:-1], nd.binary_dilation(BLOBS, box)[1:-1, 1:-1].astype(np.uint8))
    equal(pulled(cle.erode_box, BLOBS)[1:-1, 1:-1], nd.binary_erosion(BLOBS, box)[1:-1, 1:-1].astype(np.uint8))


@test
def projections():
    equal(pulled(cle.maximum_z_projection, SOLID), SOLID.max(0))
    equal(pulled(cle.minimum_y_projection, SOLID).ravel(), SOLID.min(1).ravel())
    close(pulled(cle.sum_x_projection, SOLID).ravel().sum(), SOLID.sum(dtype=np.float64), 1e-5)


@test
def transpositions():
    equal(pulled(cle.transpose_xy, FLAT), FLAT.T)
    equal(pulled(cle.transpose_xz, SOLID), SOLID.transpose(2, 1, 0))
    equal(pulled(cle.flip, FLAT, flip_x=True, flip_y=False, flip_z=False), FLAT[:, ::-1])


@test
def statistics():
    close(cle.sum_of_all_pixels(cle.push(SOLID)), SOLID.sum(dtype=np.float64), 1e-5)
    equal(np.float32(cle.maximum_of_all_pixels(cle.push(SOLID))), SOLID.max())
    got = pulled(cle.histogram, FLAT, num_bins=16, minimum_intensity=0, maximum_intensity=1).ravel()
    true(got.sum() == FLAT.size, f"the histogram has {got.sum()} pixels, and the image {FLAT.size}")


@test
def labels():
    got = pulled(cle.connected_component_labeling, BLOBS, connectivity="box")
    expected, count = nd.label(BLOBS, np.ones((3, 3)))
    true(int(got.max()) == count, f"{int(got.max())} labels, and {count} are expected")
    pairs = set(zip(got.ravel().tolist(), expected.ravel().tolist()))
    true(len(pairs) == count + 1, f"{len(pairs) - 1} pairs of labels of {count} components")


@test(needs="images")
def interpolation():
    """Transforms use images of OpenCL."""
    got = pulled(cle.scale, FLAT, factor_x=2, factor_y=2, centered=False, interpolate=False, resize=True)
    equal(got.shape, (80, 114))
    equal(got[::2, ::2], FLAT)


run()
