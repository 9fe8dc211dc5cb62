/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions of ternd, of its migrations and of its clients end the process if they run without the lock that they need.
 * Functions that other files call are called without it; those of one file by a function that takes the lock, which is
 * left out. In every build: the end of a session destroys no process that a migration uses.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/completions.h"
#include "base/thread.h"
#include "client/client.h"
#include "migration/session/internal.h"
#include "ternd/server.h"
#include "tests/lib/locks.h"

LEAVE_OUT_LOCKS

/* ------------------------------------------------------------------ ternd */

static struct ternd server;
static struct ternd_user user;

int __real_tern_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);
int __wrap_tern_thread_start(pthread_t *thread, void *(*run)(void *), void *arg);
int __real_ternd_client_moves(struct ternd *t, int fd);
int __wrap_ternd_client_moves(struct ternd *t, int fd);
int __real_ternd_move_begin(struct ternd_move *m, struct tern_wire_migrate *how);
int __wrap_ternd_move_begin(struct ternd_move *m, struct tern_wire_migrate *how);
int __real_tern_os_device_query_in(struct tern_device *d, const char *partition, struct tern_device_info *out);
int __wrap_tern_os_device_query_in(struct tern_device *d, const char *partition, struct tern_device_info *out);

static void *idle(void *unused)
{
    pause();
    return unused;
}

/* In a child without locks, the threads of connections do nothing, and each migration begins. */

int __wrap_tern_thread_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    return __real_tern_thread_start(thread, locks_left_out ? idle : run, arg);
}

int __wrap_ternd_client_moves(struct ternd *t, int fd)
{
    return locks_left_out ? 0 : __real_ternd_client_moves(t, fd);
}

int __wrap_ternd_move_begin(struct ternd_move *m, struct tern_wire_migrate *how)
{
    return locks_left_out ? 0 : __real_ternd_move_begin(m, how);
}

int __wrap_tern_os_device_query_in(struct tern_device *d, const char *partition, struct tern_device_info *out)
{
    return locks_left_out ? 0 : __real_tern_os_device_query_in(d, partition, out);
}

#ifdef TERN_CHECK_LOCKS
static struct ternd_silent silent;
static struct ternd_session session = {.ternd = &server, .user = &user};
static struct ternd_sent sent;
static struct ternd_object object = {.session = &session, .sent = &sent};
static bool waits;
static uint32_t slot;

static void take_held(void)
{
    ternd_user_take_held(&server, &user, 0, 0, 1);
}

static void places_left(void)
{
    ternd_places_left(&server, &user, 1);
}

static void find_user(void)
{
    ternd_user_get(&server, 1);
}

static void silent_begins(void)
{
    ternd_silent_begin(&server, &silent, -1, &user, &waits);
}

static void most_silent(void)
{
    ternd_silent_make_room(&server);
}

static void find_session(void)
{
    ternd_session_attach(&server, session.token, 0, -1, &slot);
}

static void find_place(void)
{
    ternd_object_add(&object);
}

static void place(void)
{
    ternd_object_place(&object, 1);
}

static void take_handle(void)
{
    ternd_object_drop(&object);
}

static void wait_until_held(void)
{
    ternd_session_hold(&session);
}

static void flush(void)
{
    ternd_completions_flush(&session);
}

static void tell_first(void)
{
    ternd_completed(&object, &(struct tern_completion){.size = sizeof(struct tern_completion)});
}

static void submissions_do(void)
{
    ternd_submissions_do(&session, (const uint8_t *)"", 0, NULL);
}

static void clients_own(void)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) == 0) {
        ternd_client_begin(&server, fds[0]);
        ternd_clients_own(&session, true);
    }
}

static void move_send(void)
{
    tern_list_append(&server.sessions, &session.node);
    ternd_moves.send(&server, -1, "");
}

static const struct locks_case of_ternd[] = {
    {take_held, "ternd_user_take_held needs &t->lock", NULL},
    {places_left, "ternd_places_left needs &t->lock", NULL},
    {find_user, "find needs &t->lock", NULL},
    {silent_begins, "ternd_user_take_held needs &t->lock", NULL},
    {most_silent, "most_silent needs &t->lock", NULL},
    {find_session, "find needs &t->lock", NULL},
    {find_place, "find_place needs &s->lock", NULL},
    {place, "place needs &s->lock", NULL},
    {take_handle, "take_handle needs &o->session->lock", NULL},
    {wait_until_held, "wait_for needs &s->lock", NULL},
    {flush, "flush needs &s->done", NULL},
    {tell_first, "tell_first needs &context->session->done", NULL},
    {submissions_do, "ternd_submissions_do needs &s->ring", NULL},
    {clients_own, "is_of needs &s->lock", &session.lock},
    {move_send, "concerns needs &m->t->lock", NULL},
};

