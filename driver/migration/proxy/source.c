/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The proxy at the source (proxy.h). For the source's ternd it is the other ternd of a migration: it takes sockets and
 * memories, and passes the bytes of the stream on. After GO of the source's ternd the programs belong to the proxy.
 */
#include "migration/proxy/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/patience.h"
#include "base/wait.h"
#include "tern/tern_spec.h"
#include "wire/hello.h"
#include "wire/socket.h"

#define TICK_MS 1000
#define CANCEL_TIMEOUT_NS 5000000000u /* time for the source's ternd to answer an interrupt, in ns */
/* time for the target's ternd to answer after that, beyond the patience of a migration, in ns */
#define RESULT_TIMEOUT_NS 5000000000u

static void close_ternd(struct proxy_source *a)
{
    if (a->ternd >= 0) {
        close(a->ternd);
        a->ternd = -1;
    }
}

/* ------------------------------------------------------------------ the source's ternd */

/** Ends the migration because the proxy itself cannot go on. */
static void give_up(struct proxy_source *a)
{
    snprintf(a->refused, sizeof a->refused, "%s", tern_last_error());
    close_ternd(a);
    proxy_send(&a->link, (struct proxy_frame){.type = PROXY_STREAM_END}, NULL, 0, NULL, 0);
}

/** Called when the source's ternd answers READY with GO. */
static void take_over(struct proxy_source *a)
{
    const char go = TERN_WIRE_GO, told = TERN_WIRE_TOLD;
    a->gone = true;
    proxy_programs_start(a);
    proxy_send(&a->link, (struct proxy_frame){.type = PROXY_STREAM}, &go, sizeof go, NULL, 0);
    tern_socket_send(a->ternd, &told, sizeof told, -1, false);
}

/** Receives bytes of the source's ternd. A descriptor comes with the last bytes of its description; the size is
 *  chosen so that no call ends within such a description. */
static ssize_t receive_piece(int from, uint8_t piece[PROXY_PIECE], int *fd)
{
    ssize_t n = recv(from, piece, PROXY_PIECE, MSG_PEEK | MSG_DONTWAIT);
    n = n < (ssize_t)PROXY_PIECE ? n : (ssize_t)(PROXY_PIECE - sizeof(struct tern_wire_descriptor));
    return n <= 0 ? n : tern_socket_receive(from, piece, (size_t)n, fd);
}

static void receive_ternd(struct proxy_source *a)
{
    uint8_t piece[PROXY_PIECE];
    int fd = -1;
    const ssize_t n = receive_piece(a->ternd, piece, &fd);
    struct tern_wire_descriptor what;
    if (n <= 0) {
        close_ternd(a);
        if (!a->gone) {
            proxy_send(&a->link, (struct proxy_frame){.type = PROXY_STREAM_END}, NULL, 0, NULL, 0);
        }
    } else if (a->ready && n == 1 && fd < 0 && *piece == TERN_WIRE_GO && !a->gone) {
        take_over(a);
    } else {
        /* the last bytes describe the descriptor that comes with them */
        const size_t before = fd < 0 ? (size_t)n : (size_t)n < sizeof what ? 0 : (size_t)n - sizeof what;
        memset(&what, 0, sizeof what);
        memcpy(&what, piece + before, (size_t)n - before);
        int r = proxy_parse(&a->parser, piece, before);
        if (r == 0 && fd >= 0) {
            r = proxy_program_add(a, &what, fd);
        }
        if (r) {
            give_up(a);
            return;
        }
        if (before) {
            proxy_send(&a->link, (struct proxy_frame){.type = PROXY_STREAM}, piece, before, NULL, 0);
        }
        if (fd >= 0) {
            proxy_send(&a->link, (struct proxy_frame){.type = PROXY_DESCRIPTOR}, &what, sizeof what, NULL, 0);
        }
    }
}

static void receive_control(struct proxy_source *a)
{
    struct tern_wire_progress p;
    const ssize_t n = tern_socket_receive(a->control, &p, sizeof p, NULL);
    if (n == (ssize_t)sizeof p && p.kind == TERN_WIRE_ROUND) {
        a->round(a->user, &p);
        return;
    }
    a->ended = true;
    a->last = n == (ssize_t)sizeof p ? p : (struct tern_wire_progress){.status = -EIO, .text = "ternd has ended"};
    a->last.text[sizeof a->last.text - 1] = '\0';
}

