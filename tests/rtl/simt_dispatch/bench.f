rtl/lint.vlt
rtl/gen/tern_spec_pkg.sv rtl/simt/simt_core_pkg.sv
rtl/simt/simt_dispatch_ids.sv rtl/simt/simt_dispatch_slots.sv rtl/simt/simt_dispatch.sv rtl/simt/simt_dispatch_check.sv
tests/rtl/simt_dispatch/harness.sv tests/rtl/simt_dispatch/tb.sv
