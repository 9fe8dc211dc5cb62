// SPDX-License-Identifier: Apache-2.0
// Extracts frames from received bytes: flags (0x7e), escapes (0x7d) and 32-bit check sequence of RFC 1662.
//
// Contract: the bytes of a frame without its check sequence are put into a link_ring. If the check sequence is right
// and each byte had its stop bit, end_o follows, else drop_o. Bytes are at least 20 cycles apart. A flag begins a frame
// whatever was received before, so the receiver resynchronises after noise and after a host that was killed.
module link_deframe (
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       valid_i,
    input  logic       error_i,  // A byte was received without its stop bit.
    input  logic [7:0] data_i,
    output logic       put_o,
    output logic [7:0] data_o,
    output logic       end_o,
    output logic       drop_o,
    input  logic       full_i  // The ring has no room.
);
  localparam logic [7:0] FLAG = 8'h7e, ESCAPE = 8'h7d;
  localparam logic [31:0] GOOD = 32'hdebb20e3;  // CRC over a frame and its own check sequence.

  logic [31:0] held_q;  // Last 4 bytes: the check sequence, if a flag follows.
  logic [31:0] crc;
  logic [2:0] count_q;  // Bytes in held_q, 4 at most.
  logic escape_q, bad_q, flag, content, good_q, crc_ready;

  assign flag = valid_i && data_i == FLAG;
  assign content = valid_i && data_i != FLAG && data_i != ESCAPE;
  assign data_o = held_q[7:0];
  assign put_o = content && count_q[2] && !full_i;
  assign end_o = flag && good_q;
  assign drop_o = flag && !good_q;

  link_crc u_crc (
      .clk_i,
      .rst_i,
      .clear_i(flag),
      .valid_i(content),
      .data_i(data_i ^ {2'b0, escape_q, 5'b0}),
      .ready_o(crc_ready),
      .crc_o(crc)
  );

  always_ff @(posedge clk_i) begin
    // Bytes are at least 20 cycles apart, so good_q is up to date when a flag comes.
    good_q <= crc_ready && crc == GOOD && count_q[2] && !escape_q && !bad_q && !error_i && !full_i;
    if (valid_i) escape_q <= data_i == ESCAPE;
    if (content) begin
      held_q <= {data_i ^ {2'b0, escape_q, 5'b0}, held_q[31:8]};
      if (!count_q[2]) count_q <= count_q + 1'b1;
      if (count_q[2] && full_i) bad_q <= 1'b1;
    end
    if (error_i) bad_q <= 1'b1;
    if (flag) begin
      bad_q <= 1'b0;
      count_q <= 3'd0;
    end
    if (rst_i) begin
      escape_q <= 1'b0;
      bad_q <= 1'b1;
      good_q <= 1'b0;
      count_q <= 3'd0;
    end
  end
endmodule
