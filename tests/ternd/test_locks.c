/* SPDX-License-Identifier: Apache-2.0 */
/** The end of a session destroys no process that a migration uses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ternd/server.h"

static struct ternd server;
static struct ternd_user user;

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_end)};
    return cmocka_run_group_tests_name("locks", tests, NULL, NULL);
}
