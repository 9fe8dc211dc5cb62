// SPDX-License-Identifier: Apache-2.0
// Sends the frames of a link_ring in the format of RFC 1662: a flag, the bytes with escapes, a 32-bit check sequence, a
// flag.
//
// Contract: each frame of the ring is sent once. A byte is offered on valid_o and data_o until ready_i takes it.
module link_frame (
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       valid_i,
    output logic       ready_o,
    input  logic       last_i,
    input  logic [7:0] data_i,
    output logic       valid_o,
    input  logic       ready_i,
    output logic [7:0] data_o
);
  localparam logic [7:0] FLAG = 8'h7e, ESCAPE = 8'h7d;
  typedef enum logic [1:0] {
    IDLE,
    BODY,
    CHECK,
    CLOSE
  } state_e;

  state_e state_q;
  logic [31:0] crc, check_q;
  logic [7:0] next_q;  // Second byte of an escape sequence.
  logic next_valid_q, crc_ready, free, special;
  logic [1:0] left_q;  // Bytes of the check sequence behind this one.
  logic [7:0] from;

  assign free = (!valid_o || ready_i) && !next_valid_q;
  assign from = state_q == CHECK ? check_q[7:0] : data_i;
  assign special = from == FLAG || from == ESCAPE;
  assign ready_o = state_q == BODY && free && crc_ready;

  link_crc u_crc (
      .clk_i,
      .rst_i,
      .clear_i(state_q == IDLE),
      .valid_i(valid_i && ready_o && !last_i),
      .data_i,
      .ready_o(crc_ready),
      .crc_o(crc)
  );

  always_ff @(posedge clk_i) begin
    if (ready_i) valid_o <= 1'b0;
    if (next_valid_q && ready_i) begin
      valid_o <= 1'b1;
      data_o <= next_q;
      next_valid_q <= 1'b0;
    end
    if (free) begin
      case (state_q)
        IDLE: begin
          if (valid_i) begin
            valid_o <= 1'b1;
            data_o <= FLAG;
            state_q <= BODY;
          end
        end
        BODY: begin
          if (valid_i && crc_ready) begin
            check_q <= ~crc;
            left_q <= 2'd3;
            if (last_i) state_q <= CHECK;
            else begin
              valid_o <= 1'b1;
              data_o <= special ? ESCAPE : from;
              next_q <= from ^ 8'h20;
              next_valid_q <= special;
            end
          end
        end
        CHECK: begin
          valid_o <= 1'b1;
          data_o <= special ? ESCAPE : from;
          next_q <= from ^ 8'h20;
          next_valid_q <= special;
          check_q <= {8'd0, check_q[31:8]};
          left_q <= left_q - 1'b1;
          if (left_q == 2'd0) state_q <= CLOSE;
        end
        default: begin
          valid_o <= 1'b1;
          data_o <= FLAG;
          state_q <= IDLE;
        end
      endcase
    end
    if (rst_i) begin
      state_q <= IDLE;
      valid_o <= 1'b0;
      next_valid_q <= 1'b0;
    end
  end
endmodule
