// SPDX-License-Identifier: Apache-2.0
// Properties of simt_select_node: of the valid candidates the deeper one, at the same depth the one with the lower pc,
// or both at the same pc. The next pc is the lowest of all their pcs at that depth that is above the selected one.
//
// Assumed: a candidate's next pc is above its own.
logic        f_a, f_b;         // a_i or b_i is at the selected depth
logic [31:0] f_next;

always_comb begin
  assume (a_i.low < a_i.next && b_i.low < b_i.next);
  f_a    = a_i.valid && (!b_i.valid || a_i.depth >= b_i.depth);
  f_b    = b_i.valid && (!a_i.valid || b_i.depth >= a_i.depth);
  f_next = 32'hffff_ffff;
  if (f_a && a_i.low > both_o.low && a_i.low < f_next) f_next = a_i.low;
  if (f_b && b_i.low > both_o.low && b_i.low < f_next) f_next = b_i.low;
  if (f_a && a_i.next > both_o.low && a_i.next < f_next) f_next = a_i.next;
  if (f_b && b_i.next > both_o.low && b_i.next < f_next) f_next = b_i.next;

  assert (both_o.valid == (a_i.valid || b_i.valid));
  assert (take_a_o == (f_a && (!f_b || a_i.low <= b_i.low)));
  assert (take_b_o == (f_b && (!f_a || b_i.low <= a_i.low)));
  if (both_o.valid) begin
    assert (take_a_o || take_b_o);
    if (take_a_o) assert (both_o.depth == a_i.depth && both_o.low == a_i.low);
    if (take_b_o) assert (both_o.depth == b_i.depth && both_o.low == b_i.low);
    assert (both_o.next == f_next);
    assert (both_o.whole == ((take_a_o ? a_i.whole : !a_i.valid) && (take_b_o ? b_i.whole : !b_i.valid)));
  end
end
