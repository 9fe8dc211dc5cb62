# mem_fabric with two memory ports.
-GPORTS=2
-CFLAGS -O0
rtl/lint.vlt
-y rtl/mem
rtl/tern_pkg.sv
rtl/gen/tern_spec_pkg.sv
tests/rtl/mem_fabric/axi_memory.sv
tests/rtl/mem_fabric/tb.sv
