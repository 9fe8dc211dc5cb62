// SPDX-License-Identifier: Apache-2.0
// Which lanes may use the banks of local memory together. Combinational.
//
// Contract: of the lanes in want_i the lowest of each bank wins; every other one that wants the same word goes along
// with it, unless alone_i (atomics: one lane a word). bank_i(i, j) and word_i(i, j), i < j at bit i * LANES + j, say
// that two lanes want the same bank, the same word. So granted lanes of one bank always share the word, and the lowest
// wanting lane is always granted.
module lsu_pick #(
    parameter int LANES = 16
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
