// SPDX-License-Identifier: Apache-2.0
// Properties of mem_hazard: while its table is cleared, a hash that has been cleared counts nothing, and nothing is on
// the way into the table. An entry on its way into the table is of one kind. watch_* say what the table has for the
// line that the properties of mem_gate choose (tests/formal/mem_gate.svh).
logic [LINE_W-1:0] watch;         // the line that the proof watches; the others are of its hash
logic [COUNT_W-1:0] watch_count;
logic [KINDS-1:0] watch_kinds;
logic watch_mixed, watch_mine;
logic [KINDS:0] watch_new;        // on their way into the table: of its kinds; msb: of another line
logic [TAG_W-1:0] watch_tag;
logic [COUNT_W-1:0] watch_issued;
logic [HASH_W-1:0] watch_hash;
assign watch_hash = watch[HASH_W-1:0];
assign {watch_kinds, watch_mixed, watch_tag, watch_issued} = issued[watch_hash];
assign watch_mine = watch_tag == watch[LINE_W-1:HASH_W];
assign watch_count = watch_issued - done[watch_hash] - COUNT_W'(done_q && done_hash_q == watch_hash);
assign watch_new = {issue_q && issue_line_q[HASH_W-1:0] == watch_hash && issue_line_q != watch,
                      issue_kind_q & {KINDS{issue_q && issue_line_q == watch}}};
logic started_q = 1'b0;
always_ff @(posedge clk_i) started_q <= 1'b1;
always_comb begin
  if (started_q && !ready_o && clear_q > {1'b0, watch_hash}) assert (watch_count == '0);
  if (started_q && !ready_o) assert (!issue_q && !done_q);
  if (started_q && issue_q) assert (issue_kind_q != '0 && (issue_kind_q & (issue_kind_q - 1'b1)) == '0);
end
