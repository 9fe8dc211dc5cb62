--assert
rtl/lint.vlt
-y rtl/mem
-y rtl/board
rtl/tern_pkg.sv
rtl/gen/tern_spec_pkg.sv
tests/rtl/lib/sdram_chip.sv
tests/rtl/sdram/tb.sv
