// SPDX-License-Identifier: Apache-2.0
// The Verilated tern_top behind the C API of tern_sim.h, with the memory of sim/dram at its AXI4 ports.
//
// This is C++ because Verilator's classes are. A cycle takes two evaluations: clock low, in which the inputs of the
// cycle settle, and clock high, the edge. An idle device (no work, no access, no transfer) is not evaluated: only its
// time would change, so its time register is advanced instead (public.vlt makes it writable).
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "Vtern_top.h"
#include "Vtern_top___024root.h"
#include "dram.h"
#include "observe.h"
#include "port.h"
#include "rules.h"
#include "tern_sim/tern_sim.h"
#include "verilated.h"
#include "waveform.h"
#ifdef TERN_COVERAGE
#include "coverage.h"
#endif
#ifdef TERN_MUTANTS
#include "Vtern_top_tern_mutant_pkg.h"
#endif

namespace {

constexpr uint64_t limit = 4ull << 30;  // greatest number of bytes of memory, which the dirty plane covers
constexpr uint64_t page = 4096;
constexpr unsigned access_limit = 256;  // greatest number of cycles of a register access
constexpr unsigned reset_cycles = 8;
constexpr unsigned settle_cycles = 520;  // cycles in which the fabric clears its hazard table
#ifdef TERN_OLD_CONTENTS
constexpr int power_on_seed = 1;
#endif

/** Number of memory ports. A signal has the bits of all ports side by side, port 0 lowest. */
constexpr unsigned ports = sizeof(std::remove_reference_t<decltype(Vtern_top::m_axi_rdata_i)>) / 64;

/** Returns the bits of a port of a signal with `width` bits per port. */
template <typename T>
uint64_t at(const T &signal, unsigned port, unsigned width)
{
    if constexpr (std::is_integral_v<T>) {
        return static_cast<uint64_t>(signal) >> port * width & (~0ull >> (64 - width));
    } else {
        return signal.data()[2 * port] | static_cast<uint64_t>(signal.data()[2 * port + 1]) << 32;  // 64 bits a port
    }
}

/** Drives the bits of a port of a signal that has at most 64 bits for all ports. */
template <typename T>
void drive(T &signal, unsigned port, unsigned width, uint64_t value)
{
    const uint64_t mask = (1ull << width) - 1;
    signal = static_cast<T>((signal & ~(mask << port * width)) | (value & mask) << port * width);
}

struct free_dram {
    void operator()(tern_dram *d) const { tern_dram_destroy(d); }
};

}  // namespace

struct tern_sim {
    std::unique_ptr<VerilatedContext> context;
    std::unique_ptr<Vtern_top> top;
    std::unique_ptr<tern_dram, free_dram> dram[ports];  // the first owns the memory
    std::unique_ptr<waveform> trace;
    std::unique_ptr<observer> watch;
#ifdef TERN_COVERAGE
    std::unique_ptr<coverage_counters> counters;
#endif
    tern_port port[ports] = {};
    tern_sim_dram timing = {};
    tern_sim_violation violation = {};
    bool broken = false;
    bool idle = false;

    uint64_t &time() { return top->rootp->tern_top__DOT__u_regs__DOT__time_q; }

    void eval()
    {
        top->eval();
        if (trace) {
            trace->dump();
        }
    }

