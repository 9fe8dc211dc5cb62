// SPDX-License-Identifier: Apache-2.0
// Asserts that a memory channel answers only what was asked (interfaces.md, rules 1, 2 and
// 7); in synthesis it is empty.
//
// Rules: an answer belongs to a request of its tag that was accepted in an earlier cycle and has not been
// answered; when the client is reset, memory owes it nothing. A tag may be in flight several times (rule 7), so
// requests are counted by tag.
module check_answers #(
    parameter int TAG_W = 8
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             req_i,      // accepted
    input logic [TAG_W-1:0] req_tag_i,
    input logic             rsp_i,
    input logic [TAG_W-1:0] rsp_tag_i
);
`ifndef SYNTHESIS
  logic live_q = 1'b0;  // there was a reset
  logic [9:0] owed[0:(1<<TAG_W)-1];
  logic [TAG_W:0] sum_q = '0;

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
