// SPDX-License-Identifier: Apache-2.0
// Properties of simt_convert, of one of its lanes: its operand, its rounding mode and the operation enter fp_convert as
// many cycles after the start as the lane has numbers before it, and what fp_convert then gives is what the lane shows
// CVT_LATENCY cycles after the start. busy_o stops the next start in time.
(* anyconst *) logic [1:0] some;
logic        live_q = 1'b0, was_busy_q, shows_q;
logic [31:0] want_q, gave_q;
logic [2:0]  mode_q;
logic [1:0]  code_q, raised_q;
logic [6:0]  steps;

assign steps = {step_q, start_i};

always_ff @(posedge clk_i) begin
  live_q     <= 1'b1;
  was_busy_q <= busy_o;
  shows_q    <= step_q[6] && !rst_i;
  if (start_i) {want_q, mode_q, code_q} <= {a_i[32*some +: 32], rm_i[3*some +: 3], op_i};
  if (step_q[4] && some == 2'd0 || step_q[5] && some == 2'd1 || step_q[6] && some == 2'd2)
    {gave_q, raised_q} <= {result, flags};
end

always_comb begin
  assume (live_q || rst_i);
  if (live_q && was_busy_q) assume (!start_i);
  if (live_q) begin
    assert ({1'b0, steps[0]} + {1'b0, steps[1]} + {1'b0, steps[2]} + {1'b0, steps[3]} <= 2'd1);
    assert (lane_q == (steps[3] ? 2'd3 : steps[2] ? 2'd2 : steps[1] ? 2'd1 : 2'd0));
    assert (enters == (steps[3:0] != 4'd0));
    if (steps[some]) begin
      assert (a == ((some == 2'd0) ? a_i[31:0] : want_q));
      assert (rm == ((some == 2'd0) ? rm_i[2:0] : mode_q));
    end
    if (steps[0]) assert (op == op_i);
    if (steps[3:1] != 3'd0) assert (op == code_q && op_q == code_q);
    if (shows_q && some != 2'd3) assert (data_o[32*some +: 32] == gave_q && flags_o[2*some +: 2] == raised_q);
    if (shows_q && some == 2'd3) assert (data_o[127:96] == result && flags_o[7:6] == flags);
  end
end
