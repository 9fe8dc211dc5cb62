// SPDX-License-Identifier: Apache-2.0
// Conversions between binary32 and 32-bit integers.
//
// Contract: the operations have RISC-V semantics (Zfinx). A conversion to an integer saturates and raises NV; NaN
// converts like +infinity. One operation may enter in every cycle. result_o and flags_o are valid exactly
// simt_op_pkg::CVT_STAGES cycles after valid_i, for one cycle.
// State saved at preemption: none; the core drains the pipeline.
//
// A rotation to the left serves both directions. The rotation puts the bits that are kept at the bottom, and those that
// only decide the rounding, the fraction, at the top. The exponent of a float says how many bits the fraction has; that
// of an integer has eight, since the first one of the integer goes to bit 23. Both directions end in the same rounding
// adder. For a conversion to an integer the adder also negates: -(x + up) = ~x + !up, where up is the increment of the
// rounding.

module fp_convert (
    input  logic        clk_i,
    input  logic        valid_i,
    input  logic [1:0]  op_i,  // Operation, simt_op_pkg::CVT_*.
    input  logic [2:0]  rm_i,  // Rounding mode, simt_op_pkg::RM_*.
    input  logic [31:0] a_i,
    output logic [31:0] result_o,
    output logic [1:0]  flags_o  // {NV, NX}; no other flag is raised.
);

  generate
    if (simt_op_pkg::CVT_STAGES != 4) begin : g_stages
      $error("fp_convert has four stages");
    end
  endgenerate

  logic [3:1] valid_q;

  always_ff @(posedge clk_i) valid_q <= {valid_q[2:1], valid_i};

  // Stage 1: magnitude: the absolute value of an integer, or the significand of a float with the hidden bit at 31.
  // fraction is the number of its bits that are no part of the integer. 40 stands for all numbers above 32: of a float
  // the lowest eight bits are zero, and so is then the first bit of the fraction.
  logic [1:0]  op_1_q;
  logic [2:0]  rm_1_q;
  logic [31:0] magnitude_1_q;
  logic [5:0]  fraction_1_q;
  logic        nan_1_q, negative_1_q, over_1_q;

  logic        to_float, negate;
  logic [7:0]  exponent, distance;

  always_ff @(posedge clk_i)
    if (valid_i) begin
      op_1_q        <= op_i;
      rm_1_q        <= rm_i;
      to_float      = op_i[1];
      negate        = op_i == simt_op_pkg::CVT_S_W && a_i[31];
      exponent      = a_i[30:23];
      distance      = 8'd158 - exponent;
      magnitude_1_q <= (to_float ? a_i ^ {32{negate}} : {exponent != 8'd0, a_i[22:0], 8'b0}) + {31'b0, negate};
      negative_1_q  <= a_i[31] && op_i != simt_op_pkg::CVT_S_WU;
      nan_1_q       <= exponent == 8'd255 && a_i[22:0] != 23'd0;
      over_1_q      <= exponent > 8'd158;
      fraction_1_q  <= to_float ? 6'd8 : (distance < 8'd32) ? distance[5:0] : (distance == 8'd32) ? 6'd32 : 6'd40;
    end

  // Stage 2: find the first one of an integer, and with it the rotation.
  logic [2:0]  rm_2_q;
  logic [31:0] magnitude_2_q;
  logic [5:0]  fraction_2_q;
  logic [4:0]  rotate_2_q, zeros_2_q;
  logic        to_float_2_q, unsigned_2_q, nan_2_q, negative_2_q, over_2_q;

  logic [4:0]  zeros;

  always_ff @(posedge clk_i)
    if (valid_q[1]) begin
      zeros[4]      = magnitude_1_q[31:16] == 16'd0;
      zeros[3:0]    = zeros[4] ? simt_op_pkg::zeros16(magnitude_1_q[15:0]) : simt_op_pkg::zeros16(magnitude_1_q[31:16]);
      rotate_2_q    <= op_1_q[1] ? zeros - 5'd8 : -fraction_1_q[4:0];
      zeros_2_q     <= zeros;
      magnitude_2_q <= magnitude_1_q;
      fraction_2_q  <= fraction_1_q;
      rm_2_q        <= rm_1_q;
      {to_float_2_q, unsigned_2_q}      <= op_1_q;
      {nan_2_q, negative_2_q, over_2_q} <= {nan_1_q, negative_1_q, over_1_q};
    end

  // Stage 3: rotate, and part the integer from the fraction: from its first bit (guard) and from what is behind (rest).
  // The exponent takes the place of the first one.
  logic [2:0]  rm_3_q;
  logic [31:0] value_3_q;
  logic        to_float_3_q, unsigned_3_q, nan_3_q, negative_3_q, over_3_q, guard_3_q, rest_3_q;

  logic [31:0] x, mask;

  always_ff @(posedge clk_i)
    if (valid_q[2]) begin
      x         = magnitude_2_q;
      x         = rotate_2_q[4] ? {x[15:0], x[31:16]} : x;
      x         = rotate_2_q[3] ? {x[23:0], x[31:24]} : x;
      x         = rotate_2_q[2] ? {x[27:0], x[31:28]} : x;
      x         = rotate_2_q[1] ? {x[29:0], x[31:30]} : x;
      x         = rotate_2_q[0] ? {x[30:0], x[31]} : x;
      mask      = ~(32'hffff_ffff >> fraction_2_q);
      value_3_q <= x & ~mask;
      if (to_float_2_q) value_3_q[30:23] <= x[23] ? 8'd127 + {3'b0, ~zeros_2_q} : 8'd0;
      guard_3_q <= x[31] && mask[31];
      rest_3_q  <= (x[30:0] & mask[30:0]) != 31'd0;
      rm_3_q    <= rm_2_q;
      {to_float_3_q, unsigned_3_q}      <= {to_float_2_q, unsigned_2_q};
      {nan_3_q, negative_3_q, over_3_q} <= {nan_2_q, negative_2_q, over_2_q};
    end

  // Stage 4: round.
  logic        up, inexact, complement, too_big;
  logic [31:0] rounded;

  always_ff @(posedge clk_i)
    if (valid_q[3]) begin
      inexact = guard_3_q || rest_3_q;
      case (rm_3_q)
        simt_op_pkg::RM_RNE: up = guard_3_q && (rest_3_q || value_3_q[0]);
        simt_op_pkg::RM_RMM: up = guard_3_q;
        simt_op_pkg::RM_RUP: up = inexact && !negative_3_q;
        simt_op_pkg::RM_RDN: up = inexact && negative_3_q;
        default:             up = 1'b0;
      endcase
      complement = !to_float_3_q && negative_3_q;
      rounded    = (value_3_q ^ {32{complement}}) + {31'b0, complement ^ up};
      case ({unsigned_3_q, negative_3_q})
        2'b00:   too_big = over_3_q || value_3_q[31] || ((&value_3_q[30:0]) && up);
        2'b01:   too_big = over_3_q || (value_3_q[31] && (value_3_q[30:0] != 31'd0 || up));
        2'b10:   too_big = over_3_q || ((&value_3_q) && up);
        default: too_big = over_3_q || value_3_q != 32'd0 || up;
      endcase
      result_o   <= rounded;
      flags_o    <= {1'b0, inexact};
      if (to_float_3_q) result_o[31] <= negative_3_q;
      else if (nan_3_q || too_big) begin
        result_o <= (negative_3_q && !nan_3_q) ? {!unsigned_3_q, 31'b0} : {unsigned_3_q, 31'h7fff_ffff};
        flags_o  <= 2'b10;
      end
    end

endmodule
