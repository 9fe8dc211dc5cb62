/* SPDX-License-Identifier: Apache-2.0 */
/**
 * `tern migrate` to another machine, and `tern migrate serve` there: the links between the proxies
 * (migration/proxy/proxy.h). A link is a socket to a child process, which is a TLS relay (relay.c) or a command, or an
 * inherited socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/ssl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/keys.h"
#include "base/patience.h"
#include "migration/proxy/proxy.h"
#include "migration/tool/tool.h"

#define TLS_PREFIX "tls://"
#define EXEC_PREFIX "exec:"
#define FD_PREFIX "fd:"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool migrate_is_remote(const char *to)
{
    return begins(to, TLS_PREFIX) || begins(to, EXEC_PREFIX) || begins(to, FD_PREFIX);
}

const char **migrate_tls_option(struct tls_options *o, const char *name)
{
    return !strcmp(name, "--cert") ? &o->cert : !strcmp(name, "--key") ? &o->key : !strcmp(name, "--ca") ? &o->ca
        : !strcmp(name, "--name") ? &o->name : NULL;
}

int migrate_remote_check(const struct migrate_options *o)
{
    const struct tls_options *t = &o->tls;
    const bool any = t->cert || t->key || t->ca || t->name;
    if (o->to && migrate_is_remote(o->to) && o->how.links > 1) {
        return usage_error("--links is for one machine: to another there is one link");
    }
    if (o->to && begins(o->to, TLS_PREFIX)) {
        return t->cert && t->key && t->ca ? DONE : usage_error(TLS_PREFIX " needs --cert, --key and --ca");
    }
    const char *const command = o->to && begins(o->to, EXEC_PREFIX) ? o->to + strlen(EXEC_PREFIX) : NULL;
    if (command && !command[strspn(command, " \t\n")]) {
        return usage_error(EXEC_PREFIX " needs a command");
    }
    if (any) {
        return usage_error("--cert, --key, --ca and --name are for --to " TLS_PREFIX "HOST:PORT");
    }
    if (o->foreground && o->to && !migrate_is_remote(o->to)) {
        return usage_error("--foreground is for another machine");
    }
    return DONE;
}

/* ------------------------------------------------------------------ links */

/** In the child: makes one end of the pair standard input and output. */
static void become(int end)
{
    dup2(end, STDIN_FILENO);
    dup2(end, STDOUT_FILENO);
    if (end > STDOUT_FILENO) {
        close(end);
    }
}

static void silence(int fd)
{
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, fd);
        close(null);
    }
}

static void silence_errors(int signal)
{
    (void)signal;
    const int error = errno;
    silence(STDERR_FILENO);
    errno = error;
}

/** Starts a child that relays the TLS connection, which it takes, to the returned socket. -1: the error was printed.
 *  After SIGUSR1 the child prints nothing. */
static int relay(SSL *ssl, const char *peer, pid_t *id)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        migrate_say(peer, strerror(errno));
        tls_free(ssl);
        return -1;
    }
    const struct sigaction quiet = {.sa_handler = silence_errors, .sa_flags = SA_RESTART};
    const pid_t child = fork();
    if (child == 0) {
        close(pair[0]);
        become(pair[1]);
        setsid(); /* signals of the terminal go to the proxy only */
        sigaction(SIGUSR1, &quiet, NULL);
        _exit(relay_run(ssl, peer));
    }
    close(pair[1]);
    tls_free(ssl);
    *id = child;
    if (child < 0) {
        migrate_say(peer, strerror(errno));
        close(pair[0]);
        return -1;
    }
    return pair[0];
}

static pid_t relaying; /* process of link_tls; 0: there is none */

static int link_tls(const struct migrate_options *o)
{
    struct tls_options t = o->tls;
    t.address = o->to + strlen(TLS_PREFIX);
    SSL_CTX *context = tls_context(&t);
    SSL *ssl = context ? tls_open(context, &t) : NULL;
    SSL_CTX_free(context);
    return ssl ? relay(ssl, t.address, &relaying) : -1;
}

static int link_exec(const char *command)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
        migrate_say(command, strerror(errno));
        return -1;
    }
    const pid_t child = fork();
    if (child == 0) {
        become(pair[1]);
        signal(SIGINT, SIG_IGN); /* the proxy tells the command when to end */
        signal(SIGHUP, SIG_IGN);
        signal(SIGXFSZ, SIG_DFL);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(pair[1]);
    if (child < 0) {
        migrate_say(command, strerror(errno));
        close(pair[0]);
        return -1;
    }
    return pair[0];
}

/** Takes a socket that the parent process has connected. */
static int link_fd(const char *number)
{
    uint64_t fd;
    int kind = 0;
    socklen_t size = sizeof kind;
    if (tern_key_number(FD_PREFIX, number, false, 0, INT_MAX, &fd) ||
        getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &kind, &size) || kind != SOCK_STREAM) {
        migrate_say(number, "that is no number of a connected stream socket");
        return -1;
    }
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    return (int)fd;
}

static int link_to(const struct migrate_options *o)
{
    return begins(o->to, TLS_PREFIX) ? link_tls(o) : begins(o->to, FD_PREFIX) ? link_fd(o->to + strlen(FD_PREFIX))
                                                                : link_exec(o->to + strlen(EXEC_PREFIX));
}

