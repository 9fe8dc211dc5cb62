/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory behind an AXI4 port of 64 bytes, one beat a transfer, as the simulated device sees it.
 *
 * Each cycle: the bench shows the device the signals of struct tern_dram_out, lets the device settle, and calls
 * tern_dram_clock with what the device drives; that is the clock edge. Outputs change only there, so nothing is
 * combinational through the model.
 *
 * Timing: a transfer takes 64 / bandwidth cycles of the one data bus, both directions together, and is answered
 * `latency` cycles after its turn. A refresh occupies the bus. A read takes its data when it is accepted and a write
 * takes effect when it is answered: the least that AXI promises, so a device that counts on more fails here.
 * Transfers of one id stay in order.
 *
 * Back-pressure: arready and awready are low while `reads` or `writes` transfers are outstanding, from the acceptance
 * of the address to that of the answer. Write data may come before their address: wready is low while `ahead` of them
 * wait for it. With `stall`, each of the five channels pauses at random; rvalid and bvalid never drop before their
 * handshake. Host memory is used only for what is touched.
 */
#ifndef TERN_DRAM_H
#define TERN_DRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TERN_DRAM_OUTSTANDING 256u /* the most reads, and writes */
#define TERN_DRAM_AHEAD 16u        /* the most write data before their addresses */

struct tern_dram;
struct tern_sim_config;

struct tern_dram_config {
    uint64_t bytes;     /**< A multiple of 4096. */
    uint32_t latency;   /**< Cycles, 1 or more. */
    uint32_t bandwidth; /**< Bytes a cycle, 1 to 64. */
    uint32_t reads, writes;  /**< Outstanding at most, 1 to TERN_DRAM_OUTSTANDING. */
    uint32_t ahead;     /**< Write data taken before their addresses, 0 to TERN_DRAM_AHEAD. */
    /** Every `refresh` cycles (0: never) the bus is busy for so many, which are fewer. */
    uint32_t refresh, refresh_cycles;
    uint32_t stall;     /**< Of 256 cycles, how many each channel pauses; 0 to 255. */
    uint64_t reorder;   /**< 0: answers in order; else the seed of random extra latency: ids overtake each other. */
    bool old_contents;  /**< Memory begins with arbitrary contents, as real memory does, instead of zeros. */
    uint64_t error_base, error_bytes; /**< Accesses to this range are answered with SLVERR and do nothing. */
};

/** What the memory drives. */
struct tern_dram_out {
    bool arready, awready, wready, rvalid, bvalid;
    uint8_t rid, bid, rresp, bresp;
    const uint32_t *rdata; /**< 16 words, valid until the next clock. */
};

/** What the device drives. */
struct tern_dram_in {
    bool arvalid, awvalid, wvalid, rready, bready;
    uint8_t arid, awid;
    uint64_t araddr, awaddr, wstrb;
    const uint32_t *wdata;
};

/** What a simulated device has: the named setting, and the single numbers that are not 0 instead of its own
 *  (settings.c). NULL: all defaults. -EINVAL: no such setting. */
int tern_dram_configure(const struct tern_sim_config *sim, struct tern_dram_config *out);

/** 0, -EINVAL, -ENOMEM. */
int tern_dram_create(const struct tern_dram_config *config, struct tern_dram **out);
/** Another port of the same memory: with the same settings, a data bus and outstanding transfers of its own. Ports are
 *  clocked one by one; a write at one is seen at the others from its effect on. `first` outlives what joins it.
 *  0, -ENOMEM. */
int tern_dram_join(struct tern_dram *first, struct tern_dram **out);
void tern_dram_destroy(struct tern_dram *dram);
const struct tern_dram_out *tern_dram_out(const struct tern_dram *dram);
void tern_dram_clock(struct tern_dram *dram, const struct tern_dram_in *in);
/** True if no transfer is under way. */
bool tern_dram_idle(const struct tern_dram *dram);
/** Memory at once, past the port. -EFAULT: beyond the end. */
int tern_dram_read(const struct tern_dram *dram, uint64_t address, void *data, size_t size);
int tern_dram_write(struct tern_dram *dram, uint64_t address, const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
