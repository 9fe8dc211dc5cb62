/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Orders code for early reconvergence. The hardware runs the deepest call first, then the lowest address. Therefore a
 * block must come after all blocks of its loop that can reach it, and a callee before its callers. Blocks are in
 * topological order of the strongly connected components (Tarjan). Within a component the header comes first, then the
 * rest without the edges to the header, in the same way recursively. LLVM's own placement, which favours fall-through
 * of hot paths, is disabled; a switch in a loop then needs a seventh of the instruction issues.
 */
#include "cc1.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
    LLVMBasicBlockRef ref;
    uint32_t *next;
    uint32_t n_next;
    uint32_t set;   /**< The component that is being ordered and to which the block belongs. */
    uint32_t index; /**< Tarjan's index; 0: not visited in this set. */
    uint32_t low;
    int on_stack;
};

struct orderer {
    struct block *blocks;
    uint32_t *stack, n_stack;
    uint32_t *parts, n_parts; /**< Members of finished components, one component after the other. */
    uint32_t *ends, n_ends;   /**< End of each component in `parts`. */
    uint32_t *out, n_out;
    uint32_t counter, sets;
};

/** Finds the components of the set that contains u, ignoring edges to `header`. Components are found in reverse
 *  topological order. */
static void components(struct orderer *o, uint32_t u, uint32_t header, uint32_t set)
{
    struct block *b = &o->blocks[u];
    b->index = b->low = ++o->counter;
    b->on_stack = 1;
    o->stack[o->n_stack++] = u;
    /* the last successor first, so that the first one comes directly after u */
    for (uint32_t k = b->n_next; k-- > 0;) {
        uint32_t v = b->next[k];
        struct block *w = &o->blocks[v];
        if (v == header || w->set != set) {
            continue;
        }
        if (!w->index) {
            components(o, v, header, set);
            b->low = w->low < b->low ? w->low : b->low;
        } else if (w->on_stack) {
            b->low = w->index < b->low ? w->index : b->low;
        }
    }
    if (b->low == b->index) {
        uint32_t first = o->n_stack;
        do {
            first--;
            o->blocks[o->stack[first]].on_stack = 0;
        } while (o->stack[first] != u);
        for (uint32_t i = first; i < o->n_stack; i++) { /* u, which was entered first, leads its component */
            o->parts[o->n_parts++] = o->stack[i];
        }
        o->n_stack = first;
        o->ends[o->n_ends++] = o->n_parts;
    }
}

static void order_set(struct orderer *o, const uint32_t *members, uint32_t n, uint32_t header)
{
    uint32_t set = ++o->sets;
    uint32_t parts_base = o->n_parts;
    uint32_t ends_base = o->n_ends;
    for (uint32_t i = 0; i < n; i++) {
        o->blocks[members[i]].set = set;
        o->blocks[members[i]].index = 0;
    }
    components(o, header, header, set);
    for (uint32_t i = 0; i < n; i++) {
        if (!o->blocks[members[i]].index) {
            components(o, members[i], header, set);
        }
    }
    /* The recursion below extends the lists, so this level copies its part. */
    uint32_t n_local = o->n_ends - ends_base;
    uint32_t *ends = cc1_alloc(n_local, sizeof *ends);
    uint32_t *parts = cc1_alloc(n, sizeof *parts);
    memcpy(ends, o->ends + ends_base, n_local * sizeof *ends);
    memcpy(parts, o->parts + parts_base, n * sizeof *parts);
    o->n_parts = parts_base;
    o->n_ends = ends_base;
    for (uint32_t c = n_local; c-- > 0;) {
        uint32_t begin = c ? ends[c - 1] - parts_base : 0;
        uint32_t size = ends[c] - parts_base - begin;
        if (size == 1) {
            o->out[o->n_out++] = parts[begin];
        } else {
            order_set(o, parts + begin, size, parts[begin]);
        }
    }
    free(ends);
    free(parts);
}

struct block_index {
    LLVMBasicBlockRef ref;
    uint32_t index;
};

static int compare(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct block_index *)a)->ref;
    uintptr_t y = (uintptr_t)((const struct block_index *)b)->ref;
    return x < y ? -1 : x > y;
}

static void order_blocks(LLVMValueRef f)
{
    uint32_t n = LLVMCountBasicBlocks(f);
    if (n < 3) {
        return;
    }
    LLVMBasicBlockRef *refs = cc1_alloc(n, sizeof *refs);
    struct block_index *sorted = cc1_alloc(n, sizeof *sorted);
    struct orderer o = {.blocks = cc1_alloc(n, sizeof *o.blocks)};
    LLVMGetBasicBlocks(f, refs);
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = (struct block_index){refs[i], i};
    }
    qsort(sorted, n, sizeof *sorted, compare);
    uint32_t *all = cc1_alloc(n, sizeof *all);
    for (uint32_t i = 0; i < n; i++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(refs[i]);
        struct block *b = &o.blocks[i];
        *b = (struct block){.ref = refs[i], .n_next = LLVMGetNumSuccessors(end)};
        b->next = cc1_alloc(b->n_next, sizeof *b->next);
        for (uint32_t k = 0; k < b->n_next; k++) {
            struct block_index key = {LLVMGetSuccessor(end, k), 0};
            b->next[k] = ((struct block_index *)bsearch(&key, sorted, n, sizeof *sorted, compare))->index;
        }
        all[i] = i;
    }
    o.stack = cc1_alloc(n, sizeof *o.stack);
    o.parts = cc1_alloc(n, sizeof *o.parts);
    o.ends = cc1_alloc(n, sizeof *o.ends);
    o.out = cc1_alloc(n, sizeof *o.out);
    order_set(&o, all, n, 0);
    if (o.n_out != n || o.out[0] != 0) {
        cc1_die(CC1_INTERNAL, "block order is broken");
    }
    for (uint32_t i = 1; i < n; i++) {
        LLVMMoveBasicBlockAfter(refs[o.out[i]], refs[o.out[i - 1]]);
    }
}

static uint32_t rank;

/** Places f, after all functions that it calls, in a section whose name sorts in this order. Each function has a
 *  section of its own, so that the linker can drop unused ones, and calls leave relocations, which stack.c reads. */
static void place(LLVMValueRef f)
{
    if (LLVMIsDeclaration(f) || LLVMGetSection(f)) {
        return;
    }
    LLVMSetSection(f, ".text.");
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsACallInst(i) && LLVMIsAFunction(LLVMGetCalledValue(i))) {
                place(LLVMGetCalledValue(i));
            }
        }
    }
    size_t length;
    char section[1100];
    const char *name = LLVMGetValueName2(f, &length);
    int entry = !strncmp(name, CC1_ENTRY_PREFIX, strlen(CC1_ENTRY_PREFIX));
    /* coarse entries come last, so that options that add them do not move other code */
    const char *group = strstr(name, CC1_COARSE_SUFFIX) ? ".entry.coarse" : entry ? ".entry" : ".text";
    snprintf(section, sizeof section, "%s.%06u.%s", group, rank++, name);
    LLVMSetSection(f, section);
}

void cc1_order(struct cc1 *cc)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(cc->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f)) {
            order_blocks(f);
            place(f);
        }
    }
}
