/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One engine: doorbell, indications, preemption and reset. This file adds the guarantees that the rules give to the
 * scheduler and the hardware does not.
 *
 * Requests to stop. The hardware indicates each buffer, and ignores a request to stop while its queue is empty. The
 * rules guarantee that each request is answered exactly once (P4), after the indications of all buffers in the queue,
 * with the fence ids of the request and of the last completed buffer (P5). Nothing is submitted between request and
 * answer. This file derives the answer from a copy of the hardware's queue:
 *   - If the copy is empty, the request is answered without the hardware.
 *   - If the hardware's queue is empty but completions have not been read yet, the hardware ignores the request. The
 *     completions then empty the copy, which gives the answer. The race needs no code of its own.
 *
 * Page requests. A kernel that needs a page stops its engine without a request (docs/spec/pte.yaml). The kernel's
 * buffer, and the one cancelled behind it, are indicated as returned at once. A later request to stop applies to the
 * buffers that are in the queue then.
 *
 * Reset. A reset first reads what the hardware had indicated before it. Buffers left in the copy after that were
 * aborted by the reset (F3).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "hal/hal.h"
#include "kmd/kmd.h"
#include "kmd/regs.h"

/* value that a bus reads from a removed device; reserved bits exclude it as a status */
#define STATUS_REMOVED UINT32_MAX

static int write_run(struct tern_kmd *k, const struct tern_hal_write *writes, size_t n)
{
    int r = k->hal->ops->write32(k->hal, writes, n);
    return r ? tern_error(r, "an engine cannot be reached: %s", strerror(-r)) : 0;
}

static int read_run(struct tern_kmd *k, const uint32_t *offset, uint32_t *value, size_t n)
{
    int r = 0;
    for (size_t i = 0; !r && i < n; i++) {
        r = k->hal->ops->read32(k->hal, offset[i], &value[i]);
    }
    return r ? tern_error(r, "an indication cannot be read: %s", strerror(-r)) : 0;
}

/** Reads the status of an engine. -EIO: the device was removed. */
static int read_status(struct tern_kmd *k, uint32_t e, uint32_t *status)
{
    int r = k->hal->ops->read32(k->hal, TERN_REG_ENGINE_STATUS(e), status);
    if (r) {
        return tern_error(r, "the status of engine %u cannot be read: %s", e, strerror(-r));
    }
    return *status == STATUS_REMOVED ? tern_error(-EIO, "the registers of engine %u read all ones", e) : 0;
}

static int command(struct tern_kmd *k, uint32_t e, uint32_t value)
{
    return write_run(k, &(struct tern_hal_write){TERN_REG_ENGINE_COMMAND(e), value}, 1);
}

int tern_kmd_submit(struct tern_kmd *kmd, uint32_t e, const struct tern_hw_entry *s)
{
    tern_hal_assert_held(kmd->hal);
    struct tern_kmd_engine *q = &kmd->engine[e];
    const uint32_t flags = (s->paging ? TERN_ENGINE_SUB_FLAGS_PAGING_MASK : 0u) |
        (s->resume ? TERN_ENGINE_SUB_FLAGS_RESUME_MASK : 0u) |
                           (s->null ? TERN_ENGINE_SUB_FLAGS_NULL_MASK : 0u);
    if (q->n == TERN_HW_QUEUE || q->stopping || q->unpolled_count) {
        return -EAGAIN;
    }
    const struct tern_hal_write writes[] = {
        {TERN_REG_ENGINE_SUB_FENCE_LO(e), (uint32_t)s->fence},
        {TERN_REG_ENGINE_SUB_FENCE_HI(e), (uint32_t)(s->fence >> 32)},
        {TERN_REG_ENGINE_SUB_BUFFER_LO(e), (uint32_t)s->buffer},
        {TERN_REG_ENGINE_SUB_BUFFER_HI(e), (uint32_t)(s->buffer >> 32)},
        {TERN_REG_ENGINE_SUB_SIZE(e), s->size},
        {TERN_REG_ENGINE_SUB_ROOT(e), s->root},
        {TERN_REG_ENGINE_SUB_CONTEXT(e), s->context},
        {TERN_REG_ENGINE_SUB_SAVE(e), s->save},
        {TERN_REG_ENGINE_SUB_FLAGS(e), flags},
        {TERN_REG_ENGINE_SUB_DOORBELL(e), 1u},
    };
    uint32_t status = 0;
    int r = kmd->hal->ops->flush(kmd->hal); /* all earlier host writes to memory come before the doorbell */
    r = r ? tern_error(r, "device memory cannot be flushed: %s", strerror(-r))
          : write_run(kmd, writes, sizeof writes / sizeof *writes);
    if (r == 0) {
        r = read_status(kmd, e, &status);
    }
    if (!r && status & TERN_ENGINE_STATUS_REFUSED_MASK) {
        r = -EAGAIN;
    }
    if (!r) {
        q->queue[q->n++] = s->fence;
        /* a requeued paging buffer keeps its lower id (P6) */
        q->last_submitted = s->fence > q->last_submitted ? s->fence : q->last_submitted;
    }
    return r;
}

