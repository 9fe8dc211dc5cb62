/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern migrate relay: connects standard input and output with one TLS connection. A migration goes over a network as it
 * goes through a pipe, and the driver knows neither TLS nor TCP.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/patience.h"
#include "migration/tool/tool.h"

#define BUFFER 65536u

/** The buffer of one direction. */
struct way {
    char data[BUFFER];
    size_t start, end; /* data[start] to data[end - 1] are to be written */
    bool ended;        /* the input has ended */
    bool told;         /* the output was told so */
};

struct relay {
    SSL *ssl;
    const char *peer;
    struct way up, down; /* up: standard input to TLS; down: TLS to standard output */
    bool out_is_socket;  /* standard output is a socket */
    bool wants_write;    /* TLS waits until its socket can be written */
};

static bool empty(const struct way *w)
{
    return w->start == w->end;
}

static void filled(struct way *w, size_t n)
{
    w->start = 0;
    w->end = n;
}

/** The result of a call on the connection. > 0: bytes; 0: it must wait; < 0: it failed, and stderr says why. */
static int outcome(struct relay *y, int r)
{
    const int kind = r > 0 ? SSL_ERROR_NONE : SSL_get_error(y->ssl, r);
    if (r > 0 || kind == SSL_ERROR_WANT_READ) {
        return r > 0 ? r : 0;
    }
    if (kind == SSL_ERROR_WANT_WRITE) {
        y->wants_write = true;
        return 0;
    }
    tls_say(y->ssl, y->peer, r);
    return -1;
}

/** The result of a write that has failed. If the other side sent an alert before, that is the reason. */
static int why_not_written(struct relay *y, int r)
{
    char rest[4096];
    if (SSL_get_error(y->ssl, r) == SSL_ERROR_SYSCALL) {
        const int error = errno;
        ERR_clear_error();
        int n;
        while ((n = SSL_read(y->ssl, rest, sizeof rest)) > 0) {
        }
        if (SSL_get_error(y->ssl, n) == SSL_ERROR_SSL) {
            return outcome(y, n);
        }
        ERR_clear_error();
        errno = error;
        fprintf(stderr, "tern migrate: %s: the connection was cut off%s%s\n", y->peer, error ? ": " : "",
                error ? strerror(error) : "");
        return -1;
    }
    return outcome(y, r);
}

static int write_tls(struct relay *y)
{
    struct way *w = &y->up;
    while (!empty(w)) {
        errno = 0;
        ERR_clear_error();
        const int r = SSL_write(y->ssl, w->data + w->start, (int)(w->end - w->start));
        const int n = r > 0 ? r : why_not_written(y, r);
        if (n <= 0) {
            return n;
        }
        w->start += (size_t)n;
    }
    if (w->ended && !w->told) {
        w->told = true;
        ERR_clear_error();
        const int r = SSL_shutdown(y->ssl); /* ends this direction; 0: the other one has not ended */
        if (r < 0 && outcome(y, r) == 0) {
            w->told = false;
        }
    }
    return 0;
}

static int read_tls(struct relay *y)
{
    struct way *w = &y->down;
    if (!empty(w) || w->ended) {
        return 0;
    }
    errno = 0;
    ERR_clear_error();
    const int r = SSL_read(y->ssl, w->data, BUFFER);
    if (r <= 0 && SSL_get_error(y->ssl, r) == SSL_ERROR_ZERO_RETURN) {
        w->ended = true;
        return 0;
    }
    const int n = outcome(y, r);
    if (n > 0) {
        filled(w, (size_t)n);
    }
    return n < 0 ? -1 : 0;
}

static int read_in(struct relay *y)
{
    const ssize_t n = read(STDIN_FILENO, y->up.data, BUFFER);
    if (n > 0) {
        filled(&y->up, (size_t)n);
    } else if (n == 0 || errno == ECONNRESET) {
        y->up.ended = true;
    } else if (errno != EINTR && errno != EAGAIN) {
        fprintf(stderr, "tern migrate: standard input: %s\n", strerror(errno));
        return -1;
    }
    return 0;
}

