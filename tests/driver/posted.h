/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes on their way to a device, as a card's transport has them: registers, several in one message, and memory, each
 * kind in order. Whoever owns it (and locks) says when they arrive; what does not fit any more arrives at once.
 */
#ifndef POSTED_H
#define POSTED_H

#include "hal/hal.h"

#define POSTED_REGISTERS 64u
#define POSTED_PIECES 16u    /* of memory, */
#define POSTED_BYTES 65536u  /* and their bytes */

struct posted {
    struct tern_hal *to;
    struct tern_hal_write reg[POSTED_REGISTERS];
    struct tern_iovec piece[POSTED_PIECES];
    size_t regs, pieces, filled;
    uint8_t bytes[POSTED_BYTES];
    int error; /* the first of the device: a posted write has nobody else to tell it to */
};

void posted_keep(struct posted *p, int error);
void posted_register(struct posted *p, uint32_t offset, uint32_t value);
void posted_registers_arrive(struct posted *p);
/** The data are copied; in parts, if there is more of them than can be on its way. */
void posted_memory(struct posted *p, const struct tern_iovec *piece);
void posted_memory_arrives(struct posted *p);

#endif
