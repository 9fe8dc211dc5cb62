// SPDX-License-Identifier: Apache-2.0
// The performance counters of an engine, 64 bits each, in the order of the registers cnt_busy ... cnt_wr_lines.
//
// Contract: each counts its event from the device's reset on; a reset of the engine leaves it alone. read_o is the
// counter that select_i names, zero beyond the last. A reader of both halves reads the high one twice. Preemption saves
// nothing of it: the driver takes differences.
module engine_counters (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        ev_busy_i,
    input  logic        ev_issue_i,
    input  logic [ 5:0] ev_lanes_i,
    input  logic        ev_stall_use_i,
    input  logic        ev_stall_unit_i,
    input  logic        ev_stall_idle_i,
    input  logic [ 5:0] ev_fma_i,
    input  logic        ev_l1_hit_i,
    input  logic        ev_l1_miss_i,
    input  logic        ev_ic_miss_i,
    input  logic        ev_tlb_hit_i,
    input  logic        ev_tlb_miss_i,
    input  logic        ev_rd_i,
    input  logic        ev_wr_i,
    input  logic [ 4:0] select_i,
    output logic [63:0] read_o
);
  localparam int N = 14;

  logic [6*N-1:0] add_q;  // registered: the sources are far away
  logic [63:0] count[0:N-1];

  assign read_o = select_i < 5'(N) ? count[select_i[3:0]] : '0;

  always_ff @(posedge clk_i) begin
    add_q <= {5'b0, ev_wr_i, 5'b0, ev_rd_i, 5'b0, ev_tlb_miss_i, 5'b0, ev_tlb_hit_i, 5'b0, ev_ic_miss_i,
              5'b0, ev_l1_miss_i, 5'b0, ev_l1_hit_i, ev_fma_i, 5'b0, ev_stall_idle_i, 5'b0, ev_stall_unit_i,
              5'b0, ev_stall_use_i, ev_lanes_i, 5'b0, ev_issue_i, 5'b0, ev_busy_i};
    if (|add_q)
      for (int i = 0; i < N; i++) count[i] <= count[i] + {58'b0, add_q[6*i+:6]};
    if (rst_i) begin
      add_q <= '0;
      for (int i = 0; i < N; i++) count[i] <= '0;
    end
  end
endmodule
