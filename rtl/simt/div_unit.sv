// SPDX-License-Identifier: Apache-2.0
// Division, remainder, float division and square root of one warp at a time: the controller of the lanes' div_lane.
//
// Contract: an operation enters when in_valid_i and in_ready_o; in_ready_o comes from registers. Its result appears on
// the out channel 20 (floats) or 23 (integers) cycles later, and stays until out_ready_i; data and flags of lanes
// outside in_mask_i are unspecified. in_op_i is simt_op_pkg::DIV_*. One operation at a time; the core remembers warp
// and rd. State saved at preemption: none; the core drains it.
//
// All lanes go in step. Early termination for small operands would help only the warps whose lanes all have them.

module div_unit #(
    parameter int L = 16  // lanes
) (
    input  logic            clk_i,
    input  logic            rst_i,
    input  logic            in_valid_i,
    output logic            in_ready_o,
    input  logic [2:0]      in_op_i,
    input  logic [L*3-1:0]  in_rm_i,
    input  logic [L*32-1:0] in_a_i,
    input  logic [L*32-1:0] in_b_i,
    input  logic [L-1:0]    in_mask_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [L*32-1:0] out_data_o,
    output logic [L*5-1:0]  out_flags_o
);

  localparam logic [3:0] INTEGER_STEPS = 4'd15, FLOAT_STEPS = 4'd12;  // two bits each, less one

  // one-hot
  localparam int IDLE = 0, UNPACK = 1, COUNT = 2, ALIGN = 3, STEP = 4, NORMALISE = 5, ROUND = 6, PACK = 7, DONE = 8;

  logic [8:0] phase_q;
  logic [3:0] steps_q;
  logic       float_q, sqrt_q, signed_q, rem_q;
  logic [25:0] mask_q;
  logic       load;

  always_comb begin
    load        = in_valid_i && phase_q[IDLE];
    in_ready_o  = phase_q[IDLE];
    out_valid_o = phase_q[DONE];
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      float_q  <= in_op_i[2];
      sqrt_q   <= in_op_i == simt_op_pkg::DIV_FSQRT;
      signed_q <= in_op_i == simt_op_pkg::DIV_DIV || in_op_i == simt_op_pkg::DIV_REM;
      rem_q    <= in_op_i == simt_op_pkg::DIV_REM || in_op_i == simt_op_pkg::DIV_REMU;
    end
    if (phase_q[ALIGN]) steps_q <= float_q ? FLOAT_STEPS : INTEGER_STEPS;
    if (phase_q[ALIGN]) mask_q <= {sqrt_q, 25'b0};
    if (phase_q[STEP]) begin
      steps_q <= steps_q - 4'd1;
      mask_q  <= mask_q >> 2;
    end

    if (rst_i) phase_q <= 9'd1;
    else if (phase_q[IDLE]) phase_q <= load ? 9'd2 : 9'd1;
    else if (phase_q[DONE]) phase_q <= out_ready_i ? 9'd1 : phase_q;
    else if (!phase_q[STEP] || steps_q == 4'd0) phase_q <= phase_q << 1;
  end

  generate
    for (genvar i = 0; i < L; i++) begin : g_lane
      div_lane u_lane (
          .clk_i(clk_i), .load_i(load && in_mask_i[i]), .unpack_i(phase_q[UNPACK]), .count_i(phase_q[COUNT]),
          .align_i(phase_q[ALIGN]), .step_i(phase_q[STEP]), .normalise_i(phase_q[NORMALISE]), .round_i(phase_q[ROUND]),
          .pack_i(phase_q[PACK]), .float_i(float_q), .sqrt_i(sqrt_q), .signed_i(signed_q),
          .rem_i(rem_q), .mask_i(mask_q), .rm_i(in_rm_i[3*i +: 3]), .a_i(in_a_i[32*i +: 32]), .b_i(in_b_i[32*i +: 32]),
          .data_o(out_data_o[32*i +: 32]), .flags_o(out_flags_o[5*i +: 5])
      );
    end
  endgenerate

`ifdef FORMAL
  localparam int CHECKED_W = 1;  // its proof is about the controller: the lanes are cut out
  logic checked;
  assign checked = 1'b0;
`else
  localparam int CHECKED_W = 37 * L;
  logic [CHECKED_W-1:0] checked;
  assign checked = {out_data_o, out_flags_o};
`endif
  check_channel #(.WIDTH(CHECKED_W)) u_check_out (
      .clk_i, .rst_i, .valid_i(out_valid_o), .ready_i(out_ready_i), .data_i(checked)
  );

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q) begin
      one_phase: assert (phase_q != 9'd0 && (phase_q & (phase_q - 9'd1)) == 9'd0);
      takes_or_gives: assert (!(in_ready_o && out_valid_o));
    end
  end
`endif

endmodule
