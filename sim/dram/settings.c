/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The named memories, in cycles of the device's nominal clock (250 MHz, 4 ns).
 *
 * ideal: the default, with which the baselines of the benches are measured: as fast as the port, without refresh, and
 * with room for all transfers that the device can have outstanding. Hence this memory never exerts back-pressure.
 *
 * hbm: one pseudo channel of an Alveo U55C.
 *   bandwidth  64 bits x 900 MHz x 2 = 14.4 GB/s = 57 bytes per cycle          [PG276, Raw Throughput Evaluation]
 *   refresh    tREFI 3.9 us = 975 cycles, tRFC 350 ns = 88 cycles (8-high stack) [the same]; leaves 13.1 GB/s, where
 *              13.3 GB/s were measured on a U280 [Wang et al.].
 *   latency    closed page 122 ns = 31 cycles, page miss 138 ns = 35 cycles, on a U280 [Wang et al.]: 33, and 40 more
 *              for the path from a 512-bit port to the 256-bit port of another clock, which is our estimate.
 *   reads      64: a port has 64 ids [PG276, Features]
 *   writes     32: our estimate
 *
 * ddr4: one channel of DDR4-2400 on an Alveo U200, U250 or U280.
 *   bandwidth  64 bits x 1200 MHz x 2 = 19.2 GB/s, more than the 64 bytes per cycle of the port.
 *   refresh    tREFI 7.8 us = 1950 cycles, tRFC 350 ns = 88 cycles (8 Gb)      [JESD79-4].
 *   latency    closed page 90 ns = 23 cycles, page miss 107 ns = 27 cycles [Wang et al.]: 25, and 40 more as above.
 *   reads, writes  64 and 32: our estimate
 *
 * PG276: AMD, AXI High Bandwidth Memory Controller. Wang et al.: Shuhai: Benchmarking High Bandwidth Memory on FPGAs.
 */
#include <errno.h>

#include "dram.h"
#include "tern_sim/tern_sim.h"

#define DEFAULT_BYTES (2ull << 30)

static const struct tern_dram_config settings[] = {
    [TERN_SIM_MEMORY_IDEAL] = {.latency = 60, .bandwidth = 64, .reads = TERN_DRAM_OUTSTANDING,
                               .writes = TERN_DRAM_OUTSTANDING, .ahead = 1},
    [TERN_SIM_MEMORY_HBM] = {.latency = 73, .bandwidth = 57, .reads = 64, .writes = 32, .ahead = 16, .refresh = 975,
                             .refresh_cycles = 88},
    [TERN_SIM_MEMORY_DDR4] = {.latency = 65, .bandwidth = 64, .reads = 64, .writes = 32, .ahead = 16, .refresh = 1950,
                              .refresh_cycles = 88},
};

static void set(uint32_t *out, uint32_t value)
{
    *out = value ? value : *out;
}

int tern_dram_configure(const struct tern_sim_config *sim, struct tern_dram_config *out)
{
    static const struct tern_sim_config none;
    sim = sim ? sim : &none;
    if (sim->memory >= sizeof settings / sizeof settings[0]) {
        return -EINVAL;
    }
    struct tern_dram_config c = settings[sim->memory];
    c.bytes = sim->mem_bytes ? sim->mem_bytes : DEFAULT_BYTES;
    set(&c.latency, sim->dram_latency);
    set(&c.bandwidth, sim->dram_bandwidth);
    set(&c.reads, sim->dram_reads);
    set(&c.writes, sim->dram_writes);
    set(&c.refresh, sim->dram_refresh);
    set(&c.refresh_cycles, sim->dram_refresh_cycles);
    set(&c.stall, sim->dram_stall);
    c.reorder = sim->dram_reorder_seed;
    c.error_base = sim->dram_error_base;
    c.error_bytes = sim->dram_error_bytes;
    *out = c;
    return 0;
}
