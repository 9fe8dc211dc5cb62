// SPDX-License-Identifier: Apache-2.0
// Makes pieces of results into write-backs, and frees the entries.
//
// Contract: begin_i stores warp, register and lanes of an entry. in_* are pieces. wb_* is a channel. wb_last_o marks
// the piece after which no lane of its entry is missing; end_o frees that entry at the same time. left_mask_o: the
// lanes that entry left_entry_i is still missing. An entry does not begin while a piece of it is taken.
// State saved at preemption: none; it drains.
//
// The lanes that an entry is missing are where its words of `begun` and `taken` differ. A beginning writes the one word
// and a piece the other, so each table has a single write port and is in LUT memory. Nothing clears them: a beginning
// starts from what `taken` contains.
module lsu_writeback #(
    parameter int LANES = 16,   // lanes, one work-item each
    parameter int WARPS = 16,   // warps, or {generation, warp}
    parameter int ENTRY_W = 6,  // bits of an entry
    localparam int WW = $clog2(WARPS)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                begin_i,
    input  logic [ENTRY_W-1:0]  begin_entry_i,
    input  logic [WW-1:0]       begin_warp_i,
    input  logic [4:0]          begin_rd_i,
    input  logic [LANES-1:0]    begin_mask_i,
    input  logic                in_valid_i,
    output logic                in_take_o,
    input  logic [ENTRY_W-1:0]  in_entry_i,
    input  logic [LANES-1:0]    in_mask_i,
    input  logic [LANES*32-1:0] in_data_i,
    input  logic [ENTRY_W-1:0]  left_entry_i,
    output logic [LANES-1:0]    left_mask_o,
    output logic                end_o,
    output logic [ENTRY_W-1:0]  end_entry_o,
    output logic [WW-1:0]       end_warp_o,
    output logic                wb_valid_o,
    input  logic                wb_ready_i,
    output logic [WW-1:0]       wb_warp_o,
    output logic [4:0]          wb_rd_o,
    output logic [LANES-1:0]    wb_mask_o,
    output logic [LANES*32-1:0] wb_data_o,
    output logic                wb_last_o
);
  (* ram_style = "distributed" *) logic [WW+5-1:0] who[0:(1<<ENTRY_W)-1];
  (* ram_style = "distributed" *) logic [LANES-1:0] begun[0:(1<<ENTRY_W)-1];
  (* ram_style = "distributed" *) logic [LANES-1:0] taken[0:(1<<ENTRY_W)-1];
  logic room, take;
  logic [LANES-1:0] left;

  assign room = !wb_valid_o || wb_ready_i;
  assign take = room && in_valid_i;
  assign in_take_o = take;
  assign end_entry_o = in_entry_i;
  assign left = (begun[end_entry_o] ^ taken[end_entry_o]) & ~in_mask_i;
  assign left_mask_o = begun[left_entry_i] ^ taken[left_entry_i];
  assign end_o = take && left == '0;
  assign end_warp_o = who[end_entry_o][5+:WW];

  always_ff @(posedge clk_i) begin
    if (begin_i) begin
      who[begin_entry_i] <= {begin_warp_i, begin_rd_i};
      begun[begin_entry_i] <= taken[begin_entry_i] ^ begin_mask_i;
    end
    if (take) begin
      taken[end_entry_o] <= begun[end_entry_o] ^ left;
      {wb_warp_o, wb_rd_o} <= who[end_entry_o];
      wb_mask_o <= in_mask_i;
      wb_data_o <= in_data_i;
      wb_last_o <= end_o;
    end
    if (room) wb_valid_o <= take;
    if (rst_i) wb_valid_o <= 1'b0;
  end

  check_channel #(.WIDTH(WW + 5 + LANES + LANES * 32 + 1)) u_check_wb (
      .clk_i,
      .rst_i,
      .valid_i(wb_valid_o),
      .ready_i(wb_ready_i),
      .data_i({wb_warp_o, wb_rd_o, wb_mask_o, wb_data_o, wb_last_o})
  );

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      begins_before_its_pieces: assert (!(begin_i && take && begin_entry_i == end_entry_o));
    end
  end
`endif
endmodule
