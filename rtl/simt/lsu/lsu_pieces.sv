// SPDX-License-Identifier: Apache-2.0
// Extends bytes and halfwords to 32 bits and queues the pieces of a result; both sources of pieces (memory and local
// memory) end in such a queue.
//
// Contract: start_i announces a piece, only while credit_o is high; credit_o, from registers, means a free place. Some
// cycles later the piece comes with in_valid_i, and one cycle after that it is offered on out_*, in order. idle_o: no
// piece is announced or queued.
// State saved at preemption: none; it drains.
//
// The queue uses credits instead of a stall, because a stall would have to hold the outputs of the memories before it.
module lsu_pieces #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int ENTRY_W = 6  // bits of an entry
) (
    input  logic                clk_i,
    input  logic                rst_i,
    output logic                credit_o,
    output logic                idle_o,
    input  logic                start_i,
    input  logic                in_valid_i,
    input  logic [ENTRY_W-1:0]  in_entry_i,
    input  logic [LANES-1:0]    in_mask_i,
    input  logic [1:0]          in_size_i,
    input  logic                in_unsigned_i,
    input  logic [LANES*2-1:0]  in_byte_i,
    input  logic [LANES*32-1:0] in_word_i,
    output logic                out_valid_o,
    input  logic                out_take_i,
    output logic [ENTRY_W-1:0]  out_entry_o,
    output logic [LANES-1:0]    out_mask_o,
    output logic [LANES*32-1:0] out_data_o
);
  logic [ENTRY_W+LANES-1:0] queue_head[0:7];
  logic [LANES*32-1:0] queue_data[0:7];
  logic [2:0] wr_q, rd_q;
  logic [3:0] count_q, credit_q;  // pieces queued; places neither queued nor announced
  logic [LANES*32-1:0] data;
  logic [15:0] half;
  logic [7:0] low;

  assign credit_o = credit_q != 4'd0;
  assign idle_o = credit_q == 4'd8;
  assign out_valid_o = count_q != 4'd0;
  assign {out_entry_o, out_mask_o} = queue_head[rd_q];
  assign out_data_o = queue_data[rd_q];

  always_ff @(posedge clk_i) begin
    if (in_valid_i) begin
      data = in_word_i;
      if (!in_size_i[1]) begin
        for (int i = 0; i < LANES; i++) begin
          half = in_byte_i[i*2+1] ? in_word_i[i*32+16+:16] : in_word_i[i*32+:16];
          low  = in_byte_i[i*2] ? half[15:8] : half[7:0];
          data[i*32+:32] = in_size_i[0] ? {{16{half[15] && !in_unsigned_i}}, half}
                                        : {{24{low[7] && !in_unsigned_i}}, low};
        end
      end
      queue_head[wr_q] <= {in_entry_i, in_mask_i};
      queue_data[wr_q] <= data;
      wr_q <= wr_q + 1'b1;
    end
    if (out_take_i) rd_q <= rd_q + 1'b1;
    count_q  <= count_q + 4'(in_valid_i) - 4'(out_take_i);
    credit_q <= credit_q + 4'(out_take_i) - 4'(start_i);
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
      count_q <= '0;
      credit_q <= 4'd8;
    end
  end
endmodule
