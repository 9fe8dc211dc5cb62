/* SPDX-License-Identifier: Apache-2.0 */
/** The inner loop of a function of machine code, and what its instructions are for. */
#ifndef TERN_LOOP_H
#define TERN_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/** Purpose of an instruction, as far as the machine code tells. */
enum loop_class {
    LOOP_COMPUTE, /**< Floating arithmetic; and integer instructions that are not LOOP_ADDRESS. */
    LOOP_ACCESS,  /**< Loads, stores and atomics, except LOOP_STACK. */
    LOOP_ADDRESS, /**< Integer instructions whose results end in addresses and conditions of the loop only. */
    LOOP_CONTROL, /**< Branches, jumps, calls, barriers, fences and ends. */
    LOOP_STACK,   /**< Loads and stores of the stack: their address is sp and a constant. */
    LOOP_CLASSES
};

struct loop {
    bool whole;                     /**< There is no loop: all instructions are meant. */
    bool *inside;                   /**< For each word of the code: it belongs to the loop. */
    uint32_t n;                     /**< Instructions inside. */
    uint32_t of[LOOP_CLASSES];      /**< Instructions of each class. */
};

/** Finds the inner loop and its classes: the longest of the most deeply nested loops. rounds: the function is an entry
 *  for rounds, whose loops within the loop over rounds run single work-items. For these, the loop with the most
 *  instructions of its own is taken, without the loops in it. The caller frees loop->inside. False: no memory. */
bool loop_find(const uint32_t *code, uint32_t words, bool rounds, struct loop *loop);

#endif
