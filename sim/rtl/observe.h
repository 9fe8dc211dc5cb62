// SPDX-License-Identifier: Apache-2.0
// Reports the instructions that the executors of the Verilated device have run: tern_sim_api.observe.
//
// The observer reads registers and memories of the device after each clock edge. The design is not changed for this,
// and a device without an observer has no cost. An instruction reaches stage X exactly if it was issued: one that was
// put back or killed before does not reach it. A result counts as written when the scoreboard frees the register. At
// that time the value is in the register file, and no unit writes the register again in the next cycles.
#ifndef TERN_OBSERVE_H
#define TERN_OBSERVE_H

#include <cstdint>
#include <memory>

#include "tern_sim/tern_sim.h"

class Vtern_top;

class observer {
public:
    observer(const Vtern_top &top, tern_sim_observer f, void *user);
    ~observer();
    /** Called after each rising edge of the clock. */
    void clock(uint64_t now);

private:
    struct engine;
    struct warp;
    std::unique_ptr<engine[]> engines_;
    tern_sim_observer f_;
    void *user_;
};

#endif
