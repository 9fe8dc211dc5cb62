/* SPDX-License-Identifier: Apache-2.0 */
/** The target of a migration between two ternd (session.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/wait.h"
#include "migration/session/internal.h"

/** The owner of a process that is loaded. */
static int find_owner(void *user, uint32_t process, struct tern_owner *owner)
{
    const struct ternd_move *m = user;
    for (uint32_t i = 0; i < m->n; i++) {
        for (size_t k = 0; k < m->number_count[i]; k++) {
            if (m->numbers[i][k] == process) {
                *owner = m->sessions[i]->owner;
                return 0;
            }
        }
    }
    return tern_error(-EPROTO, "process %u is no program's", process);
}

static int read_processes(struct ternd_move *m)
{
    const struct tern_migrate_owner owner = {.process = find_owner, .user = m};
    struct tern_stream *in;
    int r = ternd_move_links_stream(m, false, &in);
    if (!r) {
        r = tern_migrate_load(m->t->dev, m->partition, in, &owner, &m->loading);
        if (r == 0) {
            r = ternd_move_has_read(m, in);
        }
        tern_stream_close(in);
    }
    return r;
}

static struct tern_context *loaded(const struct ternd_move *m, uint32_t process, uint32_t context)
{
    uint32_t number;
    for (uint32_t i = 0; i < tern_loading_count(m->loading); i++) {
        struct tern_process *p = tern_loading_process(m->loading, i, &number);
        struct tern_context *c = NULL;
        for (uint32_t k = 0; p && number == process; k++) {
            uint32_t n;
            c = tern_loading_context(m->loading, i, k, &n);
            if (!c || n == context) {
                return c;
            }
        }
    }
    return NULL;
}

static void give_context(void *user, uint32_t process, uint32_t context, struct tern_context_desc *desc)
{
    const struct ternd_move *m = user;
    const struct tern_context *c = loaded(m, process, context);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct ternd_session *s = m->sessions[i];
        for (uint32_t k = 0; k < s->objects; k++) {
            if (s->object[k] && s->object[k]->it == c) {
                desc->completed = ternd_completed;
                desc->user = s->object[k];
                return;
            }
        }
    }
}

/** Starts the threads of the session and of its calls, which wait while it is frozen. */
static int start(struct ternd_move *m, uint32_t i)
{
    struct ternd_session *s = m->sessions[i];
    struct ternd_arrival *a = &m->arrivals[i];
    s->shift = tern_loading_shift(m->loading);
    s->holding = true;
    int r = ternd_session_enter(s);
    if (r == 0) {
        r = ternd_client_resume(s, s->connection, false, 0);
    }
    a->runs = !r;
    while (!r && a->calls) {
        const uint32_t slot = a->slot[a->calls - 1];
        r = ternd_client_resume(s, s->call[slot], true, slot);
        a->calls -= !r;
    }
    return r;
}

static int receive_all(struct ternd_move *m)
{
    const struct tern_migrate_owner owner = {.context = give_context, .user = m};
    int r = ternd_move_read_programs(m);
    if (r == 0) {
        r = read_processes(m);
    }
    m->stopped_at = tern_clock_ns();
    if (r == 0) {
        r = ternd_move_read_state(m);
    }
    if (r == 0) {
        r = tern_migrate_attach(m->loading, &owner);
    }
    for (uint32_t i = 0; !r && i < m->n; i++) {
        r = start(m, i);
    }
    if (r == 0) {
        r = ternd_move_step(m, TERN_WIRE_READY);
    }
    return r ? r : ternd_move_await(m, TERN_WIRE_GO);
}

static void begin(struct ternd_move *m)
{
    m->proc_count = tern_loading_count(m->loading);
    for (uint32_t i = 0; i < m->n; i++) {
        ternd_session_publish(m->sessions[i]);
    }
    const int told = ternd_move_step(m, TERN_WIRE_TOLD); /* the programs know the path of this ternd */
    (void)told;                          /* fails if the other ternd is gone */
    tern_migrate_commit(m->loading);
    for (uint32_t i = 0; i < m->n; i++) {
        ternd_clients_own(m->sessions[i], true);
        ternd_session_thaw(m->sessions[i]);
    }
}

/** Frees a session, and closes those of its sockets that have no thread. */
static void drop_session(struct ternd_move *m, uint32_t i)
{
    struct ternd_session *s = m->sessions[i];
    struct ternd_arrival *a = &m->arrivals[i];
    ternd_session_discard(s);
    for (uint32_t k = 0; k < a->calls; k++) {
        const uint32_t slot = a->slot[k];
        free(s->pending[slot]);
        s->pending[slot] = NULL;
        if (s->call[slot] >= 0) {
            close(s->call[slot]);
            ternd_user_give(s->ternd, s->user, 0, 0, 1);
            ternd_session_detach(s, slot);
        }
    }
    if (a->runs) {
        ternd_session_leave(s);
        return;
    }
    close(s->connection);
    ternd_user_give(s->ternd, s->user, 0, 0, 1);
    pthread_mutex_lock(&m->t->lock);
    tern_list_remove(&s->node);
    pthread_mutex_unlock(&m->t->lock);
    ternd_session_free(s);
}

static void drop(struct ternd_move *m)
{
    struct ternd *t = m->t;
    for (uint32_t i = 0; m->sessions && m->arrivals && i < m->n; i++) {
        if (m->sessions[i]) {
            drop_session(m, i);
        }
    }
    if (m->loading) {
        tern_migrate_drop(m->loading);
    }
    pthread_mutex_lock(&t->lock);
    while (t->leaving) {
        pthread_cond_wait(&t->left, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

void ternd_move_receive(struct ternd *t, int control, const char *partition)
{
    struct ternd_move m = {.t = t, .control = control, .link = -1};
    struct tern_wire_migrate how = {0};
    char why[512] = "";
    strncpy(m.partition, *partition ? partition : TERN_PARTITION_DEFAULT, sizeof m.partition - 1);
    int r = ternd_client_moves(t, control);
    const bool begun = !r;
    if (r == 0) {
        r = ternd_move_begin(&m, &how);
    }
    if (r == 0) {
        r = receive_all(&m);
    }
    if (r) {
        strncpy(why, tern_last_error(), sizeof why - 1);
        drop(&m);
    } else {
        begin(&m);
        ternd_log(TERND_INFO, "partition %s has come: %u programs", m.partition, m.n);
    }
    for (uint32_t i = 0; i < m.n; i++) {
        free(m.numbers[i]);
    }
    free(m.numbers);
    free(m.number_count);
    free(m.sessions);
    free(m.arrivals);
    if (begun) {
        ternd_client_moved(t);
    }
    ternd_move_end(&m, r ? tern_error(r, "%s", why) : 0);
}
