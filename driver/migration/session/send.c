/* SPDX-License-Identifier: Apache-2.0 */
/** The source of a migration between two ternd (session.h). */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/wait.h"
#include "migration/session/internal.h"
#include "wire/socket.h"

/** Finds whether the session has processes in the partition. -EBUSY: some of its processes are in it and some are
 *  not. Requires ternd->lock. */
static int concerns(const struct ternd_move *m, struct ternd_session *s, bool *concerned)
{
    tern_assert_held(&m->t->lock);
    uint32_t in = 0, out = 0;
    pthread_mutex_lock(&s->lock);
    TERN_LIST_EACH(node, &s->processes)
    {
        const struct ternd_object *o = TERN_LIST_ENTRY(node, struct ternd_object, node);
        if (tern_os_process_is_in(o->it, m->partition)) {
            in++;
        } else {
            out++;
        }
    }
    const bool ends = s->ending;
    pthread_mutex_unlock(&s->lock);
    *concerned = in > 0 && !ends;
    if (*concerned && (out || s->holding)) {
        return tern_error(-EBUSY, out ? "program %d (%s) has processes in other partitions, too"
                                      : "program %d (%s) is being moved", (int)s->pid, s->program);
    }
    return 0;
}

/** Finds all programs of the partition. Their sessions are not freed from here on. */
static int find_sessions(struct ternd_move *m)
{
    struct ternd *t = m->t;
    struct tern_device_info info = {.size = sizeof info};
    uint32_t n = 0;
    int r = tern_os_device_query_in(t->dev, m->partition, &info);
    if (r) {
        return r; /* no partition has this name */
    }
    pthread_mutex_lock(&t->lock);
    TERN_LIST_EACH(node, &t->sessions)
    {
        n++;
    }
    m->sessions = calloc(n + 1, sizeof *m->sessions);
    r = m->sessions ? 0 : tern_error_memory("a migration");
    for (struct tern_list *at = t->sessions.next; !r && at != &t->sessions; at = at->next) {
        struct ternd_session *s = TERN_LIST_ENTRY(at, struct ternd_session, node);
        bool concerned = false;
        r = concerns(m, s, &concerned);
        if (!r && concerned) {
            s->holding = true;
            m->sessions[m->n++] = s;
        }
    }
    pthread_mutex_unlock(&t->lock);
    return r || m->n ? r : tern_error(-ENOENT, "no program has a process in the partition '%s'", m->partition);
}

