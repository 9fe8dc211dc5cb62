/* SPDX-License-Identifier: Apache-2.0 */
/**
 * `tern migrate --from --to`: gives two ternd the ends of socket pairs, replaces lost ones, and prints what the ternd
 * report. The tool takes no part in the migration itself, but its end cancels the migration. remote.c migrates to
 * another machine.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/keys.h"
#include "base/patience.h"
#include "base/wait.h"
#include "migration/tool/tool.h"
#include "wire/hello.h"
#include "wire/socket.h"

#define DOWNTIME_DEFAULT_NS 300000000u
#define ZSTD_LEVEL_DEFAULT 1u
#define ZSTD_LEVEL_MAX 19u
/* time for one side to answer after the other has ended, in addition to the patience of a migration */
#define ANSWER_SECONDS 5
#define CANCEL_SECONDS 5   /* time for both sides to answer an interrupt */

/** One of the two ternd. */
struct side {
    const char *path;
    int fd;
    bool ended;
    bool lost; /* waits for other links */
    struct tern_wire_progress last;
};

int migrate_say(const char *where, const char *why)
{
    fprintf(stderr, "tern migrate: %s: %s\n", where, why);
    return FAILED;
}

/** Connects, and receives the answer whether a migration may begin. */
static int greet(struct side *s, uint32_t kind, const char *partition, int signals)
{
    struct tern_wire_hello hello = tern_hello(kind);
    struct tern_wire_welcome w;
    const int seconds = tern_patience(TERN_PATIENCE_HELLO);
    memcpy(hello.partition, partition, strlen(partition));
    s->fd = seconds < 0 ? seconds : tern_hello_open(s->path, &hello, &w, NULL, (unsigned)seconds, signals);
    if (s->fd < 0) {
        fprintf(stderr, "tern migrate: %s\n", tern_last_error());
    }
    return s->fd < 0 ? FAILED : DONE;
}

static void show_round(const struct tern_wire_progress *p)
{
    char slowed[48] = "";
    if (p->throttle) {
        snprintf(slowed, sizeof slowed, ", at most %u/8 of each engine", 8 - p->throttle);
    }
    printf("round %-3u %8" PRIu64 " pages (%" PRIu64 " zero, %" PRIu64 " unchanged) %8.1f MiB in %7.1f ms, %8" PRIu64
           " left, written at %7.1f MiB/s, %7.1f ms to send%s\n", p->number, p->pages, p->zero, p->same,
           (double)p->bytes / 1048576, (double)p->ns / 1e6, p->left, migrate_report_rate(p) / 1048576,
           (double)p->expected_ns / 1e6, slowed);
    fflush(stdout);
}

void migrate_round(struct migrate_report *report, const struct tern_wire_progress *p, bool show)
{
    if (!migrate_report_round(report, p)) {
        migrate_say("report", strerror(ENOMEM));
    }
    if (show) {
        show_round(p);
    }
}

static void receive(struct side *s, struct migrate_report *report, bool show)
{
    struct tern_wire_progress p;
    const ssize_t n = tern_socket_receive(s->fd, &p, sizeof p, NULL);
    if (n == (ssize_t)sizeof p && p.kind == TERN_WIRE_ROUND) {
        migrate_round(report, &p, show);
        return;
    }
    if (n == (ssize_t)sizeof p && p.kind == TERN_WIRE_LOST) {
        s->lost = true;
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

/** Gives both sides one end of each link. */
static int give_links(struct side side[2], const struct tern_wire_migrate *how)
{
    int status = DONE;
    for (uint32_t n = 0; !status && n < how->links; n++) {
        int link[2] = {-1, -1};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link)) {
            return migrate_say("sockets", strerror(errno));
        }
        for (int i = 0; !status && i < 2; i++) {
            const int r = tern_socket_send(side[i].fd, how, sizeof *how, link[i], true);
            status = r ? migrate_say(side[i].path, strerror(-r)) : DONE;
        }
        close(link[0]);
        close(link[1]);
    }
    return status;
}

