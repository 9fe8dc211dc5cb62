/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Connections to a listening socket, and their concurrent handshakes, in one thread.
 *
 * Any host that reaches the port can begin a handshake without a certificate. Therefore handshakes are limited in time,
 * in number, and in number from one address. A connection beyond a limit is not refused, because it may be the one with
 * a certificate. Instead, an older handshake is given up, of the address that has the most: the oldest that has sent
 * nothing, or the oldest if all have sent something. Hence one address cannot keep the others out, and silent
 * connections cannot keep out another connection of their address.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "migration/tool/tool.h"

#define HANDSHAKES_MAX 128u            /* largest number of handshakes */
#define HANDSHAKES_PER_ADDRESS_MAX 32u /* largest number of handshakes from one address */
#define PAUSE_MS 100                   /* time until accept() is tried again when descriptors have run out */

struct handshake {
    SSL *ssl;
    short events;          /* events for which it waits, as in poll() */
    int64_t end;           /* time at which it is given up (tls_now) */
    struct in6_addr from;  /* address by which it is counted (counts_as) */
    char peer[64];         /* name of the other side, for messages */
};

struct tls_listener {
    SSL_CTX *context;
    const struct tls_options *o;
    int s;
    bool paused;
    unsigned n;
    struct handshake handshake[HANDSHAKES_MAX]; /* `n` handshakes, oldest first */
};

static void say_where(int s)
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getsockname(s, (struct sockaddr *)&a, &n) == 0 &&
        getnameinfo((struct sockaddr *)&a, n, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        fprintf(stderr, strchr(host, ':') ? "listening on [%s]:%s\n" : "listening on %s:%s\n", host, port);
    }
}

struct tls_listener *tls_listen(SSL_CTX *context, const struct tls_options *o)
{
    char host[256];
    struct tls_listener *l = calloc(1, sizeof *l);
    const int s = l ? tls_reach(o, host) : -1;
    if (!l) {
        tls_tell(o->address, "%s", strerror(ENOMEM));
    } else if (s < 0 || fcntl(s, F_SETFL, O_NONBLOCK)) {
        free(l);
        return NULL;
    } else {
        *l = (struct tls_listener){.context = context, .o = o, .s = s};
        say_where(s);
    }
    return l;
}

static void forget(struct tls_listener *l, unsigned i)
{
    l->n--;
    memmove(&l->handshake[i], &l->handshake[i + 1], (l->n - i) * sizeof l->handshake[i]);
}

/** The address by which handshakes are counted. For IPv6 that is the network of 64 bits, because a host can use all of
 *  its addresses. */
static struct in6_addr counts_as(const struct sockaddr_storage *a)
{
    struct in6_addr from = {0};
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (a->ss_family == AF_INET) {
        memcpy(&v4, a, sizeof v4);
        from.s6_addr[10] = from.s6_addr[11] = 0xff; /* the IPv4-mapped form, which an IPv6 socket returns */
        memcpy(&from.s6_addr[12], &v4.sin_addr, sizeof v4.sin_addr);
    } else if (a->ss_family == AF_INET6) {
        memcpy(&v6, a, sizeof v6);
        from = v6.sin6_addr;
        if (!IN6_IS_ADDR_V4MAPPED(&from)) {
            memset(&from.s6_addr[8], 0, 8);
        }
    }
    return from;
}

static unsigned count(const struct tls_listener *l, const struct in6_addr *from)
{
    unsigned n = 0;
    for (unsigned i = 0; i < l->n; i++) {
        n += IN6_ARE_ADDR_EQUAL(&l->handshake[i].from, from) != 0;
    }
    return n;
}

static bool silent(const struct handshake *h)
{
    return BIO_number_read(SSL_get_rbio(h->ssl)) == 0;
}

