# SPDX-License-Identifier: Apache-2.0
"""Independent checks of the demo's results: `edges BEFORE AFTER` and `eigen MATRIX RESULT`. Exit 0 if they agree."""
import pathlib
import sys

import numpy as np


def edges(before, after):
    from PIL import Image
    rgb = np.asarray(Image.open(before).convert("RGB")).astype(np.int64)
    grey = np.pad((rgb @ [77, 150, 29]) // 256, 1, mode="edge")
    smooth, differ = np.array([1, 2, 1]), np.array([-1, 0, 1])
    def convolve(k):
        h, w = rgb.shape[:2]
        return sum(k[i, j] * grey[i:i + h, j:j + w] for i in range(3) for j in range(3))
    want = np.minimum(abs(convolve(np.outer(smooth, differ))) + abs(convolve(np.outer(differ, smooth))), 255)
    wrong = int((np.asarray(Image.open(after)).astype(np.int64) != want).sum())
    if wrong:
        print(f"edges: {wrong} of {want.size} pixels differ")
    return wrong == 0


def eigen(matrix, result):
    lines = pathlib.Path(matrix).read_text().splitlines()
    rows = [x for x in lines if not x.startswith("%")]
    symmetric = "symmetric" in lines[0]
    n = int(rows[0].split()[0])
    a = np.zeros((n, n))
    for text in rows[1:]:
        if text.strip():
            r, c, v = text.split()
            a[int(r) - 1, int(c) - 1] = float(v)
            if symmetric:
                a[int(c) - 1, int(r) - 1] = float(v)
    values = np.linalg.eigvals(a)
    want = float(values[np.argmax(abs(values))].real)
    got = float(pathlib.Path(result).read_text())
    far = abs(got - want) / abs(want)
    if far > 2e-4:
        print(f"eigen: {got} instead of {want} (relative difference {far:.1e})")
    return far <= 2e-4


if __name__ == "__main__":
    try:
        sys.exit(0 if {"edges": edges, "eigen": eigen}[sys.argv[1]](*sys.argv[2:]) else 1)
    except OSError as e:
        print(f"{e.filename}: {e.strerror}")
        sys.exit(1)
