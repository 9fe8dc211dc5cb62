/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads sessions from records of a migration stream. Each number is checked against its range where it is read. An
 * object must have come with its process, and only once: no object of the driver belongs to two objects of sessions.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "migration/session/internal.h"

#define SESSIONS_MAX 4096u
#define QUEUE_MAX ((uint64_t)1 << 40) /* bytes of submissions */

/* ---------------------------------------------------------------------- who they are */

struct program {
    char name[32], partition[TERN_PARTITION_NAME];
    uint8_t token[16];
    uint32_t calls;
    uint64_t queue;
};

static int read_program(struct ternd_move *m, struct tern_stream *s, struct program *p)
{
    size_t n, token;
    memset(p, 0, sizeof *p);
    tern_get_u64(s, "number", m->n, m->n);
    const void *name = tern_get_bytes(s, "program", sizeof p->name - 1, &n);
    if (n) {
        memcpy(p->name, name, n);
    }
    const char *partition = tern_get_text(s, "partition", sizeof p->partition - 1);
    memcpy(p->partition, partition, strlen(partition));
    p->calls = (uint32_t)tern_get_u64(s, "calls", 1, TERN_WIRE_CONNECTIONS_MAX);
    p->queue = tern_get_u64(s, "queue", 0, QUEUE_MAX);
    const void *bytes = tern_get_bytes(s, "token", sizeof p->token, &token);
    if (token == sizeof p->token) {
        memcpy(p->token, bytes, token);
    } else {
        tern_record_refuse(s, "a token has %zu bytes, not %zu", token, sizeof p->token);
    }
    const uint64_t *numbers = tern_get_u64s(s, "processes", 1024, &n);
    int r = tern_record_bad(s);
    if (!r) {
        m->numbers[m->n] = malloc((n + 1) * sizeof **m->numbers);
        m->number_count[m->n] = n;
        r = m->numbers[m->n] ? 0 : tern_error_memory("a migration");
    }
    if (!r && n) {
        memcpy(m->numbers[m->n], numbers, n * sizeof *numbers);
    }
    m->n += !r;
    return r;
}

/** Makes room for one more program. */
static int grow(struct ternd_move *m, struct program **programs)
{
    const size_t n = m->n + 1;
    struct program *p = realloc(*programs, n * sizeof *p);
    *programs = p ? p : *programs;
    uint64_t **numbers = realloc(m->numbers, n * sizeof *numbers);
    m->numbers = numbers ? numbers : m->numbers;
    size_t *count = realloc(m->number_count, n * sizeof *count);
    m->number_count = count ? count : m->number_count;
    return p && numbers && count && n <= SESSIONS_MAX ? 0 : tern_error_memory("a migration");
}

static int read_programs(struct ternd_move *m, struct program **programs)
{
    struct tern_stream *s;
    enum tern_record_type type;
    int r = ternd_move_stream(m, false, &s);
    if (r) {
        return r;
    }
    while ((r = tern_record_next(s, &type)) > 0) {
        r = type == TERN_RECORD_SESSION
            ? 0
            : tern_record_refuse(s, "the record '%s' is not expected here", tern_record_name(type));
        if (r == 0) {
            r = grow(m, programs);
        }
        if (r == 0) {
            r = read_program(m, s, &(*programs)[m->n]);
        }
        if (r) {
            break;
        }
    }
    tern_stream_close(s);
    return r;
}

/** The peer of the socket must be another process, which the system names in *who. */
static int check_socket(int fd, struct ucred *who)
{
    int kind = 0, domain = 0;
    socklen_t size = sizeof kind, whole = sizeof *who;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) || kind != SOCK_SEQPACKET ||
        getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) || domain != AF_UNIX ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &whole)
        ? tern_error(-EPROTO, "what came as a program's connection is not that")
        : 0;
}

static int receive_program(struct ternd_move *m, uint32_t i, const struct program *p)
{
    struct ternd *t = m->t;
    struct ucred who;
    struct ternd_session *s = NULL;
    int connection = -1, memory = -1;
    struct tern_wire_descriptor what = {.kind = TERN_WIRE_CONNECTION, .session = i, .calls = p->calls};
    memcpy(what.token, p->token, sizeof what.token);
    int r = ternd_move_receive_fd(m, &what, &connection);
    what = (struct tern_wire_descriptor){.kind = TERN_WIRE_MEMORY, .session = i, .calls = p->calls};
    if (r == 0) {
        r = ternd_move_receive_fd(m, &what, &memory);
    }
    if (r == 0) {
        r = check_socket(connection, &who);
    }
    if (r == 0) {
        r = ternd_session_make(t, &who, p->name, p->partition, p->calls, p->queue, &s);
    }
    if (r == 0) {
        r = ternd_user_take(t, s->user, 0, 0, 1);
    }
    if (r) {
        if (s) {
            ternd_session_free(s);
        }
        close(connection);
        close(memory);
        return r;
    }
    memcpy(s->token, p->token, sizeof s->token);
    s->connection = connection;
    m->sessions[i] = s;
    return ternd_session_map(s, memory);
}

