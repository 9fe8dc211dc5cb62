/* SPDX-License-Identifier: Apache-2.0 */
/** The work of the signature test: kernels, and packets of other executors. Each has memory, an address space and a
 *  buffer of three packets: a signal, the work, a signal. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preempt.h"

/* Physical addresses; data is at DATA_VA + these. */
#define BUFFER 0x1000u
#define ARGS 0x2000u
#define ROOT 0x3000u
#define TABLE_CODE 0x4000u
#define TABLE_DATA 0x5000u
#define CODE 0x10000u
#define STACK 0x20000u
#define IN 0x40000u
#define OUT 0xc0000u
#define SUMS 0xd0000u
#define SIGNALS 0xff000u
#define FOREIGN 0x6000u
#define SAVE 0x100000u
#define DATA_VA 0x20000000u
#define IN_BYTES (OUT - IN)
#define STACK_LOG2 9u
#define SLOW_BANDWIDTH 8u

enum what { A_KERNEL, A_COPY, A_FILL, A_USER };

/* A group has so many full warps, except for `missing` work-items at the end of the range in x. With `slow`, memory
 * takes eight cycles or more for a line. When the executor has waited as long as it may for its lines to begin (LINGER
 * in simt_executor), some have not, and memory instructions are cut. */
static const struct row {
    const char *name;
    enum what what;
    uint8_t warps, groups, missing, groups_long, arg, arg_long, boxed;
    bool faults, slow;
} rows[] = {
    {"divergence", A_KERNEL, 1, 3, 3, 60, 2, 20, 0, false, false},
    {"barriers", A_KERNEL, 2, 2, 0, 40, 0, 0, 0, false, false},
    {"locals", A_KERNEL, 2, 2, 0, 30, 2, 6, 0, false, false},
    {"atomics", A_KERNEL, 2, 1, 5, 30, 0, 0, 0, false, false},
    {"swaps", A_KERNEL, 2, 2, 0, 30, 2, 5, 0, false, true},
    {"floats", A_KERNEL, 1, 3, 1, 60, 2, 6, 0, false, false},
    {"calls", A_KERNEL, 1, 3, 2, 60, 0, 0, 0, false, false},
    {"stack", A_KERNEL, 1, 2, 0, 30, 4, 12, 0, false, false},
    {"lock", A_KERNEL, 1, 2, 6, 12, 0, 0, 0, false, false},
    {"bytes", A_KERNEL, 1, 3, 0, 60, 4, 8, 0, false, false},
    {"partial", A_KERNEL, 1, 2, 1, 6, 0, 0, 1, false, false},
    {"many", A_KERNEL, 1, 20, 3, 200, 0, 0, 0, false, false},
    {"gather", A_KERNEL, 1, 3, 0, 60, 0, 0, 0, false, true},
    {"flags", A_KERNEL, 1, 3, 0, 60, 2, 9, 0, false, false},
    {"chain", A_KERNEL, 1, 2, 5, 8, 0, 0, 0, false, false},
    {"scatter", A_KERNEL, 1, 2, 0, 20, 64, 64, 0, false, false},
    {"late", A_KERNEL, 2, 2, 0, 20, 2, 6, 0, false, false},
    {"parted", A_KERNEL, 2, 1, 0, 1, 12, 90, 0, true, false},
    {"copy", A_COPY, 0, 0, 0, 0, 0, 0, 0, false, false},
    {"fill", A_FILL, 0, 0, 0, 0, 0, 0, 0, false, false},
    {"user", A_USER, 0, 0, 0, 0, 0, 0, 0, false, false},
};

uint32_t work_count(void)
{
    return sizeof rows / sizeof *rows;
}

const char *work_name(uint32_t index)
{
    return rows[index].name;
}

static const struct embedded_kernel *kernel_named(const char *name)
{
    const struct embedded_kernel *k = embedded_kernels;
    while (k->name && strcmp(k->name, name) != 0) {
        k++;
    }
    return k->name ? k : NULL;
}

