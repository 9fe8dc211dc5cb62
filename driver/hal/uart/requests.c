/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/uart/requests.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "hal/uart/frame.h"

#define REQUEST_HEAD_BYTES 8u     /* bytes of a request before its data */
#define ANSWER_HEAD_BYTES 4u      /* bytes of an answer before its data */
#define REQUEST_OVERHEAD_BYTES 6u /* what a request takes in the board's buffer besides its own, with some reserve */
/* requests in flight: a power of two, far fewer than the 127 numbers that the board remembers */
#define IN_FLIGHT_MAX 16u
#define IDENTITY_BYTES 12u
#define LINK_VERSION 1u
#define RESEND_MIN_MS 30
#define RESEND_MAX_MS 2000
#define RESEND_BACKOFF_MAX 4 /* the interval between resends grows to at most so many times the usual one */

enum { DONE, REPEATED, SEQUENCE, MALFORMED, BUS, STATUS = 7, BUS_BEFORE = 0x40, INTERRUPT = 0x80 };

struct slot {
    uint8_t bytes[REQUEST_HEAD_BYTES + TERN_UART_LIMIT]; /* the request, of `size` bytes */
    size_t size;
    void *data;   /* a read's destination, of `count` bytes; NULL and 0 for a write */
    size_t count;
    int64_t sent; /* ms: time of sending; 0 if it was resent, because the answer may belong to either */
};

struct tern_requests {
    int fd;
    int64_t timeout_ms, again_ms; /* again_ms: interval without an answer after which all requests are resent */
    int64_t usual_ms;             /* again_ms after a request that was answered without a resend */
    int64_t progress, last_sent;  /* ms: last answer, or first request; the same, or the last resend if that is later */
    uint32_t room;                /* free bytes of the board's buffer */
    uint32_t first, end;          /* slots first to end - 1 are in flight, modulo IN_FLIGHT_MAX */
    uint8_t number;               /* number of the next request */
    bool hurried;                 /* requests were resent early since the last progress */
    bool interrupt, simulated, lost;
    uint64_t received;            /* bytes received, of frames or not */
    char why[160];
    struct tern_frame_in in;
    size_t out_first, out_end;
    struct slot slots[IN_FLIGHT_MAX];
    uint8_t out[IN_FLIGHT_MAX * TERN_FRAME_CODED(REQUEST_HEAD_BYTES + TERN_UART_LIMIT)];
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 + 1; /* never 0 */
}

static void put32(uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++) {
        to[i] = (uint8_t)(value >> 8 * i);
    }
}

static struct slot *slot(struct tern_requests *q, uint32_t i)
{
    return &q->slots[i % IN_FLIGHT_MAX];
}

static int lose(struct tern_requests *q, const char *why)
{
    if (!q->lost) {
        q->lost = true;
        snprintf(q->why, sizeof q->why, "%s", why);
    }
    return -EIO;
}

static void code(struct tern_requests *q, const struct slot *s)
{
    q->out_end += tern_frame_code(s->bytes, s->size, q->out + q->out_end);
}

/** Resends all requests in flight. A frame that is half sent is cut short; the flag of the next one ends it. */
static void again(struct tern_requests *q)
{
    q->out_first = q->out_end = 0;
    for (uint32_t i = q->first; i != q->end; i++) {
        slot(q, i)->sent = 0;
        code(q, slot(q, i));
    }
    q->last_sent = now_ms();
}

/** Resends early, because a later answer shows that a request or its answer was lost. This is done once: the later
 *  answers that follow show the same loss. */
static void hurry(struct tern_requests *q)
{
    if (!q->hurried) {
        q->hurried = true;
        again(q);
    }
}

static void answered(struct tern_requests *q, const struct slot *s)
{
    const int64_t now = now_ms();
    if (s->sent) {
        const int64_t wait = RESEND_MIN_MS + 4 * (now - s->sent);
        q->usual_ms = wait < RESEND_MAX_MS ? wait : RESEND_MAX_MS;
    }
    q->again_ms = q->usual_ms;
    q->room += (uint32_t)s->size + REQUEST_OVERHEAD_BYTES;
    q->first++;
    q->progress = q->last_sent = now;
    q->hurried = false;
    if (q->first == q->end) { /* the rest of a resend is not needed any more */
        q->out_first = q->out_end = 0;
    }
}

/** Takes a frame from the board. A frame that answers no request in flight is ignored: it is late, of another session,
 *  or noise. */
