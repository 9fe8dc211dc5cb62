/* SPDX-License-Identifier: Apache-2.0 */
/** One stop: the state is resumed, and memory must be as it would have been without the stop. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preempt.h"

#define LIMIT CASE_CYCLES /* device cycles after which a part hangs */
#define FOREIGN_EVERY 2u /* one stop in so many is followed by work of another context */
#define AGAIN_EVERY 3u   /* one stop in so many is repeated at once */
#define TEXT 160u        /* bytes of an outcome's text */

const struct backend *arena_side(const struct arena *a, uint32_t side)
{
    return side ? &a->pair->model : &a->pair->rtl;
}

int arena_open(const struct arena *a, uint32_t side, const struct work *w, const uint8_t *memory, struct machine *out)
{
    return machine_open(arena_side(a, side), side == 0 ? a->pair->mutant : 0, w, memory, out);
}

/** Records a difference; only the first is kept. */
__attribute__((format(printf, 2, 3)))
static void say(struct tally *t, const char *format, ...)
{
    if (!t->text[0]) {
        va_list ap;
        va_start(ap, format);
        vsnprintf(t->text, sizeof t->text, format, ap);
        va_end(ap);
    }
}

/* ------------------------------------------------------------------ memory */


static void compare_memory(const struct arena *a, struct machine *m, const char *what, struct tally *t)
{
    const uint64_t bytes = a->work.scene.mem_bytes;
    uint8_t *seen = malloc(bytes);
    if (!seen) {
        say(t, "no memory\n");
        return;
    }
    machine_memory(m, seen);
    memcpy(seen + a->work.save, a->expected + a->work.save, a->work.save_bytes);
    if (!a->stacks) {
        memcpy(seen + a->work.stack, a->expected + a->work.stack, a->work.stack_bytes);
    }
    if (memcmp(seen, a->expected, bytes) != 0) {
        uint64_t at = 0, differ = 0;
        for (uint64_t i = bytes; i-- > 0;) {
            if (seen[i] != a->expected[i]) {
                at = i & ~3ull;
                differ++;
            }
        }
        uint32_t x, y;
        memcpy(&x, a->expected + at, 4);
        memcpy(&y, seen + at, 4);
        say(t, "%s: memory at 0x%06llx: expected %08x, got %08x; %llu bytes differ\n", what,
            (unsigned long long)at, x, y, (unsigned long long)differ);
    }
    free(seen);
}

static const char *outcome_text(struct outcome o, char *text, size_t size)
{
    static const char *const names[] = {"nothing came", "completed", "preempted"};
    if (o.kind == TERN_ENGINE_IND_INFO_KIND_FAULTED) {
        snprintf(text, size, "faulted: %s, info %08x, address %08x, pc %08x, group %u", tern_fault_name(o.fault),
                 o.where[0], o.where[1], o.where[2], o.where[3]);
    } else {
        snprintf(text, size, "%s", names[o.kind]);
    }
    return text;
}

/** Returns true if the outcome is that of a run without a stop. */
static bool as_expected(const struct arena *a, struct outcome o)
{
    return o.kind == a->end.kind && (o.kind != TERN_ENGINE_IND_INFO_KIND_FAULTED ||
           (o.fault == a->end.fault && o.offset == a->end.offset &&
            memcmp(o.where, a->end.where, sizeof o.where) == 0));
}

/** Runs the work to its end and checks its outcome and its memory. */
static void finish(const struct arena *a, struct machine *m, uint32_t engine, const char *what, struct tally *t)
{
    struct outcome o = machine_wait(m, engine, LIMIT);
    char expected[TEXT], got[TEXT];
    if (m->error) {
        say(t, "%s: %s\n", what, strerror(-m->error));
    } else if (!as_expected(a, o)) {
        say(t, "%s: expected %s, got %s\n", what, outcome_text(a->end, expected, TEXT), outcome_text(o, got, TEXT));
    } else {
        compare_memory(a, m, what, t);
    }
}

/* ------------------------------------------------------------------- arena */

