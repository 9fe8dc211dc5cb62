// SPDX-License-Identifier: Apache-2.0
// The frame check sequence of RFC 1662 (FCS-32, the CRC of Ethernet), computed one bit a cycle.
//
// Contract: clear_i begins a frame. valid_i adds a byte, at least 8 cycles after the previous one. ready_o is high when
// crc_o includes all bytes. crc_o is not complemented. A serial line takes at least 40 cycles for a byte, so a CRC
// table for whole bytes would cost LUTs without a benefit.
module link_crc (
    input  logic        clk_i,
    input  logic        rst_i,
    input  logic        clear_i,
    input  logic        valid_i,
    input  logic [ 7:0] data_i,
    output logic        ready_o,
    output logic [31:0] crc_o
);
  logic [31:0] crc_q;
  logic [7:0] data_q;
  logic [3:0] left_q;  // Bits of data_q that are not yet in the CRC.

  assign ready_o = left_q == 4'd0;
  assign crc_o = crc_q;

  always_ff @(posedge clk_i) begin
    if (!ready_o) begin
      crc_q <= {1'b0, crc_q[31:1]} ^ ({32{crc_q[0] ^ data_q[0]}} & 32'hedb88320);
      data_q <= {1'b0, data_q[7:1]};
      left_q <= left_q - 1'b1;
    end
    if (valid_i) begin
      data_q <= data_i;
      left_q <= 4'd8;
    end
    if (clear_i) crc_q <= 32'hffffffff;
    if (rst_i) begin
      crc_q <= 32'hffffffff;
      left_q <= 4'd0;
    end
  end
endmodule
