/* SPDX-License-Identifier: Apache-2.0 */
/** TLS connections (tool.h): files, addresses, handshakes, and sentences for their errors. */
#include "migration/tool/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/error.h"
#include "base/file.h"
#include "base/patience.h"

#define PEM_BYTES_MAX (1u << 20) /* bytes of a file of certificates, or with a key */
#define PORT_MAX 65535u

static void say(const char *what, const char *why)
{
    fprintf(stderr, "tern migrate: %s: %s\n", what, why);
}

void tls_tell(const char *peer, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say(peer, text);
}

/** The first reason in OpenSSL's queue of errors, which is then cleared. */
static const char *reason(void)
{
    const unsigned long e = ERR_get_error();
    ERR_clear_error();
    const char *text = ERR_SYSTEM_ERROR(e) ? strerror(ERR_GET_REASON(e)) : ERR_reason_error_string(e);
    return text ? text : "unknown reason";
}

static int no_passphrase(char *to, int size, int writes, void *user)
{
    (void)to;
    (void)size;
    (void)writes;
    (void)user;
    return -1; /* a key with a passphrase is refused, since tern migrate asks no questions */
}

/** Reads a file into memory, which the caller frees with BIO_free(). NULL: it failed, and stderr says why. */
static BIO *open_file(const char *path)
{
    char *data = NULL;
    size_t size = 0;
    BIO *b = tern_file_read(path, PEM_BYTES_MAX, &data, &size) ? NULL : BIO_new(BIO_s_mem());
    if (!data) {
        fprintf(stderr, "tern migrate: %s\n", tern_error_sentence());
    } else if (!b || BIO_write(b, data, (int)size) != (int)size) {
        say(path, reason());
        BIO_free(b);
        b = NULL;
    }
    if (data) {
        OPENSSL_cleanse(data, size); /* the data may be a key */
    }
    free(data);
    return b;
}

/** Uses the first certificate of a file as this side's, and the others as its chain to an authority. */
static bool use_certificates(SSL_CTX *c, BIO *in)
{
    X509 *own = PEM_read_bio_X509_AUX(in, NULL, no_passphrase, NULL), *next;
    bool good = own && SSL_CTX_use_certificate(c, own) == 1;
    X509_free(own);
    while (good && (next = PEM_read_bio_X509(in, NULL, no_passphrase, NULL))) {
        good = SSL_CTX_add0_chain_cert(c, next) == 1;
        if (!good) {
            X509_free(next);
        }
    }
    if (good && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) { /* no other certificate follows */
        ERR_clear_error();
    }
    return good && !ERR_peek_error();
}

static bool use_key(SSL_CTX *c, BIO *in)
{
    EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, no_passphrase, NULL);
    const bool good = key && SSL_CTX_use_PrivateKey(c, key) == 1;
    EVP_PKEY_free(key);
    return good;
}

/** Uses the certificates of authorities, and their lists of revoked certificates. */
static bool use_authorities(SSL_CTX *c, BIO *in)
{
    X509_STORE *store = SSL_CTX_get_cert_store(c);
    STACK_OF(X509_INFO) *all = PEM_X509_INFO_read_bio(in, NULL, no_passphrase, NULL);
    int n = 0;
    bool good = all != NULL;
    for (int i = 0; good && i < sk_X509_INFO_num(all); i++) {
        const X509_INFO *it = sk_X509_INFO_value(all, i);
        good = (!it->x509 || X509_STORE_add_cert(store, it->x509) == 1) &&
            (!it->crl || X509_STORE_add_crl(store, it->crl) == 1);
        n += it->x509 != NULL;
    }
    sk_X509_INFO_pop_free(all, X509_INFO_free);
    if (good && !n) {
        ERR_raise(ERR_LIB_X509, X509_R_NO_CERTIFICATE_FOUND);
    }
    return good && n;
}

/** Passes the contents of a file to `apply`. False: it failed, and stderr says why. */
static bool use_file(SSL_CTX *c, const char *path, bool (*apply)(SSL_CTX *c, BIO *in))
{
    ERR_clear_error();
    BIO *in = open_file(path);
    const bool good = in && apply(c, in);
    if (in && !good) {
        say(path, reason());
    }
    BIO_free(in);
    return good;
}

SSL_CTX *tls_context(const struct tls_options *o)
{
    SSL_CTX *c = SSL_CTX_new(o->listens ? TLS_server_method() : TLS_client_method());
    bool good = c && SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) == 1;
    if (!good) {
        say("TLS", reason());
    } else {
        SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_num_tickets(c, 0); /* certificates are exchanged on each connection */
    }
    good = good && use_file(c, o->cert, use_certificates) && use_file(c, o->key, use_key) &&
        use_file(c, o->ca, use_authorities);
    if (!good) {
        SSL_CTX_free(c);
        return NULL;
    }
    return c;
}

void tls_say(SSL *ssl, const char *peer, int result)
{
    const int error = errno, kind = SSL_get_error(ssl, result);
    const unsigned long e = ERR_peek_error();
    const long verified = SSL_get_verify_result(ssl);
    if (kind == SSL_ERROR_SSL && verified != X509_V_OK) {
        fprintf(stderr, "tern migrate: %s: its certificate is refused: %s\n", peer,
                X509_verify_cert_error_string(verified));
        ERR_clear_error();
    } else if (kind == SSL_ERROR_SSL && ERR_GET_REASON(e) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        say(peer, "the connection was cut off");
        ERR_clear_error();
    } else if (kind == SSL_ERROR_SSL && ERR_GET_LIB(e) == ERR_LIB_SSL && ERR_GET_REASON(e) > SSL_AD_REASON_OFFSET) {
        fprintf(stderr, "tern migrate: %s: it refuses this side: %s\n", peer, reason());
    } else if (kind == SSL_ERROR_SSL) {
        say(peer, reason());
    } else {
        fprintf(stderr, "tern migrate: %s: the connection was cut off%s%s\n", peer, error ? ": " : "",
                error ? strerror(error) : "");
    }
}

