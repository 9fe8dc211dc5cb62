/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every floating-point instruction of a device, in all rounding modes and with all flags, against the host's
 * arithmetic: test_float LIBRARY [VECTORS]. The operands of neighbouring work-items are of one kind (ordinary, near
 * cancellation, near underflow or overflow, near the greatest integer, finite, any), so that whole warps take each path
 * of a device. TERN_TEST_VECTORS and TERN_TEST_SEED choose other vectors.
 */
#include <fenv.h>
#include <stdlib.h>

#include "../rtl/lib/float_reference.h"
#include "../rtl/lib/random.h"
#include "kernel.h"

#define OPERANDS 0x100000u /* offset from BASE or VA of three arrays */
#define RESULTS 0x200000u  /* offset of the results: for each vector VARIANTS pairs of result and flags */
#define STRIDE (4u * BATCH)
#define BATCH 8181u        /* number of vectors of a dispatch, with which the last warp is not full */
#define LOCAL 64u
#define POISON 0xdeadbeefu

enum { NUMBER, INTEGER }; /* kind of operand a */

static struct float_result sign(uint32_t magnitude, uint32_t from)
{
    return (struct float_result){(magnitude & 0x7fffffffu) | (from & 0x80000000u), 0};
}

#define OP(name, expression)                                                                        \
    static struct float_result name(uint32_t a, uint32_t b, uint32_t c, uint32_t rm)                \
    {                                                                                               \
        (void)a, (void)b, (void)c, (void)rm;                                                        \
        return (expression);                                                                        \
    }
#define MINUS 0x80000000u
OP(fmadd, float_fma(a, b, c, rm))
OP(fmsub, float_fma(a, b, c ^ MINUS, rm))
OP(fnmsub, float_fma(a ^ MINUS, b, c, rm))
OP(fnmadd, float_fma(a ^ MINUS, b, c ^ MINUS, rm))
OP(fadd, float_fma(a, 0x3f800000u, b, rm))
OP(fsub, float_fma(a, 0x3f800000u, b ^ MINUS, rm))
OP(fmul, float_fma(a, b, (a ^ b) & MINUS, rm))
OP(fdiv, float_div(a, b, rm))
OP(fsqrt, float_sqrt(a, rm))
OP(fsgnj, sign(a, b))
OP(fsgnjn, sign(a, ~b))
OP(fsgnjx, sign(a, a ^ b))
OP(fmin_, float_min_max(a, b, 0))
OP(fmax_, float_min_max(a, b, 1))
OP(fle, float_compare(a, b, 1, 1))
OP(flt, float_compare(a, b, 1, 0))
OP(feq, float_compare(a, b, 0, 1))
OP(fclass, ((struct float_result){float_class(a), 0}))
OP(fcvt_w, float_to_int(a, 0, rm))
OP(fcvt_wu, float_to_int(a, 1, rm))
OP(fcvt_s_w, float_from_int((int32_t)a, rm))
OP(fcvt_s_wu, float_from_int((int64_t)a, rm))

/** An instruction: its word without registers and rounding mode, and a reference for its result. */
struct operation {
    const char *name;
    uint32_t word;
    bool rounds, two, three; /* has a rounding mode; rs2 is a register; rs3 is a register */
    int kind;
    struct float_result (*reference)(uint32_t a, uint32_t b, uint32_t c, uint32_t rm);
};

#define F7(n) ((uint32_t)(n) << 25 | 0x53u)
static const struct operation operations[] = {
    {"fmadd", 0x43, true, true, true, NUMBER, fmadd},
    {"fmsub", 0x47, true, true, true, NUMBER, fmsub},
    {"fnmsub", 0x4b, true, true, true, NUMBER, fnmsub},
    {"fnmadd", 0x4f, true, true, true, NUMBER, fnmadd},
    {"fadd", F7(0x00), true, true, false, NUMBER, fadd},
    {"fsub", F7(0x04), true, true, false, NUMBER, fsub},
    {"fmul", F7(0x08), true, true, false, NUMBER, fmul},
    {"fdiv", F7(0x0c), true, true, false, NUMBER, fdiv},
    {"fsqrt", F7(0x2c), true, false, false, NUMBER, fsqrt},
    {"fsgnj", F7(0x10), false, true, false, NUMBER, fsgnj},
    {"fsgnjn", F7(0x10) | 1u << 12, false, true, false, NUMBER, fsgnjn},
    {"fsgnjx", F7(0x10) | 2u << 12, false, true, false, NUMBER, fsgnjx},
    {"fmin", F7(0x14), false, true, false, NUMBER, fmin_},
    {"fmax", F7(0x14) | 1u << 12, false, true, false, NUMBER, fmax_},
    {"fle", F7(0x50), false, true, false, NUMBER, fle},
    {"flt", F7(0x50) | 1u << 12, false, true, false, NUMBER, flt},
    {"feq", F7(0x50) | 2u << 12, false, true, false, NUMBER, feq},
    {"fclass", F7(0x70) | 1u << 12, false, false, false, NUMBER, fclass},
    {"fcvt.w.s", F7(0x60), true, false, false, NUMBER, fcvt_w},
    {"fcvt.wu.s", F7(0x60) | 1u << 20, true, false, false, NUMBER, fcvt_wu},
    {"fcvt.s.w", F7(0x68), true, false, false, INTEGER, fcvt_s_w},
    {"fcvt.s.wu", F7(0x68) | 1u << 20, true, false, false, INTEGER, fcvt_s_wu},
};

