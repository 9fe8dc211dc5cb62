/* SPDX-License-Identifier: Apache-2.0 */
/** Requests to stop in the middle of packets, and the saved state, on a simulated device, RTL or model: test_preempt
 *  LIBRARY. docs/rules.md has the rules by number, docs/spec/context.yaml the saved state. */
#include <stdlib.h>

#include "victim.h"

/* physical */
#define BUFFER 0x00400000u
#define DATA 0x02000000u
#define OTHER 0x02800000u
#define PAGING TERN_ENGINE_SUB_FLAGS_PAGING_MASK
#define RESUME TERN_ENGINE_SUB_FLAGS_RESUME_MASK

static struct tern_ctx header(struct device *d)
{
    uint32_t line[16];
    struct tern_ctx c;
    assert_int_equal(api->mem_read(d->sim, SAVE, line, sizeof line), 0);
    assert_int_equal(tern_ctx_unpack(&c, line), 0);
    assert_int_equal(c.magic, TERN_CTX_MAGIC_VALUE);
    assert_int_equal(c.state, TERN_CTX_STATE_SAVED);
    assert_in_range(c.lines, 0, reg_read(d, TERN_REG_DEV_SAVE_LINES) - 1);
    return c;
}

/** Runs the buffer to its end on the two engines in turn, with a request to stop about every `every` cycles. Returns
 *  how often the executor was cut in the middle. */
static uint32_t run_cut(struct device *d, struct submission s, uint64_t physical, uint32_t every, uint32_t granularity,
                        uint32_t executor, uint32_t *seed)
{
    uint32_t cuts = 0;
    s.size = s.size ? s.size : d->used * 4;
    for (uint32_t i = 0;; i++) {
        submit(d, i % 2, s, physical);
        assert_int_equal(api->step(d->sim, next_random(seed) % (2 * every) + 1, NULL), 0);
        preempt(d, i % 2, granularity);
        struct indication seen = indication(d, i % 2, SOON);
        assert_int_equal(seen.fault, 0);
        assert_int_equal(seen.fence, s.fence);
        assert_true(i < 100000);
        if (seen.kind == TERN_ENGINE_IND_INFO_KIND_COMPLETED) {
            return cuts;
        }
        assert_int_equal(seen.kind, TERN_ENGINE_IND_INFO_KIND_PREEMPTED);
        if (!seen.begin) {
            continue; /* the buffer was cancelled before it began */
        }
        struct tern_ctx c = header(d);
        assert_int_equal(c.offset, seen.offset);
        assert_true(c.executor == TERN_CTX_EXECUTOR_NONE || c.executor == executor || c.offset < DISPATCH_AT);
        assert_int_equal(c.executor == TERN_CTX_EXECUTOR_NONE, c.lines == 0);
        cuts += c.executor == executor;
        s.flags |= RESUME;
    }
}

