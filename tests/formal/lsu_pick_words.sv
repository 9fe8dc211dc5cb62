// SPDX-License-Identifier: Apache-2.0
// Properties of lsu_pick, for lanes with any words: who is granted together never needs two words of one
// bank, a word of an atomic pass has one lane, no bank idles that a lane wants, the lowest lane always goes,
// and equal words go together.
module lsu_pick_words #(
    parameter int LANES = 4
) (
    input logic [LANES-1:0] want_i,
    input logic [LANES*4-1:0] word_i,  // bank in the low two bits
    input logic alone_i
);
  logic [LANES*LANES-1:0] same_bank, same_word;
  logic [LANES-1:0] grant;
  always_comb begin
    same_bank = '0;
    same_word = '0;
    for (int i = 0; i < LANES; i++)
      for (int j = i + 1; j < LANES; j++) begin
        same_bank[i*LANES+j] = word_i[i*4+:2] == word_i[j*4+:2];
        same_word[i*LANES+j] = word_i[i*4+:4] == word_i[j*4+:4];
      end
  end
  lsu_pick #(.LANES(LANES)) dut (.want_i, .bank_i(same_bank), .word_i(same_word), .alone_i, .grant_o(grant));

  logic met, idle, apart, shared;
  always_comb begin
    met = 1'b0;
    apart = 1'b0;
    shared = 1'b0;
    idle = 1'b0;
    for (int i = 0; i < LANES; i++) begin
      for (int j = i + 1; j < LANES; j++) if (grant[i] && grant[j] && same_bank[i*LANES+j]) begin
        shared = 1'b1;
        if (!same_word[i*LANES+j]) met = 1'b1;
      end
      for (int j = i + 1; j < LANES; j++) if (grant[i] && want_i[j] && !grant[j] && same_word[i*LANES+j]) apart = 1'b1;
      // lane i waits though nobody uses its bank
      if (want_i[i] && !grant[i]) begin
        idle = 1'b1;
        for (int j = 0; j < LANES; j++) if (grant[j] && word_i[i*4+:2] == word_i[j*4+:2]) idle = 1'b0;
        if (idle) met = 1'b1;
      end
    end
  end
  always_comb begin
    assert (!met);
    assert (!(alone_i && shared));
    assert (alone_i || !apart);
    assert ((grant & ~want_i) == '0);
    assert (want_i == '0 || (want_i & (~want_i + 1'b1) & grant) != '0);
  end
endmodule
