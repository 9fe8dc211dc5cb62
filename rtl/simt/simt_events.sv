// SPDX-License-Identifier: Apache-2.0
// Makes the pulses of the core for the performance counters of docs/spec/registers.yaml.
//
// Contract: ev_o.issue is a pulse for each instruction in X. ev_o.lanes is the number of active lanes. ev_o.fma is the
// same for instructions of the FMA unit, else zero. The stall pulses report the cycle before. stall_use: the
// instruction in R waited for a result or, as a fence, for earlier accesses (use_i). stall_unit: it waited for a unit
// (unit_i). stall_idle: warps are present, and none could be picked.
// State saved at preemption: none.

module simt_events #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int WARPS = 16   // hardware warps
) (
    input  logic             clk_i,
    input  logic [WARPS-1:0] present_i,    // warps that have been launched and have not ended
    input  logic             pick_valid_i,
    input  logic             use_i,
    input  logic             unit_i,
    input  logic             x_valid_i,
    input  logic             x_fma_i,
    input  logic [LANES-1:0] x_mask_i,
    output simt_core_pkg::events_t ev_o
);

  logic       stall_use_q, stall_unit_q, stall_idle_q;
  logic [5:0] lanes;

  always_ff @(posedge clk_i) begin
    stall_use_q  <= use_i;
    stall_unit_q <= unit_i;
    stall_idle_q <= present_i != '0 && !pick_valid_i;
  end

  always_comb begin
    lanes = 6'd0;
    if (x_valid_i) for (int i = 0; i < LANES; i++) lanes = lanes + {5'd0, x_mask_i[i]};
  end

  assign ev_o.issue      = x_valid_i;
  assign ev_o.lanes      = lanes;
  assign ev_o.stall_use  = stall_use_q;
  assign ev_o.stall_unit = stall_unit_q;
  assign ev_o.stall_idle = stall_idle_q;
  assign ev_o.fma        = x_fma_i ? lanes : 6'd0;

endmodule
