// SPDX-License-Identifier: Apache-2.0
// Selects lanes that may access the banks of local memory in the same cycle. Combinational.
//
// Contract: of the lanes in want_i, the lowest lane of each bank is granted. A lane that wants the same word as a
// granted lane is granted too, unless alone_i is high (atomics: one lane per bank). bank_i and word_i, bit
// i * LANES + j for i < j, tell that lanes i and j want the same bank or the same word. Granted lanes of one bank
// therefore share the word, and the lowest wanting lane is always granted.
// State saved at preemption: none.
module lsu_pick #(
    parameter int LANES = 16  // lanes, one work-item each
) (
    input  logic [LANES-1:0]       want_i,
    input  logic [LANES*LANES-1:0] bank_i,
    input  logic [LANES*LANES-1:0] word_i,
    input  logic                   alone_i,
    output logic [LANES-1:0]       grant_o
);
  logic [LANES-1:0] behind, along;

  always_comb begin
    behind = '0;
    along = '0;
    grant_o = '0;
    if (|want_i) begin
      for (int i = 0; i < LANES; i++)
        for (int j = i + 1; j < LANES; j++) behind[j] = behind[j] | (want_i[i] & bank_i[i*LANES+j]);
      grant_o = want_i & ~behind;
      if (!alone_i) begin
        for (int i = 0; i < LANES; i++)
          for (int j = i + 1; j < LANES; j++) along[j] = along[j] | (grant_o[i] & word_i[i*LANES+j]);
      end
      grant_o = want_i & (~behind | along);
    end
  end
endmodule
