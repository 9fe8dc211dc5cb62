// SPDX-License-Identifier: Apache-2.0
// The Verilated device behind the C API of tern_sim.h: AXI4-Lite accesses, memory at the AXI4 port, interrupt, waveform.
// This is the only C++ of the project, because Verilator gives nothing else.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "Vtern_top.h"
#include "dram.h"
#include "tern_sim/tern_sim.h"
#include "verilated.h"
#include "verilated_fst_c.h"

namespace {

constexpr uint64_t kDefaultBytes = 2ull << 30, kMaxBytes = 4ull << 30, kPage = 4096;
constexpr uint32_t kDefaultLatency = 60, kDefaultBandwidth = 64;
constexpr int kResetCycles = 8, kAxiLiteTimeout = 100000;

}  // namespace

struct tern_sim {
    VerilatedContext context;
    Vtern_top top{&context};
    VerilatedFstC fst;
    bool tracing = false;
    struct dram *dram = nullptr;
    uint64_t bytes = 0, cycles = 0;
    struct {  // AXI4-Lite handshakes of the last cycle
        bool ar, r, aw, w, b;
        uint32_t data;
    } lite = {};

    // One clock cycle: inputs settle, handshakes of this cycle are seen, the edge, then memory moves on.
    void cycle()
    {
        struct dram_answer r, b;
        const bool rv = dram_r(dram, &r), bv = dram_b(dram, &b);
        top.m_axi_arready_i = dram_ar_ready(dram);
        top.m_axi_awready_i = dram_aw_ready(dram);
        top.m_axi_wready_i = dram_w_ready(dram);
        top.m_axi_rvalid_i = rv;
        if (rv) {
            top.m_axi_rid_i = r.id;
            top.m_axi_rresp_i = r.resp;
            top.m_axi_rlast_i = r.last;
            std::memcpy(top.m_axi_rdata_i.data(), r.data, DRAM_BEAT);
        }
        top.m_axi_bvalid_i = bv;
        if (bv) {
            top.m_axi_bid_i = b.id;
            top.m_axi_bresp_i = b.resp;
        }
        top.clk_i = 0;
        top.eval();
        if (tracing) {
            fst.dump(2 * cycles);
        }
        const bool ar = top.m_axi_arvalid_o && top.m_axi_arready_i, aw = top.m_axi_awvalid_o && top.m_axi_awready_i;
        const bool w = top.m_axi_wvalid_o && top.m_axi_wready_i;
        lite.ar = top.s_axi_arvalid_i && top.s_axi_arready_o;
        lite.aw = top.s_axi_awvalid_i && top.s_axi_awready_o;
        lite.w = top.s_axi_wvalid_i && top.s_axi_wready_o;
        lite.r = top.s_axi_rvalid_o && top.s_axi_rready_i;
        lite.b = top.s_axi_bvalid_o && top.s_axi_bready_i;
        lite.data = top.s_axi_rdata_o;
        if (rv && top.m_axi_rready_o) {
            dram_r_take(dram);
        }
        if (bv && top.m_axi_bready_o) {
            dram_b_take(dram);
        }
        if (ar) {
            dram_ar(dram, top.m_axi_arid_o, top.m_axi_araddr_o, top.m_axi_arlen_o + 1u);
        }
        if (w) {
            dram_w(dram, top.m_axi_wdata_o.data(), top.m_axi_wstrb_o, top.m_axi_wlast_o);
        }
        if (aw) {
            dram_aw(dram, top.m_axi_awid_o, top.m_axi_awaddr_o, top.m_axi_awlen_o + 1u);
        }
        top.clk_i = 1;
        top.eval();
        if (tracing) {
            fst.dump(2 * cycles + 1);
        }
        dram_tick(dram);
        cycles++;
    }
};

