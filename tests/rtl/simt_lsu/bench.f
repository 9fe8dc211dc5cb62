-CFLAGS -O0
rtl/lint.vlt
rtl/tern_pkg.sv rtl/gen/tern_spec_pkg.sv rtl/simt/simt_op_pkg.sv rtl/simt/simt_core_pkg.sv
rtl/mem/mem_fifo.sv rtl/mem/atomic_alu.sv
rtl/simt/lsu/lsu_address.sv rtl/simt/lsu/lsu_coalesce.sv rtl/simt/lsu/lsu_merge.sv rtl/simt/lsu/lsu_tags.sv
rtl/simt/lsu/lsu_lines.sv rtl/simt/lsu/lsu_fills.sv rtl/simt/lsu/lsu_cache.sv rtl/simt/lsu/lsu_flight.sv
rtl/simt/lsu/lsu_extract.sv rtl/simt/lsu/lsu_pieces.sv rtl/simt/lsu/lsu_pick.sv rtl/simt/lsu/lsu_bank.sv
rtl/simt/lsu/lsu_reserve.sv rtl/simt/lsu/lsu_rows.sv rtl/simt/lsu/lsu_local.sv rtl/simt/lsu/lsu_writeback.sv
rtl/simt/lsu/lsu_pending.sv rtl/simt/lsu/lsu_retain.sv
rtl/simt/lsu/simt_lsu.sv
tests/rtl/simt_lsu/random.sv tests/rtl/simt_lsu/memory.sv tests/rtl/simt_lsu/tb.sv
variant simt_lsu_4 -GL=4 -GW=4
variant simt_lsu_8 -GL=8 -GW=4
variant simt_lsu_32 -GL=32 -GW=32
