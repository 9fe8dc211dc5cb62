/* SPDX-License-Identifier: Apache-2.0 */
/** The inner loop of machine code, and what its instructions are for (loop.h). Code may be any words. */
#include "support.h"
#include "loop.h"

enum { ZERO, RA, SP, T0 = 5, T1, T2, A0 = 10, A1, A2, A3, A4 };

static uint32_t r(uint32_t opcode, uint32_t funct, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return opcode | rd << 7 | funct << 12 | rs1 << 15 | rs2 << 20;
}

#define ADD(rd, rs1, rs2) r(0x33, 0, rd, rs1, rs2)
#define SLT(rd, rs1, rs2) r(0x33, 2, rd, rs1, rs2)
#define ADDI(rd, rs1, value) r(0x13, 0, rd, rs1, (value) & 0xfff)
#define LW(rd, at, rs1) r(0x03, 2, rd, rs1, (at) & 0xfff)
#define SW(rs2, at, rs1) (r(0x23, 2, 0, rs1, rs2) | ((at) & 31) << 7 | (uint32_t)(at) >> 5 << 25)
#define FADD(rd, rs1, rs2) r(0x53, 7, rd, rs1, rs2)
#define FMADD(rd, rs1, rs2, rs3) (r(0x43, 7, rd, rs1, rs2) | (uint32_t)(rs3) << 27)
#define AMOADD(rd, rs2, rs1) r(0x2f, 2, rd, rs1, rs2)
#define CALL r(0x6f, 0, RA, 0, 0)
#define EXIT 0x0000100bu
#define BARRIER 0x0000000bu

/** A branch over `words` words. */
static uint32_t bne(uint32_t rs1, uint32_t rs2, int words)
{
    const uint32_t by = (uint32_t)(words * 4);
    return r(0x63, 1, 0, rs1, rs2) | (by >> 11 & 1) << 7 | (by >> 1 & 15) << 8 | (by >> 5 & 63) << 25 |
           (by >> 12 & 1) << 31;
}

/** A jump over `words` words. */
static uint32_t jump(int words)
{
    const uint32_t by = (uint32_t)(words * 4);
    return 0x6f | (by & 0xff000) | (by >> 11 & 1) << 20 | (by >> 1 & 1023) << 21 | (by >> 20 & 1) << 31;
}

#define CODE_WORDS_MAX 16

