/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Modules of the target spir64, which Khronos's translator makes of SPIR-V (tc_il.c), as the front end makes them:
 *
 *  - Address spaces have other numbers, in types as in the names of functions: constant is 2 there and 4 here, generic
 *    is 4 there and 0 here, as private. The type of a pointer has its address space, and LLVM-C cannot change a type.
 *    This file prints the module, changes the text and reads it again.
 *  - A cast from private to generic is a cast to the same type here, for which LLVM has another instruction.
 *  - The translator marks only calls of barriers as convergent; clang marks every function and call, of which
 *    converge.c leaves those that reach a barrier.
 */
#include "cc1.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <stdlib.h>
#include <string.h>

#define SPIR_CONSTANT 2u
#define SPIR_GENERIC 4u

static const char space_word[] = "addrspace(", constant[] = "addrspace(4)";
static const char cast_word[] = "addrspacecast", same_cast[] = "bitcast      ";
_Static_assert(sizeof cast_word == sizeof same_cast, "one cast replaces the other in its place");

/** Bytes of the string or comment that begins at p; 0: what begins there is code. Text of LLVM has no quotation mark
 *  within a string. */
static size_t no_code(const char *p)
{
    const char *end = *p == '"' ? strchr(p + 1, '"') : NULL;
    return end ? (size_t)(end - p) + 1 : *p == ';' ? strcspn(p, "\n") : 0;
}

/** Replaces the numbers of address spaces. The text does not become longer. */
static void number_spaces(char *text)
{
    char *to = text;
    for (const char *p = text; *p;) {
        size_t n = no_code(p);
        if (!n && !strncmp(p, space_word, sizeof space_word - 1)) {
            char *end;
            const unsigned long space = strtoul(p + sizeof space_word - 1, &end, 10);
            if (*end == ')' && (space == SPIR_CONSTANT || space == SPIR_GENERIC)) {
                p = end + 1;
                if (space == SPIR_CONSTANT) {
                    memcpy(to, constant, sizeof constant - 1);
                    to += sizeof constant - 1;
                }
                continue;
            }
        }
        n = n ? n : 1;
        memmove(to, p, n);
        to += n;
        p += n;
    }
    *to = '\0';
}

/** Reads " addrspace(N)" behind a pointer's type, if it is there. */
static unsigned long read_space(const char **p)
{
    const char *at = *p + strspn(*p, " ");
    if (strncmp(at, space_word, sizeof space_word - 1)) {
        return 0;
    }
    *p = strchr(at, ')') + 1;
    return strtoul(at + sizeof space_word - 1, NULL, 10);
}

/** Replaces a cast, "addrspacecast ptr %x to ptr" or "addrspacecast (ptr @x to ptr)", if both types are the same. */
static void mend_cast(char *cast)
{
    static const char type[] = "ptr", other[] = " to ptr";
    const char *p = cast + sizeof cast_word - 1;
    p += strspn(p, " (");
    if (strncmp(p, type, sizeof type - 1)) {
        return;
    }
    p += sizeof type - 1;
    const unsigned long from = read_space(&p);
    int depth = 0;
    for (; *p && *p != '\n' && depth >= 0; p += no_code(p) ? no_code(p) : 1) {
        if (depth == 0 && !strncmp(p, other, sizeof other - 1)) {
            p += sizeof other - 1;
            if (read_space(&p) == from) {
                memcpy(cast, same_cast, sizeof same_cast - 1);
            }
            return;
        }
        depth += strchr("([{<", *p) ? 1 : strchr(")]}>", *p) ? -1 : 0;
    }
}

static void mend_casts(char *text)
{
    for (char *p = text; *p; p += no_code(p) ? no_code(p) : 1) {
        if (!strncmp(p, cast_word, sizeof cast_word - 1)) {
            mend_cast(p);
        }
    }
}

/** The built-in's name for the address spaces of the front end: U3AS2 becomes U3AS4, and U3AS4 is left out. NULL: it is
 *  the same. */
static char *built_in_name(const char *name)
{
    static const char space[] = "U3AS";
    char *made = strncmp(name, "_Z", 2) || !strstr(name, space) ? NULL : cc1_alloc(strlen(name) + 1, 1);
    char *to = made;
    for (const char *p = name; made && *p;) {
        if (strncmp(p, space, sizeof space - 1) || !strchr("24", p[sizeof space - 1]) || !p[sizeof space - 1]) {
            *to++ = *p++;
            continue;
        }
        if (p[sizeof space - 1] == '2') {
            to = stpcpy(to, "U3AS4");
        }
        p += sizeof space;
    }
    return made;
}

static void rename_built_ins(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module), next; f; f = next) {
        size_t length;
        next = LLVMGetNextFunction(f);
        char *name = LLVMIsDeclaration(f) ? built_in_name(LLVMGetValueName2(f, &length)) : NULL;
        LLVMValueRef other = name ? LLVMGetNamedFunction(module, name) : NULL;
        if (other && other != f) { /* it was called with pointers to both address spaces */
            LLVMReplaceAllUsesWith(f, other);
            LLVMDeleteFunction(f);
        } else if (name) {
            LLVMSetValueName2(f, name, strlen(name));
        }
    }
}

static void mark_convergent(struct cc1 *cc, LLVMModuleRef module)
{
    static const char name[] = "convergent";
    LLVMAttributeRef convergent =
        LLVMCreateEnumAttribute(cc->context, LLVMGetEnumAttributeKindForName(name, sizeof name - 1), 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMGetIntrinsicID(f) != 0) {
            continue;
        }
        LLVMAddAttributeAtIndex(f, CC1_FUNCTION, convergent);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (LLVMIsACallInst(i) && !LLVMIsAIntrinsicInst(i)) {
                    LLVMAddCallSiteAttribute(i, CC1_FUNCTION, convergent);
                }
            }
        }
    }
}

LLVMModuleRef cc1_spir(struct cc1 *cc, LLVMModuleRef module)
{
    const char *target = LLVMGetTarget(module);
    char *error = NULL;
    if (strncmp(target, "spir", 4)) {
        return module;
    }
    if (strncmp(target, "spir64-", 7)) {
        cc1_die(CC1_BAD_INPUT, "the module is for %s, and this device has pointers of 64 bits: spir64", target);
    }
    char *text = LLVMPrintModuleToString(module);
    number_spaces(text);
    mend_casts(text);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "module");
    LLVMModuleRef made;
    if (LLVMParseIRInContext(cc->context, buffer, &made, &error)) {
        cc1_die(CC1_BAD_INPUT, "the module has something that this compiler does not read: %s", error);
    }
    /* the translator accepts some damaged modules */
    if (LLVMVerifyModule(made, LLVMReturnStatusAction, &error)) {
        cc1_die(CC1_BAD_INPUT, "the module is not valid: %s", error);
    }
    rename_built_ins(made);
    mark_convergent(cc, made);
    return made;
}
