/* SPDX-License-Identifier: Apache-2.0 */
/** A driver's part in page requests (pager.c). */
#ifndef PAGER_H
#define PAGER_H

#include "verify.h"

/** An entry without its absent bit until its submission ends. */
struct denied {
    uint32_t submit, entry;
    uint64_t at;
};

#define PAGER_PACKETS 3u /* greatest number of packets of a paging buffer, one line each */

/** An entry that was brought and may be taken away again. */
struct brought {
    uint32_t root, va, entry;
    uint64_t at;
};

struct pager {
    const struct scene *scene;
    const struct tern_sim_api *api;
    struct tern_sim *sim;
    struct denied *denied;
    uint32_t count;
    uint64_t requests; /* requests that found an absent entry */
    struct brought brought[16];
    uint32_t brings;   /* entries brought so far; only the last ones are kept */
    uint64_t taken;    /* entries taken away again */
    bool all;          /* a request brings all pages, and none is taken away any more */
    struct rng random;
};

/** Answers the page request of a submission. If *packets is not 0, so many packets of `words` must run in a paging
 *  buffer before the submission goes on. Returns 0 or -errno. */
int pager_request(struct pager *p, uint32_t submit, uint32_t va, uint32_t *packets, uint32_t words[16 * PAGER_PACKETS]);
/** Tells the pager that a submission has completed or faulted. Returns 0 or -errno. */
int pager_ended(struct pager *p, uint32_t submit);
void pager_free(struct pager *p);

#endif
