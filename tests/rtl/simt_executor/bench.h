/* SPDX-License-Identifier: Apache-2.0 */
/** The bench of the SIMT executor, with two copies of memory: one for the hardware, one for the functional model. */
#ifndef BENCH_H
#define BENCH_H

#include "model.h"

#define MEMORY_BYTES 0x1000000u
#define ARGS 0x8000u
#define CODE 0x10000u
#define DATA 0x100000u
#define STACK 0x800000u /* stacks are not compared: their order depends on the lanes of work-items */

struct bench_case {
    const char *name;
    const char *source;        /* kernel kernels/SOURCE.c; NULL: a random program */
    uint32_t global[3], local[3];
    uint32_t args[8];          /* words of the argument block */
    uint32_t local_bytes, slots;
    uint32_t fault;            /* expected fault code; 0: none */
    bool scrub;                /* a kernel of another process runs before this one */
    void (*fill)(uint8_t *memory);
};

extern uint32_t bench_lanes, bench_warps;
uint64_t bench_random(void);
/** Writes a random program at CODE, its inputs and its arguments. */
void bench_random_program(uint8_t *memory, uint32_t *args);
const struct bench_case *bench_cases(uint32_t *count);

#endif