/** Replaces the links if both sides have lost them. Tells a side that there are none if it waits in vain. */
static void mend(struct side side[2], const struct tern_wire_migrate *how, struct migrate_report *report, bool show)
{
    bool none = false;
    if (side[0].lost && side[1].lost) {
        side[0].lost = side[1].lost = false;
        report->mended++;
        none = give_links(side, how) != DONE;
        if (show && !none) {
            puts("the links were lost: it goes on over others");
            fflush(stdout);
        }
    }
    for (int i = 0; i < 2; i++) {
        if (none || (side[i].lost && side[!i].ended)) {
            tern_socket_send(side[i].fd, how, sizeof *how, -1, true);
            side[i].lost = false;
        }
    }
}

/** The limit of a wait for an answer. */
struct patience {
    uint64_t until; /* deadline on tern_clock_ns(), in ns; 0: none */
    bool cancelled;
};

static void limit(struct patience *p, int seconds)
{
    p->until = tern_clock_ns() + (uint64_t)seconds * 1000000000u;
}

/** The remaining time in milliseconds, for poll(). */
static int left(const struct patience *p)
{
    const uint64_t now = tern_clock_ns();
    return !p->until ? -1 : now < p->until ? (int)((p->until - now) / 1000000 + 1) : 0;
}

/** Handles a signal. The first one cancels: both sides see the end of their connection, and the source reports
 *  whether the cancel was in time. The second one ends the wait at once. */
static void interrupt(struct patience *p, const struct side side[2], int signals)
{
    struct signalfd_siginfo info;
    if (read(signals, &info, sizeof info) != sizeof info) {
        return;
    }
    if (p->cancelled) {
        p->until = 1;
        return;
    }
    p->cancelled = true;
    limit(p, CANCEL_SECONDS);
    tern_socket_wake(side[0].fd);
}

/** Waits until both sides have reported the end, or one of them does not answer. */
static void follow(struct side side[2], int signals, const struct tern_wire_migrate *how, struct migrate_report *report,
                   bool show)
{
    struct patience patience = {0};
    while (!side[0].ended || !side[1].ended) {
        struct pollfd p[3] = {{.fd = side[0].ended ? -1 : side[0].fd, .events = POLLIN},
                              {.fd = side[1].ended ? -1 : side[1].fd, .events = POLLIN},
                              {.fd = signals, .events = POLLIN}};
        const int n = poll(p, 3, left(&patience));
        if (n == 0) {
            return;
        }
        if (n < 0) {
            continue;
        }
        if (p[2].revents) {
            interrupt(&patience, side, signals);
        }
        for (int i = 0; i < 2; i++) {
            if (p[i].revents) {
                receive(&side[i], report, show);
            }
        }
        if (!patience.until && (side[0].ended || side[1].ended)) {
            limit(&patience, tern_patience(TERN_PATIENCE_MOVE) + ANSWER_SECONDS);
        }
        mend(side, how, report, show);
    }
}

/** Takes the result from the source. The reason of a failure may come from the target. */
static int decide(const struct side side[2], struct migrate_report *report)
{
    static char why[sizeof side[0].last.text];
    const struct tern_wire_progress *from = &side[0].last, *to = &side[1].last;
    const bool lost = from->status == -EPIPE || from->status == -EIO;
    const struct side *knows = lost && side[1].ended && to->status && to->status != -EPIPE ? &side[1] : &side[0];
    if (!side[0].ended) {
        snprintf(why, sizeof why, "ternd does not answer; whether the programs have moved is not known");
        knows = &side[0];
    } else {
        memcpy(why, knows->last.text, sizeof why);
    }
    report->end = *from;
    report->moved = side[0].ended && from->status == 0;
    report->why = why;
    return report->moved ? DONE : migrate_say(knows->path, why);
}

static void tell(const struct migrate_report *report)
{
    const struct tern_wire_progress *end = &report->end;
    printf("partition %s has moved: %u program%s, %u process%s, %.1f MiB; stood still for %.1f ms, "
           "in which %.3f MiB were sent\n", report->partition, end->programs, end->programs == 1 ? "" : "s",
           end->processes, end->processes == 1 ? "" : "es", (double)end->bytes / 1048576,
           (double)end->stopped_ns / 1e6, (double)migrate_report_last_bytes(report) / 1048576);
}

