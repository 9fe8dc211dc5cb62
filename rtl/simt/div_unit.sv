// SPDX-License-Identifier: Apache-2.0
// Integer division and remainder, float division and square root of one warp at a time. D dividers (div_lane) serve the
// L lanes in turns: one turn handles D adjacent lanes.
//
// Contract: an operation enters in a cycle with in_valid_i and in_ready_o; in_ready_o comes from registers. in_op_i is
// simt_op_pkg::DIV_*. The unit holds one operation at a time; the core remembers its warp and rd. The result is valid
// on the out channel until out_ready_i. Data and flags of lanes outside in_mask_i are unspecified.
// Latency: 6 cycles plus the cycles of each turn that has a lane of in_mask_i. A turn of floats takes 14 cycles. A turn
// of integers takes max(3, 17 - z) cycles, where z is the number of pairs of leading zeros that all its dividends have,
// or 17 cycles if a divisor is zero. Example: dividends below 2^16 have z = 8, so the turn takes 9 cycles.
//
// State saved at preemption: none; the core waits until the unit has finished.
//
// The phases of successive turns overlap: a turn's operands are unpacked while the turn before iterates, and its result
// is rounded while the next turn iterates. One divider per lane would take a quarter of the cycles for four times the
// logic; few kernels divide often.

