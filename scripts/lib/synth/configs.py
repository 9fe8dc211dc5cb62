# SPDX-License-Identifier: Apache-2.0
"""The configurations of the device whose figures tests/synth/baseline.json records."""
CONFIGS = {"engines-1": ("tern_kernel", {"ENGINES": 1}), "engines-2": ("tern_kernel", {"ENGINES": 2}),
           "engines-4": ("tern_kernel", {"ENGINES": 4}),
           "ports-2": ("tern_top", {"ENGINES": 2, "PORTS": 2}),  # A kernel of Vitis has one memory port.
           "memory-16g": ("tern_kernel", {"MEM_PAGES": 1 << 22})}
ONLY = {"memory-16g": {"dirty_plane"}}  # In these configurations only the named units are counted.
