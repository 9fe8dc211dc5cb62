rtl/lint.vlt -Wno-WIDTH
rtl/gen/tern_spec_pkg.sv rtl/tern_pkg.sv rtl/simt/simt_op_pkg.sv
rtl/fp/fp_fma.sv rtl/engine/read_ring.sv rtl/user/user_saxpy.sv
tests/rtl/lib/plain_memory.sv tests/rtl/lib/executor_host.sv
tests/rtl/user_saxpy/tb.sv
