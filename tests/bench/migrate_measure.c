/* SPDX-License-Identifier: Apache-2.0 */
/** Dirty tracking, measured below the scheduler (migrate_measure.h). */
#include "migrate_measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/open/open.h"

#define DIRTY_AREA 0x00300000u /* Physical address of 1 MiB for the results of queries, which the rig does not use. */
#define AHEAD 40000u           /* Cycles from the end of the first run's preparations to the submission. */
#define APART 2000u            /* Cycles between queries while a kernel runs. */

static int fail(int r)
{
    fprintf(stderr, "tern bench migrate: %s\n", tern_last_error());
    return r;
}

/* ------------------------------------------------------------------- tracking */

enum mode { OFF, ON, HOT };

struct run {
    struct rig rig;
    struct preempt_scene scene;
    uint64_t basis;
    uint32_t pages;          /* Pages of the kernel's buffers. */
    uint8_t *dirty, *bits;   /* Dirty bits of these pages: those of all queries, and those of the last one. */
};

/** Queries and clears the bits. With `keep`, they are added to those of the kernel's run. */
static int ask(struct run *x, bool keep)
{
    const struct tern_basis_part all = {.range = TERN_BASIS_ALL};
    memset(x->bits, 0, (x->pages + 7) / 8);
    const int r = tern_basis_query(&x->rig.kmd, x->basis, &all, true, x->bits, 0);
    for (uint32_t i = 0; keep && i < (x->pages + 7) / 8; i++) {
        x->dirty[i] |= x->bits[i];
    }
    return r ? fail(r) : 0;
}

static int start(struct run *x)
{
    const struct tern_basis_range range = {x->rig.data, (uint64_t)x->pages * TERN_PAGE};
    int r = tern_basis_create(&x->rig.kmd, &range, 1, &x->basis);
    if (r == 0) {
        r = tern_basis_start(&x->rig.kmd, x->basis);
    }
    return r ? fail(r) : 0;
}

/** Submits at the device time *at, which is the same in all modes, so that memory refreshes happen at the same moments
 * of the run. If *at is 0, it is set. */
static int submit(struct run *x, uint32_t *at)
{
    uint32_t now = 0, rung = 0;
    int r = rig_now(&x->rig, &now);
    *at = *at ? *at : now + AHEAD;
    if (!r && (int32_t)(*at - now) <= 0) {
        fprintf(stderr, "tern bench migrate: preparations took %u cycles too long\n", now - *at);
        r = -ETIME;
    }
    if (r == 0) {
        r = rig_pass(&x->rig, *at - now);
    }
    return r ? r : rig_submit(&x->rig, 0, false, &rung);
}

/** Waits for the kernel's end, with queries in between. */
static int watch(struct run *x, struct tern_indication *i, uint32_t *queries)
{
    for (;;) {
        int r = rig_pass(&x->rig, APART);
        const int got = r ? r : tern_kmd_take(&x->rig.kmd, 0, i);
        if (got) {
            return got < 0 ? got : 0;
        }
        r = ask(x, true);
        if (r) {
            return r;
        }
        ++*queries;
    }
}

/** Counts pages that changed, and adds to *lost those without a dirty bit. */
static int compare(struct run *x, uint32_t *changed, uint32_t *lost)
{
    const int r = rig_read(&x->rig, x->rig.data, x->scene.seen, x->scene.bytes);
    *changed = 0;
    for (uint32_t p = 0; !r && p < x->pages; p++) {
        if (memcmp(x->scene.after + p * TERN_PAGE, x->scene.seen + p * TERN_PAGE, TERN_PAGE) != 0) {
            ++*changed;
            *lost += !(x->dirty[p / 8] >> p % 8 & 1);
        }
    }
    return r;
}

static int run(struct run *x, enum mode mode, uint32_t *at, uint64_t *cycles, struct migrate_tracking *out)
{
    struct tern_indication i = {0};
    int r = mode == OFF ? 0 : start(x);
    if (r == 0) {
        r = scene_reset(&x->scene);
    }
    if (r == 0) {
        r = scene_learn(&x->scene); /* The contents before the run. */
    }
    if (r == 0 && mode != OFF) {
        r = ask(x, false);
    }
    if (r == 0) {
        r = submit(x, at);
    }
    if (r == 0) {
        r = mode == HOT ? watch(x, &i, &out->queries) : rig_wait(&x->rig, 0, &i);
    }
    if (!r && i.kind != TERN_ENGINE_IND_INFO_KIND_COMPLETED) {
        fprintf(stderr, "tern bench migrate: a kernel did not complete\n");
        r = -EIO;
    }
    *cycles = i.end - i.begin;
    if (r == 0 && mode != OFF) {
        r = ask(x, true);
    }
    return r || mode == OFF ? r : compare(x, &out->changed, &out->lost);
}

/** Runs a kernel on its own device. */
static int run_alone(const struct tern_config *config, const struct rig_source *sources, unsigned n,
                     const struct preempt_case *kernel, enum mode mode, uint32_t *at, uint64_t *cycles,
                     struct migrate_tracking *out)
{
    struct run x = {0};
    int r = rig_open(config, sources, n, &x.rig);
    if (r) {
        return r;
    }
    x.rig.kmd.dirty_area = DIRTY_AREA;
    r = scene_open(&x.rig, kernel, &x.scene);
    if (!r) {
        x.pages = x.scene.bytes / TERN_PAGE;
        x.dirty = calloc(x.pages / 8 + 1, 1);
        x.bits = calloc(x.pages / 8 + 1, 1);
        r = x.dirty && x.bits ? run(&x, mode, at, cycles, out) : -ENOMEM;
        scene_close(&x.scene);
    }
    free(x.dirty);
    free(x.bits);
    tern_bases_free(&x.rig.kmd);
    rig_close(&x.rig);
    return r;
}

