/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels: for each an entry that the hardware can start (a0 = argument block, sp set), and its metadata as JSON.
 *
 * The entry loads the arguments with invariant loads, and the kernel is inlined into it. Therefore the optimizer may
 * reload an argument instead of keeping it in a register, and may hoist the load. A kernel that another kernel calls
 * also stays a function.
 */
#include "cc1.h"

#include "../../device/image.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CC_SPIR_KERNEL 76u
#define MAX_ALIGN 16u /* alignment of the argument block */
#define LINE 64u      /* bytes of a line of the instruction cache */

static LLVMAttributeRef attribute(struct cc1 *cc, const char *name)
{
    return LLVMCreateEnumAttribute(cc->context, LLVMGetEnumAttributeKindForName(name, strlen(name)), 0);
}

/** The operands of a function's metadata node of this kind; NULL: it has none. */
static LLVMValueRef *metadata(struct cc1 *cc, LLVMValueRef f, const char *kind, unsigned *n)
{
    size_t entries;
    LLVMValueMetadataEntry *all = LLVMGlobalCopyAllMetadata(f, &entries);
    unsigned id = LLVMGetMDKindIDInContext(cc->context, kind, (unsigned)strlen(kind));
    for (size_t i = 0; i < entries; i++) {
        if (LLVMValueMetadataEntriesGetKind(all, (unsigned)i) == id) {
            LLVMValueRef node = LLVMMetadataAsValue(cc->context, LLVMValueMetadataEntriesGetMetadata(all, (unsigned)i));
            *n = (unsigned)LLVMGetMDNodeNumOperands(node);
            LLVMValueRef *operands = cc1_alloc(*n, sizeof *operands);
            LLVMGetMDNodeOperands(node, operands);
            return operands;
        }
    }
    *n = 0;
    return NULL;
}

static const char *string_of(LLVMValueRef v)
{
    unsigned length;
    const char *s = LLVMGetMDString(v, &length);
    char *copy = cc1_alloc(length + 1, 1);
    memcpy(copy, s, length);
    return copy;
}

static unsigned qualifiers(const char *text)
{
    return (strstr(text, "const") ? 1u : 0u) | (strstr(text, "restrict") ? 2u : 0u) |
        (strstr(text, "volatile") ? 4u : 0u);
}

static unsigned access_of(const char *text)
{
    return !strcmp(text, "read_only") ? 1u : !strcmp(text, "write_only") ? 2u : !strcmp(text, "read_write") ? 3u : 0u;
}

/** Prints the OpenCL name of a type that vec_type_hint can name. */
static void print_hint(char *out, size_t size, LLVMTypeRef type, int is_signed)
{
    unsigned n = 1;
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        n = LLVMGetVectorSize(type);
        type = LLVMGetElementType(type);
    }
    const char *name = "float";
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind: name = "half"; break;
    case LLVMDoubleTypeKind: name = "double"; break;
    case LLVMIntegerTypeKind: {
        unsigned width = LLVMGetIntTypeWidth(type);
        name = width == 8 ? "uchar" : width == 16 ? "ushort" : width == 32 ? "uint" : "ulong";
        name += is_signed ? 1 : 0;
        break;
    }
    default: break;
    }
    if (n > 1) {
        snprintf(out, size, "vec_type_hint(%s%u)", name, n);
    } else {
        snprintf(out, size, "vec_type_hint(%s)", name);
    }
}

static const char hidden[] = "tern-no-arg-info"; /* an attribute of kernels, so that libraries keep it */

/** Marks the kernels of a module that was compiled without -cl-kernel-arg-info. */
void cc1_kernels_hide(struct cc1 *cc, LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && LLVMGetFunctionCallConv(f) == CC_SPIR_KERNEL) {
            LLVMAddAttributeAtIndex(f, CC1_FUNCTION,
                                    LLVMCreateStringAttribute(cc->context, hidden, sizeof hidden - 1, "", 0));
        }
    }
}

