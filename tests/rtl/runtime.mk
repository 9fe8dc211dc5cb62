# SPDX-License-Identifier: Apache-2.0
# Verilator's runtime, and its headers precompiled for -O0 and -O1. All benches of tests/rtl/run share them.
# The flags are those of the makefile that Verilator writes for a bench.
VM_PREFIX := $(basename $(firstword $(MAKEFILE_LIST)))
VM_TIMING = 1
VM_COVERAGE = 0
VM_SC = 0
VM_TRACE = 0
VM_TRACE_FST = 0
VM_TRACE_VCD = 0
VM_USER_CFLAGS = -DVL_TIME_CONTEXT
VM_GLOBAL_FAST = verilated verilated_timing verilated_threads verilated_dpi
include $(VERILATOR_ROOT)/include/verilated.mk

runtime.a: $(VK_GLOBAL_OBJS)
	$(AR) -rcs $@ $^

HEADERS = verilated.h verilated_timing.h verilated_dpi.h
O0.pch O1.pch: O%.pch: $(VM_PREFIX).mk $(HEADERS)
	$(OBJCACHE) $(CXX) $(CXXFLAGS) $(CPPFLAGS) -O$* $(addprefix -include ,$(HEADERS)) -x c++-header /dev/null -o $@

-include $(VK_GLOBAL_OBJS:.o=.d)
