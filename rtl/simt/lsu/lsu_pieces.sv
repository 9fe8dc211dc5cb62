// SPDX-License-Identifier: Apache-2.0
// Extends bytes and halfwords to 32 bits and queues the pieces of results, those of memory and those of local memory.
//
// Contract: memory_start_i and local_start_i announce pieces, each only while its credit is high; a credit, from
// registers, means a free place. Both may be announced in one cycle. A piece of memory comes with in_valid_i three
// cycles after it was announced, one of local memory four, and so no piece of memory may start in the cycle after a
// local one. If memory_want_i (a piece of memory could start) is in vain, and the last piece was local, local memory
// gets no credit until one of memory has started, so that neither of the two stays behind. One cycle after in_valid_i a
// piece is offered on out_*, in order. idle_o: no piece is announced or queued.
// State saved at preemption: none; it drains.
//
// The queue uses credits instead of a stall, because a stall would have to hold the outputs of the memories before it.
module lsu_pieces #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int ENTRY_W = 6  // bits of an entry
) (
    input  logic                clk_i,
    input  logic                rst_i,
    output logic                idle_o,
    input  logic                memory_want_i,
    output logic                memory_credit_o,
    input  logic                memory_start_i,
    output logic                local_credit_o,
    input  logic                local_start_i,
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
  localparam int PLACES = 16;

  logic [ENTRY_W+LANES-1:0] queue_head[0:PLACES-1];
  logic [LANES*32-1:0] queue_data[0:PLACES-1];
  logic [3:0] wr_q, rd_q;
  logic [4:0] count_q, credit_q;  // pieces queued; places neither queued nor announced
  logic local_q, last_q, waits_q;  // a local piece started in the last cycle, started last; the next one is memory's
  logic [LANES*32-1:0] data;
  logic [15:0] half;
  logic [7:0] low;

  // A single place is that of local memory, unless the next piece is memory's.
  assign memory_credit_o = !local_q && credit_q > (waits_q ? 5'd0 : 5'd1);
  assign local_credit_o = !waits_q && credit_q != 5'd0;
  assign idle_o = credit_q == 5'(PLACES);
  assign out_valid_o = count_q != 5'd0;
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
    count_q  <= count_q + 5'(in_valid_i) - 5'(out_take_i);
    credit_q <= credit_q + 5'(out_take_i) - 5'(memory_start_i) - 5'(local_start_i);
    local_q  <= local_start_i;
    if (memory_start_i || local_start_i) last_q <= local_start_i;
    waits_q  <= memory_want_i && !memory_start_i && (last_q || local_start_i);
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
      count_q <= '0;
      credit_q <= 5'(PLACES);
      local_q <= 1'b0;
      last_q <= 1'b0;
      waits_q <= 1'b0;
    end
  end
endmodule
