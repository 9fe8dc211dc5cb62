/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern migrate --from --to: gives two ternd the ends of a pair of sockets, and shows what they say. It takes no part in
 * the migration itself; when it ends, the migration is cancelled.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "stream/tool/tool.h"
#include "tern/tern_spec.h"
#include "wire/socket.h"
#include "wire/wire.h"

struct options {
    const char *from, *to, *partition;
    struct tern_wire_migrate how;
};

/** One of the two ternd. */
struct side {
    const char *path;
    int fd;
    bool ended;
    struct tern_wire_progress last;
};

static int say(const char *path, const char *why)
{
    fprintf(stderr, "tern migrate: %s: %s\n", path, why);
    return FAILED;
}

/** Connects, and is told whether a migration may begin. */
static int greet(struct side *s, uint32_t kind, const char *partition)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct tern_wire_hello hello = {.magic = TERN_WIRE_MAGIC, .version = TERN_WIRE_VERSION, .spec = TERN_SPEC_HASH,
                                    .kind = kind};
    struct tern_wire_welcome w;
    if (strlen(s->path) >= sizeof to.sun_path) {
        return say(s->path, strerror(ENAMETOOLONG));
    }
    memcpy(to.sun_path, s->path, strlen(s->path));
    memcpy(hello.partition, partition, strlen(partition));
    s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || connect(s->fd, (const struct sockaddr *)&to, sizeof to)) {
        return say(s->path, strerror(errno));
    }
    tern_socket_send(s->fd, &hello, sizeof hello, -1, true); /* a refusal may have come already */
    const ssize_t n = tern_socket_receive(s->fd, &w, sizeof w, NULL);
    if (n < (ssize_t)offsetof(struct tern_wire_welcome, token) || w.magic != TERN_WIRE_MAGIC) {
        return say(s->path, "what listens there is not ternd, or has ended");
    }
    w.text[sizeof w.text - 1] = '\0';
    return w.status ? say(s->path, w.text) : DONE;
}

static void show_round(const struct tern_wire_progress *p)
{
    printf("round %-3u %8" PRIu64 " pages %10.1f MiB in %7.1f ms, %8" PRIu64 " left, %7.1f ms to send%s\n", p->number,
           p->pages, (double)p->bytes / 1048576, (double)p->ns / 1e6, p->left, (double)p->expected_ns / 1e6,
           p->throttle ? ", throttled" : "");
    fflush(stdout);
}

static void receive(struct side *s)
{
    struct tern_wire_progress p;
    const ssize_t n = tern_socket_receive(s->fd, &p, sizeof p, NULL);
    if (n == (ssize_t)sizeof p && p.kind == TERN_WIRE_ROUND) {
        show_round(&p);
        return;
    }
    s->ended = true;
    if (n == (ssize_t)sizeof p) {
        s->last = p;
        s->last.text[sizeof p.text - 1] = '\0';
    } else {
        s->last.status = -EIO;
        snprintf(s->last.text, sizeof s->last.text, "it has ended the connection");
    }
}

/** Until both have said how it ended, or a signal comes. */
static bool follow(struct side side[2], int signals)
{
    while (!side[0].ended || !side[1].ended) {
        struct pollfd p[3] = {{.fd = side[0].ended ? -1 : side[0].fd, .events = POLLIN},
                              {.fd = side[1].ended ? -1 : side[1].fd, .events = POLLIN},
                              {.fd = signals, .events = POLLIN}};
        if (poll(p, 3, -1) < 0) {
            continue;
        }
        if (p[2].revents) { /* both take what they can read for the end; the source's answer says whether it was */
            struct signalfd_siginfo info;
            if (read(signals, &info, sizeof info) == sizeof info) {
                tern_socket_wake(side[0].fd);
            }
        }
        for (int i = 0; i < 2; i++) {
            if (p[i].revents) {
                receive(&side[i]);
            }
        }
    }
    return side[0].last.status == 0;
}

/** The source says whether it has moved; why not, the target may know better. */
static int tell(const struct side side[2], const char *partition)
{
    const struct tern_wire_progress *from = &side[0].last, *to = &side[1].last;
    const bool lost = from->status == -EPIPE || from->status == -EIO;
    if (from->status == 0) {
        printf("partition %s has moved: %u programs, %u processes, which stood still for %.1f ms\n", partition,
               from->programs, from->processes, (double)from->stopped_ns / 1e6);
        return DONE;
    }
    return lost && to->status && to->status != -EPIPE ? say(side[1].path, to->text) : say(side[0].path, from->text);
}

static int move(const struct options *o)
{
    struct side side[2] = {{.path = o->from, .fd = -1}, {.path = o->to, .fd = -1}};
    int link[2] = {-1, -1};
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    const int signals = signalfd(-1, &ends, SFD_CLOEXEC);
    int status = greet(&side[0], TERN_WIRE_SEND, o->partition);
    status = status ? status : greet(&side[1], TERN_WIRE_RECEIVE, o->partition);
    if (!status && (signals < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link))) {
        status = say("sockets", strerror(errno));
    }
    for (int i = 0; !status && i < 2; i++) {
        const int r = tern_socket_send(side[i].fd, &o->how, sizeof o->how, link[i], true);
        status = r ? say(side[i].path, strerror(-r)) : DONE;
    }
    close(link[0]);
    close(link[1]);
    if (!status) {
        follow(side, signals);
        status = tell(side, o->partition);
    }
    return status;
}

static bool number(const char *text, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    const unsigned long long v = strtoull(text, &end, 10);
    *out = v;
    return *text >= '0' && *text <= '9' && !*end && !errno && v <= most;
}

int move_command(int argc, char **argv)
{
    static const char *const policies[] = {"give-up", "force", "throttle"};
    struct options o = {.partition = TERN_PARTITION_DEFAULT};
    uint64_t n;
    for (int i = 0; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!value) {
            return usage_error("a value is missing behind '%s'", name);
        }
        if (!strcmp(name, "--from")) {
            o.from = value;
        } else if (!strcmp(name, "--to")) {
            o.to = value;
        } else if (!strcmp(name, "--partition")) {
            o.partition = value;
        } else if (!strcmp(name, "--downtime") && number(value, 3600000, &n)) {
            o.how.downtime_ns = n * 1000000;
        } else if (!strcmp(name, "--rounds") && number(value, 1000, &n)) {
            o.how.rounds = (uint32_t)n;
        } else if (!strcmp(name, "--policy")) {
            for (o.how.policy = 0; o.how.policy < 3 && strcmp(policies[o.how.policy], value); o.how.policy++) {
            }
            if (o.how.policy == 3) {
                return usage_error("'%s' is no policy: give-up, force, throttle", value);
            }
        } else {
            return usage_error("'%s %s' is not understood", name, value);
        }
    }
    if (!o.from || !o.to || !*o.partition || strlen(o.partition) >= TERN_PARTITION_NAME) {
        return usage_error(o.from && o.to ? "'%s' is no name of a partition" : "both --from and --to are needed",
                           o.partition);
    }
    return move(&o);
}
