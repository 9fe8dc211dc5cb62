/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A simulated board: the Verilated link (rtl/board/tern_link.sv), with a simulator of sim/include behind it, its
 * registers at the AXI4-Lite port and its memory at the AXI4 port. One thread.
 *
 * The device's own time passes by tern_sim_api; a register access takes some of it as well.
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
struct board *board_create(const struct tern_sim_api *api, struct tern_sim *sim);
void board_destroy(struct board *b);
/** A cycle of the link: rx is the line from the host, irq the device's interrupt; the result is the line to it. */
bool board_clock(struct board *b, bool rx, bool irq);
/** Cycles since anything but waiting happened: a bit on a line, a transfer. */
uint64_t board_quiet(const struct board *b);

#ifdef __cplusplus
}
#endif

#endif
