/* SPDX-License-Identifier: Apache-2.0 */
/** Compares two saved states of a dispatch (docs/spec/context.yaml). A register may be saved as a vector (a word per
 *  lane), or as one word if all lanes have the same value, and lanes that are not live have any value. Registers are
 *  therefore compared lane by lane. */
#include <string.h>

#include "preempt.h"

#define LINE_WORDS 16u

/** Reads vectors one after the other. */
struct reader {
    const uint32_t *at;
    uint32_t lanes, lines; /**< Lanes of the device, and lines of a vector. */
};

static const uint32_t *next_vector(struct reader *r)
{
    const uint32_t *v = r->at;
    r->at += r->lines * LINE_WORDS;
    return v;
}

/** Returns whether a warp has saved vector k of the registers that are one word each: x(k * lanes) and following. */
static bool has_scalars(const struct tern_ctx_simt_head *h, uint32_t lanes, uint32_t warp, uint32_t k)
{
    const uint32_t words[] = {h->scalars_0, h->scalars_1, h->scalars_2, h->scalars_3};
    return words[k % 4] >> (warp + k / 4 * 4 * lanes) & 1u;
}

/** Returns the lines of the live warps, which come last. */
static uint32_t warp_lines(const struct geometry *g, const struct tern_ctx_simt_head *h, const uint32_t *masks)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < g->warps; w++) {
        if (h->live >> w & 1u) {
            n += 2 + (uint32_t)__builtin_popcount(masks[w]);
            for (uint32_t k = 0; k < 32 / g->lanes; k++) {
                n += has_scalars(h, g->lanes, w, k);
            }
        }
    }
    return n * ((g->lanes + LINE_WORDS - 1) / LINE_WORDS);
}

/** Reads a warp. out[0]: simt_lane of each lane; out[1]: its pc; out[2] to out[33]: its registers. */
static void read_warp(struct reader *r, const struct tern_ctx_simt_head *h, uint32_t warp, uint32_t mask,
                      uint32_t out[34][32])
{
    memset(out, 0, 34 * sizeof out[0]);
    for (uint32_t i = 0; i < 2; i++) {
        memcpy(out[i], next_vector(r), 4 * r->lanes);
    }
    for (uint32_t k = 0; k < 32 / r->lanes; k++) {
        const uint32_t *v = has_scalars(h, r->lanes, warp, k) ? next_vector(r) : NULL;
        for (uint32_t i = 0; v && i < r->lanes; i++) {
            for (uint32_t l = 0; l < r->lanes; l++) {
                out[2 + k * r->lanes + i][l] = v[i];
            }
        }
    }
    for (; mask; mask &= mask - 1) {
        memcpy(out[2 + __builtin_ctz(mask)], next_vector(r), 4 * r->lanes);
    }
    for (uint32_t l = 0; l < r->lanes; l++) {
        struct tern_ctx_simt_lane lane;
        tern_ctx_simt_lane_unpack(&lane, (const uint32_t[LINE_WORDS]){out[0][l]});
        for (uint32_t i = 2; !lane.live && i < 34; i++) {
            out[i][l] = 0;
        }
    }
}

void state_gather(const uint32_t *pages, uint32_t lines, uint32_t *out)
{
    const uint32_t per_page = PAGE / LINE, n = (lines + per_page - 1) / per_page;
    const uint32_t list_lines = (n - 1 + LINE_WORDS - 1) / LINE_WORDS;
    for (uint32_t i = 0; i < lines - list_lines; i++) {
        const uint32_t at = i ? i + list_lines : 0, page = at / per_page ? SAVE_PAGES - at / per_page : 0;
        memcpy(out + i * LINE_WORDS, pages + (page * per_page + at % per_page) * LINE_WORDS, LINE);
    }
}

bool state_same(const struct geometry *g, const uint32_t *first, const uint32_t *second, char *text, size_t size)
{
    const uint32_t *area[2] = {first, second}, mask_lines = (g->warps + LINE_WORDS - 1) / LINE_WORDS;
    struct tern_ctx c[2];
    struct tern_ctx_simt_head h[2];
    struct reader r[2];
    uint32_t words[2]; /* of slots and local memory */
    for (uint32_t i = 0; i < 2; i++) {
        tern_ctx_unpack(&c[i], area[i]);
        tern_ctx_simt_head_unpack(&h[i], area[i] + LINE_WORDS);
        words[i] = (c[i].lines - 1 - mask_lines - warp_lines(g, &h[i], area[i] + 2 * LINE_WORDS)) * LINE_WORDS;
        r[i] = (struct reader){area[i] + (2 + mask_lines) * LINE_WORDS, g->lanes,
                               (g->lanes + LINE_WORDS - 1) / LINE_WORDS};
    }
    if (words[0] != words[1] || c[0].offset != c[1].offset || h[0].ended != h[1].ended ||
        memcmp(&area[0][LINE_WORDS + 5], &area[1][LINE_WORDS + 5], 24) != 0) { /* the next group, in the head */
        snprintf(text, size, "the next group, or the size of local memory, differs");
        return false;
    }
    for (uint32_t i = 0; i < words[0]; i++) {
        if (r[0].at[i] != r[1].at[i]) {
            snprintf(text, size, "word %u of slots and local memory: expected %08x, got %08x", i, r[0].at[i],
                     r[1].at[i]);
            return false;
        }
    }
    r[0].at += words[0];
    r[1].at += words[1];
    for (uint32_t w = 0; w < g->warps; w++) {
        uint32_t warp[2][34][32];
        for (uint32_t i = 0; i < 2 && h[0].live >> w & 1u; i++) {
            read_warp(&r[i], &h[i], w, area[i][2 * LINE_WORDS + w], warp[i]);
        }
        for (uint32_t i = 0; i < 34 * 32u && h[0].live >> w & 1u; i++) {
            if (warp[0][i / 32][i % 32] != warp[1][i / 32][i % 32]) {
                snprintf(text, size, "warp %u, lane %u, %s%u: expected %08x, got %08x", w, i % 32,
                         i < 32 ? "state " : i < 64 ? "pc " : "x", i < 64 ? 0 : i / 32 - 2, warp[0][i / 32][i % 32],
                         warp[1][i / 32][i % 32]);
                return false;
            }
        }
    }
    return true;
}
