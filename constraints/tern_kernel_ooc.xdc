# SPDX-License-Identifier: Apache-2.0
# Out-of-context synthesis of tern_kernel: the one clock, at the 300 MHz that every stage is cut for. In a Vitis build
# the platform brings the clock and this file is not read.
create_clock -name ap_clk -period 3.333 [get_ports ap_clk]
