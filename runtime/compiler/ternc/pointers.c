/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pointers of 64 bits in memory. A host's pointers have 64 bits, the hardware's have 32. For the front end a pointer
 * and size_t have 8 bytes, so structures lie in memory as the host has them and shared virtual memory can hold
 * pointers. Registers hold the low 32 bits.
 *
 * This pass runs over a module as the front end made it, whose layout it then replaces:
 *
 *  - A pointer in memory is its 32 bits, then 32 bits of zero. A load of a pointer reads the low half.
 *  - An access within a type with pointers becomes one at the same offset in bytes. For struct { int n; int *p; } the
 *    address of p is that of the struct plus 8, and the distance of two elements of an array of them is 16.
 *  - A variable of such a type becomes one of bytes.
 *  - A structure that a function returns is loaded and stored member by member, because it is no memory itself.
 *
 * Integers of 64 bits stay, and the optimizer computes addresses from their low halves. On the benches this costs no
 * cycle; a loop that counts in size_t up to an unknown end costs an addition more.
 *
 * Alternative dropped: pointers of 32 bits, as they were. Programs that keep pointers in structures, which the
 * conformance suite's group svm does, found them at other offsets than the host.
 */
#include "cc1.h"

#include <string.h>

#define WIDE 8u   /* bytes of a pointer in memory */
#define NARROW 4u /* bytes of a pointer in a register */

struct pass {
    struct cc1 *cc;
    LLVMModuleRef module;
    LLVMTargetDataRef wide; /**< The front end's layout. */
    LLVMTypeRef byte, word;
};

/** True: a value of this type in memory contains a pointer. */
static int has_pointer(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind: return 1;
    case LLVMArrayTypeKind: return has_pointer(LLVMGetElementType(type));
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
            if (has_pointer(LLVMStructGetTypeAtIndex(type, i))) {
                return 1;
            }
        }
        return 0;
    default: return 0;
    }
}

static int is_aggregate(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind || LLVMGetTypeKind(type) == LLVMArrayTypeKind;
}

static uint64_t size_of(const struct pass *p, LLVMTypeRef type)
{
    return LLVMABISizeOfType(p->wide, type);
}

/** Bytes as large as a type. */
static LLVMTypeRef bytes_of(const struct pass *p, LLVMTypeRef type)
{
    return LLVMArrayType2(p->byte, size_of(p, type));
}

/** Members of a structure or array. */
static unsigned count(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMCountStructElementTypes(type)
                                                       : (unsigned)LLVMGetArrayLength2(type);
}

static LLVMTypeRef member(LLVMTypeRef type, unsigned i)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMStructGetTypeAtIndex(type, i) : LLVMGetElementType(type);
}

/** Offset of a member in bytes. */
static uint64_t offset_of(const struct pass *p, LLVMTypeRef type, unsigned i)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMOffsetOfElement(p->wide, type, i)
                                                       : i * size_of(p, LLVMGetElementType(type));
}

/* Addresses */

static LLVMValueRef map_constant(const struct pass *p, LLVMValueRef c);

/** A constant address within a type with pointers. */
static LLVMValueRef map_constant_address(const struct pass *p, LLVMValueRef c)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(c);
    LLVMValueRef base = map_constant(p, LLVMGetOperand(c, 0));
    int64_t offset = LLVMConstIntGetSExtValue(LLVMGetOperand(c, 1)) * (int64_t)size_of(p, type);
    for (unsigned i = 2; i < (unsigned)LLVMGetNumOperands(c); i++) {
        const int64_t index = LLVMConstIntGetSExtValue(LLVMGetOperand(c, i));
        offset += LLVMGetTypeKind(type) == LLVMStructTypeKind ? (int64_t)offset_of(p, type, (unsigned)index)
                                                              : index * (int64_t)size_of(p, member(type, 0));
        type = member(type, (unsigned)index);
    }
    LLVMValueRef distance = LLVMConstInt(p->word, (unsigned long long)offset, 1);
    return LLVMIsInBounds(c) ? LLVMConstInBoundsGEP2(p->byte, base, &distance, 1)
                             : LLVMConstGEP2(p->byte, base, &distance, 1);
}

/** The constant with addresses within types with pointers replaced. Aggregates are read by their members, so they are
 *  returned as they are. */