static int dispatch(const struct row *row, bool longer, const struct geometry *g, uint32_t *words)
{
    const struct embedded_kernel *k = kernel_named(row->name);
    uint32_t local = row->warps * g->lanes, groups = longer ? row->groups_long : row->groups;
    const uint32_t edge = row->missing < local ? local - row->missing : 1;
    struct tern_pkt_dispatch p = {
        .args = DATA_VA + ARGS, .work_dim = row->boxed ? 3 : 1, .group_warps = row->warps,
        .group_slots = g->warps / row->warps, .stack_log2 = STACK_LOG2, .stack = DATA_VA + STACK, .local_x = local,
        .local_y = 1, .local_z = 1, .groups_x = groups, .groups_y = 1, .groups_z = 1, .edge_x = edge,
        .edge_y = 1, .edge_z = 1,
    };
    if (!k) {
        return -EINVAL;
    }
    if (row->boxed) { /* the same groups as boxes, with an edge in each dimension */
        p.local_x = g->lanes / 4;
        p.local_y = p.local_z = 2;
        p.groups_y = p.groups_z = groups;
        p.edge_x = p.local_x > 1 ? p.local_x - 1 : 1;
        p.edge_y = p.edge_z = 1;
    }
    p.entry = k->entry;
    p.local_bytes = (k->local_bytes + LINE - 1) / LINE * LINE;
    p.global_x = (p.groups_x - 1) * p.local_x + p.edge_x;
    p.global_y = (p.groups_y - 1) * p.local_y + p.edge_y;
    p.global_z = (p.groups_z - 1) * p.local_z + p.edge_z;
    return tern_pkt_dispatch_pack(&p, words);
}

static int packet(const struct row *row, bool longer, const struct geometry *g, uint32_t *words)
{
    const uint32_t n = longer ? 8 : 1;
    struct tern_pkt_copy copy = {.src_lo = DATA_VA + IN + 13, .dst_lo = DATA_VA + OUT + 50, .width = 330 * n, .rows = 3,
                                 .slices = 4, .src_row = 377 * n, .src_slice = 5000, .dst_row = 331 * n,
                                 .dst_slice = 1200 * n};
    struct tern_pkt_fill fill = {.dst_lo = DATA_VA + OUT + 7, .width = 400 * n, .rows = 3, .slices = 4,
                                 .dst_row = 410 * n, .dst_slice = 1300 * n};
    struct tern_pkt_user_call user = {TERN_EXECUTOR_ID_SAXPY,
                                      {300 * n, 0x3fc00000u, DATA_VA + IN, DATA_VA + SUMS + 20}};
    for (uint32_t i = 0; i < 16; i++) {
        fill.pattern[i] = 0x03020100u + 0x04040404u * i;
    }
    switch (row->what) {
    case A_COPY:
        return tern_pkt_copy_pack(&copy, words);
    case A_FILL:
        return tern_pkt_fill_pack(&fill, words);
    case A_USER: /* a fill on a device without this executor */
        return g->executors > TERN_EXECUTOR_ID_SAXPY ? tern_pkt_user_call_pack(&user, words)
                                                     : tern_pkt_fill_pack(&fill, words);
    default:
        return dispatch(row, longer, g, words);
    }
}

static uint32_t entry(uint64_t physical, uint32_t rights)
{
    return (uint32_t)(physical / PAGE) << TERN_PTE_PPN_SHIFT | TERN_PTE_VALID_MASK | rights;
}

static void map(struct scene *s)
{
    uint32_t first[1024] = {0}, code[1024] = {0}, data[1024] = {0};
    first[EMBEDDED_BASE >> 22] = entry(TABLE_CODE, 0);
    first[DATA_VA >> 22] = entry(TABLE_DATA, 0);
    for (uint32_t i = 0; i < (STACK - CODE) / PAGE; i++) {
        code[i] = entry(CODE + i * PAGE, TERN_PTE_READ_MASK | TERN_PTE_EXEC_MASK);
    }
    for (uint32_t i = 0; i < SAVE / PAGE; i++) {
        data[i] = entry(i * PAGE, TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK);
    }
    scene_put(s, ROOT, first, sizeof first);
    scene_put(s, TABLE_CODE, code, sizeof code);
    scene_put(s, TABLE_DATA, data, sizeof data);
}