static void add_attributes(struct cc1 *cc, LLVMValueRef f, cJSON *json)
{
    char text[256] = "";
    unsigned n;
    static const char *const sizes[2] = {"reqd_work_group_size", "work_group_size_hint"};
    cJSON *required = cJSON_AddArrayToObject(json, "required_size");
    for (int which = 0; which < 2; which++) {
        LLVMValueRef *v = metadata(cc, f, sizes[which], &n);
        if (!v || n != 3) {
            continue;
        }
        unsigned long long d[3];
        for (int i = 0; i < 3; i++) {
            d[i] = LLVMConstIntGetZExtValue(v[i]);
            if (which == 0) {
                cJSON_AddItemToArray(required, cJSON_CreateNumber((double)d[i]));
            }
        }
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s(%llu,%llu,%llu)", at ? " " : "", sizes[which], d[0], d[1], d[2]);
    }
    LLVMValueRef *hint = metadata(cc, f, "vec_type_hint", &n);
    if (hint && n == 2) {
        size_t at = strlen(text);
        if (at) {
            text[at++] = ' ';
        }
        print_hint(text + at, sizeof text - at, LLVMTypeOf(hint[0]), LLVMConstIntGetZExtValue(hint[1]) != 0);
    }
    cJSON_AddStringToObject(json, "attributes", text);
    /* set by the front end for OpenCL C 1.x, or by an option */
    static const char even[] = "uniform-work-group-size";
    LLVMAttributeRef uniform = LLVMGetStringAttributeAtIndex(f, CC1_FUNCTION, even, sizeof even - 1);
    const char *value = uniform ? LLVMGetStringAttributeValue(uniform, &n) : "";
    cJSON_AddBoolToObject(json, "uniform", !strncmp(value, "true", 4));
    cJSON_AddBoolToObject(json, "arg_info", !LLVMGetStringAttributeAtIndex(f, CC1_FUNCTION, hidden, sizeof hidden - 1));
}

/** Metadata of a kernel's arguments: a node each, with an operand for each argument. */
enum { SPACE, ACCESS, TYPE, QUALIFIERS, NAME, BASE_TYPE, KINDS_OF_INFO };

static cJSON *argument_json(LLVMValueRef *const info[KINDS_OF_INFO], const unsigned n[KINDS_OF_INFO], unsigned i)
{
    cJSON *arg = cJSON_CreateObject();
    cJSON_AddNumberToObject(arg, "space", i < n[SPACE] ? (double)LLVMConstIntGetZExtValue(info[SPACE][i]) : 0);
    cJSON_AddNumberToObject(arg, "access", i < n[ACCESS] ? access_of(string_of(info[ACCESS][i])) : 0);
    cJSON_AddStringToObject(arg, "type", i < n[TYPE] ? string_of(info[TYPE][i]) : "");
    cJSON_AddNumberToObject(arg, "qualifiers", i < n[QUALIFIERS] ? qualifiers(string_of(info[QUALIFIERS][i])) : 0);
    if (i < n[NAME]) {
        cJSON_AddStringToObject(arg, "name", string_of(info[NAME][i]));
    }
    return arg;
}

/** The kind of image of a type, as enum tc_image_type of compiler.h; 0: it is none. */
static unsigned image_of(const char *type)
{
    static const char *const types[] = {"image1d_t", "image1d_array_t", "image1d_buffer_t", "image2d_t",
                                        "image2d_array_t", "image2d_depth_t", "image2d_array_depth_t", "image3d_t"};
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        if (!strcmp(type, types[i])) {
            return i + 1;
        }
    }
    return 0;
}

