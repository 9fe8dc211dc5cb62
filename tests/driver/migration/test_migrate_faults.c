/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Migrations that fail (M3, M5). Streams are cut off or damaged, host memory is lacking, or the reader stops. In
 * test_numbers each number of a stream is changed, one at a time. In each case the source goes on and ends right, and
 * nothing is left on the target.
 */
#include <fcntl.h>
#include <unistd.h>

#include "device_memory.h"
#include "migration.h"
#include "migration_scene.h"

/* ------------------------------------------------------------------- the failures */

static __thread bool watched;
static long failing = -1; /* allocations of the watched thread until one fails; < 0: none */
static long twisting = -1; /* index of the number that is changed; < 0: none */
static long numbers;      /* numbers written so far */
static uint64_t twist;

static bool fails(void)
{
    return watched && failing >= 0 && failing-- == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __real_tern_put_u64(struct tern_stream *s, const char *name, uint64_t value);
void __wrap_tern_put_u64(struct tern_stream *s, const char *name, uint64_t value);
void __real_tern_put_u64s(struct tern_stream *s, const char *name, const uint64_t *values, size_t count);
void __wrap_tern_put_u64s(struct tern_stream *s, const char *name, const uint64_t *values, size_t count);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : __real_realloc(p, size);
}

/** Returns the number that is written for a value. */
static uint64_t twisted(uint64_t value)
{
    if (numbers++ != twisting) {
        return value;
    }
    return twist < 3 ? (const uint64_t[]){0, UINT64_MAX, value + 1}[twist] : value ^ 1ull << twist % 64;
}

void __wrap_tern_put_u64(struct tern_stream *s, const char *name, uint64_t value)
{
    __real_tern_put_u64(s, name, twisted(value));
}

void __wrap_tern_put_u64s(struct tern_stream *s, const char *name, const uint64_t *values, size_t count)
{
    uint64_t copy[256];
    assert_true(count <= sizeof copy / sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i] = twisted(values[i]);
    }
    __real_tern_put_u64s(s, name, copy, count);
}

static int load_bytes(const void *bytes, size_t n, struct tern_loading **l)
{
    struct tern_stream *s;
    ok(tern_stream_read_memory(bytes, n, &s));
    watched = true;
    const int r = tern_migrate_load(there, NULL, s, NULL, l);
    watched = false;
    tern_stream_close(s);
    return r;
}

/* ------------------------------------------------------------------------ the tests */

/** A stream ends too early at any byte, or has one inverted bit. */
static void test_cut_off(void **state)
{
    (void)state;
    struct tern_saving *m;
    struct tern_loading *l;
    size_t n;
    scene_open();
    open_there(SCENE_CONFIG);
    const uint32_t pages = free_pages(there);
    struct tern_stream *s = saved(scene.procs, 2, &m);
    const char *bytes = tern_stream_memory(s, &n);
    char *copy = malloc(n);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    print_message("a stream of %zu bytes\n", n);
    uint32_t seed = 1;
    for (uint32_t i = 0; i < 120; i++) {
        seed = seed * 1664525 + 1013904223;
        const size_t at = i < 40 ? n * i / 40 : (size_t)(((uint64_t)seed * n) >> 32);
        const int r = load_bytes(bytes, at, &l);
        if (r != -EIO && r != -EPROTO) {
            fail_msg("a stream of %zu of %zu bytes: %d", at, n, r);
        }
        copy[at] ^= (char)(1u << seed % 8);
        const int wrong = load_bytes(copy, n, &l);
        copy[at] ^= (char)(1u << seed % 8);
        if (wrong != -EPROTO && wrong != -EIO) {
            fail_msg("bit %u of byte %zu is wrong: %d", seed % 8, at, wrong);
        }
        expect_no_memory(there, pages);
    }
    free(copy);
    tern_migrate_drop(loaded(there, s, NULL)); /* the whole stream loads, and the load is dropped */
    expect_no_memory(there, pages);
    tern_stream_close(s);
    tern_migrate_go_on(m);
    scene_ends_right();
    scene_close();
    ok(tern_device_close(there));
}

