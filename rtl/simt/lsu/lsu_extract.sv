// SPDX-License-Identifier: Apache-2.0
// Extracts each lane's word from a line of the L1 or of memory, on the way to the registers of a warp.
//
// Contract: note_* stores size and offsets of an entry before its first line arrives. start_i begins a piece with its
// entry and lanes. line_i is its line two cycles later, and one cycle after that it goes to lsu_pieces (words_*).
// State saved at preemption: none; it drains.
module lsu_extract #(
    parameter int LANES = 16,  // lanes, one work-item each
    parameter int ENTRY_W = 6  // bits of an entry
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
    output logic                words_valid_o,
    output logic [ENTRY_W-1:0]  words_entry_o,
    output logic [LANES-1:0]    words_mask_o,
    output logic [1:0]          words_size_o,
    output logic                words_unsigned_o,
    output logic [LANES*2-1:0]  words_byte_o,
    output logic [LANES*32-1:0] words_o
);
  localparam int NOTE_W = LANES * 6 + 3;

  logic [NOTE_W-1:0] notes[0:(1<<ENTRY_W)-1];
  logic [NOTE_W-1:0] note;
  logic v1_q, v2_q, unsigned_q;
  logic [ENTRY_W-1:0] entry1_q, entry2_q;
  logic [LANES-1:0] mask1_q, mask2_q;
  logic [1:0] size_q;
  logic [LANES*6-1:0] offset_q;

  always_ff @(posedge clk_i) begin
    if (note_i) begin
      for (int i = 0; i < LANES; i++) note[i*6+:6] = note_addr_i[i*32+:6];
      note[LANES*6+:3] = {note_unsigned_i, note_size_i};
      notes[note_entry_i] <= note;
    end
    v1_q <= start_i && !rst_i;
    v2_q <= v1_q && !rst_i;
    words_valid_o <= v2_q && !rst_i;
    if (start_i) begin
      entry1_q <= entry_i;
      mask1_q  <= mask_i;
    end
    if (v1_q) begin
      entry2_q <= entry1_q;
      mask2_q  <= mask1_q;
      {unsigned_q, size_q, offset_q} <= notes[entry1_q];
    end
    if (v2_q) begin
      words_entry_o <= entry2_q;
      words_mask_o <= mask2_q;
      words_size_o <= size_q;
      words_unsigned_o <= unsigned_q;
      for (int i = 0; i < LANES; i++) begin
        words_byte_o[i*2+:2] <= offset_q[i*6+:2];
        words_o[i*32+:32] <= line_i[{offset_q[i*6+2+:4], 5'b0}+:32];
      end
    end
  end
endmodule
