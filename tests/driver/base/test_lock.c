/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern_assert_held ends a process if the calling thread does not hold the lock, a mutex or a ticket lock: because
 * nobody does, because another thread does, or because the thread has released it. Builds without TERN_CHECK_LOCKS
 * check nothing. Functions of kmd/, hal/ and os/ that need hal_lock assert it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "base/lock.h"
#include "hal/hal.h"
#include "hal/open/open.h"
#include "kmd/kmd.h"
#include "kmd/save.h"
#include "locks.h"
#include "os/device/device.h"
#include "os/mem/mem.h"
#include "os/observe/observe.h"
#include "os/proc/proc.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined SANITIZED && !defined TERN_CHECK_LOCKS
#error "builds with sanitizers check locks"
#endif

LEAVE_OUT_LOCKS

static const pthread_mutex_t none; /* left out where no lock is to be */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static struct tern_ticket_lock ticket;

static void *check(void *unused)
{
    (void)unused;
    tern_assert_held(&lock);
    return NULL;
}

static void *turn(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&turned);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void in_thread(void *(*run)(void *))
{
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, run, NULL), 0);
    pthread_join(t, NULL);
}

static void nobody_holds_it(void)
{
    check(NULL);
}

static void it_was_held_before(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    check(NULL);
}

static void another_thread_holds_it(void)
{
    pthread_mutex_lock(&lock);
    in_thread(check);
}

static void this_thread_holds_it(void)
{
    pthread_mutex_lock(&lock);
    check(NULL);
}

static void this_thread_has_waited(void)
{
    pthread_t t;
    pthread_mutex_lock(&lock);
    assert_int_equal(pthread_create(&t, NULL, turn, NULL), 0);
    pthread_cond_wait(&turned, &lock);
    check(NULL);
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
}

static void ticket_nobody_holds(void)
{
    tern_assert_held(&ticket);
}

static void ticket_was_held_before(void)
{
    tern_ticket_lock(&ticket);
    tern_ticket_unlock(&ticket);
    tern_assert_held(&ticket);
}

static void *check_ticket(void *unused)
{
    (void)unused;
    tern_assert_held(&ticket);
    return NULL;
}

static void ticket_of_another_thread(void)
{
    tern_ticket_lock(&ticket);
    in_thread(check_ticket);
}

static void ticket_of_this_thread(void)
{
    tern_ticket_lock(&ticket);
    tern_assert_held(&ticket);
}

static void *take_ticket(void *unused)
{
    (void)unused;
    tern_ticket_lock(&ticket);
    tern_assert_held(&ticket);
    tern_ticket_unlock(&ticket);
    return NULL;
}

static void ticket_after_others(void)
{
    pthread_t t;
    tern_ticket_lock(&ticket);
    assert_int_equal(pthread_create(&t, NULL, take_ticket, NULL), 0);
    tern_ticket_unlock(&ticket);
    tern_ticket_lock(&ticket);
    tern_assert_held(&ticket);
    tern_ticket_unlock(&ticket);
    pthread_join(t, NULL);
}

static void either_none(void)
{
    tern_assert_either(&lock, &ticket);
}

static void either_first(void)
{
    pthread_mutex_lock(&lock);
    tern_assert_either(&lock, &ticket);
}

static void either_second(void)
{
    tern_ticket_lock(&ticket);
    tern_assert_either(&lock, &ticket);
}

static void test_held(void **unused)
{
    static void (*const right[])(void) = {this_thread_holds_it, this_thread_has_waited, ticket_of_this_thread,
                                          ticket_after_others, either_first, either_second};
    (void)unused;
    locks_only = &none;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        char said[400];
        assert_int_equal(locks_end_of(right[i], said), 0);
    }
}

static void test_not_held(void **unused)
{
    static const struct locks_case wrong[] = {
        {nobody_holds_it, "check needs &lock", &none},
        {it_was_held_before, "check needs &lock", &none},
        {another_thread_holds_it, "check needs &lock", &none},
        {ticket_nobody_holds, "ticket_nobody_holds needs &ticket", &none},
        {ticket_was_held_before, "ticket_was_held_before needs &ticket", &none},
        {ticket_of_another_thread, "check_ticket needs &ticket", &none},
        {either_none, "either_none needs &lock or &ticket", &none},
    };
    (void)unused;
#ifdef TERN_CHECK_LOCKS
    assert_int_equal(locks_unasserted(wrong, sizeof wrong / sizeof *wrong), 0);
#else
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char said[400];
        assert_int_equal(locks_end_of(wrong[i].call, said), 0);
    }
#endif
}

/* ------------------------------------------------------------------ functions of kmd/, hal/ and os/ */

#ifdef TERN_CHECK_LOCKS
#define CALL(name, ...) \
    static void call_##name(void) \
    { \
        __VA_ARGS__; \
    }
