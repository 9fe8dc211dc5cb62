/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern migrate --from --to: gives two ternd the ends of a pair of sockets, and shows and reports what they say. It
 * takes no part in the migration itself; when it ends, the migration is cancelled.
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
#include "ternd/tool/report.h"
#include "wire/socket.h"
#include "wire/wire.h"

#define DOWNTIME_NS 300000000u

struct options {
    const char *from, *to, *partition;
    const char *report; /* file; NULL: none */
    bool json;
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
    printf("round %-3u %8" PRIu64 " pages %10.1f MiB in %7.1f ms, %8" PRIu64 " left, written at %7.1f MiB/s, %7.1f ms "
           "to send%s\n", p->number, p->pages, (double)p->bytes / 1048576, (double)p->ns / 1e6, p->left,
           move_report_rate(p) / 1048576, (double)p->expected_ns / 1e6, p->throttle ? ", throttled" : "");
    fflush(stdout);
}

static void receive(struct side *s, struct move_report *report, bool show)
{
    struct tern_wire_progress p;
    const ssize_t n = tern_socket_receive(s->fd, &p, sizeof p, NULL);
    if (n == (ssize_t)sizeof p && p.kind == TERN_WIRE_ROUND) {
        if (!move_report_round(report, &p)) {
            say("report", strerror(ENOMEM));
        }
        if (show) {
            show_round(&p);
        }
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
static void follow(struct side side[2], int signals, struct move_report *report, bool show)
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
                receive(&side[i], report, show);
            }
        }
    }
}

/** The source says whether it has moved; why not, the target may know better. */
static int tell(const struct side side[2], struct move_report *report, bool show)
{
    const struct tern_wire_progress *from = &side[0].last, *to = &side[1].last;
    const bool lost = from->status == -EPIPE || from->status == -EIO;
    const struct side *knows = lost && to->status && to->status != -EPIPE ? &side[1] : &side[0];
    report->end = *from;
    report->moved = from->status == 0;
    report->why = knows->last.text;
    if (!report->moved) {
        return say(knows->path, report->why);
    }
    if (show) {
        printf("partition %s has moved: %u program%s, %u process%s, %.1f MiB; stood still for %.1f ms, "
               "in which %.3f MiB were sent\n", report->partition, from->programs, from->programs == 1 ? "" : "s",
               from->processes, from->processes == 1 ? "" : "es", (double)from->bytes / 1048576,
               (double)from->stopped_ns / 1e6, (double)move_report_last_bytes(report) / 1048576);
    }
    return DONE;
}

/** The page of HTML is written beside its name, and gets that when it is whole. */
struct page {
    char part[4096];
    FILE *f;
};

/** Before anything has moved, so that a name that cannot be written costs nothing. */
static int open_page(struct page *p, const char *path)
{
    if (snprintf(p->part, sizeof p->part, "%s.part", path) >= (int)sizeof p->part) {
        return say(path, strerror(ENAMETOOLONG));
    }
    p->f = fopen(p->part, "w");
    return p->f ? DONE : say(path, strerror(errno));
}

/** report NULL: there is nothing to tell. */
static int close_page(struct page *p, const char *path, const struct move_report *report)
{
    if (!p->f) {
        return DONE;
    }
    const bool told = report && move_report_html(report, p->f);
    const bool written = !fclose(p->f) && told && !rename(p->part, path);
    if (written) {
        return DONE;
    }
    const int error = errno;
    unlink(p->part);
    return report ? say(path, strerror(error)) : DONE;
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
    struct page page = {.f = NULL};
    int status = o->report ? open_page(&page, o->report) : DONE;
    status = status ? status : greet(&side[0], TERN_WIRE_SEND, o->partition);
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
        struct move_report report = {.from = o->from, .to = o->to, .partition = o->partition,
                                     .downtime_ns = o->how.downtime_ns ? o->how.downtime_ns : DOWNTIME_NS};
        follow(side, signals, &report, !o->json);
        status = tell(side, &report, !o->json);
        const int told = close_page(&page, o->report, &report);
        const bool printed = !o->json || move_report_json(&report, stdout);
        move_report_free(&report);
        return status ? status : told ? told : printed ? DONE : FAILED;
    }
    close_page(&page, o->report, NULL);
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
    for (int i = 0; i < argc; i++) {
        const char *name = argv[i];
        if (!strcmp(name, "--json")) {
            o.json = true;
            continue;
        }
        const char *value = argv[++i]; /* NULL behind the last one */
        if (!value) {
            return usage_error("a value is missing behind '%s'", name);
        }
        if (!strcmp(name, "--from")) {
            o.from = value;
        } else if (!strcmp(name, "--to")) {
            o.to = value;
        } else if (!strcmp(name, "--partition")) {
            o.partition = value;
        } else if (!strcmp(name, "--report")) {
            o.report = value;
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
