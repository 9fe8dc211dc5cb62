/* SPDX-License-Identifier: Apache-2.0 */
/** A fault as a sentence: who, in what work, did what, where, and what lies near. */
#include <stdio.h>
#include <string.h>

#include "os/os.h"

#define NEAR 0x400000u /* bytes: farther off, an allocation is no explanation */

static void near_address(const struct tern_process *proc, uint32_t address, char *out, size_t size)
{
    const struct tern_range *r = tern_vaspace_find(&proc->va, address / TERN_PAGE);
    out[0] = '\0';
    uint32_t end = r ? (r->first + r->count) * TERN_PAGE : 0;
    if (r && address >= end && address - end < NEAR) {
        snprintf(out, size, ", %u bytes beyond the end of the allocation at 0x%08x", address - end, r->first * TERN_PAGE);
    } else if (r && address < end) {
        snprintf(out, size, ", byte %u of the allocation at 0x%08x", address - r->first * TERN_PAGE, r->first * TERN_PAGE);
    }
}

static bool has_address(uint32_t code)
{
    return code == TERN_FAULT_PAGE || code == TERN_FAULT_PROTECTION || code == TERN_FAULT_PTE_MALFORMED ||
           code == TERN_FAULT_MISALIGNED || code == TERN_FAULT_BUS_ERROR || code == TERN_FAULT_STACK_OVERFLOW ||
           code == TERN_FAULT_LOCAL_OVERRUN;
}

void tern_fault_describe(struct tern_process *proc, uint32_t engine, const struct tern_job *job, const struct tern_indication *ind,
                         uint64_t timeout, struct tern_fault *out)
{
    static const char *const access[] = {"read", "write", "execute", "atomic"};
    struct tern_fault f = {.code = TERN_FAULT_TIMEOUT, .fence = job->fence};
    const char *label = job->label ? job->label : "a buffer without label";
    char where[128] = "", near[96] = "", lane[64] = "";
    if (!ind) {
        snprintf(f.message, sizeof f.message, "process '%.60s': %.80s: ran longer than %llu cycles, so engine %u was reset", proc->name, label,
                 (unsigned long long)timeout, engine);
        *out = f;
        return;
    }
    f.code = ind->fault;
    f.access = ind->access;
    f.address = ind->va;
    f.pc = ind->pc;
    f.warp = ind->warp;
    f.lane = ind->lane;
    f.offset = ind->offset;
    if (has_address(ind->fault)) {
        if (ind->va < TERN_WIN_LOCAL_BASE) { /* the windows above are no allocation's */
            near_address(proc, ind->va, near, sizeof near);
        }
        snprintf(where, sizeof where, "%s at 0x%08x%s; ", access[ind->access & 3], ind->va, near);
    }
    if (ind->pc) {
        snprintf(lane, sizeof lane, "pc 0x%08x, warp %u lane %u, ", ind->pc, ind->warp, ind->lane);
    }
    snprintf(f.message, sizeof f.message, "process '%.40s': %.40s: %s (%s%spacket at byte %u of buffer %llu)", proc->name, label,
             tern_fault_text(ind->fault), where, lane, ind->offset, (unsigned long long)job->fence);
    *out = f;
}
