/* SPDX-License-Identifier: Apache-2.0 */
/** Frames over the link between two proxies (proxy.h): a pair of pipes, or a socket. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/wait.h"
#include "migration/proxy/internal.h"

#define KEEPALIVE_INTERVAL_NS 5000000000u /* a PROXY_ALIVE frame is sent after so long without another */
#define KEEPALIVE_TIMEOUT_NS 60000000000u /* the link is lost after so long without a byte received */
#define READ_BYTES 65536u /* at most, in one read() */
#define FINISH_TIMEOUT_MS 2000 /* proxy_link_finish waits so long for each next byte */

_Static_assert(sizeof(struct proxy_frame) == 32, "it has no holes");

size_t proxy_bytes_left(const struct proxy_bytes *b)
{
    return b->end - b->start;
}

bool proxy_bytes_room(struct proxy_bytes *b, size_t n)
{
    if (b->start == b->end) {
        b->start = b->end = 0;
    }
    if (b->room - b->end >= n) {
        return true;
    }
    if (b->start) {
        memmove(b->data, b->data + b->start, b->end - b->start);
        b->end -= b->start;
        b->start = 0;
    }
    if (b->room - b->end < n) {
        const size_t room = (b->end + n) * 2;
        uint8_t *data = realloc(b->data, room);
        if (!data) {
            return false;
        }
        b->data = data;
        b->room = room;
    }
    return true;
}

void proxy_link_open(struct proxy_link *l, int in, int out)
{
    *l = (struct proxy_link){.in = in, .out = out};
    fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
    l->received_at = l->sent_at = tern_clock_ns();
}

void proxy_link_close(struct proxy_link *l)
{
    if (l->out != l->in) {
        close(l->out);
    }
    close(l->in);
    free(l->received.data);
    free(l->sending.data);
}

void proxy_link_finish(struct proxy_link *l)
{
    struct pollfd p = {.fd = l->in, .events = POLLIN};
    uint8_t rest[4096];
    proxy_flush(l);
    if (!l->lost && !proxy_bytes_left(&l->sending) && !shutdown(l->out, SHUT_WR)) {
        while (poll(&p, 1, FINISH_TIMEOUT_MS) > 0 && read(l->in, rest, sizeof rest) > 0) {
        }
    }
}

void proxy_lose(struct proxy_link *l, const char *format, ...)
{
    va_list args;
    if (!l->lost) {
        va_start(args, format);
        vsnprintf(l->why, sizeof l->why, format, args);
        va_end(args);
    }
    l->lost = true;
}

void proxy_send(struct proxy_link *l, struct proxy_frame f, const void *a, size_t na, const void *b, size_t nb)
{
    f.length = (uint32_t)(na + nb);
    if (l->lost) {
        return;
    }
    if (!proxy_bytes_room(&l->sending, sizeof f + na + nb)) {
        proxy_lose(l, "there is no memory for what goes over it");
        return;
    }
    uint8_t *to = l->sending.data + l->sending.end;
    memcpy(to, &f, sizeof f);
    if (na) {
        memcpy(to + sizeof f, a, na);
    }
    if (nb) {
        memcpy(to + sizeof f + na, b, nb);
    }
    l->sending.end += sizeof f + na + nb;
}

void proxy_flush(struct proxy_link *l)
{
    while (!l->lost && proxy_bytes_left(&l->sending)) {
        const ssize_t n = write(l->out, l->sending.data + l->sending.start, proxy_bytes_left(&l->sending));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        if (n < 0) {
            proxy_lose(l, "%s", errno == EPIPE ? "the other side has closed it" : strerror(errno));
            return;
        }
        l->sending.start += (size_t)n;
        l->sent_at = tern_clock_ns();
    }
}

void proxy_fill(struct proxy_link *l)
{
    if (l->lost) {
        return;
    }
    if (!proxy_bytes_room(&l->received, READ_BYTES)) {
        proxy_lose(l, "there is no memory for what comes over it");
        return;
    }
    const ssize_t n = read(l->in, l->received.data + l->received.end, READ_BYTES);
    if (n > 0) {
        l->received.end += (size_t)n;
        l->received_at = tern_clock_ns();
    } else if (n == 0) {
        proxy_lose(l, "the other side has closed it");
    } else if (errno != EINTR && errno != EAGAIN) {
        proxy_lose(l, "%s", strerror(errno));
    }
}

bool proxy_next(struct proxy_link *l, struct proxy_frame *f, const uint8_t **bytes)
{
    l->received.start += l->frame_bytes;
    l->frame_bytes = 0;
    if (proxy_bytes_left(&l->received) < sizeof *f) {
        return false;
    }
    memcpy(f, l->received.data + l->received.start, sizeof *f);
    if (!f->type || f->type >= PROXY_TYPES || f->length > PROXY_FRAME_MAX) {
        proxy_lose(l, "what comes over it is no frame of Tern's: type %u, %u bytes", f->type, f->length);
        l->received.start = l->received.end;
        return false;
    }
    if (proxy_bytes_left(&l->received) < sizeof *f + f->length) {
        return false;
    }
    *bytes = l->received.data + l->received.start + sizeof *f;
    l->frame_bytes = sizeof *f + f->length;
    return true;
}

void proxy_tick(struct proxy_link *l, bool reads)
{
    const uint64_t now = tern_clock_ns();
    if (!reads) {
        l->received_at = now;
    }
    if (now - l->sent_at > KEEPALIVE_INTERVAL_NS && !proxy_bytes_left(&l->sending)) {
        proxy_send(l, (struct proxy_frame){.type = PROXY_ALIVE}, NULL, 0, NULL, 0);
    }
    if (now - l->received_at > KEEPALIVE_TIMEOUT_NS) {
        proxy_lose(l, "nothing has come for %u s", (unsigned)(KEEPALIVE_TIMEOUT_NS / 1000000000u));
    }
}