static int put_buffer(struct scene *s, const struct row *row, bool longer, const struct geometry *g)
{
    uint32_t words[64] = {0};
    int r = tern_pkt_fence_signal_pack(&(struct tern_pkt_fence_signal){.address_lo = DATA_VA + SIGNALS, .value_lo = 1},
                                       words);
    if (r == 0) {
        r = packet(row, longer, g, words + 16);
    }
    uint32_t used = 16 + 16 * (words[16] >> 8 & 0xffu);
    if (r == 0) {
        r = tern_pkt_fence_signal_pack(&(struct tern_pkt_fence_signal){.address_lo = DATA_VA + SIGNALS + 64,
                                                                       .value_hi = 2}, words + used);
    }
    used += 16;
    scene_put(s, BUFFER, words, 4ull * used);
    struct submit sub = {.buffer = DATA_VA + BUFFER, .fence = 5, .size = 4 * used, .root = ROOT / PAGE,
                         .save = SAVE / PAGE};
    return r ? r : scene_submit(s, &sub);
}

/** Fills the words with small and large values; as floating point, none is a NaN. */
static void put_data(struct scene *s)
{
    struct rng r = rng_of(1, 0x7072656570ull);
    float y[1024];
    for (uint32_t at = 0; at < IN_BYTES; at += 4) {
        uint32_t v = rng_next(&r) & (rng_one_in(&r, 4) ? 0xffu : 0x3fffffffu);
        scene_put(s, IN + at, &v, sizeof v);
    }
    for (uint32_t i = 0; i < 1024; i++) {
        y[i] = (float)rng_below(&r, 1000) * 0.25f;
    }
    scene_put(s, SUMS, y, sizeof y);
}

int work_build(uint32_t index, bool longer, const struct geometry *g, uint32_t save_lines, struct work *out)
{
    const struct row *row = &rows[index];
    const bool gathers = strcmp(row->name, "gather") == 0;
    const uint32_t args[16] = {DATA_VA + IN, DATA_VA + OUT, gathers ? IN_BYTES / 4 : longer ? row->arg_long : row->arg};
    struct scene *s = &out->scene;
    *out = (struct work){.save = SAVE, .save_bytes = (uint64_t)SAVE_PAGES * PAGE, .save_lines = save_lines,
                         .stack = STACK, .stack_bytes = IN - STACK, .faults = row->faults,
                         .bandwidth = row->slow ? SLOW_BANDWIDTH : 0};
    if (embedded_size > STACK - CODE || g->lanes * g->warps << STACK_LOG2 > IN - STACK ||
        SAVE + out->save_bytes > PREEMPT_MEMORY) {
        return -EINVAL;
    }
    *s = (struct scene){.engines = g->engines, .mem_bytes = PREEMPT_MEMORY, .memory = calloc(1, PREEMPT_MEMORY),
                        .touched = calloc(1, PREEMPT_MEMORY / PAGE)};
    int r = s->memory && s->touched ? 0 : -ENOMEM;
    if (r == 0) {
        map(s);
        put_data(s);
        scene_put(s, CODE, embedded_data, embedded_size);
        scene_put(s, ARGS, args, sizeof args);
        r = put_buffer(s, row, longer, g);
        if (r == 0) {
            r = scene_foreign(s, g, FOREIGN);
        }
    }
    if (r == 0 && row->what == A_KERNEL) {
        struct tern_pkt_dispatch p;
        tern_pkt_dispatch_unpack(&p, (const uint32_t *)(const void *)(s->memory + BUFFER + LINE));
        out->resident = (uint64_t)p.groups_x * p.groups_y * p.groups_z <= p.group_slots;
    }
    if (r) {
        work_free(out);
    }
    return r;
}

void work_free(struct work *w)
{
    scene_free(&w->scene);
}
