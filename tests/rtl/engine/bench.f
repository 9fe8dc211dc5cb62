// The engine with its real control, MMU and queues; executors.sv has test executors in the place of the real ones.
rtl/lint.vlt -Wno-WIDTH --unroll-count 15
rtl/gen/tern_spec_pkg.sv rtl/tern_pkg.sv
rtl/engine/engine.sv rtl/engine/engine_regs.sv rtl/engine/hw_queue.sv rtl/engine/indication_fifo.sv
rtl/engine/engine_stop.sv
rtl/engine/engine_reset.sv rtl/engine/engine_counters.sv rtl/engine/client_mux.sv rtl/engine/clock_gate.sv
rtl/engine/command_processor.sv rtl/engine/cp_fetch.sv rtl/engine/cp_check.sv rtl/engine/cp_fence.sv
rtl/engine/cp_pte.sv
rtl/engine/cp_context.sv rtl/engine/cp_execute.sv rtl/engine/cp_stream.sv rtl/engine/read_ring.sv
-y rtl/mem
tests/rtl/engine/executors.sv tests/rtl/lib/plain_memory.sv tests/rtl/engine/tb.sv
