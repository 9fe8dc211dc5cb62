-CFLAGS -O0
rtl/lint.vlt
-y rtl/mem
rtl/tern_pkg.sv
rtl/gen/tern_spec_pkg.sv
tests/rtl/mmu/tb.sv
