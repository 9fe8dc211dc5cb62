/* SPDX-License-Identifier: Apache-2.0 */
/** The instructions by which half is computed with float (half.h). */
#include "half.h"

#include <string.h>

#define EXPONENT 0x7f800000u  /* the exponent field of float */
#define LEAST 0x38800000u     /* 2^-14, half's smallest normal number, as float */
#define MOST 0x47800000u      /* 2^16, above every half */
#define AT_ROUND 0x06c00000u  /* added to the bits of 2^e, these become 1.5 * 2^(e + 13) */
#define HIGH 0x70000000u      /* in float's exponent field, it makes half's exponent 31 float's 255 */

/** True: a half, or a vector of halves. */
int half_is(LLVMTypeRef t)
{
    return LLVMGetTypeKind(LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t) == LLVMHalfTypeKind;
}

/** The type `element`, or a vector of them as `like` is one. */
static LLVMTypeRef shaped(LLVMTypeRef like, LLVMTypeRef element)
{
    return LLVMGetTypeKind(like) == LLVMVectorTypeKind ? LLVMVectorType(element, LLVMGetVectorSize(like)) : element;
}

LLVMTypeRef half_word_type(const struct half *h, LLVMTypeRef like)
{
    return shaped(like, LLVMInt16TypeInContext(h->cc->context));
}

static LLVMTypeRef bits_type(const struct half *h, LLVMTypeRef like)
{
    return shaped(like, LLVMInt32TypeInContext(h->cc->context));
}

LLVMTypeRef half_wide_type(const struct half *h, LLVMTypeRef like)
{
    return shaped(like, LLVMFloatTypeInContext(h->cc->context));
}

/** The constant `element`, or a vector of it as `like` is one. */
LLVMValueRef half_splat(LLVMTypeRef like, LLVMValueRef element)
{
    LLVMValueRef all[64];
    if (LLVMGetTypeKind(like) != LLVMVectorTypeKind) {
        return element;
    }
    const unsigned n = LLVMGetVectorSize(like);
    if (n > sizeof all / sizeof *all) {
        cc1_die(CC1_INTERNAL, "a vector of %u halves", n);
    }
    for (unsigned i = 0; i < n; i++) {
        all[i] = element;
    }
    return LLVMConstVector(all, n);
}

static LLVMValueRef bits(const struct half *h, LLVMTypeRef like, uint32_t value)
{
    return half_splat(like, cc1_u32(h->cc, value));
}

static LLVMValueRef number(const struct half *h, LLVMTypeRef like, double value)
{
    return half_splat(like, LLVMConstReal(LLVMFloatTypeInContext(h->cc->context), value));
}

/** Builds the call of an intrinsic function of one type. */
LLVMValueRef half_call(const struct half *h, const char *name, LLVMTypeRef type, LLVMValueRef *operands, unsigned n)
{
    const unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(h->cc->module, id, &type, 1);
    return LLVMBuildCall2(h->b, LLVMIntrinsicGetType(h->cc->context, id, &type, 1), f, operands, n, "");
}

LLVMValueRef half_call_2(const struct half *h, const char *name, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef operands[] = {x, y};
    return half_call(h, name, LLVMTypeOf(x), operands, 2);
}

/**
 * The float of a word, in seven instructions. `high` is the magnitude with float's largest exponents, so that infinity
 * and NaN are float's; times 2^-112 it is the value, unless the value is subnormal or zero: then the result has a
 * leading one that half does not have, and twice the result less 2^-14 is the value, which otherwise is larger.
 */
LLVMValueRef half_widen(const struct half *h, LLVMValueRef word)
{
    LLVMTypeRef t = LLVMTypeOf(word), wide = half_wide_type(h, t);
    LLVMBuilderRef b = h->b;
    LLVMValueRef all = LLVMBuildZExt(b, word, bits_type(h, t), "");
    LLVMValueRef moved = LLVMBuildShl(b, all, bits(h, t, 17), "");
    LLVMValueRef high = LLVMBuildOr(b, LLVMBuildLShr(b, moved, bits(h, t, 4), ""), bits(h, t, HIGH), "");
    high = LLVMBuildBitCast(b, high, wide, "");
    LLVMValueRef normal = LLVMBuildFMul(b, high, number(h, t, 0x1p-112), "");
    LLVMValueRef product[] = {high, number(h, t, 0x1p-111), number(h, t, -0x1p-14)};
    LLVMValueRef magnitude = half_call_2(h, "llvm.minnum", normal, half_call(h, "llvm.fma", wide, product, 3));
    LLVMValueRef sign = LLVMBuildBitCast(b, LLVMBuildShl(b, all, bits(h, t, 16), ""), wide, "");
    return half_call_2(h, "llvm.copysign", magnitude, sign);
}

/** The word of a float that is a half, with the sign of `sign`: times 2^-112, float's exponent field is half's, whose
 *  subnormal numbers are float's. Infinity and NaN have all ones. */