/* P2 for boxes of bytes and for page-table entries, against a reference. */
static void test_mover(void **state)
{
    struct device *d = *state;
    enum { BYTES = 1 << 15 };
    static uint8_t source[BYTES], expected[BYTES], seen[BYTES];
    uint32_t seed = 4711, cuts = 0;
    for (uint32_t round = 0; round < 12; round++) {
        for (uint32_t i = 0; i < BYTES; i++) {
            source[i] = (uint8_t)next_random(&seed);
            expected[i] = (uint8_t)next_random(&seed);
        }
        assert_int_equal(api->mem_write(d->sim, DATA, source, BYTES), 0);
        assert_int_equal(api->mem_write(d->sim, OTHER, expected, BYTES), 0);
        uint32_t width = 1 + next_random(&seed) % (round % 2 ? 300 : 5000), rows = 1 + next_random(&seed) % 5,
            slices = round % 2 ? 3 : 1;
        uint32_t dst_row = width + next_random(&seed) % 60, dst_slice = dst_row * rows + 5, src_row = width + 3;
        uint32_t dst = next_random(&seed) % 128, src = next_random(&seed) % 128;
        bool fill = round % 3 == 2;
        struct tern_pkt_copy c = {.src_lo = DATA + src, .dst_lo = OTHER + dst, .width = width, .rows = rows,
                                  .slices = slices,
                                  .src_row = src_row, .src_slice = 7, .dst_row = dst_row, .dst_slice = dst_slice};
        struct tern_pkt_fill f = {.dst_lo = OTHER + dst, .width = width, .rows = rows, .slices = slices,
                                  .dst_row = dst_row,
                                  .dst_slice = dst_slice};
        memcpy(f.pattern, source, sizeof f.pattern);
        assert_int_equal(fill ? tern_pkt_fill_pack(&f, packet(d, 2)) : tern_pkt_copy_pack(&c, packet(d, 1)), 0);
        cuts += run_cut(d, (struct submission){.buffer = BUFFER, .fence = round, .save = SAVE / PAGE, .flags = PAGING},
                        BUFFER, 150, round % 2 ? GROUP : INSTRUCTION, TERN_CTX_EXECUTOR_MOVER, &seed);
        for (uint32_t z = 0; z < slices; z++) {
            for (uint32_t y = 0; y < rows; y++) {
                for (uint32_t x = 0; x < width; x++) {
                    expected[dst + z * dst_slice + y * dst_row + x] = fill ? source[x % 64]
                                                                           : source[src + z * 7 + y * src_row + x];
                }
            }
        }
        assert_int_equal(api->mem_read(d->sim, OTHER, seen, BYTES), 0);
        assert_memory_equal(seen, expected, BYTES);
    }
    assert_true(cuts > 12);
}

static void test_user(void **state)
{
    struct device *d = *state;
    need_saxpy(d);
    enum { N = 3000 };
    static float x[N], y[N], seen[N];
    float a = 1.75f;
    uint32_t seed = 5, cuts = 0;
    for (uint32_t i = 0; i < N; i++) {
        x[i] = (float)(int32_t)next_random(&seed) * 0x1p-20f;
        y[i] = (float)(int32_t)next_random(&seed) * 0x1p-31f;
    }
    assert_int_equal(api->mem_write(d->sim, DATA, x, sizeof x), 0);
    assert_int_equal(api->mem_write(d->sim, OTHER + 20, y, sizeof y), 0);
    struct tern_pkt_user_call p = {TERN_EXECUTOR_ID_SAXPY, {N, 0, DATA, OTHER + 20}};
    memcpy(&p.payload[1], &a, 4);
    assert_int_equal(tern_pkt_user_call_pack(&p, packet(d, 2)), 0);
    cuts = run_cut(d, (struct submission){.buffer = BUFFER, .save = SAVE / PAGE, .flags = PAGING}, BUFFER, 300,
                   INSTRUCTION, TERN_CTX_EXECUTOR_USER, &seed);
    assert_true(cuts > 0);
    assert_int_equal(api->mem_read(d->sim, OTHER + 20, seen, sizeof seen), 0);
    for (uint32_t i = 0; i < N; i++) {
        y[i] = __builtin_fmaf(a, x[i], y[i]);
    }
    assert_memory_equal(seen, y, sizeof y);
}

static void test_kernel(void **state)
{
    struct device *d = *state;
    uint32_t seed = 31, cuts = 0;
    static const uint32_t every[] = {700, 1500}; /* fewer cycles do not suffice for a restore and some progress */
    for (uint32_t i = 0; i < 2 * sizeof every / sizeof every[0]; i++) {
        build_kernel(d);
        cuts += run_cut(d, (struct submission){.buffer = VA, .fence = i, .root = ROOT, .save = SAVE / PAGE}, BASE,
                        every[i / 2],
                                i % 2 ? GROUP : INSTRUCTION, TERN_CTX_EXECUTOR_SIMT, &seed);
        check_kernel(d);
    }
    assert_true(cuts > 0);
}