static LLVMValueRef map_constant(const struct pass *p, LLVMValueRef c)
{
    if (!LLVMIsAConstantExpr(c)) {
        return c;
    }
    if (LLVMGetConstOpcode(c) == LLVMGetElementPtr && has_pointer(LLVMGetGEPSourceElementType(c))) {
        return map_constant_address(p, c);
    }
    LLVMValueRef from = LLVMGetOperand(c, 0), to = map_constant(p, from);
    LLVMValueRef second = LLVMGetNumOperands(c) == 2 ? LLVMGetOperand(c, 1) : NULL;
    switch (LLVMGetConstOpcode(c)) {
    case LLVMGetElementPtr: {
        const unsigned n = (unsigned)LLVMGetNumOperands(c) - 1;
        LLVMValueRef *indices = cc1_alloc(n, sizeof *indices);
        for (unsigned i = 0; i < n; i++) {
            indices[i] = LLVMGetOperand(c, i + 1);
        }
        return to == from             ? c
               : LLVMIsInBounds(c) ? LLVMConstInBoundsGEP2(LLVMGetGEPSourceElementType(c), to, indices, n)
                                   : LLVMConstGEP2(LLVMGetGEPSourceElementType(c), to, indices, n);
    }
    case LLVMAddrSpaceCast: return LLVMConstAddrSpaceCast(to, LLVMTypeOf(c));
    case LLVMPtrToInt: return LLVMConstPtrToInt(to, LLVMTypeOf(c));
    case LLVMIntToPtr: return LLVMConstIntToPtr(to, LLVMTypeOf(c));
    case LLVMTrunc: return LLVMConstTrunc(to, LLVMTypeOf(c));
    case LLVMAdd: return LLVMConstAdd(to, map_constant(p, second));
    case LLVMSub: return LLVMConstSub(to, map_constant(p, second));
    default: return c;
    }
}

/** Builds an address at a constant distance. */
static LLVMValueRef build_at(const struct pass *p, LLVMBuilderRef b, LLVMValueRef base, uint64_t offset, int in_bounds)
{
    LLVMValueRef distance = LLVMConstInt(p->word, offset, 0);
    return offset == 0 ? base
           : in_bounds ? LLVMBuildInBoundsGEP2(b, p->byte, base, &distance, 1, "")
                       : LLVMBuildGEP2(b, p->byte, base, &distance, 1, "");
}

/** Builds the address of an element of an array with elements of this type. */
static LLVMValueRef build_element(const struct pass *p, LLVMBuilderRef b, LLVMValueRef base, LLVMTypeRef type,
                                  LLVMValueRef index, int in_bounds)
{
    if (LLVMIsAConstantInt(index)) {
        return build_at(p, b, base, LLVMConstIntGetZExtValue(index) * size_of(p, type), in_bounds);
    }
    return in_bounds ? LLVMBuildInBoundsGEP2(b, bytes_of(p, type), base, &index, 1, "")
                     : LLVMBuildGEP2(b, bytes_of(p, type), base, &index, 1, "");
}

static void map_address(const struct pass *p, LLVMBuilderRef b, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    const int in_bounds = LLVMIsInBounds(gep) != 0;
    LLVMValueRef at = build_element(p, b, LLVMGetOperand(gep, 0), type, LLVMGetOperand(gep, 1), in_bounds);
    for (unsigned i = 2; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        const int whole = LLVMGetTypeKind(type) == LLVMStructTypeKind;
        const unsigned which = whole ? (unsigned)LLVMConstIntGetZExtValue(index) : 0;
        at = whole ? build_at(p, b, at, offset_of(p, type, which), in_bounds)
                   : build_element(p, b, at, member(type, 0), index, in_bounds);
        type = member(type, which);
    }
    LLVMReplaceAllUsesWith(gep, at);
    LLVMInstructionEraseFromParent(gep);
}

/* Loads and stores */

/** The alignment that an address at this offset has, if the base has `align`. */
static unsigned align_at(unsigned align, uint64_t offset)
{
    while (offset % align) {
        align /= 2;
    }
    return align;
}

