/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Simulated boards, each Verilated. The caller serialises all calls.
 *
 * board_link: the link alone (rtl/board/tern_link.sv), with any simulator of sim/include behind it. The simulator's
 * registers are at the link's AXI4-Lite port, its memory at the AXI4 port. Device time passes by tern_sim_api.
 * board_whole: rtl/board/board_core.sv, which has link, arbiter, SDRAM controller and device on one clock, and the
 * SDRAM chip of the benches. The chip ends the program if the controller violates one of the chip's timings.
 */
#ifndef TERN_BOARD_BRIDGE_H
#define TERN_BOARD_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "tern_sim/tern_sim.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOARD_CLOCK_HZ 25000000u /* clock of the link, as in its parameters: 25 cycles are 3 bits */
#define BOARD_BAUD 3000000u

struct board;

/** Creates a board with the link alone. The caller keeps the simulator, which must outlive the board. NULL: out of
 *  memory. */
struct board *board_link(const struct tern_sim_api *api, struct tern_sim *sim);
/** Creates a whole board. NULL: out of memory. */
struct board *board_whole(void);
void board_destroy(struct board *b);
/** Runs a cycle of the link. rx is the level of the line from the host; returns the level of the line to the host. */
bool board_clock(struct board *b, bool rx);
/** Runs a device with a clock of its own for as many cycles as the link has just run. Returns false if the device
 *  failed, after a message on stderr. */
bool board_follow(struct board *b, uint64_t cycles);
/** Runs `cycles` cycles in which the link is idle. Returns false as board_follow does. */
bool board_idle(struct board *b, uint64_t cycles);
/** Returns the cycles since the last bit on a line or transfer of the link. */
uint64_t board_quiet(const struct board *b);
/** Returns the state of the device's interrupt. */
bool board_irq(const struct board *b);

#ifdef __cplusplus
}
#endif

#endif