int migrate_track(const struct tern_config *config, const struct rig_source *sources, unsigned n,
                  const struct preempt_case *kernel, struct migrate_tracking *out)
{
    struct migrate_tracking t = {0};
    uint32_t at = 0, later = 0;
    uint64_t ignored;
    int r = run_alone(config, sources, n, kernel, OFF, &at, &t.off, &t);
    if (r == 0) {
        r = run_alone(config, sources, n, kernel, ON, &at, &t.on, &t);
    }
    if (r == 0) {
        r = run_alone(config, sources, n, kernel, HOT, &later, &ignored, &t);
    }
    if (!r) {
        *out = t;
    }
    return r;
}

/* --------------------------------------------------------------------- queries */

#define PAGES (MIGRATE_BYTES / TERN_PAGE)
#define EVERY 100u
#define BUFFER 0x10000u /* Physical address. */
#define SAVE 0x100000u
#define LATEST 4000000000u /* Maximum cycles of a fill. */

/** The device writes a line to pages 0, every, 2 * every ... of memory, by a paging buffer. */
static int write_pages(struct tern_kmd *k, uint32_t every)
{
    uint32_t packet[TERN_PKT_FILL_LINES * TERN_PKT_LINE_BYTES / 4];
    const struct tern_pkt_fill f = {.width = 64, .rows = (uint32_t)((PAGES + every - 1) / every), .slices = 1,
                                    .dst_row = every * TERN_PAGE};
    const struct tern_hw_entry entry = {.fence = k->engine[0].last_submitted + 1, .buffer = BUFFER,
                                        .size = sizeof packet, .save = SAVE / TERN_PAGE, .paging = true};
    struct tern_indication i = {0};
    int r = tern_pkt_fill_pack(&f, packet);
    if (r == 0) {
        r = tern_hal_mem_write(k->hal, BUFFER, packet, sizeof packet);
    }
    if (r == 0) {
        r = tern_kmd_submit(k, 0, &entry);
    }
    int got = 0;
    for (uint32_t passed = 0; !r && !got && passed < LATEST; passed += 1000000) {
        r = tern_kmd_wait(k, 1000000);
        r = r < 0 ? r : 0;
        got = r ? r : tern_kmd_poll(k, 0, &i);
    }
    if (!r && (got != 1 || i.kind != TERN_KMD_COMPLETED)) {
        fprintf(stderr, "tern bench migrate: pages could not be written (fault %u)\n", i.fault);
        return -EIO;
    }
    return r ? fail(r) : 0;
}

/** Measures the cycles of a query and clear of all memory, which must find this number of pages. */
static int time_query(struct tern_kmd *k, uint64_t basis, uint64_t pages, uint8_t *bits, uint32_t *cycles)
{
    const struct tern_basis_part all = {.range = TERN_BASIS_ALL};
    uint64_t before = 0, after = 0, found = 0;
    int r = tern_kmd_time(k, &before);
    if (r == 0) {
        r = tern_basis_query(k, basis, &all, true, bits, 0);
    }
    if (r == 0) {
        r = tern_kmd_time(k, &after);
    }
    if (r) {
        return fail(r);
    }
    for (uint32_t i = 0; i < PAGES / 8; i++) {
        found += (unsigned)__builtin_popcount(bits[i]);
    }
    if (found != pages) {
        fprintf(stderr, "tern bench migrate: a query gave %llu pages, %llu were written\n", (unsigned long long)found,
                (unsigned long long)pages);
        return -EBADMSG;
    }
    *cycles = (uint32_t)(after - before);
    return 0;
}

static int measure_queries(struct tern_kmd *k, bool full, uint8_t *bits, struct migrate_query *out)
{
    const struct tern_basis_range whole = {0, MIGRATE_BYTES};
    struct migrate_query q = {0};
    uint64_t basis = 0;
    int r = tern_basis_create(k, &whole, 1, &basis);
    if (r == 0) {
        r = tern_basis_start(k, basis);
    }
    if (r) {
        return fail(r);
    }
    r = time_query(k, basis, 0, bits, &q.empty);
    if (r == 0) {
        r = write_pages(k, EVERY);
    }
    if (r == 0) {
        r = time_query(k, basis, (PAGES + EVERY - 1) / EVERY, bits, &q.sparse);
    }
    if (r == 0 && full) {
        r = write_pages(k, 1);
    }
    if (r == 0 && full) {
        r = time_query(k, basis, PAGES, bits, &q.full);
    }
    if (!r) {
        *out = q;
    }
    return r;
}

int migrate_query(const struct tern_config *config, bool full, struct migrate_query *out)
{
    struct tern_config c = *config;
    struct tern_hal *hal = NULL;
    struct tern_kmd k = {0};
    uint8_t *const bits = calloc(PAGES / 8, 1);
    c.mem_bytes = MIGRATE_BYTES;
    int r = bits ? tern_hal_open(&c, &hal) : tern_error_memory("dirty bits");
    if (r == 0) {
        r = tern_kmd_probe(hal, &k);
    }
    r = r ? fail(r) : 0;
    if (!r) {
        k.dirty_area = DIRTY_AREA;
        r = measure_queries(&k, full, bits, out);
        tern_bases_free(&k);
    }
    if (hal) {
        hal->ops->close(hal);
    }
    free(bits);
    return r;
}