static void take(struct tern_requests *q, const uint8_t *bytes, size_t n)
{
    if (n < ANSWER_HEAD_BYTES || q->first == q->end) {
        return;
    }
    const struct slot *s = slot(q, q->first);
    const unsigned status = bytes[2] & STATUS;
    if (bytes[1] != s->bytes[1] || bytes[0] != (s->bytes[0] | 0x80)) {
        if ((uint8_t)(bytes[1] - s->bytes[1]) < q->end - q->first) {
            hurry(q);
        }
        return;
    }
    const bool good = status == DONE || (status == REPEATED && !(bytes[2] & BUS_BEFORE));
    if (status == SEQUENCE) {
        hurry(q);
    } else if (!good) {
        char why[120];
        snprintf(why, sizeof why, status == MALFORMED ? "it does not understand request %u of %zu bytes" :
                 "its bus answered request %u of %zu bytes with an error", s->bytes[0], s->size);
        lose(q, why);
    } else if (n == ANSWER_HEAD_BYTES + s->count &&
               (s->bytes[0] != TERN_UART_HELLO || !memcmp(bytes + n - 4, s->bytes + 4, 4))) {
        q->interrupt = bytes[2] & INTERRUPT;
        if (s->count) {
            memcpy(s->data, bytes + ANSWER_HEAD_BYTES, s->count);
        }
        answered(q, s);
    }
}

static int receive(struct tern_requests *q)
{
    uint8_t bytes[4096];
    const ssize_t n = read(q->fd, bytes, sizeof bytes);
    if (n <= 0) {
        return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : lose(q, "its serial port is gone");
    }
    q->received += (uint64_t)n;
    for (ssize_t i = 0; i < n; i++) {
        size_t size = 0;
        if (tern_frame_take(&q->in, bytes[i], &size)) {
            take(q, q->in.bytes, size);
        }
    }
    return q->lost ? -EIO : 0;
}

static int transmit(struct tern_requests *q)
{
    const ssize_t n = write(q->fd, q->out + q->out_first, q->out_end - q->out_first);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR ? 0 : lose(q, "its serial port is gone");
    }
    q->out_first += (size_t)n;
    if (q->out_first == q->out_end) {
        q->out_first = q->out_end = 0;
    }
    return 0;
}

/** Sends and receives as much as is possible without waiting. wait: waits until something can be sent or received. */
static int pump(struct tern_requests *q, bool wait)
{
    struct pollfd p = {.fd = q->fd};
    if (q->lost) {
        return -EIO;
    }
    const int64_t now = now_ms();
    const int64_t end = q->progress + q->timeout_ms, resend = q->last_sent + q->again_ms;
    if (q->first != q->end && now >= end) {
        char why[120];
        snprintf(why, sizeof why, "it has not answered for %lld ms", (long long)q->timeout_ms);
        return lose(q, why);
    }
    if (q->first != q->end && now >= resend) {
        const int64_t most = RESEND_BACKOFF_MAX * q->usual_ms; /* noise must not make the interval long */
        q->again_ms = q->again_ms * 2 < most ? q->again_ms * 2 : most;
        again(q);
    }
    const int64_t until = q->last_sent + q->again_ms < end ? q->last_sent + q->again_ms : end;
    p.events = (short)(POLLIN | (q->out_first != q->out_end ? POLLOUT : 0));
    if (poll(&p, 1, wait ? (int)(until > now ? until - now : 0) : 0) < 0 && errno != EINTR) {
        return lose(q, "its serial port is gone");
    }
    int r = p.revents & POLLIN ? receive(q) : 0;
    if (!r && p.revents & (POLLHUP | POLLERR | POLLNVAL) && !(p.revents & POLLIN)) {
        r = lose(q, "its serial port is gone");
    }
    return !r && p.revents & POLLOUT ? transmit(q) : r;
}

