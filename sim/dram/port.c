/* SPDX-License-Identifier: Apache-2.0 */
#include "port.h"

#include <string.h>

#define LINE 64u
#define PAGE 4096u
#define SIZE 6u  /* log2 of LINE */
#define INCR 1u

static const char *address(uint64_t at, const struct tern_port_burst *b)
{
    return b->burst != INCR ? "burst_is_incr" : b->size != SIZE ? "size_is_full_width" : at % LINE
        ? "address_is_aligned"
           : at % PAGE + (b->len + 1u) * LINE > PAGE ? "within_4_kib" : b->len ? "one_beat" : NULL;
}

static bool same(const struct tern_port_burst *a, const struct tern_port_burst *b)
{
    return a->len == b->len && a->size == b->size && a->burst == b->burst;
}

/** Checks that channels that were not ready in the last cycle have kept their payload. */
static const char *held(const struct tern_port *p, const struct tern_dram_in *in, const struct tern_port_burst *ar,
                        const struct tern_port_burst *aw, bool wlast)
{
    const struct tern_dram_in *was = &p->was;
    if (p->ar_held) {
        if (!in->arvalid) {
            return "arvalid_stays";
        }
        if (in->arid != was->arid || in->araddr != was->araddr || !same(ar, &p->was_ar)) {
            return "ar_payload_stays";
        }
    }
    if (p->aw_held) {
        if (!in->awvalid) {
            return "awvalid_stays";
        }
        if (in->awid != was->awid || in->awaddr != was->awaddr || !same(aw, &p->was_aw)) {
            return "aw_payload_stays";
        }
    }
    if (p->w_held) {
        if (!in->wvalid) {
            return "wvalid_stays";
        }
        if (in->wstrb != was->wstrb || wlast != p->was_last || memcmp(in->wdata, p->wdata, LINE)) {
            return "w_payload_stays";
        }
    }
    return NULL;
}

static void hold(struct tern_port *p, const struct tern_dram_out *out, const struct tern_dram_in *in,
                 const struct tern_port_burst *ar, const struct tern_port_burst *aw, bool wlast)
{
    p->ar_held = in->arvalid && !out->arready;
    p->aw_held = in->awvalid && !out->awready;
    p->w_held = in->wvalid && !out->wready;
    if (p->ar_held || p->aw_held || p->w_held) {
        p->was = *in;
        p->was_ar = *ar;
        p->was_aw = *aw;
        p->was_last = wlast;
    }
    if (p->w_held) {
        memcpy(p->wdata, in->wdata, LINE);
    }
}

/** Checks that each answer belongs to a request. Called before this cycle's requests are counted, because an answer
 *  comes later than its request. */
static const char *answers(struct tern_port *p, const struct tern_dram_out *out, const struct tern_dram_in *in)
{
    if (out->rvalid && !p->reads[out->rid]) {
        return "answer_to_a_read";
    }
    if (out->bvalid && !p->writes[out->bid]) {
        return "answer_to_a_write";
    }
    p->reads[out->rid] -= out->rvalid && in->rready;
    p->writes[out->bid] -= out->bvalid && in->bready;
    return NULL;
}

const char *tern_port_clock(struct tern_port *p, const struct tern_dram_out *out, const struct tern_dram_in *in,
                            const struct tern_port_burst *ar, const struct tern_port_burst *aw, bool wlast)
{
    const char *rule = held(p, in, ar, aw, wlast);
    rule = !rule && in->arvalid ? address(in->araddr, ar) : rule;
    rule = !rule && in->awvalid ? address(in->awaddr, aw) : rule;
    rule = !rule && in->wvalid && !wlast ? "wlast_on_the_last_beat" : rule;
    rule = !rule ? answers(p, out, in) : rule;
    if (rule) {
        return rule;
    }
    hold(p, out, in, ar, aw, wlast);
    p->reads[in->arid] += in->arvalid && out->arready;
    p->writes[in->awid] += in->awvalid && out->awready;
    return NULL;
}
