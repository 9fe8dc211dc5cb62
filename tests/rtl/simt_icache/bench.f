rtl/lint.vlt
rtl/gen/tern_spec_pkg.sv rtl/tern_pkg.sv rtl/simt/simt_core_pkg.sv rtl/simt/simt_icache.sv
tests/rtl/simt_icache/harness.sv tests/rtl/simt_icache/tb.sv