/** Sends a request as soon as the board has room for it. out, count: destination of a read. */
static int send_request(struct tern_requests *q, enum tern_uart_command command, uint32_t address, const void *data,
                        size_t size, void *out, size_t count)
{
    const size_t whole = REQUEST_HEAD_BYTES + size;
    int r = q->lost ? -EIO : 0;
    /* a resend may fill the output buffer, which has room again when all of it was sent */
    while (!r && (q->end - q->first == IN_FLIGHT_MAX || q->room < whole + REQUEST_OVERHEAD_BYTES ||
                  sizeof q->out - q->out_end < TERN_FRAME_CODED(whole))) {
        r = pump(q, true);
    }
    if (r) {
        return r;
    }
    struct slot *s = slot(q, q->end);
    s->bytes[0] = (uint8_t)command;
    s->bytes[1] = q->number++;
    s->bytes[2] = (uint8_t)(out ? count : size);
    s->bytes[3] = (uint8_t)((out ? count : size) >> 8);
    put32(s->bytes + 4, address);
    if (size) {
        memcpy(s->bytes + REQUEST_HEAD_BYTES, data, size);
    }
    s->size = whole;
    s->data = out;
    s->count = count;
    s->sent = now_ms();
    if (q->first == q->end) {
        q->progress = q->last_sent = s->sent;
        q->hurried = false;
    }
    q->end++;
    q->room -= (uint32_t)whole + REQUEST_OVERHEAD_BYTES;
    code(q, s);
    return pump(q, false);
}

int tern_requests_write(struct tern_requests *q, enum tern_uart_command command, uint32_t address, const void *data,
                        size_t size)
{
    return send_request(q, command, address, data, size, NULL, 0);
}

int tern_requests_read(struct tern_requests *q, enum tern_uart_command command, uint32_t address, void *data,
                       size_t size)
{
    return send_request(q, command, address, NULL, 0, data, size);
}

int tern_requests_wait(struct tern_requests *q)
{
    int r = q->lost ? -EIO : 0;
    while (!r && q->first != q->end) {
        r = pump(q, true);
    }
    return r;
}

/** Begins the session. The answer returns a number that no earlier session has used. */
static int hello(struct tern_requests *q)
{
    uint8_t id[IDENTITY_BYTES];
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    q->number = (uint8_t)t.tv_nsec;
    q->room = REQUEST_HEAD_BYTES + REQUEST_OVERHEAD_BYTES;
    const uint32_t nonce = (uint32_t)t.tv_nsec ^ (uint32_t)t.tv_sec << 8 ^ (uint32_t)getpid() << 20;
    int r = send_request(q, TERN_UART_HELLO, nonce, NULL, 0, id, sizeof id);
    if (r == 0) {
        r = tern_requests_wait(q);
    }
    if (r && q->received && !q->in.frames) {
        return tern_error(-ETIMEDOUT, "the board does not answer: %" PRIu64 " bytes came from its serial port, but no "
                          "frame. Is TERN_UART_BAUD the rate that the board was built for?", q->received);
    }
    if (r) {
        return tern_error(-ETIMEDOUT, "the board does not answer: %s. Is its bitstream loaded, and is TERN_UART its "
                          "port?", q->why);
    }
    if (id[0] != 'T' || id[1] != 'L' || id[2] != LINK_VERSION) {
        return tern_error(-EPROTO, "the board speaks version %u of the link, this driver version %u: load the "
                          "bitstream that was built with this driver", id[2], LINK_VERSION);
    }
    const uint32_t window = id[4] | (uint32_t)id[5] << 8, limit = id[6] | (uint32_t)id[7] << 8;
    if (limit < TERN_UART_LIMIT || window < REQUEST_HEAD_BYTES + TERN_UART_LIMIT + REQUEST_OVERHEAD_BYTES) {
        return tern_error(-EPROTO, "the board takes requests of %u bytes, this driver sends %u: load the bitstream "
                          "that was built with this driver", limit, TERN_UART_LIMIT);
    }
    q->room = window;
    q->simulated = id[3] & 1;
    return 0;
}

int tern_requests_open(int fd, int64_t timeout_ms, struct tern_requests **out)
{
    struct tern_requests *q = calloc(1, sizeof *q);
    if (!q) {
        return tern_error_memory("the requests to a board");
    }
    q->fd = fd;
    q->timeout_ms = timeout_ms;
    q->again_ms = q->usual_ms = 4 * RESEND_MIN_MS;
    const int r = hello(q);
    if (r) {
        free(q);
        return r;
    }
    *out = q;
    return 0;
}

void tern_requests_close(struct tern_requests *q)
{
    free(q);
}

bool tern_requests_interrupt(const struct tern_requests *q)
{
    return q->interrupt;
}

bool tern_requests_simulated(const struct tern_requests *q)
{
    return q->simulated;
}

const char *tern_requests_why(const struct tern_requests *q)
{
    return q->why;
}
