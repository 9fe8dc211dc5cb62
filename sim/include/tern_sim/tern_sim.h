/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A simulated Tern device, behind a C API that backends of the driver's hal use.
 *
 * Each simulated device is one shared object, build/lib/libtern_sim_<kind>_<geometry>.so. The kind is rtl, the
 * Verilated RTL, or model, the functional model. An object exports the single symbol `tern_sim_api`
 * (TERN_SIM_API_SYMBOL). Device time passes only in read32, write32 and step. The caller serialises all calls for one
 * struct tern_sim; two of them are independent.
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

/** Named memories of the RTL devices. sim/dram/settings.c has their numbers. */
enum tern_sim_memory {
    TERN_SIM_MEMORY_IDEAL, /**< The default: as fast as the port, and never exerts back-pressure. */
    TERN_SIM_MEMORY_HBM,   /**< A pseudo channel of the HBM of an Alveo U55C. */
    TERN_SIM_MEMORY_DDR4,  /**< A channel of DDR4-2400. */
    TERN_SIM_MEMORIES
};

/** Settings of a device at its creation. 0 stands for the default; for dram_latency to dram_refresh_cycles that is the
 *  value of `memory`. */
struct tern_sim_config {
    /** Bytes of device memory: a multiple of 4 KiB, at most 4 GiB (model: 16 GiB); the default is 2 GiB. Untouched
     *  pages use no host memory. */
    uint64_t mem_bytes;
    uint32_t dram_latency;    /**< Cycles from request to first data. */
    uint32_t dram_bandwidth;  /**< Bytes per cycle, 1 to 64, in both directions together. */
    /** Seed of a random order in which memory answers different AXI ids; 0: in order. For tests. */
    uint32_t dram_reorder_seed;
    uint64_t dram_error_base, dram_error_bytes; /**< Physical range that memory answers with an error. For tests. */
    /** Number of the seeded bug that is on, in a device built with seeded bugs; 0: none. */
    uint32_t mutant;
    /** An enum tern_sim_memory. The functional model has no memory timing, and ignores this and all fields below. */
    uint32_t memory;
    uint32_t dram_reads, dram_writes; /**< Largest numbers of outstanding transfers, 1 to 256. */
    /** Cycles from one refresh to the next, and cycles of a refresh, which are fewer. */
    uint32_t dram_refresh, dram_refresh_cycles;
    uint32_t dram_stall;      /**< Cycles of 256, at random, in which an AXI channel pauses, up to 255. For tests. */
};

/** The simulated memory of a device. */
struct tern_sim_dram {
    uint32_t memory;  /**< The enum tern_sim_memory of the configuration. Single numbers may differ from its own. */
    uint32_t latency, bandwidth, reads, writes, refresh, refresh_cycles, stall; /**< As in struct tern_sim_config. */
};

/** A rule that a device has broken: an assertion in the RTL, or a rule of its AXI port. */
struct tern_sim_violation {
    uint64_t cycle;    /**< Device time, in cycles. */
    char module[160];  /**< Instance, from the top: "tern_top.u_regs.u_check_b"; "axi" is the port. */
    char rule[64];     /**< Name of the rule in the module. */
    char place[64];    /**< File and line. */
};

/** A warp instruction that has ended. */
struct tern_sim_retired {
    uint64_t time;            /**< Device time, in cycles, at which it was issued. */
    uint32_t engine;
    uint32_t group[3];        /**< Work-group, as in CSR group_id. */
    uint32_t warp;            /**< Warp within the group: lane l is work-item warp * lanes + l of the group. */
    uint32_t pc, word;        /**< Address of the instruction, and its encoding. */
    uint32_t mask;            /**< Lanes that ran it. */
    uint32_t rd;              /**< Register that it wrote; 0: none. */
    uint32_t value[32];       /**< New value of the register in each lane of mask; 0 for other lanes. */
};
typedef void (*tern_sim_observer)(void *user, const struct tern_sim_retired *retired);

/** The functions of a simulated device. An int is 0 or -errno, unless a function says more. */
struct tern_sim_api {
    uint32_t version; /**< TERN_SIM_API_VERSION. */
    /** Creates a device, which is out of reset. config may be NULL. *out is untouched on failure. -EINVAL: a setting is
     *  out of range; -ENOMEM. */
    int (*create)(const struct tern_sim_config *config, struct tern_sim **out);
    void (*destroy)(struct tern_sim *sim);
    /**
     * One AXI4-Lite access. offset is a byte address, a multiple of 4. Device time advances by a few cycles. -EIO:
     * there was no answer, or the device has broken a rule. In the latter case the device has stopped, and `violation`
     * says which rule.
     */
    int (*read32)(struct tern_sim *sim, uint32_t offset, uint32_t *value);
    int (*write32)(struct tern_sim *sim, uint32_t offset, uint32_t value);
    /** Access device memory past the device's ports, without device time and without setting dirty bits. -EFAULT: the
     *  range is beyond memory. */
    int (*mem_read)(struct tern_sim *sim, uint64_t address, void *data, size_t size);
    int (*mem_write)(struct tern_sim *sim, uint64_t address, const void *data, size_t size);
    /** Runs max_cycles, or fewer if the interrupt line is or becomes high. *irq is the line at the end; irq may be
     *  NULL.
     *  -EIO: the device has broken a rule. */
    int (*step)(struct tern_sim *sim, uint64_t max_cycles, bool *irq);
    /** Device time, in cycles since reset. */
    uint64_t (*cycles)(const struct tern_sim *sim);
    /**
     * Starts a waveform (FST) of all signals; NULL ends it, which any thread may do while another one is within the
     * device. -ENOTSUP: this device records none; -EBUSY: a waveform is being recorded; -EDEADLK: a signal handler ends
     * the waveform that its own thread was writing; errors of the file, which is then not whole.
     */
    int (*trace)(struct tern_sim *sim, const char *path);
    /**
     * Sets the observer, which step, read32 and write32 call for each warp instruction; NULL removes it. The
     * instructions of a warp come in the order in which it ran them, after all their register writes. The order between
     * warps is not defined. If a dispatch faults, instructions that were still in flight may be missing. A device is
     * slower with an observer; without, there is no cost.
     */
    int (*observe)(struct tern_sim *sim, tern_sim_observer f, void *user);
    /** Writes the coverage counted since the process began, in verilator_coverage's format. -ENOTSUP: the device was
     *  not built for it; errors of the file. */
    int (*coverage)(struct tern_sim *sim, const char *path);
    /** Describes the simulated memory. -ENOTSUP: this device has no memory timing. */
    int (*dram)(const struct tern_sim *sim, struct tern_sim_dram *out);
    /** 1: a rule has been broken, and *out is the first one; 0: none. docs/verification.md says which devices check
     *  which rules. */
    int (*violation)(const struct tern_sim *sim, struct tern_sim_violation *out);
};

#ifdef __cplusplus
}
#endif

#endif
