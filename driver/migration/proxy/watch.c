/* SPDX-License-Identifier: Apache-2.0 */
/** The list of descriptors for poll(), rebuilt for each wait. */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "migration/proxy/internal.h"

void proxy_watch_begin(struct proxy_watch *w)
{
    w->n = 0;
    w->failed = false;
}

void proxy_watch_add(struct proxy_watch *w, int fd, short events, int what, uint32_t session, uint32_t slot)
{
    if (fd < 0 || w->failed) {
        return;
    }
    if (w->n == w->room) {
        const size_t room = w->room ? w->room * 2 : 64;
        struct pollfd *fds = realloc(w->fds, room * sizeof *fds);
        w->fds = fds ? fds : w->fds;
        struct proxy_tag *tags = realloc(w->tags, room * sizeof *tags);
        w->tags = tags ? tags : w->tags;
        w->failed = !fds || !tags;
        w->room = w->failed ? w->room : room;
    }
    if (!w->failed) {
        w->fds[w->n] = (struct pollfd){.fd = fd, .events = events};
        w->tags[w->n++] = (struct proxy_tag){.what = what, .session = session, .slot = slot};
    }
}

void proxy_watch_link(struct proxy_watch *w, const struct proxy_link *l, bool reads, int what)
{
    const short out = proxy_bytes_left(&l->sending) ? POLLOUT : 0, in = reads ? POLLIN : 0;
    if (l->lost) {
        return;
    }
    if (l->in == l->out) {
        proxy_watch_add(w, l->in, (short)(in | out), what, 0, 0);
    } else {
        proxy_watch_add(w, in ? l->in : -1, in, what, 0, 0);
        proxy_watch_add(w, out ? l->out : -1, out, what, 0, 0);
    }
}

int proxy_watch_wait(struct proxy_watch *w, int ms)
{
    if (w->failed) {
        return tern_error_memory("connections");
    }
    if (poll(w->fds, w->n, ms) <= 0) { /* interrupted by a signal: nothing is ready */
        for (size_t i = 0; i < w->n; i++) {
            w->fds[i].revents = 0;
        }
    }
    return 0;
}

void proxy_watch_end(struct proxy_watch *w)
{
    free(w->fds);
    free(w->tags);
}