static void make_entry(struct cc1 *cc, struct cc1_kernel *k)
{
    LLVMContextRef c = cc->context;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    LLVMTypeRef block = LLVMPointerTypeInContext(c, 1);
    LLVMTypeRef nothing = LLVMVoidTypeInContext(c);
    k->entry = LLVMAddFunction(cc->module, cc1_text(CC1_ENTRY_PREFIX "%s", k->name),
                               LLVMFunctionType(nothing, &block, 1, 0));
    LLVMAddAttributeAtIndex(k->entry, CC1_FUNCTION, attribute(cc, "nounwind"));
    LLVMAddAttributeAtIndex(k->entry, 1, attribute(cc, "noalias"));
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(c, k->entry, ""));
    cc1_lines_entry(cc, b, k->entry, k->function);

    cJSON *json = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(json, "args");
    static const char *const kinds[KINDS_OF_INFO] = {"kernel_arg_addr_space", "kernel_arg_access_qual",
                                                     "kernel_arg_type", "kernel_arg_type_qual", "kernel_arg_name",
                                                     "kernel_arg_base_type"};
    LLVMValueRef *info[KINDS_OF_INFO];
    unsigned n_info[KINDS_OF_INFO];
    for (int i = 0; i < KINDS_OF_INFO; i++) {
        info[i] = metadata(cc, k->function, kinds[i], &n_info[i]);
    }

    unsigned n = LLVMCountParams(k->function);
    if (n > CC1_MAX_ARGS) {
        cc1_die(CC1_BAD_INPUT, "kernel '%s' takes more than %u arguments", k->name, CC1_MAX_ARGS);
    }
    LLVMTypeRef type = LLVMGlobalGetValueType(k->function);
    LLVMTypeRef *types = cc1_alloc(n, sizeof *types);
    LLVMValueRef *args = cc1_alloc(n, sizeof *args);
    LLVMAttributeRef *byval = cc1_alloc(n, sizeof *byval);
    LLVMGetParamTypes(type, types);
    unsigned byval_kind = LLVMGetEnumAttributeKindForName("byval", 5);
    unsigned align_kind = LLVMGetEnumAttributeKindForName("align", 5);
    unsigned invariant = LLVMGetMDKindIDInContext(c, "invariant.load", 14);
    uint64_t offset = 0;
    for (unsigned i = 0; i < n; i++) {
        byval[i] = LLVMGetEnumAttributeAtIndex(k->function, i + 1, byval_kind);
        LLVMTypeRef t = byval[i] ? LLVMGetTypeAttributeValue(byval[i]) : types[i];
        unsigned align = LLVMABIAlignmentOfType(cc->layout, t);
        LLVMAttributeRef declared = LLVMGetEnumAttributeAtIndex(k->function, i + 1, align_kind);
        if (byval[i] && declared && LLVMGetEnumAttributeValue(declared) > align) {
            align = (unsigned)LLVMGetEnumAttributeValue(declared);
        }
        uint64_t size = LLVMABISizeOfType(cc->layout, t);
        const char *base = i < n_info[BASE_TYPE] ? string_of(info[BASE_TYPE][i]) : "";
        const unsigned image = image_of(base);
        const int pointer = !byval[i] && LLVMGetTypeKind(t) == LLVMPointerTypeKind;
        if (image) {
            align = TERN_IMAGE_ALIGN;
            size = sizeof(struct tern_image);
        }
        offset = (offset + align - 1) / align * align;
        unsigned known = align < MAX_ALIGN ? align : MAX_ALIGN;
        LLVMValueRef index = LLVMConstInt(LLVMInt32TypeInContext(c), offset, 0);
        LLVMValueRef from = LLVMBuildInBoundsGEP2(b, LLVMInt8TypeInContext(c), LLVMGetParam(k->entry, 0),
                                                  &index, 1, "");
        if (byval[i]) {
            args[i] = LLVMBuildAlloca(b, t, "");
            LLVMSetAlignment(args[i], align);
            LLVMBuildMemCpy(b, args[i], align, from, known, LLVMConstInt(LLVMInt32TypeInContext(c), size, 0));
        } else if (image) { /* the value of an image is the address of its descriptor */
            args[i] = from;
        } else {
            args[i] = LLVMBuildLoad2(b, t, from, "");
            LLVMSetAlignment(args[i], known);
            LLVMSetMetadata(args[i], invariant, LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, NULL, 0)));
        }
        const enum cc1_arg kind = image ? CC1_IMAGE : !strcmp(base, "sampler_t") ? CC1_SAMPLER : pointer ? CC1_POINTER
                                                                                              : CC1_VALUE;
        cJSON *arg = argument_json(info, n_info, i);
        cJSON_AddNumberToObject(arg, "kind", kind);
        if (image) {
            cJSON_AddNumberToObject(arg, "image", image);
        }
        cJSON_AddNumberToObject(arg, "size", (double)size);
        cJSON_AddNumberToObject(arg, "offset", (double)offset);
        cJSON_AddItemToArray(list, arg);
        offset += size;
        if (offset > CC1_MAX_ARGS_SIZE) {
            cc1_die(CC1_BAD_INPUT, "kernel '%s' takes more than %u bytes of arguments", k->name, CC1_MAX_ARGS_SIZE);
        }
    }
    LLVMValueRef call = LLVMBuildCall2(b, type, k->function, args, n, "");
    LLVMSetInstructionCallConv(call, CC_SPIR_KERNEL);
    for (unsigned i = 0; i < n; i++) {
        if (byval[i]) {
            LLVMAddCallSiteAttribute(call, i + 1, byval[i]);
        }
    }
    cc1_build_instruction(cc, b, CC1_EXIT);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);

    k->args_size = (uint32_t)((offset + MAX_ALIGN - 1) / MAX_ALIGN * MAX_ALIGN);
    cJSON_AddStringToObject(json, "name", k->name);
    cJSON_AddNumberToObject(json, "args_size", k->args_size);
    add_attributes(cc, k->function, json);
    k->json = json;
    LLVMAddAttributeAtIndex(k->function, CC1_FUNCTION, attribute(cc, "alwaysinline"));
}