/* Stopped at the granularity of groups, no group is resident. A pending request can become finer, but not coarser. */
static void test_granularity(void **state)
{
    struct device *d = *state;
    for (uint32_t round = 0; round < 3; round++) {
        build_kernel(d);
        struct submission s = {.buffer = VA, .root = ROOT, .save = SAVE / PAGE, .size = d->used * 4};
        submit(d, 0, s, BASE);
        assert_int_equal(api->step(d->sim, 1000, NULL), 0);
        preempt(d, 0, round == 2 ? INSTRUCTION : GROUP);
        if (round) {
            preempt(d, 0, round == 2 ? GROUP : INSTRUCTION);
        }
        struct indication seen = indication(d, 0, SOON);
        uint32_t line[16];
        struct tern_ctx_simt_head h = {0};
        if (seen.kind == TERN_ENGINE_IND_INFO_KIND_PREEMPTED) {
            assert_int_equal(header(d).executor, TERN_CTX_EXECUTOR_SIMT);
            assert_int_equal(api->mem_read(d->sim, save_line(d, SAVE, 1), line, sizeof line), 0);
            assert_int_equal(tern_ctx_simt_head_unpack(&h, line), 0);
            assert_int_equal(h.lanes, lanes(d));
            if (round) {
                assert_int_not_equal(h.live, 0);
            } else {
                /* pending may have instructions without a waiting warp, as the last atomic, whose rd is x0 */
                assert_int_equal(h.slots | h.live | h.fresh, 0);
                assert_int_equal(h.ended, 0);
                assert_int_equal(h.base_x, h.next_x * LOCAL);
            }
            s.flags = RESUME;
            submit(d, 1, s, BASE);
            expect_completed(d, 1, 0);
        } else {
            assert_int_equal(round, 0); /* the last groups were already running */
        }
        check_kernel(d);
    }
}

static void put_header(struct device *d, struct tern_ctx c)
{
    uint32_t line[16];
    c.magic = TERN_CTX_MAGIC_VALUE;
    c.state = TERN_CTX_STATE_SAVED;
    assert_int_equal(tern_ctx_pack(&c, line), 0);
    assert_int_equal(api->mem_write(d->sim, SAVE, line, sizeof line), 0);
}

/* An invalid header or state is refused, and the engine goes on. */
static void test_refused(void **state)
{
    struct device *d = *state;
    uint32_t most = reg_read(d, TERN_REG_DEV_SAVE_LINES), line[16];
    const struct tern_ctx cases[] = {
        {.executor = TERN_CTX_EXECUTOR_MOVER, .lines = 2},          /* the packet is a dispatch */
        {.executor = TERN_CTX_EXECUTOR_USER, .lines = 2},
        {.executor = TERN_CTX_EXECUTOR_SIMT, .lines = 0},
        {.executor = TERN_CTX_EXECUTOR_SIMT, .lines = most + 1},
        {.executor = TERN_CTX_EXECUTOR_NONE, .lines = 1},
        {.executor = 4, .lines = 1},
        {.executor = TERN_CTX_EXECUTOR_SIMT, .lines = 2},           /* the geometry is of another device */
        {.executor = TERN_CTX_EXECUTOR_SIMT, .lines = 1},           /* fewer lines than the head says; then more */
        {.executor = TERN_CTX_EXECUTOR_SIMT, .lines = 4},
    };
    build_kernel(d);
    struct submission s = {.buffer = VA, .root = ROOT, .save = SAVE / PAGE, .size = d->used * 4};
    submit(d, 0, s, BASE);
    expect_completed(d, 0, 0);
    s.flags = RESUME;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tern_ctx c = cases[i];
        uint32_t warps = reg_read(d, TERN_REG_DEV_CONFIG0) >> TERN_DEV_CONFIG0_WARPS_SHIFT & 255u;
        struct tern_ctx_simt_head h = {.lanes = i == 6 ? lanes(d) ^ 24u : lanes(d), .warps = warps, .ended = 1};
        tern_ctx_simt_head_pack(&h, line);
        assert_int_equal(api->mem_write(d->sim, save_line(d, SAVE, 1), line, sizeof line), 0);
        memset(line, 0, sizeof line);
        assert_int_equal(api->mem_write(d->sim, save_line(d, SAVE, 2), line, sizeof line), 0);
        c.offset = DISPATCH_AT;
        put_header(d, c);
        s.fence = i;
        submit(d, 0, s, BASE);
        expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_CONTEXT_INVALID, i);
    }
    build_kernel(d);
    submit(d, 0, (struct submission){.buffer = VA, .root = ROOT, .fence = 99}, BASE);
    expect_completed(d, 0, 99);
    check_kernel(d);
}

