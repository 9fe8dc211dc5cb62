// SPDX-License-Identifier: Apache-2.0
// The conversions between floats and integers of four lanes, by one fp_convert that takes the lanes in turn.
//
// Contract: start_i begins a conversion of op_i (simt_op_pkg::CVT_*) in all four lanes. busy_o is high in this cycle
// and the two after it; the cycle after one in which it is high has no start_i. A conversion may therefore begin in
// every fourth cycle. data_o and flags_o have the results of all lanes exactly simt_op_pkg::CVT_LATENCY cycles after
// start_i, for one cycle.
// State saved at preemption: none; the core waits until the booked write is done. A reset drops the conversion.
//
// A conversion is rare, and its latency is that of the FMA, whose slot of the write-back it books. A unit in each lane
// would take 2.5 times the logic.

module simt_convert (
    input  logic         clk_i,
    input  logic         rst_i,
    input  logic         start_i,
    input  logic [1:0]   op_i,
    input  logic [11:0]  rm_i,      // rounding mode of each lane
    input  logic [127:0] a_i,
    output logic         busy_o,
    output logic [127:0] data_o,
    output logic [7:0]   flags_o    // {NV, NX} of each lane
);

  localparam int LAST = simt_op_pkg::CVT_LATENCY - 1;

  generate
    if (simt_op_pkg::CVT_LATENCY != simt_op_pkg::CVT_STAGES + 3) begin : g_latency
      $error("simt_convert: the fourth lane enters three cycles after the first one");
    end
  endgenerate

  // step_q[i]: a conversion began i cycles ago. lane_q is the lane that enters now.
  logic [LAST:1] step_q;
  logic [1:0]    lane_q, op_q;
  logic [95:0]   a_q;               // of lanes 1 to 3
  logic [8:0]    rm_q;
  logic          enters;

  assign busy_o = start_i || step_q[1] || step_q[2];
  assign enters = start_i || lane_q != 2'd0;

  always_ff @(posedge clk_i) begin
    step_q <= {step_q[LAST-1:1], start_i};
    if (enters) lane_q <= lane_q + 2'd1;
    if (start_i) begin
      op_q <= op_i;
      a_q  <= a_i[127:32];
      rm_q <= rm_i[11:3];
    end
    if (rst_i) begin
      step_q <= '0;
      lane_q <= 2'd0;
    end
  end

  logic [31:0] a, result;
  logic [2:0]  rm;
  logic [1:0]  op, flags;

  assign op = start_i ? op_i : op_q;

  always_comb
    case (lane_q)
      2'd0: {rm, a} = {rm_i[2:0], a_i[31:0]};
      2'd1: {rm, a} = {rm_q[2:0], a_q[31:0]};
      2'd2: {rm, a} = {rm_q[5:3], a_q[63:32]};
      2'd3: {rm, a} = {rm_q[8:6], a_q[95:64]};
    endcase

  fp_convert u_convert (
      .clk_i,
      .valid_i(enters),
      .op_i(op),
      .rm_i(rm),
      .a_i(a),
      .result_o(result),
      .flags_o(flags)
  );

  // The results of lanes 0 to 2 wait for that of lane 3.
  logic [95:0] data_q;
  logic [5:0]  flags_q;

  always_ff @(posedge clk_i)
    for (int i = 0; i < 3; i++)
      if (step_q[simt_op_pkg::CVT_STAGES+i]) {data_q[32*i +: 32], flags_q[2*i +: 2]} <= {result, flags};

  assign data_o  = {result, data_q};
  assign flags_o = {flags, flags_q};

endmodule
