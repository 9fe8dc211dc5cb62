/* SPDX-License-Identifier: Apache-2.0 */
/** TLS 1.3 connections in which both sides have a certificate. A call that fails says why on standard error. */
#ifndef TERN_STREAM_TLS_H
#define TERN_STREAM_TLS_H

#include <stdbool.h>
#include <stdint.h>

#include <openssl/ssl.h>

struct tls_options {
    const char *cert, *key, *ca; /* PEM files: this side's certificates and key, and the trusted authorities */
    const char *name;            /* required name of the other side's certificate; NULL, if it listens: any name */
    const char *address;         /* HOST:PORT */
    bool listens;                /* this side accepts connections, and does not connect */
};

/** Loads the files. NULL: a file is missing or invalid. */
SSL_CTX *tls_context(const struct tls_options *o);
/** Connects, or listens until it has accepted one connection. The socket does not block. NULL: it failed. */
SSL *tls_open(SSL_CTX *context, const struct tls_options *o);

/** Returns a socket that is connected to HOST:PORT or listens there, and the host of it. Negative: it failed. */
int tls_reach(const struct tls_options *o, char host[256]);
/** Prepares a handshake over a connected socket, which it takes over and makes non-blocking. NULL: out of memory. */
SSL *tls_begin(SSL_CTX *context, int s, const char *name, const char *peer);
/** Continues a handshake without waiting. 1: it has succeeded; 0: it waits for *events (as in poll()); negative: it has
 *  failed. */
int tls_go_on(SSL *ssl, bool listens, const char *peer, short *events);
/** Milliseconds of the monotonic clock: the present time, and the time at which a handshake that begins now is given
 *  up, after 10 s or TERND_PATIENCE, which must be valid. */
int64_t tls_now(void);
int64_t tls_deadline(void);
/** Prints that a handshake was given up for its time. */
void tls_say_late(const char *peer);
__attribute__((format(printf, 2, 3))) void tls_tell(const char *peer, const char *format, ...);

/* tls_listen.c */
struct tls_listener;
/** Begins to listen, and prints the address. NULL: it failed. */
struct tls_listener *tls_listen(SSL_CTX *context, const struct tls_options *o);
/** Waits until a handshake has succeeded. Handshakes of other connections continue meanwhile, and during the next call.
 *  One that fails is reported, and does not keep others out. NULL: no connection can be accepted any more. */
SSL *tls_accept(struct tls_listener *l);
/** Frees the listener and its handshakes. In a child of a fork the parent's handshakes are not affected. */
void tls_listener_free(struct tls_listener *l);

/** Prints the error of the last call on the connection. */
void tls_say(SSL *ssl, const char *peer, int result);
void tls_free(SSL *ssl);

#endif
