// SPDX-License-Identifier: Apache-2.0
// The indications of an engine: completions, preemptions and faults, in submission order (C5, P3).
//
// Contract: a FIFO that keeps every push until it is popped. There is no ready, because hw_queue accepts a submission
// only if there is room for its indication. A push without room would be lost. The head stays until pop_i. A pop of an
// empty FIFO does nothing.
// Preemption: no state is saved. A reset of the engine does not change the FIFO; only the reset of the device empties
// it.
module indication_fifo #(
    parameter int WIDTH      = 8,  // Bits of an indication.
    parameter int DEPTH_LOG2 = 2   // log2 of the entries.
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                push_i,
    input  logic [   WIDTH-1:0] data_i,
    output logic [DEPTH_LOG2:0] count_o,
    output logic                head_valid_o,
    output logic [   WIDTH-1:0] head_o,
    input  logic                pop_i
);
  logic [WIDTH-1:0] mem[0:(1<<DEPTH_LOG2)-1];
  logic [DEPTH_LOG2:0] wr_q, rd_q;

  assign count_o = wr_q - rd_q;
  assign head_valid_o = wr_q != rd_q;
  assign head_o = mem[rd_q[DEPTH_LOG2-1:0]];

  always_ff @(posedge clk_i) begin
    if (push_i) mem[wr_q[DEPTH_LOG2-1:0]] <= data_i;
    if (push_i) wr_q <= wr_q + 1'b1;
    if (pop_i && head_valid_o) rd_q <= rd_q + 1'b1;
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
    end
  end

`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      room_for_every_indication: assert (!(push_i && count_o[DEPTH_LOG2]));
    end
  end
`endif
endmodule
