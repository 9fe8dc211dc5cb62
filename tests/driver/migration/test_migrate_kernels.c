/* SPDX-License-Identifier: Apache-2.0 */
/**
 * OpenCL kernels that are stopped at random cycles and end on another device (M1). The results are byte by byte those
 * of a run without a stop. The run takes at most LATE cycles more, which shows that no kernel was started again. The 17
 * kernels are those that `tern bench preempt` stops, except gather, which uses much memory. Each moves at 200 random
 * cycles; TERN_TEST_CUTS sets another number, and TERN_TEST_SEED chooses other cycles.
 */
#include "device_memory.h"
#include "migration.h"

#include "bench/preempt_case.h"
#include "kmd/save.h"
#include "os/proc/proc.h"
#include "tests/lib/submit.h"

#define CONFIG "small,mem=64M,timeout=2000000"
#define CODE 0x00400000u
#define DATA 0x01000000u
#define ARGS 0x02000000u
#define STACK 0x02100000u
#define STACK_BYTES (1u << 20)

static struct tc_image image;
static uint32_t seed;

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define CUTS 20u
#else
#define CUTS 200u
#endif
#define LATE 3000u /* cycles that a stop and a start may take, at most */

static uint32_t next_random(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static void read_source(const char *path, struct tc_blob *out)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    out->data = malloc(1 << 20);
    assert_non_null(out->data);
    out->size = fread(out->data, 1, 1 << 20, f);
    assert_true(fclose(f) == 0 && out->size > 0);
}

static int build(void **state)
{
    (void)state;
    static const char *const path[] = {TERN_BENCH_KERNELS, TERN_BENCH_PREEMPT_KERNELS};
    struct tc_blob module[2], object;
    char *log = NULL;
    for (int i = 0; i < 2; i++) {
        struct tc_blob source;
        read_source(path[i], &source);
        assert_int_equal(tc_compile(source.data, source.size, "", NULL, 0, &module[i], &log), 0);
        free(log);
        free(source.data);
    }
    assert_int_equal(tc_link(module, 2, "", 0, &object, &log), 0);
    free(log);
    assert_int_equal(tc_load(&object, CODE, 16, &image, &log), 0);
    free(log);
    free(module[0].data);
    free(module[1].data);
    free(object.data);
    return 0;
}

static int drop_build(void **state)
{
    (void)state;
    tc_image_free(&image);
    return 0;
}

static const struct tc_kernel *kernel_of(const struct preempt_case *c)
{
    for (size_t i = 0; i < image.kernels.n; i++) {
        if (strcmp(image.kernels.kernels[i].name, c->kernel) == 0) {
            return &image.kernels.kernels[i];
        }
    }
    fail_msg("there is no kernel %s", c->kernel);
    return NULL;
}

/** A process with a kernel and its memory, ready to run. */
struct program {
    struct tern_process *p;
    struct tern_context *c;
    struct tern_allocation *code, *data, *args, *stack;
    uint32_t bytes;
};

static struct tern_allocation *memory_at(struct tern_process *p, uint64_t size, uint32_t flags, uint32_t address)
{
    struct tern_allocation *a;
    ok(tern_allocation_create(p, size, flags, address, &a));
    return a;
}

static void program_open(struct program *o, const struct preempt_case *c, uint32_t *packet)
{
    struct rig shape = {.kmd = dev->kmd, .data = DATA};
    struct rig_range range = c->range;
    const struct tc_kernel *k = kernel_of(c);
    uint8_t args[256] = {0};
    assert_true(k->args_size <= sizeof args);
    assert_int_equal(preempt_lay_out(&shape, c, k, args, &o->bytes, &range.local_bytes), 0);
    assert_int_equal(rig_pack(&shape, k, &range, ARGS, STACK, packet), 0);
    o->p = process(c->kernel);
    o->c = context(o->p, -1);
    o->code = memory_at(o->p, image.size, RW | TERN_MEM_EXEC, CODE);
    o->data = memory_at(o->p, o->bytes, RW, DATA);
    o->args = memory_at(o->p, sizeof args, RW, ARGS);
    o->stack = memory_at(o->p, STACK_BYTES, RW, STACK);
    uint8_t *before = calloc(1, o->bytes);
    assert_non_null(before);
    preempt_fill(c, before);
    ok(tern_allocation_write(o->code, 0, image.data, image.filled));
    ok(tern_allocation_write(o->args, 0, args, sizeof args));
    ok(tern_allocation_write(o->data, 0, before, o->bytes));
    free(before);
}

static void program_follow(struct program *o, const struct tern_loading *l)
{
    uint32_t n;
    o->p = tern_loading_process(l, 0, &n);
    o->c = tern_loading_context(l, 0, 0, &n);
    o->code = tern_loading_allocation(l, 0, CODE);
    o->data = tern_loading_allocation(l, 0, DATA);
    o->args = tern_loading_allocation(l, 0, ARGS);
    o->stack = tern_loading_allocation(l, 0, STACK);
}

/** Waits for the kernel and destroys the process. Returns the bytes, which the caller frees, and the engine cycles that
 * it took. */
