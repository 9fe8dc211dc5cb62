/* SPDX-License-Identifier: Apache-2.0 */
/** A process that moves (migrate_work.h). */
#include "migrate_work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "os/state/state.h"
#include "tests/lib/submit.h"

#define PAGE 4096u
#define PAGE_WORDS (PAGE / 4)
#define PIECE (4u << 20) /* Bytes that are written at once. */
#define AGAIN_MS 200

/* The process's allocations in this order, then those that the program's image needs, and more data. */
enum { DATA, HOT, STATE, BLOCK, FIRST_MORE };

static int fail(int r, const char *what)
{
    fprintf(stderr, "tern bench migrate: %s: %s\n", what, tern_last_error());
    return r;
}

/** Returns the initial value of word i. */
static uint32_t word(uint32_t i)
{
    return (i + 1) * 2654435761u;
}

static void add(struct migrate_process *p, struct tern_allocation *a)
{
    p->memory[p->memories++] = (struct migrate_memory){a, tern_allocation_address(a), a->mem->pages};
}

static int fill(struct tern_allocation *a, uint64_t bytes)
{
    uint32_t *words = malloc(PIECE);
    int r = words ? 0 : -ENOMEM;
    for (uint64_t at = 0; !r && at < bytes; at += PIECE) {
        const uint64_t n = bytes - at < PIECE ? bytes - at : PIECE;
        for (uint32_t i = 0; i < n / 4; i++) {
            words[i] = word((uint32_t)(at / 4) + i);
        }
        r = tern_allocation_write(a, at, words, n);
    }
    free(words);
    return r ? fail(r, "memory cannot be written") : 0;
}

int migrate_process_take(struct migrate_process *p, uint64_t bytes)
{
    struct tern_allocation *a;
    if (p->memories == MIGRATE_MEMORIES) {
        fprintf(stderr, "tern bench migrate: a process has %u allocations already\n", MIGRATE_MEMORIES);
        return -ENOSPC;
    }
    const int r = tern_allocation_create(p->proc, bytes, TERN_MEM_READ | TERN_MEM_WRITE, 0, &a);
    if (r) {
        return fail(r, "no memory");
    }
    add(p, a);
    return fill(a, bytes);
}

/* ------------------------------------------------------------------- the kernel */

static int submit(struct migrate_process *p, const struct direct_process *from, const struct migrate_work *w,
                  int32_t engine)
{
    const struct direct_range range = {.dims = 1, .global = {1}, .local = {1}};
    const struct tern_context_desc desc = {.size = sizeof desc, .name = "serve", .engine = engine};
    const uint32_t args[6] = {p->memory[DATA].address, p->memory[HOT].address, p->memory[STATE].address,
                              w->data_bytes / 4 - 1, w->hot_pages, w->reads};
    struct direct_call call;
    uint64_t fence;
    int r = direct_call_create(from, "serve", &range, args, sizeof args, &call);
    if (r) {
        return r;
    }
    add(p, call.block);
    for (uint32_t i = 0; i < sizeof from->parts.part / sizeof *from->parts.part; i++) {
        if (from->parts.part[i]) {
            add(p, from->parts.part[i]);
        }
    }
    r = tern_context_create(p->proc, &desc, &p->context);
    if (r == 0) {
        r = submit_packets(p->context, call.packet, sizeof call.packet, "serve", &fence);
    }
    return r ? fail(r, "the kernel") : 0;
}

int migrate_work_start(struct tern_device *dev, const char *partition, const struct direct_program *program,
                       const struct migrate_work *work, int32_t engine, struct migrate_process *out)
{
    static const uint32_t none[3];
    struct direct_process d;
    *out = (struct migrate_process){.proc = NULL};
    int r = direct_process_create(dev, partition, "serve", program, &d);
    if (r) {
        return r;
    }
    out->proc = d.proc;
    r = migrate_process_take(out, work->data_bytes);
    if (r == 0) {
        r = migrate_process_take(out, (uint64_t)work->hot_pages * PAGE);
    }
    if (r == 0) {
        r = migrate_process_take(out, PAGE);
    }
    if (r) {
        rt_place_end(&d.parts);
    } else {
        r = tern_allocation_write(out->memory[STATE].allocation, 0, none, sizeof none);
        if (r == 0) {
            r = submit(out, &d, work, engine);
        }
        if (r == 0) {
            r = migrate_work_goes_on(out);
        }
    }
    if (r) {
        migrate_process_destroy(out);
    }
    return r;
}