static LLVMValueRef build_load(const struct pass *p, LLVMBuilderRef b, LLVMValueRef like, LLVMTypeRef type,
                               LLVMValueRef from, unsigned align)
{
    if (is_aggregate(type)) {
        LLVMValueRef whole = LLVMGetPoison(type);
        for (unsigned i = 0; i < count(type); i++) {
            const uint64_t offset = offset_of(p, type, i);
            LLVMValueRef part = build_load(p, b, like, member(type, i), build_at(p, b, from, offset, 1),
                                           align_at(align, offset));
            whole = LLVMBuildInsertValue(b, whole, part, i, "");
        }
        return whole;
    }
    LLVMValueRef load = LLVMBuildLoad2(b, type, from, "");
    LLVMSetAlignment(load, align);
    LLVMSetVolatile(load, LLVMGetVolatile(like));
    return load;
}

/** Stores the upper half of a pointer. */
static void build_upper(const struct pass *p, LLVMBuilderRef b, LLVMValueRef like, LLVMValueRef to, unsigned align)
{
    LLVMValueRef upper = LLVMBuildStore(b, LLVMConstInt(p->word, 0, 0), build_at(p, b, to, NARROW, 1));
    LLVMSetAlignment(upper, align_at(align, NARROW));
    LLVMSetVolatile(upper, LLVMGetVolatile(like));
}

static void build_store(const struct pass *p, LLVMBuilderRef b, LLVMValueRef like, LLVMTypeRef type, LLVMValueRef value,
                        LLVMValueRef to, unsigned align)
{
    if (is_aggregate(type)) {
        for (unsigned i = 0; i < count(type); i++) {
            const uint64_t offset = offset_of(p, type, i);
            build_store(p, b, like, member(type, i), LLVMBuildExtractValue(b, value, i, ""),
                        build_at(p, b, to, offset, 1), align_at(align, offset));
        }
        return;
    }
    LLVMValueRef store = LLVMBuildStore(b, map_constant(p, value), to);
    LLVMSetAlignment(store, align);
    LLVMSetVolatile(store, LLVMGetVolatile(like));
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind) {
        build_upper(p, b, like, to, align);
    }
}

static void map_load(const struct pass *p, LLVMBuilderRef b, LLVMValueRef load)
{
    LLVMTypeRef type = LLVMTypeOf(load);
    if (is_aggregate(type) && has_pointer(type)) {
        LLVMReplaceAllUsesWith(load, build_load(p, b, load, type, LLVMGetOperand(load, 0), LLVMGetAlignment(load)));
        LLVMInstructionEraseFromParent(load);
    }
}

static void map_store(const struct pass *p, LLVMBuilderRef b, LLVMValueRef store)
{
    LLVMValueRef value = LLVMGetOperand(store, 0), to = LLVMGetOperand(store, 1);
    LLVMTypeRef type = LLVMTypeOf(value);
    if (is_aggregate(type) && has_pointer(type)) {
        build_store(p, b, store, type, value, to, LLVMGetAlignment(store));
        LLVMInstructionEraseFromParent(store);
    } else if (LLVMGetTypeKind(type) == LLVMPointerTypeKind) {
        build_upper(p, b, store, to, LLVMGetAlignment(store));
    }
}

/* Variables and calls */

static void map_variable(const struct pass *p, LLVMBuilderRef b, LLVMValueRef variable)
{
    LLVMTypeRef type = LLVMGetAllocatedType(variable);
    if (has_pointer(type)) {
        LLVMValueRef n = LLVMGetOperand(variable, 0);
        LLVMValueRef made = LLVMIsAConstantInt(n) && LLVMConstIntGetZExtValue(n) == 1
                                ? LLVMBuildAlloca(b, bytes_of(p, type), "")
                                : LLVMBuildArrayAlloca(b, bytes_of(p, type), n, "");
        LLVMSetAlignment(made, LLVMGetAlignment(variable));
        LLVMReplaceAllUsesWith(variable, made);
        LLVMInstructionEraseFromParent(variable);
    }
}