/** The HTML page, written under a temporary name and renamed when complete. */
struct page {
    char whole[PATH_MAX], part[PATH_MAX + 8];
    FILE *f;
};

/** Called before anything moves, so that an invalid name is found first. */
static int open_page(struct page *p, const char *path)
{
    struct stat s;
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) {
        return migrate_say(path, "it is no regular file");
    }
    if (strlen(path) >= sizeof p->whole) {
        return migrate_say(path, strerror(ENAMETOOLONG));
    }
    strcpy(p->whole, path);
    /* a symbolic link is kept, and its target replaced */
    if (lstat(path, &s) == 0 && S_ISLNK(s.st_mode) && !realpath(path, p->whole)) {
        return migrate_say(path, errno == ENOENT ? "it is a link to no file" : strerror(errno));
    }
    snprintf(p->part, sizeof p->part, "%s.part", p->whole);
    p->f = fopen(p->part, "w");
    return p->f ? DONE : migrate_say(path, strerror(errno));
}

/** report NULL: there is nothing to write. */
static int close_page(struct page *p, const char *path, const struct migrate_report *report)
{
    if (!p->f) {
        return DONE;
    }
    const bool told = report && migrate_report_html(report, p->f) && !fflush(p->f);
    const int why = errno;
    const bool closed = !fclose(p->f);
    errno = told ? errno : why;
    const bool written = closed && told && !rename(p->part, p->whole);
    if (written) {
        return DONE;
    }
    const int error = errno;
    unlink(p->part);
    return report ? migrate_say(path, strerror(error)) : DONE;
}

/** Migrates between two ternd of this machine. */
static int migrate_local(const struct migrate_options *o, struct migrate_report *report)
{
    struct side side[2] = {{.path = o->from, .fd = -1}, {.path = o->to, .fd = -1}};
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    const int signals = signalfd(-1, &ends, SFD_CLOEXEC);
    int status = signals < 0 ? migrate_say("signals", strerror(errno)) : DONE;
    if (status == 0) {
        status = greet(&side[0], TERN_WIRE_SEND, o->partition, signals);
    }
    if (status == 0) {
        status = greet(&side[1], TERN_WIRE_RECEIVE, o->partition, signals);
    }
    if (status == 0) {
        status = give_links(side, &o->how);
    }
    if (!status) {
        follow(side, signals, &o->how, report, !o->json);
        status = decide(side, report);
    }
    return status;
}

/** Prints lines or JSON on standard output, and checks that everything was written. */
static int print(const struct migrate_options *o, const struct migrate_report *report)
{
    if (report->moved && !o->json) {
        tell(report);
    }
    errno = 0;
    const bool printed = !o->json || !report->why || migrate_report_json(report, stdout);
    if (!fflush(stdout) && !ferror(stdout) && printed) {
        return DONE;
    }
    clearerr(stdout); /* the error is reported here */
    return migrate_say("standard output", errno ? strerror(errno) : "not all could be written");
}

static int move(const struct migrate_options *o)
{
    struct page page = {.f = NULL};
    struct proxy_source *source = NULL;
    struct migrate_report report = {.from = o->from, .to = o->to, .partition = o->partition,
                                    .downtime_ns = o->how.downtime_ns ? o->how.downtime_ns : DOWNTIME_DEFAULT_NS};
    signal(SIGPIPE, SIG_IGN); /* a closed standard output does not cancel the migration */
    int status = o->report ? open_page(&page, o->report) : DONE;
    if (status) {
        return status;
    }
    status = migrate_is_remote(o->to) ? migrate_remote(o, &report, &source) : migrate_local(o, &report);
    const int printed = print(o, &report);
    /* without a reason there is no report */
    const int kept = close_page(&page, o->report, report.why ? &report : NULL);
    migrate_report_free(&report);
    /* the programs are served even if the report failed */
    const int stayed = source ? migrate_remote_stay(o, source) : DONE;
    return status ? status : stayed ? stayed : printed || kept ? UNTOLD : DONE;
}

static bool compression(const char *text, uint32_t *out)
{
    uint64_t n = 0;
    const bool none = !strcmp(text, "none"), zstd = !strcmp(text, "zstd");
    const bool good = none || zstd || !tern_key_number("", text, false, 1, ZSTD_LEVEL_MAX, &n);
    *out = none ? 0 : zstd ? ZSTD_LEVEL_DEFAULT : (uint32_t)n;
    return good;
}

