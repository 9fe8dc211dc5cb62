// SPDX-License-Identifier: Apache-2.0
// The requests that wait for page walks: SLOTS slots, and for each of WALKS walks the list of its requests.
//
// Contract: while room_o is high, put_valid_i stores put_data_i at the end of the list of put_walk_i (one-hot), or
// begins that list with it if put_first_i is high. pick_slot_o is the slot of the first request of list pick_i
// (one-hot); take_i removes it from the list. last_o[w]: list w has no second request. A list is first in, first out;
// it may be put to while it is taken from. read_data_o is the contents of slot read_slot_i. free_i frees that slot.
// Linked lists are used instead of an age order over all slots: the request that has waited longest is known without a
// comparison. The second request of each list is read before it is known which list is taken from, since that is known
// late.
// Preemption: no state is saved; the engine is drained first.
module mmu_park #(
    parameter int WIDTH = 8,   // Bits of a request.
    parameter int SLOTS = 16,  // Requests that can wait.
    parameter int WALKS = 4,   // Page walks at a time.
    localparam int SW = $clog2(SLOTS)
) (
    input  logic             clk_i,
    input  logic             rst_i,
    output logic             room_o,
    input  logic             put_valid_i,
    input  logic [WALKS-1:0] put_walk_i,
    input  logic             put_first_i,
    input  logic [WIDTH-1:0] put_data_i,
    input  logic [WALKS-1:0] pick_i,
    input  logic             take_i,
    output logic [   SW-1:0] pick_slot_o,
    output logic [WALKS-1:0] last_o,
    input  logic [   SW-1:0] read_slot_i,
    output logic [WIDTH-1:0] read_data_o,
    input  logic             free_i
);
  (* ram_style = "distributed" *) logic [WIDTH-1:0] slots[0:SLOTS-1];
  logic [SW-1:0] follows[0:SLOTS-1];
  logic [SLOTS-1:0] used_q, lowest;  // used_q: in use, or chosen as the next one.
  logic [SW*WALKS-1:0] head_q, tail_q;
  logic [SW-1:0] next_q, next, put_tail;
  logic [SW*WALKS-1:0] behind;  // The second slot of each list.
  logic choose;

  assign read_data_o = slots[read_slot_i];
  assign choose = !room_o || put_valid_i;  // A slot is chosen for the next request.
  assign lowest = ~used_q & (used_q + 1'b1);
  always_comb begin
    next = '0;
    for (int i = 0; i < SLOTS; i++) if (lowest[i]) next = next | SW'(i);
    put_tail = '0;
    pick_slot_o = '0;
    for (int w = 0; w < WALKS; w++) begin
      if (put_walk_i[w]) put_tail = put_tail | tail_q[SW*w+:SW];
      if (pick_i[w]) pick_slot_o = pick_slot_o | head_q[SW*w+:SW];
      behind[SW*w+:SW] = follows[head_q[SW*w+:SW]];
      last_o[w] = head_q[SW*w+:SW] == tail_q[SW*w+:SW];
    end
  end

  always_ff @(posedge clk_i) begin
    if (put_valid_i) begin
      slots[next_q] <= put_data_i;
      if (!put_first_i) follows[put_tail] <= next_q;
    end
    if (choose) begin
      room_o <= lowest != '0;
      next_q <= next;
    end
    for (int w = 0; w < WALKS; w++) begin
      if (put_valid_i && put_walk_i[w]) tail_q[SW*w+:SW] <= next_q;
      if (put_valid_i && put_walk_i[w] && (put_first_i || (take_i && pick_i[w] && last_o[w])))
        head_q[SW*w+:SW] <= next_q;
      else if (take_i && pick_i[w]) head_q[SW*w+:SW] <= behind[SW*w+:SW];
    end
    for (int i = 0; i < SLOTS; i++) begin
      if (choose && lowest[i]) used_q[i] <= 1'b1;
      if (free_i && read_slot_i == SW'(i)) used_q[i] <= 1'b0;
    end
    if (rst_i) begin
      room_o <= 1'b0;
      used_q <= '0;
    end
  end

`ifdef FORMAL
  // Each request put has a number in its list. What is listed is numbered without gap or double, the head is the
  // oldest, and each leads to the next: so requests are taken once each, in the order in which they were put, and until
  // it is freed the slot of each holds what was put. Assumed of the caller: what the contract says.
  localparam int F_NW = WALKS > 1 ? $clog2(WALKS) : 1;
  (* anyconst *) logic [SW-1:0] f_slot;
  logic f_start_q = 1'b1;
  logic [SLOTS-1:0] f_listed_q, f_taken_q;
  logic [F_NW*SLOTS-1:0] f_walk_q;
  logic [4*SLOTS-1:0] f_number_q;
  logic [4*WALKS-1:0] f_puts_q, f_takes_q;
  logic [F_NW-1:0] f_w, f_put_w, f_pick_w;
  logic [SW-1:0] f_next;
  logic [WIDTH-1:0] f_data_q;
  always_comb begin
    f_put_w = '0;
    f_pick_w = '0;
    for (int w = 0; w < WALKS; w++) begin
      if (put_walk_i[w]) f_put_w = F_NW'(w);
      if (pick_i[w]) f_pick_w = F_NW'(w);
    end
  end
  always_ff @(posedge clk_i) begin
    f_start_q <= 1'b0;
    if (put_valid_i) begin
      f_listed_q[next_q] <= 1'b1;
      f_walk_q[F_NW*next_q+:F_NW] <= f_put_w;
      f_number_q[4*next_q+:4] <= f_puts_q[4*f_put_w+:4];
      f_puts_q[4*f_put_w+:4] <= f_puts_q[4*f_put_w+:4] + 1'b1;
      if (next_q == f_slot) f_data_q <= put_data_i;
    end
    if (take_i && |pick_i) begin
      f_listed_q[pick_slot_o] <= 1'b0;
      f_taken_q[pick_slot_o] <= 1'b1;
      f_takes_q[4*f_pick_w+:4] <= f_takes_q[4*f_pick_w+:4] + 1'b1;
    end
    if (free_i) f_taken_q[read_slot_i] <= 1'b0;
    if (rst_i) {f_listed_q, f_taken_q, f_puts_q, f_takes_q} <= '0;
  end
  always_comb begin
    f_w = '0;
    f_next = '0;
    assume (rst_i == f_start_q);
    assume ((put_walk_i & (put_walk_i - 1'b1)) == '0 && (pick_i & (pick_i - 1'b1)) == '0);
    if (!f_start_q) begin
      if (put_valid_i)
        assume (room_o && |put_walk_i && put_first_i == (f_puts_q[4*f_put_w+:4] == f_takes_q[4*f_put_w+:4]));
      if (|pick_i) assume (f_puts_q[4*f_pick_w+:4] != f_takes_q[4*f_pick_w+:4]);
      if (free_i) assume (f_taken_q[read_slot_i]);
      assert ((f_listed_q & f_taken_q) == '0 && ((f_listed_q | f_taken_q) & ~used_q) == '0);
      if (room_o) assert (used_q[next_q] && !f_listed_q[next_q] && !f_taken_q[next_q]);
      for (int w = 0; w < WALKS; w++)
        if (f_puts_q[4*w+:4] != f_takes_q[4*w+:4]) begin
          f_next = head_q[SW*w+:SW];
          assert (f_listed_q[f_next] && f_walk_q[F_NW*f_next+:F_NW] == F_NW'(w) &&
                  f_number_q[4*f_next+:4] == f_takes_q[4*w+:4]);
          f_next = tail_q[SW*w+:SW];
          assert (f_listed_q[f_next] && f_walk_q[F_NW*f_next+:F_NW] == F_NW'(w) &&
                  f_number_q[4*f_next+:4] == f_puts_q[4*w+:4] - 4'd1);
          assert (last_o[w] == (f_puts_q[4*w+:4] - f_takes_q[4*w+:4] == 4'd1));
        end
      for (int s = 0; s < SLOTS; s++)
        if (f_listed_q[s]) begin
          f_w = f_walk_q[F_NW*s+:F_NW];
          assert (f_number_q[4*s+:4] - f_takes_q[4*f_w+:4] < f_puts_q[4*f_w+:4] - f_takes_q[4*f_w+:4]);
          f_next = follows[s];
          if (f_number_q[4*s+:4] != f_puts_q[4*f_w+:4] - 4'd1)
            assert (f_listed_q[f_next] && f_walk_q[F_NW*f_next+:F_NW] == f_w &&
                    f_number_q[4*f_next+:4] == f_number_q[4*s+:4] + 4'd1);
          for (int t = 0; t < s; t++)
            if (f_listed_q[t] && f_walk_q[F_NW*t+:F_NW] == f_w) assert (f_number_q[4*t+:4] != f_number_q[4*s+:4]);
        end
      if (|pick_i)
        assert (f_listed_q[pick_slot_o] && f_walk_q[F_NW*pick_slot_o+:F_NW] == f_pick_w &&
                f_number_q[4*pick_slot_o+:4] == f_takes_q[4*f_pick_w+:4]);
      if (f_listed_q[f_slot] || f_taken_q[f_slot]) begin
        assert (slots[f_slot] == f_data_q);
        if (read_slot_i == f_slot) assert (read_data_o == f_data_q);
      end
    end
  end
`endif
endmodule