/** Copies and fills of memory with a length of 64 bits get one of 32, which the back end's own functions have. */
static LLVMValueRef map_copy(const struct pass *p, LLVMBuilderRef b, LLVMValueRef call)
{
    const unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(call));
    static const char *const names[] = {"llvm.memcpy", "llvm.memmove", "llvm.memset"};
    unsigned which = 0;
    while (which < 3 && LLVMLookupIntrinsicID(names[which], strlen(names[which])) != id) {
        which++;
    }
    if (which == 3 || LLVMTypeOf(LLVMGetOperand(call, 2)) == p->word) {
        return call;
    }
    LLVMValueRef args[4] = {LLVMGetOperand(call, 0), LLVMGetOperand(call, 1),
                            LLVMBuildTrunc(b, LLVMGetOperand(call, 2), p->word, ""), LLVMGetOperand(call, 3)};
    LLVMTypeRef overloads[3] = {LLVMTypeOf(args[0]), which == 2 ? p->word : LLVMTypeOf(args[1]), p->word};
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(p->module, id, overloads, which == 2 ? 2 : 3);
    LLVMValueRef made = LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, 4, "");
    const unsigned align = LLVMGetEnumAttributeKindForName("align", 5);
    for (LLVMAttributeIndex i = 1; i <= 2; i++) {
        LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, i, align);
        if (a) {
            LLVMAddCallSiteAttribute(made, i, a);
        }
    }
    LLVMInstructionEraseFromParent(call);
    return NULL;
}

/** The attribute of a parameter that lies in memory, with bytes instead of a type with pointers; NULL: it stays. */
static LLVMAttributeRef map_attribute(const struct pass *p, LLVMAttributeRef old)
{
    LLVMTypeRef type = old ? LLVMGetTypeAttributeValue(old) : NULL;
    return type && has_pointer(type)
               ? LLVMCreateTypeAttribute(p->cc->context, LLVMGetEnumAttributeKind(old), bytes_of(p, type))
               : NULL;
}

static const char *const in_memory[] = {"byval", "sret"};

static void map_parameters(const struct pass *p, LLVMValueRef f)
{
    for (size_t k = 0; k < sizeof in_memory / sizeof *in_memory; k++) {
        const unsigned kind = LLVMGetEnumAttributeKindForName(in_memory[k], strlen(in_memory[k]));
        for (unsigned i = 1; i <= LLVMCountParams(f); i++) {
            LLVMAttributeRef made = map_attribute(p, LLVMGetEnumAttributeAtIndex(f, i, kind));
            if (made) {
                LLVMRemoveEnumAttributeAtIndex(f, i, kind);
                LLVMAddAttributeAtIndex(f, i, made);
            }
        }
    }
}

static void map_call(const struct pass *p, LLVMBuilderRef b, LLVMValueRef call)
{
    call = LLVMIsAIntrinsicInst(call) ? map_copy(p, b, call) : call;
    for (size_t k = 0; call && k < sizeof in_memory / sizeof *in_memory; k++) {
        const unsigned kind = LLVMGetEnumAttributeKindForName(in_memory[k], strlen(in_memory[k]));
        for (unsigned i = 1; i <= LLVMGetNumArgOperands(call); i++) {
            LLVMAttributeRef made = map_attribute(p, LLVMGetCallSiteEnumAttribute(call, i, kind));
            if (made) {
                LLVMRemoveCallSiteEnumAttribute(call, i, kind);
                LLVMAddCallSiteAttribute(call, i, made);
            }
        }
    }
}

static void map_instruction(const struct pass *p, LLVMBuilderRef b, LLVMValueRef i)
{
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(i); o++) {
        LLVMValueRef operand = LLVMGetOperand(i, o), mapped = map_constant(p, operand);
        if (mapped != operand) {
            LLVMSetOperand(i, o, mapped);
        }
    }
    LLVMPositionBuilderBefore(b, i); /* new instructions get the line of the old one */
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAlloca: map_variable(p, b, i); break;
    case LLVMLoad: map_load(p, b, i); break;
    case LLVMStore: map_store(p, b, i); break;
    case LLVMCall: map_call(p, b, i); break;
    case LLVMGetElementPtr:
        if (has_pointer(LLVMGetGEPSourceElementType(i))) {
            map_address(p, b, i);
        }
        break;
    default: break;
    }
}

/* Program-scope variables */

/** Members of a packed structure, which lie one behind the other. */
struct image {
    LLVMValueRef *parts;
    unsigned n, room;
    uint64_t size; /**< Bytes of the parts. */
};

static void append(struct image *image, LLVMValueRef part, uint64_t size)
{
    if (image->n == image->room) {
        const unsigned room = image->room ? 2 * image->room : 16;
        LLVMValueRef *grown = cc1_alloc(room, sizeof *grown);
        if (image->n) {
            memcpy(grown, image->parts, image->n * sizeof *grown);
        }
        image->parts = grown;
        image->room = room;
    }
    image->parts[image->n++] = part;
    image->size += size;
}