/** Removes the front buffer, which has ended or left the queue. */
static void pop(struct tern_kmd_engine *q)
{
    q->queue[0] = q->queue[1];
    q->n--;
}

/** True: the indication is of a buffer that came back because of a page request, its own or that of the buffer before
 *  it. */
static bool is_returned(const struct tern_kmd *k, struct tern_kmd_engine *q, const struct tern_indication *ind)
{
    if (ind->kind != TERN_KMD_PREEMPTED || !k->page_requests) {
        return false;
    }
    const bool asks = ind->fault == TERN_FAULT_PAGE_ABSENT && ind->begin;
    const bool cancelled = !ind->fault && !ind->begin && q->returns;
    q->returns = asks || cancelled;
    return q->returns;
}

/** Accounts an indication in the copy of the queue. 1: it is to be polled as it is. 0: it was kept for the answer.
 *  -EPROTO: it is not about the oldest buffer (C5), or preempted without a request. */
static int account(const struct tern_kmd *k, struct tern_kmd_engine *q, uint32_t e, struct tern_indication *ind)
{
    if (!q->n || ind->fence != q->queue[0]) {
        return tern_error(-EPROTO, "engine %u indicates fence %" PRIu64 ", but %" PRIu64 " is the oldest submitted", e,
                          ind->fence, q->n ? q->queue[0] : 0);
    }
    if (is_returned(k, q, ind)) {
        ind->kind = TERN_KMD_RETURNED;
        ind->began = ind->begin != 0;
        pop(q);
        return 1;
    }
    if (ind->kind == TERN_KMD_COMPLETED || ind->kind == TERN_KMD_FAULTED) {
        q->returns = false;
        q->last_completed = ind->kind == TERN_KMD_COMPLETED ? ind->fence : q->last_completed;
        pop(q);
        return 1;
    }
    if (ind->kind != TERN_KMD_PREEMPTED || !q->stopping) {
        return tern_error(-EPROTO, "engine %u gives an indication of kind %u, without a request to stop", e, ind->kind);
    }
    struct tern_indication *answer = &q->answer;
    if (!answer->cut) {
        answer->cut = ind->fence;
        answer->offset = ind->offset;
        answer->begin = ind->begin;
        answer->end = ind->end;
        answer->began = ind->begin != 0;
    }
    pop(q);
    return 0;
}

/** Gives the answer to a request to stop, as soon as all buffers of the queue have been indicated (P4, P5). 1: *out is
 *  the answer; 0: there is none. */
static int answered(struct tern_kmd_engine *q, struct tern_indication *out)
{
    if (!q->stopping || q->n) {
        return 0;
    }
    q->stopping = false;
    *out = q->answer;
    out->last_completed = q->last_completed;
    return 1;
}

