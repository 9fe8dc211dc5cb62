/* SPDX-License-Identifier: Apache-2.0 */
/** One engine: doorbell, indications, preemption, reset. */
#include <errno.h>

#include "base/error.h"
#include "kmd/kmd.h"
#include "kmd/regs.h"

#define RESET_POLLS 1024
#define RESET_CYCLES 1024u

static int write_run(struct tern_kmd *k, const uint32_t (*pairs)[2], size_t n)
{
    int r = 0;
    for (size_t i = 0; !r && i < n; i++) {
        r = k->hal->ops->write32(k->hal, pairs[i][0], pairs[i][1]);
    }
    return r;
}

static int read_run(struct tern_kmd *k, const uint32_t *offset, uint32_t *value, size_t n)
{
    int r = 0;
    for (size_t i = 0; !r && i < n; i++) {
        r = k->hal->ops->read32(k->hal, offset[i], &value[i]);
    }
    return r;
}

int tern_kmd_submit(struct tern_kmd *kmd, uint32_t e, const struct tern_hw_entry *s)
{
    const uint32_t writes[][2] = {
        {TERN_REG_ENGINE_SUB_FENCE_LO(e), (uint32_t)s->fence},
        {TERN_REG_ENGINE_SUB_FENCE_HI(e), (uint32_t)(s->fence >> 32)},
        {TERN_REG_ENGINE_SUB_BUFFER_LO(e), (uint32_t)s->buffer},
        {TERN_REG_ENGINE_SUB_BUFFER_HI(e), (uint32_t)(s->buffer >> 32)},
        {TERN_REG_ENGINE_SUB_SIZE(e), s->size},
        {TERN_REG_ENGINE_SUB_ROOT(e), s->root},
        {TERN_REG_ENGINE_SUB_CONTEXT(e), s->context},
        {TERN_REG_ENGINE_SUB_SAVE(e), s->save},
        {TERN_REG_ENGINE_SUB_FLAGS(e), s->paging ? TERN_ENGINE_SUB_FLAGS_PAGING_MASK : 0u},
        {TERN_REG_ENGINE_SUB_DOORBELL(e), 1u},
    };
    uint32_t status = 0;
    int r = write_run(kmd, writes, sizeof writes / sizeof *writes);
    r = r ? r : kmd->hal->ops->read32(kmd->hal, TERN_REG_ENGINE_STATUS(e), &status);
    if (!r && status & TERN_ENGINE_STATUS_REFUSED_MASK) {
        r = -EAGAIN;
    }
    return r;
}

int tern_kmd_poll(struct tern_kmd *kmd, uint32_t e, struct tern_indication *out)
{
    uint32_t status = 0;
    int r = kmd->hal->ops->read32(kmd->hal, TERN_REG_ENGINE_STATUS(e), &status);
    if (r || !FIELD(status, TERN_ENGINE_STATUS_INDICATIONS)) {
        return r;
    }
    const uint32_t regs[] = {TERN_REG_ENGINE_IND_INFO(e),     TERN_REG_ENGINE_IND_FENCE_LO(e), TERN_REG_ENGINE_IND_FENCE_HI(e),
                             TERN_REG_ENGINE_IND_OFFSET(e),   TERN_REG_ENGINE_IND_BEGIN_LO(e), TERN_REG_ENGINE_IND_BEGIN_HI(e),
                             TERN_REG_ENGINE_IND_END_LO(e),   TERN_REG_ENGINE_IND_END_HI(e),   TERN_REG_ENGINE_IND_VA(e),
                             TERN_REG_ENGINE_IND_PC(e),       TERN_REG_ENGINE_IND_GROUP_X(e),  TERN_REG_ENGINE_IND_GROUP_Y(e),
                             TERN_REG_ENGINE_IND_GROUP_Z(e)};
    uint32_t v[13] = {0};
    r = read_run(kmd, regs, v, 1);
    bool faulted = FIELD(v[0], TERN_ENGINE_IND_INFO_KIND) == TERN_ENGINE_IND_INFO_KIND_FAULTED;
    r = r ? r : read_run(kmd, regs + 1, v + 1, faulted ? 12 : 7);
    r = r ? r : kmd->hal->ops->write32(kmd->hal, TERN_REG_ENGINE_IND_POP(e), 1u);
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

int tern_kmd_preempt(struct tern_kmd *kmd, uint32_t e)
{
    uint32_t command = TERN_ENGINE_COMMAND_PREEMPT_MASK | TERN_ENGINE_COMMAND_GRANULARITY_PACKET << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT;
    return kmd->hal->ops->write32(kmd->hal, TERN_REG_ENGINE_COMMAND(e), command);
}

int tern_kmd_reset(struct tern_kmd *kmd, uint32_t e)
{
    uint32_t status = 0;
    int r = kmd->hal->ops->write32(kmd->hal, TERN_REG_ENGINE_COMMAND(e), TERN_ENGINE_COMMAND_RESET_MASK);
    for (int i = 0; !r && i < RESET_POLLS; i++) {
        r = kmd->hal->ops->read32(kmd->hal, TERN_REG_ENGINE_STATUS(e), &status);
        if (!r && !(status & (TERN_ENGINE_STATUS_RESET_MASK | TERN_ENGINE_STATUS_QUEUED_MASK))) {
            return 0;
        }
        r = r ? r : kmd->hal->ops->wait(kmd->hal, RESET_CYCLES);
    }
    return r ? r : tern_error(-ETIMEDOUT, "engine %u does not come out of reset (status 0x%08x)", e, status);
}