static int greet_ternd(struct proxy_source *a, const struct proxy_source_options *o)
{
    struct tern_wire_hello h = tern_hello(TERN_WIRE_SEND);
    struct tern_wire_welcome w;
    memcpy(h.partition, o->partition, strlen(o->partition));
    const int seconds = tern_patience(TERN_PATIENCE_HELLO);
    a->control = seconds < 0 ? seconds : tern_hello_open(o->from, &h, &w, NULL, (unsigned)seconds, a->signals);
    return a->control < 0 ? a->control : 0;
}

/** Starts the migration on the source's ternd, once the target has answered. */
static int begin_ternd(struct proxy_source *a, const struct tern_wire_migrate *how)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        return tern_error(-errno, "sockets cannot be made: %s", strerror(errno));
    }
    a->ternd = pair[0];
    const int r = tern_socket_send(a->control, how, sizeof *how, pair[1], true);
    close(pair[1]);
    return r ? tern_error(r, "the source's ternd has ended") : 0;
}

/* ------------------------------------------------------------------ the link */

static int receive_hello(struct proxy_source *a, const struct proxy_frame *f, const uint8_t *bytes)
{
    struct proxy_hello h;
    if (f->type != PROXY_HELLO || f->length != sizeof h) {
        return tern_error(-EPROTO, "%s: what answers is no tern migrate serve", a->to);
    }
    memcpy(&h, bytes, sizeof h);
    h.text[sizeof h.text - 1] = '\0';
    if (h.side != PROXY_TARGET) {
        return tern_error(-EPROTO, "%s: what answers is no tern migrate serve", a->to);
    }
    if (h.magic != PROXY_MAGIC || h.version != PROXY_VERSION || h.wire != TERN_WIRE_VERSION ||
        h.spec != TERN_SPEC_HASH) {
        return tern_error(-EPROTO, "%s: it is of another version: both sides must have the same", a->to);
    }
    return h.status ? tern_error(h.status < 0 ? h.status : -EPROTO, "%s: %s", a->to, h.text) : 0;
}

static void receive_frame(struct proxy_source *a, const struct proxy_frame *f, const uint8_t *bytes)
{
    if (f->type == PROXY_STREAM && !a->gone) {
        if (!a->ready && proxy_parse_end(a)) {
            give_up(a);
        }
        a->ready = true; /* READY is the only byte that the target's ternd sends before GO */
        if (a->ternd >= 0 && send(a->ternd, bytes, f->length, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)f->length) {
            close_ternd(a);
        }
    } else if (f->type == PROXY_STREAM_END && !a->gone) {
        close_ternd(a);
    } else if (f->type == PROXY_RESULT && f->length == sizeof a->result) {
        memcpy(&a->result, bytes, sizeof a->result);
        a->result.text[sizeof a->result.text - 1] = '\0';
        a->told = true;
        if (!a->gone) { /* before GO the only result is a refusal */
            close_ternd(a);
        }
    } else if (f->type >= PROXY_END) {
        proxy_program_frame(a, f, bytes);
    } else if (f->type != PROXY_ALIVE && f->type != PROXY_STREAM && f->type != PROXY_STREAM_END) {
        proxy_lose(&a->link, "what comes over it cannot be: type %u", f->type);
    }
}

/* ------------------------------------------------------------------ waiting */

static void ready(struct proxy_source *a, const struct proxy_tag *t, const struct pollfd *p)
{
    struct signalfd_siginfo info;
    switch (t->what) {
    case PROXY_LINK:
        if (p->revents & ~POLLOUT) {
            proxy_fill(&a->link);
        }
        break;
    case PROXY_SIGNALS:
        if (read(a->signals, &info, sizeof info) == sizeof info) {
            /* the second signal ends the wait at once */
            a->until = a->cancelled ? 1 : tern_clock_ns() + CANCEL_TIMEOUT_NS;
            a->cancelled = true;
        }
        if (!a->gone && a->control >= 0) {
            tern_socket_wake(a->control); /* the answer shows whether the interrupt was in time */
        }
        break;
    case PROXY_CONTROL:
        receive_control(a);
        break;
    case PROXY_TERND:
        if (p->fd == a->ternd) {
            receive_ternd(a);
        }
        break;
    case PROXY_LISTENER:
        proxy_pending_accept(a);
        break;
    case PROXY_PENDING:
        proxy_pending_ready(a, t->slot, p->fd);
        break;
    default:
        proxy_program_ready(a, t, p->fd);
    }
}