#define CASE(name, lock) {call_##name, #name " needs " lock, &none}

static struct tern_hal *hal;
static struct tern_kmd kmd;
static struct tern_device dev;
static struct tern_memory memory = {.dev = &dev};
static struct tern_block block = {.m = &memory, .pages = 1};
static struct tern_process process = {.dev = &dev};
static struct tern_context context = {.proc = &process};
static uint8_t bytes[64];
static const struct tern_iovec piece = {0, bytes, sizeof bytes};
static uint32_t word;
static uint64_t number;
static struct tern_save save;

CALL(tern_kmd_read, tern_kmd_read(&kmd, 0, bytes, 4))
CALL(tern_kmd_write, tern_kmd_write(&kmd, &piece, 1))
CALL(tern_kmd_wait, tern_kmd_wait(&kmd, 1))
CALL(tern_kmd_interrupts, tern_kmd_interrupts(&kmd, true))
CALL(tern_kmd_time, tern_kmd_time(&kmd, &number))
CALL(tern_kmd_counters, tern_kmd_counters(&kmd, 0, &(struct tern_engine_counters){0}))
CALL(tern_kmd_submit, tern_kmd_submit(&kmd, 0, &(struct tern_hw_entry){0}))
CALL(tern_kmd_take, tern_kmd_take(&kmd, 0, &(struct tern_indication){0}))
CALL(tern_kmd_poll, tern_kmd_poll(&kmd, 0, &(struct tern_indication){0}))
CALL(tern_kmd_preempt, tern_kmd_preempt(&kmd, 0, 1, 0))
CALL(tern_kmd_reset, tern_kmd_reset(&kmd, 0, true, &number))
CALL(tern_kmd_take_over, tern_kmd_take_over(&kmd))
CALL(tern_kmd_forget, tern_kmd_forget(&kmd))
CALL(tern_kmd_status, tern_kmd_status(&kmd, 0, &(struct tern_kmd_status){0}))
CALL(tern_kmd_dump, tern_kmd_dump(&kmd, 0, stderr, &(struct tern_kmd_running){0}))
CALL(tern_kmd_dirty, tern_kmd_dirty(&kmd, 0, 1, false, &word))
CALL(tern_kmd_dirty_count, tern_kmd_dirty_count(&kmd, 0, 1, &word))
CALL(tern_bases_wrote, tern_bases_wrote(&kmd, 0, 1))
CALL(tern_basis_create, tern_basis_create(&kmd, &(struct tern_basis_range){0, 4096}, 1, &number))
CALL(tern_basis_destroy, tern_basis_destroy(&kmd, 1))
CALL(tern_basis_start, tern_basis_start(&kmd, 1))
CALL(tern_basis_start_late, tern_basis_start_late(&kmd, 1))
CALL(tern_basis_stop, tern_basis_stop(&kmd, 1))
CALL(tern_basis_query, tern_basis_query(&kmd, 1, &(struct tern_basis_part){0}, false, bytes, 0))
CALL(tern_basis_count, tern_basis_count(&kmd, 1, &(struct tern_basis_part){0}, &number))
CALL(tern_save_read, tern_save_read(&kmd, &word, &save))
CALL(tern_save_read_state, tern_save_read_state(&kmd, &word, 1, bytes))
CALL(tern_save_write, tern_save_write(&kmd, &word, &save, bytes))

static const struct locks_case of_kmd[] = {
#define KMD(name) CASE(name, "(kmd->hal)->lock")
    KMD(tern_kmd_read), KMD(tern_kmd_write), KMD(tern_kmd_wait), KMD(tern_kmd_interrupts), KMD(tern_kmd_time),
    KMD(tern_kmd_counters), KMD(tern_kmd_submit), KMD(tern_kmd_take), KMD(tern_kmd_poll), KMD(tern_kmd_preempt),
    KMD(tern_kmd_reset), KMD(tern_kmd_take_over), KMD(tern_kmd_forget), KMD(tern_kmd_status), KMD(tern_kmd_dump),
    KMD(tern_kmd_dirty), KMD(tern_kmd_dirty_count), KMD(tern_bases_wrote), KMD(tern_basis_create),
    KMD(tern_basis_destroy), KMD(tern_basis_start), KMD(tern_basis_start_late), KMD(tern_basis_stop),
    KMD(tern_basis_query), KMD(tern_basis_count), KMD(tern_save_read), KMD(tern_save_read_state),
    KMD(tern_save_write),
};

CALL(sim_read32, hal->ops->read32(hal, 0, &word))
CALL(sim_write32, tern_hal_write32(hal, 0, 0))
CALL(sim_mem_read, hal->ops->mem_read(hal, 0, bytes, 4))
CALL(sim_mem_write, hal->ops->mem_write(hal, &piece, 1))
CALL(sim_flush, hal->ops->flush(hal))
CALL(sim_wait, hal->ops->wait(hal, 1))