bool arena_make(struct arena *a, uint32_t index, bool longer, struct tally *t)
{
    uint32_t lines[SIDES] = {0};
    for (uint32_t side = SIDES; side-- > 0;) { /* the model first: it gives the expected result */
        struct machine m;
        const struct work none = {.scene = {.mem_bytes = PREEMPT_MEMORY}};
        uint32_t granularity = 0;
        int r = arena_open(a, side, &none, NULL, &m);
        if (r == 0) {
            lines[side] = machine_register(&m, TERN_REG_DEV_SAVE_LINES);
            granularity = machine_register(&m, TERN_REG_DEV_CONFIG1) >> TERN_DEV_CONFIG1_PREEMPT_GRAN_SHIFT & 3u;
            machine_close(&m);
        }
        if (r || granularity != TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION) {
            say(t, "%s: %s\n", arena_side(a, side)->name,
                r ? strerror(-r) : "it does not stop in the middle of packets (dev.config1)");
            return false;
        }
    }
    if (lines[0] != lines[1]) {
        say(t, "dev.save_lines: expected %u, got %u\n", lines[1], lines[0]);
        return false;
    }
    int r = work_build(index, longer, &a->pair->geometry, lines[0], &a->work);
    a->expected = r ? NULL : malloc(PREEMPT_MEMORY);
    a->stacks = a->work.resident;
    if (!a->expected) {
        say(t, "%s\n", r ? strerror(-r) : "no memory");
        return false;
    }
    for (uint32_t side = SIDES; side-- > 0;) {
        struct machine m;
        r = arena_open(a, side, &a->work, NULL, &m);
        if (r) {
            say(t, "%s: %s\n", arena_side(a, side)->name, strerror(-r));
            return false;
        }
        machine_submit(&m, 0, false);
        if (side) {
            char text[TEXT];
            a->end = machine_wait(&m, 0, LIMIT);
            machine_memory(&m, a->expected);
            if (m.error || a->end.kind != (a->work.faults ? TERN_ENGINE_IND_INFO_KIND_FAULTED
                                                          : TERN_ENGINE_IND_INFO_KIND_COMPLETED)) {
                say(t, "model, not stopped: %s\n", outcome_text(a->end, text, TEXT));
            }
        } else {
            finish(a, &m, 0, "not stopped", t);
        }
        machine_close(&m);
    }
    return !t->text[0];
}

void arena_free(struct arena *a)
{
    work_free(&a->work);
    free(a->expected);
    a->expected = NULL;
}

/* -------------------------------------------------------------- one stop */

/** Stops the running work. Returns true if it must be submitted again; *resume is set if it had begun. */
static bool cut(const struct arena *a, struct machine *m, uint32_t engine, uint32_t granularity, const char *what,
                bool *resume, struct tally *t)
{
    uint32_t words[16] = {0};
    struct tern_ctx c;
    uint64_t begin = m->backend->api->cycles(m->sim);
    machine_preempt(m, engine, granularity);
    struct outcome o = machine_wait(m, engine, LIMIT);
    t->stops++;
    if (m->error || (o.kind != TERN_ENGINE_IND_INFO_KIND_PREEMPTED && !as_expected(a, o))) {
        char expected[TEXT], got[TEXT];
        say(t, "%s: expected preempted or %s, got %s\n", what, outcome_text(a->end, expected, TEXT),
            m->error ? strerror(-m->error) : outcome_text(o, got, TEXT));
        return false;
    }
    if (o.kind != TERN_ENGINE_IND_INFO_KIND_PREEMPTED) {
        compare_memory(a, m, what, t);
        return false;
    }
    uint64_t took = o.end > begin ? o.end - begin : 0;
    if (!o.begun) {
        return true; /* cancelled: the state to resume, if any, is still there */
    }
    *resume = true;
    m->backend->api->mem_read(m->sim, a->work.save, words, sizeof words);
    if (tern_ctx_unpack(&c, words) || c.magic != TERN_CTX_MAGIC_VALUE || c.state != TERN_CTX_STATE_SAVED ||
        c.offset != o.offset || c.lines >= a->work.save_lines) {
        say(t, "%s: no valid header in the save area\n", what);
        return false;
    }
    t->cuts += c.executor != TERN_CTX_EXECUTOR_NONE;
    t->most_lines = c.lines > t->most_lines ? c.lines : t->most_lines;
    if (granularity == TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION && took > t->longest) {
        t->longest = took;
    }
    return true;
}

/** Work that is resumed and stopped again before any instruction must be saved with the same state. Memory instructions
 *  that were cut may proceed meanwhile, so states with any are not compared; neither are they if groups were launched
 *  into free slots. */
static bool saved_again(const struct arena *a, struct machine *m, uint32_t engine, uint64_t cycle, const char *what,
                        struct tally *t)
{
    const struct tern_sim_api *api = m->backend->api;
    uint64_t bytes = a->work.save_bytes;
    uint32_t *pages = calloc(3, bytes), *before = pages ? pages + bytes / 4 : NULL;
    uint32_t *after = pages ? before + bytes / 4 : NULL;
    struct tern_ctx_simt_head first, second;
    struct tern_ctx header;
    bool begun = false, more = true;
    if (!pages) {
        return true;
    }
    api->mem_read(m->sim, a->work.save, pages, bytes);
    state_gather(pages, a->work.save_lines, before);
    uint32_t issued = machine_register(m, TERN_REG_ENGINE_CNT_ISSUE(engine));
    machine_submit(m, engine, true);
    machine_step(m, 1 + cycle * 37 % 500);
    more = cut(a, m, engine, TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION, what, &begun, t);
    if (more && begun && machine_register(m, TERN_REG_ENGINE_CNT_ISSUE(engine)) == issued) {
        api->mem_read(m->sim, a->work.save, pages, bytes);
        state_gather(pages, a->work.save_lines, after);
        tern_ctx_unpack(&header, before);
        tern_ctx_simt_head_unpack(&first, before + LINE / 4);
        tern_ctx_simt_head_unpack(&second, after + LINE / 4);
        char differs[TEXT];
        bool comparable = header.executor == TERN_CTX_EXECUTOR_SIMT && !first.pending && !second.pending &&
                          first.slots == second.slots && first.live == second.live && first.fresh == second.fresh;
        if (comparable && !state_same(&a->pair->geometry, before, after, differs, sizeof differs)) {
            say(t, "%s: stopped again before any instruction, %s\n", what, differs);
            more = false;
        }
    }
    free(pages);
    return more;
}

