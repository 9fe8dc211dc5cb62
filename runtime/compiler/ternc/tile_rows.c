/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lanes that load words for each other. In the product of a matrix and a vector, each work-item reads a row of the
 * matrix. Each load of 16 work-items then accesses 16 lines of memory, one a cycle, although the work-items need the
 * other words of these lines next. Here, each load accesses neighbouring words of few rows. The words pass through
 * local memory to the lanes that need them.
 *
 * Example: a block reads words 0 to 7 of each row. Lane 8 s + c loads word c of row 8 s + i, for i = 0 ... 7, so that
 * a load accesses two lines. The lane stores the word at place 9 * (8 s + i) + c. After a barrier, lane l reads places
 * 9 l to 9 l + 7. The 16 lanes of each such store and load use the 16 banks of local memory.
 *
 * That requires that all lanes of the row are at the same place of the program (tile_read.c), so barriers are allowed:
 * a group of the hardware is one row. The rows must be at equal distances, and no store may come before the loads.
 */
#include "tile.h"

#include "coarse.h"
#include "tern/tern_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD 4u           /* bytes */
#define LINE 64u          /* bytes of a line of memory */
#define MOST_WORDS 16u    /* words of a row that are loaded together; as many lanes load the words of one row */
#define LEAST_WORDS 4u
#define MOST_READ 64u     /* words of a block that are looked at */
#define MOST_CHUNKS (MOST_READ / LEAST_WORDS)
#define GLOBAL_SPACE 1u   /* the numbers of nvptx */
#define CONSTANT_SPACE 4u
#define LINES_OF "tern.lines" /* metadata: the lines that an access takes, for tile_lines.c */

/** A word of a load, at a constant distance from a base. */
struct word {
    LLVMValueRef load, base;
    int64_t offset;    /**< Bytes from the base. */
    unsigned part;     /**< Component of the vector that is loaded. */
    unsigned number;   /**< The word's number in its block, in the order of the loads. */
    unsigned first;    /**< The first number of a word with the same base. */
    LLVMValueRef made; /**< The word as it is read from local memory; NULL: it is not. */
};

/** Neighbouring words of a row, in ascending order. */
struct chunk {
    struct word *words;
    unsigned n;             /**< A power of two, or 0 if the chunk is made. */
    LLVMValueRef loaded[MOST_WORDS]; /**< The words that this lane loads for others. */
    LLVMValueRef to, from;  /**< Places in local memory, of loaded[0] and of the lane's first word. */
};

struct rows {
    struct cc1 *cc;
    LLVMBuilderRef b;
    LLVMValueRef f;
    struct tile all;        /**< The values of f and their growth. */
    LLVMValueRef lane;
    LLVMValueRef buffer;    /**< A local variable. */
    uint32_t bytes;         /**< Largest number of bytes of it that is used. */
    unsigned n_words, n_chunks;
    struct word words[MOST_READ];
    struct chunk chunks[MOST_CHUNKS];
};

static LLVMTypeRef byte_type(const struct rows *r)
{
    return LLVMInt8TypeInContext(r->cc->context);
}

static LLVMValueRef u32(const struct rows *r, uint32_t value)
{
    return cc1_u32(r->cc, value);
}

/** The address at a distance in bytes. */
static LLVMValueRef at(const struct rows *r, LLVMValueRef address, LLVMValueRef bytes)
{
    return LLVMBuildGEP2(r->b, byte_type(r), address, &bytes, 1, "");
}

/** True: the address is what it was before a constant was added, or before a cast to the generic address space. */
static int is_step(LLVMValueRef address)
{
    return LLVMIsAAddrSpaceCastInst(address) ||
        (LLVMIsAGetElementPtrInst(address) && LLVMGetNumOperands(address) == 2 &&
         LLVMIsAConstantInt(LLVMGetOperand(address, 1)));
}

/** Splits the address of a word of a load into a base and a constant. 0: the word is not in global or constant memory,
 *  as far as is known. */
static int read_word(const struct rows *r, LLVMValueRef load, unsigned part, struct word *w)
{
    *w = (struct word){.load = load, .base = LLVMGetOperand(load, 0), .offset = part * WORD, .part = part};
    for (; is_step(w->base); w->base = LLVMGetOperand(w->base, 0)) {
        if (LLVMIsAGetElementPtrInst(w->base)) {
            const int64_t n = LLVMConstIntGetSExtValue(LLVMGetOperand(w->base, 1));
            w->offset += n * (int64_t)LLVMABISizeOfType(r->cc->layout, LLVMGetGEPSourceElementType(w->base));
        }
    }
    const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(w->base));
    return space == GLOBAL_SPACE || space == CONSTANT_SPACE;
}

