# SPDX-License-Identifier: Apache-2.0
"""darktable: its test of OpenCL, and the development of a picture, compared with the same without OpenCL."""
import re

import numpy as np
from PIL import Image

from client import close, command, folder, rng, run, test, true


@test(needs="images")
def cltest():
    """The device is accepted, and all programs of darktable are compiled."""
    told = command(["darktable-cltest"], cwd=folder())
    print(told)
    true("FINALLY: opencl is AVAILABLE" in told, "darktable-cltest finds no device:\n" + told[-2000:])
    failed = [line for line in told.splitlines() if re.search(r"failed to compile|could not build", line)]
    true(not failed, "\n".join(failed))


@test(needs="images")
def development():
    r = rng("picture")
    small = Image.fromarray(r.integers(0, 256, (16, 24, 3)).astype(np.uint8))
    small.resize((96, 64), Image.Resampling.BICUBIC).save(folder() / "in.png")
    found = {}
    # Without its checksum darktable measures the device, and turns a slow one off.
    on_device = ["-d", "opencl", "-d", "perf", "--conf", "opencl_checksum=OFF"]
    for name, more in ("opencl", on_device), ("processor", ["--disable-opencl"]):
        told = command(["darktable-cli", "in.png", f"{name}.png", "--core", "--library", ":memory:", "--configdir",
                        folder() / f"config-{name}", *more], cwd=folder())
        found[name] = np.asarray(Image.open(folder() / f"{name}.png")).astype(int)
        if name == "opencl":
            print(told)
            done = re.findall(r"processed `(.*?)' on GPU", told)
            true({"input color profile", "output color profile"} <= set(done),
                 f"only {done} were done on the device:\n{told[-3000:]}")
    true(found["processor"].std() > 10, "the picture is empty")
    close(found["opencl"], found["processor"], 0, 2)


run()
