// SPDX-License-Identifier: Apache-2.0
// Makes the pulses of the core for the performance counters of docs/spec/registers.yaml.
//
// Contract: ev_issue_o is a pulse for each instruction in X. ev_lanes_o is the number of its active lanes; ev_fma_o is
// the same for instructions of the FMA unit, else zero. The stall pulses report the cycle before. ev_stall_use_o: the
// instruction in R waited for a result or, as a fence, for earlier accesses (use_i). ev_stall_unit_o: it waited for a
// unit (unit_i). ev_stall_idle_o: warps are present, and none could be picked.
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
    output logic             ev_issue_o,
    output logic [5:0]       ev_lanes_o,
    output logic             ev_stall_use_o,
    output logic             ev_stall_unit_o,
    output logic             ev_stall_idle_o,
    output logic [5:0]       ev_fma_o
);

  always_ff @(posedge clk_i) begin
    ev_stall_use_o  <= use_i;
    ev_stall_unit_o <= unit_i;
    ev_stall_idle_o <= present_i != '0 && !pick_valid_i;
  end

  assign ev_issue_o = x_valid_i;

  always_comb begin
    ev_lanes_o = 6'd0;
    if (x_valid_i) for (int i = 0; i < LANES; i++) ev_lanes_o = ev_lanes_o + {5'd0, x_mask_i[i]};
    ev_fma_o = x_fma_i ? ev_lanes_o : 6'd0;
  end

endmodule
