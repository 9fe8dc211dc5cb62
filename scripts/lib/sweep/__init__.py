# SPDX-License-Identifier: Apache-2.0
"""Sweeps: kernels on devices of several geometries with several memories (docs/sweeps.md).

    description = sweep.read(file)          # spec.py: the description of a sweep; spec.Error names line and column
    cache = sweep.Cache(folder, prefix)     # cache.py: devices and results of points; prefix: the build or installation
    for point in sweep.points(description):
        row = sweep.run_point(point, cache)

A point is a dictionary of plain values, and so is a row: both go through JSON, and to other machines. run_point depends
on the point, on the files that a kernel's `tern run` reads, and on the build alone. It may run in several threads and
processes that share a cache. It builds the point's device if the cache has none; cache.device(point) does only that.
"""
from sweep.cache import Cache
from sweep.point import run_point
from sweep.spec import Error, points, read

__all__ = ["Cache", "Error", "points", "read", "run_point"]
