// SPDX-License-Identifier: Apache-2.0
// Holds frames between a side that makes them and one that takes them: 2^DEPTH_LOG2 entries of block memory.
//
// Contract: put_i appends a byte to the frame that is being made; end_i ends it, and from then on it comes out, its
// bytes and then an entry with last_o, which carries none; drop_i takes back what was put since the last end. At most
// one of the three a cycle. full_o: neither put nor end (drop instead). room_o: ROOM entries and more are free. Nothing
// of a frame comes out before its end: a frame whose check fails changes nothing.
module link_ring #(
    parameter int DEPTH_LOG2 = 11,  // 2048 of 9 bits are one block of an ECP5
    parameter int ROOM = 1
) (
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       put_i,
    input  logic [7:0] data_i,
    input  logic       end_i,
    input  logic       drop_i,
    output logic       full_o,
    output logic       room_o,
    output logic       valid_o,
    input  logic       ready_i,
    output logic       last_o,
    output logic [7:0] data_o
);
  logic [8:0] mem[0:(1<<DEPTH_LOG2)-1];
  logic [8:0] out_q;
  logic [DEPTH_LOG2-1:0] wr_q, end_q, rd_q, used_q;
  logic write;

  assign write = (put_i || end_i) && !full_o;
  assign full_o = &used_q;
  assign {last_o, data_o} = out_q;

  // as Yosys knows a block memory: one write, and one read with an enable
  always_ff @(posedge clk_i) begin
    if (write) mem[wr_q] <= {end_i, end_i ? 8'd0 : data_i};
    if (!valid_o || ready_i) out_q <= mem[rd_q];
  end

  always_ff @(posedge clk_i) begin
    // two cycles old, on the safe side: rd_q only goes forward, and put, end and drop wait for it
    used_q <= wr_q - rd_q + DEPTH_LOG2'(write);
    room_o <= used_q < DEPTH_LOG2'((1 << DEPTH_LOG2) - ROOM - 2);
    if (write) wr_q <= wr_q + 1'b1;
    if (end_i && !full_o) end_q <= wr_q + 1'b1;
    if (drop_i) wr_q <= end_q;
    if (!valid_o || ready_i) begin
      valid_o <= rd_q != end_q;
      if (rd_q != end_q) rd_q <= rd_q + 1'b1;
    end
    if (rst_i) begin
      wr_q <= '0;
      end_q <= '0;
      rd_q <= '0;
      used_q <= '0;
      room_o <= 1'b0;
      valid_o <= 1'b0;
    end
  end
endmodule
