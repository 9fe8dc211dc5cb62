// This bench tests the simulator, not RTL; tests/rtl/bench.py has the reason.
tests/rtl/delays/tb.sv
