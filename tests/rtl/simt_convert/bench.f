rtl/lint.vlt
rtl/simt/simt_op_pkg.sv rtl/fp/fp_convert.sv rtl/simt/simt_convert.sv
tests/rtl/simt_convert/tb.sv tests/rtl/simt_convert/reference.c tests/rtl/lib/float_reference.c
