/* SPDX-License-Identifier: Apache-2.0 */
/** A device that runs one buffer: loading, submission, stops, and indications. Steps do not access registers, since an
 *  access takes device time. */
#include <errno.h>
#include <stdio.h>

#include "preempt.h"

static void note(struct machine *m, int r)
{
    struct tern_sim_violation v;
    if (r == -EIO && !m->error && m->backend->api->violation(m->sim, &v)) {
        fprintf(stderr, "tern verify: %s broke rule %s of %s (%s) at device time %llu\n", m->backend->name,
                v.rule, v.module, v.place, (unsigned long long)v.cycle);
    }
    m->error = m->error ? m->error : r;
}

static void put(struct machine *m, uint32_t offset, uint32_t value)
{
    note(m, m->backend->api->write32(m->sim, offset, value));
}

uint32_t machine_register(struct machine *m, uint32_t offset)
{
    uint32_t v = 0;
    note(m, m->backend->api->read32(m->sim, offset, &v));
    return v;
}

int machine_open(const struct backend *b, uint32_t mutant, const struct work *w, const uint8_t *memory,
                 struct machine *out)
{
    const struct tern_sim_config config = {.mem_bytes = w->scene.mem_bytes, .mutant = mutant,
                                           .dram_bandwidth = w->bandwidth};
    *out = (struct machine){.backend = b, .work = w};
    int r = b->api->create(&config, &out->sim);
    for (uint64_t p = 0; p < w->scene.mem_bytes / PAGE && !r; p++) {
        if (memory || (w->scene.touched && w->scene.touched[p])) {
            r = b->api->mem_write(out->sim, p * PAGE, (memory ? memory : w->scene.memory) + p * PAGE, PAGE);
        }
    }
    if (r == 0) {
        put(out, TERN_REG_DEV_IRQ_ENABLE, (1u << w->scene.engines) - 1);
        r = out->error;
    }
    if (r) {
        machine_close(out);
    }
    return r;
}

void machine_close(struct machine *m)
{
    guard_device(NULL, NULL);
    if (m->sim) {
        m->backend->api->destroy(m->sim);
    }
    m->sim = NULL;
}

static void submit(struct machine *m, uint32_t e, const struct submit *s, bool resume)
{
    put(m, TERN_REG_ENGINE_SUB_FENCE_LO(e), (uint32_t)s->fence);
    put(m, TERN_REG_ENGINE_SUB_FENCE_HI(e), (uint32_t)(s->fence >> 32));
    put(m, TERN_REG_ENGINE_SUB_BUFFER_LO(e), (uint32_t)s->buffer);
    put(m, TERN_REG_ENGINE_SUB_BUFFER_HI(e), (uint32_t)(s->buffer >> 32));
    put(m, TERN_REG_ENGINE_SUB_SIZE(e), s->size);
    put(m, TERN_REG_ENGINE_SUB_ROOT(e), s->root);
    put(m, TERN_REG_ENGINE_SUB_CONTEXT(e), s->context);
    put(m, TERN_REG_ENGINE_SUB_SAVE(e), s->save);
    put(m, TERN_REG_ENGINE_SUB_FLAGS(e), s->flags | (resume ? TERN_ENGINE_SUB_FLAGS_RESUME_MASK : 0));
    put(m, TERN_REG_ENGINE_SUB_DOORBELL(e), 1);
}

void machine_submit(struct machine *m, uint32_t engine, bool resume)
{
    submit(m, engine, &m->work->scene.submit[0], resume);
}

void machine_submit_foreign(struct machine *m, uint32_t engine)
{
    submit(m, engine, &m->work->scene.foreign, false);
}

bool machine_step(struct machine *m, uint64_t cycles)
{
    bool line = false;
    guard_device(m->backend, m->sim);
    note(m, m->backend->api->step(m->sim, cycles, &line));
    return line || m->error;
}

void machine_preempt(struct machine *m, uint32_t e, uint32_t granularity)
{
    put(m, TERN_REG_ENGINE_COMMAND(e),
        TERN_ENGINE_COMMAND_PREEMPT_MASK | granularity << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT);
}

struct outcome machine_wait(struct machine *m, uint32_t e, uint64_t limit)
{
    const struct tern_sim_api *api = m->backend->api;
    uint64_t begin = api->cycles(m->sim), now = begin;
    struct outcome o = {0};
    while (!machine_step(m, limit) && (now = api->cycles(m->sim)) - begin < limit) {
    }
    uint32_t info = machine_register(m, TERN_REG_ENGINE_IND_INFO(e));
    o.kind = (info & TERN_ENGINE_IND_INFO_KIND_MASK) >> TERN_ENGINE_IND_INFO_KIND_SHIFT;
    o.fault = (info & TERN_ENGINE_IND_INFO_FAULT_MASK) >> TERN_ENGINE_IND_INFO_FAULT_SHIFT;
    o.offset = machine_register(m, TERN_REG_ENGINE_IND_OFFSET(e));
    o.where[0] = info & ~(TERN_ENGINE_IND_INFO_KIND_MASK | TERN_ENGINE_IND_INFO_FAULT_MASK);
    o.where[1] = machine_register(m, TERN_REG_ENGINE_IND_VA(e));
    o.where[2] = machine_register(m, TERN_REG_ENGINE_IND_PC(e));
    o.where[3] = machine_register(m, TERN_REG_ENGINE_IND_GROUP_X(e));
    o.end = machine_register(m, TERN_REG_ENGINE_IND_END_LO(e)) |
            (uint64_t)machine_register(m, TERN_REG_ENGINE_IND_END_HI(e)) << 32;
    o.begun = machine_register(m, TERN_REG_ENGINE_IND_BEGIN_LO(e)) != 0;
    put(m, TERN_REG_ENGINE_IND_POP(e), 1);
    return o;
}

void machine_memory(struct machine *m, uint8_t *out)
{
    note(m, m->backend->api->mem_read(m->sim, 0, out, m->work->scene.mem_bytes));
}