/** True: lanes that each load `n` words from there would access different lines, or lines again. */
static int is_row(const struct rows *r, LLVMValueRef base, unsigned n)
{
    const struct tile_value *v = tile_find(&r->all, base);
    return v && v->depends & TILE_X && v->growth == TILE_GROWS && (v->times ? v->by != 0 : v->by >= n * WORD);
}

/** The words that an instruction loads; 0: it loads something else, or nothing. */
static unsigned words_of(const struct rows *r, LLVMValueRef i)
{
    if (!LLVMIsALoadInst(i)) {
        return 0;
    }
    const int vector = LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind;
    LLVMTypeRef type = vector ? LLVMGetElementType(LLVMTypeOf(i)) : LLVMTypeOf(i);
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    const int is_word = (kind == LLVMFloatTypeKind || kind == LLVMIntegerTypeKind) && LLVMGetAlignment(i) >= WORD &&
        LLVMStoreSizeOfType(r->cc->layout, type) == WORD && LLVMABISizeOfType(r->cc->layout, type) == WORD;
    return !is_word ? 0 : vector ? LLVMGetVectorSize(LLVMTypeOf(i)) : 1;
}

static int compare(const void *a, const void *b)
{
    const struct word *x = a, *y = b;
    return x->first != y->first     ? (x->first < y->first ? -1 : 1)
           : x->offset != y->offset ? (x->offset < y->offset ? -1 : 1)
                                    : (x->number < y->number ? -1 : 1);
}

/** Adds a word to the list, if it is in global or constant memory and there is room. */
static void add_word(struct rows *r, LLVMValueRef load, unsigned part)
{
    struct word *w = &r->words[r->n_words];
    if (r->n_words == MOST_READ || !read_word(r, load, part, w)) {
        return;
    }
    w->number = w->first = r->n_words++;
    for (unsigned k = 0; k < w->number; k++) {
        if (r->words[k].base == w->base) {
            w->first = k;
            break;
        }
    }
}

/** Makes chunks of words 0 to n - 1, which are neighbours. */
static void add_chunks(struct rows *r, struct word *words, unsigned n)
{
    for (unsigned size = MOST_WORDS; size >= LEAST_WORDS; size /= 2) {
        while (n >= size && r->n_chunks < MOST_CHUNKS && is_row(r, words->base, size)) {
            r->chunks[r->n_chunks++] = (struct chunk){.words = words, .n = size};
            words += size;
            n -= size;
        }
    }
}

/** Finds the chunks of a block. */
static void find_chunks(struct rows *r, LLVMBasicBlockRef block)
{
    unsigned from = 0;
    r->n_words = r->n_chunks = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        for (unsigned part = 0; part < words_of(r, i); part++) {
            add_word(r, i, part);
        }
    }
    const unsigned n = r->n_words;
    qsort(r->words, n, sizeof *r->words, compare);
    for (unsigned i = 1; i <= n; i++) {
        const struct word *last = &r->words[i - 1];
        if (i == n || r->words[i].base != last->base || r->words[i].offset != last->offset + WORD) {
            add_chunks(r, &r->words[from], i - from);
            from = i;
        }
    }
}

/** True: instruction `a` comes before `b` in their block, or is not in it. */
static int is_before(LLVMValueRef a, LLVMValueRef b)
{
    if (!LLVMIsAInstruction(a) || LLVMGetInstructionParent(a) != LLVMGetInstructionParent(b)) {
        return 1;
    }
    while (b && b != a) {
        b = LLVMGetPreviousInstruction(b);
    }
    return b == a;
}

/** The first load of all chunks that are left. */
static LLVMValueRef first_load(const struct rows *r)
{
    LLVMValueRef first = NULL;
    for (unsigned c = 0; c < r->n_chunks; c++) {
        for (unsigned k = 0; k < r->chunks[c].n; k++) {
            LLVMValueRef load = r->chunks[c].words[k].load;
            first = !first || is_before(load, first) ? load : first;
        }
    }
    return first;
}

static void make_barrier(const struct rows *r)
{
    static const char name[] = "convergent";
    LLVMValueRef call = cc1_build_instruction(r->cc, r->b, CC1_BARRIER);
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    LLVMAddCallSiteAttribute(call, CC1_FUNCTION, LLVMCreateEnumAttribute(r->cc->context, kind, 0));
}

