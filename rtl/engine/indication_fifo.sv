// SPDX-License-Identifier: Apache-2.0
// What an engine has to tell the driver: completions, preemptions and faults, in submission order (C5, P3).
//
// Contract: every push is kept until it is popped, first in, first out. The pusher has seen to room
// (hw_queue counts), so there is no ready; a push without room would be lost. The head stays until pop_i;
// pops of an empty FIFO do nothing. Preemption saves nothing of it, and a reset of the engine leaves it
// alone: only the device's reset empties it.
module indication_fifo #(
    parameter int WIDTH      = 8,
    parameter int DEPTH_LOG2 = 2
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                push_i,
    input  logic [   WIDTH-1:0] data_i,
    output logic [DEPTH_LOG2:0] count_o,
    output logic                head_valid_o,
    output logic [   WIDTH-1:0] head_o,
    input  logic                pop_i
`ifdef FORMAL
    , output logic [(WIDTH<<DEPTH_LOG2)-1:0] f_entries_o  // oldest lowest
`endif
);
  logic [WIDTH-1:0] mem[0:(1<<DEPTH_LOG2)-1];
  logic [DEPTH_LOG2:0] wr_q, rd_q;

  assign count_o = wr_q - rd_q;
  assign head_valid_o = wr_q != rd_q;
  assign head_o = mem[rd_q[DEPTH_LOG2-1:0]];
`ifdef FORMAL
  for (genvar i = 0; i < 1 << DEPTH_LOG2; i++) begin : g_entry
    logic [DEPTH_LOG2-1:0] at;
    assign at = rd_q[DEPTH_LOG2-1:0] + DEPTH_LOG2'(i);
    assign f_entries_o[WIDTH*i+:WIDTH] = mem[at];
  end
`endif

  always_ff @(posedge clk_i) begin
    if (push_i) mem[wr_q[DEPTH_LOG2-1:0]] <= data_i;
    if (push_i) wr_q <= wr_q + 1'b1;
    if (pop_i && head_valid_o) rd_q <= rd_q + 1'b1;
    if (rst_i) begin
      wr_q <= '0;
      rd_q <= '0;
    end
  end

`ifdef FORMAL
`elsif SYNTHESIS
`else
  logic live_q = 1'b0;  // there was a reset
  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (live_q && !rst_i) begin
      room_for_every_indication: assert (!(push_i && count_o[DEPTH_LOG2]));
    end
  end
`endif
endmodule