/* If the area is beyond memory or memory answers with an error, the buffer faults and the next one runs. */
static void test_bad_area(void **state)
{
    struct device *d = *state;
    static const uint32_t pages[] = {(64u << 20) / PAGE, 0x003fffffu, 0x700u, 0x6ffu /* whose first page is valid */};
    for (uint32_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        uint32_t list[LINE];
        for (uint32_t k = 0; k < LINE; k++) {
            list[k] = save_entry(0x700u);
        }
        assert_int_equal(api->mem_write(d->sim, 0x6ffu * PAGE + LINE, list, sizeof list), 0);
        build_kernel(d);
        submit(d, 0, (struct submission){.buffer = VA, .root = ROOT, .fence = 1, .save = pages[i]}, BASE);
        assert_int_equal(api->step(d->sim, 1000, NULL), 0);
        preempt(d, 0, INSTRUCTION);
        expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_BUS_ERROR, 1);
        build_kernel(d);
        submit(d, 0, (struct submission){.buffer = VA, .root = ROOT, .fence = 2}, BASE);
        expect_completed(d, 0, 2);
        check_kernel(d);
    }
}

/** An area that is written line by line. */
struct area {
    struct device *d;
    uint32_t line;
};

static void put_line(struct area *a, const uint32_t *words)
{
    assert_int_equal(api->mem_write(a->d->sim, save_line(a->d, SAVE, a->line++), words, LINE), 0);
}

static void put_vector(struct area *a, uint32_t n, const uint32_t *v)
{
    uint32_t words[32] = {0};
    memcpy(words, v, 4ull * n);
    for (uint32_t l = 0; l < n; l += 16) {
        put_line(a, words + l);
    }
}

/** Writes the state of a full warp at the beginning of the kernel, with a0 and t5 (the same in all lanes) set. */
static void put_warp(struct area *a, uint32_t n, uint32_t pending, uint32_t t5, uint32_t local_bytes)
{
    uint32_t line[16], lane[32], pc[32], scalar[32] = {[A0] = VA + ARGS, [T5] = t5},
        warps = reg_read(a->d, TERN_REG_DEV_CONFIG0) >> TERN_DEV_CONFIG0_WARPS_SHIFT & 255u;
    tern_ctx_simt_head_pack(
        &(struct tern_ctx_simt_head){.lanes = n, .warps = warps, .pending = pending, .slots = 1, .live = 1, .ended = 1,
                                     .scalars_0 = n > A0, .scalars_1 = n <= A0 || (t5 && n == 16),
                                     .scalars_3 = t5 && n == 8},
        line);
    put_line(a, line);
    memset(line, 0, sizeof line);
    put_line(a, line); /* no register has a vector of its own */
    put_line(a, line); /* the slot: group 0 */
    for (uint32_t i = 0; i < local_bytes; i += LINE) {
        put_line(a, line);
    }
    for (uint32_t l = 0; l < n; l++) {
        lane[l] = TERN_CTX_SIMT_LANE_LIVE_MASK;
        pc[l] = VA + CODE;
    }
    put_vector(a, n, lane);
    put_vector(a, n, pc);
    put_vector(a, n, scalar + A0 / n * n);
    if (t5 && n < 32) {
        put_vector(a, n, scalar + T5 / n * n);
    }
}

