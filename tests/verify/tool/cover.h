/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Instructions of functional coverage (cover.c; its functions are in verify.h).
 *
 * Coverage counts which instructions ran with which operands, rounding modes, address patterns and parts of a warp.
 *
 * Bins are named op.ASPECT, e.g. "mulh.rs1=min,rs2=minus_one", "lw.private.scatter", "fadd_s.rm=rdn", "bltu.split".
 * Pipeline events are counted in the RTL (sim/rtl/cover); scripts/coverage combines both in one report.
 */
#ifndef COVER_H
#define COVER_H

#include <stdint.h>

/** Properties of an instruction, which decide its bins. */
enum {
    HAS_RD = 1u << 0,
    HAS_RS1 = 1u << 1,
    HAS_RS2 = 1u << 2,
    HAS_RS3 = 1u << 3,
    HAS_CROSS = 1u << 4,   /* classes of rs1 x rs2 */
    HAS_FP1 = 1u << 5,     /* rs1 is floating point */
    HAS_FP2 = 1u << 6,     /* rs2 and rs3 are floating point */
    HAS_RM = 1u << 7,
    HAS_ADDRESS = 1u << 8, /* address rs1 + imm_i */
    HAS_STORE = 1u << 9,   /* address rs1 + imm_s */
    HAS_AMO = 1u << 10,    /* address rs1 */
    HAS_BRANCH = 1u << 11,
    HAS_IMM = 1u << 12,    /* has imm_i */
};

struct cover_op {
    const char *name;
    uint32_t mask, match, has;
};

extern const struct cover_op cover_ops[];
extern const uint32_t cover_op_count;

#endif
