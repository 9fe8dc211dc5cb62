/* SPDX-License-Identifier: Apache-2.0 */
/**
 * __local variables. The variables of each kernel begin at the start of the local window; kernels share none, so their
 * variables overlap.
 *
 * For the optimizer a variable is declared here and defined elsewhere, because it must not conclude who writes it:
 * other work-items do. Afterwards its address becomes an absolute symbol. Alternatives dropped: constants instead of
 * symbols, for which the code would recompute addresses in inner loops; sections at one address for all kernels, which
 * would need a linker script for each program.
 */
#include "cc1.h"

#include "tern/tern_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_local(LLVMValueRef g)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(g)) == CC1_LOCAL_SPACE;
}

void cc1_local_detach(struct cc1 *cc)
{
    unsigned n = 0;
    for (LLVMValueRef g = LLVMGetFirstGlobal(cc->module); g; g = LLVMGetNextGlobal(g)) {
        if (is_local(g) && !LLVMIsDeclaration(g)) {
            char name[32];
            int length = snprintf(name, sizeof name, "__local.%u", n++);
            LLVMSetInitializer(g, NULL);
            LLVMSetLinkage(g, LLVMExternalLinkage);
            LLVMSetVisibility(g, LLVMHiddenVisibility); /* for direct addressing */
            LLVMSetValueName2(g, name, (size_t)length);
        }
    }
}

/** Adds the functions that use v to a list, directly or through constants. Each constant is followed once. */
static void users(LLVMValueRef v, struct cc1_set *met, LLVMValueRef *list, size_t *n)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAInstruction(user)) {
            LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
            if (cc1_set_add(met, f)) {
                list[(*n)++] = f;
            }
        } else if (cc1_set_add(met, user)) {
            users(user, met, list, n);
        }
    }
}

/** The functions that use v, or call one that does. Returns their number. */
static size_t reachers(LLVMValueRef v, LLVMValueRef *list)
{
    struct cc1_set met = {0};
    size_t n = 0;
    users(v, &met, list, &n);
    for (size_t i = 0; i < n; i++) {
        users(list[i], &met, list, &n);
    }
    free(met.at);
    return n;
}

/** An empty list with room for all functions. */
static LLVMValueRef *make_list(struct cc1 *cc)
{
    size_t functions = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        functions++;
    }
    return cc1_alloc(functions, sizeof(LLVMValueRef));
}

int cc1_local_used(struct cc1 *cc, LLVMValueRef f)
{
    LLVMValueRef *list = make_list(cc);
    int used = 0;
    for (LLVMValueRef g = LLVMGetFirstGlobal(cc->module); g && !used; g = LLVMGetNextGlobal(g)) {
        size_t n = is_local(g) ? reachers(g, list) : 0;
        while (n-- > 0 && !used) {
            used = list[n] == f;
        }
    }
    free(list);
    return used;
}

static int is_of(const struct cc1_kernel *k, LLVMValueRef f)
{
    return f == k->entry || f == k->coarse;
}

/** Places the memory of functions of sub-groups behind the variables of the kernels that have it. Its size depends on
 *  the work-group, so arguments follow it and not the variables. */
static void place_sub_groups(struct cc1 *cc)
{
    char text[128];
    uint32_t base = 0;
    for (size_t k = 0; k < cc->n_kernels; k++) {
        const struct cc1_kernel *of = &cc->kernels[k];
        base = of->sub_groups && of->local_static > base ? of->local_static : base;
    }
    base = (base + 15u) / 16 * 16;
    for (size_t k = 0; k < cc->n_kernels; k++) {
        cc->kernels[k].local_static = cc->kernels[k].sub_groups ? base : cc->kernels[k].local_static;
    }
    if (cc->sub_bytes) {
        const int size = snprintf(text, sizeof text, ".set __tern_sub_base, 0x%x\n.set __tern_sub_bytes, %u\n",
                                  TERN_WIN_LOCAL_BASE + base, cc->sub_bytes);
        LLVMAppendModuleInlineAsm(cc->module, text, (size_t)size);
    }
}

void cc1_local_place(struct cc1 *cc)
{
    LLVMValueRef *list = make_list(cc);
    for (LLVMValueRef g = LLVMGetFirstGlobal(cc->module); g; g = LLVMGetNextGlobal(g)) {
        if (!is_local(g)) {
            continue;
        }
        size_t n = reachers(g, list);
        uint64_t offset = 0;
        for (size_t pass = 0; pass < 2; pass++) {
            for (size_t k = 0; k < cc->n_kernels; k++) {
                for (size_t i = 0; i < n; i++) {
                    if (is_of(&cc->kernels[k], list[i]) && pass == 0 && cc->kernels[k].local_static > offset) {
                        offset = cc->kernels[k].local_static;
                    } else if (is_of(&cc->kernels[k], list[i]) && pass == 1) {
                        cc->kernels[k].local_static = (uint32_t)offset;
                    }
                }
            }
            if (pass == 0) {
                uint64_t align = LLVMGetAlignment(g) ? LLVMGetAlignment(g) : 16u;
                offset = (offset + align - 1) / align * align;
                char text[128];
                size_t length;
                const char *name = LLVMGetValueName2(g, &length);
                int size = snprintf(text, sizeof text, ".globl %s\n.set %s, 0x%x\n", name, name,
                                    TERN_WIN_LOCAL_BASE + (unsigned)offset);
                LLVMAppendModuleInlineAsm(cc->module, text, (size_t)size);
                offset += LLVMABISizeOfType(cc->layout, LLVMGlobalGetValueType(g));
                if (offset > TERN_WIN_LOCAL_SIZE) {
                    cc1_die(CC1_BAD_INPUT, "local variables need more than %u bytes", TERN_WIN_LOCAL_SIZE);
                }
            }
        }
    }
    place_sub_groups(cc);
}