    void cycle()
    {
        Vtern_top *t = top.get();
        t->clk_i = 0;
        for (unsigned p = 0; p < ports; p++) {
            const struct tern_dram_out *o = tern_dram_out(dram[p].get());
            drive(t->m_axi_arready_i, p, 1, o->arready);
            drive(t->m_axi_awready_i, p, 1, o->awready);
            drive(t->m_axi_wready_i, p, 1, o->wready);
            drive(t->m_axi_rvalid_i, p, 1, o->rvalid);
            drive(t->m_axi_bvalid_i, p, 1, o->bvalid);
            if (o->rvalid) {
                drive(t->m_axi_rid_i, p, 6, o->rid);
                drive(t->m_axi_rresp_i, p, 2, o->rresp);
                drive(t->m_axi_rlast_i, p, 1, 1);
                std::memcpy(t->m_axi_rdata_i.data() + 16 * p, o->rdata, 64);
            }
            drive(t->m_axi_bid_i, p, 6, o->bid);
            drive(t->m_axi_bresp_i, p, 2, o->bresp);
        }
        eval();
        tern_sim_violation asserted;
        const bool valid = !t->rst_i;  // the memory is in reset with the device
        for (unsigned p = 0; p < ports; p++) {
            const tern_dram_in in = {
                .arvalid = valid && at(t->m_axi_arvalid_o, p, 1),
                .awvalid = valid && at(t->m_axi_awvalid_o, p, 1),
                .wvalid = valid && at(t->m_axi_wvalid_o, p, 1),
                .rready = at(t->m_axi_rready_o, p, 1) != 0,
                .bready = at(t->m_axi_bready_o, p, 1) != 0,
                .arid = static_cast<uint8_t>(at(t->m_axi_arid_o, p, 6)),
                .awid = static_cast<uint8_t>(at(t->m_axi_awid_o, p, 6)),
                .araddr = at(t->m_axi_araddr_o, p, 64),
                .awaddr = at(t->m_axi_awaddr_o, p, 64),
                .wstrb = at(t->m_axi_wstrb_o, p, 64),
                .wdata = t->m_axi_wdata_o.data() + 16 * p,
            };
            if (valid) {
                check(p, *tern_dram_out(dram[p].get()), in);
            }
            tern_dram_clock(dram[p].get(), &in);  // before the device's edge, because in.wdata points into the device
        }
        t->clk_i = 1;
        eval();
        if (tern_rules_take(&asserted) && valid) {
            breaks(asserted);
        }
        if (watch) {
            watch->clock(time());
        }
    }

    /** Checks the rules of an AXI port. */
    void check(unsigned p, const struct tern_dram_out &o, const tern_dram_in &in)
    {
        const Vtern_top *t = top.get();
        auto burst = [p](const auto &len, const auto &size, const auto &type) {
            return tern_port_burst{static_cast<uint8_t>(at(len, p, 8)), static_cast<uint8_t>(at(size, p, 3)),
                                   static_cast<uint8_t>(at(type, p, 2))};
        };
        const tern_port_burst ar = burst(t->m_axi_arlen_o, t->m_axi_arsize_o, t->m_axi_arburst_o);
        const tern_port_burst aw = burst(t->m_axi_awlen_o, t->m_axi_awsize_o, t->m_axi_awburst_o);
        const char *rule = tern_port_clock(&port[p], &o, &in, &ar, &aw, at(t->m_axi_wlast_o, p, 1) != 0);
        if (rule) {
            tern_sim_violation v = {0, "axi", "", "sim/dram/port.c"};
            std::snprintf(v.rule, sizeof v.rule, "%s", rule);
            breaks(v);
        }
    }

    /** Returns whether no port has an outstanding transfer. */
    bool memory_idle() const
    {
        for (const auto &d : dram) {
            if (!tern_dram_idle(d.get())) {
                return false;
            }
        }
        return true;
    }

    void breaks(const tern_sim_violation &v)
    {
        if (!broken) {
            broken = true;
            violation = v;
            violation.cycle = time();
        }
    }

    /** Runs cycles until done(). Returns false if access_limit cycles have passed before. */
    template <typename F>
    bool until(F done)
    {
        for (unsigned i = 0; i < access_limit; i++) {
            if (broken) {
                return false;
            }
            if (done()) {
                return true;
            }
            cycle();
        }
        return false;
    }
};