void tls_free(SSL *ssl)
{
    if (ssl) {
        close(SSL_get_fd(ssl));
        SSL_free(ssl);
    }
}

/** Splits HOST:PORT or [ADDRESS]:PORT. False: the address has neither form. */
static bool split(const char *address, char host[256], const char **port)
{
    const char *colon = strrchr(address, ':');
    const bool bracket = address[0] == '[' && colon && colon > address + 1 && colon[-1] == ']';
    const char *from = bracket ? address + 1 : address;
    const size_t n = colon ? (size_t)(colon - from) - bracket : 0;
    if (!colon || !colon[1] || n >= 256 || (!bracket && memchr(address, ':', n))) {
        return false;
    }
    memcpy(host, from, n);
    host[n] = '\0';
    *port = colon + 1;
    return true;
}

/** True: a number that is too large for a port. getaddrinfo() checks names of services. */
static bool port_too_large(const char *port)
{
    return !port[strspn(port, "0123456789")] && strtoull(port, NULL, 10) > PORT_MAX;
}

static int listen_on(const struct addrinfo *a)
{
    const int one = 1, s = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (s >= 0 && (setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) || bind(s, a->ai_addr, a->ai_addrlen) ||
                   listen(s, SOMAXCONN))) {
        const int error = errno;
        close(s);
        errno = error;
        return -1;
    }
    return s;
}

static int connect_to(const struct addrinfo *a)
{
    const int s = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (s >= 0 && connect(s, a->ai_addr, a->ai_addrlen)) {
        const int error = errno;
        close(s);
        errno = error;
        return -1;
    }
    return s;
}

int tls_reach(const struct tls_options *o, char host[256])
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = o->listens ? AI_PASSIVE : 0};
    struct addrinfo *all = NULL;
    const char *port;
    int s = -1;
    if (!split(o->address, host, &port)) {
        say(o->address, "this is not HOST:PORT");
        return -1;
    }
    if (port_too_large(port)) {
        fprintf(stderr, "tern migrate: %s: a port is 0 to %u\n", o->address, PORT_MAX);
        return -1;
    }
    const int r = getaddrinfo(*host ? host : NULL, port, &hints, &all);
    if (r) {
        say(o->address, gai_strerror(r));
        return -1;
    }
    for (const struct addrinfo *a = all; a && s < 0; a = a->ai_next) {
        s = o->listens ? listen_on(a) : connect_to(a);
    }
    if (s < 0) {
        say(o->address, strerror(errno));
    }
    freeaddrinfo(all);
    return s;
}

int64_t tls_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t tls_deadline(void)
{
    return tls_now() + (int64_t)tern_patience(TERN_PATIENCE_HANDSHAKE) * 1000;
}

void tls_say_late(const char *peer)
{
    tls_tell(peer, "its handshake was not done in %d s", tern_patience(TERN_PATIENCE_HANDSHAKE));
}

/** Requires that the other side's certificate has this name of a host, or this address. NULL: any name. */
static bool require_name(SSL *ssl, const char *name)
{
    X509_VERIFY_PARAM *p = SSL_get0_param(ssl);
    if (!name) {
        return true;
    }
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_ip_asc(p, name) == 1 || SSL_set1_host(ssl, name) == 1;
}

SSL *tls_begin(SSL_CTX *context, int s, const char *name, const char *peer)
{
    SSL *ssl = SSL_new(context);
    const int one = 1; /* short messages are sent at once, since the other side may wait for them */
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (fcntl(s, F_SETFL, O_NONBLOCK) || !ssl || !SSL_set_fd(ssl, s) || !require_name(ssl, name)) {
        say(peer, "the host is out of memory for the connection");
        close(s);
        SSL_free(ssl);
        return NULL;
    }
    return ssl;
}

int tls_go_on(SSL *ssl, bool listens, const char *peer, short *events)
{
    errno = 0;
    ERR_clear_error();
    const int r = listens ? SSL_accept(ssl) : SSL_connect(ssl);
    const int kind = r == 1 ? SSL_ERROR_NONE : SSL_get_error(ssl, r);
    *events = kind == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
    if (r != 1 && kind != SSL_ERROR_WANT_READ && kind != SSL_ERROR_WANT_WRITE) {
        tls_say(ssl, peer, r);
        return -1;
    }
    return r == 1;
}

/** Makes a TLS connection over a connected socket, which it takes over. NULL: it failed, and stderr says why. */
static SSL *handshake(SSL_CTX *context, int s, const char *name, const char *peer)
{
    SSL *ssl = tls_begin(context, s, name, peer);
    const int64_t end = tls_deadline();
    struct pollfd p = {.fd = s};
    int r = -1;
    while (ssl && (r = tls_go_on(ssl, false, peer, &p.events)) == 0) {
        const int64_t left = end - tls_now();
        if (left <= 0 || poll(&p, 1, (int)left) == 0) {
            tls_say_late(peer);
            break;
        }
    }
    if (ssl && r != 1) {
        tls_free(ssl);
    }
    return r == 1 ? ssl : NULL;
}

SSL *tls_open(SSL_CTX *context, const struct tls_options *o)
{
    char host[256];
    if (o->listens) {
        struct tls_listener *l = tls_listen(context, o);
        SSL *ssl = l ? tls_accept(l) : NULL;
        tls_listener_free(l);
        return ssl;
    }
    const int s = tls_reach(o, host);
    return s < 0 ? NULL : handshake(context, s, o->name ? o->name : host, o->address);
}