/** Refuses an option that is given twice. */
static int check_option(const char *name, uint32_t *given)
{
    static const char *const known[] = {"--json", "--foreground", "--from", "--to", "--partition", "--report",
                                        "--downtime", "--rounds", "--links", "--compress", "--policy",
                                        "--cert", "--key", "--ca", "--name"};
    size_t i = 0;
    while (i < sizeof known / sizeof known[0] && strcmp(known[i], name)) {
        i++;
    }
    if (i == sizeof known / sizeof known[0]) {
        return usage_error("unknown option '%s'", name);
    }
    const bool twice = *given >> i & 1;
    *given |= 1u << i;
    return twice ? usage_error("%s is given twice", name) : DONE;
}

/** Parses a number from 1 to `most`. */
static int ranged(const char *name, const char *value, uint64_t most, uint64_t *out)
{
    return !tern_key_number(name, value, false, 1, most, out) ? DONE
        : usage_error("%s '%s': it must be a number from 1 to %" PRIu64, name, value, most);
}

/** True: both paths name the same socket. */
static bool same(const char *one, const char *other)
{
    struct stat a, b;
    return !stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int migrate_command(int argc, char **argv)
{
    static const char *const policies[] = {"give-up", "force", "throttle"};
    struct migrate_options o = {.partition = TERN_PARTITION_DEFAULT,
                                .how = {.compress = ZSTD_LEVEL_DEFAULT, .links = 1, .again = 1}};
    uint64_t n = 0;
    uint32_t given = 0;
    for (int i = 0; i < argc; i++) {
        const char *name = argv[i];
        int status = check_option(name, &given);
        if (status) {
            return status;
        }
        if (!strcmp(name, "--json") || !strcmp(name, "--foreground")) {
            *(name[2] == 'j' ? &o.json : &o.foreground) = true;
            continue;
        }
        const char *value = argv[++i]; /* NULL after the last argument */
        if (!value) {
            return usage_error("a value is missing behind '%s'", name);
        }
        const char **tls = migrate_tls_option(&o.tls, name);
        if (tls) {
            *tls = value;
        } else if (!strcmp(name, "--from")) {
            o.from = value;
        } else if (!strcmp(name, "--to")) {
            o.to = value;
        } else if (!strcmp(name, "--partition")) {
            o.partition = value;
        } else if (!strcmp(name, "--report")) {
            o.report = value;
        } else if (!strcmp(name, "--downtime")) {
            status = ranged(name, value, 3600000, &n);
            o.how.downtime_ns = n * 1000000;
        } else if (!strcmp(name, "--rounds")) {
            status = ranged(name, value, 1000, &n);
            o.how.rounds = (uint32_t)n;
        } else if (!strcmp(name, "--links")) {
            status = ranged(name, value, TERN_STREAM_LINKS, &n);
            o.how.links = (uint32_t)n;
        } else if (!strcmp(name, "--compress")) {
            if (!compression(value, &o.how.compress)) {
                return usage_error("'%s' is no compression: none, zstd, or zstd's level, 1 to 19", value);
            }
        } else { /* the remaining option is --policy */
            for (o.how.policy = 0; o.how.policy < 3 && strcmp(policies[o.how.policy], value); o.how.policy++) {
            }
            if (o.how.policy == 3) {
                return usage_error("'%s' is no policy: give-up, force, throttle", value);
            }
        }
        if (status) {
            return status;
        }
    }
    if (!o.from || !o.to || !*o.partition || strlen(o.partition) >= TERN_PARTITION_NAME) {
        return usage_error(o.from && o.to ? "'%s' is no name of a partition" : "both --from and --to are needed",
                           o.partition);
    }
    const int status = tern_patience(1) < 0 ? usage_error("%s", tern_last_error()) : migrate_remote_check(&o);
    if (!status && !migrate_is_remote(o.to) && same(o.from, o.to)) {
        return usage_error("--from and --to are the same ternd");
    }
    return status ? status : move(&o);
}