static void test_ternd(void **unused)
{
    (void)unused;
    tern_list_init(&server.sessions);
    tern_list_init(&server.clients);
    tern_list_init(&server.users);
    tern_list_init(&server.silent);
    tern_list_init(&session.processes);
    pthread_mutex_t *const locks[] = {&server.lock, &session.lock, &session.ring, &session.done};
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        assert_int_equal(pthread_mutex_init(locks[i], NULL), 0);
    }
    assert_int_equal(locks_unasserted(of_ternd, sizeof of_ternd / sizeof *of_ternd), 0);
}

/* ------------------------------------------------------------------ clients */

static struct tern_device dev;
static struct tern_process process = {.dev = &dev, .killed = true, .ended = true};
static struct tern_context context = {.proc = &process};
static struct tern_completion_queue queue = {.lock = &dev.lock};
static struct tern_completion_entry entry;
static const struct tern_completion told = {.size = sizeof told};

static void post(void)
{
    tern_ring_post(&dev, TERN_WIRE_ENTRY_ABORT, 1, NULL);
}

static void pump(void)
{
    tern_client_pump(&dev);
}

static void take(void)
{
    tern_client_take(&context, 1, NULL);
}

static void tell(void)
{
    tern_client_tell(&context, &told);
}

static void context_free(void)
{
    tern_client_context_free(&context);
}

static void free_objects(void)
{
    tern_client_process_destroy(&process);
}

static void completions_put(void)
{
    tern_completions_put(&queue, &entry, &told);
}

static void completions_drop(void)
{
    tern_completions_drop(&dev.queues, 1);
}

static const struct locks_case of_client[] = {
    {post, "send_entry needs &dev->submit", NULL},
    {pump, "take_begin needs &dev->lock", NULL},
    {take, "tern_client_take needs &dev->lock", NULL},
    {tell, "tern_client_tell needs &c->proc->dev->lock", NULL},
    {context_free, "tern_client_context_free needs &c->proc->dev->lock", NULL},
    {free_objects, "free_objects needs &p->dev->lock", NULL},
    {completions_put, "tern_completions_put needs q->lock", NULL},
    {completions_drop, "tern_completions_drop needs q->lock", NULL},
};

static void test_client(void **unused)
{
    (void)unused;
    tern_list_init(&dev.processes);
    tern_list_init(&dev.queues);
    tern_list_init(&queue.entries);
    tern_list_append(&dev.queues, &queue.node);
    assert_int_equal(pthread_mutex_init(&dev.lock, NULL), 0);
    assert_int_equal(pthread_mutex_init(&dev.submit, NULL), 0);
    assert_int_equal(locks_unasserted(of_client, sizeof of_client / sizeof *of_client), 0);
}

#endif

/* ------------------------------------------------------------------ the end of a session */

static struct ternd_session *ending; /**< The session that ends. */
static unsigned waited, killed, destroyed, destroyed_early;

int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_tern_os_process_kill(struct tern_process *p);
int __wrap_tern_os_process_destroy(struct tern_process *p);

/** The migration gives the session up as soon as the thread that ends the session waits for that. */
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    if (c != &server.left) {
        return __real_pthread_cond_wait(c, m);
    }
    waited++;
    ending->holding = false;
    return 0;
}

int __wrap_tern_os_process_kill(struct tern_process *p)
{
    (void)p;
    killed++;
    return 0;
}

int __wrap_tern_os_process_destroy(struct tern_process *p)
{
    (void)p;
    destroyed++;
    destroyed_early += ending->holding;
    return 0;
}

/** A program ends while a migration uses its processes: they are killed at once, so that the migration ends, but none
 *  is destroyed before. */
static void test_end(void **unused)
{
    (void)unused;
    tern_list_init(&server.sessions);
    assert_int_equal(pthread_mutex_init(&server.lock, NULL), 0);
    for (unsigned processes = 0; processes < 4; processes++) {
        for (unsigned held = 0; held < 2; held++) {
            struct ternd_session *s = calloc(1, sizeof *s);
            assert_non_null(s);
            ending = s;
            waited = killed = destroyed = destroyed_early = 0;
            s->ternd = &server;
            s->user = &user;
            s->connection = s->memory = s->freeze = -1;
            s->holding = held != 0;
            memset(s->call, 0xff, sizeof s->call);
            tern_list_init(&s->node);
            tern_list_init(&s->processes);
            assert_int_equal(pthread_mutex_init(&s->lock, NULL), 0);
            for (unsigned i = 0; i < processes; i++) {
                struct ternd_object *o = ternd_object_create(s, NULL, TERND_PROCESS);
                assert_non_null(o);
                assert_int_equal(ternd_object_add(o), 0);
            }
            ternd_session_end(s);
            assert_int_equal(destroyed_early, 0);
            assert_int_equal(destroyed, processes);
            assert_true(killed >= processes);
            assert_int_equal(waited, held);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end),
#ifdef TERN_CHECK_LOCKS
        cmocka_unit_test(test_ternd),
        cmocka_unit_test(test_client),
#endif
    };
    return cmocka_run_group_tests_name("locks", tests, NULL, NULL);
}
