/* SPDX-License-Identifier: Apache-2.0 */
/** Loops of machine code (tc_loops.h). */
#include "tc_loops.h"

#include <stdbool.h>
#include <string.h>

#include "tc_code.h"

/** True: word `from` leads to word `to`, which is not before it, by words between them. */
static bool reaches(const uint32_t *code, uint32_t from, uint32_t to, uint8_t *met)
{
    memset(met + from, 0, to - from + 1);
    met[from] = 1;
    for (bool changed = true; changed && !met[to];) {
        changed = false;
        for (uint32_t i = from; i <= to; i++) {
            const int64_t target = i + (int64_t)(tc_code_is_call(code[i]) ? 0 : tc_code_target(code[i]) / 4);
            if (met[i] && target >= from && target <= to && !met[target]) {
                met[target] = 1;
                changed = true;
            }
            if (met[i] && i < to && tc_code_falls_through(code[i]) && !met[i + 1]) {
                met[i + 1] = 1;
                changed = true;
            }
        }
    }
    return met[to];
}

uint32_t tc_find_loops(const uint32_t *code, uint32_t words, struct tc_loop *loops, uint8_t *scratch)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < words; i++) {
        const int32_t by = tc_code_target(code[i]) / 4;
        if (by >= 0 || (uint32_t)-by > i || !reaches(code, i - (uint32_t)-by, i, scratch)) {
            continue;
        }
        const uint32_t to = i - (uint32_t)-by;
        uint32_t k = 0;
        while (k < n && loops[k].from != to) {
            k++;
        }
        loops[k] = (struct tc_loop){to, i};
        n += k == n;
    }
    return n;
}
