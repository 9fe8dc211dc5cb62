// SPDX-License-Identifier: Apache-2.0
// Coverage counted by all devices of the process (the coverage build only).
//
// Verilator keeps the counters in each device, and they go with it; but a test that makes a new device for each of its
// cases needs the sum over all of them. So a device leaves its counts behind when it goes.
#ifndef TERN_COVERAGE_H
#define TERN_COVERAGE_H

#include "Vtern_top.h"

class coverage_counters {
public:
    explicit coverage_counters(Vtern_top &top);
    ~coverage_counters();
    /** What all devices have counted until now. 0 or -errno. */
    int write(const char *path);

private:
    Vtern_top &top_;
};

#endif