void cc1_kernels(struct cc1 *cc)
{
    size_t n = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        n += !LLVMIsDeclaration(f) && LLVMGetFunctionCallConv(f) == CC_SPIR_KERNEL;
    }
    if (n > CC1_MAX_KERNELS) {
        cc1_die(CC1_BAD_INPUT, "more than %u kernels in a program", CC1_MAX_KERNELS);
    }
    cc->kernels = cc1_alloc(n, sizeof *cc->kernels);
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && LLVMGetFunctionCallConv(f) == CC_SPIR_KERNEL) {
            size_t length;
            struct cc1_kernel *k = &cc->kernels[cc->n_kernels++];
            k->function = f;
            const char *name = LLVMGetValueName2(f, &length);
            char *copy = cc1_alloc(length + 1, 1);
            memcpy(copy, name, length);
            k->name = copy;
        }
    }
    for (size_t i = 0; i < cc->n_kernels; i++) {
        make_entry(cc, &cc->kernels[i]);
    }
    cc1_lines_end(cc);
}

/** Ends entries with `unreachable` instead of a return. This must come after optimization, because the inliner takes
 *  code before `unreachable` for cold. An entry's frame is made at its first instruction, where cc1_trim finds the
 *  saves of registers: the code generator moves frames behind branches (shrink wrapping), except in functions that a
 *  sanitizer checks. The attribute has no other effect, because no sanitizer runs. Entries begin at a
 *  line, so that the other kernels of a program do not change a kernel's cycles. */
void cc1_entry_end(struct cc1 *cc, LLVMValueRef entry)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cc->context);
    LLVMAddAttributeAtIndex(entry, CC1_FUNCTION, attribute(cc, "noreturn"));
    LLVMAddAttributeAtIndex(entry, CC1_FUNCTION, attribute(cc, "sanitize_thread"));
    LLVMSetAlignment(entry, LINE);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(entry); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (LLVMIsAReturnInst(end)) {
            LLVMPositionBuilderBefore(b, end);
            LLVMBuildUnreachable(b);
            LLVMInstructionEraseFromParent(end);
        }
    }
    LLVMDisposeBuilder(b);
}

void cc1_kernels_end(struct cc1 *cc)
{
    for (size_t i = 0; i < cc->n_kernels; i++) {
        cc1_arms(cc, cc->kernels[i].entry);
        cc1_entry_end(cc, cc->kernels[i].entry);
        if (cc->kernels[i].coarse) {
            cc1_arms(cc, cc->kernels[i].coarse);
            cc1_entry_end(cc, cc->kernels[i].coarse);
        }
    }
}

void cc1_kernels_emit(struct cc1 *cc)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "version", CC1_OBJECT_VERSION);
    cJSON *list = cJSON_AddArrayToObject(root, "kernels");
    for (size_t i = 0; i < cc->n_kernels; i++) {
        cJSON *json = cc->kernels[i].json;
        cJSON_AddNumberToObject(json, "local_static", cc->kernels[i].local_static);
        if (cc->kernels[i].copies) {
            cJSON_AddNumberToObject(json, "coarse", cc->kernels[i].copies);
        }
        if (cc->kernels[i].tile) {
            cJSON_AddNumberToObject(json, "tile", cc->kernels[i].tile);
        }
        if (cc->kernels[i].groups) {
            cJSON_AddTrueToObject(json, "groups");
        }
        if (cc->kernels[i].sub_groups) {
            cJSON_AddNumberToObject(json, "sub_bytes", cc->sub_bytes);
        }
        if (cc->kernels[i].merges) {
            cJSON_AddNumberToObject(json, "merges", cc->kernels[i].merges);
        }
        if (cc->kernels[i].merged) {
            cJSON_AddNumberToObject(json, "merged", cc->kernels[i].merged);
        }
        if (cc->kernels[i].joined > 1) {
            cJSON_AddNumberToObject(json, "joined", cc->kernels[i].joined);
        }
        if (cc->kernels[i].rows) {
            cJSON_AddTrueToObject(json, "coarse_rows");
        }
        if (cc->explain) {
            cJSON_AddItemToObject(json, "explain", cc1_explanation(&cc->kernels[i]));
        }
        cJSON_AddItemToObject(json, "stack", cJSON_CreateRaw(CC1_STACK_MARK));
        cJSON_AddItemToObject(json, "spills", cJSON_CreateRaw(CC1_SPILLS_MARK));
        if (cc->kernels[i].coarse) {
            cJSON_AddItemToObject(json, "coarse_spills", cJSON_CreateRaw(CC1_SPILLS_MARK));
        }
        cJSON_AddItemToArray(list, json);
    }
    char *text = cJSON_PrintUnformatted(root);
    if (!text) {
        cc1_die(CC1_INTERNAL, "out of memory");
    }
    LLVMValueRef string = LLVMConstStringInContext(cc->context, text, (unsigned)strlen(text), 1);
    LLVMValueRef global = LLVMAddGlobal(cc->module, LLVMTypeOf(string), "__tern_kernels");
    LLVMSetInitializer(global, string);
    LLVMSetAlignment(global, 1);
    LLVMSetSection(global, ".tern.kernels");
}
