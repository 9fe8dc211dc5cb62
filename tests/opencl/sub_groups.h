/* SPDX-License-Identifier: Apache-2.0 */
/** Sub-groups of ranges, for tests of their functions. */
#ifndef SUB_GROUPS_H
#define SUB_GROUPS_H

#include "clt.h"

enum { MOST = 2048 }; /* work-items of a range */

struct range {
    cl_uint dims;
    size_t global[3], local[3];
};

/** A sub-group: its work-items as linear global ids, in the order of their sub-group local ids. */
struct sub {
    unsigned n, item[32];
    unsigned id, of, enqueued; /**< The sub-group's id, and the number of sub-groups of its group and of a full one. */
};

extern unsigned lanes; /* of a warp of the device */
extern size_t most;    /* work-items of a group, of the kernel of sub_groups_kernel */

/** Opens the device, and sets `lanes`. */
int sub_groups_open(void **state);
/** The kernel f of a program. Sets `most`. */
cl_kernel sub_groups_kernel(cl_program p);
/** A range of any dimensions, in groups of at most 128 work-items. */
struct range sub_groups_range(uint32_t *seed);
/** Calls `each` for each sub-group of a range. */
void sub_groups_each(const struct range *r, void (*each)(const struct sub *s, unsigned at), unsigned at);

#endif
