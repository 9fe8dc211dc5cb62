# SPDX-License-Identifier: Apache-2.0
"""A plain OpenCL program computes a picture while `tern migrate` moves it from one ternd to another and back. Each
ternd has its own device. The picture is compared with NumPy's.

    demo_migrate.py BUILD BACKEND WIDTH HEIGHT ITERATIONS OUTPUT

Exit: 0 if the program has moved at least once in each direction and its picture is right.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image


FILM = 1 << 24  # Grains of the film, as in picture.c.


def grains(places):
    """Returns the grains at these places of a film. The generator's steps up to a place are combined by repeated
    squaring."""
    factor, term, x, left = 1664525, 1013904223, np.full(places.shape, 1, np.uint32), places.astype(np.uint32) + 1
    while left.any():
        x = np.where(left & 1, x * np.uint32(factor) + np.uint32(term), x)
        factor, term, left = factor * factor % 2**32, (factor + 1) * term % 2**32, left >> 1
    return x


def mandelbrot(width, height, most):
    """Computes the kernel's result with the same single-precision operations in the same order."""
    f = np.float32
    step = f(3) / f(width)
    px, py = np.meshgrid(np.arange(width, dtype=f), np.arange(height, dtype=f))
    cx, cy = f(-2.25) + px * step, f(-0.5) * step * f(height) + py * step
    x, y, n = np.zeros_like(cx), np.zeros_like(cx), np.full(cx.shape, most)
    inside = np.ones(cx.shape, bool)
    for i in range(most):
        xx, yy = x * x, y * y
        leaves = inside & (xx + yy > f(4))
        n[leaves] = i
        inside &= ~leaves
        y, x = np.where(inside, f(2) * (x * y) + cy, y), np.where(inside, (xx - yy) + cx, x)
    c = np.where(n == most, 0, 256 + n)
    at = np.arange(width * height, dtype=np.uint32).reshape(c.shape)
    grain = grains(at * np.uint32(2654435761) % np.uint32(FILM))
    channels = [c * factor % 256 ^ grain >> shift & 7 for factor, shift in ((7, 5), (5, 13), (11, 21))]
    return np.stack([*channels, np.full(c.shape, 255)], axis=-1)


class Card:
    """A ternd with its own device."""

    def __init__(self, build, backend, home, name):
        home.mkdir()
        self.name, self.socket = name, home / "sock"
        self.log = open(home / "log", "w+", encoding="utf-8")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen([build / "bin/ternd", "--socket", self.socket, "--backend", backend],
                                        stderr=self.log, env={**os.environ, "XDG_RUNTIME_DIR": str(home)})
        while not self.socket.exists() and self.process.poll() is None:
            time.sleep(0.05)

    def end(self):
        self.process.terminate()
        status = self.process.wait()
        if status:
            print((self.log.seek(0), self.log.read())[1], file=sys.stderr)
        return status


def run(build, output, here, there, size, kernels):
    """Returns the program's exit status and the number of its moves."""
    env = {k: v for k, v in os.environ.items() if k not in ("TERN_BACKEND", "TERN_CONFIG")}
    program = subprocess.Popen([build / "bin/tern-picture", kernels, *map(str, size), output / "picture.png"],
                               env={**env, "TERND_SOCKET": str(here.socket)}, stdout=subprocess.PIPE, text=True)
    moves = 0
    for line in program.stdout:
        row = int(line.split()[1])
        print(f"  {line.strip():20} computed on device {here.name}", flush=True)
        if (moves == 0 and row >= size[1] // 4) or (moves == 1 and row >= size[1] * 5 // 8):
            command = [build / "bin/tern", "migrate", "--from", here.socket, "--to", there.socket]
            r = subprocess.run([*command, "--report", output / f"migration-{moves + 1}.html"], env=env, check=False,
                               stdout=subprocess.PIPE, text=True)
            if r.returncode == 0:
                print(f"  moved from {here.name} to {there.name}: {r.stdout.splitlines()[-1]}", flush=True)
                here, there, moves = there, here, moves + 1
    return program.wait(), moves


def main(build, backend, width, height, most, output):
    build, output, size = pathlib.Path(build).resolve(), pathlib.Path(output), (int(width), int(height), int(most))
    output.mkdir(parents=True, exist_ok=True)
    kernels = pathlib.Path(__file__).resolve().parents[2] / "tests/demo"
    with tempfile.TemporaryDirectory() as folder:
        cards = [Card(build, backend, pathlib.Path(folder) / name, name) for name in "AB"]
        try:
            status, moves = run(build, output, *cards, size, kernels)
        finally:
            ended = [c.end() for c in cards]
    if status or any(ended) or moves != 2:
        print(f"the program ended with {status}, the two ternd with {ended}; it moved {moves} times instead of 2")
        return 1
    wrong = int((np.asarray(Image.open(output / "picture.png")).astype(int) != mandelbrot(*size)).any(axis=2).sum())
    if wrong:
        print(f"{wrong} of {size[0] * size[1]} pixels differ from NumPy's")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(f"usage: {__doc__.splitlines()[3].strip()}")
    sys.exit(main(*sys.argv[1:]))
