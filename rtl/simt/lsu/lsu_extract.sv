// SPDX-License-Identifier: Apache-2.0
// Gives each lane its word of a line of the L1 or of memory, or of the banks of local memory, on the way to the
// registers of a warp.
//
// Contract: note_* stores size and offsets of an entry before its first line arrives. start_i begins a piece with its
// entry and lanes. line_i is its line two cycles later. local_* is a piece of local memory, in no cycle in which line_i
// is used (lsu_pieces sees to it). One cycle after line_i or local_valid_i the piece goes to lsu_pieces (words_*).
// State saved at preemption: none; it drains.
module lsu_extract #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int ENTRY_W = 6,  // bits of an entry
    localparam int LW = $clog2(LANES)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                note_i,
    input  logic [ENTRY_W-1:0]  note_entry_i,
    input  logic [1:0]          note_size_i,
    input  logic                note_unsigned_i,
    input  logic [LANES*32-1:0] note_addr_i,
    input  logic                start_i,
    input  logic [ENTRY_W-1:0]  entry_i,
    input  logic [LANES-1:0]    mask_i,
    input  logic [511:0]        line_i,
    input  logic                local_valid_i,
    input  logic [ENTRY_W-1:0]  local_entry_i,
    input  logic [LANES-1:0]    local_mask_i,
    input  logic [1:0]          local_size_i,
    input  logic                local_unsigned_i,
    input  logic [LANES*(LW+2)-1:0] local_low_i,  // bank and byte of each lane
    input  logic [LANES*32-1:0] local_words_i,    // of each bank
    output logic                words_valid_o,
    output logic [ENTRY_W-1:0]  words_entry_o,
    output logic [LANES-1:0]    words_mask_o,
    output logic [1:0]          words_size_o,
    output logic                words_unsigned_o,
    output logic [LANES*2-1:0]  words_byte_o,
    output logic [LANES*32-1:0] words_o
);
  localparam int NOTE_W = LANES * 6 + 3;
  localparam int WORDS = LANES < 16 ? 16 : LANES;  // the more of the words of a line and the banks
  localparam int IW = $clog2(WORDS);

  logic [NOTE_W-1:0] notes[0:(1<<ENTRY_W)-1];
  logic [NOTE_W-1:0] note;
  logic v1_q, v2_q, unsigned_q;
  logic [ENTRY_W-1:0] entry1_q, entry2_q;
  logic [LANES-1:0] mask1_q, mask2_q;
  logic [1:0] size_q;
  logic [LANES*6-1:0] offset_q;
  logic [WORDS*32-1:0] words;
  logic [IW-1:0] index;

  always_ff @(posedge clk_i) begin
    if (note_i) begin
      for (int i = 0; i < LANES; i++) note[i*6+:6] = note_addr_i[i*32+:6];
      note[LANES*6+:3] = {note_unsigned_i, note_size_i};
      notes[note_entry_i] <= note;
    end
    v1_q <= start_i && !rst_i;
    v2_q <= v1_q && !rst_i;
    words_valid_o <= (v2_q || local_valid_i) && !rst_i;
    if (start_i) begin
      entry1_q <= entry_i;
      mask1_q  <= mask_i;
    end
    if (v1_q) begin
      entry2_q <= entry1_q;
      mask2_q  <= mask1_q;
      {unsigned_q, size_q, offset_q} <= notes[entry1_q];
    end
    if (v2_q || local_valid_i) begin
      words_entry_o <= local_valid_i ? local_entry_i : entry2_q;
      words_mask_o <= local_valid_i ? local_mask_i : mask2_q;
      words_size_o <= local_valid_i ? local_size_i : size_q;
      words_unsigned_o <= local_valid_i ? local_unsigned_i : unsigned_q;
      words = local_valid_i ? (WORDS * 32)'(local_words_i) : (WORDS * 32)'(line_i);
      for (int i = 0; i < LANES; i++) begin
        index = local_valid_i ? IW'(local_low_i[i*(LW+2)+2+:LW]) : IW'(offset_q[i*6+2+:4]);
        words_byte_o[i*2+:2] <= local_valid_i ? local_low_i[i*(LW+2)+:2] : offset_q[i*6+:2];
        words_o[i*32+:32] <= words[{index, 5'b0}+:32];
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    one_at_a_time: assert (!(v2_q && local_valid_i) || rst_i);
  end
`endif
endmodule
