// SPDX-License-Identifier: Apache-2.0
// Places the data of the lanes of a store or atomic: in their line of 64 bytes, and for local memory in the banks. The
// two destinations share one crossbar.
//
//    load_i -> T0 -> T1 (words_q) -+
//                                  +-> crossbar -> line_o, local_*_o
//    local_* ----------------------+
//
// Contract, lines: load_i brings an access to T0. step_i.first moves it to T1, and step_i.go from T1 through the
// crossbar to line_o, which is stable until the next go. No two lanes of an access write the same byte. step_i.want is
// a go that waits for nothing but free_o, and go comes only with free_o. With pair_i (a single lane) pair_data_i also
// goes to word w xor 8, where w is the lane's word; the byte enables do not include it. full_o, from registers: the
// access in T1 writes all 64 bytes.
// Contract, banks: local_valid_i brings a pass of local memory, which is on local_data_o and local_be_o one cycle later
// and until the next. A pass always has the crossbar. While hold_o is high, no pass begins, so that a line that waited
// gets its turn: the crossbar is then free for it in the second cycle at latest.
// State saved at preemption: none; it drains.
module lsu_merge #(
    parameter int LANES = 16,  // lanes, one work-item each
    localparam int LW = $clog2(LANES)
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic                load_i,
    input  logic [1:0]          size_i,
    input  logic [LANES-1:0]    mask_i,
    input  logic [LANES*6-1:0]  offset_i,
    input  logic [LANES*32-1:0] data_i,
    input  logic                pair_i,
    input  logic [31:0]         pair_data_i,
    input  simt_op_pkg::lsu_step_t step_i,
    output logic                free_o,
    output logic                full_o,
    output simt_op_pkg::lsu_bytes_t line_o,
    output logic                hold_o,
    input  logic                local_valid_i,
    input  logic [1:0]          local_size_i,
    input  logic [LANES-1:0]    local_mask_i,
    input  logic [LANES*(LW+2)-1:0] local_low_i,  // bank and byte of each lane
    input  logic [LANES*32-1:0] local_data_i,
    output logic [LANES*32-1:0] local_data_o,     // of each bank; zero in bytes that are not written
    output logic [LANES*4-1:0]  local_be_o
);
  localparam int WORDS = LANES < 16 ? 16 : LANES;  // the more of the words of a line and the banks
  localparam int IW = $clog2(WORDS);

  // ------------------------------------------------------------------ T0, T1
  logic [1:0] t0_size_q, size_q;
  logic [LANES-1:0] t0_mask_q, mask_q;
  logic [LANES*6-1:0] t0_offset_q, offset_q;
  logic [LANES*32-1:0] t0_data_q, data_q;
  logic t0_pair_q, pair_q;
  logic [31:0] t0_pair_data_q, pair_data_q;
  logic [15:0] words_q, covered;  // words of the line that have a lane

  always_comb begin
    covered = '0;
    for (int i = 0; i < LANES; i++)
      covered = covered | (t0_mask_q[i] ? 16'b1 << t0_offset_q[i*6+2+:4] : '0);
  end
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      t0_size_q <= size_i;
      t0_mask_q <= mask_i;
      t0_offset_q <= offset_i;
      t0_data_q <= data_i;
      t0_pair_q <= pair_i;
      t0_pair_data_q <= pair_data_i;
    end
    if (step_i.first) begin
      size_q <= t0_size_q;
      mask_q <= t0_mask_q;
      offset_q <= t0_offset_q;
      data_q <= t0_data_q;
      pair_q <= t0_pair_q;
      pair_data_q <= t0_pair_data_q;
      words_q <= covered;
    end
    hold_o <= step_i.want && !step_i.go && !rst_i;
  end
  assign full_o = size_q[1] && &words_q;
  assign free_o = !local_valid_i;

  // ------------------------------------------------------------------ crossbar
  // Lanes are combined in groups of three, since a LUT of six inputs takes the select and the data of three. A
  // pair adds one lane more, without byte enables.
  logic [1:0] size;
  logic [LANES:0] mask;
  logic [IW-1:0] index;
  logic [1:0] low;
  logic [31:0] d, placed, of_data;
  logic [3:0] b, of_be;
  logic [(LANES+1)*WORDS-1:0] hot;  // word of each lane, one-hot
  logic [(LANES+1)*32-1:0] data;
  logic [LANES*4-1:0] be;
  logic [WORDS*32-1:0] out_data;
  logic [WORDS*4-1:0] out_be;

  always_ff @(posedge clk_i) begin
    if (local_valid_i || step_i.go) begin
      size = local_valid_i ? local_size_i : size_q;
      mask = {pair_q && !local_valid_i, local_valid_i ? local_mask_i : mask_q};
      for (int i = 0; i < LANES; i++) begin
        index = local_valid_i ? IW'(local_low_i[i*(LW+2)+2+:LW]) : IW'(offset_q[i*6+2+:4]);
        low = local_valid_i ? local_low_i[i*(LW+2)+:2] : offset_q[i*6+:2];
        d = local_valid_i ? local_data_i[i*32+:32] : data_q[i*32+:32];
        b = size[1] ? 4'b1111 : size[0] ? {{2{low[1]}}, {2{~low[1]}}} : 4'b1 << low;
        placed = size[1] ? d : size[0] ? {2{d[15:0]}} : {4{d[7:0]}};
        hot[i*WORDS+:WORDS] = mask[i] ? WORDS'(1) << index : '0;
        be[i*4+:4] = b;
        data[i*32+:32] = placed & {{8{b[3]}}, {8{b[2]}}, {8{b[1]}}, {8{b[0]}}};
      end
      hot[LANES*WORDS+:WORDS] = mask[LANES] ? WORDS'({words_q[7:0], words_q[15:8]}) : '0;
      data[LANES*32+:32] = pair_data_q;
      out_data = '0;
      out_be = '0;
      for (int w = 0; w < WORDS; w++)
        for (int g = 0; g <= LANES; g += 3) begin
          of_data = '0;
          of_be = '0;
          for (int i = g; i < g + 3 && i <= LANES; i++) begin
            of_data = of_data | ({32{hot[i*WORDS+w]}} & data[i*32+:32]);
            if (i < LANES) of_be = of_be | ({4{hot[i*WORDS+w]}} & be[i*4+:4]);
          end
          out_data[w*32+:32] = out_data[w*32+:32] | of_data;
          out_be[w*4+:4] = out_be[w*4+:4] | of_be;
        end
      if (local_valid_i) begin
        local_data_o <= out_data[0+:LANES*32];
        local_be_o <= out_be[0+:LANES*4];
      end
      if (step_i.go) begin
        line_o.data <= out_data[511:0];
        line_o.be <= out_be[63:0];
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    one_at_a_time: assert (!(local_valid_i && step_i.go) || rst_i);
  end
`endif
endmodule
