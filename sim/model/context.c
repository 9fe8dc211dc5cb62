/* SPDX-License-Identifier: Apache-2.0 */
/** Context-save areas (docs/spec/context.yaml): the lines of an area, in the pages that its list names, and its header,
 *  which is written last. Addresses are physical. */
#include "model.h"

#define LINES_PER_PAGE (PAGE / LINE)
#define NAMES_A_PAGE (TERN_PTE_VALID_MASK | TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK)

/** Sets the address of the fault if the access is not done. A fault names the area and not the line, because the
 *  hardware has many lines outstanding at once. */
static void check(const struct lines *s, bool done)
{
    if (!done) {
        s->f->va = (uint32_t)(s->page * PAGE);
    }
}

/** Finds the address of the next line. Returns false if there is a fault, of this access or of an earlier one. */
static bool place(const struct lines *s, uint32_t access, uint64_t *at)
{
    const uint32_t line = s->next ? LIST_LINES + s->next : 0, page = line / LINES_PER_PAGE;
    const uint64_t first = s->page * PAGE;
    uint32_t entry = 0;
    if (s->f->code) {
        return false;
    }
    *at = first + (uint64_t)line % LINES_PER_PAGE * LINE;
    if (page) {
        check(s, memory_read(&s->e->dev->mem, &s->e->physical, first + LINE + (page - 1) * sizeof entry, &entry,
                             sizeof entry, s->f));
        if (!s->f->code && (entry & ~TERN_PTE_PPN_MASK) != NAMES_A_PAGE) {
            *s->f = (struct fault){.code = TERN_FAULT_CONTEXT_INVALID, .access = access, .va = (uint32_t)first};
        }
        *at += (uint64_t)(entry >> TERN_PTE_PPN_SHIFT) * PAGE - first;
    }
    return !s->f->code;
}

void lines_put(struct lines *s, const void *line)
{
    uint64_t at;
    if (place(s, ACCESS_WRITE, &at)) {
        check(s, memory_write(&s->e->dev->mem, &s->e->physical, at, line, LINE, s->f));
    }
    s->next++;
}

void lines_get(struct lines *s, void *line)
{
    uint64_t at;
    memset(line, 0, LINE);
    if (s->next >= s->end && !s->f->code) {
        s->f->code = TERN_FAULT_CONTEXT_INVALID;
    }
    if (place(s, ACCESS_READ, &at)) {
        check(s, memory_read(&s->e->dev->mem, &s->e->physical, at, line, LINE, s->f));
    }
    s->next++;
}

uint32_t context_executor(uint32_t opcode)
{
    switch (opcode) {
    case TERN_PKT_DISPATCH:
        return TERN_CTX_EXECUTOR_SIMT;
    case TERN_PKT_COPY:
    case TERN_PKT_FILL:
    case TERN_PKT_PTE_COPY:
        return TERN_CTX_EXECUTOR_MOVER;
    case TERN_PKT_USER_CALL:
        return TERN_CTX_EXECUTOR_USER;
    default:
        return TERN_CTX_EXECUTOR_NONE;
    }
}

uint32_t context_save(struct engine *e, struct fault *f)
{
    struct tern_ctx c = {.magic = TERN_CTX_MAGIC_VALUE, .state = TERN_CTX_STATE_SAVED, .offset = e->offset};
    struct lines s = {.e = e, .page = e->queue[0].save, .next = 1, .f = f};
    uint32_t header[16];
    if (e->phase == PHASE_RUN) {
        c.executor = context_executor(e->packet[0] & 0xffu);
    } else if (e->resume.executor != TERN_CTX_EXECUTOR_NONE) {
        return 0; /* the executor has not gone on yet: the area still has its state */
    }
    switch (c.executor) {
    case TERN_CTX_EXECUTOR_SIMT:
        state_save(e, &s);
        break;
    case TERN_CTX_EXECUTOR_MOVER:
        mover_save(e, &s);
        break;
    case TERN_CTX_EXECUTOR_USER:
        executor_save(e, &s);
        break;
    default:
        break;
    }
    c.lines = s.next - 1;
    s.next = 0;
    tern_ctx_pack(&c, header);
    lines_put(&s, header);
    return c.lines;
}

bool context_load(struct engine *e, struct tern_ctx *c, struct fault *f)
{
    struct lines s = {.e = e, .page = e->queue[0].save, .end = 1, .f = f};
    uint32_t header[16];
    lines_get(&s, header);
    if (f->code) {
        return false;
    }
    bool ok = tern_ctx_unpack(c, header) == 0 && c->magic == TERN_CTX_MAGIC_VALUE && c->state == TERN_CTX_STATE_SAVED &&
              (c->executor == TERN_CTX_EXECUTOR_NONE
                   ? c->lines == 0
                   : c->executor <= TERN_CTX_EXECUTOR_USER && c->lines >= 1 && c->lines < STATE_LINES);
    f->code = ok ? TERN_FAULT_NONE : TERN_FAULT_CONTEXT_INVALID;
    return ok;
}
