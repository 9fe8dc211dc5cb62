// SPDX-License-Identifier: Apache-2.0
// One bank of local memory: 32-bit words with byte enables, in block RAM.
//
// Contract: read_i gives data_o one cycle later, held until the next read. A read sees the writes of earlier cycles.
// State saved at preemption: the words, through the line ports of lsu_rows.
module lsu_bank #(
    parameter int ROWS = 1024,  // words
    localparam int RW = $clog2(ROWS)
) (
    input  logic          clk_i,
    input  logic          read_i,
    input  logic [RW-1:0] read_row_i,   // row: the number of a word of this bank
    output logic [31:0]   data_o,
    input  logic          write_i,
    input  logic [RW-1:0] write_row_i,
    input  logic [3:0]    write_be_i,
    input  logic [31:0]   write_data_i
);
  (* ram_style = "block" *) logic [31:0] mem[0:ROWS-1];

  always_ff @(posedge clk_i) begin
    if (read_i) data_o <= mem[read_row_i];
    if (write_i) begin
      for (int b = 0; b < 4; b++) if (write_be_i[b]) mem[write_row_i][b*8+:8] <= write_data_i[b*8+:8];
    end
  end
endmodule
