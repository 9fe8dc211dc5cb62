/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The rules of the device's AXI4 port, for both sides, which are checked in every cycle of every simulation.
 *   AXI4 (IHI 0022)                    valid and payload stay until the handshake; no transfer crosses 4 KiB; WLAST
 *                                      marks the last beat; each answer belongs to a request.
 *   Tern (docs/hardware/memory.md)     INCR, the full width of 64 bytes, aligned, one beat.
 */
#ifndef TERN_PORT_H
#define TERN_PORT_H

#include "dram.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Signals of an address channel besides id and address. */
struct tern_port_burst {
    uint8_t len, size, burst;
};

/** State of the checks: the signals of the last cycle that had no handshake, and the outstanding transfers. */
struct tern_port {
    struct tern_dram_in was;
    struct tern_port_burst was_ar, was_aw;
    bool was_last, ar_held, aw_held, w_held;
    uint32_t wdata[16];
    uint32_t reads[256], writes[256]; /* numbers of outstanding transfers, by id */
};

/**
 * Checks a clock edge, given the signals that memory and device drove before it; wlast belongs to in->wdata. Returns
 * the name of the first broken rule, or NULL. A port is zeroed at a reset.
 */
const char *tern_port_clock(struct tern_port *port, const struct tern_dram_out *out, const struct tern_dram_in *in,
                            const struct tern_port_burst *ar, const struct tern_port_burst *aw, bool wlast);

#ifdef __cplusplus
}
#endif

#endif