/** Waits once in poll(), and handles all input. */
static int step(struct proxy_source *a)
{
    struct proxy_watch *w = &a->watch;
    const bool sleeps = proxy_programs_pump(a), room = proxy_bytes_left(&a->link.sending) < PROXY_QUEUE;
    proxy_tick(&a->link, true);
    proxy_pending_tick(a);
    proxy_flush(&a->link);
    proxy_watch_begin(w);
    proxy_watch_link(w, &a->link, true, PROXY_LINK);
    proxy_watch_add(w, a->signals, POLLIN, PROXY_SIGNALS, 0, 0);
    proxy_watch_add(w, a->ended ? -1 : a->control, POLLIN, PROXY_CONTROL, 0, 0);
    proxy_watch_add(w, room ? a->ternd : -1, POLLIN, PROXY_TERND, 0, 0);
    proxy_pending_watch(a);
    proxy_programs_watch(a);
    const int r = proxy_watch_wait(w, sleeps ? TICK_MS : 0);
    for (size_t i = 0; !r && i < w->n; i++) {
        if (w->fds[i].revents) {
            ready(a, &w->tags[i], &w->fds[i]);
        }
    }
    return r;
}

static void take_frames(struct proxy_source *a)
{
    struct proxy_frame f;
    const uint8_t *bytes;
    while (!a->link.lost && proxy_next(&a->link, &f, &bytes)) {
        receive_frame(a, &f, bytes);
    }
}

/** Waits for the target's answer to the hello. */
static int meet(struct proxy_source *a, const char *partition)
{
    struct proxy_hello h = {.magic = PROXY_MAGIC, .version = PROXY_VERSION, .wire = TERN_WIRE_VERSION,
                            .spec = TERN_SPEC_HASH, .side = PROXY_SOURCE};
    struct proxy_frame f;
    const uint8_t *bytes;
    int r = 0;
    memcpy(h.partition, partition, strlen(partition));
    proxy_send(&a->link, (struct proxy_frame){.type = PROXY_HELLO}, &h, sizeof h, NULL, 0);
    while (!r && !a->greeted) {
        r = step(a);
        if (!r && proxy_next(&a->link, &f, &bytes)) {
            a->greeted = true;
            r = receive_hello(a, &f, bytes);
        } else if (!r && a->link.lost) {
            r = tern_error(-EIO, "the link to %s is lost: %s", a->to, a->link.why);
        } else if (!r && (a->cancelled || a->ended)) {
            r = !a->ended ? tern_error(-ECANCELED, "cancelled")
                : a->last.status == -ETIMEDOUT
                ? tern_error(-ETIMEDOUT, "the other machine has not answered in time: %s", a->last.text)
                : tern_error(-ECANCELED, "the source's ternd has ended");
        }
    }
    return r;
}

/** Called when the source's ternd does not answer a cancel. After GO the programs have moved. */
static int give_up_waiting(const struct proxy_source *a)
{
    return a->gone ? 0
        : tern_error(-ETIMEDOUT, "ternd at %s does not answer; whether the programs have moved is not known", a->from);
}

/** Waits until both ternd have reported the end. If the source has moved the programs, the target's ternd may still
 *  be starting them. If the source has lost the link, the target may know the reason. */
static int follow(struct proxy_source *a)
{
    bool waits = true; /* the target's answer is still awaited */
    int r = 0;
    while (!r && (!a->ended || waits)) {
        r = step(a);
        take_frames(a);
        if (a->link.lost && !a->gone) {
            close_ternd(a);
        }
        const int s = a->last.status;
        const bool moved = a->ended && !s && a->gone;
        if (!r && (!a->ended || moved) && a->until && tern_clock_ns() > a->until) {
            return give_up_waiting(a);
        }
        if (moved && !a->until) {
            a->until = tern_clock_ns() + (uint64_t)tern_patience(TERN_PATIENCE_MOVE) * 1000000000u + RESULT_TIMEOUT_NS;
        }
        waits = (moved || s == -EPIPE || s == -EIO) && !a->told && !a->link.lost && !*a->refused;
    }
    return r;
}

