// SPDX-License-Identifier: Apache-2.0
// Memory instructions that are kept until their lines have passed, as coverage points. Bound into lsu_retain only by
// the coverage build.

module cover_retain #(
    parameter int LANES = 16,
    parameter int DEPTH_LOG2 = 5
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic                  freeze_i,
    input logic                  push_i,
    input logic                  room_o,
    input logic                  note_i,
    input logic                  end_i,
    input logic                  pass_q,
    input logic [DEPTH_LOG2-1:0] pass_slot_q,
    input logic                  forget,
    input logic [DEPTH_LOG2-1:0] done,
    input logic [DEPTH_LOG2-1:0] at,
    input logic                  drop_i,
    input logic                  settle_i,
    input logic                  cut_i,
    input logic                  pend_valid_o,
    input logic                  pend_ready_i,
    input logic [LANES-1:0]      pend_mask_o,
    input logic [2*LANES-1:0]    masks[0:(1<<DEPTH_LOG2)-1]
);

  // offers: an instruction is taken to be saved or done again; part: not all its lanes are
  logic offers, part;
  assign offers = pend_valid_o && pend_ready_i;
  assign part = pend_mask_o != masks[at][LANES-1:0];

  no_room:              cover property (@(posedge clk_i) !room_o && !freeze_i && !rst_i);
  kept_beside_new:      cover property (@(posedge clk_i) push_i && forget);
  passes_before_older:  cover property (@(posedge clk_i) pass_q && pass_slot_q != done);
  ends_with_a_request:  cover property (@(posedge clk_i) end_i && note_i);
  ends_without_request: cover property (@(posedge clk_i) end_i && !note_i && !drop_i);
  rest_offered:         cover property (@(posedge clk_i) offers && !cut_i && !part);
  part_offered:         cover property (@(posedge clk_i) offers && !cut_i && part);
  settles_uncut:        cover property (@(posedge clk_i) settle_i && !cut_i && !pend_valid_o);

endmodule

bind lsu_retain cover_retain #(.LANES(LANES), .DEPTH_LOG2(DEPTH_LOG2)) u_cover (.*);
