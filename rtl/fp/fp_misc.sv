// SPDX-License-Identifier: Apache-2.0
// Conversions between binary32 and 32-bit integers of one lane.
//
// Contract: the operations have RISC-V semantics (Zfinx). A conversion to an integer saturates and raises NV; NaN
// converts like +infinity. One operation may enter in every cycle. result_o and flags_o are valid exactly
// simt_op_pkg::FPM_LATENCY cycles after valid_i, for one cycle.
// State saved at preemption: none; the core drains the pipeline.
//
// Both directions of conversion end in the same rounding adder. For a conversion to an integer it also negates: -(x +
// up) = ~x + !up, where up is the increment of the rounding.

module fp_misc (
    input  logic        clk_i,
    input  logic        valid_i,
    input  logic [1:0]  op_i,  // Operation, simt_op_pkg::FPM_*.
    input  logic [2:0]  rm_i,  // Rounding mode, simt_op_pkg::RM_*.
    input  logic [31:0] a_i,
    output logic [31:0] result_o,
    output logic [4:0]  flags_o  // {NV, DZ, OF, UF, NX}.
);

  generate
    if (simt_op_pkg::FPM_LATENCY != 3) begin : g_latency
      $error("fp_misc has three stages");
    end
  endgenerate

  logic [2:1] valid_q;

  always_ff @(posedge clk_i) valid_q <= {valid_q[1], valid_i};

  // Stage 1: magnitude. A conversion to an integer has the significand as its magnitude, with the first bit at 2^31;
  // stage 2 shifts it right. A conversion from an integer has the absolute value.
  logic [1:0]  op_1_q;
  logic [2:0]  rm_1_q;
  logic [31:0] magnitude_1_q;
  logic        nan_1_q, negative_1_q, over_1_q;
  logic [5:0]  shift_1_q;

  logic        to_float, negate;
  logic [8:0]  distance;

  always_ff @(posedge clk_i)
    if (valid_i) begin
      op_1_q        <= op_i;
      rm_1_q        <= rm_i;
      nan_1_q       <= a_i[30:0] > 31'h7f80_0000;
      to_float      = op_i[1];
      negate        = op_i == simt_op_pkg::FPM_CVT_S_W && a_i[31];
      magnitude_1_q <= to_float ? (a_i ^ {32{negate}}) + {31'b0, negate} : {a_i[30:23] != 8'd0, a_i[22:0], 8'b0};
      negative_1_q  <= to_float ? negate : a_i[31];
      over_1_q      <= a_i[30:23] > 8'd158;
      distance      = 9'd158 - {1'b0, a_i[30:23]};
      shift_1_q     <= (distance > 9'd40) ? 6'd40 : distance[5:0];
    end

  // Stage 2: shift.
  logic [2:0]  rm_2_q;
  logic [31:0] value_2_q;
  logic        to_float_2_q, unsigned_2_q, negative_2_q, over_2_q, nan_2_q, guard_2_q, rest_2_q;

  logic [63:0] fixed;
  logic [31:0] x;
  logic [4:0]  zeros;

  always_ff @(posedge clk_i)
    if (valid_q[1]) begin
      rm_2_q       <= rm_1_q;
      to_float_2_q <= op_1_q[1];
      unsigned_2_q <= op_1_q[0];
      nan_2_q      <= nan_1_q;
      over_2_q     <= over_1_q;
      negative_2_q <= negative_1_q;
      case (op_1_q)
        simt_op_pkg::FPM_CVT_W_S, simt_op_pkg::FPM_CVT_WU_S: begin
          fixed     = {magnitude_1_q, 32'b0} >> shift_1_q;
          value_2_q <= fixed[63:32];
          guard_2_q <= fixed[31];
          rest_2_q  <= |fixed[30:0];
        end
        default: begin
          x = magnitude_1_q;
          zeros[4] = x[31:16] == 16'b0;
          if (zeros[4]) x = {x[15:0], 16'b0};
          zeros[3] = x[31:24] == 8'b0;
          if (zeros[3]) x = {x[23:0], 8'b0};
          zeros[2] = x[31:28] == 4'b0;
          if (zeros[2]) x = {x[27:0], 4'b0};
          zeros[1] = x[31:30] == 2'b0;
          if (zeros[1]) x = {x[29:0], 2'b0};
          zeros[0] = !x[31];
          if (zeros[0]) x = {x[30:0], 1'b0};
          value_2_q <= {1'b0, x[31] ? 8'd158 - {3'b0, zeros} : 8'd0, x[30:8]};
          guard_2_q <= x[7];
          rest_2_q  <= |x[6:0];
        end
      endcase
    end

  // Stage 3: round.
  logic        up, inexact, complement, carry, too_big;
  logic [31:0] rounded;

  always_ff @(posedge clk_i)
    if (valid_q[2]) begin
      inexact = guard_2_q || rest_2_q;
      case (rm_2_q)
        simt_op_pkg::RM_RNE: up = guard_2_q && (rest_2_q || value_2_q[0]);
        simt_op_pkg::RM_RMM: up = guard_2_q;
        simt_op_pkg::RM_RUP: up = inexact && !negative_2_q;
        simt_op_pkg::RM_RDN: up = inexact && negative_2_q;
        default:             up = 1'b0;
      endcase
      complement = !to_float_2_q && negative_2_q;
      carry      = complement ^ up;
      rounded    = (value_2_q ^ {32{complement}}) + {31'b0, carry};
      case ({unsigned_2_q, negative_2_q})
        2'b00:   too_big = over_2_q || value_2_q[31] || ((&value_2_q[30:0]) && up);
        2'b01:   too_big = over_2_q || (value_2_q[31] && (value_2_q[30:0] != 31'd0 || up));
        2'b10:   too_big = over_2_q || ((&value_2_q) && up);
        default: too_big = over_2_q || value_2_q != 32'd0 || up;
      endcase
      result_o   <= rounded;
      flags_o    <= {4'b0, inexact};
      if (to_float_2_q) result_o[31] <= negative_2_q;
      else if (nan_2_q || too_big) begin
        result_o <= (negative_2_q && !nan_2_q) ? {!unsigned_2_q, 31'b0} : {unsigned_2_q, 31'h7fff_ffff};
        flags_o  <= 5'b10000;
      end
    end

endmodule
