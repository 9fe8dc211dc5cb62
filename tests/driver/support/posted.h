/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Posted writes in flight to a device, as in a card's transport. Registers (several in one message) and memory each
 * keep their order. The owner, who also locks, says when they arrive. Writes that do not fit any more make those before
 * them arrive at once.
 */
#ifndef POSTED_H
#define POSTED_H

#include "hal/hal.h"

#define POSTED_REGISTERS 64u
#define POSTED_PIECES 16u    /* pieces of memory in flight at most */
#define POSTED_BYTES 65536u  /* greatest number of bytes in flight */

struct posted {
    struct tern_hal *to;
    struct tern_hal_write reg[POSTED_REGISTERS];
    struct tern_iovec piece[POSTED_PIECES];
    size_t regs, pieces, filled;
    uint8_t bytes[POSTED_BYTES];
    int error; /* first error of the device, since a posted write itself returns none */
};

void posted_keep(struct posted *p, int error);
void posted_register(struct posted *p, uint32_t offset, uint32_t value);
void posted_registers_arrive(struct posted *p);
/** Copies the data. More data than fits in flight is split. */
void posted_memory(struct posted *p, const struct tern_iovec *piece);
void posted_memory_arrives(struct posted *p);

#endif