/** Runs another context's work on the engine. */
static bool foreign(struct machine *m, uint32_t engine, const char *what, struct tally *t)
{
    machine_submit_foreign(m, engine);
    struct outcome o = machine_wait(m, engine, LIMIT);
    if (m->error || o.kind != TERN_ENGINE_IND_INFO_KIND_COMPLETED) {
        char text[TEXT];
        say(t, "%s, then another context's work: expected completed, got %s\n", what,
            m->error ? strerror(-m->error) : outcome_text(o, text, TEXT));
        return false;
    }
    return true;
}

/** Makes another machine with the memory of this one. */
static bool moved(const struct arena *a, struct machine *m, uint32_t side, struct machine *out, struct tally *t)
{
    uint8_t *memory = malloc(a->work.scene.mem_bytes);
    int r = memory ? 0 : -ENOMEM;
    if (memory) {
        machine_memory(m, memory);
        r = arena_open(a, side, &a->work, memory, out);
    }
    free(memory);
    if (r) {
        say(t, "%s: %s\n", arena_side(a, side)->name, strerror(-r));
    }
    return r == 0;
}

void stop_at(struct arena *a, struct machine *m, uint32_t side, uint64_t cycle, uint32_t granularity,
             uint32_t resume_on, struct tally *t)
{
    uint32_t engine = (uint32_t)(cycle % a->pair->geometry.engines), other = !side;
    char what[160];
    bool resume = false;
    struct machine n;
    /* groups that had not begun when the others were stopped at their end use other slots */
    a->stacks = a->work.resident && granularity == TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION;
    snprintf(what, sizeof what, "stopped by %s at cycle %llu", m->backend->name, (unsigned long long)cycle);
    if (!cut(a, m, 0, granularity, what, &resume, t)) {
        return;
    }
    if ((resume_on >> other & 1u) && moved(a, m, other, &n, t)) {
        snprintf(what, sizeof what, "stopped by %s at cycle %llu, resumed by %s, engine %u", m->backend->name,
                 (unsigned long long)cycle, n.backend->name, engine);
        machine_submit(&n, engine, resume);
        finish(a, &n, engine, what, t);
        machine_close(&n);
    }
    if (!(resume_on >> side & 1u)) {
        return;
    }
    snprintf(what, sizeof what, "stopped by %s at cycle %llu, resumed there, engine %u", m->backend->name,
             (unsigned long long)cycle, engine);
    if (resume && cycle % FOREIGN_EVERY == 0 && !foreign(m, engine, what, t)) {
        return;
    }
    if (resume && cycle % AGAIN_EVERY == 0 && !saved_again(a, m, engine, cycle, what, t)) {
        return;
    }
    machine_submit(m, engine, resume);
    finish(a, m, engine, what, t);
}

/* ------------------------------------------------------------- many stops */

void stop_often(struct arena *a, uint64_t seed, struct tally *t)
{
    struct rng r = rng_of(seed, 0x6f6674656eull);
    struct machine m;
    uint32_t side = rng_below(&r, SIDES), engine = 0, every = 600u << rng_below(&r, 4);
    a->stacks = false;
    int failed = arena_open(a, side, &a->work, NULL, &m);
    char what[160];
    bool resume = false, more = true;
    uint64_t spent = 0;
    if (failed) {
        say(t, "%s: %s\n", arena_side(a, side)->name, strerror(-failed));
        return;
    }
    for (uint32_t part = 0; more && !t->text[0]; part++) {
        const uint64_t begin = m.backend->api->cycles(m.sim);
        if (spent > LIMIT / 4) { /* it has been stopped for long enough */
            snprintf(what, sizeof what, "part %u, on %s, engine %u, to the end", part, m.backend->name, engine);
            machine_submit(&m, engine, resume);
            finish(a, &m, engine, what, t);
            break;
        }
        uint32_t cycles = 1 + rng_below(&r, 2 * every), next = rng_below(&r, SIDES);
        uint32_t granularity = rng_one_in(&r, 4) ? TERN_ENGINE_COMMAND_GRANULARITY_GROUP
                                                 : TERN_ENGINE_COMMAND_GRANULARITY_INSTRUCTION;
        snprintf(what, sizeof what, "part %u, on %s, engine %u, %u cycles to a stop", part, m.backend->name,
                 engine, cycles);
        machine_submit(&m, engine, resume);
        machine_step(&m, cycles);
        more = cut(a, &m, engine, granularity, what, &resume, t);
        more = more && (rng_one_in(&r, 2) || foreign(&m, engine, what, t));
        spent += m.backend->api->cycles(m.sim) - begin;
        engine = rng_below(&r, ENGINES) % a->pair->geometry.engines;
        struct machine n;
        if (more && next != side && (more = moved(a, &m, next, &n, t))) {
            machine_close(&m);
            m = n;
            side = next;
        }
    }
    machine_close(&m);
}
