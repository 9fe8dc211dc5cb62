// SPDX-License-Identifier: Apache-2.0
// Coverage counted by all devices of the process, in the coverage build.
//
// Verilator's counters are members of a device and are destroyed with it. A test that makes a new device for each case
// needs the sum over all of them. Therefore the counts of a device are added to a common sum when it is destroyed.
#ifndef TERN_COVERAGE_H
#define TERN_COVERAGE_H

#include "Vtern_top.h"

class coverage_counters {
public:
    explicit coverage_counters(Vtern_top &top);
    ~coverage_counters();
    /** Writes the sum of the counts of all devices. 0 or -errno. */
    int write(const char *path);

private:
    Vtern_top &top_;
};

#endif