/** Gives up a handshake of this address, or, if from is NULL, of the address that has the most. One must exist. */
static void make_room(struct tls_listener *l, const struct in6_addr *from)
{
    unsigned most = 0, victim = l->n;
    for (unsigned i = 0; !from && i < l->n; i++) {
        const unsigned n = count(l, &l->handshake[i].from);
        victim = n > most ? i : victim;
        most = n > most ? n : most;
    }
    const struct in6_addr of = from ? *from : l->handshake[victim].from;
    victim = l->n;
    for (unsigned i = l->n; i-- > 0;) {
        const struct handshake *h = &l->handshake[i];
        if (IN6_ARE_ADDR_EQUAL(&h->from, &of) && (victim == l->n || silent(h) || !silent(&l->handshake[victim]))) {
            victim = i;
        }
    }
    tls_tell(l->handshake[victim].peer, "its handshake is given up for another connection: %u of its address and %u "
             "in all wait", count(l, &of), l->n);
    tls_free(l->handshake[victim].ssl);
    forget(l, victim);
}

static void take(struct tls_listener *l)
{
    struct sockaddr_storage a = {0};
    socklen_t size = sizeof a;
    struct handshake h = {.events = POLLIN, .end = tls_deadline(), .peer = "the other side"};
    const int c = accept4(l->s, (struct sockaddr *)&a, &size, SOCK_CLOEXEC);
    if (c < 0) {
        const bool scarce = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        l->paused = scarce && !l->n;
        if (scarce && l->n) {
            make_room(l, NULL);
        }
        return;
    }
    getnameinfo((struct sockaddr *)&a, size, h.peer, sizeof h.peer, NULL, 0, NI_NUMERICHOST);
    h.from = counts_as(&a);
    h.ssl = tls_begin(l->context, c, l->o->name, h.peer);
    if (!h.ssl) {
        return;
    }
    if (count(l, &h.from) == HANDSHAKES_PER_ADDRESS_MAX) {
        make_room(l, &h.from);
    } else if (l->n == HANDSHAKES_MAX) {
        make_room(l, NULL);
    }
    l->handshake[l->n++] = h;
}

/** Continues handshake i if it is ready. True: it is not over. False: it was removed, and *out is the connection if it
 *  has succeeded. */
static bool go_on(struct tls_listener *l, unsigned i, bool ready, SSL **out)
{
    struct handshake *h = &l->handshake[i];
    const int r = ready ? tls_go_on(h->ssl, true, h->peer, &h->events) : 0;
    const bool late = r == 0 && tls_now() >= h->end;
    if (late) {
        tls_say_late(h->peer);
    }
    if (r == 0 && !late) {
        return true;
    }
    if (r == 1) {
        *out = h->ssl;
    } else {
        tls_free(h->ssl);
    }
    forget(l, i);
    return false;
}

/** The timeout for poll(), in milliseconds: until the first handshake is late or the pause is over; -1: none. */
static int patience(const struct tls_listener *l)
{
    const int64_t now = tls_now();
    int64_t first = l->paused ? now + PAUSE_MS : INT64_MAX;
    for (unsigned i = 0; i < l->n; i++) {
        first = l->handshake[i].end < first ? l->handshake[i].end : first;
    }
    return first == INT64_MAX ? -1 : first <= now ? 0 : (int)(first - now);
}

SSL *tls_accept(struct tls_listener *l)
{
    struct pollfd p[HANDSHAKES_MAX + 1];
    SSL *out = NULL;
    while (!out) {
        const unsigned n = l->n;
        for (unsigned i = 0; i < n; i++) {
            p[i] = (struct pollfd){.fd = SSL_get_fd(l->handshake[i].ssl), .events = l->handshake[i].events};
        }
        p[n] = (struct pollfd){.fd = l->paused ? -1 : l->s, .events = POLLIN};
        if (poll(p, n + 1, patience(l)) < 0) {
            if (errno != EINTR) {
                tls_tell(l->o->address, "%s", strerror(errno));
                return NULL;
            }
            continue;
        }
        l->paused = false;
        for (unsigned i = 0, at = 0; i < n && !out; i++) { /* handshake `at` is the one that was the i-th */
            at += go_on(l, at, p[i].revents != 0, &out);
        }
        if (!out && p[n].revents) {
            take(l);
        }
    }
    return out;
}

void tls_listener_free(struct tls_listener *l)
{
    if (l) {
        for (unsigned i = 0; i < l->n; i++) {
            tls_free(l->handshake[i].ssl);
        }
        close(l->s);
        free(l);
    }
}
