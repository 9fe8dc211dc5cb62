# mmu with the parameters of a small device: one walk at a time, 4 slots, 8 entries.
-CFLAGS -O0 -GWALKS=1 -GSLOTS=4 -GENTRIES=8 -GCACHE_LOG2=4
rtl/lint.vlt
-y rtl/mem
rtl/tern_pkg.sv
rtl/gen/tern_spec_pkg.sv
tests/rtl/mmu/tb.sv
