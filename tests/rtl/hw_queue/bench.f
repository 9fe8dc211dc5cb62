rtl/engine/hw_queue.sv rtl/engine/indication_fifo.sv
tests/rtl/hw_queue/tb.sv
