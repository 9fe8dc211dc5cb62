/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Checkpoints that fail: refusals, damaged files, and each allocation of host memory. Also, programs make and end
 * processes all the time while checkpoints are saved. After a failure no part of a file is left, and the work goes on.
 */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint_files.h"
#include "device_memory.h"
#include "migration.h"
#include "open_device.h"
#include "tests/lib/submit.h"

static __thread bool watched;
static long failing; /* allocations of the watched thread until one fails */

static bool fails(void)
{
    return watched && failing-- == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

/* --------------------------------------------------------------------------- errors */

static void test_refusals(void **state)
{
    (void)state;
    struct actor a;
    struct tern_checkpoint *c;
    char part[80], path[80], whole[PATH_MAX + 8];
    dev = open_or_skip(CHECKPOINT_CONFIG);
    unlink(checkpoint_file);
    assert_int_equal(tern_checkpoint_save(dev, checkpoint_file), -ENOENT);
    expect_says(tern_last_error(), "has no processes");
    open_mix(&a, "refused", 1);
    snprintf(path, sizeof path, "%s/no/file", checkpoint_folder);
    assert_int_equal(tern_checkpoint_save(dev, path), -ENOENT);
    expect_says(tern_last_error(), "no/file.part: No such file");
    memset(whole, 'x', sizeof whole);
    whole[sizeof whole - 1] = '\0';
    assert_int_equal(tern_checkpoint_save(dev, whole), -EINVAL);
    snprintf(part, sizeof part, "%s.part", checkpoint_file);
    FILE *f = fopen(part, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(tern_checkpoint_save(dev, checkpoint_file), -EEXIST);
    expect_says(tern_last_error(), "another checkpoint is being written");
    assert_true(file_exists(part)); /* the file of the other writer is kept */
    ok(unlink(part));
    snprintf(path, sizeof path, "%s", checkpoint_folder);
    assert_int_equal(tern_checkpoint_save(dev, path), -EISDIR); /* the rename fails */
    snprintf(path, sizeof path, "%s.part", checkpoint_folder);
    assert_false(file_exists(path));
    run_mix(&a, 20);

    ok(tern_process_suspend(a.p)); /* a killed process has nothing to save */
    ok(tern_process_kill(a.p));
    assert_int_equal(tern_checkpoint_save(dev, checkpoint_file), -ENOENT);
    assert_false(file_exists(checkpoint_file));
    assert_int_equal(tern_checkpoint_load(dev, checkpoint_file, &c), -ENOENT);
    ok(tern_process_destroy(a.p));
    ok(tern_device_close(dev));
}

/** Each allocation fails once. A save then leaves no file and no part of one, and the held work goes on. A load leaves
 * the target unchanged. */
static void test_no_memory(void **state)
{
    (void)state;
    struct actor a;
    struct tern_checkpoint *c;
    char part[80];
    int r = -ENOMEM, saves = 0, loads = 0;
    snprintf(part, sizeof part, "%s.part", checkpoint_file);
    dev = open_or_skip(CHECKPOINT_CONFIG);
    open_there(CHECKPOINT_CONFIG);
    open_mix(&a, "lacks memory", 0);
    for (; r; saves += r != 0) {
        hold_at(1, 1000);
        const uint64_t fence = actor_mix(&a, 60);
        until(reached());
        unlink(checkpoint_file);
        failing = saves;
        watched = true;
        r = tern_checkpoint_save(dev, checkpoint_file);
        watched = false;
        assert_int_equal(r, failing < 0 ? -ENOMEM : 0);
        assert_true(file_exists(checkpoint_file) == !r);
        assert_false(file_exists(part));
        expect_mix(&a, fence);
    }
    const uint32_t pages = free_pages(there);
    for (r = -ENOMEM; r; loads += r != 0) {
        failing = loads;
        watched = true;
        r = tern_checkpoint_load(there, checkpoint_file, &c);
        watched = false;
        assert_int_equal(r, failing < 0 ? -ENOMEM : 0);
        assert_true(!r || free_pages(there) == pages);
    }
    assert_int_equal(context_at(c, 0).saved, 1);
    ok(tern_checkpoint_close(c));
    print_message("%d allocations of a save, %d of a load\n", saves, loads);
    assert_true(saves > 5 && loads > 10);
    actor_close(&a);
    ok(tern_device_close(there));
    ok(tern_device_close(dev));
}

/** A bit of the file is inverted, or the file is cut short. The load fails and leaves the device unchanged. */
static void test_damage(void **state)
{
    (void)state;
    struct actor a;
    struct tern_checkpoint *c;
    dev = open_or_skip(CHECKPOINT_CONFIG);
    open_mix(&a, "damaged", -1);
    const uint64_t fence = actor_mix(&a, 200);
    unlink(checkpoint_file);
    ok(tern_checkpoint_save(dev, checkpoint_file));
    expect_mix(&a, fence);
    struct stat s;
    ok(stat(checkpoint_file, &s));
    unsigned char *good = malloc((size_t)s.st_size);
    FILE *f = fopen(checkpoint_file, "r+");
    assert_true(good && f && fread(good, 1, (size_t)s.st_size, f) == (size_t)s.st_size);
    open_there(CHECKPOINT_CONFIG);
    const uint32_t pages = free_pages(there);
    for (long at = 0; at < s.st_size; at += s.st_size / 61) {
        fseek(f, at, SEEK_SET);
        fputc(good[at] ^ 1, f);
        fflush(f);
        assert_int_equal(tern_checkpoint_load(there, checkpoint_file, &c), -EPROTO);
        expect_says(tern_last_error(), checkpoint_file);
        assert_int_equal(free_pages(there), pages);
        fseek(f, at, SEEK_SET);
        fputc(good[at], f);
        fflush(f);
    }
    ok(tern_checkpoint_load(there, checkpoint_file, &c));
    ok(tern_checkpoint_close(c));
    ok(ftruncate(fileno(f), s.st_size - 1));
    assert_int_equal(tern_checkpoint_load(there, checkpoint_file, &c), -EPROTO);
    assert_int_equal(free_pages(there), pages);
    fclose(f);
    free(good);
    ok(tern_device_close(there));
    actor_close(&a);
    ok(tern_device_close(dev));
}

/* ------------------------------------------------------- programs that do not stand still */

static atomic_uint rounds;

/** A program that makes processes, runs work, checks it and frees all, until `over` is set. */
static void *live(void *arg)
{
    struct work own = {.size = 0};
    const char *name = arg;
    for (uint32_t i = 1; !atomic_load(&stop_saving); i++) {
        struct tern_process *p;
        struct tern_context *c;
        struct tern_allocation *x;
        uint8_t got[8192];
        const struct tern_context_desc d = {.size = sizeof d, .name = name, .engine = -1};
        uint64_t fence;
        ok(tern_process_create(dev, name, &p));
        ok(tern_context_create(p, &d, &c));
        ok(tern_allocation_create(p, 8192, RW, 0, &x));
        work_fill(&own, tern_allocation_address(x), 8192, (uint8_t)i);
        ok(submit_packets(c, own.w, own.size, "fill", &fence));
        own.size = 0;
        ok(tern_wait(c, fence, PATIENCE));
        ok(tern_allocation_read(x, 0, got, sizeof got));
        for (size_t k = 0; k < sizeof got; k++) {
            assert_int_equal(got[k], (uint8_t)i);
        }
        tern_allocation_destroy(x);
        tern_context_destroy(c);
        ok(tern_process_destroy(p));
        atomic_fetch_add(&rounds, 1);
    }
    return NULL;
}

static void test_busy_programs(void **state)
{
    (void)state;
    enum { THREADS = 3, SAVES = 20 };
    static const char *const names[] = {"one", "two", "three"};
    pthread_t thread[THREADS + 1];
    char second[80];
    struct actor a;
    struct tern_checkpoint *c;
    snprintf(second, sizeof second, "%s/second", checkpoint_folder);
    dev = open_or_skip(CHECKPOINT_CONFIG);
    open_there(CHECKPOINT_CONFIG);
    open_mix(&a, "mixes", 0);
    atomic_store(&stop_saving, false);
    for (int i = 0; i < THREADS; i++) {
        ok(-pthread_create(&thread[i], NULL, live, (void *)(uintptr_t)names[i]));
    }
    ok(-pthread_create(&thread[THREADS], NULL, keep_saving, second));
    for (uint32_t i = 0; i < SAVES; i++) {
        const uint32_t before = atomic_load(&rounds);
        const uint64_t fence = actor_mix(&a, 60 + i);
        unlink(checkpoint_file);
        ok(tern_checkpoint_save(dev, checkpoint_file));
        expect_mix(&a, fence);
        ok(tern_checkpoint_load(there, checkpoint_file, &c));
        ok(tern_checkpoint_start(c, 0));
        assert_int_equal(end_of(c), TERN_CHECKPOINT_ENDED);
        ok(tern_checkpoint_close(c));
        until(atomic_load(&rounds) > before + 3);
    }
    atomic_store(&stop_saving, true);
    for (int i = 0; i <= THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    ok(tern_checkpoint_load(there, second, &c));
    ok(tern_checkpoint_close(c));
    ok(unlink(second));
    actor_close(&a);
    ok(tern_device_close(there));
    ok(tern_device_close(dev));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_damage), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_busy_programs),
    };
    return cmocka_run_group_tests_name("checkpoint_faults", tests, checkpoint_setup, checkpoint_teardown);
}