enum { WAY_RUNS, WAY_FAULTS, WAY_FAULTS_PRIVATE, WAYS, CULPRIT = 5 };

/** Writes pending instructions: a store to every second word, loads of each word's upper half, adds to every second
 *  word, and a cas that succeeds on every fourth word, where it finds the stored value. In other ways than WAY_RUNS the
 *  load is of one lane, which faults. */
static void put_pending(struct area *a, uint32_t n, int way)
{
    const uint32_t all = n == 32 ? ~0u : (1u << n) - 1, odd = 0xaaaaaaaau & all;
    struct tern_ctx_simt_pending p[4] = {
        {.op = TERN_CTX_SIMT_PENDING_OP_STORE, .size = 2, .mask = odd},
        {.op = TERN_CTX_SIMT_PENDING_OP_LOAD, .size = 1, .rd = T2, .mask = all, .pc = VA + CODE + 8},
        {.op = TERN_CTX_SIMT_PENDING_OP_AMO, .amo = 1 /* add */, .size = 2, .rd = T3, .mask = odd},
        {.op = TERN_CTX_SIMT_PENDING_OP_AMO, .amo = 9 /* cas */, .size = 2, .rd = T4, .mask = all},
    };
    p[1].mask = way == WAY_RUNS ? all : 1u << CULPRIT;
    p[1].private_ = way == WAY_FAULTS_PRIVATE ? 1u << CULPRIT : 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t address[32], data[32], compare[32], line[16];
        for (uint32_t l = 0; l < n; l++) {
            address[l] = VA + IN + 4 * l + (i == 1 ? 2 : 0);
            if (i == 1 && way != WAY_RUNS) {
                address[l] = way == WAY_FAULTS ? 0x00800000u + 4 * l : VA + STACK + 4 * (7 * n + l);
            }
            data[l] = i == 0 ? 0x80000000u + l : i == 2 ? 5 : 77;
            compare[l] = l % 4 == 3 ? 0x80000005u + l : ~0u;
        }
        assert_int_equal(tern_ctx_simt_pending_pack(&p[i], line), 0);
        put_line(a, line);
        put_vector(a, n, address);
        if (i != 1) {
            put_vector(a, n, data);
        }
        if (i == 3) {
            put_vector(a, n, compare);
        }
    }
}

/* Memory instructions that were cut are completed first, in order, for the lanes that are left. A result goes to the
 * warp that issued the instruction. A fault has the work-item, the pc, and the address that the kernel used. */
