/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions of the runtime end the process if they run without the lock that they need. Functions that other files call
 * are called without it; those of one file by a function that takes the lock, which is left out.
 */
#include "clt.h"

#include "runtime/core/binary.h"
#include "runtime/core/build.h"
#include "runtime/core/loaded.h"
#include "runtime/core/live.h"
#include "runtime/core/program.h"
#include "runtime/core/queue.h"
#include "runtime/core/svm.h"
#include "tests/lib/locks.h"

LEAVE_OUT_LOCKS

#ifdef TERN_CHECK_LOCKS
static struct _cl_device_id device;
static struct _cl_context context = {.device = &device};
static struct _cl_command_queue queue = {.context = &context};
static struct _cl_event event = {.context = &context, .queue = &queue, .status = CL_QUEUED};
static struct rt_command command = {.queue = &queue, .event = &event};
static struct rt_waiter waiter = {.command = &command};
static struct _cl_program program = {.context = &context};
static struct rt_loaded *loaded;
static char bytes[8];

static void update(void)
{
    rt_event_update_locked(&event, CL_COMPLETE);
}

static void add_waiter(void)
{
    rt_event_add_waiter_locked(&event, &waiter);
}

static void ready(void)
{
    rt_queue_ready_locked(&command);
}

static void wait_begin(void)
{
    rt_queue_wait_begin_locked(&queue);
}

static void wait_locked(void)
{
    rt_queue_wait_locked(&queue, NULL);
}

static void wait_end(void)
{
    rt_queue_wait_end_locked(&queue);
}

static void start(void)
{
    rt_queue_start_locked(&command);
}

static void work(void)
{
    rt_queue_work(&queue);
}

static void take_data(void)
{
    rt_queue_reserve(&queue, 1, false);
}

static void query(void)
{
    rt_program_query(&program, CL_PROGRAM_CONTEXT, &(struct rt_answer){0});
}

static void query_build(void)
{
    rt_program_query_build(&program, CL_PROGRAM_BUILD_STATUS, &(struct rt_answer){0});
}

static void build(void)
{
    rt_build(&program, &(struct rt_build_request){.step = RT_BUILD, .options = ""});
}

static void place(void)
{
    rt_loaded_create(&context, &(struct tc_blob){0}, &loaded);
}

static void svm(void)
{
    rt_svm_begins(&context, bytes);
}

static void closing(void)
{
    struct rt_closing c;
    rt_closing_begin(&c);
}

static void live(void)
{
    rt_live_add(bytes);
}

static const struct locks_case cases[] = {
    {update, "rt_event_update_locked needs &e->context->lock", NULL},
    {add_waiter, "rt_event_add_waiter_locked needs &e->context->lock", NULL},
    {ready, "rt_queue_ready_locked needs &c->queue->context->lock", NULL},
    {wait_begin, "rt_queue_wait_begin_locked needs &q->context->lock", NULL},
    {wait_locked, "rt_queue_wait_locked needs &q->context->lock", NULL},
    {wait_end, "rt_queue_wait_end_locked needs &q->context->lock", NULL},
    {start, "rt_queue_start_locked needs &q->context->lock", NULL},
    {work, "take_ended needs &q->context->lock", NULL},
    {take_data, "take_data needs &q->memory_lock", NULL},
    {query, "query_locked needs &p->lock", NULL},
    {query_build, "query_build_locked needs &p->lock", NULL},
    {build, "forget_locked needs &p->lock", NULL},
    {place, "load_at needs &im->context->load_lock", &context.load_lock},
    {svm, "find needs &lock", NULL},
    {closing, "place_of needs &lock", NULL},
    {live, "make_room needs &s->lock", NULL},
};

static void test_locks(void **state)
{
    (void)state;
    pthread_mutex_t *const locks[] = {&context.lock, &context.load_lock, &queue.memory_lock, &program.lock};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        assert_int_equal(pthread_mutex_init(locks[i], NULL), 0);
    }
    assert_int_equal(locks_unasserted(cases, sizeof cases / sizeof *cases), 0);
}

#else
/** Other builds check no locks. */
static void test_locks(void **state)
{
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    tern_assert_held(&lock);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_locks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
