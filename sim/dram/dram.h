/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory behind an AXI4 port of 64 bytes: latency, a shared bandwidth, answers in order for each id.
 *
 * Called once a cycle by the bridge: look at what is offered (dram_*_ready, dram_r, dram_b), then tell what was taken,
 * then dram_tick. Host memory is used only for pages that are touched. One thread.
 */
#ifndef DRAM_H
#define DRAM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRAM_BEAT 64u

struct dram;

struct dram_config {
    uint64_t bytes;          /**< A multiple of 4096. */
    uint32_t latency;        /**< Cycles from an address (write: its last data) to the first answer. */
    uint32_t bandwidth;      /**< Bytes a cycle over both directions, 1 to 64. */
    uint32_t reorder_seed;   /**< Not 0: answers of different ids come in random order, reproducibly. */
    uint64_t error_base;     /**< Accesses in [error_base, error_base + error_bytes) are answered with SLVERR. */
    uint64_t error_bytes;
};

struct dram_answer {
    uint32_t id;
    uint8_t resp;            /**< 0 OKAY, 2 SLVERR, 3 DECERR (beyond memory). */
    bool last;
    const uint8_t *data;     /**< Reads: DRAM_BEAT bytes, valid until dram_tick. */
};

/** NULL: out of memory. */
struct dram *dram_create(const struct dram_config *config);
void dram_destroy(struct dram *d);
/** The memory itself, config.bytes long. */
uint8_t *dram_memory(struct dram *d);

bool dram_ar_ready(const struct dram *d);
bool dram_aw_ready(const struct dram *d);
bool dram_w_ready(const struct dram *d);
void dram_ar(struct dram *d, uint32_t id, uint64_t address, uint32_t beats);
void dram_aw(struct dram *d, uint32_t id, uint64_t address, uint32_t beats);
void dram_w(struct dram *d, const void *data, uint64_t strobe, bool last);
/** The answer offered now, if there is one; it stays until it is taken. */
bool dram_r(struct dram *d, struct dram_answer *out);
bool dram_b(struct dram *d, struct dram_answer *out);
void dram_r_take(struct dram *d);
void dram_b_take(struct dram *d);
void dram_tick(struct dram *d);

#ifdef __cplusplus
}
#endif

#endif