/** The reader of the stream stops at some byte, or is gone before. */
static void test_reader_goes(void **state)
{
    (void)state;
    scene_open();
    for (uint32_t i = 0; i < 12; i++) {
        int fd[2];
        struct tern_saving *m;
        struct tern_stream *s;
        static char filler[65536];
        assert_int_equal(pipe(fd), 0);
        assert_true(fcntl(fd[1], F_SETPIPE_SZ, 65536) >= 65536);
        if (i) { /* the pipe has room for a part */
            assert_true(write(fd[1], filler, 65536 - 4096 * i) > 0);
        } else {
            close(fd[0]);
        }
        ok(tern_migrate_stop(scene.procs, 2, &m));
        ok(tern_stream_write_fd(fd[1], &s));
        tern_stream_timeout(s, 1);
        assert_int_equal(tern_migrate_write(m, s), i ? -ETIMEDOUT : -EPIPE);
        tern_stream_close(s);
        tern_migrate_go_on(m);
        close(fd[1]);
        if (i) {
            close(fd[0]);
        }
        spins(&scene.counts);
    }
    scene_ends_right();
    scene_close();
}

/** Writes the processes stopped, or (live) after one round, which takes two images. The processes then go on. */
static int write_once(bool live, struct tern_stream **out)
{
    const struct tern_migrate_limits one = {.downtime_ns = UINT64_MAX};
    struct tern_saving *m;
    struct tern_stream *s;
    watched = true;
    int r = tern_stream_write_memory(&s);
    if (r) {
        watched = false;
        return r;
    }
    r = live ? tern_migrate_live(scene.procs, 2, s, &one, &m) : tern_migrate_stop(scene.procs, 2, &m);
    if (!r) {
        r = live ? 0 : tern_migrate_write(m, s);
        watched = false;
        tern_migrate_go_on(m);
    }
    watched = false;
    if (r) {
        tern_stream_close(s);
    } else {
        *out = s;
    }
    return r;
}

/** Each allocation of host memory fails once. */
static void out_of_memory(bool live)
{
    struct tern_loading *l;
    struct tern_stream *s = NULL;
    size_t n;
    long tries = 0;
    scene_open();
    open_there(SCENE_CONFIG);
    const uint32_t pages = free_pages(there);
    for (int r = -1; r; tries++) {
        failing = tries;
        r = write_once(live, &s);
        failing = -1;
        assert_true(!r || r == -ENOMEM);
        spins(&scene.counts);
    }
    print_message("%ld allocations of the source", tries - 1);
    const void *bytes = tern_stream_memory(s, &n);
    tries = 0;
    for (int r = -1; r; tries++) {
        failing = tries;
        r = load_bytes(bytes, n, &l);
        failing = -1;
        if (r && r != -ENOMEM) {
            fail_msg("allocation %ld fails: %d, %s", tries, r, tern_last_error());
        }
        if (!r) {
            tern_migrate_drop(l);
        }
        expect_no_memory(there, pages);
    }
    print_message(", %ld of the target\n", tries - 1);
    tern_stream_close(s);
    scene_ends_right();
    scene_close();
    ok(tern_device_close(there));
}

static void test_out_of_memory(void **state)
{
    (void)state;
    out_of_memory(false);
    out_of_memory(true);
}

/** Each number of the stream is changed, one at a time, in one of three ways. The stream is refused, or loads as valid
 *  processes. */
static void change_numbers(bool live)
{
    static const uint64_t kinds[] = {1, 2, 12};
    uint32_t refused = 0, taken = 0;
    long fields = 1;
    scene_open();
    open_there(SCENE_CONFIG);
    const uint32_t pages = free_pages(there);
    for (long i = 0; i < fields; i++) {
        struct tern_loading *l;
        struct tern_stream *s = NULL;
        size_t n;
        twisting = i;
        twist = kinds[i % 3];
        numbers = 0;
        ok(write_once(live, &s));
        twisting = -1;
        fields = numbers;
        const void *bytes = tern_stream_memory(s, &n);
        if (load_bytes(bytes, n, &l)) {
            refused++;
        } else { /* they run whatever they are, and are killed */
            struct tern_process *p[2] = {NULL};
            uint32_t number;
            taken++;
            for (uint32_t w = 0; w < tern_loading_count(l); w++) {
                p[w] = tern_loading_process(l, w, &number);
            }
            tern_migrate_commit(l);
            for (uint32_t w = 0; w < 2 && p[w]; w++) {
                ok(tern_process_kill(p[w]));
                ok(tern_process_destroy(p[w]));
            }
        }
        expect_no_memory(there, pages);
        tern_stream_close(s);
    }
    print_message("%ld numbers, %u times refused, %u times harmless\n", fields, refused, taken);
    assert_true(refused > taken / 2);
    scene_ends_right();
    scene_close();
    ok(tern_device_close(there));
}

static void test_numbers(void **state)
{
    (void)state;
    change_numbers(false);
}

static void test_numbers_live(void **state)
{
    (void)state;
    change_numbers(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_off), cmocka_unit_test(test_reader_goes), cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_numbers_live),
    };
    return cmocka_run_group_tests_name("migrate_faults", tests, NULL, NULL);
}
