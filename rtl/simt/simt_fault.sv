// SPDX-License-Identifier: Apache-2.0
// Selects and reports faults that the core itself finds: illegal and environment instructions, invalid rounding modes,
// misaligned jump targets, failed fetches, and barriers that cannot open.
//
// Contract: r_fault_i, x_bad_rm_i and b_misaligned_i concern the instruction in that pipeline stage; r_fault_i is
// already qualified by R's valid. fetch_i concerns a warp that has no instruction in the pipeline. barrier_i concerns a
// group in which no warp can continue. fault_valid_o is a pulse in stage B. fault_o has the warp's number in the core
// and the lowest lane concerned; its group is zero. If several faults come in one cycle, the instruction has priority
// over the barrier, and the barrier over the fetch. The dispatch ends with any of them, except for a fetch whose page
// is absent, which therefore has the lowest priority.
// State saved at preemption: none; a fault ends the dispatch.
//
// All faults of instructions are reported from B, so that faults of a warp come in program order and share one priority
// encoder for the lane.

module simt_fault #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS),
    localparam int LW = $clog2(LANES)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic [7:0]       r_fault_i,         // fault code; FAULT_NONE: no fault
    input  logic [WW-1:0]    x_warp_i,
    input  logic [31:0]      x_pc_i,
    input  logic [LANES-1:0] x_mask_i,
    input  logic [LANES-1:0] x_bad_rm_i,
    input  logic [LANES-1:0] b_misaligned_i,
    input  logic [31:0]      b_misaligned_va_i,
    input  simt_core_pkg::fetch_fault_t fetch_i,
    input  logic [LANES-1:0] fetch_mask_i,
    input  logic             barrier_i,
    input  simt_core_pkg::waits_t waits_i,        // with barrier_i
    output logic             fault_valid_o,
    output tern_pkg::fault_t fault_o
);

  logic [7:0]       x_fault_q, b_fault_q;
  logic [LANES-1:0] b_lanes_q, lanes;
  logic [31:0]      b_pc_q;
  logic [WW-1:0]    b_warp_q;

  always_ff @(posedge clk_i) begin
    x_fault_q <= rst_i ? tern_spec_pkg::FAULT_NONE : r_fault_i;
    b_fault_q <= rst_i ? tern_spec_pkg::FAULT_NONE
               : (x_bad_rm_i != '0) ? tern_spec_pkg::FAULT_ILLEGAL_INSTRUCTION : x_fault_q;
    b_lanes_q <= (x_bad_rm_i != '0) ? x_bad_rm_i : x_mask_i;
    b_pc_q    <= x_pc_i;
    b_warp_q  <= x_warp_i;
  end

  always_comb begin
    fault_valid_o  = 1'b1;
    fault_o        = '0;
    fault_o.access = tern_spec_pkg::REG_ENGINE_IND_INFO_ACCESS_EXECUTE;
    fault_o.code   = b_fault_q;
    fault_o.va     = b_pc_q;
    fault_o.pc     = b_pc_q;
    fault_o.warp   = 6'(b_warp_q);
    lanes          = b_lanes_q;
    if (b_fault_q == tern_spec_pkg::FAULT_NONE) begin
      if (b_misaligned_i != '0) begin
        fault_o.code = tern_spec_pkg::FAULT_MISALIGNED;
        fault_o.va   = b_misaligned_va_i;
        lanes        = b_misaligned_i;
      end else if (barrier_i) begin
        fault_o.code = tern_spec_pkg::FAULT_BARRIER_DIVERGENCE;
        fault_o.va   = waits_i.pc;
        fault_o.pc   = waits_i.pc;
        fault_o.warp = 6'(waits_i.warp);
        lanes        = {{(LANES-1){1'b0}}, 1'b1} << waits_i.lane[LW-1:0];
      end else if (fetch_i.valid) begin
        fault_o.code = fetch_i.code;
        fault_o.va   = fetch_i.pc;
        fault_o.pc   = fetch_i.pc;
        fault_o.warp = 6'(fetch_i.warp);
        lanes        = fetch_mask_i;
      end else fault_valid_o = 1'b0;
    end
    if (fault_valid_o) for (int i = LANES - 1; i >= 0; i--) if (lanes[i]) fault_o.lane = 6'(i);
  end

endmodule