static void test_pending(void **state)
{
    struct device *d = *state;
    const uint32_t n = lanes(d), args[] = {VA + IN, VA + OUT};
    const uint32_t code[] = {csrr(T0, 0xcd0), lw(T1, 4, A0), sh2add(T1, T0, T1), sw(T2, 0, T1), sw(T3, 1024, T1),
                             sw(T4, 2044, T1), EXIT};
    for (int way = 0; way < WAYS; way++) {
        uint32_t in[32], out[600] = {0};
        struct area a = {.d = d, .line = 1};
        for (uint32_t l = 0; l < n; l++) {
            in[l] = 0x00018000u + l;
        }
        poke(d, IN, in, sizeof in);
        poke(d, OUT, out, sizeof out);
        poke(d, ARGS, args, sizeof args);
        poke(d, CODE, code, sizeof code);
        map(d, ROOT, VA, BASE, PAGES, RWX);
        if (way == WAY_FAULTS_PRIVATE) {
            packet_pte(d, (uint64_t)(ROOT + 1) * PAGE + (VA + STACK) / PAGE % 1024 * 4, 1, 0, 0);
            assert_int_equal(tern_pkt_tlb_flush_pack(&(struct tern_pkt_tlb_flush){.all = 1}, packet(d, 1)), 0);
            run_paging(d);
        }
        put_warp(&a, n, 4, 0, 0);
        put_pending(&a, n, way);
        put_header(d, (struct tern_ctx){.executor = TERN_CTX_EXECUTOR_SIMT, .lines = a.line - 1});
        packet_dispatch(d, (struct range){{n, 1, 1}, {n, 1, 1}, 0});
        submit(d, 1, (struct submission){.buffer = VA, .root = ROOT, .save = SAVE / PAGE, .flags = RESUME}, BASE);
        if (way != WAY_RUNS) {
            struct indication f = indication(d, 1, SOON);
            expect(f, TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_PAGE, 0);
            assert_int_equal(f.va, way == WAY_FAULTS ? 0x00800000u + 4 * CULPRIT : TERN_WIN_PRIVATE_BASE + 28);
            assert_int_equal(f.pc, VA + CODE + 8);
            assert_int_equal(f.lane, CULPRIT);
            assert_int_equal(f.access, 0);
            continue;
        }
        expect_completed(d, 1, 0);
        peek(d, IN, in, sizeof in);
        peek(d, OUT, out, sizeof out);
        for (uint32_t l = 0; l < n; l++) {
            bool stored = l % 2;
            uint32_t first = stored ? 0x80000000u + l : 0x00018000u + l, then = first + (stored ? 5 : 0);
            assert_int_equal(out[l], stored ? 0xffff8000u : 1);
            assert_int_equal(out[l + 256], stored ? first : 0);
            assert_int_equal(out[l + 511], then);
            assert_int_equal(in[l], l % 4 == 3 ? 77 : then);
        }
    }
}

/* HOLE: an unmapped page whose entry of the page table is in the same line as VA's */
enum { HOLE = 15, SECRET = 0x5ec2e000 };

/** Runs a kernel of `root` that fills all local memory with SECRET, or, without `fill`, one that writes the OR of its
 *  words to OUT. */
static void run_local(struct device *d, uint32_t root, uint32_t local_bytes, uint32_t groups, bool fill)
{
    const int32_t n = (int32_t)lanes(d), words = (int32_t)local_bytes / 4 / n, step = 4 * n;
    const uint32_t filling[] = {csrr(T1, 0xcc0), lui(T2, TERN_WIN_LOCAL_BASE), sh2add(T1, T1, T2),
                                addi(T3, ZERO, words), lui(T4, SECRET), sw(T4, 0, T1), addi(T1, T1, step),
                                addi(T3, T3, -1), beq(T3, ZERO, 8), 0xff1ff06fu /* j -16 */, EXIT};
    const uint32_t looking[] = {csrr(T0, 0xcd0), csrr(T1, 0xcc0), lui(T2, TERN_WIN_LOCAL_BASE), sh2add(T1, T1, T2),
                                addi(T3, ZERO, words), addi(T4, ZERO, 0),
                                lw(T5, 0, T1), rtype(0, 6, T4, T4, T5) /* or */, addi(T1, T1, step), addi(T3, T3, -1),
                                beq(T3, ZERO, 8), 0xfedff06fu /* j -20 */, lw(T1, 4, A0), sh2add(T1, T0, T1),
                                sw(T4, 0, T1), EXIT};
    const struct range r = {{lanes(d) * groups, 1, 1}, {lanes(d), 1, 1}, local_bytes};
    launch(d, root, fill ? filling : looking, fill ? sizeof filling : sizeof looking, r);
    expect_completed(d, 0, 1);
}

/* A memory instruction that was cut may fault while the device is still clearing local memory that another process has
 * used. The fault is reported, and the rest of local memory is cleared before another kernel can see it. */
