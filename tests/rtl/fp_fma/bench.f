rtl/lint.vlt
rtl/simt/simt_op_pkg.sv rtl/fp/fp_fma.sv
tests/rtl/fp_fma/tb.sv tests/rtl/fp_fma/reference.c tests/rtl/lib/float_reference.c