static int write_out(struct relay *y)
{
    struct way *w = &y->down;
    const size_t n = w->end - w->start;
    /* poll() calls a pipe writable if it takes PIPE_BUF bytes without waiting */
    const ssize_t done = y->out_is_socket
        ? send(STDOUT_FILENO, w->data + w->start, n, MSG_NOSIGNAL | MSG_DONTWAIT)
        : write(STDOUT_FILENO, w->data + w->start, n < PIPE_BUF ? n : PIPE_BUF);
    if (done >= 0) {
        w->start += (size_t)done;
    } else if (errno != EINTR && errno != EAGAIN) {
        fprintf(stderr, "tern migrate: standard output: %s\n", strerror(errno));
        return -1;
    }
    return 0;
}

/** Passes bytes on until both directions have ended. */
static int pass(struct relay *y)
{
    for (;;) {
        y->wants_write = false;
        if (write_tls(y) || read_tls(y)) {
            return FAILED;
        }
        if (y->down.ended && empty(&y->down) && !y->down.told) {
            y->down.told = true;
            y->out_is_socket ? shutdown(STDOUT_FILENO, SHUT_WR) : close(STDOUT_FILENO);
        }
        if (y->up.told && y->down.told) {
            return DONE;
        }
        struct pollfd p[3] = {
            {.fd = SSL_get_fd(y->ssl), .events = (short)((empty(&y->down) && !y->down.ended ? POLLIN : 0) |
                                                         (y->wants_write ? POLLOUT : 0))},
            {.fd = empty(&y->up) && !y->up.ended ? STDIN_FILENO : -1, .events = POLLIN},
            {.fd = empty(&y->down) ? -1 : STDOUT_FILENO, .events = POLLOUT},
        };
        p[0].fd = p[0].events ? p[0].fd : -1;
        if (poll(p, 3, -1) < 0 && errno != EINTR) {
            fprintf(stderr, "tern migrate: %s\n", strerror(errno));
            return FAILED;
        }
        if ((p[1].revents && read_in(y)) || (p[2].revents && write_out(y))) {
            return FAILED;
        }
    }
}

static int parse(int argc, char **argv, struct tls_options *o)
{
    const struct {
        const char *option;
        const char **to;
    } options[] = {{"--cert", &o->cert}, {"--key", &o->key}, {"--ca", &o->ca}, {"--name", &o->name},
                   {"--listen", &o->address}, {"--connect", &o->address}};
    for (int i = 1; i < argc; i += 2) {
        const char **to = NULL;
        for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
            to = strcmp(argv[i], options[k].option) == 0 ? options[k].to : to;
        }
        if (!to) {
            return usage_error("unknown option '%s'", argv[i]);
        }
        if (i + 1 == argc || *to) {
            return usage_error(*to ? "%s is given twice, or both --listen and --connect" : "%s needs a value", argv[i]);
        }
        *to = argv[i + 1];
        o->listens |= strcmp(argv[i], "--listen") == 0;
    }
    if (!o->address) {
        return usage_error("relay needs --listen or --connect");
    }
    return o->cert && o->key && o->ca ? DONE : usage_error("relay needs --cert, --key and --ca");
}

int relay_run(struct ssl_st *ssl, const char *peer)
{
    static struct relay y;
    struct stat st;
    signal(SIGPIPE, SIG_IGN);
    y.ssl = ssl;
    y.peer = peer;
    y.out_is_socket = fstat(STDOUT_FILENO, &st) == 0 && S_ISSOCK(st.st_mode);
    const int status = pass(&y);
    tls_free(ssl);
    return status;
}

int relay_command(int argc, char **argv)
{
    struct tls_options o = {0};
    int status = parse(argc, argv, &o);
    if (status == 0 && tern_patience(1) <= 0) {
        status = usage_error("TERND_PATIENCE: seconds, 1 to 3600, are needed");
    }
    if (status) {
        return status;
    }
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX *context = tls_context(&o);
    SSL *ssl = context ? tls_open(context, &o) : NULL;
    status = ssl ? relay_run(ssl, o.address) : FAILED;
    SSL_CTX_free(context);
    return status;
}
