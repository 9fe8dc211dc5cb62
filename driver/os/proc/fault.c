/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A fault as a sentence: the process and its work, the access, the address, and allocations near the address.
 *
 * The device names a work-item by group, warp and lane. The work-item's global id is computed from the dispatch packet,
 * of which the job has a copy. The text does not depend on the engine or the backend.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "os/mem/mem.h"
#include "os/proc/proc.h"

#define NEARBY_BYTES 0x10000u /* bytes: an allocation farther away does not explain the address */

/** Appends to the sentence. Text that does not fit is cut off. */
__attribute__((format(printf, 2, 3))) static void say(struct tern_fault *f, const char *format, ...)
{
    size_t at = strlen(f->message);
    va_list list;
    va_start(list, format);
    vsnprintf(f->message + at, sizeof f->message - at, format, list);
    va_end(list);
}

/** Names the allocations near an address that is in none. */
static void say_near(struct tern_fault *f, const struct tern_process *proc, uint32_t address)
{
    const struct tern_range *r = tern_vaspace_find(&proc->va, address / TERN_PAGE);
    const struct tern_range *above = r ? r + 1 : proc->va.range;
    above = above < proc->va.range + proc->va.n ? above : NULL;
    uint32_t end = r ? (r->first + r->count) * TERN_PAGE : 0;
    uint32_t beyond = r ? address - end : UINT32_MAX;
    uint32_t below = above ? above->first * TERN_PAGE - address : UINT32_MAX;
    if (address < TERN_VA_FIRST * TERN_PAGE && address <= below) {
        say(f, address ? ": %u bytes behind a null pointer" : ": a null pointer", address);
    } else if (r && address < end) {
        say(f, ", byte %u of the allocation at 0x%08x", address - r->first * TERN_PAGE, r->first * TERN_PAGE);
    } else if (address >= TERN_VA_END * TERN_PAGE && address < TERN_WIN_LOCAL_BASE) {
        say(f, ", %u bytes below local memory", TERN_WIN_LOCAL_BASE - address);
    } else if (beyond < NEARBY_BYTES && beyond <= below) {
        say(f, ", %u bytes beyond the end of the allocation at 0x%08x", beyond, r->first * TERN_PAGE);
    } else if (below < NEARBY_BYTES) {
        say(f, ", %u bytes below the allocation at 0x%08x", below, above->first * TERN_PAGE);
    }
}

/** True: the address is in a block that is not on the device, so the work has used memory that it had not named. */
static bool evicted(const struct tern_process *proc, uint32_t address)
{
    const struct tern_allocation *a = tern_allocation_at(proc, address / TERN_PAGE);
    return a && a->mem && a->mem->movable && !a->asked && !tern_block_of(a, address / TERN_PAGE - a->va)->resident;
}

/** Describes the access and its error, for faults with an address; other faults in the words of docs/spec. */
static void say_what(struct tern_fault *f, const struct tern_process *proc, const struct tern_pkt_dispatch *d)
{
    static const char *const by_kernel[] = {"load from", "store to", "jump to", "atomic access to"};
    static const char *const by_engine[] = {"read from", "write to", "fetch from", "atomic access to"};
    static const char *const forbidden[] = {"read", "written", "executed", "written"};
    const char *access = (f->has_item ? by_kernel : by_engine)[f->access & 3];
    switch (f->code) {
    case TERN_FAULT_PAGE:
    case TERN_FAULT_PAGE_ABSENT: /* the access cannot wait for the page */
        say(f, "%s 0x%08x, which is %s", access, f->address,
            evicted(proc, f->address) ? "evicted, and not in the working set of the context" : "not mapped");
        say_near(f, proc, f->address);
        break;
    case TERN_FAULT_PROTECTION:
        say(f, "%s 0x%08x, which may not be %s", access, f->address, forbidden[f->access & 3]);
        say_near(f, proc, f->address);
        break;
    case TERN_FAULT_PTE_MALFORMED:
    case TERN_FAULT_BUS_ERROR:
        say(f, "%s 0x%08x: %s", access, f->address, tern_fault_text(f->code));
        break;
    case TERN_FAULT_MISALIGNED:
        say(f, "misaligned %s 0x%08x", access, f->address);
        break;
    case TERN_FAULT_STACK_OVERFLOW:
        say(f, "%s 0x%08x, %s the %u bytes of private memory of the work-item", access, f->address,
            f->address < TERN_WIN_PRIVATE_BASE ? "below" : "beyond", 1u << d->stack_log2);
        break;
    case TERN_FAULT_LOCAL_OVERRUN:
        say(f, "%s 0x%08x, byte %u of local memory, of which the work-group has %u bytes", access, f->address,
            f->address - TERN_WIN_LOCAL_BASE, d->local_bytes);
        break;
    case TERN_FAULT_EXECUTOR:
        if (f->address) {
            say(f, "it refuses address 0x%08x", f->address);
            say_near(f, proc, f->address);
        } else {
            say(f, "it refuses what it was given");
        }
        break;
    default:
        say(f, "%s", tern_fault_text(f->code));
    }
}

