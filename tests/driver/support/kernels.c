/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

const uint32_t code_spin[11] = {
    0x00000393, /* li t2, 0 */
    0x00138393, /* loop: addi t2, t2, 1 */
    0x00752423, /* sw t2, 8(a0) */
    0x1005232f, /* lr.w t1, (a0): not from a cache, and never written back over what the host writes */
    0xfe030ae3, /* beqz t1, loop */
    0xffe30e13, /* addi t3, t1, -2 */
    0x000e0663, /* beqz t3, bad */
    0x00652223, /* sw t1, 4(a0) */
    0x0000100b, /* exit */
    0x00002023, /* bad: sw zero, 0(zero) */
    0x0000100b, /* exit */
};

const uint32_t code_mix[13] = {
    0x00052303, 0x00452383, 0xcd002e73, /* lw t1, 0(a0); lw t2, 4(a0); csrr t3, global_id_x */
    0x00000293,                         /* li t0, 0 */
    0x02630eb3, 0x01d282b3,             /* again: mul t4, t1, t1; add t0, t0, t4 */
    0x01c2c2b3, 0xfff30313,             /* xor t0, t0, t3; addi t1, t1, -1 */
    0xfe0318e3,                         /* bnez t1, again */
    0x002e1e13, 0x01c383b3, 0x0053a023, /* slli t3, t3, 2; add t2, t2, t3; sw t0, 0(t2) */
    0x0000100b,                         /* exit */
};

const uint32_t code_stream[15] = {
    0x00052303, 0x00452383, 0x00852283, 0x00c52e03, /* lw t1, 0(a0); lw t2, 4(a0); lw t0, 8(a0); lw t3, 12(a0) */
    0xcd002f73, 0x206f4333, 0x207f43b3,             /* csrr t5, global_id_x; sh2add t1, t5, t1; sh2add t2, t5, t2 */
    0x00032e83, 0x01ee8eb3, 0x01d3a023,             /* again: lw t4, 0(t1); add t4, t4, t5; sw t4, 0(t2) */
    0x01c30333, 0x01c383b3, 0xfff28293,             /* add t1, t1, t3; add t2, t2, t3; addi t0, t0, -1 */
    0xfe0294e3, 0x0000100b,                         /* bnez t0, again; exit */
};

const uint32_t code_trap[6] = {
    0x00052f03, 0x00000313, 0x00130313, /* lw t5, 0(a0); li t1, 0; again: addi t1, t1, 1 */
    0xffe36ee3, 0x00002023, 0x0000100b, /* bltu t1, t5, again; sw zero, 0(zero); exit */
};

uint32_t mixed(uint32_t n, uint32_t id)
{
    uint32_t x = 0;
    for (; n; n--) {
        x = (x + n * n) ^ id;
    }
    return x;
}
