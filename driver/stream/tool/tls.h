/* SPDX-License-Identifier: Apache-2.0 */
/** TLS 1.3 connections whose both sides have shown a certificate. All calls say on standard error what failed. */
#ifndef TERN_STREAM_TLS_H
#define TERN_STREAM_TLS_H

#include <stdbool.h>

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
/** Its two halves: listens, and says where; negative: it cannot. Waits until one side is accepted; NULL: it failed. */
int tls_listen(const struct tls_options *o);
SSL *tls_accept(SSL_CTX *context, const struct tls_options *o, int listener);
/** Says what the last call on the connection failed with. */
void tls_say(SSL *ssl, const char *peer, int result);
void tls_free(SSL *ssl);

#endif