int ternd_move_read_programs(struct ternd_move *m)
{
    struct program *programs = NULL;
    int r = read_programs(m, &programs);
    m->sessions = calloc(m->n + 1, sizeof *m->sessions);
    m->arrivals = calloc(m->n + 1, sizeof *m->arrivals);
    if (r == 0 && !(m->sessions && m->arrivals)) {
        r = tern_error_memory("a migration");
    }
    for (uint32_t i = 0; !r && i < m->n; i++) {
        r = receive_program(m, i, &programs[i]);
    }
    free(programs);
    return r;
}

/* -------------------------------------------------------------------- what they have */

/** Finds a process by its number on the source, which must be one of this session. */
static int find_process(const struct ternd_move *m, uint32_t session, uint64_t number, uint32_t *index)
{
    bool own = false;
    for (size_t i = 0; i < m->number_count[session]; i++) {
        own = own || m->numbers[session][i] == number;
    }
    for (uint32_t i = 0; own && i < tern_loading_count(m->loading); i++) {
        uint32_t n;
        if (tern_loading_process(m->loading, i, &n) && n == number) {
            *index = i;
            return 0;
        }
    }
    return tern_error(-EPROTO, "process %" PRIu64 " did not come, or is another program's", number);
}

/** Finds the driver's object; `name` is its identity on the source. */
static void *find_child(const struct ternd_move *m, uint32_t process, const struct ternd_object *o, uint64_t name,
                        uint64_t *jobs)
{
    struct tern_context *c;
    uint32_t number;
    if (o->kind == TERND_ALLOCATION) {
        return tern_loading_allocation(m->loading, process, (uint32_t)name);
    }
    if (o->kind == TERND_FENCE) {
        return tern_loading_fence(m->loading, process, (uint32_t)name);
    }
    for (uint32_t i = 0; (c = tern_loading_context(m->loading, process, i, &number)); i++) {
        if (number == name) {
            *jobs = tern_loading_jobs(m->loading, process, i);
            return c;
        }
    }
    return NULL;
}

static int add_sent(struct ternd_object *o, uint64_t fence, uint64_t cost, bool refused)
{
    struct ternd_session *s = o->session;
    struct ternd_sent *e = calloc(1, sizeof *e);
    if (!e || cost > s->limits.queue - s->queued) {
        free(e);
        return e ? tern_error(-EPROTO, "more is queued than program %d may have", (int)s->pid)
                 : tern_error_memory("a submission");
    }
    e->told = (struct tern_wire_completion){.cookie = o->cookie, .fence = fence, .result = TERN_ABORTED, .cost = cost};
    e->refused = refused;
    *o->sent_end = e;
    o->sent_end = &e->next;
    s->queued += cost;
    return 0;
}

/** Reads the submissions of a context: its last ones, of which those that the driver took are its jobs. */
static int read_sent(struct ternd_object *o, struct tern_stream *in, uint64_t jobs)
{
    size_t n;
    const uint64_t *w = tern_get_u64s(in, "sent", TERN_RECORD_BYTES / 8, &n);
    int r = tern_record_bad(in);
    uint64_t taken = 0;
    n /= TERND_MOVE_SENT_WORDS;
    for (size_t i = 0; !r && i < n; i++, w += TERND_MOVE_SENT_WORDS) {
        r = w[0] == o->fence - (n - 1 - i) && w[2] <= 1 && (i || !w[2])
            ? add_sent(o, w[0], w[1], w[2] == 1)
            : tern_error(-EPROTO, "submissions of a context are not as they can be");
        taken += w[2] == 0;
    }
    return r || taken == jobs ? r : tern_error(-EPROTO, "a context has %" PRIu64 " jobs, and %" PRIu64 " submissions",
                                              jobs, taken);
}

/** The user's limits must allow the context's band on this ternd as well. */
static int check_band(const struct ternd_object *o)
{
    struct tern_context_stats s = {.size = sizeof s};
    const struct ternd_limits *l = &o->session->limits;
    const int r = tern_os_context_query(o->it, &s);
    if (!r && ((s.band == TERN_BAND_REALTIME && !l->realtime) || (s.band == TERN_BAND_FOCUS && !l->focus))) {
        return tern_error(-EPERM, "program %d has a context in the band %s, which user %u may not have here",
                          (int)o->session->pid, s.band == TERN_BAND_FOCUS ? "FOCUS" : "REALTIME",
                          (unsigned)o->session->uid);
    }
    return r;
}

