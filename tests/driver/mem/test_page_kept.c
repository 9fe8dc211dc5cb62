/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A page that was brought for a work's page request stays until that work has run (A6, os/mem/demand.c), whatever other
 * pages are asked for meanwhile.
 */
#include "actor.h"
#include "rig.h"

#define BLOCK (4u << 20)

/** Only one of the blocks fits; no lease ends. */
static const char *const tiny = "small,mem=8M,host=120M,lease=100000000000,timeout=200000";

/** A kernel that stores its id to the address in argument 0. */
static const uint32_t code_store[] = {0x00052303, 0xcd002f73, 0x01e32023, 0x0000100b};

static bool resident(const struct tern_allocation *a)
{
    pthread_mutex_lock(&dev->lock);
    const bool r = a->mem->blocks[0].resident;
    pthread_mutex_unlock(&dev->lock);
    return r;
}

static enum tern_sched_state state_of(const struct actor *a)
{
    pthread_mutex_lock(&dev->lock);
    const enum tern_sched_state s = a->c->sched.state;
    pthread_mutex_unlock(&dev->lock);
    return s;
}

static struct tern_allocation *block(struct actor *a)
{
    struct tern_allocation *m;
    ok(tern_allocation_create(a->p, BLOCK, TERN_MEM_WRITE, 0, &m));
    ok(tern_allocation_write(m, 0, "\xff\xff\xff\xff", 4));
    return m;
}

/** Pins the actor's own memory, so that only the blocks can be absent. */
static void pin(const struct actor *a)
{
    struct tern_allocation *const all[] = {a->code, a->args, a->stack, a->data};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ok(tern_allocation_make_resident(all[i]));
    }
}

static uint64_t store(struct actor *a, struct tern_allocation *to)
{
    actor_set(a, 0, tern_allocation_address(to));
    actor_dispatch(a, 1);
    return work_submit(&dma, a->c, "store");
}

static void expect_stored(struct tern_allocation *m)
{
    uint32_t got = 1;
    ok(tern_allocation_read(m, 0, &got, 4));
    assert_int_equal(got, 0);
}

/** The page of one context is brought while another process has the engine. A second context of the first process asks
 *  for a page that fits only in place of the first page. */
static void test_until_it_has_run(void **state)
{
    (void)state;
    const struct tern_context_desc d = {.size = sizeof d, .name = "second", .engine = 1};
    struct actor first, second, spin;
    rig_open(tiny, NULL);
    if (!dev->kmd.page_requests) {
        print_message("skipped: the device has no page requests\n");
        rig_done();
        exit(77);
    }
    open_spin(&spin, "spin", 0);
    ok(tern_context_set_priority(spin.c, TERN_BAND_REALTIME, 0));
    actor_open(&first, "asks", 0, code_store, sizeof code_store);
    second = first;
    ok(tern_context_create(first.p, &d, &second.c));
    ok(tern_allocation_create(first.p, 4096, TERN_MEM_WRITE, 0, &second.args));
    pin(&spin);
    pin(&first);
    pin(&second);
    struct tern_allocation *const x = block(&first), *const y = block(&first);
    ok(tern_wait(second.c, store(&second, y), PATIENCE));
    assert_false(resident(x));
    assert_true(resident(y));
    rig.gated = true; /* the page that it asks for cannot come yet */
    const uint64_t stored_x = store(&first, x);
    until(rig.at_gate);
    assert_false(resident(y));
    const uint64_t spun = actor_spin(&spin);
    rig.gated = false;
    until(resident(x));
    ok(tern_allocation_write(y, 0, "\xff\xff\xff\xff", 4));
    const uint64_t stored_y = store(&second, y);
    until(state_of(&second) == TERN_SCHED_ABSENT);
    const uint64_t now = tern_device_time(dev);
    until(tern_device_time(dev) - now > 300000);
    assert_true(resident(x));
    assert_int_equal(tern_context_ended(first.c), 0);
    assert_int_not_equal(tern_context_ended(second.c), stored_y);
    actor_set(&spin, 0, 1);
    ok(tern_wait(spin.c, spun, PATIENCE));
    ok(tern_wait(first.c, stored_x, PATIENCE));
    ok(tern_wait(second.c, stored_y, PATIENCE));
    expect_stored(x);
    expect_stored(y);
    assert_int_equal(dev->pager.requests, 3);
    tern_context_destroy(second.c);
    tern_allocation_destroy(second.args);
    tern_allocation_destroy(x);
    tern_allocation_destroy(y);
    actor_close(&first);
    actor_close(&spin);
    rig_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_until_it_has_run),
    };
    return cmocka_run_group_tests_name("page_kept", tests, NULL, NULL);
}
