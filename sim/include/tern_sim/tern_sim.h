/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A Tern device in simulation, behind a C API: what a backend of the driver's hal talks to.
 *
 * Each simulated device is one shared object, build/lib/libtern_sim_<kind>_<geometry>.so, exporting the single symbol
 * `tern_sim_api` (TERN_SIM_API_SYMBOL): the Verilated RTL in the default, small and tiny geometry, and the functional
 * model. Device time passes only inside read32, write32 and step. A struct tern_sim is used by one thread at a time;
 * two of them are independent.
 */
#ifndef TERN_SIM_H
#define TERN_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TERN_SIM_API_VERSION 3u
#define TERN_SIM_API_SYMBOL "tern_sim_api"

struct tern_sim;

/** Named memories of the RTL devices: sim/dram/settings.c has their figures. */
enum tern_sim_memory {
    TERN_SIM_MEMORY_IDEAL, /**< As fast as the port, pushes back on nothing: the default. */
    TERN_SIM_MEMORY_HBM,   /**< A pseudo channel of the HBM of an Alveo U55C. */
    TERN_SIM_MEMORY_DDR4,  /**< A channel of DDR4-2400. */
    TERN_SIM_MEMORIES
};

/** What can be set when a device is created. Zero means the default; for dram_latency to
 * dram_refresh_cycles, that of `memory`. */
struct tern_sim_config {
    /** Device memory; default 2 GiB, a multiple of 4 KiB, at most 4 GiB (model: 16 GiB). Host memory is used
     * only for what is touched. */
    uint64_t mem_bytes;
    uint32_t dram_latency;    /**< Cycles from request to first data. */
    uint32_t dram_bandwidth;  /**< Bytes a cycle, 1 to 64, over both directions. */
    /** Not 0: memory answers different AXI ids in random order, reproducibly. For tests. */
    uint32_t dram_reorder_seed;
    uint64_t dram_error_base, dram_error_bytes; /**< Physical range that memory answers with an error. For tests. */
    /** Devices that were built with seeded bugs: the number of the one that is on; 0: none. */
    uint32_t mutant;
    /** enum tern_sim_memory. The functional model has no memory timing: it ignores this and the following. */
    uint32_t memory;
    uint32_t dram_reads, dram_writes; /**< Transfers outstanding at most, 1 to 256. */
    /** Every so many cycles memory stands still for so many, which are fewer. */
    uint32_t dram_refresh, dram_refresh_cycles;
    uint32_t dram_stall;      /**< Of 256 cycles, how many each AXI channel pauses at random, up to 255. For tests. */
};

/** How the memory of a device is simulated. */
struct tern_sim_dram {
    uint32_t memory;  /**< enum tern_sim_memory that was asked for; single numbers may differ from its own. */
    uint32_t latency, bandwidth, reads, writes, refresh, refresh_cycles, stall; /**< As in struct tern_sim_config. */
};

/** A rule of its own that a device has broken: an assertion in the RTL, or a rule of its AXI port. */
struct tern_sim_violation {
    uint64_t cycle;    /**< Device time. */
    char module[160];  /**< Instance, from the top: "tern_top.u_regs.u_check_b"; "axi" is the port. */
    char rule[64];     /**< Its name there. */
    char place[64];    /**< File and line. */
};

/** A warp instruction that has ended: what the lanes of `mask` ran, and what they wrote into register rd. */
struct tern_sim_retired {
    uint64_t time;            /**< Device time at which it was issued. */
    uint32_t engine;
    uint32_t group[3];        /**< Work-group, as in CSR group_id. */
    uint32_t warp;            /**< Of the group: lane l is work-item warp * lanes + l of it. */
    uint32_t pc, word;        /**< Address, and the instruction itself. */
    uint32_t mask;            /**< Lanes that ran it. */
    uint32_t rd;              /**< Register written; 0: none. */
    uint32_t value[32];       /**< What it was given, by lane of mask; 0 for others. */
};
typedef void (*tern_sim_observer)(void *user, const struct tern_sim_retired *retired);

/** The functions of a simulated device. Those that return int give 0 or -errno. */
struct tern_sim_api {
    uint32_t version; /**< TERN_SIM_API_VERSION. */
    /** A device out of reset; *out is untouched on failure. -EINVAL: config out of range;
     * -ENOMEM. config may be NULL. */
    int (*create)(const struct tern_sim_config *config, struct tern_sim **out);
    void (*destroy)(struct tern_sim *sim);
    /**
     * One AXI4-Lite access (offset: byte address, a multiple of 4). Advances device time by a few cycles. -EIO: no
     * answer, or the device has broken a rule; it then does nothing any more, and `violation` says which.
     */
    int (*read32)(struct tern_sim *sim, uint32_t offset, uint32_t *value);
    int (*write32)(struct tern_sim *sim, uint32_t offset, uint32_t value);
    /** Device memory at once, past the device's ports (no device time; sets no dirty bit). -EFAULT: beyond memory. */
    int (*mem_read)(struct tern_sim *sim, uint64_t address, void *data, size_t size);
    int (*mem_write)(struct tern_sim *sim, uint64_t address, const void *data, size_t size);
    /** Runs up to max_cycles, less if the interrupt line is or becomes high. *irq (may be NULL) is the line at the end.
     *  -EIO: a rule is broken. */
    int (*step)(struct tern_sim *sim, uint64_t max_cycles, bool *irq);
    /** Device time in cycles since reset. */
    uint64_t (*cycles)(const struct tern_sim *sim);
    /** Starts a waveform (FST) of everything from now on; NULL ends it. -ENOTSUP: this device has none;
     * -EBUSY, or errno of the file. */
    int (*trace)(struct tern_sim *sim, const char *path);
    /**
     * Calls f for each warp instruction from now on, from within step, read32 and write32; NULL ends it. The
     * instructions of a warp come in the order in which it ran them, once all their register writes are done; order
     * between warps is open. Of a dispatch that faults, what was still in flight may be missing. Slows the device;
     * not observed, it costs nothing.
     */
    int (*observe)(struct tern_sim *sim, tern_sim_observer f, void *user);
    /** Writes the coverage counted since the process began (verilator_coverage's format). -ENOTSUP:
     * not built for it; or errno. */
    int (*coverage)(struct tern_sim *sim, const char *path);
    /** -ENOTSUP: this device has no memory timing. */
    int (*dram)(const struct tern_sim *sim, struct tern_sim_dram *out);
    /** 1: a rule has been broken, the first one is in *out; 0: none. Which devices check what: docs/verification.md. */
    int (*violation)(const struct tern_sim *sim, struct tern_sim_violation *out);
};

#ifdef __cplusplus
}
#endif

#endif
