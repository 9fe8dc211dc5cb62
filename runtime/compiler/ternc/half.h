/* SPDX-License-Identifier: Apache-2.0 */
/** Arithmetic of half. A word is the 16 bits of a half, a wide is a float of the same value. */
#ifndef TERN_CC1_HALF_H
#define TERN_CC1_HALF_H

#include "cc1.h"

struct half {
    struct cc1 *cc;
    LLVMBuilderRef b;
    struct forms *values; /**< The values of type half of the function, sorted by `of`. */
    size_t n;             /**< Number of them. */
};

/** True: a half, or a vector of halves. */
int half_is(LLVMTypeRef t);
/** The type of a word or a wide, or of a vector of them if `like` is a vector. */
LLVMTypeRef half_word_type(const struct half *h, LLVMTypeRef like);
LLVMTypeRef half_wide_type(const struct half *h, LLVMTypeRef like);
/** The constant `element`, or a vector of it if `like` is a vector. */
LLVMValueRef half_splat(LLVMTypeRef like, LLVMValueRef element);
/** Builds the call of an intrinsic function that has one type. */
LLVMValueRef half_call(const struct half *h, const char *name, LLVMTypeRef type, LLVMValueRef *operands, unsigned n);
LLVMValueRef half_call_2(const struct half *h, const char *name, LLVMValueRef x, LLVMValueRef y);

/** Converts a word to a wide. */
LLVMValueRef half_widen(const struct half *h, LLVMValueRef word);
/** Converts a wide to a word, with the sign of `sign`. */
LLVMValueRef half_narrow(const struct half *h, LLVMValueRef wide, LLVMValueRef sign);
/** Rounds a float to a wide, whose sign the caller corrects: that of zero is lost. large: x may be any float; otherwise
 *  it is a result of halves. */
LLVMValueRef half_round(const struct half *h, LLVMValueRef x, int large);
/** x * y + z of wides as a float that rounds to half as the exact result does. */
LLVMValueRef half_fused(const struct half *h, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z);
/** The integer operand of the conversion i to half as a float that rounds to half as the integer does. */
LLVMValueRef half_from_integer(const struct half *h, LLVMValueRef i);

#endif