static int verdict(struct proxy_source *a)
{
    const int s = a->last.status;
    if (!s && a->gone) {
        return 0;
    }
    if (a->told && a->result.status && (s == -EPIPE || s == -EIO)) {
        return tern_error(a->result.status, "%s: %s", a->to, a->result.text);
    }
    if (*a->refused) {
        return tern_error(-EPROTO, "%s", a->refused);
    }
    if (a->link.lost && (s == -EPIPE || s == -EIO)) {
        return tern_error(-EIO, "the link to %s is lost: %s", a->to, a->link.why);
    }
    return tern_error(s ? s : -EIO, "%s", s ? a->last.text : "the source's ternd ended in the middle");
}

/* ------------------------------------------------------------------ the whole */

/** Listens beside the ternd's socket, where the same programs can connect. */
static int listen_beside(struct proxy_source *a, const char *from)
{
    char path[PATH_MAX], whole[PATH_MAX + 32];
    if (!realpath(from, path)) {
        return tern_error(-errno, "%s: %s", from, strerror(errno));
    }
    ternd_listen_clean(path);
    snprintf(whole, sizeof whole, "%s.%d", path, (int)getpid());
    const int r = ternd_listen(whole, &a->listener);
    if (!r) {
        memcpy(a->where, a->listener.path, sizeof a->where);
    }
    return r;
}

/** Frees the source. own: also closes and removes what other processes see of it. */
static void free_source(struct proxy_source *a, bool own)
{
    for (uint32_t i = 0; i < a->n; i++) {
        proxy_session_free(a->session[i]);
    }
    for (uint32_t i = 0; i < PROXY_PENDING_MAX; i++) {
        if (a->pending[i].fd >= 0) {
            close(a->pending[i].fd);
        }
    }
    close_ternd(a);
    if (a->control >= 0) {
        close(a->control);
    }
    if (*a->where && own) {
        ternd_listen_end(&a->listener);
    } else if (*a->where) {
        close(a->listener.fd);
        close(a->listener.lock);
    }
    if (a->signals >= 0) {
        close(a->signals);
    }
    proxy_link_close(&a->link);
    proxy_watch_end(&a->watch);
    free(a->parser.kept.data);
    free(a->session);
    free(a);
}

int proxy_source_move(const struct proxy_source_options *o, struct proxy_source **out, struct tern_wire_progress *moved)
{
    struct proxy_source *a = calloc(1, sizeof *a);
    sigset_t ends;
    if (!a) {
        close(o->in);
        if (o->out != o->in) {
            close(o->out);
        }
        return tern_error_memory("a migration");
    }
    proxy_link_open(&a->link, o->in, o->out);
    a->to = o->to;
    a->from = o->from;
    a->round = o->round;
    a->user = o->user;
    a->control = a->ternd = a->signals = a->listener.fd = a->listener.lock = -1;
    for (uint32_t i = 0; i < PROXY_PENDING_MAX; i++) {
        a->pending[i].fd = -1;
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    a->signals = signalfd(-1, &ends, SFD_CLOEXEC);
    int r = a->signals < 0 ? tern_error(-errno, "signals cannot be waited for: %s", strerror(errno)) : 0;
    if (r == 0) {
        r = greet_ternd(a, o);
    }
    if (r == 0) {
        r = listen_beside(a, o->from);
    }
    if (r == 0) {
        r = meet(a, o->partition);
    }
    if (r == 0) {
        r = begin_ternd(a, &o->how);
    }
    if (r == 0) {
        r = follow(a);
    }
    if (r == 0) {
        r = verdict(a);
    }
    *moved = a->last;
    if (r) {
        proxy_flush(&a->link);
        free_source(a, true);
        return r;
    }
    close_ternd(a);
    close(a->control);
    a->control = -1;
    a->cancelled = false; /* the signal came too late to cancel */
    *out = a;
    return 0;
}

int proxy_source_run(struct proxy_source *a)
{
    int r = 0;
    while (!r && proxy_programs_left(a)) {
        r = step(a);
        take_frames(a);
        if (a->link.lost) {
            r = tern_error(-EIO, "the link to %s is lost: %s", a->to, a->link.why);
        } else if (a->cancelled) {
            r = tern_error(-ECANCELED, "ended by a signal");
        }
    }
    proxy_link_finish(&a->link); /* tells the other side that the last program has ended */
    free_source(a, true);
    return r;
}

void proxy_source_leave(struct proxy_source *a)
{
    free_source(a, false);
}
