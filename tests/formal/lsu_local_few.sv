// SPDX-License-Identifier: Apache-2.0
// lsu_local with few lanes, for the proof of lsu_local.svh.
module lsu_local_few #(
    localparam int LANES = 4,
    localparam int ENTRY_W = 2
) (
    input logic                clk_i,
    input logic                rst_i,
    input logic                scrub_i,
    input logic                push_i,
    input logic [2:0]          op_i,
    input logic [3:0]          amo_i,
    input logic [LANES-1:0]    mask_i,
    input logic [LANES*32-1:0] addr_i,
    input logic                hold_i,
    input logic                credit_i
);
  simt_op_pkg::lsu_req_t in;
  assign in.op = op_i;
  assign in.amo = amo_i;
  assign in.size = 2'd2;
  assign in.is_unsigned = 1'b0;
  assign in.rd = '0;
  assign in.pc = '0;
  assign in.lbase = '0;
  simt_op_pkg::lsu_scrub_t scrub;
  assign scrub.valid = scrub_i;
  assign scrub.first = '0;
  assign scrub.past = 11'd4;
  lsu_local #(.LANES(LANES), .WARPS(2), .ENTRY_W(ENTRY_W), .KIB(1)) u_local (
      .clk_i, .rst_i, .scrub_i(scrub), .scrub_busy_o(), .line_i('0), .line_ready_o(), .line_o(), .idle_o(), .push_i,
      .room_o(), .in_i(in), .in_warp_i('0), .in_entry_i('0), .in_mask_i(mask_i), .in_addr_i(addr_i), .in_data_i('0),
      .in_cmp_i('0), .hold_i, .place_valid_o(), .place_size_o(), .place_mask_o(), .place_low_o(), .place_data_o(),
      .placed_data_i('0), .placed_be_i('0), .credit_i, .start_o(), .words_valid_o(), .words_entry_o(),
      .words_mask_o(), .words_size_o(), .words_unsigned_o(), .words_low_o(), .words_o(), .store_end_o(),
      .store_warp_o()
  );
endmodule