namespace {

/** Enables a seeded bug. Returns 0, -ENOTSUP (this build has none) or -EINVAL (there is no such bug). */
int select_mutant([[maybe_unused]] tern_sim *s, uint32_t mutant)
{
#ifdef TERN_MUTANTS
    if (mutant > TERN_MUTANTS) {
        return -EINVAL;
    }
    s->top->rootp->__PVT__tern_mutant_pkg->select = static_cast<int>(mutant);
    return 0;
#else
    return mutant ? -ENOTSUP : 0;
#endif
}

int create(const tern_sim_config *config, tern_sim **out)
{
    tern_dram_config d = {};
    if (int r = tern_dram_configure(config, &d)) {
        return r;
    }
    if (d.bytes > limit) {
        return -EINVAL;
    }
#ifdef TERN_OLD_CONTENTS
    d.old_contents = true;
#endif
    tern_dram *dram = nullptr;
    tern_sim_violation old;
    tern_rules_take(&old);
    if (int r = tern_dram_create(&d, &dram)) {
        return r;
    }
    std::unique_ptr<tern_sim> s(new (std::nothrow) tern_sim);
    if (!s) {
        tern_dram_destroy(dram);
        return -ENOMEM;
    }
    s->dram[0].reset(dram);
    for (unsigned p = 1; p < ports; p++) {
        if (int r = tern_dram_join(s->dram[0].get(), &dram)) {
            return r;
        }
        s->dram[p].reset(dram);
    }
    s->timing = {config ? config->memory : 0u, d.latency, d.bandwidth, d.reads, d.writes, d.refresh,
                 d.refresh_cycles, d.stall};
    s->context = std::make_unique<VerilatedContext>();
    s->context->traceEverOn(true);
#ifdef TERN_OLD_CONTENTS
    s->context->randReset(2);  // registers and on-chip memories are random as well
    s->context->randSeed(power_on_seed);
#endif
    s->top = std::make_unique<Vtern_top>(s->context.get(), "tern");
    if (int r = select_mutant(s.get(), config ? config->mutant : 0)) {
        return r;
    }
#ifdef TERN_COVERAGE
    s->counters = std::make_unique<coverage_counters>(*s->top);
#endif
    s->top->mem_pages_i = static_cast<uint32_t>(d.bytes / page);
    s->top->axi_base_i = 0;
    s->top->s_axi_arvalid_i = s->top->s_axi_awvalid_i = s->top->s_axi_wvalid_i = 0;
    s->top->rst_i = 1;
    for (unsigned i = 0; i < reset_cycles; i++) {
        s->cycle();
    }
    s->top->rst_i = 0;
    s->cycle();
#define PLANE(path) &s->top->rootp->path##__DOT__clearing_q,
    CData *clearing[] = {
#include "planes.inc"
    };
#undef PLANE
    for (CData *plane : clearing) {
#ifdef TERN_OLD_CONTENTS
        while (*plane) {
            s->cycle();
        }
#else
        *plane = 0;  // the plane's memory is zero when the simulation begins, so its clearing is skipped
#endif
    }
    for (unsigned i = 0; i < settle_cycles; i++) {
        s->cycle();
    }
    *out = s.release();
    return 0;
}

void destroy(tern_sim *s)
{
    if (s) {
        s->top->final();
        // Destructors use the thread's context, which may be that of another device that no longer exists.
        Verilated::threadContextp(s->context.get());
        delete s;
    }
}

int read32(tern_sim *s, uint32_t offset, uint32_t *value)
{
    if (s->broken) {
        return -EIO;
    }
    Vtern_top *t = s->top.get();
    t->s_axi_araddr_i = static_cast<uint16_t>(offset & 0x3fff);
    t->s_axi_arvalid_i = 1;
    t->s_axi_rready_i = 1;
    t->eval();
    bool ok = s->until([t] { return t->s_axi_arready_o != 0; });
    s->cycle();
    t->s_axi_arvalid_i = 0;
    ok = ok && s->until([t] { return t->s_axi_rvalid_o != 0; });
    if (!ok || t->s_axi_rresp_o) {
        return -EIO;
    }
    *value = t->s_axi_rdata_o;
    s->cycle();
    return 0;
}

int write32(tern_sim *s, uint32_t offset, uint32_t value)
{
    if (s->broken) {
        return -EIO;
    }
    Vtern_top *t = s->top.get();
    t->s_axi_awaddr_i = static_cast<uint16_t>(offset & 0x3fff);
    t->s_axi_wdata_i = value;
    t->s_axi_awvalid_i = 1;
    t->s_axi_wvalid_i = 1;
    t->s_axi_bready_i = 1;
    t->eval();
    bool ok = s->until([t] { return t->s_axi_awready_o && t->s_axi_wready_o; });
    s->cycle();
    t->s_axi_awvalid_i = 0;
    t->s_axi_wvalid_i = 0;
    ok = ok && s->until([t] { return t->s_axi_bvalid_o != 0; });
    if (!ok || t->s_axi_bresp_o) {
        return -EIO;
    }
    s->cycle();
    return 0;
}

int mem_read(tern_sim *s, uint64_t address, void *data, size_t size)
{
    return tern_dram_read(s->dram[0].get(), address, data, size);
}

int mem_write(tern_sim *s, uint64_t address, const void *data, size_t size)
{
    return tern_dram_write(s->dram[0].get(), address, data, size);
}

int step(tern_sim *s, uint64_t max_cycles, bool *irq)
{
    const Vtern_top *t = s->top.get();
    for (uint64_t i = 0; i < max_cycles && !t->irq_o && !s->broken; i++) {
        if (t->idle_o && s->memory_idle()) {
            // a few more cycles drain the last stage; then time is advanced
            if (s->idle) {
                s->time() += max_cycles - i;
                break;
            }
            s->idle = true;
            for (unsigned n = 0; n < 8 && i + 1 < max_cycles && !t->irq_o; n++, i++) {
                s->cycle();
            }
        } else {
            s->idle = false;
        }
        s->cycle();
    }
    s->idle = false;
    if (irq) {
        *irq = t->irq_o != 0;
    }
    return s->broken ? -EIO : 0;
}

uint64_t cycles(const tern_sim *s)
{
    return s->top->rootp->tern_top__DOT__u_regs__DOT__time_q;
}

int trace(tern_sim *s, const char *path)
{
    if (!path) {
        return s->trace ? -s->trace->end() : 0;  // not deleted, since another thread may use it
    }
    if (s->trace && !s->trace->ended()) {
        return -EBUSY;
    }
    Verilated::threadContextp(s->context.get());  // otherwise the writer creates a context
    return -waveform::begin(*s->top, path, &s->trace);
}

int observe(tern_sim *s, tern_sim_observer f, void *user)
{
    s->watch = f ? std::make_unique<observer>(*s->top, f, user) : nullptr;
    return 0;
}

int coverage([[maybe_unused]] tern_sim *s, [[maybe_unused]] const char *path)
{
#ifdef TERN_COVERAGE
    return s->counters->write(path);
#else
    return -ENOTSUP;
#endif
}

int dram(const tern_sim *s, tern_sim_dram *out)
{
    *out = s->timing;
    return 0;
}

int violation(const tern_sim *s, tern_sim_violation *out)
{
    if (s->broken) {
        *out = s->violation;
    }
    return s->broken;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) extern const tern_sim_api tern_sim_api;
const struct tern_sim_api tern_sim_api = {
    TERN_SIM_API_VERSION, create, destroy, read32, write32, mem_read, mem_write, step, cycles, trace, observe, coverage,
    dram, violation,
};
}

/**
 * Replaces the C library's function within this object, so that no destructor of a static object runs, neither of
 * Verilator nor of libstdc++. At the end of a process they would run before what closes devices: handlers of atexit
 * that are older than the device, and destructors of libraries. Verilator's lists, which are such objects, are empty
 * once the last device is gone.
 */
extern "C" int __cxa_atexit(void (*)(void *), void *, void *)
{
    return 0;
}