/** Gives the user executor that the packet at this offset of the job calls. NULL: it calls none. */
static const struct tern_executor *executor_at(const struct tern_job *job, uint32_t offset)
{
    const uint32_t bytes = TERN_PKT_USER_CALL_LINES * TERN_PKT_LINE_BYTES;
    struct tern_pkt_user_call call;
    const bool is = offset % TERN_PKT_LINE_BYTES == 0 && job->size >= bytes && offset <= job->size - bytes &&
                    (job->packets[offset / 4] & TERN_PKT_OPCODE_MASK) == TERN_PKT_USER_CALL &&
                    tern_pkt_user_call_unpack(&call, job->packets + offset / 4) == 0;
    return is ? tern_executor_find(call.executor) : NULL;
}

/** Reads the dispatch packet at this offset of the job. False: there is none. */
static bool dispatch_at(const struct tern_job *job, uint32_t offset, struct tern_pkt_dispatch *out)
{
    const uint32_t bytes = TERN_PKT_DISPATCH_LINES * TERN_PKT_LINE_BYTES;
    return offset % TERN_PKT_LINE_BYTES == 0 && job->size >= bytes && offset <= job->size - bytes &&
           (job->packets[offset / 4] & TERN_PKT_OPCODE_MASK) == TERN_PKT_DISPATCH &&
           tern_pkt_dispatch_unpack(out, job->packets + offset / 4) == 0;
}

/** Finds the global id of work-item `number` of a group. False: the range has no such work-item. */
static bool find_item(const struct tern_pkt_dispatch *d, const uint32_t group[3], uint32_t number, uint32_t item[3])
{
    const uint32_t local[3] = {d->local_x, d->local_y, d->local_z}, edge[3] = {d->edge_x, d->edge_y, d->edge_z};
    const uint32_t groups[3] = {d->groups_x, d->groups_y, d->groups_z},
        offset[3] = {d->offset_x, d->offset_y, d->offset_z};
    for (int i = 0; i < 3; i++) {
        uint32_t size = group[i] + 1 == groups[i] ? edge[i] : local[i];
        if (group[i] >= groups[i] || !size) {
            return false;
        }
        item[i] = offset[i] + group[i] * local[i] + number % size;
        number /= size;
    }
    return number == 0;
}

/** Names the process, and the kernel or the label of the job. */
static void say_work(struct tern_fault *f, const struct tern_process *proc, const struct tern_job *job, bool kernel)
{
    say(f, "process '%.40s': %s%.60s: ", proc->name, kernel ? "kernel " : "",
        job->label ? job->label : "without label");
}

void tern_fault_say(const struct tern_process *proc, const struct tern_job *job, uint32_t code, struct tern_fault *out,
                    const char *format, ...)
{
    struct tern_fault f = {.code = code, .fence = job->fence};
    struct tern_pkt_dispatch d;
    const bool alone = job->size == TERN_PKT_DISPATCH_LINES * TERN_PKT_LINE_BYTES;
    va_list list;
    say_work(&f, proc, job, alone && dispatch_at(job, 0, &d));
    if (!alone) {
        say(&f, "buffer %" PRIu64 " ", job->fence);
    }
    const size_t at = strlen(f.message);
    va_start(list, format);
    vsnprintf(f.message + at, sizeof f.message - at, format, list);
    va_end(list);
    *out = f;
}

void tern_fault_describe(const struct tern_process *proc, const struct tern_job *job, const struct tern_indication *ind,
                         struct tern_fault *out)
{
    struct tern_fault f = {.fence = job->fence};
    struct tern_pkt_dispatch d = {0};
    const bool in_dispatch = dispatch_at(job, ind->offset, &d);
    const bool alone = job->size == TERN_PKT_DISPATCH_LINES * TERN_PKT_LINE_BYTES;
    /* pc is 0 if no kernel ran, and if a kernel jumped to 0; only a kernel makes accesses to execute */
    const bool ran = ind->pc || ind->access == TERN_ENGINE_IND_INFO_ACCESS_EXECUTE;
    uint32_t item[3] = {0};
    say_work(&f, proc, job, in_dispatch && (ran || alone));
    f.code = ind->fault;
    f.access = ind->access;
    f.address = ind->va;
    f.pc = ind->pc;
    f.offset = ind->offset;
    if (in_dispatch && ran && find_item(&d, ind->group, ind->warp * proc->dev->kmd.lanes + ind->lane, item)) {
        f.has_item = true;
        f.warp = ind->warp;
        f.lane = ind->lane;
        memcpy(f.group, ind->group, sizeof f.group);
        memcpy(f.item, item, sizeof f.item);
        say(&f, "work-item (%u, %u, %u) of group (%u, %u, %u): ", item[0], item[1], item[2], f.group[0], f.group[1],
            f.group[2]);
    }
    const struct tern_executor *executor = executor_at(job, ind->offset);
    if (executor) {
        say(&f, "user executor %.40s: ", executor->name);
    }
    say_what(&f, proc, &d);
    if (f.code == TERN_FAULT_PACKET_UNKNOWN && in_dispatch && !proc->dev->kmd.lanes) {
        say(&f, ": this device has no SIMT executor, so it runs no kernels");
    }
    if (ran) {
        say(&f, " (pc 0x%08x)", f.pc);
    } else {
        say(&f, " (packet at byte %u of buffer %" PRIu64 ")", f.offset, f.fence);
    }
    *out = f;
}
