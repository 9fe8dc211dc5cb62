// SPDX-License-Identifier: Apache-2.0
// Asserts that a memory channel answers only accepted requests (docs/hardware/interfaces.md, rules 1, 2 and 7). The
// module is empty in synthesis.
//
// Rules: an answer carries the tag of a request that was accepted in an earlier cycle and has not been answered. When
// the client is reset, no answer is outstanding. A tag may be in flight several times (rule 7), so requests are counted
// for each tag.
module check_answers #(
    parameter int TAG_W = 8  // Bits of a tag.
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             req_i,      // A request is accepted in this cycle.
    input logic [TAG_W-1:0] req_tag_i,
    input logic             rsp_i,  // An answer comes in this cycle.
    input logic [TAG_W-1:0] rsp_tag_i
);
`ifndef SYNTHESIS
  logic live_q = 1'b0;  // A reset has been seen.
  logic [9:0] owed[0:(1<<TAG_W)-1];  // Unanswered requests of each tag.
  logic [TAG_W:0] sum_q = '0;  // Unanswered requests of all tags.

  always_ff @(posedge clk_i) begin
    if (rst_i) live_q <= 1'b1;
    if (!live_q) for (int i = 0; i < 1 << TAG_W; i++) owed[i] = '0;
    if (live_q && !rst_i) begin
      if (rsp_i) begin
        answer_to_a_request: assert (owed[rsp_tag_i] != '0);
        owed[rsp_tag_i] = owed[rsp_tag_i] - 1'b1;
      end
      if (req_i) owed[req_tag_i] = owed[req_tag_i] + 1'b1;
      sum_q <= sum_q + (TAG_W + 1)'(req_i) - (TAG_W + 1)'(rsp_i);
    end
    if (live_q && rst_i) begin
      owes_nothing_at_reset: assert (sum_q == '0 || (sum_q == (TAG_W + 1)'(1) && rsp_i));
      sum_q <= '0;
    end
  end
`endif
endmodule
