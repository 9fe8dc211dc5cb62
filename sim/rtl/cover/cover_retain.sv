// SPDX-License-Identifier: Apache-2.0
// Memory instructions that are kept until their lines have passed, as coverage points. Bound into lsu_retain only by
// the coverage build.

module cover_retain #(
    parameter int LANES = 16,
    parameter int ENTRY_W = 6,
    parameter int TAG_W = 7,
    parameter int DEPTH_LOG2 = 5
) (
    input logic                  clk_i,
    input logic                  rst_i,
    input logic                  freeze_i,
    input logic                  push_i,
    input logic                  room_o,
    input logic                  crowded_o,
    input logic                  note_i,
    input logic                  end_i,
    input logic                  pass_q,
    input logic [DEPTH_LOG2-1:0] pass_slot_q,
    input logic                  forget,
    input logic [DEPTH_LOG2-1:0] done,
    input logic [DEPTH_LOG2-1:0] at,
    input logic [DEPTH_LOG2:0]   at_q,
    input logic [DEPTH_LOG2:0]   begun_q,
    input logic                  refuse_i,
    input logic [TAG_W-1:0]      refuse_tag_i,
    input logic                  drop_i,
    input logic                  settle_i,
    input logic                  cut_i,
    input logic                  look,
    input logic                  store,
    input logic [(1<<DEPTH_LOG2)-1:0] some_q,
    input logic [LANES-1:0]      left[0:(1<<DEPTH_LOG2)-1],
    input logic [LANES-1:0]      behind,
    input logic [LANES-1:0]      left_mask_i,
    input logic                  pend_valid_o,
    input logic                  pend_ready_i,
    input logic [LANES-1:0]      pend_mask_o,
    input logic [LANES-1:0]      pend_private_o,
    input logic [2*LANES-1:0]    masks[0:(1<<DEPTH_LOG2)-1],
    input logic [DEPTH_LOG2-1:0] owners[0:(1<<ENTRY_W)-1],
    input logic [ENTRY_W-1:0]    left_entry_o
);

  // offers: an instruction is taken out, to be saved or repeated; part: without some of its lanes
  // old: lanes of the instruction that were refused or dropped
  logic offers, part;
  logic [LANES-1:0] old;
  assign offers = pend_valid_o && pend_ready_i;
  assign old = some_q[at] ? left[at] : '0;
  assign part = pend_mask_o != masks[at][LANES-1:0];

  no_room:              cover property (@(posedge clk_i) !room_o && !freeze_i && !rst_i);
  crowded:              cover property (@(posedge clk_i) crowded_o);
  kept_beside_new:      cover property (@(posedge clk_i) push_i && forget);
  passes_before_older:  cover property (@(posedge clk_i) pass_q && pass_slot_q != done);
  ends_with_a_request:  cover property (@(posedge clk_i) end_i && note_i);
  ends_without_request: cover property (@(posedge clk_i) end_i && !note_i && !drop_i);
  rest_offered:         cover property (@(posedge clk_i) offers && !cut_i && !part);
  part_offered:         cover property (@(posedge clk_i) offers && !cut_i && part);
  private_offered:      cover property (@(posedge clk_i) offers && |pend_private_o);

  // after an absent page
  line_refused:         cover property (@(posedge clk_i) refuse_i && !refuse_tag_i[TAG_W-1]);
  store_refused:        cover property (@(posedge clk_i) refuse_i && refuse_tag_i[TAG_W-1]);
  line_dropped:         cover property (@(posedge clk_i) drop_i);
  nothing_left:         cover property (@(posedge clk_i) look && (store ? (old | behind) == '0 :
                                        owners[left_entry_o] == at && left_mask_i == '0));
  result_missing:       cover property (@(posedge clk_i) look && !store && owners[left_entry_o] == at &&
                                        left_mask_i != '0);
  entry_used_again:     cover property (@(posedge clk_i) look && !store && owners[left_entry_o] != at);
  store_refused_left:   cover property (@(posedge clk_i) look && store && old != '0);
  store_begun_left:     cover property (@(posedge clk_i) look && store && at_q == begun_q && behind != '0);
  store_not_begun:      cover property (@(posedge clk_i) look && store && at_q != begun_q && behind != '0);
  cut_offered:          cover property (@(posedge clk_i) offers && cut_i && !part);
  cut_part_offered:     cover property (@(posedge clk_i) offers && cut_i && part);
  settles_uncut:        cover property (@(posedge clk_i) settle_i && !cut_i && !pend_valid_o);

endmodule

bind lsu_retain cover_retain #(.LANES(LANES), .ENTRY_W(ENTRY_W), .TAG_W(TAG_W), .DEPTH_LOG2(DEPTH_LOG2)) u_cover (.*);
