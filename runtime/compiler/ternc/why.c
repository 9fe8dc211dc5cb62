/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Why kernels run as they do, for `tern run --explain`. Each place that decides against a second entry says why by
 * cc1_refuse, so that an explanation cannot differ from the decision. Objects have explanations only if the build asks
 * for them (-tern-explain), since places in the source need line tables: other objects are the same as without this
 * file, and are found in the cache.
 */
#include "cc1.h"

#include "tern/tern_spec.h"

#include <cjson/cJSON.h>
#include <llvm-c/DebugInfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATOMIC ".insn r 0x2f"      /* device/atomics.cl */
#define ATOMIC_64 "amoswap.w"      /* device/atomics64.cl */

/** The instruction whose place is meant: of a private variable, which has none, the first use that has one. */
static LLVMValueRef placed(LLVMValueRef where)
{
    LLVMValueRef first = where;
    for (LLVMUseRef u = where && LLVMIsAAllocaInst(where) ? LLVMGetFirstUse(where) : NULL; u; u = LLVMGetNextUse(u)) {
        const unsigned line = LLVMGetDebugLocLine(LLVMGetUser(u)), least = LLVMGetDebugLocLine(first);
        first = line && (!least || line < least) ? LLVMGetUser(u) : first;
    }
    return first;
}

int cc1_refuse(struct cc1_why *why, LLVMValueRef where, const char *format, ...)
{
    va_list ap;
    unsigned length = 0;
    if (why->text) {
        return 0;
    }
    where = placed(where);
    va_start(ap, format);
    if (vasprintf(&why->text, format, ap) < 0) {
        cc1_die(CC1_INTERNAL, "out of memory");
    }
    va_end(ap);
    why->line = where ? LLVMGetDebugLocLine(where) : 0;
    if (why->line) {
        const char *file = LLVMGetDebugLocFilename(where, &length);
        why->file = cc1_text("%.*s", (int)length, file ? file : "");
    }
    return 0;
}

const char *cc1_call_obstacle(LLVMValueRef call)
{
    LLVMValueRef f = LLVMGetCalledValue(call);
    size_t length;
    switch (cc1_csr(call)) {
    case 0: break;
    case TERN_CSR_LOCAL_ID_X: case TERN_CSR_LOCAL_ID_Y: case TERN_CSR_LOCAL_ID_Z: return "it uses its local id";
    case TERN_CSR_GROUP_ID_X: case TERN_CSR_GROUP_ID_Y: case TERN_CSR_GROUP_ID_Z: return "it uses its group's id";
    case TERN_CSR_USER0: case TERN_CSR_USER1: return "it calls printf";
    case TERN_CSR_LOCAL_SIZE_X: case TERN_CSR_LOCAL_SIZE_Y: case TERN_CSR_LOCAL_SIZE_Z: case TERN_CSR_FULL_SIZE_X:
    case TERN_CSR_FULL_SIZE_Y: case TERN_CSR_FULL_SIZE_Z: case TERN_CSR_NUM_GROUPS_X: case TERN_CSR_NUM_GROUPS_Y:
    case TERN_CSR_NUM_GROUPS_Z:
        return "it uses the size or the number of groups";
    default: return "it reads a register of the hardware";
    }
    if (LLVMIsAInlineAsm(f)) {
        const char *code = LLVMGetInlineAsmAsmString(f, &length);
        return cc1_sees_lanes(call)                              ? "it uses sub-groups"
               : strstr(code, ATOMIC) || strstr(code, ATOMIC_64)   ? "it has an atomic operation"
               : strstr(code, CC1_BARRIER) || strstr(code, "fence ") ? "it has a barrier or a fence"
                                                                 : "it has assembly";
    }
    const char *name = LLVMIsAFunction(f) ? LLVMGetValueName2(f, &length) : "";
    return !strncmp(name, "__tern_printf", 13) ? "it calls printf" : NULL;
}

const char *cc1_function_name(LLVMValueRef f)
{
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);
    return strncmp(name, CC1_USER_PREFIX, strlen(CC1_USER_PREFIX)) ? name : name + strlen(CC1_USER_PREFIX);
}

void cc1_refuse_all(struct cc1 *cc, const char *option)
{
    for (size_t i = 0; i < cc->n_kernels; i++) {
        cc1_refuse(&cc->kernels[i].no_rounds, NULL, "the option %s is given", option);
        cc1_refuse(&cc->kernels[i].no_tiles, NULL, "the option %s is given", option);
    }
}

static void add(cJSON *to, const char *name, const struct cc1_why *why)
{
    cJSON *json = why->text ? cJSON_AddObjectToObject(to, name) : NULL;
    if (json) {
        cJSON_AddStringToObject(json, "text", why->text);
    }
    if (json && why->line) {
        cJSON_AddStringToObject(json, "file", why->file);
        cJSON_AddNumberToObject(json, "line", why->line);
    }
}

void *cc1_explanation(const struct cc1_kernel *k)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "unrolled", k->unrolled);
    if (k->groups && k->merges == CC1_NEVER) {
        add(json, "no_merging", &k->no_merging);
    }
    if (!k->copies) {
        add(json, "no_rounds", &k->no_rounds);
        add(json, "no_tiles", &k->no_tiles);
    } else if (k->tile) {
        add(json, "no_rounds", &k->no_rounds);
    }
    return json;
}