static void set_lines(const struct rows *r, LLVMValueRef access, unsigned lines)
{
    LLVMMetadataRef number = LLVMValueAsMetadata(u32(r, lines));
    LLVMSetMetadata(access, LLVMGetMDKindIDInContext(r->cc->context, LINES_OF, sizeof LINES_OF - 1),
                    LLVMMetadataAsValue(r->cc->context, LLVMMDNodeInContext2(r->cc->context, &number, 1)));
}

int tile_known_lines(struct cc1 *cc, LLVMValueRef access, double *lines)
{
    LLVMValueRef node = LLVMGetMetadata(access, LLVMGetMDKindIDInContext(cc->context, LINES_OF, sizeof LINES_OF - 1));
    if (!node) {
        return 0;
    }
    LLVMValueRef number;
    LLVMGetMDNodeOperands(node, &number);
    *lines = (double)LLVMConstIntGetZExtValue(number);
    return 1;
}

/** The place in a row of the words that this lane loads. */
static LLVMValueRef column_of(const struct rows *r, const struct chunk *c)
{
    return LLVMBuildAnd(r->b, r->lane, u32(r, c->n - 1), "");
}

/** Builds the loads of a chunk: load i of lane s * n + c is word c of the row of lane s * n + i. */
static void make_loads(struct rows *r, struct chunk *c)
{
    const struct word *first = &c->words[0];
    const struct tile_value *base = tile_find(&r->all, first->base);
    LLVMTypeRef word = LLVMInt32TypeInContext(r->cc->context);
    LLVMValueRef by = u32(r, base->by);
    LLVMValueRef step = base->times ? LLVMBuildMul(r->b, base->times, by, "") : by;
    LLVMValueRef column = column_of(r, c);
    /* from this lane's word 0 to word `column` of the row that is `column` before */
    LLVMValueRef way = LLVMBuildMul(r->b, LLVMBuildSub(r->b, u32(r, WORD), step, ""), column, "");
    LLVMValueRef address = at(r, first->base, way);
    for (unsigned i = 0; i < c->n; i++) {
        c->loaded[i] = LLVMBuildLoad2(r->b, word, at(r, address, u32(r, (uint32_t)first->offset)), "");
        LLVMSetAlignment(c->loaded[i], WORD);
        set_lines(r, c->loaded[i], MOST_WORDS / c->n);
        address = i + 1 < c->n ? at(r, address, step) : address;
    }
}

/** Sets the places of a chunk, whose words begin at byte `begin` of the local variable. */
static void set_places(struct rows *r, struct chunk *c, uint32_t begin)
{
    const uint32_t row = (c->n + 1) * WORD;
    LLVMValueRef column = column_of(r, c);
    LLVMValueRef set = LLVMBuildAnd(r->b, r->lane, u32(r, ~(c->n - 1)), "");
    LLVMValueRef rows = LLVMBuildMul(r->b, set, u32(r, row), "");
    LLVMValueRef to = LLVMBuildAdd(r->b, rows, LLVMBuildMul(r->b, column, u32(r, WORD), ""), "");
    LLVMValueRef begins = u32(r, begin);
    c->to = at(r, at(r, r->buffer, to), begins);
    c->from = at(r, at(r, r->buffer, LLVMBuildMul(r->b, r->lane, u32(r, row), "")), begins);
}

static void make_stores(struct rows *r, const struct chunk *c)
{
    for (unsigned i = 0; i < c->n; i++) {
        LLVMValueRef store = LLVMBuildStore(r->b, c->loaded[i], at(r, c->to, u32(r, i * (c->n + 1) * WORD)));
        LLVMSetAlignment(store, WORD);
        set_lines(r, store, 1);
    }
}

/** Builds the loads of a chunk from local memory. */
static void make_reads(struct rows *r, const struct chunk *c)
{
    for (unsigned k = 0; k < c->n; k++) {
        LLVMTypeRef type = LLVMTypeOf(c->words[k].load);
        type = LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
        c->words[k].made = LLVMBuildLoad2(r->b, type, at(r, c->from, u32(r, k * WORD)), "");
        LLVMSetAlignment(c->words[k].made, WORD);
        set_lines(r, c->words[k].made, 1);
    }
}

