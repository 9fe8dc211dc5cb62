/* SPDX-License-Identifier: Apache-2.0 */
/** Context-save areas (docs/spec/context.yaml): their lines, and the header, which is written
 * last. Addresses are physical. */
#include "model.h"

static uint64_t address(const struct lines *s)
{
    return s->page * PAGE + (uint64_t)s->next * LINE;
}

/** A fault names the area, not its line: the hardware has many lines under way at once. */
static void check(const struct lines *s, bool done)
{
    if (!done) {
        s->f->va = (uint32_t)(s->page * PAGE);
    }
}

void lines_put(struct lines *s, const void *line)
{
    if (!s->f->code) {
        check(s, memory_write(&s->e->dev->mem, &s->e->physical, address(s), line, LINE, s->f));
    }
    s->next++;
}

void lines_get(struct lines *s, void *line)
{
    memset(line, 0, LINE);
    if (s->next >= s->end && !s->f->code) {
        s->f->code = TERN_FAULT_CONTEXT_INVALID;
    }
    if (!s->f->code) {
        check(s, memory_read(&s->e->dev->mem, &s->e->physical, address(s), line, LINE, s->f));
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
        return 0; /* it has not gone on yet: what the area holds is still its state */
    }
    switch (c.executor) {
    case TERN_CTX_EXECUTOR_SIMT:
        state_save(e, &s);
        break;
    case TERN_CTX_EXECUTOR_MOVER:
        mover_save(e, &s);
        break;
    case TERN_CTX_EXECUTOR_USER:
        user_save(e, &s);
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
                   : c->executor <= TERN_CTX_EXECUTOR_USER && c->lines >= 1 && c->lines < SAVE_LINES);
    f->code = ok ? TERN_FAULT_NONE : TERN_FAULT_CONTEXT_INVALID;
    return ok;
}
