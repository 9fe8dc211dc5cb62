# SPDX-License-Identifier: Apache-2.0
"""GEGL: operations on OpenCL, compared with the same without. Each must compile a program that was not there before."""
import os

import numpy as np
from PIL import Image

from client import close, command, compiled, folder, rng, run, test, true

OPERATIONS = {
    "brightness_contrast": "brightness-contrast contrast=1.5 brightness=0.1", "box_blur": "box-blur radius=3",
    "invert": "invert-linear", "levels": "levels in-low=0.1 in-high=0.8", "edges": "edge-laplace",
    "pixels": "pixelize size-x=8 size-y=8", "motion_blur": "motion-blur-linear length=10 angle=30",
    "mono_mixer": "mono-mixer", "temperature": "color-temperature", "opacity": "opacity value=0.5",
    "posterize": "posterize levels=4", "canvas": "texturize-canvas",
}


def picture():
    """Returns the file of a picture with smooth colours."""
    file = folder() / "in.png"
    if not file.exists():
        small = Image.fromarray(rng("picture").integers(0, 256, (16, 24, 3)).astype(np.uint8))
        small.resize((96, 64), Image.Resampling.BICUBIC).save(file)
    return file


def result(name, words, on_opencl):
    out = folder() / f"{name}-{on_opencl}.png"
    command(["gegl", picture(), "-o", out, "--", *words.split()],
            env={**os.environ, "GEGL_USE_OPENCL": "yes" if on_opencl else "no"})
    return np.asarray(Image.open(out).convert("RGBA")).astype(int)


def compares(name, words):
    def compare():
        before = compiled()
        got = result(name, words, True)
        true(compiled() > before, "GEGL did it without OpenCL")
        expected = result(name, words, False)
        true(expected.std() > 10, "the picture is empty")
        close(got, expected, 0, 1)
    compare.__name__ = name
    test(compare, needs="images")


for name_, words_ in OPERATIONS.items():
    compares(name_, words_)
run()