/* ------------------------------------------------------------------ operands */

static uint32_t with_exponent(uint32_t exponent, uint32_t spread)
{
    uint32_t v = (uint32_t)random_u64();
    v = random_below(4) ? v : v & 0xfff00000u;
    return (v & 0x807fffffu) | (exponent + random_below(spread)) << 23;
}

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint32_t as_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static void draw(uint32_t flavour, const struct operation *op, uint32_t v[3])
{
    for (int i = 0; i < 3; i++) {
        do {
            v[i] = flavour == 2   ? with_exponent(100, 50)
                   : flavour == 4 ? with_exponent(i == 2 ? 1 : 48, i == 2 ? 30 : 32)
                   : flavour == 5 ? with_exponent(i == 2 ? 240 : 185, i == 2 ? 15 : 12)
                                  : random_float();
        } while (flavour && (v[i] & 0x7f800000u) == 0x7f800000u);
    }
    if (flavour == 3) { /* a * b + c, or a + b, cancels most digits */
        v[0] = with_exponent(110, 30);
        v[1] = op->three ? with_exponent(110, 30) : v[0] ^ MINUS * random_below(2) ^ random_below(8);
        v[2] = as_bits(-as_float(v[0]) * as_float(v[1])) ^ MINUS * random_below(2) ^ random_below(4);
    }
    if (flavour == 6) { /* small whole numbers, whose results are exact */
        for (int i = 0; i < 3; i++) {
            v[i] = as_bits((float)random_below(64) - 32.0f);
        }
    }
    if (flavour == 7) { /* near the greatest integer */
        v[0] = random_below(8) ? with_exponent(118, 40) : (0x4f000000u - random_below(2)) | MINUS * random_below(2);
    }
    if (op->kind == INTEGER) {
        v[0] = flavour ? random_word() : (uint32_t)random_u64();
    }
    if (flavour && op->reference == fdiv && !(v[1] << 1)) {
        v[1] = 0x3f800000u;
    }
    if (flavour && op->reference == fsqrt) {
        v[0] &= 0x7fffffffu;
    }
}

/* ------------------------------------------------------------------- kernel */

/** A variant that is run with each vector. frm is NONE, a rounding mode, or EACH, the work-item's number modulo 5.
 *  before is the value of fflags before. */
enum { NONE = 8, EACH = 9 };
static const struct variant {
    uint32_t rm, frm, before;
} variants[] = {{0, NONE, 0}, {0, NONE, FLAG_NX}, {1, NONE, 0},          {2, NONE, 0},
                {3, NONE, 0}, {4, NONE, FLAG_NV}, {7, EACH, FLAG_DZ}, {7, 0, FLAG_NX | FLAG_UF}};
#define VARIANTS 8u

static uint32_t mode_of(const struct variant *v, uint32_t id)
{
    return v->rm != 7 ? v->rm : v->frm == EACH ? id % 5 : v->frm;
}

enum { A = 20, B, C, ID, MODE, RESULT, FLAGS, TO };

