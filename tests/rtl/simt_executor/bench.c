/* SPDX-License-Identifier: Apache-2.0 */
/** Runs each case in the hardware (through the memory channel below) and in the functional model, and compares memory.
 *  The model resumes states that the stopped hardware has saved, and the hardware resumes states of the model. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

#define BUILD "build/tests/rtl/simt_executor"
#define KERNELS "tests/rtl/simt_executor/kernels"
#define LATENCY 60u
#define MAX_LINES 16384u

uint32_t bench_lanes, bench_warps;
static struct tern_sim device; /* the functional model */
static uint8_t *memory;        /* memory of the hardware */
static uint8_t *initial, *expected;
static struct fault expected_fault;
static uint32_t state[MAX_LINES][16], state_lines, state_next; /* saved by a stopped executor */
static const char *only_case;
static uint64_t random_state;
static struct bench_case current; /* with groups that the executor can hold */
static uint32_t next_case, packet_words[32];

uint64_t bench_random(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int bench_init(int seed, int lanes, int warps, const char *only);
int bench_case(uint32_t *packet, int *scrub, const char **name);
void bench_again(void);
void bench_dirt(uint32_t *packet);
void bench_save(const uint32_t *line);
int bench_restore(uint32_t *line);
int bench_cross(void);
void bench_spoil(int how);
void bench_mend(void);
int bench_cut(int instructions);
void bench_request(int now, int op, int amo, int exec, int line, const uint32_t *wdata, const uint32_t *be, int tag);
int bench_response(int now, int *tag, int *fault, uint32_t *data);
int bench_check(int code, int access, int va, int pc, int group, int warp, int lane);

int bench_init(int seed, int lanes, int warps, const char *only)
{
    random_state = (uint64_t)seed * 0x2545f4914f6cdd1du;
    bench_lanes = (uint32_t)lanes;
    bench_warps = (uint32_t)warps;
    only_case = strdup(only);
    memory = calloc(MEMORY_BYTES, 1);
    initial = malloc(MEMORY_BYTES);
    expected = malloc(MEMORY_BYTES);
    if (lanes != LANES || warps != WARPS || !memory || !initial || !expected ||
        memory_init(&device.mem, MEMORY_BYTES)) {
        return -1;
    }
    device.engine[0].dev = &device;
    device.engine[0].space.physical = true;
    return 0;
}

/* ------------------------------------------------------------------- model */

/** Stream of state lines of the model; bench_save and bench_restore are that of the hardware. */
void lines_put(struct lines *s, const void *line)
{
    (void)s;
    memcpy(state[state_lines++], line, LINE);
}

void lines_get(struct lines *s, void *line)
{
    (void)s;
    memcpy(line, state[state_next++ % MAX_LINES], LINE);
}

/** Runs the packet in the model from its start, or from `state`. Returns whether it has ended or faulted. */
static bool model_run(bool resume, int64_t instructions, struct fault *f)
{
    struct engine *e = &device.engine[0];
    struct lines s = {.e = e, .f = f};
    bool done = false;
    *f = (struct fault){0};
    state_next = 0;
    e->simt.clean = false;
    memcpy(e->packet, packet_words, sizeof packet_words);
    simt_start(e, resume ? &s : NULL, f);
    while (!f->code && !done && instructions > 0) {
        instructions -= (int64_t)simt_run(e, instructions < 100000 ? (uint64_t)instructions : 100000, &done, f);
    }
    return done || f->code;
}

static int compare(const uint8_t *got, const char *whose)
{
    int errors = 0;
    for (uint32_t a = 0; a < STACK && errors < 8; a += 4) {
        uint32_t g, want;
        memcpy(&g, got + a, 4);
        memcpy(&want, expected + a, 4);
        if (g != want) {
            fprintf(stderr, "%s [%06x] %08x, expected %08x\n", whose, a, g, want);
            errors++;
        }
    }
    return errors;
}

/* ------------------------------------------------------------------- cases */

static int load(const char *source)
{
    char command[512], path[128];
    snprintf(path, sizeof path, BUILD "/%s.bin", source);
    snprintf(command, sizeof command,
             "mkdir -p " BUILD " && clang-19 --target=riscv32 -march=rv32ima_zfinx_zba_zbb -mabi=ilp32 -O2 "
             "-ffreestanding -nostdlib -fuse-ld=lld -Wall -Werror -Wl,-T," KERNELS "/link.ld -o %s " KERNELS "/%s.c",
             path, source);
    FILE *f = system(command) ? NULL : fopen(path, "rb");
    if (!f) {
        return -1;
    }
    size_t n = fread(memory + CODE, 1, DATA - CODE, f);
    fclose(f);
    return n ? 0 : -1;
}

static void fill_packet(const struct bench_case *c, const uint32_t *args)
{
    struct tern_pkt_dispatch p = {
        .entry = CODE, .args = ARGS, .work_dim = 3, .stack_log2 = 10, .stack = STACK,
        .global_x = c->global[0], .global_y = c->global[1], .global_z = c->global[2],
        .local_x = c->local[0], .local_y = c->local[1], .local_z = c->local[2],
        .offset_x = 0, .local_bytes = c->local_bytes, .user0 = 0x12345678, .user1 = 0x9abcdef0,
    };
    p.groups_x = (p.global_x + p.local_x - 1) / p.local_x;
    p.groups_y = (p.global_y + p.local_y - 1) / p.local_y;
    p.groups_z = (p.global_z + p.local_z - 1) / p.local_z;
    p.edge_x = p.global_x - (p.groups_x - 1) * p.local_x;
    p.edge_y = p.global_y - (p.groups_y - 1) * p.local_y;
    p.edge_z = p.global_z - (p.groups_z - 1) * p.local_z;
    p.group_warps = (p.local_x * p.local_y * p.local_z + LANES - 1) / LANES;
    p.group_slots = WARPS / p.group_warps;
    if (c->slots && c->slots < p.group_slots) {
        p.group_slots = c->slots;
    }
    if (c->fault == TERN_FAULT_PACKET_BOUNDS) {
        p.edge_x++;
    }
    memset(packet_words, 0, sizeof packet_words);
    tern_pkt_dispatch_pack(&p, packet_words);
    memcpy(memory + ARGS, args, 32);
}

/** Returns the case with a group of at most LANES * WARPS work-items: its larger side is made shorter. */
static struct bench_case fitted(const struct bench_case *from)
{
    struct bench_case c = *from;
    uint32_t items = c.local[0] * c.local[1], *larger = &c.local[c.local[1] > c.local[0]];
    if (items > LANES * WARPS) {
        *larger = LANES * WARPS / (items / *larger);
    }
    return c;
}

int bench_case(uint32_t *packet, int *scrub, const char **name)
{
    uint32_t count, args[8];
    const struct bench_case *list = bench_cases(&count);
    *name = "";
    *scrub = 0;
    while (next_case < count && *only_case && strcmp(only_case, list[next_case].name)) {
        next_case++;
    }
    if (next_case == count) {
        return 0;
    }
    current = fitted(&list[next_case++]);
    memset(memory, 0, MEMORY_BYTES);
    memcpy(args, current.args, sizeof args);
    if (!current.source) {
        bench_random_program(memory, args);
    } else if (load(current.source)) {
        fprintf(stderr, "%s: cannot be built\n", current.source);
        exit(1);
    }
    if (current.fill) {
        current.fill(memory);
    }
    fill_packet(&current, args);
    memcpy(initial, memory, MEMORY_BYTES);
    memcpy(device.mem.data, memory, MEMORY_BYTES);
    memcpy(packet, packet_words, sizeof packet_words);
    *scrub = current.scrub || next_case % 3 == 1;
    if (!model_run(false, 400000000, &expected_fault)) {
        fprintf(stderr, "the model does not end\n");
        exit(1);
    }
    memcpy(expected, device.mem.data, MEMORY_BYTES);
    *name = current.name;
    return 1;
}

void bench_again(void)
{
    memcpy(memory, initial, MEMORY_BYTES);
}

/** Builds a kernel of another process, which writes all registers and all of local memory. */
void bench_dirt(uint32_t *packet)
{
    enum { DIRT_CODE = 0xf00000, DIRT_STACK = 0xe00000 };
    uint32_t *code = (uint32_t *)(void *)(memory + DIRT_CODE), bytes = LMEM_BYTES / (LANES * WARPS);
    struct tern_pkt_dispatch p = {
        .entry = DIRT_CODE, .work_dim = 1, .stack_log2 = 6, .stack = DIRT_STACK, .group_warps = WARPS, .group_slots = 1,
        .global_x = LANES * WARPS, .global_y = 1, .global_z = 1, .local_x = LANES * WARPS, .local_y = 1, .local_z = 1,
        .groups_x = 1, .groups_y = 1, .groups_z = 1, .edge_x = LANES * WARPS, .edge_y = 1, .edge_z = 1,
        .local_bytes = LMEM_BYTES,
    };
    for (uint32_t r = 3; r < 32; r++) {
        *code++ = 0xdead0037u + (r << 12) + (r << 7);     /* lui r */
    }
    *code++ = 0xcc002073u | 1u << 7;                      /* x1 = local id */
    for (uint32_t b = bytes; b > 1; b /= 2) {
        *code++ = 0x00108033u | 1u << 7 | 1u << 15;       /* x1 += x1 */
    }
    *code++ = 0xe0000037u | 2u << 7;                      /* x2 = local window */
    *code++ = 0x00208033u | 1u << 7 | 1u << 15;           /* x1 += x2 */
    for (uint32_t b = 0; b < bytes; b += 4) {
        *code++ = 0x0050a023u | (b & 31u) << 7 | b >> 5 << 25; /* sw x5, b(x1) */
    }
    *code = 0x0000100bu;                                  /* exit */
    memset(packet, 0, sizeof packet_words);
    tern_pkt_dispatch_pack(&p, packet);
}

/* ---------------------------------------------------------- stop and resume */

void bench_save(const uint32_t *line)
{
    if (state_lines == MAX_LINES) {
        fprintf(stderr, "the state does not end\n");
        exit(1);
    }
    memcpy(state[state_lines++], line, LINE);
}

/** Gives the next line of the state. Returns 1 if it is the last, else 0. */
int bench_restore(uint32_t *line)
{
    memcpy(line, state[state_next++], LINE);
    if (state_next < state_lines) {
        return 0;
    }
    state_next = state_lines = 0;
    return 1;
}

static uint32_t good[MAX_LINES][16], good_lines;

/** Changes the state so that it must be refused. how: 0: another geometry, 1: a line too long, 2: a line too short. */
void bench_spoil(int how)
{
    memcpy(good, state, sizeof state);
    good_lines = state_lines;
    if (how == 0) {
        state[0][0] ^= 1u << bench_random() % 16;
    } else if (how == 1) {
        memset(state[state_lines++], 0, LINE);
    } else {
        state_lines--;
    }
}

void bench_mend(void)
{
    memcpy(state, good, sizeof state);
    state_lines = good_lines;
    state_next = 0;
}

/** Resumes the model from the state and the memory of the hardware. Returns the number of errors. */
int bench_cross(void)
{
    struct fault f;
    memcpy(device.mem.data, memory, MEMORY_BYTES);
    bool ended = model_run(true, 400000000, &f);
    uint32_t used = state_next;
    state_next = 0;
    if (!ended || f.code != expected_fault.code || used != state_lines) {
        fprintf(stderr, "resumed in the model: fault %u, expected %u; %u of %u lines\n", f.code,
                expected_fault.code, used, state_lines);
        return 1;
    }
    return f.code ? 0 : compare(device.mem.data, "resumed in the model");
}

/** Runs the given number of instructions in the model and saves its state for the hardware. Returns 0 if the packet has
 *  ended, else 1. */
int bench_cut(int instructions)
{
    struct fault f;
    struct lines s = {.e = &device.engine[0], .f = &f};
    memcpy(device.mem.data, initial, MEMORY_BYTES);
    if (model_run(false, instructions, &f)) {
        return 0;
    }
    state_lines = state_next = 0;
    state_save(&device.engine[0], &s);
    memcpy(memory, device.mem.data, MEMORY_BYTES);
    return 1;
}

int bench_check(int code, int access, int va, int pc, int group, int warp, int lane)
{
    const struct fault *f = &expected_fault;
    if ((uint32_t)code != f->code || f->code != current.fault) {
        fprintf(stderr, "fault %d, model %u, expected %u\n", code, f->code, current.fault);
        return 1;
    }
    if (f->code) { /* other work-items may have run further in one of the two: memory is not compared */
        if ((uint32_t)access != f->access || (uint32_t)va != f->va || (uint32_t)pc != f->pc ||
            (uint32_t)lane != f->lane || (uint32_t)warp != f->warp || (uint32_t)group != f->group[0]) {
            fprintf(stderr, "fault: access %d va %x pc %x group %d warp %d lane %d; model %u %x %x %u %u %u\n",
                    access, va, pc, group, warp, lane, f->access, f->va, f->pc, f->group[0], f->warp, f->lane);
            return 1;
        }
        return 0;
    }
    return compare(memory, "");
}

/* ---------------------------------------------------------- memory channel */

struct answer {
    uint32_t due, tag, fault;
    uint32_t data[16];
    bool used;
};

static struct answer answers[256]; /* by tag */
static uint32_t reserved_word, reserved_thread;
static bool reserved;

static uint32_t apply(int amo, uint32_t old, uint32_t b)
{
    switch (amo) {
    case 1:
        return old + b;
    case 2:
        return old ^ b;
    case 3:
        return old & b;
    case 4:
        return old | b;
    case 5:
        return (int32_t)old < (int32_t)b ? old : b;
    case 6:
        return (int32_t)old > (int32_t)b ? old : b;
    case 7:
        return old < b ? old : b;
    case 8:
        return old > b ? old : b;
    default:
        return b;
    }
}

static void atomic(int amo, uint32_t line, uint32_t w, const uint32_t *wdata, struct answer *a)
{
    uint32_t *word = (uint32_t *)(void *)(memory + line * 64u) + w, at = line * 16u + w;
    bool store = true;
    a->data[w] = *word;
    if (amo == 9) {
        store = *word == wdata[w ^ 8u];
    } else if (amo == 10) {
        reserved = true;
        reserved_word = at;
        reserved_thread = wdata[w ^ 8u];
        store = false;
    } else if (amo == 11) {
        store = reserved && reserved_word == at && reserved_thread == wdata[w ^ 8u];
        a->data[w] = !store;
        reserved = false;
    }
    if (store) {
        *word = apply(amo, *word, wdata[w]);
        reserved = reserved && reserved_word != at;
    }
}

void bench_request(int now, int op, int amo, int exec, int line, const uint32_t *wdata, const uint32_t *be, int tag)
{
    struct answer *a = &answers[tag];
    (void)exec;
    if (a->used) {
        fprintf(stderr, "tag %x is in use\n", tag);
        exit(1);
    }
    *a = (struct answer){.used = true, .due = (uint32_t)now + LATENCY + (uint32_t)(bench_random() & 7u),
                         .tag = (uint32_t)tag};
    if ((uint32_t)line >= MEMORY_BYTES / 64u) {
        a->fault = TERN_FAULT_BUS_ERROR;
        return;
    }
    uint8_t *p = memory + (uint32_t)line * 64u;
    if (op == 0) {
        memcpy(a->data, p, 64);
        return;
    }
    for (uint32_t i = 0; i < 64; i++) {
        if (!(be[i / 32] >> i % 32 & 1u)) {
            continue;
        }
        if (op == 1) {
            p[i] = (uint8_t)(wdata[i / 4] >> i % 4 * 8);
            reserved = reserved && reserved_word != (uint32_t)line * 16u + i / 4;
        } else if (i % 4 == 0) {
            atomic(amo, (uint32_t)line, i / 4, wdata, a);
        }
    }
}

int bench_response(int now, int *tag, int *fault, uint32_t *data)
{
    static uint32_t from;
    for (uint32_t i = 0; i < 256; i++) {
        struct answer *a = &answers[(from + i) % 256];
        if (a->used && (uint32_t)now >= a->due) {
            from = (from + i + 1) % 256;
            a->used = false;
            *tag = (int)a->tag;
            *fault = (int)a->fault;
            memcpy(data, a->data, 64);
            return 1;
        }
    }
    *tag = *fault = 0;
    return 0;
}
