/* SPDX-License-Identifier: Apache-2.0 */
/** The cases of the bench. */
#include "bench.h"

#define RANDOM(x, y, lx, ly) {.name = "random", .global = {x, y, 1}, .local = {lx, ly, 1}, \
                              .local_bytes = 64 * (lx) * (ly), .slots = 4}
#define FAULT(what, number, code_) \
    {.name = "fault-" what, .source = "faults", .global = {40, 1, 1}, .local = {20, 1, 1}, .args = {DATA, number}, \
     .local_bytes = 256, .fault = code_}
#define PARTED(what, item, number, code_)                                                                              \
    {.name = "parted-" what, .source = "parted", .global = {150, 1, 1}, .local = {50, 1, 1}, \
     .args = {DATA, item, number}, .fault = code_}

static void floats(uint8_t *memory)
{
    for (uint32_t i = 0; i < 0x40000; i++) {
        float f = (float)(int32_t)(i * 2654435761u) / 65536.0f / 65536.0f;
        memcpy(memory + DATA + 4 * i, &f, 4);
    }
}

static const struct bench_case cases[] = {
    {.name = "vecadd-small", .source = "vecadd", .global = {40, 1, 1}, .local = {20, 1, 1},
     .args = {DATA, DATA + 0x40000, DATA + 0x200000}, .fill = floats},
    RANDOM(8, 1, 8, 1),
    RANDOM(32, 1, 16, 1),
    RANDOM(100, 1, 33, 1),
    RANDOM(24, 9, 8, 3),
    RANDOM(50, 7, 9, 5),
    RANDOM(64, 8, 32, 2),
    RANDOM(33, 16, 16, 4),
    RANDOM(64, 1, 64, 1),
    RANDOM(16, 4, 16, 1),
    RANDOM(40, 3, 20, 3),
    RANDOM(31, 5, 31, 1),
    RANDOM(96, 2, 48, 1),
    {.name = "recursion", .source = "recursion", .global = {150, 1, 1}, .local = {50, 1, 1}, .args = {DATA}},
    {.name = "reduce", .source = "reduce", .global = {200, 1, 1}, .local = {48, 1, 1},
     .args = {DATA, DATA + 0x10000, DATA + 0x20000}, .local_bytes = 1024, .fill = floats},
    {.name = "spin", .source = "spin", .global = {60, 1, 1}, .local = {20, 1, 1}, .args = {DATA, DATA + 0x1000},
     .local_bytes = 64},
    {.name = "unwritten", .source = "unwritten", .global = {90, 1, 1}, .local = {20, 1, 1}, .args = {DATA},
     .local_bytes = 2048, .scrub = true},
    {.name = "used", .source = "unused", .global = {160, 1, 1}, .local = {32, 1, 1}, .args = {DATA, 0}},
    {.name = "unused", .source = "unused", .global = {160, 1, 1}, .local = {32, 1, 1}, .args = {DATA, 1}},
    FAULT("none", 99, 0),
    FAULT("illegal", 0, TERN_FAULT_ILLEGAL_INSTRUCTION),
    FAULT("ecall", 1, TERN_FAULT_ENVIRONMENT_CALL),
    FAULT("misaligned", 2, TERN_FAULT_MISALIGNED),
    FAULT("local", 3, TERN_FAULT_LOCAL_OVERRUN),
    FAULT("stack", 4, TERN_FAULT_STACK_OVERFLOW),
    FAULT("bus", 5, TERN_FAULT_BUS_ERROR),
    FAULT("jump", 6, TERN_FAULT_MISALIGNED),
    FAULT("rounding", 7, TERN_FAULT_ILLEGAL_INSTRUCTION),
    FAULT("csr-write", 8, TERN_FAULT_ILLEGAL_INSTRUCTION),
    FAULT("fetch", 9, TERN_FAULT_BUS_ERROR),
    FAULT("csr", 10, TERN_FAULT_ILLEGAL_INSTRUCTION),
    FAULT("packet", 99, TERN_FAULT_PACKET_BOUNDS),
    PARTED("ended", 50, 0, TERN_FAULT_BARRIER_DIVERGENCE),
    PARTED("ended-last", 99, 0, TERN_FAULT_BARRIER_DIVERGENCE),
    PARTED("before", 77, 1, TERN_FAULT_BARRIER_DIVERGENCE),
    PARTED("behind", 61, 2, TERN_FAULT_BARRIER_DIVERGENCE),
    PARTED("ends-late", 60, 3, TERN_FAULT_BARRIER_DIVERGENCE),
    PARTED("alone", 120, 4, TERN_FAULT_BARRIER_DIVERGENCE),
    PARTED("nobody", 51, 5, 0),
    FAULT("guard", 11, TERN_FAULT_STACK_OVERFLOW),
    {.name = "vecadd", .source = "vecadd", .global = {16384, 1, 1}, .local = {64, 1, 1},
     .args = {DATA, DATA + 0x40000, DATA + 0x200000}, .fill = floats},
    {.name = "sgemm", .source = "sgemm", .global = {32, 32, 1}, .local = {8, 8, 1},
     .args = {DATA, DATA + 0x40000, DATA + 0x200000, 32}, .fill = floats},
};

const struct bench_case *bench_cases(uint32_t *count)
{
    *count = sizeof cases / sizeof *cases;
    return cases;
}
