rtl/lint.vlt
rtl/simt/simt_op_pkg.sv rtl/simt/simt_alu.sv rtl/fp/int_mul.sv
tests/rtl/simt_int/tb.sv tests/rtl/simt_int/reference.c tests/rtl/lib/float_reference.c
