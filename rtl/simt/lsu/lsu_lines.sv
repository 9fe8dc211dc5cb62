// SPDX-License-Identifier: Apache-2.0
// Data of the L1: lines of 64 bytes with byte enables, in block RAM.
//
// Contract: read_i gives read_data_o one cycle later, held until the next read. A read sees the writes of earlier
// cycles.
// State saved at preemption: none; the L1 is write-through.
module lsu_lines #(
    parameter int LINES = 256,  // lines of 64 bytes
    localparam int IW = $clog2(LINES)
) (
    input  logic          clk_i,
    input  logic          read_i,
    input  logic [IW-1:0] read_index_i,
    output logic [511:0]  read_data_o,
    input  logic          write_i,
    input  logic [IW-1:0] write_index_i,
    input  logic [63:0]   write_be_i,
    input  logic [511:0]  write_data_i
);
  (* ram_style = "block" *) logic [511:0] mem[0:LINES-1];

  always_ff @(posedge clk_i) begin
    if (read_i) read_data_o <= mem[read_index_i];
    if (write_i) begin
      for (int b = 0; b < 64; b++) if (write_be_i[b]) mem[write_index_i][b*8+:8] <= write_data_i[b*8+:8];
    end
  end
endmodule