static int take_processes(struct ternd_move *m, struct ternd_session *s)
{
    int r = 0;
    pthread_mutex_lock(&s->lock);
    TERN_LIST_EACH(node, &s->processes)
    {
        struct ternd_object *o = TERN_LIST_ENTRY(node, struct ternd_object, node);
        struct tern_process **more = realloc(m->procs, (m->proc_count + 1) * sizeof *more);
        m->procs = more ? more : m->procs;
        if (!more || o->killed || !o->handle || s->object[o->handle - 1] != o) {
            r = more ? tern_error(-EBUSY, "program %d (%s) has a process that ends", (int)s->pid, s->program)
                     : tern_error_memory("a migration");
            break;
        }
        m->procs[m->proc_count++] = o->it;
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

static void tell_round(void *user, const struct tern_migrate_round *round)
{
    const struct ternd_move *m = user;
    const struct tern_wire_progress p = {
        .kind = TERN_WIRE_ROUND, .number = round->number, .throttle = round->throttle, .pages = round->pages,
        .bytes = round->bytes, .ns = round->ns, .left = round->left, .expected_ns = round->expected_ns,
        .zero = round->zero, .same = round->same, .content = round->content};
    tern_socket_send(m->control, &p, sizeof p, -1, false);
}

static int freeze_all(void *user)
{
    struct ternd_move *m = user;
    int r = 0;
    m->stopped_at = tern_clock_ns();
    for (uint32_t i = 0; !r && i < m->n; i++) {
        r = ternd_session_freeze(m->sessions[i]);
    }
    return r;
}

static int write_processes(struct ternd_move *m, const struct tern_wire_migrate *how, struct tern_saving **saving)
{
    struct tern_stream *s;
    const struct tern_migrate_limits limits = {
        .downtime_ns = how->downtime_ns, .rounds = how->rounds, .progress = tell_round, .stopping = freeze_all,
        .user = m, .policy = how->policy <= TERN_MIGRATE_THROTTLE ? (enum tern_migrate_policy)how->policy
                                                                  : TERN_MIGRATE_GIVE_UP};
    int r = ternd_move_links_stream(m, true, &s);
    if (!r) {
        r = tern_stream_compress(s, how->compress < INT_MAX ? (int)how->compress : INT_MAX);
        if (r == 0) {
            r = tern_migrate_live(m->procs, m->proc_count, s, &limits, saving);
        }
        if (r == 0) {
            r = ternd_move_read_to_end(m, s);
        }
        m->counts = tern_stream_counts(s);
        tern_stream_close(s);
    }
    return r;
}

static int send_all(struct ternd_move *m, const struct tern_wire_migrate *how, struct tern_saving **saving)
{
    int r = find_sessions(m);
    for (uint32_t i = 0; !r && i < m->n; i++) {
        r = ternd_session_hold(m->sessions[i]);
        if (r == 0) {
            r = take_processes(m, m->sessions[i]);
        }
    }
    if (r == 0) {
        r = ternd_move_write_programs(m);
    }
    if (r == 0) {
        r = write_processes(m, how, saving);
    }
    if (r == 0) {
        r = ternd_move_write_state(m);
    }
    if (r == 0) {
        r = ternd_move_await(m, TERN_WIRE_READY);
    }
    return r ? r : ternd_move_step(m, TERN_WIRE_GO);
}

/** Gives the sessions up after GO. */
static void leave(struct ternd_move *m, struct tern_saving *saving)
{
    struct ternd *t = m->t;
    const int told = ternd_move_await(m, TERN_WIRE_TOLD); /* the target has told the programs where it listens */
    (void)told;                           /* fails if the other ternd has ended, and the programs with it */
    tern_migrate_end(saving);
    for (uint32_t i = 0; i < m->n; i++) {
        ternd_clients_own(m->sessions[i], false);
        ternd_session_leave(m->sessions[i]);
    }
    pthread_mutex_lock(&t->lock);
    while (t->leaving) {
        pthread_cond_wait(&t->left, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
}

static void go_on(struct ternd_move *m, struct tern_saving *saving)
{
    if (saving) {
        tern_migrate_go_on(saving);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        ternd_session_thaw(m->sessions[i]);
    }
}

void ternd_move_send(struct ternd *t, int control, const char *partition)
{
    struct ternd_move m = {.t = t, .control = control, .link = -1};
    struct tern_wire_migrate how = {0};
    struct tern_saving *saving = NULL;
    strncpy(m.partition, *partition ? partition : TERN_PARTITION_DEFAULT, sizeof m.partition - 1);
    int r = ternd_client_moves(t, control);
    const bool begun = !r;
    if (r == 0) {
        r = ternd_move_begin(&m, &how);
    }
    if (r == 0) {
        r = send_all(&m, &how, &saving);
    }
    char why[512];
    strncpy(why, r ? tern_last_error() : "", sizeof why - 1);
    why[sizeof why - 1] = '\0';
    m.stopped_ns = m.stopped_at ? tern_clock_ns() - m.stopped_at : 0;
    if (r) {
        go_on(&m, saving);
        ternd_log(TERND_WARNING, "partition %s does not move: %s", m.partition, why);
    } else {
        leave(&m, saving);
        ternd_log(TERND_INFO, "partition %s has moved: %u programs", m.partition, m.n);
    }
    free(m.sessions);
    free(m.procs);
    if (begun) {
        ternd_client_moved(t);
    }
    ternd_move_end(&m, r ? tern_error(r, "%s", why) : 0);
}

const struct ternd_moves ternd_moves = {.send = ternd_move_send, .receive = ternd_move_receive};
