/* SPDX-License-Identifier: Apache-2.0 */
/** The loops of a function of machine code, for programs that count instructions. */
#ifndef TC_LOOPS_H
#define TC_LOOPS_H

#include <stdint.h>

/** A loop: words from its first one to the last branch that repeats it. */
struct tc_loop {
    uint32_t from, to;
};

/** Finds all loops of `words` words of code, which are fewer than that. A branch backwards closes a loop if its target
 *  leads to it again; compilers put the ends of rare paths behind a branch, too. Branches to the same target belong to
 *  one loop. `scratch` has a byte for each word. Returns their number. */
uint32_t tc_find_loops(const uint32_t *code, uint32_t words, struct tc_loop *loops, uint8_t *scratch);

#endif
