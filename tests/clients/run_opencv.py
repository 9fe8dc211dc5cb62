# SPDX-License-Identifier: Apache-2.0
"""OpenCV: operations of its T-API (cv2.UMat), compared with the same operations without OpenCL.

An operation that OpenCV does on the processor instead, though it is given a UMat, is a failure: each operation must
compile a program that was not there before.
"""
import os

os.environ["OPENCV_OPENCL_RAISE_ERROR"] = "1"  # An error of OpenCL is an error, and no reason for another way.
os.environ["OPENCV_OPENCL_CACHE_ENABLE"] = "0"

import cv2  # noqa: E402 pylint: disable=wrong-import-position
import numpy as np  # noqa: E402 pylint: disable=wrong-import-position

from client import close, compiled, device, rng, run, test, true  # noqa: E402 pylint: disable=wrong-import-position

R = rng("pictures")
COLOURS = R.integers(0, 256, (96, 128, 3)).astype(np.uint8)
GREY = cv2.GaussianBlur(R.integers(0, 256, (96, 128)).astype(np.uint8), (3, 3), 0)
OTHER = R.integers(0, 256, (96, 128)).astype(np.uint8)
FLOATS, MORE = R.random((96, 128), dtype=np.float32), R.random((96, 128), dtype=np.float32)
KERNEL = np.ones((3, 3), np.uint8)
TURN = cv2.getRotationMatrix2D((64, 48), 30, 1.1)
BENT = np.array([[1, .1, 3], [.05, 1, -2], [1e-4, 2e-4, 1]])
TABLE = R.permutation(256).astype(np.uint8)

# By name: the operation, whose argument m makes a UMat of an array, or returns it; and the greatest difference.
OPERATIONS = {
    "add": (lambda m: cv2.add(m(GREY), m(OTHER)), 0),
    "multiply": (lambda m: cv2.multiply(m(FLOATS), m(MORE), scale=1.5), 1e-6),
    "add_weighted": (lambda m: cv2.addWeighted(m(FLOATS), .3, m(MORE), .7, 1), 1e-6),
    "compare": (lambda m: cv2.compare(m(GREY), m(OTHER), cv2.CMP_GT), 0),
    "threshold": (lambda m: cv2.threshold(m(GREY), 100, 255, cv2.THRESH_BINARY)[1], 0),
    "bitwise_xor": (lambda m: cv2.bitwise_xor(m(GREY), m(OTHER)), 0),
    "look_up_table": (lambda m: cv2.LUT(m(GREY), m(TABLE)), 0),
    "flip": (lambda m: cv2.flip(m(COLOURS), -1), 0),
    "transpose": (lambda m: cv2.transpose(m(GREY)), 0),
    "grey_of_colours": (lambda m: cv2.cvtColor(m(COLOURS), cv2.COLOR_BGR2GRAY), 1),
    "hue": (lambda m: cv2.cvtColor(m(COLOURS), cv2.COLOR_BGR2HSV), 1),
    "gaussian_blur": (lambda m: cv2.GaussianBlur(m(GREY), (5, 5), 1.2), 1),
    "box_filter": (lambda m: cv2.boxFilter(m(GREY), -1, (7, 7)), 1),
    "median_blur": (lambda m: cv2.medianBlur(m(GREY), 3), 0),
    "bilateral_filter": (lambda m: cv2.bilateralFilter(m(GREY), 5, 30, 3), 1),
    "erode": (lambda m: cv2.erode(m(GREY), KERNEL), 0),
    "sobel": (lambda m: cv2.Sobel(m(GREY), cv2.CV_16S, 1, 0), 0),
    "resize": (lambda m: cv2.resize(m(GREY), (200, 70), interpolation=cv2.INTER_LINEAR), 1),
    "warp_affine": (lambda m: cv2.warpAffine(m(GREY), TURN, (128, 96), flags=cv2.INTER_NEAREST), 0),
    "warp_perspective": (lambda m: cv2.warpPerspective(m(GREY), BENT, (128, 96), flags=cv2.INTER_NEAREST), 0),
    "discrete_fourier": (lambda m: cv2.dft(m(FLOATS), flags=cv2.DFT_COMPLEX_OUTPUT), 1e-2),
}


def compares(name, operation, most):
    def compare():
        before = compiled()
        cv2.ocl.setUseOpenCL(True)
        got = operation(cv2.UMat).get()
        cv2.ocl.finish()
        new = compiled() - before
        cv2.ocl.setUseOpenCL(False)
        close(got, operation(lambda array: array), 0, most)
        true(new > 0, "OpenCV did it without OpenCL")
    compare.__name__ = name
    return compare


@test
def the_device_is_found():
    true(cv2.ocl.haveOpenCL(), "OpenCV finds no OpenCL")
    found = cv2.ocl.Device.getDefault()
    true(found.available() and found.name() == device()["CL_DEVICE_NAME"], f"OpenCV's device is '{found.name()}'")


for name_, (operation_, most_) in OPERATIONS.items():
    test(compares(name_, operation_, most_))
run()
