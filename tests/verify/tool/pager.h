/* SPDX-License-Identifier: Apache-2.0 */
/** A driver's part in page requests (pager.c). */
#ifndef PAGER_H
#define PAGER_H

#include "verify.h"

/** An entry that is without the absent bit until its submission ends. */
struct denied {
    uint32_t submit, entry;
    uint64_t at;
};

struct pager {
    const struct scene *scene;
    const struct tern_sim_api *api;
    struct tern_sim *sim;
    struct denied *denied;
    uint32_t count;
    uint64_t requests; /* that found an absent entry */
};

/** Answers the page request of a submission: *brings, and then `words` is the packet to run in a paging buffer before
 *  the submission goes on. 0 or -errno. */
int pager_request(struct pager *p, uint32_t submit, uint32_t va, bool *brings, uint32_t words[16]);
/** A submission has completed or faulted. 0 or -errno. */
int pager_ended(struct pager *p, uint32_t submit);
void pager_free(struct pager *p);

#endif
