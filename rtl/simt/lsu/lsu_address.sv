// SPDX-License-Identifier: Apache-2.0
// First stage of simt_lsu: decides for each lane of a memory instruction which memory its address is in, and maps the
// address.
//
// Contract: in_* is taken in each cycle with in_valid_i. One cycle later there is either fault_valid_o with the lowest
// faulting lane, or the lanes that access memory (out_global_o) and local memory (out_local_o), with out_addr_o. That
// is a virtual address, or a byte offset in the whole local memory. A misaligned address faults as misaligned in every
// window. With in_raw_i the addresses are mapped already: nothing is checked, and in_private_i tells which are of the
// private window.
// Example: private word w of lane i lies at the base of the warp's stacks + 4 * (LANES * w + i). So the same word of
// all lanes shares a line, or two lines with 32 lanes.
// State saved at preemption: none; it drains.
//
// The base of the warp's stacks is computed one cycle before the lanes need it, so no stage has two adders in series.
// The addresses are compared with the limits in that cycle too, each as if it were in that window, because what depends
// on a fault is a long path.
module lsu_address #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int LW = $clog2(LANES),
    localparam int WW = $clog2(WARPS)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic [31:0]         stack_i,        // base of the dispatch's private stacks
    input  logic [4:0]          stack_log2_i,   // log2 of the bytes of a lane's stack
    input  logic [16:0]         local_bytes_i,  // local memory of a group, bytes
    input  logic                in_valid_i,
    input  logic                in_raw_i,
    input  logic [LANES-1:0]    in_private_i,
    input  logic [1:0]          in_size_i,
    input  logic [WW-1:0]       in_warp_i,
    input  logic [LANES-1:0]    in_mask_i,
    input  logic [LANES*32-1:0] in_addr_i,
    input  logic [16:0]         in_lbase_i,     // first byte of the group's local memory
    output logic [LANES-1:0]    out_global_o,   // zero unless a valid instruction without fault is here
    output logic [LANES-1:0]    out_private_o,  // the lanes of out_global_o that come from the private window
    output logic [LANES-1:0]    out_local_o,    // the lanes that access local memory
    output logic [LANES*32-1:0] out_addr_o,
    output logic                fault_valid_o,
    output logic [7:0]          fault_code_o,
    output logic [31:0]         fault_va_o,
    output logic [LW-1:0]       fault_lane_o
);
  logic valid_q, raw_q;
  logic [1:0] size_q;
  logic [LANES-1:0] mask_q, marked_q;
  logic [LANES*32-1:0] addr_q;
  logic [16:0] lbase_q;
  logic [31:0] base_q;
  logic [LANES-1:0] overrun_q, overflow_q;  // outside the group's local memory, and outside the lane's stack
  logic [27:0] outside;                     // bits of an address that are zero inside a stack

  always_comb for (int b = 0; b < 28; b++) outside[b] = b >= 32'(stack_log2_i);
  always_ff @(posedge clk_i) begin
    valid_q <= in_valid_i && !rst_i;
    if (in_valid_i) begin
      raw_q    <= in_raw_i;
      marked_q <= in_private_i;
      size_q   <= in_size_i;
      mask_q   <= in_mask_i;
      addr_q   <= in_addr_i;
      lbase_q  <= in_lbase_i;
      base_q   <= stack_i + (32'(in_warp_i) << (stack_log2_i + 5'(LW)));
      for (int i = 0; i < LANES; i++) begin
        overrun_q[i]  <= in_addr_i[i*32+:27] >= {10'b0, local_bytes_i};
        overflow_q[i] <= |(in_addr_i[i*32+:28] & outside);
      end
    end
  end

  logic [LANES-1:0] local_lane, guard_lane, private_lane, misaligned, overrun, overflow, bad, lowest;
  always_comb begin
    local_lane = '0;
    guard_lane = '0;
    private_lane = '0;
    misaligned = '0;
    overrun = '0;
    overflow = '0;
    bad = '0;
    lowest = '0;
    out_addr_o = '0;
    fault_va_o = '0;
    fault_lane_o = '0;
    fault_code_o = '0;
    if (valid_q) begin
      for (int i = 0; i < LANES; i++) begin
        // The windows are the two highest sixteenths of the address space. The highest is private memory; the other is
        // local memory in its lower half and a guard in its upper half.
        private_lane[i] = &addr_q[i*32+28+:4] && !raw_q;
        local_lane[i] = addr_q[i*32+27+:5] == 5'b11100 && !raw_q;
        guard_lane[i] = addr_q[i*32+27+:5] == 5'b11101 && !raw_q;
        misaligned[i] = (size_q[0] && addr_q[i*32]) || (size_q[1] && |addr_q[i*32+:2]);
        overrun[i] = local_lane[i] && overrun_q[i];
        overflow[i] = guard_lane[i] || (private_lane[i] && overflow_q[i]);
        out_addr_o[i*32+:32] = private_lane[i] ? base_q + 32'({addr_q[i*32+2+:26], LW'(i), addr_q[i*32+:2]}) :
            local_lane[i] ? {15'b0, lbase_q + addr_q[i*32+:17]} : addr_q[i*32+:32];
      end
      bad = raw_q ? '0 : mask_q & (misaligned | overrun | overflow);
      if (|bad) begin
        lowest = bad & (~bad + 1'b1);
        for (int i = 0; i < LANES; i++) begin
          fault_va_o   = fault_va_o | ({32{lowest[i]}} & addr_q[i*32+:32]);
          fault_lane_o = fault_lane_o | ({LW{lowest[i]}} & LW'(i));
        end
        fault_code_o = |(lowest & misaligned) ? tern_spec_pkg::FAULT_MISALIGNED :
            |(lowest & overrun) ? tern_spec_pkg::FAULT_LOCAL_OVERRUN : tern_spec_pkg::FAULT_STACK_OVERFLOW;
      end
    end
  end

  assign fault_valid_o = |bad;
  assign out_global_o  = (valid_q && !fault_valid_o) ? mask_q & ~local_lane : '0;
  assign out_private_o = (valid_q && !fault_valid_o) ? mask_q & (raw_q ? marked_q : private_lane) : '0;
  assign out_local_o   = (valid_q && !fault_valid_o) ? mask_q & local_lane : '0;
endmodule