LLVMValueRef half_narrow(const struct half *h, LLVMValueRef wide, LLVMValueRef sign)
{
    LLVMTypeRef t = LLVMTypeOf(wide), whole = bits_type(h, t);
    LLVMBuilderRef b = h->b;
    LLVMValueRef small = LLVMBuildFMul(b, wide, number(h, t, 0x1p-112), "");
    LLVMValueRef moved = LLVMBuildShl(b, LLVMBuildBitCast(b, small, whole, ""), bits(h, t, 3), "");
    moved = half_call_2(h, "llvm.copysign", LLVMBuildBitCast(b, moved, t, ""), sign);
    moved = LLVMBuildLShr(b, LLVMBuildBitCast(b, moved, whole, ""), bits(h, t, 16), "");
    return LLVMBuildTrunc(b, moved, half_word_type(h, t), "");
}

/**
 * Rounds a float to half, but for its sign, in seven instructions. The last place of a number of the size of `at` is
 * that of half for x, so that adding it rounds, to nearest even. Multiplication by 2^112 makes 65536 infinite. From
 * 2^115 on, which no operation of halves gives, `at` would be too large for float.
 */
LLVMValueRef half_round(const struct half *h, LLVMValueRef x, int large)
{
    LLVMTypeRef t = LLVMTypeOf(x);
    LLVMBuilderRef b = h->b;
    LLVMValueRef e = LLVMBuildAnd(b, LLVMBuildBitCast(b, x, bits_type(h, t), ""), bits(h, t, EXPONENT), "");
    e = large ? half_call_2(h, "llvm.umin", e, bits(h, t, MOST)) : e;
    LLVMValueRef at = LLVMBuildAdd(b, half_call_2(h, "llvm.umax", e, bits(h, t, LEAST)), bits(h, t, AT_ROUND), "");
    at = LLVMBuildBitCast(b, at, t, "");
    LLVMValueRef r = LLVMBuildFSub(b, LLVMBuildFAdd(b, x, at, ""), at, "");
    return LLVMBuildFMul(b, LLVMBuildFMul(b, r, number(h, t, 0x1p112), ""), number(h, t, 0x1p-112), "");
}

/**
 * x * y + z in float, rounded to odd: an inexact result has its last bit set, so that rounding it to half does not
 * round twice. The product of two halves is exact. The error of the sum is that of Knuth's algorithm.
 */
LLVMValueRef half_fused(const struct half *h, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z)
{
    LLVMTypeRef t = LLVMTypeOf(x), whole = bits_type(h, t);
    LLVMBuilderRef b = h->b;
    LLVMValueRef p = LLVMBuildFMul(b, x, y, ""), s = LLVMBuildFAdd(b, p, z, "");
    LLVMValueRef part = LLVMBuildFSub(b, s, p, "");
    LLVMValueRef of_p = LLVMBuildFSub(b, p, LLVMBuildFSub(b, s, part, ""), "");
    LLVMValueRef error = LLVMBuildFAdd(b, of_p, LLVMBuildFSub(b, z, part, ""), "");
    LLVMValueRef sum = LLVMBuildBitCast(b, s, whole, ""), lost = LLVMBuildBitCast(b, error, whole, "");
    LLVMValueRef inexact = half_call(h, "llvm.fabs", t, &error, 1);
    inexact = LLVMBuildFCmp(b, LLVMRealOGT, inexact, number(h, t, 0), ""); /* false for NaN */
    LLVMValueRef past = LLVMBuildAShr(b, LLVMBuildXor(b, sum, lost, ""), bits(h, t, 31), ""); /* -1: s is too far */
    LLVMValueRef step = LLVMBuildAnd(b, past, LLVMBuildSExt(b, inexact, whole, ""), "");
    sum = LLVMBuildOr(b, LLVMBuildAdd(b, sum, step, ""), LLVMBuildZExt(b, inexact, whole, ""), "");
    return LLVMBuildBitCast(b, sum, t, "");
}

/** An integer as float, exactly unless the half is infinite. */
LLVMValueRef half_from_integer(const struct half *h, LLVMValueRef i)
{
    LLVMValueRef x = LLVMGetOperand(i, 0);
    LLVMTypeRef t = LLVMTypeOf(x), element = LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t;
    const int is_signed = LLVMGetInstructionOpcode(i) == LLVMSIToFP;
    if (LLVMGetIntTypeWidth(element) > 32) {
        LLVMValueRef most = half_splat(t, LLVMConstInt(element, 1u << 30, 0));
        x = half_call_2(h, is_signed ? "llvm.smin" : "llvm.umin", x, most);
        x = is_signed ? half_call_2(h, "llvm.smax", x, LLVMConstNeg(most)) : x;
        x = LLVMBuildTrunc(h->b, x, bits_type(h, t), "");
    }
    return is_signed ? LLVMBuildSIToFP(h->b, x, half_wide_type(h, t), "")
                     : LLVMBuildUIToFP(h->b, x, half_wide_type(h, t), "");
}