int tern_kmd_take(struct tern_kmd *kmd, uint32_t e, struct tern_indication *out)
{
    tern_hal_assert_held(kmd->hal);
    uint32_t status = 0;
    int r = read_status(kmd, e, &status);
    if (r || !FIELD(status, TERN_ENGINE_STATUS_INDICATIONS)) {
        return r;
    }
    const uint32_t regs[] = {TERN_REG_ENGINE_IND_INFO(e),     TERN_REG_ENGINE_IND_FENCE_LO(e),
                             TERN_REG_ENGINE_IND_FENCE_HI(e), TERN_REG_ENGINE_IND_OFFSET(e),
                             TERN_REG_ENGINE_IND_BEGIN_LO(e), TERN_REG_ENGINE_IND_BEGIN_HI(e),
                             TERN_REG_ENGINE_IND_END_LO(e),   TERN_REG_ENGINE_IND_END_HI(e),
                             TERN_REG_ENGINE_IND_VA(e), TERN_REG_ENGINE_IND_PC(e),       TERN_REG_ENGINE_IND_GROUP_X(e),
                             TERN_REG_ENGINE_IND_GROUP_Y(e), TERN_REG_ENGINE_IND_GROUP_Z(e)};
    uint32_t v[13] = {0};
    r = read_run(kmd, regs, v, 1);
    bool detailed = FIELD(v[0], TERN_ENGINE_IND_INFO_KIND) == TERN_ENGINE_IND_INFO_KIND_FAULTED ||
                    FIELD(v[0], TERN_ENGINE_IND_INFO_FAULT);
    if (r == 0) {
        r = read_run(kmd, regs + 1, v + 1, detailed ? 12 : 7);
    }
    if (r == 0) {
        r = write_run(kmd, &(struct tern_hal_write){TERN_REG_ENGINE_IND_POP(e), 1u}, 1);
    }
    if (r) {
        return r;
    }
    *out = (struct tern_indication){
        .kind = FIELD(v[0], TERN_ENGINE_IND_INFO_KIND),
        .fault = FIELD(v[0], TERN_ENGINE_IND_INFO_FAULT),
        .access = FIELD(v[0], TERN_ENGINE_IND_INFO_ACCESS),
        .warp = FIELD(v[0], TERN_ENGINE_IND_INFO_WARP),
        .lane = FIELD(v[0], TERN_ENGINE_IND_INFO_LANE),
        .fence = v[1] | (uint64_t)v[2] << 32,
        .offset = v[3],
        .begin = v[4] | (uint64_t)v[5] << 32,
        .end = v[6] | (uint64_t)v[7] << 32,
        .va = v[8],
        .pc = v[9],
        .group = {v[10], v[11], v[12]},
    };
    return 1;
}

int tern_kmd_poll(struct tern_kmd *kmd, uint32_t e, struct tern_indication *out)
{
    tern_hal_assert_held(kmd->hal);
    struct tern_kmd_engine *q = &kmd->engine[e];
    struct tern_indication ind;
    int r;
    if (q->unpolled_count) {
        *out = q->unpolled[0];
        memmove(&q->unpolled[0], &q->unpolled[1], --q->unpolled_count * sizeof q->unpolled[0]);
        return 1;
    }
    while ((r = tern_kmd_take(kmd, e, &ind)) > 0) {
        r = account(kmd, q, e, &ind);
        if (r > 0) {
            *out = ind;
        }
        if (r) {
            return r;
        }
    }
    return r ? r : answered(q, out);
}

int tern_kmd_preempt(struct tern_kmd *kmd, uint32_t e, uint64_t fence, uint32_t granularity)
{
    tern_hal_assert_held(kmd->hal);
    struct tern_kmd_engine *q = &kmd->engine[e];
    const uint32_t finest = granularity < kmd->granularity ? granularity : kmd->granularity;
    if (q->stopping && fence != q->answer.fence) {
        return -EBUSY;
    }
    if (!q->stopping) {
        q->answer = (struct tern_indication){.kind = TERN_KMD_PREEMPTED, .fence = fence};
        q->stopping = true;
    }
    return q->n ? command(kmd, e,
                              TERN_ENGINE_COMMAND_PREEMPT_MASK | finest << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT) : 0;
}

/** Reads all indications of the hardware into `unpolled`. */
static int read_indications(struct tern_kmd *kmd, uint32_t e)
{
    struct tern_kmd_engine *q = &kmd->engine[e];
    struct tern_indication ind;
    int r;
    while ((r = tern_kmd_take(kmd, e, &ind)) > 0) {
        r = account(kmd, q, e, &ind);
        if (r < 0) {
            return r;
        }
        if (r) {
            q->unpolled[q->unpolled_count++] = ind;
        }
    }
    return r;
}

/** Empties the copy after a reset. Buffers that are left in it were aborted by the reset. */
static void settle(struct tern_kmd_engine *q)
{
    q->last_aborted = q->last_completed;
    if (q->n && !(q->stopping && q->answer.cut)) {
        q->last_aborted = q->last_completed = q->queue[q->n - 1]; /* a reset advances last_completed (P5) */
        q->stopping = false;
    }
    q->returns = false;
    q->n = 0; /* a buffer behind the one that was cut never began, and leaves with the answer */
    q->unpolled_count += (uint32_t)answered(q, &q->unpolled[q->unpolled_count]);
}

