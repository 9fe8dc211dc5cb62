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
endmodule