static void test_loops(void **state)
{
    (void)state;
    const struct {
        const char *what;
        uint32_t code[CODE_WORDS_MAX];
        bool rounds, whole;
        unsigned first, n;               /* First instruction of the loop, and number of them. */
        unsigned of[LOOP_CLASSES];       /* compute, access, address, control, stack */
    } cases[] = {
        {"no loop", {ADDI(T0, A0, 4), LW(T1, 0, T0), ADDI(T1, T1, 1), SW(T1, 0, T0), EXIT}, false, true, 0, 5,
         {1, 2, 1, 1, 0}},
        {"a sum leaves the loop", {ADDI(A1, ZERO, 0), LW(T0, 0, A0), ADD(A1, A1, T0), ADDI(A0, A0, 4), bne(A0, A2, -3),
                                   EXIT}, false, false, 1, 4, {1, 1, 1, 1, 0}},
        {"a counter is stored", {SW(A0, 0, A3), ADDI(A0, A0, 1), bne(A0, A2, -2), EXIT}, false, false, 0, 3,
         {1, 1, 0, 1, 0}},
        {"a counter is added to floats", {FADD(T0, T0, A0), ADDI(A0, A0, 1), bne(A0, A2, -2), EXIT}, false, false, 0, 3,
         {2, 0, 0, 1, 0}},
        {"the third operand", {FMADD(T0, T0, T0, A0), ADDI(A0, A0, 1), bne(A0, A2, -2), EXIT}, false, false, 0, 3,
         {2, 0, 0, 1, 0}},
        {"an index from memory", {LW(T0, 0, A0), ADD(T0, T0, T0), ADD(T0, A1, T0), LW(T1, 0, T0), FADD(T2, T2, T1),
                                  ADDI(A0, A0, 4), bne(A0, A2, -6), EXIT}, false, false, 0, 7, {1, 2, 3, 1, 0}},
        {"a register with two values", {ADDI(T0, A0, 4), LW(T1, 0, T0), ADDI(T0, T1, 1), SW(T0, 0, A1), bne(A0, A2, -4),
                                        EXIT}, false, false, 0, 5, {1, 2, 1, 1, 0}},
        {"a condition", {SLT(T0, A0, A1), ADDI(A0, A0, 1), bne(T0, ZERO, -2), EXIT}, false, false, 0, 3,
         {0, 0, 2, 1, 0}},
        {"the stack", {LW(T0, 8, SP), SW(T0, 12, SP), ADDI(A0, A0, 1), bne(A0, A2, -3), EXIT}, false, false, 0, 4,
         {0, 0, 1, 1, 2}},
        {"an atomic", {ADDI(T0, A0, 4), ADDI(T1, A0, 5), AMOADD(ZERO, T1, T0), BARRIER, bne(A0, A2, -4), EXIT}, false,
         false, 0, 5, {1, 1, 1, 2, 0}},
        {"an argument", {ADDI(A0, ZERO, 5), ADDI(T0, T0, 1), CALL, bne(T0, A2, -3), EXIT}, false, false, 0, 4,
         {1, 0, 1, 2, 0}},
        {"a value over a branch", {ADDI(T0, A0, 4), bne(A0, A1, 2), ADDI(T0, A1, 8), LW(T1, 0, T0), SW(T0, 0, T1),
                                   bne(A0, A2, -5), EXIT}, false, false, 0, 6, {2, 2, 0, 2, 0}},
        {"no value over a jump", {ADDI(T0, A0, 4), LW(T1, 0, T0), jump(2), SW(T0, 0, A1), bne(A0, A2, -4), EXIT}, false,
         false, 0, 5, {0, 2, 1, 2, 0}},
        {"the deepest loop", {ADDI(A0, A0, 1), ADDI(A0, A0, 1), ADDI(A1, A1, 1), bne(A1, A2, -1), bne(A0, A2, -4),
                              EXIT}, false, false, 2, 2, {0, 0, 1, 1, 0}},
        {"the longest of two", {ADDI(A1, A1, 1), bne(A1, A2, -1), ADDI(A1, A1, 1), ADDI(A1, A1, 1), bne(A1, A2, -2),
                                EXIT}, false, false, 2, 3, {0, 0, 2, 1, 0}},
        {"two ends of a loop", {ADDI(A1, A1, 1), bne(A1, A3, -1), ADDI(A1, A1, 1), bne(A1, A2, -3), EXIT}, false, false,
         0, 4, {0, 0, 2, 2, 0}},
        {"rounds", {ADDI(A0, A0, 1), ADDI(A0, A0, 1), ADDI(A1, A1, 1), bne(A1, A2, -1), bne(A0, A2, -4), EXIT}, true,
         false, 0, 3, {0, 0, 2, 1, 0}},
        {"a loop of one instruction is none", {jump(0), EXIT}, false, true, 0, 2, {0, 0, 0, 2, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loop loop;
        uint32_t words = 0, first = 0;
        while (cases[i].code[words] != EXIT) {
            words++;
        }
        words++;
        assert_true(loop_find(cases[i].code, words, cases[i].rounds, &loop));
        while (!loop.inside[first]) {
            first++;
        }
        if (loop.whole != cases[i].whole || loop.n != cases[i].n || first != cases[i].first) {
            fail_msg("%s: whole %d, %u instructions from %u", cases[i].what, loop.whole, loop.n, first);
        }
        for (unsigned c = 0; c < LOOP_CLASSES; c++) {
            if (loop.of[c] != cases[i].of[c]) {
                fail_msg("%s: class %u has %u instructions, not %u", cases[i].what, c, loop.of[c], cases[i].of[c]);
            }
        }
        free(loop.inside);
    }
}

/** The classes of any words are all instructions of the loop, and no access is out of bounds (under sanitizers). */
static void test_any_words(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (unsigned round = 0; round < 3000; round++) {
        const uint32_t words = round % 40;
        uint32_t *code = calloc(words + 1, sizeof *code);
        for (uint32_t i = 0; i < words; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const uint32_t any = (uint32_t)(seed >> 32);
            static const uint32_t opcodes[] = {0x03, 0x13, 0x23, 0x2f, 0x33, 0x53, 0x63, 0x67, 0x6f, 0x43};
            code[i] = any % 8 == 0   ? any
                      : any % 8 == 1 ? bne(any >> 4 & 31, any >> 9 & 31, (int)(any >> 14 & 63) - 40)
                      : any % 8 == 2 ? jump((int)(any >> 14 & 63) - 40)
                                     : (any & ~0x7fu) | opcodes[any % 10];
        }
        struct loop loop;
        uint32_t inside = 0, sum = 0;
        assert_true(loop_find(code, words, round % 2 != 0, &loop));
        for (uint32_t i = 0; i < words; i++) {
            inside += loop.inside[i];
        }
        for (unsigned c = 0; c < LOOP_CLASSES; c++) {
            sum += loop.of[c];
        }
        assert_int_equal(sum, loop.n);
        assert_int_equal(inside, loop.n);
        assert_true(!loop.whole || loop.n == words);
        free(loop.inside);
        free(code);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loops), cmocka_unit_test(test_any_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
