rtl/lint.vlt
rtl/simt/simt_op_pkg.sv rtl/fp/div_lane.sv rtl/simt/div_unit.sv
tests/rtl/div_unit/tb.sv tests/rtl/div_unit/reference.c tests/rtl/lib/float_reference.c
