/* SPDX-License-Identifier: Apache-2.0 */
/** tern_submit for tests, which name the fields of a submission in one line. */
#ifndef TESTS_SUBMIT_H
#define TESTS_SUBMIT_H

#include "tern/tern.h"

static inline int submit_data(struct tern_context *context, const void *packets, size_t packet_bytes, const void *data,
                              size_t data_bytes, const char *label, uint64_t *fence)
{
    const struct tern_submission s = {.size = sizeof s, .packets = packets, .packet_bytes = packet_bytes,
                                      .data = data, .data_bytes = data_bytes, .label = label};
    return tern_submit(context, &s, fence);
}

static inline int submit_packets(struct tern_context *context, const void *packets, size_t bytes, const char *label,
                                 uint64_t *fence)
{
    return submit_data(context, packets, bytes, NULL, 0, label, fence);
}

static inline int submit_null(struct tern_context *context, const char *label, uint64_t *fence)
{
    const struct tern_submission s = {.size = sizeof s, .flags = TERN_SUBMISSION_NULL, .label = label};
    return tern_submit(context, &s, fence);
}

#endif
