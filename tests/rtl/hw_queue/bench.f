rtl/gen/tern_spec_pkg.sv rtl/tern_pkg.sv
rtl/engine/hw_queue.sv rtl/engine/indication_fifo.sv
tests/rtl/hw_queue/tb.sv
