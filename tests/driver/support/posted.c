/* SPDX-License-Identifier: Apache-2.0 */
/** Posted writes (posted.h). */
#include "posted.h"

#include <string.h>

void posted_keep(struct posted *p, int error)
{
    p->error = p->error ? p->error : error;
}

void posted_register(struct posted *p, uint32_t offset, uint32_t value)
{
    if (p->regs == POSTED_REGISTERS) {
        posted_registers_arrive(p);
    }
    p->reg[p->regs++] = (struct tern_hal_write){offset, value};
}

void posted_registers_arrive(struct posted *p)
{
    posted_keep(p, p->regs ? p->to->ops->write32(p->to, p->reg, p->regs) : 0);
    p->regs = 0;
}

void posted_memory(struct posted *p, const struct tern_iovec *piece)
{
    for (size_t done = 0, size; done < piece->size; done += size) {
        size = piece->size - done < POSTED_BYTES ? piece->size - done : POSTED_BYTES;
        if (p->pieces == POSTED_PIECES || size > POSTED_BYTES - p->filled) {
            posted_memory_arrives(p);
        }
        memcpy(&p->bytes[p->filled], (const uint8_t *)piece->data + done, size);
        p->piece[p->pieces++] = (struct tern_iovec){piece->address + done, &p->bytes[p->filled], size};
        p->filled += size;
    }
}

void posted_memory_arrives(struct posted *p)
{
    posted_keep(p, p->pieces ? p->to->ops->mem_write(p->to, p->piece, p->pieces) : 0);
    p->pieces = p->filled = 0;
}
