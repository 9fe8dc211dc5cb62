// SPDX-License-Identifier: Apache-2.0
// Tags of the L1: direct mapped. The index is hashed with the next bits of the line address, so that strides that are
// powers of two spread over the cache.
//
// Contract: look_i loads a line address. From the next cycle hit_o tells whether the line is in the L1, as of all
// writes of earlier cycles, and index_o where. own_i adds the loaded line (own_set_i) or removes it. put_i, never with
// own_i, adds put_line_i, at put_index_o. clear_i removes all lines.
// State saved at preemption: none; the L1 is write-through.
//
// look_i, own_i and put_i come late in the cycle, so every comparison between their lines is made earlier, each by
// itself. A write enters the tables one cycle after it was given (write_*), since the choice of its place would follow
// own_i and put_i. Until then a lookup takes it from write_*.
module lsu_tags #(
    parameter int LINES = 256,  // lines of 64 bytes
    localparam int IW = $clog2(LINES)
) (
    input  logic          clk_i,
    input  logic          clear_i,
    input  logic          look_i,
    input  logic [25:0]   look_line_i,
    output logic          hit_o,
    output logic [IW-1:0] index_o,
    input  logic          own_i,
    input  logic          own_set_i,
    input  logic          put_i,
    input  logic [25:0]   put_line_i,
    output logic [IW-1:0] put_index_o
);
  localparam int TW = 26 - IW;

  logic [TW-1:0] tags[0:LINES-1];
  logic [LINES-1:0] valid_q;
  logic present_q;
  logic [TW-1:0] found_q, tag_q;
  logic [IW-1:0] index_q, look_index;
  // Equal indexes: of this lookup and the one before; of this lookup and put; of the lookup before and put.
  logic own_looked, put_looked, put_own;
  // The write that was given in the cycle before, and whether it is at the index of this lookup.
  logic write_q, write_set_q, write_looked;
  logic [TW-1:0] write_tag_q;
  logic [IW-1:0] write_index_q;

  assign look_index = look_line_i[IW-1:0] ^ look_line_i[IW+:IW];
  assign put_index_o = put_line_i[IW-1:0] ^ put_line_i[IW+:IW];
  assign own_looked = index_q == look_index;
  assign put_looked = put_index_o == look_index;
  assign put_own = put_index_o == index_q;
  assign write_looked = write_q && write_index_q == look_index;
  assign hit_o = present_q && found_q == tag_q;
  assign index_o = index_q;

  always_ff @(posedge clk_i) begin
    write_q <= (put_i || own_i) && !clear_i;
    write_set_q <= put_i || own_set_i;
    write_index_q <= put_i ? put_index_o : index_q;
    write_tag_q <= put_i ? put_line_i[25:IW] : tag_q;
    if (write_q && write_set_q) tags[write_index_q] <= write_tag_q;
    if (write_q) valid_q[write_index_q] <= write_set_q;
    if (look_i) begin
      index_q   <= look_index;
      tag_q     <= look_line_i[25:IW];
      found_q   <= write_looked ? write_tag_q : tags[look_index];
      present_q <= write_looked ? write_set_q : valid_q[look_index];
    end
    // A write of this cycle is newer than what was read.
    if (own_i && (!look_i || own_looked)) begin
      if (own_set_i) found_q <= tag_q;
      present_q <= own_set_i;
    end
    if (put_i && (look_i ? put_looked : put_own)) begin
      found_q <= put_line_i[25:IW];
      present_q <= 1'b1;
    end
    if (clear_i) begin
      valid_q   <= '0;
      present_q <= 1'b0;
    end
  end
endmodule
