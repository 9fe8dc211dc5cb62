/* SPDX-License-Identifier: Apache-2.0 */
/** Decoded blocks. The words up to the next jump become a block of operations that are ready to run. */
#include "model.h"

static uint32_t hash(uint32_t pc)
{
    return (pc >> 2 ^ pc >> 14) % BLOCK_HASH;
}

void block_flush(struct engine *e)
{
    e->simt.blocks.era++;
}

/** Returns the host's address of the instruction at pc, valid to the end of its page. NULL and *code: it cannot be
 *  fetched. */
static const uint8_t *fetch(struct engine *e, uint32_t pc, uint32_t *code)
{
    const struct tlb_entry *t = memory_page(&e->dev->mem, &e->space, pc, ACCESS_EXECUTE, code);
    return t ? t->host + pc % PAGE : NULL;
}

static bool ends_block(uint16_t op)
{
    return op == OP_ILLEGAL || op == OP_ECALL || op == OP_BARRIER || op == OP_EXIT || (op >= OP_JAL && op <= OP_BGEU);
}

static void translate_word(uint32_t word, uint32_t pc, struct op *o)
{
    struct instruction i;
    handler *run;
    decode(word, &i);
    if (!(run = int_handler(&i)) && !(run = memory_handler(&i)) && !(run = float_handler(&i))) {
        run = flow_handler(&i);
    }
    bool relative = i.op == OP_AUIPC || i.op == OP_JAL || (i.op >= OP_BEQ && i.op <= OP_BGEU);
    *o = (struct op){.run = run, .imm = (uint32_t)i.imm + (relative ? pc : 0), .code = i.op,
                     .rd = i.rd ? i.rd : SINK, .rs1 = i.rs1, .rs2 = i.rs2,
                     .rs3 = i.op == OP_AMOCAS ? i.rd : i.rs3, .rm = i.rm};
}

static void forget_all(struct blocks *s)
{
    memset(s->hash, 0, sizeof s->hash);
    s->n_blocks = s->n_ops = 0;
}

static struct block *translate(struct blocks *s, uint32_t pc, const uint8_t *code)
{
    if (s->n_blocks == BLOCKS || s->n_ops + BLOCK_LENGTH > BLOCK_OPS) {
        forget_all(s);
    }
    struct block *b = &s->block[s->n_blocks++];
    struct op *op = &s->op[s->n_ops];
    uint32_t *word = &s->word[s->n_ops], room = (PAGE - pc % PAGE) / 4, n = 0;
    do {
        memcpy(&word[n], code + 4 * n, 4);
        translate_word(word[n], pc + 4 * n, &op[n]);
    } while (!ends_block(op[n++].code) && n < BLOCK_LENGTH && n < room);
    s->n_ops += n;
    *b = (struct block){.pc = pc, .count = n, .seen = s->era, .op = op, .word = word, .other = s->hash[hash(pc)]};
    s->hash[hash(pc)] = b;
    return b;
}

struct block *block_find(struct engine *e, uint32_t pc, uint32_t *code)
{
    struct blocks *s = &e->simt.blocks;
    struct block **link = &s->hash[hash(pc)], *b;
    while ((b = *link) && b->pc != pc) {
        link = &b->other;
    }
    if (b && b->seen == s->era) {
        return b;
    }
    const uint8_t *now = fetch(e, pc, code);
    if (!now) {
        return NULL;
    }
    if (b && memcmp(now, b->word, 4ull * b->count) == 0) {
        b->seen = s->era;
        return b;
    }
    if (b) {
        *link = b->other; /* the code has changed: the block is not found again */
        b->seen = s->era - 1;
        b->pc = 1;
    }
    return translate(s, pc, now);
}