namespace {

int sim_create(const struct tern_sim_config *config, struct tern_sim **out)
{
    const struct tern_sim_config none = {};
    const struct tern_sim_config &c = config ? *config : none;
    struct dram_config d = {};
    d.bytes = c.mem_bytes ? c.mem_bytes : kDefaultBytes;
    d.latency = c.dram_latency ? c.dram_latency : kDefaultLatency;
    d.bandwidth = c.dram_bandwidth ? c.dram_bandwidth : kDefaultBandwidth;
    d.reorder_seed = c.dram_reorder_seed;
    d.error_base = c.dram_error_base;
    d.error_bytes = c.dram_error_bytes;
    if (d.bytes % kPage || d.bytes > kMaxBytes || d.bandwidth > DRAM_BEAT) {
        return -EINVAL;
    }
    std::unique_ptr<tern_sim> s(new (std::nothrow) tern_sim);
    if (!s || !(s->dram = dram_create(&d))) {
        return -ENOMEM;
    }
    s->bytes = d.bytes;
    s->context.traceEverOn(true);
    s->top.mem_pages_i = static_cast<uint32_t>(d.bytes / kPage);
    s->top.rst_i = 1;
    for (int i = 0; i < kResetCycles; i++) {
        s->cycle();
    }
    s->top.rst_i = 0;
    s->cycles = 0;
    *out = s.release();
    return 0;
}

void sim_destroy(struct tern_sim *s)
{
    if (s) {
        if (s->tracing) {
            s->fst.close();
        }
        s->top.final();
        dram_destroy(s->dram);
        delete s;
    }
}

int sim_read32(struct tern_sim *s, uint32_t offset, uint32_t *value)
{
    s->top.s_axi_araddr_i = offset;
    s->top.s_axi_arvalid_i = 1;
    s->top.s_axi_rready_i = 1;
    for (int i = 0; i < kAxiLiteTimeout; i++) {
        s->cycle();
        if (s->lite.ar) {
            s->top.s_axi_arvalid_i = 0;
        }
        if (s->lite.r) {
            s->top.s_axi_rready_i = 0;
            *value = s->lite.data;
            return 0;
        }
    }
    return -EIO;
}

int sim_write32(struct tern_sim *s, uint32_t offset, uint32_t value)
{
    s->top.s_axi_awaddr_i = offset;
    s->top.s_axi_wdata_i = value;
    s->top.s_axi_awvalid_i = 1;
    s->top.s_axi_wvalid_i = 1;
    s->top.s_axi_bready_i = 1;
    for (int i = 0; i < kAxiLiteTimeout; i++) {
        s->cycle();
        if (s->lite.aw) {
            s->top.s_axi_awvalid_i = 0;
        }
        if (s->lite.w) {
            s->top.s_axi_wvalid_i = 0;
        }
        if (s->lite.b) {
            s->top.s_axi_bready_i = 0;
            return 0;
        }
    }
    return -EIO;
}

bool inside(const struct tern_sim *s, uint64_t address, size_t size)
{
    return address <= s->bytes && size <= s->bytes - address;
}

int sim_mem_read(struct tern_sim *s, uint64_t address, void *data, size_t size)
{
    if (!inside(s, address, size)) {
        return -EFAULT;
    }
    std::memcpy(data, dram_memory(s->dram) + address, size);
    return 0;
}

int sim_mem_write(struct tern_sim *s, uint64_t address, const void *data, size_t size)
{
    if (!inside(s, address, size)) {
        return -EFAULT;
    }
    std::memcpy(dram_memory(s->dram) + address, data, size);
    return 0;
}

int sim_step(struct tern_sim *s, uint64_t max_cycles, bool *irq)
{
    for (uint64_t i = 0; i < max_cycles && !s->top.irq_o; i++) {
        s->cycle();
    }
    if (irq) {
        *irq = s->top.irq_o;
    }
    return 0;
}

uint64_t sim_cycles(const struct tern_sim *s)
{
    return s->cycles;
}

int sim_trace(struct tern_sim *s, const char *path)
{
    if (!path) {
        if (s->tracing) {
            s->fst.close();
        }
        s->tracing = false;
        return 0;
    }
    if (s->tracing) {
        return -EBUSY;
    }
    FILE *probe = std::fopen(path, "wb");  // Verilator does not tell why a file cannot be written
    if (!probe) {
        return -errno;
    }
    std::fclose(probe);
    s->top.trace(&s->fst, 99);
    s->fst.open(path);
    s->tracing = s->fst.isOpen();
    return s->tracing ? 0 : -EIO;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const struct tern_sim_api tern_sim_api = {
    TERN_SIM_API_VERSION, sim_create, sim_destroy, sim_read32, sim_write32,
    sim_mem_read,         sim_mem_write, sim_step,  sim_cycles, sim_trace,
};
