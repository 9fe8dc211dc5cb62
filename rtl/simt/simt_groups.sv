// SPDX-License-Identifier: Apache-2.0
// Stores which work-group a hardware warp runs and which warp of that group it is, so that a fault can name its
// work-item.
//
// Contract: launch_i writes an entry of launch_warp_i; it never comes with put_i. The warps of a group are launched one
// after another, the first with launch_first_i. group_o and member_o are combinational from {gen_i, warp_i} and valid
// only for a warp that has been launched. Each warp has two entries that its launches use alternately; gen_o tells the
// one in use. The reason: a store of a warp may still fault when the warp already runs another group. simt_lsu tells
// when a warp may be launched again.
//
// State saved at preemption: group_q and member_q of the entries in use. In a resume, launch_keep_i writes the entry of
// a warp again without switching to the other; put_i writes the entry for a memory instruction, which may be all that
// is left of its group.
//
// simt_csr stores the same ids by group slot, but its read port belongs to the pipeline. A second table in LUT RAM
// costs as much as a second port and saves the path from warp to slot.

module simt_groups #(
    parameter int WARPS = 16,  // hardware warps
    localparam int WW = $clog2(WARPS)
) (
    input  logic          clk_i,
    input  logic          rst_i,
    input  logic          launch_i,
    input  logic          launch_first_i,
    input  logic          launch_keep_i,    // writes the entry in use instead of switching
    input  logic [WW-1:0] launch_warp_i,
    input  logic [95:0]   launch_group_i,   // {z, y, x}
    input  logic          put_i,            // writes the entry in use of put_warp_i
    input  logic [WW-1:0] put_warp_i,
    input  logic [95:0]   put_group_i,
    input  logic [WW-1:0] put_member_i,
    output logic [WARPS-1:0] gen_o,
    input  logic          gen_i,
    input  logic [WW-1:0] warp_i,
    output logic [95:0]   group_o,
    output logic [WW-1:0] member_o
);

  logic [95:0]   group_q [0:2*WARPS-1];
  logic [WW-1:0] member_q [0:2*WARPS-1];
  logic [WARPS-1:0] gen_q;
  logic [WW:0]   entry;
  logic          flip;
  logic [WW-1:0] next_q, member;

  assign member   = launch_first_i ? '0 : next_q;
  assign flip     = launch_i && !launch_keep_i;
  assign entry    = launch_i ? {gen_q[launch_warp_i] ^ flip, launch_warp_i} : {gen_q[put_warp_i], put_warp_i};
  assign gen_o    = gen_q;
  assign group_o  = group_q[{gen_i, warp_i}];
  assign member_o = member_q[{gen_i, warp_i}];

  always_ff @(posedge clk_i) begin
    if (launch_i || put_i) begin
      group_q[entry]  <= launch_i ? launch_group_i : put_group_i;
      member_q[entry] <= launch_i ? member : put_member_i;
    end
    if (launch_i) next_q <= member + 1'b1;
    if (flip) gen_q[launch_warp_i] <= !gen_q[launch_warp_i];
    if (rst_i) gen_q <= '0;
  end

endmodule
