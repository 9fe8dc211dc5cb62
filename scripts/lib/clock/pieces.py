# SPDX-License-Identifier: Apache-2.0
"""The pieces of the device whose clock scripts/clock finds, and the devices that they are taken from."""
import typing

TARGET_MHZ = 70  # Each piece is to reach it. It is also the clock that nextpnr is asked for.

# Parameters of tern_kernel. A piece has the parameters that it has in its device.
DEVICES = {"default": {"ENGINES": 2, "LANES": 16, "WARPS": 16, "LMEM_KIB": 64},
           "small": {"ENGINES": 2, "LANES": 8, "WARPS": 8, "LMEM_KIB": 64},
           "tiny": {"ENGINES": 1, "LANES": 4, "WARPS": 4, "LMEM_KIB": 16}}


class Piece(typing.NamedTuple):
    """module: its name. device: a smaller one than the default device where the piece would not fit into the chip. cut:
    modules inside the piece that are left out: what they drive comes from registers, what they read goes to registers.
    """
    module: str
    device: str = "default"
    cut: tuple = ()


# From the small to the large, so that the first figures are there early.
PIECES = {
    "fp_fma": Piece("fp_fma"),
    "div_lane": Piece("div_lane"),
    "simt_lane": Piece("simt_lane"),
    "simt_icache": Piece("simt_icache"),
    "simt_context": Piece("simt_context"),
    "simt_dispatch": Piece("simt_dispatch"),
    "command_processor": Piece("command_processor"),
    "mover": Piece("mover"),
    "mmu": Piece("mmu"),
    "lsu_coalesce": Piece("lsu_coalesce"),
    "lsu_local": Piece("lsu_local"),
    "simt_lsu": Piece("simt_lsu", "small"),
    "mem_fabric": Piece("mem_fabric"),
    "simt_core": Piece("simt_core", cut=("simt_lane", "div_lane")),
}
