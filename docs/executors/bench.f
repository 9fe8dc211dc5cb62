// user_NAME by itself, over a memory that answers at any time and sometimes with a fault.
rtl/lint.vlt -Wno-WIDTH
rtl/gen/tern_spec_pkg.sv rtl/tern_pkg.sv
rtl/user/user_NAME.sv
tests/rtl/lib/plain_memory.sv tests/rtl/lib/executor_host.sv
tests/rtl/user_NAME/tb.sv