/** Moves v, and what it is computed from, before an instruction of its block. 0: something of it must stay. */
static int move_up(struct rows *r, LLVMValueRef v, LLVMValueRef before)
{
    if (is_before(v, before)) {
        return 1;
    }
    if (!LLVMIsAGetElementPtrInst(v) && !LLVMIsABinaryOperator(v)) {
        return 0;
    }
    for (int o = 0; o < LLVMGetNumOperands(v); o++) {
        if (!move_up(r, LLVMGetOperand(v, (unsigned)o), before)) {
            return 0;
        }
    }
    LLVMInstructionRemoveFromParent(v);
    LLVMPositionBuilderBefore(r->b, before);
    LLVMInsertIntoBuilder(r->b, v);
    return 1;
}

/** Makes the chunks that can be loaded at the first load, and removes them from the list. */
static void make_chunks(struct rows *r)
{
    LLVMValueRef first = first_load(r);
    struct chunk *made[MOST_CHUNKS];
    unsigned n = 0, left = 0;
    uint32_t bytes = 0;
    for (unsigned c = 0; c < r->n_chunks; c++) {
        if (move_up(r, r->chunks[c].words[0].base, first)) {
            made[n++] = &r->chunks[c];
        }
    }
    LLVMPositionBuilderBefore(r->b, first);
    for (unsigned c = 0; c < n; c++) {
        set_places(r, made[c], bytes);
        bytes += MOST_WORDS * (made[c]->n + 1) * WORD;
    }
    r->bytes = bytes > r->bytes ? bytes : r->bytes;
    make_barrier(r); /* the words that were there have been read */
    for (unsigned c = 0; c < n; c++) {
        make_loads(r, made[c]);
    }
    for (unsigned c = 0; c < n; c++) {
        make_stores(r, made[c]);
    }
    make_barrier(r);
    for (unsigned c = 0; c < n; c++) {
        make_reads(r, made[c]);
        made[c]->n = 0;
    }
    for (unsigned c = 0; c < r->n_chunks; c++) {
        if (r->chunks[c].n) {
            r->chunks[left++] = r->chunks[c];
        }
    }
    r->n_chunks = left;
}

/** Replaces a load, if all its words are read from local memory. */
static void replace(struct rows *r, LLVMValueRef load)
{
    LLVMValueRef parts[MOST_READ] = {NULL}, value = NULL;
    const unsigned n = words_of(r, load);
    unsigned made = 0;
    for (unsigned w = 0; w < r->n_words; w++) {
        if (r->words[w].load == load && r->words[w].made) {
            parts[r->words[w].part] = r->words[w].made;
            made++;
        }
    }
    if (!n || made < n) {
        return;
    }
    LLVMPositionBuilderBefore(r->b, load);
    if (LLVMGetTypeKind(LLVMTypeOf(load)) != LLVMVectorTypeKind) {
        value = parts[0];
    } else {
        value = LLVMGetPoison(LLVMTypeOf(load));
        for (unsigned part = 0; part < n; part++) {
            value = LLVMBuildInsertElement(r->b, value, parts[part], u32(r, part), "");
        }
    }
    LLVMReplaceAllUsesWith(load, value);
    LLVMInstructionEraseFromParent(load);
}

/** True: something is stored in the block or before. */
static int is_behind_stores(const struct rows *r, LLVMBasicBlockRef block)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(r->f); b; b = LLVMGetNextBasicBlock(b)) {
        int stores = 0;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !stores; i = LLVMGetNextInstruction(i)) {
            stores = (LLVMIsAStoreInst(i) &&
                      LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 1))) != CC1_LOCAL_SPACE) ||
                (coarse_is_opaque_call(i) && !coarse_is_barrier(i) && !coarse_is_hint(i));
        }
        if (stores && (b == block || tile_reaches(b, block))) {
            return 1;
        }
    }
    return 0;
}

/** Reads the entry, and builds the number of the lane in its row at its begin. */
static void read_entry(struct rows *r)
{
    r->all = (struct tile){.cc = r->cc, .plain = r->f};
    tile_collect(&r->all, SIZE_MAX);
    for (size_t k = 0; k < r->all.n; k++) {
        struct tile_value *v = &r->all.values[k];
        if (LLVMIsAInstruction(v->of) && LLVMIsACallInst(v->of) && cc1_csr(v->of) == TERN_CSR_GLOBAL_ID_X) {
            v->kind = TILE_ID_X;
            v->depends = TILE_X;
        }
    }
    tile_spread(&r->all);
    tile_find_growth(&r->all);
    LLVMPositionBuilderBefore(r->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(r->f)));
    LLVMValueRef id = cc1_read_csr(r->cc, r->b, TERN_CSR_GLOBAL_ID_X);
    LLVMValueRef number = LLVMBuildSub(r->b, id, cc1_read_csr(r->cc, r->b, TERN_CSR_OFFSET_X), "");
    r->lane = LLVMBuildAnd(r->b, number, u32(r, CC1_COARSE_STRIDE - 1), "");
}