static int read_child(struct ternd_move *m, uint32_t i, struct tern_stream *in, struct ternd_object *o,
                      uint64_t process, uint64_t name)
{
    struct ternd_session *s = m->sessions[i];
    uint32_t index = 0, number;
    uint64_t jobs = 0;
    struct ternd_object *proc = process && process <= s->objects ? s->object[process - 1] : NULL;
    if (!proc || proc->kind != TERND_PROCESS) {
        return tern_error(-EPROTO, "an object is of process %" PRIu64 ", which there is not", process);
    }
    o->proc = proc;
    while (tern_loading_process(m->loading, index, &number) != proc->it) {
        index++;
    }
    o->it = find_child(m, index, o, name, &jobs);
    if (!o->it) {
        return tern_error(-EPROTO, "an object of kind %d, %" PRIu64 ", did not come", (int)o->kind, name);
    }
    const uint64_t bytes = tern_get_u64(in, "bytes", 0, UINT32_MAX);
    if (o->kind == TERND_CONTEXT) {
        o->cookie = tern_get_u64(in, "cookie", 0, UINT64_MAX);
        o->fence = tern_get_u64(in, "fence", 0, UINT64_MAX - 1);
    }
    int r = tern_record_bad(in);
    if (r == 0) {
        r = ternd_user_take(s->ternd, s->user, bytes, o->kind == TERND_CONTEXT, 0);
    }
    if (!r) {
        o->bytes = bytes;
        r = o->kind == TERND_CONTEXT ? check_band(o) : 0;
        if (r == 0 && o->kind == TERND_CONTEXT) {
            r = read_sent(o, in, jobs);
        }
        const uint32_t pins = o->kind == TERND_ALLOCATION ? tern_os_allocation_pins(o->it) : 0;
        if (!r && pins) {
            r = ternd_object_pin(o, pins);
        }
        if (r) {
            ternd_object_give(o);
        }
    }
    return r;
}

