/* SPDX-License-Identifier: Apache-2.0 */
/** Number of bytes of requests and replies in their slot (wire.h), never more than a slot. */
#include "migration/proxy/internal.h"

#include "base/minmax.h"

#define PAGE_BYTES 4096u

/** Size of n items; 0 if they exceed a slot, in which case ternd refuses the request. */
static size_t of(uint64_t n, size_t bytes)
{
    return n <= TERN_WIRE_SLOT / bytes ? (size_t)n * bytes : 0;
}

/** Size of the items of a list: as many as were asked for and as there are, and as a slot has room for. */
static size_t list_of(const struct tern_wire_request *q, const struct tern_wire_reply *a, size_t bytes)
{
    return of(tern_min_u64(tern_min_u64(a->value[0], q->value[0]), TERN_WIRE_SLOT / bytes), bytes);
}

size_t proxy_request_data(const struct tern_wire_request *q)
{
    switch (q->op) {
    case TERN_WIRE_ALLOCATION_WRITE:
        return of(q->value[1], 1);
    case TERN_WIRE_CONTEXT_RESIDENCY:
        return q->value[0] ? of(q->value[1], sizeof(uint32_t)) : 0;
    case TERN_WIRE_CONTEXT_SUBMIT:
        return of(q->value[0], 1);
    default:
        return 0;
    }
}

size_t proxy_reply_data(const struct tern_wire_request *q, const struct tern_wire_reply *a)
{
    switch (q->op) {
    case TERN_WIRE_PROCESS_STATUS: /* the fault is in the slot whatever the status is */
        return sizeof(struct tern_fault);
    case TERN_WIRE_COUNTERS:
        return sizeof(struct tern_engine_counters);
    case TERN_WIRE_CONTEXT_QUERY:
        return sizeof(struct tern_context_stats);
    case TERN_WIRE_PROCESS_ALLOCATIONS:
        return list_of(q, a, sizeof(struct tern_allocation_info));
    case TERN_WIRE_PARTITION_LIST:
        return list_of(q, a, sizeof(struct tern_partition_info));
    case TERN_WIRE_PROCESS_DIRTY:
        return a->status ? 0 : of((q->value[1] / PAGE_BYTES + 31) / 32, sizeof(uint32_t));
    case TERN_WIRE_ALLOCATION_READ:
        return a->status ? 0 : of(q->value[1], 1);
    default:
        return 0;
    }
}
