/* SPDX-License-Identifier: Apache-2.0 */
/** Sets of values (cc1.h). */
#include "cc1.h"

#include <stdlib.h>

/** The place of v in the set, or where it belongs. */
static size_t find(const struct cc1_set *m, LLVMValueRef v)
{
    size_t i = (size_t)(((uint64_t)(uintptr_t)v >> 3) * 0x9e3779b97f4a7c15u >> 32) & (m->room - 1);
    while (m->at[i] && m->at[i] != v) {
        i = (i + 1) & (m->room - 1);
    }
    return i;
}

int cc1_set_has(const struct cc1_set *m, LLVMValueRef v)
{
    return m->room && m->at[find(m, v)];
}

int cc1_set_add(struct cc1_set *m, LLVMValueRef v)
{
    if (2 * m->n >= m->room) {
        struct cc1_set larger = {.room = m->room ? 2 * m->room : 64};
        larger.at = cc1_alloc(larger.room, sizeof *larger.at);
        for (size_t i = 0; i < m->room; i++) {
            if (m->at[i]) {
                cc1_set_add(&larger, m->at[i]);
            }
        }
        free(m->at);
        *m = larger;
    }
    const size_t i = find(m, v);
    if (m->at[i]) {
        return 0;
    }
    m->at[i] = v;
    m->n++;
    return 1;
}