static LLVMValueRef add_buffer(const struct rows *r, uint32_t bytes, const char *name)
{
    LLVMValueRef g = LLVMAddGlobalInAddressSpace(r->cc->module, LLVMArrayType2(byte_type(r), bytes), name,
                                                 CC1_LOCAL_SPACE);
    LLVMSetVisibility(g, LLVMHiddenVisibility); /* for direct addressing, as in local.c */
    LLVMSetAlignment(g, LINE);
    return g;
}

unsigned tile_load_rows(struct cc1 *cc, LLVMValueRef f)
{
    struct rows *r = cc1_alloc(1, sizeof *r);
    unsigned n = 0;
    size_t length;
    *r = (struct rows){.cc = cc, .f = f, .b = LLVMCreateBuilderInContext(cc->context)};
    r->buffer = add_buffer(r, 1, "");
    read_entry(r);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block)) {
        if (is_behind_stores(r, block)) {
            continue;
        }
        for (find_chunks(r, block); r->n_chunks; n++) {
            make_chunks(r);
        }
        for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            replace(r, i);
        }
    }
    if (n) {
        LLVMValueRef whole = add_buffer(r, r->bytes, cc1_text("__local.rows.%s", LLVMGetValueName2(f, &length)));
        LLVMReplaceAllUsesWith(r->buffer, whole);
        tile_optimize(cc, f, "function(loop-mssa(licm),early-cse)");
    }
    LLVMDeleteGlobal(r->buffer);
    LLVMDisposeBuilder(r->b);
    free(r->all.values);
    free(r->all.blocks);
    free(r);
    return n;
}

/** True: whether all work-items of a row pass can be told from the first one and the last one. passes_if: the value of
 *  the condition with which they pass. */
static int is_told_by_ends(const struct tile *t, LLVMValueRef condition, int passes_if)
{
    LLVMValueRef second, part = coarse_parts(condition, passes_if, &second);
    if (second) {
        return is_told_by_ends(t, part, passes_if) && is_told_by_ends(t, second, passes_if);
    }
    const struct tile_value *v = tile_find(t, part);
    if (!v || !(v->depends & TILE_X)) {
        return 1;
    }
    if (!LLVMIsAICmpInst(part) || LLVMGetICmpPredicate(part) == LLVMIntEQ || LLVMGetICmpPredicate(part) == LLVMIntNE) {
        return 0;
    }
    const struct tile_value *a = tile_find(t, LLVMGetOperand(part, 0)), *b = tile_find(t, LLVMGetOperand(part, 1));
    const int id_first = a && a->kind == TILE_ID_X, id_second = b && b->kind == TILE_ID_X;
    return (id_first && !(b && b->depends & TILE_BOTH)) || (id_second && !(a && a->depends & TILE_BOTH));
}

int tile_may_load_rows(const struct tile *t)
{
    if (!(t->reads & TILE_X) || t->divergent & TILE_X) {
        return 0;
    }
    for (size_t k = 0; k < t->n; k++) {
        const struct tile_value *v = &t->values[k];
        const int ends = LLVMIsAInstruction(v->of) && LLVMIsATerminatorInst(v->of);
        if (ends && v->depends & TILE_LOADED) {
            return 0; /* Another work-item may write what is loaded, so that not all lanes see the same. */
        }
        if (ends && v->depends & TILE_X &&
            !(v->leaves && is_told_by_ends(t, LLVMGetCondition(v->of), v->leaves == 2))) {
            return 0;
        }
    }
    return 1;
}

LLVMValueRef tile_row_passes(struct tile *t, LLVMValueRef part, int passes_if)
{
    const struct tile_value *a = tile_find(t, LLVMGetOperand(part, 0));
    const unsigned id = a && a->kind == TILE_ID_X ? 0 : 1;
    LLVMValueRef of[2], one[2];
    for (unsigned end = 0; end < 2; end++) {
        of[id] = t->row[end];
        of[1 - id] = tile_get(t, LLVMGetOperand(part, 1 - id), 0);
        one[end] = LLVMBuildICmp(t->b, LLVMGetICmpPredicate(part), of[0], of[1], "");
    }
    return passes_if ? LLVMBuildAnd(t->b, one[0], one[1], "") : LLVMBuildOr(t->b, one[0], one[1], "");
}
