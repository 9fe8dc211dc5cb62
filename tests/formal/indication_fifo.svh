// SPDX-License-Identifier: Apache-2.0
// The entries of an indication_fifo, the oldest in the lowest bits, for the proofs engine_order and hw_queue.
logic [(WIDTH<<DEPTH_LOG2)-1:0] f_entries;
for (genvar i = 0; i < 1 << DEPTH_LOG2; i++) begin : g_entry
  logic [DEPTH_LOG2-1:0] at;
  assign at = rd_q[DEPTH_LOG2-1:0] + DEPTH_LOG2'(i);
  assign f_entries[WIDTH*i+:WIDTH] = mem[at];
end
