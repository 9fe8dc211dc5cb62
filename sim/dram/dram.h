/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Simulated memory behind an AXI4 port of 64 bytes, with one beat per transfer.
 *
 * Cycle. The bench drives the device with the signals of struct tern_dram_out, lets the device settle, and calls
 * tern_dram_clock with the device's signals, which is the clock edge. Outputs change only there, so no path through the
 * model is combinational.
 *
 * Timing. A transfer takes 64 / bandwidth cycles of the data bus, which both directions share, and is answered
 * `latency` cycles after its turn. A refresh occupies the bus. A read gets the data at its acceptance, and a write
 * takes effect at its answer. That is the least that AXI guarantees, so a device that relies on more fails here.
 * Transfers of one id stay in order.
 *
 * Back-pressure. arready and awready are low while `reads` or `writes` transfers are outstanding, from the acceptance
 * of the address to that of the answer. Write data may come before their address; wready is low while `ahead` of them
 * wait for it. With `stall`, each of the five channels pauses at random. rvalid and bvalid never drop before their
 * handshake.
 *
 * Untouched pages use no host memory. The caller serialises all calls for ports of one memory.
 */
#ifndef TERN_DRAM_H
#define TERN_DRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TERN_DRAM_OUTSTANDING 256u /* largest number of outstanding reads, and of writes */
#define TERN_DRAM_AHEAD 16u        /* largest number of write data before their addresses */

struct tern_dram;
struct tern_sim_config;

struct tern_dram_config {
    uint64_t bytes;     /**< Bytes of memory, a multiple of 4096. */
    uint32_t latency;   /**< Cycles, 1 or more. */
    uint32_t bandwidth; /**< Bytes per cycle, 1 to 64. */
    uint32_t reads, writes;  /**< Largest numbers of outstanding transfers, 1 to TERN_DRAM_OUTSTANDING. */
    uint32_t ahead;     /**< Largest number of write data before their addresses, 0 to TERN_DRAM_AHEAD. */
    /** Cycles from one refresh to the next (0: none), and cycles of a refresh, which are fewer. */
    uint32_t refresh, refresh_cycles;
    uint32_t stall;     /**< Cycles of 256, at random, in which a channel pauses; 0 to 255. */
    uint64_t reorder;   /**< Seed of a random extra latency, by which ids overtake each other; 0: answers in order. */
    bool old_contents;  /**< Memory begins with arbitrary contents, as real memory does, and not with zeros. */
    uint64_t error_base, error_bytes; /**< Range whose accesses are answered with SLVERR and have no effect. */
};

/** The signals that the memory drives. */
struct tern_dram_out {
    bool arready, awready, wready, rvalid, bvalid;
    uint8_t rid, bid, rresp, bresp;
    const uint32_t *rdata; /**< 16 words, valid until the next clock. */
};

/** The signals that the device drives. */
struct tern_dram_in {
    bool arvalid, awvalid, wvalid, rready, bready;
    uint8_t arid, awid;
    uint64_t araddr, awaddr, wstrb;
    const uint32_t *wdata;
};

/** Gives the settings of a simulated device: those of its named memory (settings.c), except numbers in *sim that are
 *  not 0. sim NULL: all defaults. Returns 0, or -EINVAL if there is no such memory. */
int tern_dram_configure(const struct tern_sim_config *sim, struct tern_dram_config *out);

/** Creates a memory with one port. Returns 0, -EINVAL or -ENOMEM. */
int tern_dram_create(const struct tern_dram_config *config, struct tern_dram **out);
/** Adds a port to the memory of `first`. The port has the same settings, and a data bus and outstanding transfers of
 *  its own. Ports are clocked one by one; a write at one port is visible at the others once it has taken effect.
 *  `first` must outlive the ports that join it. Returns 0 or -ENOMEM. */
int tern_dram_join(struct tern_dram *first, struct tern_dram **out);
void tern_dram_destroy(struct tern_dram *dram);
const struct tern_dram_out *tern_dram_out(const struct tern_dram *dram);
void tern_dram_clock(struct tern_dram *dram, const struct tern_dram_in *in);
/** Returns whether no transfer is outstanding. */
bool tern_dram_idle(const struct tern_dram *dram);
/** Access memory past the port, without a cycle. Return 0, or -EFAULT if the range is beyond the end. */
int tern_dram_read(const struct tern_dram *dram, uint64_t address, void *data, size_t size);
int tern_dram_write(struct tern_dram *dram, uint64_t address, const void *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
