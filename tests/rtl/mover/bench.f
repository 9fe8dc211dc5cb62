rtl/lint.vlt -Wno-WIDTH --unroll-count 15
rtl/gen/tern_spec_pkg.sv rtl/tern_pkg.sv
rtl/engine/read_ring.sv rtl/engine/mover_rows.sv rtl/engine/mover_align.sv rtl/engine/mover_place.sv rtl/engine/mover.sv
tests/rtl/lib/plain_memory.sv tests/rtl/lib/executor_host.sv
tests/rtl/mover/tb.sv
