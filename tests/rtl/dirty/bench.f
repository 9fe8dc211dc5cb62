-CFLAGS -O0 --unroll-count 8
rtl/lint.vlt
-y rtl/mem
rtl/tern_pkg.sv
rtl/gen/tern_spec_pkg.sv
tests/rtl/dirty/rig.sv
tests/rtl/dirty/tb.sv
