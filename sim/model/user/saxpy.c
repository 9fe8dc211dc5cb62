/* SPDX-License-Identifier: Apache-2.0 */
/** The user executor saxpy: y[i] += a * x[i] for ascending i, a line of y at a time. */
#include "../executor.h"

#define LINE 64u

bool user_saxpy(struct executor_call *c)
{
    const uint32_t n = c->args[TERN_USER_SAXPY_N], a = c->args[TERN_USER_SAXPY_A];
    const uint32_t x = c->args[TERN_USER_SAXPY_X], y = c->args[TERN_USER_SAXPY_Y];
    uint32_t *done = &c->state[TERN_USER_SAXPY_STATE_DONE];
    if (x % 4 || y % 4 || n >> 30) {
        return executor_fault(c, x % 4 ? x : y % 4 ? y : 0);
    }
    if (*done > n) {
        return executor_state_invalid(c);
    }
    while (*done < n) {
        const uint32_t xa = x + 4 * *done, ya = y + 4 * *done, fits = (LINE - ya % LINE) / 4;
        const uint32_t part = fits < n - *done ? fits : n - *done;
        uint32_t xs[LINE / 4], ys[LINE / 4]; /* a line of y is written after all its elements were read */
        if (!executor_may_go_on(c, part)) {
            return false;
        }
        for (uint32_t i = 0; i < part; i++) {
            if (!executor_read(c, xa + 4 * i, &xs[i], 4) || !executor_read(c, ya + 4 * i, &ys[i], 4)) {
                return false;
            }
            ys[i] = executor_fma(a, xs[i], ys[i]);
        }
        if (!executor_write(c, ya, ys, 4 * part)) {
            return false;
        }
        *done += part;
    }
    return true;
}
