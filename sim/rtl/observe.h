// SPDX-License-Identifier: Apache-2.0
// What the executors of the Verilated device have run, instruction by instruction: tern_sim_api.observe.
//
// The device is looked at after each clock edge, and only its registers and memories are: nothing of the design changes
// for it, and a device that is not observed pays nothing. An instruction is in stage X exactly if it was issued; what
// was put back or killed before never gets there. Its result counts as written when the scoreboard frees its register:
// it then lies in the register file, and the next write to it is cycles away, whichever unit it comes from.
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
    /** After each rising edge of the clock. */
    void clock(uint64_t now);

private:
    struct engine;
    struct warp;
    std::unique_ptr<engine[]> engines_;
    tern_sim_observer f_;
    void *user_;
};

#endif