/** Indications are read even while the reset is not over: they would keep the interrupt raised, and a wait would return
 *  without device time passing. */
int tern_kmd_reset(struct tern_kmd *kmd, uint32_t e, bool begin, uint64_t *last_aborted)
{
    tern_hal_assert_held(kmd->hal);
    uint32_t status = 0;
    int r = begin ? command(kmd, e, TERN_ENGINE_COMMAND_RESET_MASK) : 0;
    if (r == 0) {
        r = read_status(kmd, e, &status);
    }
    if (r == 0) {
        r = read_indications(kmd, e);
    }
    if (!r && status & (TERN_ENGINE_STATUS_RESET_MASK | TERN_ENGINE_STATUS_QUEUED_MASK)) {
        return 1;
    }
    if (!r) {
        settle(&kmd->engine[e]);
        *last_aborted = kmd->engine[e].last_aborted;
    }
    return r;
}

int tern_kmd_reset_failed(uint32_t e)
{
    return tern_error(-ETIMEDOUT, "engine %u does not come out of reset within %u cycles", e, TERN_RESET_CYCLES);
}

#define RESET_POLL_CYCLES 4096u /* cycles between two polls of an engine in reset */
#define STATUS_WORK_MASK (TERN_ENGINE_STATUS_BUSY_MASK | TERN_ENGINE_STATUS_QUEUED_MASK | TERN_ENGINE_STATUS_RESET_MASK)

/** Resets an engine that runs work of a driver that was killed, and drops its indications. */
static int discard(struct tern_kmd *kmd, uint32_t e)
{
    struct tern_indication ind;
    uint32_t status = STATUS_WORK_MASK;
    int r = tern_kmd_interrupts(kmd, false);
    if (r == 0) {
        r = command(kmd, e, TERN_ENGINE_COMMAND_RESET_MASK);
    }
    for (uint32_t waited = 0; !r && status & STATUS_WORK_MASK; waited += RESET_POLL_CYCLES) {
        do {
            r = tern_kmd_take(kmd, e, &ind);
        } while (r > 0);
        if (r == 0) {
            r = read_status(kmd, e, &status);
        }
        if (!r && status & STATUS_WORK_MASK) {
            r = waited < TERN_RESET_CYCLES ? kmd->hal->ops->wait(kmd->hal, RESET_POLL_CYCLES)
                                           : tern_kmd_reset_failed(e);
            r = r > 0 ? 0 : r;
        }
    }
    return r;
}

int tern_kmd_take_over(struct tern_kmd *kmd)
{
    tern_hal_assert_held(kmd->hal);
    int r = 0;
    for (uint32_t e = 0; !r && e < kmd->engines; e++) {
        uint32_t status = 0;
        r = read_status(kmd, e, &status);
        if (!r && status & (STATUS_WORK_MASK | TERN_ENGINE_STATUS_INDICATIONS_MASK)) {
            r = discard(kmd, e);
        }
    }
    return r;
}

void tern_kmd_forget(struct tern_kmd *kmd)
{
    tern_hal_assert_held(kmd->hal);
    for (uint32_t e = 0; e < kmd->engines; e++) {
        struct tern_kmd_engine *q = &kmd->engine[e];
        q->unpolled_count = 0;
        q->last_completed = q->last_aborted = q->last_submitted;
    }
}

int tern_kmd_status(struct tern_kmd *kmd, uint32_t e, struct tern_kmd_status *out)
{
    tern_hal_assert_held(kmd->hal);
    const struct tern_kmd_engine *q = &kmd->engine[e];
    uint32_t status = 0;
    int r = read_status(kmd, e, &status);
    if (!r) {
        *out = (struct tern_kmd_status){
            .queued = q->n,
            .busy = status & TERN_ENGINE_STATUS_BUSY_MASK,
            .stopping = q->stopping,
            .last_submitted = q->last_submitted,
            .last_completed = q->last_completed,
            .last_aborted = q->last_aborted,
        };
    }
    return r;
}

uint32_t tern_kmd_dependent(const struct tern_kmd *kmd, uint32_t e)
{
    (void)kmd;
    return 1u << e;
}
