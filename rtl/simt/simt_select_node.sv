// SPDX-License-Identifier: Apache-2.0
// Joins the candidates of two sets of lanes of a warp, for simt_select: the greatest call depth, and the two lowest
// distinct pcs at that depth.
//
// Contract: combinational. both_o is the candidate of both sets. The candidate's lanes are those of a_i (take_a_o), of
// b_i (take_b_o), or of both. Without valid the other members mean nothing.
// State saved at preemption: none.
//
// All five comparators work on the inputs, so that none waits for another.

module simt_select_node (
    input  simt_core_pkg::candidate_t a_i,
    input  simt_core_pkg::candidate_t b_i,
    output simt_core_pkg::candidate_t both_o,
    output logic                take_a_o,
    output logic                take_b_o
);

  logic        deeper_a, deeper_b, lower_a, lower_b, peers, other, next_b;

  always_comb begin
    deeper_a = a_i.depth > b_i.depth;
    deeper_b = a_i.depth < b_i.depth;
    lower_a  = a_i.low < b_i.low;
    lower_b  = a_i.low > b_i.low;
    peers    = a_i.valid && b_i.valid && !deeper_a && !deeper_b;
    take_a_o = a_i.valid && !(b_i.valid && (deeper_b || (!deeper_a && lower_b)));
    take_b_o = b_i.valid && !(a_i.valid && (deeper_a || (!deeper_b && lower_a)));
    // The lowest pc of the one that is not lower is the next, or else a next of one of them is.
    other    = peers && (lower_a ? a_i.next >= b_i.low : lower_b && b_i.next >= a_i.low);
    next_b   = !peers ? !take_a_o : lower_a ? 1'b0 : lower_b || b_i.next < a_i.next;
  end

  assign both_o.valid = a_i.valid || b_i.valid;
  assign both_o.whole = (take_a_o ? a_i.whole : !a_i.valid) && (take_b_o ? b_i.whole : !b_i.valid);
  assign both_o.depth = take_a_o ? a_i.depth : b_i.depth;
  assign both_o.low   = take_a_o ? a_i.low : b_i.low;
  assign both_o.next  = other ? (lower_a ? b_i.low : a_i.low) : (next_b ? b_i.next : a_i.next);

endmodule