static void test_fault_at_once(void **state)
{
    struct device *d = *state;
    const uint32_t n = lanes(d), config = reg_read(d, TERN_REG_DEV_CONFIG0), args[] = {VA + IN, VA + OUT},
        code[] = {EXIT};
    const uint32_t slots = config >> TERN_DEV_CONFIG0_WARPS_SHIFT & 255u;
    const uint32_t local_bytes = (config >> TERN_DEV_CONFIG0_LMEM_KIB_SHIFT) * 1024 / slots;
    uint32_t line[16], vector[32] = {[CULPRIT] = VA + HOLE * PAGE}, out[512];
    struct area a = {.d = d, .line = 1};
    run_local(d, ROOT + 16, local_bytes, slots, true);

    poke(d, ARGS, args, sizeof args);
    poke(d, CODE, code, sizeof code);
    map(d, ROOT, VA, BASE, PAGES, RWX);
    packet_pte(d, (uint64_t)(ROOT + 1) * PAGE + (VA / PAGE % 1024 + HOLE) * 4, 1, 0, 0);
    assert_int_equal(tern_pkt_tlb_flush_pack(&(struct tern_pkt_tlb_flush){.all = 1}, packet(d, 1)), 0);
    run_paging(d);
    put_warp(&a, n, 1, 0, local_bytes);
    assert_int_equal(tern_ctx_simt_pending_pack(
                         &(struct tern_ctx_simt_pending){.op = TERN_CTX_SIMT_PENDING_OP_LOAD, .size = 2, .rd = T2,
                                                         .mask = 1u << CULPRIT, .pc = VA + CODE + 8},
                         line), 0);
    put_line(&a, line);
    put_vector(&a, n, vector);
    put_header(d, (struct tern_ctx){.executor = TERN_CTX_EXECUTOR_SIMT, .lines = a.line - 1});
    packet_dispatch(d, (struct range){{n, 1, 1}, {n, 1, 1}, local_bytes});
    submit(d, 0, (struct submission){.buffer = VA, .root = ROOT, .save = SAVE / PAGE, .flags = RESUME}, BASE);
    struct indication f = indication(d, 0, SOON);
    expect(f, TERN_ENGINE_IND_INFO_KIND_FAULTED, TERN_FAULT_PAGE, 0);
    assert_int_equal(f.va, VA + HOLE * PAGE);
    assert_int_equal(f.pc, VA + CODE + 8);
    assert_int_equal(f.lane, CULPRIT);

    memset(out, 0xff, sizeof out);
    poke(d, OUT, out, sizeof out);
    run_local(d, ROOT, local_bytes, slots, false);
    peek(d, OUT, out, 4ull * n * slots);
    for (uint32_t i = 0; i < n * slots; i++) {
        assert_int_equal(out[i], 0);
    }
}

/* A register that a state does not contain is zero, whatever the state before contained. */
static void test_forgets(void **state)
{
    struct device *d = *state;
    const uint32_t n = lanes(d), args[] = {VA + IN, VA + OUT};
    const uint32_t code[] = {csrr(T0, 0xcd0), lw(T1, 4, A0), sh2add(T1, T0, T1), sw(T5, 0, T1), EXIT};
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t out[32], t5 = round == 1 ? 0 : 0x5a5a5a5au + round;
        struct area a = {.d = d, .line = 1};
        memset(out, 0xff, sizeof out);
        poke(d, OUT, out, sizeof out);
        poke(d, ARGS, args, sizeof args);
        poke(d, CODE, code, sizeof code);
        map(d, ROOT, VA, BASE, PAGES, RWX);
        put_warp(&a, n, 0, t5, 0);
        put_header(d, (struct tern_ctx){.executor = TERN_CTX_EXECUTOR_SIMT, .lines = a.line - 1});
        packet_dispatch(d, (struct range){{n, 1, 1}, {n, 1, 1}, 0});
        submit(d, 1, (struct submission){.buffer = VA, .root = ROOT, .save = SAVE / PAGE, .flags = RESUME}, BASE);
        expect_completed(d, 1, 0);
        peek(d, OUT, out, sizeof out);
        for (uint32_t l = 0; l < n; l++) {
            assert_int_equal(out[l], t5);
        }
    }
}