static uint8_t *program_end(struct program *o, uint64_t *cycles)
{
    struct tern_context_stats s = {.size = sizeof s};
    uint8_t *bytes = malloc(o->bytes);
    assert_non_null(bytes);
    ok(tern_wait(o->c, 1, 600000));
    ok(tern_context_query(o->c, &s));
    *cycles = s.cycles;
    ok(tern_allocation_read(o->data, 0, bytes, o->bytes));
    tern_context_destroy(o->c);
    tern_allocation_destroy(o->code);
    tern_allocation_destroy(o->data);
    tern_allocation_destroy(o->args);
    tern_allocation_destroy(o->stack);
    ok(tern_process_destroy(o->p));
    return bytes;
}

/** Returns a bit for each warp that resumes from the save area of a loaded context. */
static uint32_t live_warps(struct tern_context *c)
{
    struct tern_kmd *kmd = &there->kmd;
    struct tern_save save;
    uint32_t head[TERN_SAVE_LINE_BYTES / 4] = {0};
    uint32_t *page = malloc(kmd->save_pages * sizeof *page);
    assert_non_null(page);
    tern_context_save_pages(c, page);
    tern_ticket_lock(&there->hal_lock);
    ok(tern_save_read(kmd, page, &save));
    ok(save.saved && save.lines ? tern_save_read_state(kmd, page, 1, head) : 0);
    tern_ticket_unlock(&there->hal_lock);
    free(page);
    return head[2];
}

/** Results of a kernel's moves. */
struct moved {
    uint32_t middle;    /* moves in the middle of the kernel */
    uint32_t state;     /* moves with live warps in the saved state */
    uint32_t different; /* moves after which a byte was wrong */
    uint64_t more;      /* engine cycles more than without a move, at most */
};

/** Moves the process once, at a random cycle of a run that takes so many cycles. */
static void move_once(const struct preempt_case *c, uint64_t cycles, const uint8_t *want, struct moved *m)
{
    struct program o;
    static struct taken taken;
    uint64_t ran;
    const uint32_t cut = (uint32_t)(next_random() % (cycles + 400));
    uint32_t packet[TERN_PKT_DISPATCH_LINES * 16];
    program_open(&o, c, packet);
    pages_scatter(there, &taken, next_random() % 2000);
    struct tern_process *before = o.p;
    breakpoint_set(here, dev, o.p, cut);
    ok(submit_packets(o.c, packet, sizeof packet, c->kernel, NULL));
    breakpoint_await(here, o.c);
    struct journey j = depart(&o.p, 1, NULL);
    program_follow(&o, j.loading);
    m->middle += o.c->sched.requeued_count && o.c->sched.requeued[0].resume;
    m->state += o.c->sched.requeued_count && live_warps(o.c);
    arrive(&j);
    forget(before);
    uint8_t *got = program_end(&o, &ran);
    pages_give_back(there, &taken);
    for (uint32_t i = 0; i < o.bytes; i++) {
        if (got[i] != want[i]) {
            print_error("%s, moved %u cycles after its submission: byte 0x%x is 0x%02x, and 0x%02x without a move\n",
                        c->kernel, cut, i, got[i], want[i]);
            m->different++;
            break;
        }
    }
    m->more = ran > cycles && ran - cycles > m->more ? ran - cycles : m->more;
    free(got);
}

static void test_kernels(void **state)
{
    (void)state;
    const char *text = getenv("TERN_TEST_CUTS"), *given = getenv("TERN_TEST_SEED");
    const uint32_t cuts = text ? (uint32_t)atoi(text) : CUTS;
    uint32_t bad = 0;
    seed = given ? (uint32_t)strtoul(given, NULL, 0) : 20260101;
    print_message("seed %u (rerun: TERN_TEST_CUTS=%u TERN_TEST_SEED=%u)\n", seed, cuts, seed);
    open_both(CONFIG);
    for (unsigned i = 0; i < preempt_n_cases; i++) {
        const struct preempt_case *c = &preempt_cases[i];
        struct moved m = {0};
        struct program alone;
        uint64_t cycles;
        uint32_t packet[TERN_PKT_DISPATCH_LINES * 16];
        if (strcmp(c->kernel, "gather") == 0) { /* gather copies 6 MiB in each move */
            continue;
        }
        program_open(&alone, c, packet);
        ok(submit_packets(alone.c, packet, sizeof packet, c->kernel, NULL));
        uint8_t *want = program_end(&alone, &cycles);
        for (uint32_t k = 0; k < cuts; k++) {
            move_once(c, cycles, want, &m);
        }
        free(want);
        print_message("%-14s %7llu cycles, at most %llu more; %u of %u moves in its middle, %u with warps at work\n",
                      c->kernel, (unsigned long long)cycles, (unsigned long long)m.more, m.middle, cuts, m.state);
        bad += m.different || m.more > LATE || m.middle < cuts / 2 || m.state < cuts / 2;
    }
    assert_int_equal(bad, 0);
    close_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kernels, build, drop_build),
    };
    return cmocka_run_group_tests_name("migrate_kernels", tests, NULL, NULL);
}
