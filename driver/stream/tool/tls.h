/* SPDX-License-Identifier: Apache-2.0 */
/** TLS 1.3 connections whose both sides have shown a certificate. All calls say on standard error what failed. */
#ifndef TERN_STREAM_TLS_H
#define TERN_STREAM_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include <openssl/ssl.h>

struct tls_options {
    const char *cert, *key, *ca; /* files, PEM: this side's certificates and key, and whom it believes */
    const char *name;            /* that the other side's certificate must have; NULL: any, of one that listens */
    const char *address;         /* HOST:PORT */
    bool listens;
};

/** NULL: a file is missing or of no use. */
SSL_CTX *tls_context(const struct tls_options *o);
/** Connects, or listens until one side was accepted; the socket does not block. NULL: it failed. */
SSL *tls_open(SSL_CTX *context, const struct tls_options *o);

/** The host of HOST:PORT, and a socket that is connected to it or listens there; negative: said why. */
int tls_reach(const struct tls_options *o, char host[256]);
/** The handshake over a connected socket, which it takes and which does not block from then on, can begin. NULL: no
 *  memory. */
SSL *tls_begin(SSL_CTX *context, int s, const char *name, const char *peer);
/** Goes on with it: 1, it has succeeded; 0, it waits for *events (as in poll()); negative, it failed: said why. */
int tls_go_on(SSL *ssl, bool listens, const char *peer, short *events);
/** Milliseconds of the monotonic clock, and at which a handshake that begins now is given up: 10 s later, or
 *  TERND_PATIENCE, which is valid. */
int64_t tls_now(void);
int64_t tls_deadline(void);
/** Says that this moment has come. */
void tls_say_late(const char *peer);
__attribute__((format(printf, 2, 3))) void tls_tell(const char *peer, const char *format, ...);

/* tls_listen.c */
struct tls_listener;
/** Listens, and says where. NULL: it cannot, and said why. */
struct tls_listener *tls_listen(SSL_CTX *context, const struct tls_options *o);
/** Waits until a handshake has succeeded; those of other connections go on meanwhile, and with the next call. One that
 *  fails is told, and keeps no other out. NULL: there can be no more. */
SSL *tls_accept(struct tls_listener *l);
/** Ends its handshakes: also in a child, whose parent goes on with them. */
void tls_listener_free(struct tls_listener *l);

/** Says what the last call on the connection failed with. */
void tls_say(SSL *ssl, const char *peer, int result);
void tls_free(SSL *ssl);

#endif
