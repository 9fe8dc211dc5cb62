# SPDX-License-Identifier: Apache-2.0
"""Small inputs of the demo (tests/demo) for a test."""
import PIL.Image


def make_inputs(folder):
    """Makes files, a picture and a matrix."""
    (folder / "files").mkdir(mode=0o755)
    for i in range(1, 5):
        (folder / "files" / str(i)).write_bytes(bytes(i * k % 256 for k in range(100 * i)))
    pixels = bytes((7 * x + 3 * y * c) % 256 for y in range(48) for x in range(64) for c in (1, 2, 3))
    PIL.Image.frombytes("RGB", (64, 48), pixels).save(folder / "photo.jpg")
    n = 24
    rows = [f"{i} {i} {i}.5" for i in range(1, n + 1)] + [f"{i + 1} {i} 0.25" for i in range(1, n)]
    (folder / "matrix.mtx").write_text("\n".join(["%%MatrixMarket matrix coordinate real symmetric",
                                                  f"{n} {n} {len(rows)}", *rows, ""]))
