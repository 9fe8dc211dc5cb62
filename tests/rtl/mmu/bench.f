-CFLAGS -O0
rtl/lint.vlt
-y rtl/mem
rtl/tern_pkg.sv
rtl/gen/tern_spec_pkg.sv
tests/rtl/mmu/tb.sv
variant mmu_small -GWALKS=1 -GSLOTS=4 -GENTRIES=8 -GCACHE_LOG2=4
