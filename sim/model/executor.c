/* SPDX-License-Identifier: Apache-2.0 */
/** User executors: the packet user_call, and the functions that executors call (executor.h). docs/spec has the list of
 *  executors. */
#include "executor.h"

#include "model.h"

#define DECLARE(id, name) executor_function user_##name;
TERN_EXECUTOR_LIST(DECLARE)
#define ENTRY(id, name) [id] = user_##name,
static executor_function *const functions[] = {TERN_EXECUTOR_LIST(ENTRY)};
_Static_assert(sizeof functions / sizeof *functions == TERN_EXECUTORS, "one function each");

uint32_t executor_count(void)
{
    return TERN_EXECUTORS - (MODEL_EXAMPLES ? 0 : TERN_EXECUTOR_EXAMPLES);
}

static bool call(struct engine *e, uint64_t budget, uint64_t *cycles, struct fault *f)
{
    struct executor_call c = {
        .args = &e->packet[16], .state = e->user_state, .engine = e, .fault = f, .budget = budget};
    const bool done = functions[e->packet[1] & 0xffu](&c);
    *cycles = c.cycles;
    return done;
}

/** Reads the line of state. Words that the executor does not define must be 0. */
static void restore(struct engine *e, uint32_t known, struct lines *state, struct fault *f)
{
    lines_get(state, e->user_state);
    for (uint32_t i = 0; i < 16 && !f->code; i++) {
        f->code = e->user_state[i] && !(known >> i & 1u) ? TERN_FAULT_CONTEXT_INVALID : TERN_FAULT_NONE;
    }
}

/** Starts a user executor. The executor's function is called without a budget, so it only checks its arguments. */
void executor_start(struct engine *e, struct lines *state, struct fault *f)
{
    struct tern_pkt_user_call p;
    uint64_t cycles;
    if (tern_pkt_user_call_unpack(&p, e->packet)) {
        f->code = TERN_FAULT_PACKET_RESERVED;
        return;
    }
    if (p.executor >= executor_count()) {
        f->code = TERN_FAULT_PACKET_BOUNDS;
        return;
    }
    memset(e->user_state, 0, sizeof e->user_state);
    if (state) {
        restore(e, tern_executor_find(p.executor)->state_words, state, f);
    }
    if (!f->code) {
        call(e, 0, &cycles, f);
    }
}

uint64_t executor_run(struct engine *e, uint64_t budget, bool *done, struct fault *f)
{
    uint64_t cycles;
    *done = call(e, budget, &cycles, f);
    return cycles;
}

void executor_save(const struct engine *e, struct lines *state)
{
    lines_put(state, e->user_state);
}

bool executor_may_go_on(struct executor_call *c, uint32_t cycles)
{
    const bool may = c->cycles < c->budget;
    c->cycles += may ? cycles : 0;
    return may;
}

bool executor_read(struct executor_call *c, uint32_t address, void *data, uint32_t bytes)
{
    return memory_read(&c->engine->dev->mem, &c->engine->space, address, data, bytes, c->fault);
}

bool executor_write(struct executor_call *c, uint32_t address, const void *data, uint32_t bytes)
{
    return memory_write(&c->engine->dev->mem, &c->engine->space, address, data, bytes, c->fault);
}

bool executor_fault(struct executor_call *c, uint32_t address)
{
    *c->fault = (struct fault){.code = TERN_FAULT_EXECUTOR, .va = address};
    return false;
}

bool executor_state_invalid(struct executor_call *c)
{
    *c->fault = (struct fault){.code = TERN_FAULT_CONTEXT_INVALID};
    return false;
}

uint32_t executor_fma(uint32_t a, uint32_t b, uint32_t c)
{
    uint8_t flags = 0;
    return fp_exact(FP_FMA, a, b, c, 0, &flags);
}
