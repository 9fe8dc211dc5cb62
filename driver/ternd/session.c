/* SPDX-License-Identifier: Apache-2.0 */
/** Sessions, from hello to end. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "ternd/server.h"
#include "wire/ring.h"
#include "wire/shared.h"
#include "wire/socket.h"

static int map(struct ternd_session *s)
{
    return tern_shared_map(s->memory, s->limits.calls, &s->shared, &s->submissions, &s->completions);
}

static int make_memory(struct ternd_session *s)
{
    s->memory = tern_shared_make(s->limits.calls);
    const int r = s->memory < 0 ? s->memory : map(s);
    if (!r) {
        atomic_store(&s->shared->now, tern_os_device_time_seen(s->ternd->dev));
    }
    return r;
}

int ternd_session_map(struct ternd_session *s, int memory)
{
    s->memory = memory;
    return tern_shared_is(memory, s->limits.calls)
        ? map(s)
        : tern_error(-EPROTO, "what came as the memory that program %d shares with ternd is not that", (int)s->pid);
}

void ternd_session_free(struct ternd_session *s)
{
    if (s->shared) {
        munmap(s->shared, tern_wire_shared_bytes(s->limits.calls));
    }
    if (s->memory >= 0) {
        close(s->memory);
    }
    if (s->freeze >= 0) {
        close(s->freeze);
    }
    while (s->waiting) {
        struct ternd_sent *e = s->waiting;
        s->waiting = e->next;
        free(e);
    }
    free(s->object);
    pthread_mutex_destroy(&s->ring);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->done);
    pthread_cond_destroy(&s->changed);
    free(s);
}

int ternd_session_enter(struct ternd_session *s)
{
    struct ternd *t = s->ternd;
    int r = 0;
    pthread_mutex_lock(&t->lock);
    TERN_LIST_EACH(node, &t->sessions)
    {
        const struct ternd_session *other = TERN_LIST_ENTRY(node, struct ternd_session, node);
        if (t->info.single_use) { /* the device has one address space (A2) */
            r = tern_error(-EBUSY, "the device has one address space only, and process %d (%s) is using it",
                           (int)other->pid, other->program);
        } else if (!memcmp(other->token, s->token, sizeof s->token)) {
            r = tern_error(-EEXIST, "program %d (%s) is here already", (int)other->pid, other->program);
        }
    }
    if (!r) {
        tern_list_append(&t->sessions, &s->node);
    }
    pthread_mutex_unlock(&t->lock);
    return r;
}

static int init(struct ternd_session *s, struct ternd *t, const struct ucred *who)
{
    char name[16];
    pthread_condattr_t attr;
    s->ternd = t;
    s->connection = s->memory = -1;
    s->pid = who->pid;
    s->uid = who->uid;
    s->owner.uid = who->uid;
    ternd_user_name(who->uid, name, sizeof name);
    snprintf(s->owner.text, sizeof s->owner.text, "%d %s", (int)who->pid, name);
    tern_list_init(&s->node);
    tern_list_init(&s->processes);
    s->waiting_end = &s->waiting;
    pthread_mutex_init(&s->ring, NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->done, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    for (uint32_t i = 0; i < TERN_WIRE_CONNECTIONS_MAX; i++) {
        s->call[i] = -1;
    }
    s->freeze = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->user = ternd_user_get(t, who->uid);
    if (s->freeze < 0 || !s->user) {
        return s->user ? tern_error(-ENOMEM, "an eventfd cannot be made: %s", strerror(errno))
                       : tern_error_memory("a user");
    }
    s->owner.share = s->user->limits.share;
    s->owner.account = ternd_user_account(s->user);
    s->limits = s->user->limits;
    return 0;
}

int ternd_session_create(struct ternd *t, int fd, const struct ucred *who, const struct tern_wire_hello *hello,
                         struct ternd_session **out)
{
    struct ternd_session *s = calloc(1, sizeof *s);
    if (!s) {
        return tern_error_memory("a session");
    }
    int r = init(s, t, who);
    s->connection = fd;
    snprintf(s->program, sizeof s->program, "%.*s", (int)strnlen(hello->program, sizeof hello->program),
             hello->program);
    if (!r) {
        r = getrandom(s->token, sizeof s->token, 0) == sizeof s->token ? 0 : tern_error(-EIO, "there is no randomness");
    }
    if (r == 0) {
        r = ternd_partition_choose(s, hello);
    }
    if (r == 0) {
        r = make_memory(s);
    }
    if (r == 0) {
        r = ternd_session_enter(s);
    }
    if (r) {
        ternd_session_free(s);
        return r;
    }
    *out = s;
    return 0;
}

int ternd_session_make(struct ternd *t, const struct ucred *who, const char *program, const char *partition,
                       uint32_t calls, uint64_t queue, struct ternd_session **out)
{
    struct ternd_session *s = calloc(1, sizeof *s);
    if (!s) {
        return tern_error_memory("a session");
    }
    int r = init(s, t, who);
    snprintf(s->program, sizeof s->program, "%s", program);
    snprintf(s->partition, sizeof s->partition, "%s", partition);
    s->limits.calls = calls;
    s->limits.queue = queue;
    s->info.size = sizeof s->info;
    if (r == 0) {
        r = tern_os_device_query_in(t->dev, partition, &s->info);
    }
    s->held = true;
    atomic_store(&s->frozen, true);
    if (r == 0 && eventfd_write(s->freeze, 1)) {
        r = tern_error(-EIO, "an eventfd cannot be written");
    }
    if (r) {
        ternd_session_free(s);
        return r;
    }
    *out = s;
    return 0;
}

void ternd_session_run(struct ternd_session *s)
{
    bool there = true;
    while (there && !s->broken) {
        ternd_submissions_take(s, true);
        ternd_completions_flush(s);
        pthread_mutex_lock(&s->ring);
        const bool sleeps = tern_ring_sleeps(&s->shared->submissions, s->head, TERN_WIRE_MESSAGE);
        pthread_mutex_unlock(&s->ring);
        if (sleeps) {
            there = ternd_session_wait(s, s->connection) && tern_socket_sleep(s->connection);
        } else if (atomic_load(&s->frozen)) {
            there = ternd_session_park(s, false);
        }
    }
}

void ternd_session_break(struct ternd_session *s, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!atomic_exchange(&s->broken, true)) {
        ternd_log(TERND_WARNING, "process %d (%s) of user %u is disconnected: %s", (int)s->pid, s->program,
                  (unsigned)s->uid, text);
        shutdown(s->connection, SHUT_RDWR);
    }
}

