// SPDX-License-Identifier: Apache-2.0
// A FIFO of whole frames: 2^DEPTH_LOG2 entries of block RAM.
//
// Contract: put_i appends a byte to the frame that is being written. end_i ends this frame. From then on the frame is
// read out: its bytes, followed by an entry with last_o, which carries no byte. drop_i discards the bytes since the
// last end. At most one of the three is high in a cycle. While full_o is high the writer may only drop. room_o is high
// when at least ROOM entries are free. No byte of a frame is read out before the end of the frame, so a frame whose
// check fails has no effect.
module link_ring #(
    parameter int DEPTH_LOG2 = 11,  // log2 of the entries; 2048 of 9 bits are one block RAM of an ECP5.
    parameter int ROOM = 1          // Free entries that room_o stands for.
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

  // Yosys infers a block RAM from one write port and one read port with an enable.
  always_ff @(posedge clk_i) begin
    if (write) mem[wr_q] <= {end_i, end_i ? 8'd0 : data_i};
    if (!valid_o || ready_i) out_q <= mem[rd_q];
  end

  always_ff @(posedge clk_i) begin
    // used_q is never too small: it includes the write of this cycle, and reads and drops only free entries. room_o is
    // a cycle older, which its margin of 2 entries covers.
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
