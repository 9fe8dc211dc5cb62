/* SPDX-License-Identifier: Apache-2.0 */
/** The user executor NAME: dst[i] = src[i] ^ key, a line at a time. */
#include "../executor.h"

#define LINE_WORDS 16u

bool user_NAME(struct executor_call *c)
{
    const uint32_t n = c->args[TERN_USER_UPPER_N];
    const uint32_t key = c->args[TERN_USER_UPPER_KEY];
    const uint32_t src = c->args[TERN_USER_UPPER_SRC];
    const uint32_t dst = c->args[TERN_USER_UPPER_DST];
    uint32_t *done = &c->state[TERN_USER_UPPER_STATE_DONE];
    if (src % 64 || dst % 64 || n >> 30) {
        return executor_fault(c, src % 64 ? src : dst % 64 ? dst : 0);
    }
    if (*done > n || (*done % LINE_WORDS && *done != n)) {
        return executor_state_invalid(c);
    }
    while (*done < n) {
        const uint32_t part = n - *done < LINE_WORDS ? n - *done : LINE_WORDS;
        uint32_t line[LINE_WORDS];
        if (!executor_may_go_on(c, part) || !executor_read(c, src + 4 * *done, line, 4 * part)) {
            return false;
        }
        for (uint32_t i = 0; i < part; i++) {
            line[i] ^= key;
        }
        if (!executor_write(c, dst + 4 * *done, line, 4 * part)) {
            return false;
        }
        *done += part;
    }
    return true;
}
