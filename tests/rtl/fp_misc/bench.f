rtl/lint.vlt
rtl/simt/simt_op_pkg.sv rtl/fp/fp_misc.sv
tests/rtl/fp_misc/tb.sv tests/rtl/fp_misc/reference.c tests/rtl/lib/float_reference.c
