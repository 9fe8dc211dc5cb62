// What the simulator makes of a bench, not RTL: tests/rtl/bench.py says why.
tests/rtl/delays/tb.sv
