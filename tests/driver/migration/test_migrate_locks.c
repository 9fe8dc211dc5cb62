/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions of migration/state/ end the process if they run without the lock that they need. The test calls a function
 * of other files without the lock. Static functions are called by functions that take the lock, which then do not.
 */
#include <stdlib.h>
#include <unistd.h>

#include "actor.h"
#include "check.h"
#include "checkpoint_files.h"
#include "locks.h"
#include "migration.h"
#include "migration/state/internal.h"
#include "open_device.h"
#include "os/device/device.h"
#include "os/proc/proc.h"

LEAVE_OUT_LOCKS

static struct tern_device device;
static struct tern_block block = {.pages = 1};
static struct tern_memory a_memory = {.dev = &device, .mapping_count = 1, .blocks = &block, .block_count = 1,
                                      .pages = 1};
static struct tern_process a_process = {.dev = &device};
static struct tern_context a_context = {.proc = &a_process};

int __real_tern_process_check(struct tern_process *p);
int __wrap_tern_process_check(struct tern_process *p);
int __real_tern_context_make(struct tern_process *p, const struct tern_context_desc *d, uint32_t arena,
                             struct tern_context **out);
int __wrap_tern_context_make(struct tern_process *p, const struct tern_context_desc *d, uint32_t arena,
                             struct tern_context **out);

/* Both assert dev->lock, before the functions that are tested. In the child they do nothing. */

int __wrap_tern_process_check(struct tern_process *p)
{
    return locks_left_out ? 0 : __real_tern_process_check(p);
}

int __wrap_tern_context_make(struct tern_process *p, const struct tern_context_desc *d, uint32_t arena,
                             struct tern_context **out)
{
    if (!locks_left_out) {
        return __real_tern_context_make(p, d, arena, out);
    }
    *out = &a_context;
    return 0;
}

static void gone(void)
{
    tern_content_gone(&a_memory);
}

#ifdef TERN_CHECK_LOCKS
static const pthread_mutex_t none; /* left out where no mutex is to be */

static void content_check(void)
{
    uint8_t page[TERN_PAGE];
    locks_ticket = &device.hal_lock;
    tern_content_read(&a_memory, 0, 1, page);
}

static void sender_add(void)
{
    struct tern_sender v = {.dev = &device};
    tern_sender_add(&v, &a_memory);
}

static void sender_query(void)
{
    uint64_t changes = 0, left;
    struct tern_sender_memory of = {&a_memory, &changes};
    struct tern_sender v = {.dev = &device, .follows = true, .count = 1, .memories = &of};
    locks_ticket = &device.hal_lock;
    tern_sender_left(&v, &left);
}

static void wait_for_rest(void)
{
    struct tern_process *const procs[] = {&a_process};
    struct tern_image *image;
    tern_capture(procs, 1, true, &image);
}

static void make_fence(void)
{
    struct tern_allocation real = {.proc = &a_process, .mem = &a_memory};
    struct tern_image_allocation a = {.fence = true, .real = &real};
    struct tern_image_memory m = {.real = &a_memory};
    struct tern_image_process p = {.allocation_count = 1, .allocations = &a, .real = &a_process};
    const struct tern_image image = {.memory_count = 1, .memories = &m, .process_count = 1, .processes = &p};
    tern_restore_memory(&image);
}

static void submit(void)
{
    struct tern_job job = {.null = true};
    struct tern_image_job of = {.null = true, .job = &job};
    struct tern_image_context c = {.band = TERN_BAND_NORMAL, .job_count = 1, .jobs = &of};
    struct tern_image_process p = {.context_count = 1, .contexts = &c, .real = &a_process};
    struct tern_image image = {.process_count = 1, .processes = &p};
    tern_restore_work(&image);
}

static const struct locks_case of_state[] = {
    {gone, "tern_content_gone needs &m->dev->lock", NULL},
    {content_check, "check needs &m->dev->hal_lock", &none},
    {sender_add, "tern_sender_add needs &v->dev->lock", NULL},
    {sender_query, "query needs &v->dev->hal_lock", &none},
    {wait_for_rest, "wait_for_rest needs &dev->lock", NULL},
    {make_fence, "make_fence needs &proc->dev->lock", NULL},
    {submit, "submit needs &proc->dev->lock", NULL},
};

static void test_state(void **unused)
{
    (void)unused;
    block.m = &a_memory;
    assert_int_equal(tern_ticket_lock_init(&device.hal_lock), 0);
    assert_int_equal(pthread_mutex_init(&device.lock, NULL), 0);
    assert_int_equal(locks_unasserted(of_state, sizeof of_state / sizeof *of_state), 0);
}

static struct tern_checkpoint *checkpoint;

/** The child of a fork may not use the device. Here it takes the place of a thread of its parent. */
static void checkpoint_wait(void)
{
    enum tern_checkpoint_end end;
    there->fork.inherited = false;
    tern_checkpoint_wait(checkpoint, 0, &end);
}

static void test_checkpoint(void **unused)
{
    (void)unused;
    struct actor a;
    dev = open_or_skip(CHECKPOINT_CONFIG);
    open_mix(&a, "saved", 0);
    unlink(checkpoint_file);
    ok(tern_checkpoint_save(dev, checkpoint_file));
    open_there(CHECKPOINT_CONFIG);
    ok(tern_checkpoint_load(there, checkpoint_file, &checkpoint));
    ok(tern_checkpoint_start(checkpoint, 0));
    const struct locks_case over = {checkpoint_wait, "is_over needs &c->dev->lock", &there->lock};
    assert_int_equal(locks_unasserted(&over, 1), 0);
    ok(tern_checkpoint_close(checkpoint));
    ok(tern_device_close(there));
    actor_close(&a);
    ok(tern_device_close(dev));
}

#else

/** A build that checks no locks asserts nothing. */
static void test_unchecked(void **unused)
{
    char said[400];
    (void)unused;
    assert_int_equal(locks_end_of(gone, said), 0);
    assert_string_equal(said, "");
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef TERN_CHECK_LOCKS
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_checkpoint),
#else
        cmocka_unit_test(test_unchecked),
#endif
    };
    return cmocka_run_group_tests_name("migrate_locks", tests, checkpoint_setup, checkpoint_teardown);
}
