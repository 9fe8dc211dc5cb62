// SPDX-License-Identifier: Apache-2.0
// Places the data of the lanes of a store or atomic in their line of 64 bytes, in two stages.
//
// Contract: first_i loads stage one; no two of its lanes write the same byte. second_i moves it to stage two, whose
// line_o and be_o are stable until the next second_i. With pair_i (a single lane) pair_data_i also goes to word
// w xor 8, where w is the lane's word; be_o does not include it. full_o, combinational from stage one: all 64 bytes are
// written.
// State saved at preemption: none; it drains.
module lsu_merge #(
    parameter int LANES = 16  // lanes, one work-item each
) (
    input  logic                clk_i,
    input  logic                first_i,
    input  logic [1:0]          size_i,
    input  logic [LANES-1:0]    mask_i,
    input  logic [LANES*6-1:0]  offset_i,
    input  logic [LANES*32-1:0] data_i,
    input  logic                pair_i,
    input  logic [31:0]         pair_data_i,
    output logic                full_o,
    input  logic                second_i,
    output logic [511:0]        line_o,
    output logic [63:0]         be_o
);
  logic [LANES*16-1:0] word_q;  // word of the line, one-hot, of each lane
  logic [LANES*4-1:0] be_q;
  logic [LANES*32-1:0] data_q;
  logic pair_q, words_q;
  logic [31:0] pair_data_q;
  logic [31:0] d, placed;
  logic [3:0] b;

  always_ff @(posedge clk_i) begin
    if (first_i) begin
      pair_q <= pair_i;
      pair_data_q <= pair_data_i;
      words_q <= size_i[1];
      for (int i = 0; i < LANES; i++) begin
        d = data_i[i*32+:32];
        placed = size_i[1] ? d : size_i[0] ? {2{d[15:0]}} : {4{d[7:0]}};
        b = size_i[1] ? 4'b1111 : size_i[0] ? {{2{offset_i[i*6+1]}}, {2{~offset_i[i*6+1]}}} : 4'b1 << offset_i[i*6+:2];
        word_q[i*16+:16] <= mask_i[i] ? 16'b1 << offset_i[i*6+2+:4] : '0;
        be_q[i*4+:4] <= b;
        data_q[i*32+:32] <= placed & {{8{b[3]}}, {8{b[2]}}, {8{b[1]}}, {8{b[0]}}};
      end
    end
  end

  logic [15:0] words;
  always_comb begin
    words = '0;
    for (int i = 0; i < LANES; i++) words = words | word_q[i*16+:16];
  end
  assign full_o = words_q && &words;

  logic [511:0] line;
  logic [63:0] be;
  always_ff @(posedge clk_i) begin
    if (second_i) begin
      line = '0;
      be = '0;
      for (int i = 0; i < LANES; i++)
        for (int w = 0; w < 16; w++) begin
          line[w*32+:32] = line[w*32+:32] | ({32{word_q[i*16+w]}} & data_q[i*32+:32]);
          be[w*4+:4] = be[w*4+:4] | ({4{word_q[i*16+w]}} & be_q[i*4+:4]);
        end
      if (pair_q) for (int w = 0; w < 16; w++) line[w*32+:32] = line[w*32+:32] | ({32{words[w^8]}} & pair_data_q);
      line_o <= line;
      be_o   <= be;
    end
  end
endmodule
