--assert
rtl/lint.vlt
-y rtl/mem
-y rtl/board
rtl/tern_pkg.sv
tests/rtl/lib/sdram_chip.sv
tests/rtl/board_memory/tb.sv
