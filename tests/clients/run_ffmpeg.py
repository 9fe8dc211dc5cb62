# SPDX-License-Identifier: Apache-2.0
"""ffmpeg: its filters on OpenCL, compared with its filters of the processor, or with numpy, on frames that it makes."""
import numpy as np

from client import close, command, folder, run, test

WIDTH, HEIGHT, FRAMES = 96, 64, 3
def source(kind, size=f"{WIDTH}x{HEIGHT}"):
    return f"testsrc2=size={size}:rate=10:duration={FRAMES / 10},format={kind}"


def planes(name, graph, *inputs):
    """Runs a graph of filters and returns the bytes of its frames."""
    out = folder() / f"{name}.raw"
    command(["ffmpeg", "-hide_banner", "-v", "error", "-y", "-init_hw_device", "opencl=device", "-filter_hw_device",
             "device", *(word for i in inputs for word in ("-f", "lavfi", "-i", i)), "-filter_complex", graph, "-f",
             "rawvideo", out])
    return np.fromfile(out, np.uint8).astype(int).reshape(FRAMES, -1)


def frames(name, graph, shape):
    return planes(name, graph, source("yuv444p")).reshape(FRAMES, 3, *shape)


def same(name, on_opencl, on_processor, most, border=0, shape=(HEIGHT, WIDTH)):
    """Makes a test: no value of the two filters differs by more, the border left out, which they may treat in their
    own ways."""
    def compare():
        got = frames("opencl", f"hwupload,{on_opencl},hwdownload,format=yuv444p", shape)
        expected = frames("processor", on_processor, shape)
        inner = np.s_[..., border:shape[0] - border, border:shape[1] - border]
        close(got[inner], expected[inner], 0, most)
    compare.__name__ = name
    test(compare, needs="images")


same("up_and_down", "null", "null", 0)
same("average_blur", "avgblur_opencl=sizeX=2:sizeY=2", "avgblur=sizeX=2:sizeY=2", 1, border=3)
same("box_blur", "boxblur_opencl=2:1", "boxblur=2:1", 1, border=3)
same("erosion", "erosion_opencl", "erosion", 0, border=1)
same("dilation", "dilation_opencl", "dilation", 0, border=1)
same("sobel", "sobel_opencl=planes=1", "sobel=planes=1", 1, border=1)
same("prewitt", "prewitt_opencl=planes=1", "prewitt=planes=1", 1, border=1)
same("convolution", "convolution_opencl=0m=1 2 1 2 4 2 1 2 1:0rdiv=1/16", "convolution=0m=1 2 1 2 4 2 1 2 1:0rdiv=1/16",
     1, border=1)
same("transpose", "transpose_opencl=dir=clock", "transpose=dir=clock", 0, shape=(WIDTH, HEIGHT))


@test(needs="images")
def unsharp():
    """The filter of the processor has another mask, so this one is compared with numpy: x + a * (x - blurred x), with
    a mask exp(-16 d^2 / size^2) in x and in y, and the border repeated."""
    size, amounts = 5, (1.0, .5, .5)
    got = frames("opencl", f"hwupload,unsharp_opencl={size}:{size}:{amounts[0]}:{size}:{size}:{amounts[1]},hwdownload,"
                 "format=yuv444p", (HEIGHT, WIDTH))
    x = frames("source", "null", (HEIGHT, WIDTH)).astype(float)
    mask = np.exp(-16 * ((np.arange(size) - size // 2) / size)**2)
    padded = np.pad(x, ((0, 0), (0, 0), (size // 2,) * 2, (size // 2,) * 2), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (2, 3))
    blurred = np.einsum("fchwij,i,j->fchw", windows, mask / mask.sum(), mask / mask.sum())
    sharp = x + np.array(amounts)[:, None, None] * (x - blurred)
    close(got, np.clip(sharp, 0, 255), 0, .51)


@test(needs="images")
def overlay():
    """A picture over another one, in the colours of yuv420p."""
    inputs = source("yuv420p"), source("yuv420p", "32x24")
    got = planes("opencl", "[0]hwupload[a];[1]hwupload[b];[a][b]overlay_opencl=x=20:y=10,hwdownload,format=yuv420p",
                 *inputs)
    close(got, planes("processor", "[0][1]overlay=x=20:y=10:format=yuv420", *inputs), 0, 1)


run()
