/* SPDX-License-Identifier: Apache-2.0 */
#include "victim.h"

bool stops(void)
{
    struct device d;
    device_open(&d, &(struct tern_sim_config){.mem_bytes = 64u << 20});
    uint32_t finest = (reg_read(&d, TERN_REG_DEV_CONFIG1) & TERN_DEV_CONFIG1_PREEMPT_GRAN_MASK) >>
        TERN_DEV_CONFIG1_PREEMPT_GRAN_SHIFT;
    device_close(&d);
    return finest == INSTRUCTION;
}

void preempt(struct device *d, uint32_t engine, uint32_t granularity)
{
    reg_write(d, TERN_REG_ENGINE_COMMAND(engine),
              TERN_ENGINE_COMMAND_PREEMPT_MASK | granularity << TERN_ENGINE_COMMAND_GRANULARITY_SHIFT);
}

/* Each work-item sums up words of its own in a loop, as many as its id says, on its stack. The group reverses the sums
 * in local memory behind a barrier. A counter in memory counts the work-items. */
void build_kernel(struct device *d)
{
    const uint32_t code[] = {
        csrr(T0, 0xcd0), itype(0x13, 7, T1, T0, 7), addi(T1, T1, 3), lw(T2, 0, A0), sh2add(T2, T0, T2),
            sw(ZERO, -8, SP),
        /* the loop */
        lw(T3, 0, T2), lw(T4, -8, SP), add(T4, T4, T3), sw(T4, -8, SP), addi(T2, T2, 4), addi(T1, T1, -1),
        beq(T1, ZERO, 8), 0xfe5ff06fu /* j -28 */,
        csrr(T1, 0xcc0), lui(T2, TERN_WIN_LOCAL_BASE), sh2add(T3, T1, T2), lw(T4, -8, SP), sw(T4, 0, T3), BARRIER,
        csrr(T5, 0xcc6), addi(T5, T5, -1), rtype(0x20, 0, T5, T5, T1), sh2add(T5, T5, T2), lw(T6, 0, T5),
        lw(T2, 4, A0), sh2add(T3, T0, T2), sw(T6, 0, T3), addi(T3, ZERO, 1), addi(T2, T2, ITEMS * 4),
        amoadd(ZERO, T3, T2), EXIT,
    };
    const uint32_t args[] = {VA + IN, VA + OUT};
    uint32_t in[ITEMS + 16], zero[ITEMS] = {0};
    for (uint32_t i = 0; i < ITEMS + 16; i++) {
        in[i] = i * i + 17;
    }
    poke(d, IN, in, sizeof in);
    poke(d, OUT, zero, 4 * ITEMS);
    poke(d, ARGS, args, sizeof args);
    poke(d, CODE, code, sizeof code);
    map(d, ROOT, VA, BASE, PAGES, RWX);
    packet_fill(d, VA + OUT + 4 * ITEMS, 4, 0); /* the device clears the counter: it may cache words used by atomics */
    packet_dispatch(d, (struct range){{ITEMS, 1, 1}, {LOCAL, 1, 1}, LOCAL_BYTES});
}

void check_kernel(struct device *d)
{
    uint32_t out[ITEMS + 1];
    peek(d, OUT, out, sizeof out);
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint32_t first = i / LOCAL * LOCAL, size = ITEMS - first < LOCAL ? ITEMS - first : LOCAL,
            from = first + size - 1 - i % LOCAL;
        uint32_t sum = 0;
        for (uint32_t k = from; k < from + (from & 7) + 3; k++) {
            sum += k * k + 17;
        }
        assert_int_equal(out[i], sum);
    }
    assert_int_equal(out[ITEMS], ITEMS);
}
