-CFLAGS -O0
rtl/lint.vlt
-y rtl/mem
rtl/tern_pkg.sv
rtl/gen/tern_spec_pkg.sv
tests/rtl/mem_fabric/axi_memory.sv
tests/rtl/mem_fabric/tb.sv
variant mem_fabric_2 -GPORTS=2
variant mem_fabric_4 -GPORTS=4
variant mem_fabric_plain -GATOMICS=0 -GHASH_W=5