void ternd_session_discard(struct ternd_session *s)
{
    for (uint32_t i = 0; i < s->objects; i++) { /* no lock: the session is frozen, and its threads are parked */
        struct ternd_object *o = s->object[i];
        if (o) {
            for (struct ternd_sent *e = o->sent, *next; e; e = next) {
                next = e->next;
                free(e);
            }
            ternd_object_give(o);
            free(o);
        }
    }
    pthread_mutex_lock(&s->lock);
    s->objects = 0;
    tern_list_init(&s->processes);
    pthread_mutex_unlock(&s->lock);
}

/** Ends calls that are under way, by killing the processes for whose work they wait. Calls that would make an object
 *  see `ending` and fail. */
static void end_calls(struct ternd_session *s)
{
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_cond_broadcast(&s->changed);
    for (uint32_t i = 0; i < TERN_WIRE_CONNECTIONS_MAX; i++) {
        if (s->call[i] >= 0 && !s->moved) {
            shutdown(s->call[i], SHUT_RDWR);
        }
    }
    for (struct tern_list *node = s->processes.next; node != &s->processes; node = node->next) {
        struct ternd_object *o = TERN_LIST_ENTRY(node, struct ternd_object, node);
        o->uses++;
        o->killed = true;
        pthread_mutex_unlock(&s->lock);
        tern_os_process_kill(o->it);
        pthread_mutex_lock(&s->lock);
        o->uses--; /* the object is still in the list, because a thread that destroys it waits for this use */
        pthread_cond_broadcast(&s->changed);
    }
    while (s->calls) {
        pthread_cond_wait(&s->changed, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

/** The next process to be destroyed, with the only use of it; NULL: none is left. Called when all calls have ended. */
static struct ternd_object *last_use(struct ternd_session *s)
{
    struct ternd_object *o = NULL;
    pthread_mutex_lock(&s->lock);
    if (!tern_list_empty(&s->processes)) {
        o = TERN_LIST_ENTRY(s->processes.next, struct ternd_object, node);
        o->killed = true;
        o->dead = false;
        o->uses = 1;
    }
    pthread_mutex_unlock(&s->lock);
    return o;
}

void ternd_session_end(struct ternd_session *s)
{
    struct ternd *t = s->ternd;
    end_calls(s);
    pthread_mutex_lock(&t->lock);
    while (s->holding) { /* the migration uses the processes; it ends soon, because they were killed */
        pthread_cond_wait(&t->left, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    for (struct ternd_object *o; (o = last_use(s));) {
        tern_os_process_kill(o->it);
        ternd_process_end(o);
    }
    pthread_mutex_lock(&t->lock);
    tern_list_remove(&s->node);
    t->leaving -= s->moved;
    pthread_cond_broadcast(&t->left);
    pthread_mutex_unlock(&t->lock);
    ternd_session_free(s);
}

/** Finds a session by token and user. Requires ternd->lock. */
static struct ternd_session *find(const struct ternd *t, const uint8_t token[16], uid_t uid)
{
    tern_assert_held(&t->lock);
    TERN_LIST_EACH(node, &t->sessions)
    {
        struct ternd_session *s = TERN_LIST_ENTRY(node, struct ternd_session, node);
        if (s->uid == uid && !memcmp(s->token, token, sizeof s->token)) {
            return s;
        }
    }
    return NULL;
}

struct ternd_session *ternd_session_attach(struct ternd *t, const uint8_t token[16], uid_t uid, int fd, uint32_t *slot)
{
    struct ternd_session *s;
    pthread_mutex_lock(&t->lock);
    while ((s = find(t, token, uid)) && atomic_load(&s->frozen)) { /* the session may move to another ternd */
        pthread_cond_wait(&t->left, &t->lock);
    }
    if (s) {
        bool taken = false;
        pthread_mutex_lock(&s->lock);
        for (uint32_t i = 0; !s->ending && !taken && i < s->limits.calls; i++) {
            if (s->call[i] < 0) {
                s->call[i] = fd;
                s->calls++;
                *slot = i;
                taken = true;
            }
        }
        pthread_mutex_unlock(&s->lock);
        s = taken ? s : NULL;
    }
    pthread_mutex_unlock(&t->lock);
    return s;
}

void ternd_session_detach(struct ternd_session *s, uint32_t slot)
{
    pthread_mutex_lock(&s->lock);
    s->call[slot] = -1;
    s->calls--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}