/* ------------------------------------------------------------------ the source */

struct show {
    struct migrate_report *report;
    bool lines;
};

static void show_round(void *user, const struct tern_wire_progress *p)
{
    const struct show *s = user;
    migrate_round(s->report, p, s->lines);
}

int migrate_remote(const struct migrate_options *o, struct migrate_report *report, struct proxy_source **out)
{
    static char why[512];
    struct show show = {.report = report, .lines = !o->json};
    const int link = link_to(o);
    if (link < 0) {
        return FAILED;
    }
    signal(SIGPIPE, SIG_IGN);
    struct tern_wire_migrate how = o->how;
    how.again = 0; /* links between proxies are not replaced */
    const struct proxy_source_options so = {.from = o->from, .to = o->to, .partition = o->partition, .how = how,
                                            .in = link, .out = link, .round = show_round, .user = &show};
    const int r = proxy_source_move(&so, out, &report->end);
    snprintf(why, sizeof why, "%s", r ? tern_last_error() : "");
    report->moved = !r;
    report->why = why;
    return r ? migrate_say(o->from, why) : DONE;
}

int migrate_remote_stay(const struct migrate_options *o, struct proxy_source *s)
{
    fflush(stdout);
    if (!o->foreground) {
        const pid_t child = fork();
        if (child > 0) {
            proxy_source_leave(s);
            if (relaying > 0) { /* from here on nobody reads messages of the relay */
                kill(relaying, SIGUSR1);
            }
            return DONE;
        }
        if (child == 0) {
            setsid();
            silence(STDIN_FILENO);
            silence(STDOUT_FILENO);
            silence(STDERR_FILENO);
        } /* the process stays in the foreground */
    }
    return proxy_source_run(s) ? migrate_say(o->to, tern_last_error()) : DONE;
}

/* ------------------------------------------------------------------ the target */

struct serve {
    const char *to, *user; /* user NULL: the user of this process */
    uid_t uid;
    struct tls_options tls;
};

static int run(const struct serve *o, int in, int out)
{
    return proxy_target_run(o->to, o->uid, in, out) ? migrate_say(o->to, tern_last_error()) : DONE;
}

/** Finds the user by name or number. */
static int find_user(struct serve *o)
{
    uint64_t n = 0;
    o->uid = geteuid();
    if (!o->user) {
        return DONE;
    }
    const struct passwd *p = getpwnam(o->user);
    if (!p && tern_key_number("--user", o->user, false, 0, UINT32_MAX - 1, &n)) {
        return usage_error("there is no user '%s'", o->user);
    }
    o->uid = p ? p->pw_uid : (uid_t)n;
    return !geteuid() || o->uid == geteuid() ? DONE
                                             : migrate_say("--user", "only root may give programs to another user");
}

/** Serves each connection that has shown its certificate in a process of its own, which outlives this one. */
static int listen_for(const struct serve *serve)
{
    const struct tls_options *o = &serve->tls;
    SSL_CTX *context = tls_context(o);
    struct tls_listener *listener = context ? tls_listen(context, o) : NULL;
    signal(SIGCHLD, SIG_IGN);
    for (SSL *ssl; listener && (ssl = tls_accept(listener));) {
        const pid_t child = fork();
        if (child == 0) {
            tls_listener_free(listener);
            signal(SIGCHLD, SIG_DFL);
            pid_t id;
            const int link = relay(ssl, o->address, &id);
            _exit(link < 0 ? FAILED : run(serve, link, link));
        }
        if (child < 0) {
            migrate_say(o->address, strerror(errno));
        }
        tls_free(ssl);
    }
    tls_listener_free(listener);
    SSL_CTX_free(context);
    return FAILED;
}

int serve_command(int argc, char **argv)
{
    struct serve o = {.to = NULL};
    struct tls_options *t = &o.tls;
    for (int i = 1; i < argc; i += 2) {
        const char **at = !strcmp(argv[i], "--to") ? &o.to : !strcmp(argv[i], "--listen") ? &t->address
            : !strcmp(argv[i], "--user") ? &o.user : migrate_tls_option(t, argv[i]);
        if (!at) {
            return usage_error("unknown option '%s'", argv[i]);
        }
        if (i + 1 == argc || *at) {
            return usage_error(*at ? "%s is given twice" : "%s needs a value", argv[i]);
        }
        *at = argv[i + 1];
    }
    if (!o.to) {
        return usage_error("serve needs --to, where its ternd listens");
    }
    const int status = tern_patience(1) < 0 ? usage_error("%s", tern_last_error()) : find_user(&o);
    if (status) {
        return status;
    }
    signal(SIGPIPE, SIG_IGN);
    if (!t->address) {
        return t->cert || t->key || t->ca || t->name ? usage_error("--cert, --key, --ca and --name are for --listen")
                                                     : run(&o, STDIN_FILENO, STDOUT_FILENO);
    }
    if (!t->cert || !t->key || !t->ca) {
        return usage_error("--listen needs --cert, --key and --ca");
    }
    t->listens = true;
    return listen_for(&o);
}