module div_unit #(
    parameter int L = 16,  // lanes
    parameter int D = 4    // dividers; D divides L
) (
    input  logic            clk_i,
    input  logic            rst_i,
    input  logic            in_valid_i,
    output logic            in_ready_o,
    input  logic [2:0]      in_op_i,
    input  logic [L*3-1:0]  in_rm_i,          // rounding mode of each lane
    input  logic [L*32-1:0] in_a_i,
    input  logic [L*32-1:0] in_b_i,
    input  logic [L-1:0]    in_mask_i,
    output logic            out_valid_o,
    input  logic            out_ready_i,
    output logic [L*32-1:0] out_data_o,
    output logic [L*5-1:0]  out_flags_o       // fflags of each lane
);

  localparam int TURNS = L / D, TW = (TURNS > 1) ? $clog2(TURNS) : 1;
  localparam logic [3:0] FLOAT_STEPS = 4'd12;  // iteration steps of two quotient bits each, minus one

  generate
    if (D < 1 || D > L || TURNS * D != L) begin : g_dividers
      $error("div_unit: D must divide L");
    end
  endgenerate

  // The operation and its operands.
  logic             busy_q, done_q, load, float_q, sqrt_q, signed_q, rem_q;
  logic [L*32-1:0]  a_q, b_q;
  logic [L*3-1:0]   rm_q;
  logic [L-1:0]     mask_q;

  // The phases of a turn. front_q: unpack, count leading zeros, wait. step_q: iterate. back_q: normalise, round, pack.
  localparam int UNPACK = 0, COUNT = 1, READY = 2;
  logic [2:0]       front_q;      // phase of the turn in front, one-hot; zero if there is none
  logic [2:0]       back_q;       // phase of the turn behind: normalise, round, pack
  logic             step_q, last, align, pack;
  logic [TURNS-1:0] left_q, turn, turn_step_q, turn_back_q, wanted;
  logic [TW-1:0]    index;          // number of the turn in front
  logic [3:0]       steps_q, skip_q;
  logic [25:0]      digit_q;

  always_comb begin
    load        = in_valid_i && !busy_q;
    in_ready_o  = !busy_q;
    out_valid_o = done_q;
    turn        = left_q & -left_q;
    align       = front_q[READY] && !step_q;
    last        = step_q && steps_q == 4'd0;
    pack        = back_q[2];
    for (int t = 0; t < TURNS; t++) wanted[t] = in_mask_i[D*t +: D] != '0;
  end

  always_ff @(posedge clk_i) begin
    if (load) begin
      float_q  <= in_op_i[2];
      sqrt_q   <= in_op_i == simt_op_pkg::DIV_FSQRT;
      signed_q <= in_op_i == simt_op_pkg::DIV_DIV || in_op_i == simt_op_pkg::DIV_REM;
      rem_q    <= in_op_i == simt_op_pkg::DIV_REM || in_op_i == simt_op_pkg::DIV_REMU;
      a_q      <= in_a_i;
      b_q      <= in_b_i;
      rm_q     <= in_rm_i;
      mask_q   <= in_mask_i;
    end

    // Unpack, count and wait. The turn leaves these phases with align.
    if (load) front_q <= 3'b1 << UNPACK;
    else if (front_q[UNPACK] || front_q[COUNT]) front_q <= front_q << 1;
    else if (align) front_q <= (left_q == turn) ? 3'b0 : 3'b1 << UNPACK;
    if (load) left_q <= (wanted == '0) ? TURNS'(1) : wanted;
    else if (align) left_q <= left_q & ~turn;

    // Iteration.
    if (align) begin
      turn_step_q <= turn;
      steps_q     <= float_q ? FLOAT_STEPS : 4'd15 - skip_q;
      digit_q     <= {sqrt_q, 25'b0};
    end else if (step_q) begin
      steps_q <= steps_q - 4'd1;
      digit_q <= digit_q >> 2;
    end
    step_q <= align || (step_q && !last);

    // Normalise, round, pack.
    back_q <= {back_q[1:0], last};
    if (back_q[0]) turn_back_q <= turn_step_q;

    if (load) busy_q <= 1'b1;
    else if (done_q && out_ready_i) busy_q <= 1'b0;
    if (done_q) done_q <= !out_ready_i;
    else done_q <= pack && !step_q && front_q == 3'b0;

    if (rst_i) begin
      front_q <= 3'b0;
      back_q  <= 3'b0;
      step_q  <= 1'b0;
      busy_q  <= 1'b0;
      done_q  <= 1'b0;
    end
  end

  // Operands of the turn in front.
  logic [D*32-1:0] a, b, span, data;
  logic [D*3-1:0]  rm;
  logic [D*5-1:0]  flags;
  logic [D-1:0]    mask;
  logic [31:0]     all;

  always_comb begin
    index = '0;
    for (int t = 0; t < TURNS; t++) if (turn[t]) index = index | TW'(t);
    a    = a_q[32*D*index +: 32*D];
    b    = b_q[32*D*index +: 32*D];
    rm   = rm_q[3*D*index +: 3*D];
    mask = mask_q[D*index +: D];
  end

  // Pairs of leading zeros that all dividends of the turn have; the iteration skips them. At least two steps remain in
  // any case, so that a turn takes as long as unpacking the next one and rounding the one before.
  always_comb begin
    all = 32'd4;
    for (int i = 0; i < D; i++) all = all | (span[32*i +: 32] & {32{mask[i]}});
  end

  always_ff @(posedge clk_i)
    if (front_q[COUNT])
      skip_q <= (all[31:16] != 16'd0) ? {1'b0, 3'(simt_op_pkg::zeros16(all[31:16]) >> 1)}
                                      : {1'b1, 3'(simt_op_pkg::zeros16(all[15:0]) >> 1)};

  generate
    for (genvar i = 0; i < D; i++) begin : g_divider
      div_lane u_lane (
          .clk_i,
          .unpack_i(front_q[UNPACK]),
          .count_i(front_q[COUNT]),
          .align_i(align),
          .step_i(step_q),
          .normalise_i(back_q[0]),
          .round_i(back_q[1]),
          .float_i(float_q),
          .sqrt_i(sqrt_q),
          .signed_i(signed_q),
          .rem_i(rem_q),
          .mask_i(digit_q),
          .skip_i(skip_q),
          .rm_i(rm[3*i +: 3]),
          .a_i(a[32*i +: 32]),
          .b_i(b[32*i +: 32]),
          .span_o(span[32*i +: 32]),
          .data_o(data[32*i +: 32]),
          .flags_o(flags[5*i +: 5])
      );
    end
  endgenerate

  always_ff @(posedge clk_i)
    for (int t = 0; t < TURNS; t++)
      if (pack && turn_back_q[t]) begin
        out_data_o[32*D*t +: 32*D] <= data;
        out_flags_o[5*D*t +: 5*D]  <= flags;
      end

  check_channel #(.WIDTH(37 * L)) u_check_out (
      .clk_i,
      .rst_i,
      .valid_i(out_valid_o),
      .ready_i(out_ready_i),
      .data_i({out_data_o, out_flags_o})
  );

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  logic [TURNS-1:0] written_q, asked_q, stepping, rounding;

  always_comb begin
    stepping = (step_q || back_q[0]) ? turn_step_q : '0;
    rounding = (back_q[1] || back_q[2]) ? turn_back_q : '0;
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (load) begin
      written_q <= '0;
      asked_q   <= (wanted == '0) ? TURNS'(1) : wanted;
    end else if (pack) written_q <= written_q | turn_back_q;
    if (live_q) begin
      one_front: assert ((front_q & (front_q - 3'd1)) == 3'd0);
      one_back: assert ((back_q & (back_q - 3'd1)) == 3'd0);
      works_for_some: assert (busy_q || (front_q == 3'd0 && !step_q && back_q == 3'd0 && !done_q));
      done_alone: assert (!done_q || (front_q == 3'd0 && !step_q && back_q == 3'd0));
      under_way: assert (!busy_q || done_q || front_q != 3'd0 || step_q || back_q != 3'd0);
      front_has_turn: assert (!busy_q || (front_q != 3'd0) == (left_q != '0));
      rounds_while_steps: assert (!step_q || !back_q[0] && (!back_q[1] || steps_q != 4'd0));
      two_steps: assert (!front_q[READY] || skip_q < 4'd15);
      each_turn: assert (!busy_q || (written_q | left_q | stepping | rounding) == asked_q);
      once: assert (!busy_q || ((written_q & (left_q | stepping | rounding)) == '0
                                && (left_q & (stepping | rounding)) == '0 && (stepping & rounding) == '0));
      each_written: assert (!done_q || written_q == asked_q);
    end
  end
`endif

endmodule