static int read_object(struct ternd_move *m, uint32_t i, struct tern_stream *in)
{
    struct ternd_session *s = m->sessions[i];
    const uint32_t handle = (uint32_t)tern_get_u64(in, "handle", 1, UINT32_MAX);
    const enum ternd_kind kind = (enum ternd_kind)tern_get_u64(in, "kind", TERND_PROCESS, TERND_FENCE);
    const uint64_t process = tern_get_u64(in, "process", 0, UINT32_MAX);
    const uint64_t name = tern_get_u64(in, "name", 0, UINT32_MAX);
    uint32_t index = 0, number;
    int r = tern_record_bad(in);
    struct ternd_object *o = r ? NULL : ternd_object_create(s, NULL, kind);
    if (r == 0 && !o) {
        r = -ENOMEM;
    }
    if (!r && kind == TERND_PROCESS) {
        r = find_process(m, i, name, &index);
        o->it = r ? NULL : tern_loading_process(m->loading, index, &number);
    } else if (!r) {
        r = read_child(m, i, in, o, process, name);
    }
    if (!r) {
        r = ternd_object_place(o, handle);
        if (r) {
            ternd_object_give(o);
        }
    }
    for (struct ternd_sent *e = r && o ? o->sent : NULL, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    if (r) {
        free(o);
    }
    return r;
}

static int read_waiting(struct ternd_session *s, struct tern_stream *in)
{
    size_t n;
    const uint64_t *w = tern_get_u64s(in, "waiting", TERN_RECORD_BYTES / 8, &n);
    int r = tern_record_bad(in);
    for (size_t i = 0; !r && i + TERND_MOVE_TOLD_WORDS <= n; i += TERND_MOVE_TOLD_WORDS, w += TERND_MOVE_TOLD_WORDS) {
        struct ternd_sent *e = calloc(1, sizeof *e);
        if (!e || w[7] > s->limits.queue - s->queued) {
            free(e);
            return tern_error(-EPROTO, "more is queued than program %d may have", (int)s->pid);
        }
        e->told = (struct tern_wire_completion){.cookie = w[0], .fence = w[1], .result = (uint32_t)w[2],
                                                .engine = (uint32_t)w[3], .submitted = w[4], .begin = w[5],
                                                .end = w[6], .cost = w[7]};
        *s->waiting_end = e;
        s->waiting_end = &e->next;
        s->queued += w[7];
    }
    return r;
}

static int read_call(struct ternd_session *s, struct ternd_arrival *a, struct tern_stream *in)
{
    size_t n;
    const uint32_t slot = (uint32_t)tern_get_u64(in, "slot", a->calls ? a->slot[a->calls - 1] + 1 : 0,
                                                 s->limits.calls - 1);
    const void *request = tern_get_bytes(in, "request", sizeof(struct tern_wire_request), &n);
    const int r = tern_record_bad(in);
    if (!r && n) {
        s->pending[slot] = calloc(1, sizeof *s->pending[slot]);
        if (!s->pending[slot]) {
            return tern_error_memory("a request");
        }
        memcpy(s->pending[slot], request, n);
        s->pending[slot]->length = (uint32_t)n; /* ternd_serve checks everything else */
    }
    a->slot[a->calls] = slot;
    a->calls += !r;
    return r;
}

static int read_session(struct ternd_move *m, uint32_t i, struct tern_stream *in)
{
    struct ternd_session *s = m->sessions[i];
    enum tern_record_type type = TERN_RECORD_SESSION;
    int r = tern_record_next(in, &type);
    if (r <= 0 || type != TERN_RECORD_SESSION) {
        return r < 0 ? r : tern_error(-EPROTO, "the state of a program is missing");
    }
    tern_get_u64(in, "number", i, i);
    s->head = tern_get_u64(in, "head", 0, UINT64_MAX);
    s->tail = tern_get_u64(in, "tail", 0, UINT64_MAX);
    const uint64_t objects = tern_get_u64(in, "objects", 0, 1u << 20);
    const uint64_t calls = tern_get_u64(in, "calls", 0, s->limits.calls);
    r = read_waiting(s, in);
    for (uint64_t k = 0; !r && k < objects + calls; k++) {
        const enum tern_record_type want = k < objects ? TERN_RECORD_OBJECT : TERN_RECORD_CALL;
        r = tern_record_next(in, &type);
        if (r <= 0 || type != want) {
            return r < 0 ? r : tern_error(-EPROTO, "a %s of a program is missing", tern_record_name(want));
        }
        r = k < objects ? read_object(m, i, in) : read_call(s, &m->arrivals[i], in);
    }
    return r;
}

static int compare(const void *a, const void *b)
{
    const uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return x < y ? -1 : x > y;
}

/** Every object of the driver has at most one object, and every process has exactly one. */
static int check_objects(const struct ternd_move *m)
{
    size_t n = 0, room = 1, processes = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        room += m->sessions[i]->objects;
    }
    uintptr_t *all = malloc(room * sizeof *all);
    if (!all) {
        return tern_error_memory("a migration");
    }
    for (uint32_t i = 0; i < m->n; i++) {
        const struct ternd_session *s = m->sessions[i];
        for (uint32_t k = 0; k < s->objects; k++) {
            if (s->object[k]) {
                all[n++] = (uintptr_t)s->object[k]->it;
                processes += s->object[k]->kind == TERND_PROCESS;
            }
        }
    }
    qsort(all, n, sizeof *all, compare);
    bool twice = false;
    for (size_t i = 1; i < n; i++) {
        twice = twice || all[i] == all[i - 1];
    }
    free(all);
    return twice || processes != tern_loading_count(m->loading)
        ? tern_error(-EPROTO, "objects of programs are there twice, or a process has none")
        : 0;
}

/** Receives the sockets of the connections for calls. */
static int receive_calls(struct ternd_move *m, uint32_t i)
{
    struct ternd_session *s = m->sessions[i];
    const struct ternd_arrival *a = &m->arrivals[i];
    int r = 0;
    for (uint32_t k = 0; !r && k < a->calls; k++) {
        struct ucred who;
        int fd = -1;
        const struct tern_wire_descriptor what = {.kind = TERN_WIRE_CALL, .session = i, .slot = a->slot[k]};
        r = ternd_move_receive_fd(m, &what, &fd);
        if (r == 0) {
            r = check_socket(fd, &who);
        }
        if (r == 0 && who.uid != s->uid) {
            r = tern_error(-EPROTO, "a call is of user %u", (unsigned)who.uid);
        }
        if (r == 0) {
            r = ternd_user_take(s->ternd, s->user, 0, 0, 1);
        }
        if (r) {
            close(fd);
        } else {
            s->call[a->slot[k]] = fd;
            s->calls++;
        }
    }
    return r;
}

int ternd_move_read_state(struct ternd_move *m)
{
    struct tern_stream *in;
    enum tern_record_type type;
    int r = ternd_move_stream(m, false, &in);
    if (r) {
        return r;
    }
    for (uint32_t i = 0; !r && i < m->n; i++) {
        r = read_session(m, i, in);
    }
    if (r == 0) {
        r = tern_record_next(in, &type);
    }
    r = r > 0 ? tern_record_refuse(in, "the record '%s' is not expected here", tern_record_name(type)) : r;
    tern_stream_close(in);
    if (r == 0) {
        r = check_objects(m);
    }
    for (uint32_t i = 0; !r && i < m->n; i++) {
        r = receive_calls(m, i);
    }
    return r;
}
