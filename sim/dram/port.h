/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The rules that the device keeps at its AXI4 port, and memory towards it: checked in every cycle of every simulation.
 *
 * AXI4 (IHI 0022): what is offered stays as it is until it is taken; no transfer crosses 4 KiB; WLAST marks
 * the last beat; an answer belongs to a request. Tern's own (docs/hardware/memory.md): INCR, the full width of
 * 64 bytes, aligned, one beat.
 */
#ifndef TERN_PORT_H
#define TERN_PORT_H

#include "dram.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What an address channel carries beside its id and address. */
struct tern_port_burst {
    uint8_t len, size, burst;
};

/** What was offered in the last cycle and not taken, and what has not been answered. */
struct tern_port {
    struct tern_dram_in was;
    struct tern_port_burst was_ar, was_aw;
    bool was_last, ar_held, aw_held, w_held;
    uint32_t wdata[16];
    uint32_t reads[256], writes[256]; /* addresses taken and not answered, by id */
};

/**
 * A clock edge: what memory and device drove before it. wlast: with in->wdata.
 * The name of the first rule that is broken, or NULL. A port begins zeroed, after a reset.
 */
const char *tern_port_clock(struct tern_port *port, const struct tern_dram_out *out, const struct tern_dram_in *in,
                            const struct tern_port_burst *ar, const struct tern_port_burst *aw, bool wlast);

#ifdef __cplusplus
}
#endif

#endif