/* The registers for crash dumps: the running packet and buffer, the buffer behind it, and the pc of each warp. */
static void test_dump(void **state)
{
    struct device *d = *state;
    const uint32_t code[] = {0x0000006fu /* j . */};
    for (uint32_t at = 0; at < 3; at++) {
        assert_int_equal(reg_read(d,
                                  at == 0 ? TERN_REG_ENGINE_RUN_FENCE_LO(0) : at == 1 ? TERN_REG_ENGINE_NEXT_FENCE_LO(0)
                                                                                         : TERN_REG_ENGINE_DBG_LANES(
                                                                                         0)), 0);
    }
    poke(d, CODE, code, sizeof code);
    map(d, ROOT, VA, BASE, PAGES, RWX);
    packet_nop(d);
    packet_dispatch(d, (struct range){{lanes(d) + 3, 1, 1}, {lanes(d) + 3, 1, 1}, 0});
    submit(d, 0, (struct submission){.buffer = VA, .root = ROOT, .fence = 0x500000007, .save = SAVE / PAGE}, BASE);
    submit(d, 0, (struct submission){.fence = 0x600000008, .size = 64, .flags = TERN_ENGINE_SUB_FLAGS_NULL_MASK}, 0);
    assert_int_equal(api->step(d->sim, 3000, NULL), 0);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_RUN_FENCE_LO(0)), 7);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_RUN_FENCE_HI(0)), 5);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_NEXT_FENCE_LO(0)), 8);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_NEXT_FENCE_HI(0)), 6);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_RUN_OFFSET(0)), 64);
    assert_int_equal(reg_read(d, TERN_REG_ENGINE_RUN_PACKET(0)), TERN_PKT_DISPATCH | 2u << 8);
    for (uint32_t w = 0; w < 3; w++) {
        reg_write(d, TERN_REG_ENGINE_DBG_WARP(0), w);
        assert_int_equal(reg_read(d, TERN_REG_ENGINE_DBG_WARP(0)), w);
        assert_int_equal(reg_read(d, TERN_REG_ENGINE_DBG_LANES(0)), w == 0 ? (uint32_t)((1ull << lanes(d)) - 1)
                                                                           : w == 1 ? 7 : 0);
        if (w < 2) {
            assert_int_equal(reg_read(d, TERN_REG_ENGINE_DBG_PC(0)), VA + CODE);
        }
    }
    preempt(d, 0, INSTRUCTION);
    expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0, 0x500000007);
    expect(indication(d, 0, SOON), TERN_ENGINE_IND_INFO_KIND_PREEMPTED, 0, 0x600000008);
}

static int setup_bad_area(void **state)
{
    struct device *d = calloc(1, sizeof *d);
    if (!d) {
        return -1;
    }
    device_open(d, &(struct tern_sim_config){.mem_bytes = 64u << 20, .dram_error_base = 0x700u * PAGE,
                                             .dram_error_bytes = PAGE});
    save_make(d, SAVE);
    *state = d;
    return 0;
}

int main(int argc, char **argv)
{
    int refused = library_load(argc, argv);
    if (refused) {
        return refused;
    }
    if (!stops()) {
        print_message("this device stops between packets only\n");
        return 77;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mover, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_user, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_kernel, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_granularity, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_refused, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_bad_area, setup_bad_area, device_teardown),
        cmocka_unit_test_setup_teardown(test_pending, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_fault_at_once, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_forgets, save_setup, device_teardown),
        cmocka_unit_test_setup_teardown(test_dump, save_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("preempt", tests, NULL, NULL) ? 1 : 0;
}
