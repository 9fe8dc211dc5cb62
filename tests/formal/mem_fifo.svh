// SPDX-License-Identifier: Apache-2.0 Properties of mem_fifo: it never holds more entries than it has room for. A queue
// of free slots (FILL), which fills itself after reset, gives meanwhile only entries that it has filled; assumed: it
// gets back only what it gave. f_entries are the entries, the oldest in the lowest bits, for proofs of modules that
// contain a mem_fifo.
logic [DEPTH_LOG2:0] f_count;
logic [(WIDTH<<DEPTH_LOG2)-1:0] f_entries;
assign f_count = wr_q - rd_q;
for (genvar i = 0; i < 1 << DEPTH_LOG2; i++) begin : g_entry
  assign f_entries[WIDTH*i+:WIDTH] = mem[rd_q[DEPTH_LOG2-1:0]+DEPTH_LOG2'(i)];
end
logic started_q = 1'b0;
always_ff @(posedge clk_i) started_q <= 1'b1;
always_comb begin
  if (FILL && (filling_q || f_count[DEPTH_LOG2])) assume (!in_valid_i);
  if (started_q) assert (f_count <= (DEPTH_LOG2 + 1)'(1 << DEPTH_LOG2));
  if (started_q) assert (ready_q == !f_count[DEPTH_LOG2] && valid_q == (f_count != '0));
  if (started_q && filling_q) assert (FILL && !wr_q[DEPTH_LOG2] && rd_q <= wr_q);
end
