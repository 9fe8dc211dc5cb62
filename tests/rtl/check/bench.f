// Bench of the checkers of rtl/check. Traffic that keeps the rules fails no assertion. +break=N breaks one rule
// (statement `rule` in bench.checks).
rtl/lint.vlt
rtl/tern_pkg.sv
rtl/check/check_channel.sv rtl/check/check_request.sv rtl/check/check_answers.sv
tests/rtl/check/tb.sv