static void append_zeros(const struct pass *p, struct image *image, uint64_t size)
{
    if (size > 0) {
        append(image, LLVMConstNull(LLVMArrayType2(p->byte, size)), size);
    }
}

/** Appends an initial value, which begins at a multiple of its alignment. */
static void append_value(const struct pass *p, struct image *image, LLVMTypeRef type, LLVMValueRef value)
{
    const uint64_t from = image->size, size = size_of(p, type);
    if (LLVMIsNull(value) || LLVMIsUndef(value)) {
        append_zeros(p, image, size);
    } else if (LLVMGetTypeKind(type) == LLVMPointerTypeKind) {
        append(image, map_constant(p, value), NARROW);
        append_zeros(p, image, WIDE - NARROW);
    } else if (!has_pointer(type)) {
        append(image, map_constant(p, value), size);
    } else {
        for (unsigned i = 0; i < count(type); i++) {
            append_zeros(p, image, from + offset_of(p, type, i) - image->size);
            append_value(p, image, member(type, i), LLVMGetAggregateElement(value, i));
        }
        append_zeros(p, image, from + size - image->size);
    }
}

/** Gives a program-scope variable of a type with pointers, which only declares it, or has a value, bytes. */
static void map_global(const struct pass *p, LLVMValueRef g)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(g), made_type = bytes_of(p, type);
    LLVMValueRef value = LLVMGetInitializer(g), made_value = value ? LLVMConstNull(made_type) : NULL;
    const unsigned align = LLVMGetAlignment(g);
    if (value && !LLVMIsNull(value) && !LLVMIsUndef(value)) {
        struct image image = {0};
        append_value(p, &image, type, value);
        made_value = LLVMConstStructInContext(p->cc->context, image.parts, image.n, 1);
        made_type = LLVMTypeOf(made_value);
    }
    LLVMValueRef made = LLVMAddGlobalInAddressSpace(p->module, made_type, "",
                                                    LLVMGetPointerAddressSpace(LLVMTypeOf(g)));
    if (made_value) {
        LLVMSetInitializer(made, made_value);
    }
    LLVMSetLinkage(made, LLVMGetLinkage(g));
    LLVMSetVisibility(made, LLVMGetVisibility(g));
    LLVMSetUnnamedAddress(made, LLVMGetUnnamedAddress(g));
    LLVMSetGlobalConstant(made, LLVMIsGlobalConstant(g));
    LLVMSetExternallyInitialized(made, LLVMIsExternallyInitialized(g));
    LLVMSetAlignment(made, align ? align : LLVMABIAlignmentOfType(p->wide, type));
    LLVMReplaceAllUsesWith(g, made);
    size_t length;
    const char *name = cc1_text("%s", LLVMGetValueName2(g, &length));
    LLVMDeleteGlobal(g);
    LLVMSetValueName2(made, name, strlen(name));
}

static void map_globals(const struct pass *p)
{
    LLVMValueRef last = LLVMGetLastGlobal(p->module);
    for (LLVMValueRef g = LLVMGetFirstGlobal(p->module), next; g; g = next) {
        next = g == last ? NULL : LLVMGetNextGlobal(g);
        LLVMValueRef value = LLVMGetInitializer(g);
        if (LLVMGetLinkage(g) == LLVMAppendingLinkage) { /* a list for LLVM, such as llvm.used */
            continue;
        }
        if (has_pointer(LLVMGlobalGetValueType(g))) {
            map_global(p, g);
        } else if (value && LLVMIsAConstantExpr(value)) { /* an integer of an address */
            LLVMSetInitializer(g, map_constant(p, value));
        }
    }
}

void cc1_pointers(struct cc1 *cc, LLVMModuleRef module)
{
    struct pass p = {cc, module, LLVMCreateTargetData(LLVMGetDataLayoutStr(module)),
                     LLVMInt8TypeInContext(cc->context), LLVMInt32TypeInContext(cc->context)};
    LLVMBuilderRef b = LLVMCreateBuilderInContext(cc->context);
    if (LLVMPointerSize(p.wide) != WIDE) {
        return;
    }
    map_globals(&p);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        map_parameters(&p, f);
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                map_instruction(&p, b, i);
            }
        }
    }
    LLVMDisposeBuilder(b);
}
