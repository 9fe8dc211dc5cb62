/* SPDX-License-Identifier: Apache-2.0 */
/** Refuses submissions until the memory that they use is named. The linker wraps both functions of the driver. */
#include "no_room.h"

#include <errno.h>
#include <string.h>
#include <tern/tern.h>

__attribute__((visibility("default"))) struct no_room no_room;

int __real_tern_submit(struct tern_context *ctx, const struct tern_submission *submission, uint64_t *fence);
int __wrap_tern_submit(struct tern_context *ctx, const struct tern_submission *submission, uint64_t *fence);
int __real_tern_context_set_residency(struct tern_context *ctx, const uint32_t *addresses, uint32_t n);
int __wrap_tern_context_set_residency(struct tern_context *ctx, const uint32_t *addresses, uint32_t n);

int __wrap_tern_submit(struct tern_context *ctx, const struct tern_submission *submission, uint64_t *fence)
{
    if (no_room.on && no_room.count == 0) {
        no_room.refused++;
        return -ENOSPC;
    }
    no_room.count = 0; /* The next command uses other memory. */
    return __real_tern_submit(ctx, submission, fence);
}

int __wrap_tern_context_set_residency(struct tern_context *ctx, const uint32_t *addresses, uint32_t n)
{
    no_room.named++;
    no_room.count = n < NO_ROOM_NAMES ? n : NO_ROOM_NAMES;
    memcpy(no_room.names, addresses, no_room.count * sizeof *addresses);
    return __real_tern_context_set_residency(ctx, addresses, n);
}
