/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Simulated boards, each Verilated. One thread.
 *
 * board_link: the link alone (rtl/board/tern_link.sv), with any simulator of sim/include behind it, its registers at
 * the AXI4-Lite port and its memory at the AXI4 port; the device's time passes by tern_sim_api.
 * board_whole: rtl/board/board_core.sv, link, arbiter, SDRAM controller and device on one clock, and the SDRAM chip of
 * the benches, which ends the program if the controller breaks one of its times.
 */
#ifndef TERN_BOARD_BRIDGE_H
#define TERN_BOARD_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "tern_sim/tern_sim.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOARD_CLOCK_HZ 25000000u /* of the link, as its parameters have it: 25 cycles are 3 bits */
#define BOARD_BAUD 3000000u

struct board;

/** NULL: no memory. The simulator stays the caller's, and must live longer. */
struct board *board_link(const struct tern_sim_api *api, struct tern_sim *sim);
/** NULL: no memory. */
struct board *board_whole(void);
void board_destroy(struct board *b);
/** A cycle of the link: rx is the line from the host, the result the line to it. */
bool board_clock(struct board *b, bool rx);
/** So many cycles of the link are over: a device with a time of its own has as many. False: it failed, and said why. */
bool board_follow(struct board *b, uint64_t cycles);
/** So many cycles pass in which the link has nothing to do. False: as above. */
bool board_idle(struct board *b, uint64_t cycles);
/** Cycles since anything but waiting happened: a bit on a line, a transfer of the link. */
uint64_t board_quiet(const struct board *b);
/** The device's interrupt. */
bool board_irq(const struct board *b);

#ifdef __cplusplus
}
#endif

#endif
