/* SPDX-License-Identifier: Apache-2.0 */
/**
 * printf: a call stores a record, which the host formats (tc_printf.c), so no work-item parses a format.
 *
 *   word 0   number of words of the record, including this one
 *   word 1   address of the format
 *   word 2   address of the layout: for each argument its kind (i, f or p), bytes of an element (a digit), and number
 *            of elements ('a' is one)
 *   word 3.. arguments, each padded to words
 *
 * The layout describes the arguments independently of the format, so a wrong conversion does not shift later arguments.
 * A float or half that the call promoted to double is stored as it was.
 */
#include "../tc_elf.h"
#include "cc1.h"

#include <stdio.h>
#include <string.h>

#define HEADER_WORDS 3u
#define CONSTANT_SPACE 4u

static LLVMValueRef unpromoted(LLVMValueRef v)
{
    LLVMValueRef from = LLVMIsAFPExtInst(v) ? LLVMGetOperand(v, 0) : v;
    const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(from));
    return kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind ? from : v;
}

/** Appends the layout of a type. Returns its number of words. */
static unsigned describe(struct cc1 *cc, LLVMTypeRef type, char *layout, size_t size)
{
    unsigned n = 1;
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        n = LLVMGetVectorSize(type);
        type = LLVMGetElementType(type);
    }
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    unsigned bytes = (unsigned)LLVMABISizeOfType(cc->layout, type);
    char letter = kind == LLVMPointerTypeKind ? 'p' : kind == LLVMIntegerTypeKind ? 'i' : 'f';
    if (strlen(layout) + 4 > size) {
        cc1_die(CC1_BAD_INPUT, "printf has too many arguments");
    }
    if (bytes > 8 || n > 16 || kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind) {
        cc1_die(CC1_BAD_INPUT, "printf cannot take an argument of this type");
    }
    size_t at = strlen(layout);
    layout[at] = letter;
    layout[at + 1] = (char)('0' + bytes);
    layout[at + 2] = (char)('a' + n - 1);
    layout[at + 3] = '\0';
    return (n * bytes + 3) / 4;
}

static LLVMValueRef constant_string(struct cc1 *cc, const char *text)
{
    LLVMValueRef s = LLVMConstStringInContext(cc->context, text, (unsigned)strlen(text), 0);
    LLVMValueRef g = LLVMAddGlobalInAddressSpace(cc->module, LLVMTypeOf(s), "", CONSTANT_SPACE);
    LLVMSetInitializer(g, s);
    LLVMSetGlobalConstant(g, 1);
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(g, 1);
    return g;
}

/** The function int f(fmt, layout, args...) that stores a record; one for each list of types. */
static LLVMValueRef storer(struct cc1 *cc, LLVMTypeRef type, const char *layout, unsigned words)
{
    LLVMContextRef c = cc->context;
    char name[256];
    snprintf(name, sizeof name, "__tern_printf.%s", layout);
    LLVMValueRef f = LLVMGetNamedFunction(cc->module, name);
    if (f) {
        return f;
    }
    LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
    LLVMTypeRef i8 = LLVMInt8TypeInContext(c);
    LLVMTypeRef global = LLVMPointerTypeInContext(c, 1);
    LLVMTypeRef begin_type = LLVMFunctionType(global, &i32, 1, 0);
    LLVMValueRef begin = LLVMGetNamedFunction(cc->module, "__tern_printf_begin");
    if (!begin) {
        begin = LLVMAddFunction(cc->module, "__tern_printf_begin", begin_type);
    }
    f = LLVMAddFunction(cc->module, name, type);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    static const char *const attributes[] = {"nounwind", "cold"};
    for (size_t i = 0; i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        LLVMAddAttributeAtIndex(f, CC1_FUNCTION, LLVMCreateEnumAttribute(c, kind, 0));
    }
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBasicBlockRef store = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBasicBlockRef full = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMPositionBuilderAtEnd(b, start);
    LLVMValueRef size = LLVMConstInt(i32, words * 4u, 0);
    LLVMValueRef record = LLVMBuildCall2(b, begin_type, begin, &size, 1, "");
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, record, ""), full, store);
    LLVMPositionBuilderAtEnd(b, store);
    unsigned at = 1;
    for (unsigned i = 0; i < LLVMCountParams(f); i++) {
        LLVMValueRef v = LLVMGetParam(f, i);
        LLVMValueRef index = LLVMConstInt(i32, at * 4u, 0);
        LLVMSetAlignment(LLVMBuildStore(b, v, LLVMBuildInBoundsGEP2(b, i8, record, &index, 1, "")), 4);
        char scratch[8] = "";
        at += describe(cc, LLVMTypeOf(v), scratch, sizeof scratch);
    }
    LLVMSetAlignment(LLVMBuildStore(b, LLVMConstInt(i32, words, 0), record), 4);
    LLVMBuildRet(b, LLVMConstInt(i32, 0, 0));
    LLVMPositionBuilderAtEnd(b, full);
    LLVMBuildRet(b, LLVMConstAllOnes(i32));
    LLVMDisposeBuilder(b);
    return f;
}

static void lower(struct cc1 *cc, LLVMValueRef call)
{
    unsigned n = LLVMGetNumArgOperands(call);
    LLVMValueRef *args = cc1_alloc(n + 1, sizeof *args);
    LLVMTypeRef *types = cc1_alloc(n + 1, sizeof *types);
    char layout[200] = "";
    unsigned words = HEADER_WORDS;
    args[0] = LLVMGetOperand(call, 0);
    for (unsigned i = 1; i < n; i++) {
        args[i + 1] = unpromoted(LLVMGetOperand(call, i));
        words += describe(cc, LLVMTypeOf(args[i + 1]), layout, sizeof layout);
    }
    args[1] = constant_string(cc, layout);
    for (unsigned i = 0; i <= n; i++) {
        types[i] = LLVMTypeOf(args[i]);
    }
    LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(cc->context), types, n + 1, 0);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cc->context);
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef f = storer(cc, type, layout, words);
    /* pointers of all address spaces are printed alike; the function has the types of its first call */
    for (unsigned i = 0; i <= n; i++) {
        LLVMTypeRef want = LLVMTypeOf(LLVMGetParam(f, i));
        if (want != types[i]) {
            args[i] = LLVMBuildAddrSpaceCast(b, args[i], want, "");
        }
    }
    LLVMValueRef result = LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, n + 1, "");
    LLVMReplaceAllUsesWith(call, result);
    LLVMInstructionEraseFromParent(call);
    LLVMDisposeBuilder(b);
}

void cc1_printf_lower(struct cc1 *cc)
{
    static const char used[] = ".globl " TC_PRINTF_USED "\n.set " TC_PRINTF_USED ", 1\n";
    LLVMValueRef f = LLVMGetNamedFunction(cc->module, "printf");
    if (!f || !LLVMIsDeclaration(f)) {
        return;
    }
    LLVMAppendModuleInlineAsm(cc->module, used, sizeof used - 1);
    for (LLVMUseRef use; (use = LLVMGetFirstUse(f)) != NULL;) {
        LLVMValueRef call = LLVMGetUser(use);
        if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != f) {
            cc1_die(CC1_BAD_INPUT, "printf may only be called");
        }
        lower(cc, call);
    }
    LLVMDeleteFunction(f);
}