static const struct locks_case of_hal[] = {
#define HAL(name) CASE(name, "(hal)->lock")
    HAL(sim_read32), HAL(sim_write32), HAL(sim_mem_read), HAL(sim_mem_write), HAL(sim_flush), HAL(sim_wait),
};

CALL(tern_device_read, tern_device_read(&dev, 0, bytes, 4))
CALL(tern_device_write, tern_device_write(&dev, &piece, 1))
CALL(tern_chunk_write, tern_chunk_write(&(struct tern_chunk){.context = &context.sched}))
CALL(tern_dirty_query, tern_dirty_query(&dev, 0, 1, false, 0, &word))
CALL(tern_block_host_make, tern_block_host_make(&block))
CALL(tern_block_host_read, tern_block_host_read(&block, 0, bytes, 4))
CALL(tern_block_host_write, tern_block_host_write(&block, 0, bytes, 4))
CALL(tern_block_transfer, tern_block_transfer(&block, false, 0, bytes, 4, &number))
CALL(tern_block_physical, tern_block_physical(&block, 0, &number))
CALL(tern_block_host_set, tern_ticket_lock(&dev.hal_lock); tern_block_host_make(&block))
CALL(tern_crash_compose, tern_crash_compose(&dev, 0, ""))
CALL(assert_both, tern_engine_ops.time(&dev, &number))

static const struct locks_case of_os[] = {
    CASE(tern_device_read, "&dev->hal_lock"),
    CASE(tern_device_write, "&dev->hal_lock"),
    CASE(tern_chunk_write, "&c->proc->dev->hal_lock"),
    CASE(tern_dirty_query, "&dev->hal_lock"),
    CASE(tern_block_host_make, "&dev->hal_lock"),
    CASE(tern_block_host_read, "&b->m->dev->hal_lock"),
    CASE(tern_block_host_write, "&b->m->dev->hal_lock"),
    CASE(tern_block_transfer, "&b->m->dev->hal_lock"),
    CASE(tern_block_physical, "&b->m->dev->lock or &b->m->dev->hal_lock"),
    {call_tern_block_host_set, "tern_block_host_set needs &b->m->dev->lock", &dev.lock},
    CASE(tern_crash_compose, "&dev->hal_lock"),
    CASE(assert_both, "&dev->hal_lock"),
};

/** The lock that a caller names is needed by each function of the kmd and each operation of a simulated device. A
 *  caller that names none has one thread, and needs none. */
static void test_hal_lock(void **unused)
{
    struct tern_config c;
    (void)unused;
    assert_int_equal(tern_config_parse("model", "tiny", NULL, &c), 0);
    if (tern_hal_open(&c, &hal) == -ENOENT) {
        skip();
    }
    assert_int_equal(tern_kmd_probe(hal, &kmd), 0);
    tern_kmd_guard(&kmd, &ticket);
    assert_int_equal(locks_unasserted(of_kmd, sizeof of_kmd / sizeof *of_kmd), 0);
    assert_int_equal(locks_unasserted(of_hal, sizeof of_hal / sizeof *of_hal), 0);
    tern_ticket_lock(&ticket);
    call_tern_kmd_time();
    call_tern_kmd_wait();
    tern_ticket_unlock(&ticket);
    tern_kmd_guard(&kmd, NULL);
    call_tern_kmd_time();
    tern_kmd_close(hal);
}

static int wait_only(struct tern_hal *h, uint64_t cycles)
{
    tern_hal_assert_waits(h);
    return (int)cycles;
}

/** Where device time passes by itself, a thread waits without the lock. */
static void test_concurrent(void **unused)
{
    static const struct tern_hal_ops ops = {.wait = wait_only};
    static struct tern_hal card = {.ops = &ops, .concurrent = true};
    (void)unused;
    kmd = (struct tern_kmd){.hal = &card};
    tern_kmd_guard(&kmd, &ticket);
    assert_int_equal(tern_kmd_wait(&kmd, 7), 7);
}

static void test_os(void **unused)
{
    (void)unused;
    assert_int_equal(tern_ticket_lock_init(&dev.hal_lock), 0);
    assert_int_equal(pthread_mutex_init(&dev.lock, NULL), 0);
    assert_int_equal(locks_unasserted(of_os, sizeof of_os / sizeof *of_os), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_not_held),
#ifdef TERN_CHECK_LOCKS
        cmocka_unit_test(test_hal_lock),
        cmocka_unit_test(test_concurrent),
        cmocka_unit_test(test_os),
#endif
    };
    if (tern_ticket_lock_init(&ticket)) {
        return 1;
    }
    return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
