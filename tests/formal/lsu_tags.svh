// SPDX-License-Identifier: Apache-2.0
// Properties of lsu_tags, for any one line: hit_o says what the writes of all earlier cycles say, whenever the line was
// looked up.
(* anyconst *) logic [25:0] f_line;
logic f_start_q = 1'b1, f_in_q, f_looked_q = 1'b0;  // the line is in the L1; it is the one that was looked up last
logic f_in, f_own_q = 1'b0;  // f_own_q: some line was looked up
logic f_valid, f_write;  // what the tables say of the line's place, with the write that is about to enter them
logic [TW-1:0] f_tag;
logic [IW-1:0] f_index;
assign f_index = f_line[IW-1:0] ^ f_line[IW+:IW];
assign f_in = own_i && index_q == f_index ? own_set_i && tag_q == f_line[25:IW] :
    put_i && put_index_o == f_index ? put_line_i == f_line : f_in_q;
assign f_write = write_q && write_index_q == f_index;
assign f_valid = f_write ? write_set_q : valid_q[f_index];
assign f_tag = f_write && write_set_q ? write_tag_q : tags[f_index];
always_ff @(posedge clk_i) begin
  f_start_q <= 1'b0;
  f_in_q <= f_in && !clear_i;
  f_looked_q <= look_i ? look_line_i == f_line : f_looked_q && !f_start_q;
  f_own_q <= look_i || (f_own_q && !f_start_q);
  if (f_start_q) assume (clear_i);
  if (own_i) assume (!put_i && f_own_q);
  if (!f_start_q) begin
    assert (f_in_q == (f_valid && f_tag == f_line[25:IW]));
    if (f_looked_q) assert (index_q == f_index && tag_q == f_line[25:IW] && hit_o == f_in_q);
    if (f_looked_q) assert (present_q == f_valid && (!present_q || found_q == f_tag));
  end
end
