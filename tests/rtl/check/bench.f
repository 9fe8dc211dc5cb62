// The checkers of rtl/check themselves: traffic that keeps the rules is clean; with
// +break=N one is broken (file rules).
rtl/lint.vlt
rtl/tern_pkg.sv
rtl/check/check_channel.sv rtl/check/check_request.sv rtl/check/check_answers.sv
tests/rtl/check/tb.sv