static uint32_t build(const struct operation *op, uint32_t *code)
{
    uint32_t n = 0;
    code[n++] = csrr(ID, 0xcd0);
    code[n++] = itype(0x13, 7, T0, ID, 31); /* one work-item of 32 does nothing */
    code[n++] = addi(T0, T0, -13);
    code[n++] = beq(T0, ZERO, 0); /* to the end; patched below */
    uint32_t skip = n - 1;
    code[n++] = addi(T1, ZERO, 5);
    code[n++] = rtype(1, 7, MODE, ID, T1); /* remu */
    code[n++] = lui(T1, VA + OPERANDS);
    code[n++] = sh2add(T1, ID, T1);
    code[n++] = lui(T2, (STRIDE + 0xfffu) & ~0xfffu);
    for (uint32_t r = A; r <= C; r++) {
        code[n++] = lw(r, 0, T1);
        code[n++] = add(T1, T1, T2);
    }
    code[n++] = lui(TO, VA + RESULTS);
    code[n++] = itype(0x13, 1, T1, ID, 6); /* 64 bytes each */
    code[n++] = add(TO, TO, T1);
    for (uint32_t i = 0; i < VARIANTS; i++) {
        const struct variant *v = &variants[i];
        code[n++] = itype(0x73, 5, 0, v->before, 1);                   /* csrwi fflags */
        if (v->frm == EACH) {
            code[n++] = itype(0x73, 1, 0, MODE, 2);                    /* csrw frm */
        } else if (v->frm != NONE) {
            code[n++] = itype(0x73, 5, 0, v->frm, 2);
        }
        code[n++] = op->word | RESULT << 7 | A << 15 | (op->rounds ? v->rm << 12 : 0) |
            (op->two ? (uint32_t)B << 20 : 0) |
                    (op->three ? (uint32_t)C << 27 : 0);
        code[n++] = csrr(FLAGS, 1);
        code[n++] = sw(RESULT, (int32_t)(8 * i), TO);
        code[n++] = sw(FLAGS, (int32_t)(8 * i + 4), TO);
    }
    code[n++] = EXIT;
    code[skip] = beq(T0, ZERO, 4 * (n - 1 - skip));
    return n;
}

static void run(struct device *d, const struct operation *op, uint32_t n)
{
    static uint32_t operands[3][STRIDE / 4], results[BATCH][VARIANTS][2];
    uint32_t code[128], flavour = 0, size = build(op, code);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v[3];
        flavour = i % 16 ? flavour : random_below(8);
        draw(flavour, op, v);
        for (int k = 0; k < 3; k++) {
            operands[k][i] = v[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        poke(d, OPERANDS + (uint32_t)k * ((STRIDE + 0xfffu) & ~0xfffu), operands[k], 4ull * n);
    }
    memset(results, 0, sizeof results);
    for (uint32_t i = 0; i < n; i++) {
        results[i][0][0] = POISON;
    }
    poke(d, RESULTS, results, sizeof results[0] * n);
    fesetround(FE_UPWARD); /* the caller's mode, which the device must ignore */
    launch(d, ROOT, code, 4ull * size, (struct range){{n, 1, 1}, {LOCAL, 1, 1}, 0});
    expect_completed(d, 0, 1);
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    peek(d, RESULTS, results, sizeof results[0] * n);
    for (uint32_t i = 0; i < n; i++) {
        if (i % 32 == 13) {
            assert_int_equal(results[i][0][0], POISON);
            continue;
        }
        for (uint32_t k = 0; k < VARIANTS; k++) {
            uint32_t a = operands[0][i], b = operands[1][i], c = operands[2][i], rm = mode_of(&variants[k], i);
            struct float_result r = op->reference(a, b, c, rm);
            uint32_t flags = r.flags | variants[k].before;
            if (results[i][k][0] != r.bits || results[i][k][1] != flags) {
                print_error("%s %08x %08x %08x, mode %u, variant %u: %08x flags %02x, not %08x %02x\n", op->name, a,
                            b, c, rm, k, results[i][k][0], results[i][k][1], r.bits, flags);
                fail();
            }
        }
    }
}

static uint32_t vectors, seed;

static void test_operations(void **state)
{
    struct device *d = *state;
    print_message("TERN_TEST_SEED=%u TERN_TEST_VECTORS=%u\n", seed, vectors);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        random_seed(seed + (uint32_t)i);
        for (uint32_t done = 0; done < vectors;) {
            uint32_t n = vectors - done < BATCH ? vectors - done : BATCH;
            run(d, &operations[i], n);
            done += n;
        }
    }
}

static uint32_t number(const char *name, uint32_t otherwise)
{
    const char *given = getenv(name);
    return given ? (uint32_t)strtoul(given, NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
    int refused = library_load(argc > 2 ? 2 : argc, argv);
    if (refused) {
        return refused;
    }
    vectors = number("TERN_TEST_VECTORS", argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 100000);
    seed = number("TERN_TEST_SEED", 1);
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_operations, device_setup, device_teardown),
    };
    return cmocka_run_group_tests_name("float", tests, NULL, NULL) ? 1 : 0;
}