int migrate_work_steps(const struct migrate_process *p, uint32_t *steps)
{
    const int r = tern_allocation_read(p->memory[STATE].allocation, 4, steps, sizeof *steps);
    return r ? fail(r, "the kernel's memory") : 0;
}

int migrate_work_goes_on(const struct migrate_process *p)
{
    uint32_t first, steps;
    int r = migrate_work_steps(p, &first);
    for (steps = first; !r && steps == first;) {
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        r = migrate_work_steps(p, &steps);
        if (r == 0) {
            r = tern_process_status(p->proc, NULL);
        }
    }
    return r ? fail(r, "the kernel") : 0;
}

/* ------------------------------------------------------------------ what is right */

/** Computes what the hot pages hold after this many steps. Returns the sum. */
static uint32_t replay(const struct migrate_work *w, uint32_t steps, uint32_t *hot)
{
    const uint32_t mask = w->data_bytes / 4 - 1;
    uint32_t x = 1, sum = 0;
    for (uint32_t i = 0; i < w->hot_pages * PAGE_WORDS; i++) {
        hot[i] = word(i);
    }
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t k = 0; k < w->reads; k++) {
            x = x * 1664525u + 1013904223u;
            sum += word(x >> 4 & mask);
        }
        hot[(x >> 8) % w->hot_pages * PAGE_WORDS + step % PAGE_WORDS] = sum ^ step;
    }
    return sum;
}

static int compare(const struct migrate_process *p, const struct migrate_work *w, uint32_t *lost)
{
    const size_t bytes = (size_t)w->hot_pages * PAGE;
    uint32_t state[3] = {0}, *want = malloc(bytes), *got = malloc(bytes), wrong = 0;
    int r = want && got ? tern_allocation_read(p->memory[STATE].allocation, 0, state, sizeof state) : -ENOMEM;
    if (r == 0) {
        r = tern_allocation_read(p->memory[HOT].allocation, 0, got, bytes);
    }
    if (r) {
        fail(r, "the kernel's memory");
    } else {
        const uint32_t sum = replay(w, state[1], want);
        for (uint32_t i = 0; i < w->hot_pages; i++) {
            wrong += memcmp(got + i * PAGE_WORDS, want + i * PAGE_WORDS, PAGE) != 0;
        }
        if (sum != state[2] || wrong) {
            fprintf(stderr, "tern bench migrate: after %u steps %u pages of %u are wrong, the sum is %u, not %u\n",
                    state[1], wrong, w->hot_pages, state[2], sum);
        }
        *lost += wrong + (sum != state[2] && !wrong); /* If no page differs, a wrong sum counts as one page. */
    }
    free(want);
    free(got);
    return r;
}

int migrate_work_end(struct migrate_process *p, const struct migrate_work *work, uint32_t *lost)
{
    static const uint32_t end = 1;
    int r = -ETIMEDOUT;
    /* An atomic operation in progress may write back the old word, so the word is written repeatedly. */
    while (r == -ETIMEDOUT) {
        r = tern_allocation_write(p->memory[STATE].allocation, 0, &end, sizeof end);
        if (r == 0) {
            r = tern_wait(p->context, 1, AGAIN_MS);
        }
    }
    return r ? fail(r, "the kernel does not end") : compare(p, work, lost);
}

void migrate_process_destroy(struct migrate_process *p)
{
    if (p->context) {
        tern_process_kill(p->proc); /* This does nothing if the kernel has ended. Otherwise nobody else would end it. */
        tern_context_destroy(p->context);
    }
    for (uint32_t i = 0; i < p->memories; i++) {
        tern_allocation_destroy(p->memory[i].allocation);
    }
    if (p->proc && tern_process_destroy(p->proc)) {
        fail(-EBUSY, "a process does not end");
    }
    *p = (struct migrate_process){.proc = NULL};
}
