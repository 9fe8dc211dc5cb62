// SPDX-License-Identifier: Apache-2.0
// The board of the link alone. Answers of memory and registers, and the readiness for addresses and data, are late by a
// random number of cycles, which is the same in each run.
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "Vlink_alone.h"
#include "board.hpp"
#include "verilated.h"

namespace {

constexpr unsigned reset_cycles = 8;
constexpr uint8_t slverr = 2;

struct link_board final : board {
    std::unique_ptr<VerilatedContext> context = std::make_unique<VerilatedContext>();
    std::unique_ptr<Vlink_alone> top = std::make_unique<Vlink_alone>(context.get(), "link");
    const tern_sim_api *api;
    tern_sim *sim;
    uint32_t random = 1;
    bool line = true;
    // one transfer per master and direction: whether address and data were accepted, and cycles until the answer
    bool r_read = false, m_read = false, r_aw = false, r_w = false, m_aw = false, m_w = false;
    unsigned r_wait = 0, m_wait = 0, r_write_wait = 0, m_write_wait = 0;
    uint32_t r_waddr = 0, r_wdata = 0;
    uint64_t m_waddr = 0, m_strobe = 0;
    std::array<uint32_t, 16> m_wdata = {};

    link_board(const tern_sim_api *simulator_api, tern_sim *simulator) : api(simulator_api), sim(simulator)
    {
        top->rst_i = 1;
        for (unsigned i = 0; i < reset_cycles; i++) {
            clock(true);
        }
        top->rst_i = 0;
    }
    ~link_board() override { top->final(); }

    unsigned late()
    {
        random = random * 1664525u + 1013904223u;
        return random >> 28;  // 0 to 15
    }
    void write_memory();
    void outputs();
    void inputs();
    bool clock(bool rx) override;
    bool follow(uint64_t n) override;
    bool idle(uint64_t n) override { return follow(n); }
};

/** Writes the bytes that the strobes select. Consecutive bytes are written at once. */
void link_board::write_memory()
{
    const auto *bytes = reinterpret_cast<const uint8_t *>(m_wdata.data());
    uint8_t resp = 0;
    for (unsigned i = 0, n = 0; i < 64; i += n ? n : 1) {
        for (n = 0; i + n < 64 && (m_strobe >> (i + n) & 1); n++) {
        }
        if (n && api->mem_write(sim, m_waddr + i, bytes + i, n)) {
            resp = slverr;
        }
    }
    top->m_axi_bresp_i = resp;
}

/** Drives the signals of memory and registers for this cycle. */
void link_board::outputs()
{
    Vlink_alone *t = top.get();
    t->r_axi_arready_i = !r_read && late() < 12;
    t->m_axi_arready_i = !m_read && late() < 12;
    t->r_axi_awready_i = !r_aw && late() < 12;
    t->r_axi_wready_i = !r_w && late() < 12;
    t->m_axi_awready_i = !m_aw && late() < 12;
    t->m_axi_wready_i = !m_w && late() < 12;
    t->r_axi_rvalid_i = r_read && !r_wait;
    t->m_axi_rvalid_i = m_read && !m_wait;
    t->r_axi_bvalid_i = r_aw && r_w && !r_write_wait;
    t->m_axi_bvalid_i = m_aw && m_w && !m_write_wait;
}

/** Takes the link's signals at the end of the cycle. */
void link_board::inputs()
{
    Vlink_alone *t = top.get();
    const bool r_end = t->r_axi_rvalid_i && t->r_axi_rready_o, m_end = t->m_axi_rvalid_i && t->m_axi_rready_o;
    const bool r_done = t->r_axi_bvalid_i && t->r_axi_bready_o, m_done = t->m_axi_bvalid_i && t->m_axi_bready_o;
    const bool r_ar = t->r_axi_arvalid_o && t->r_axi_arready_i, m_ar = t->m_axi_arvalid_o && t->m_axi_arready_i;
    const bool had_r = r_aw && r_w, had_m = m_aw && m_w;
    r_wait -= r_wait > 0;
    m_wait -= m_wait > 0;
    r_write_wait -= r_write_wait > 0;
    m_write_wait -= m_write_wait > 0;
    r_read = r_read && !r_end;
    m_read = m_read && !m_end;
    if (r_done) {
        r_aw = r_w = false;
    }
    if (m_done) {
        m_aw = m_w = false;
    }
    if (r_ar) {
        uint32_t value = 0;
        r_read = true;
        r_wait = late();
        t->r_axi_rresp_i = api->read32(sim, t->r_axi_araddr_o, &value) ? slverr : 0;
        t->r_axi_rdata_i = value;
    }
    if (m_ar) {
        std::array<uint32_t, 16> data = {};
        m_read = true;
        m_wait = late();
        t->m_axi_rresp_i = api->mem_read(sim, t->m_axi_araddr_o, data.data(), 64) ? slverr : 0;
        std::memcpy(t->m_axi_rdata_i.data(), data.data(), 64);
    }
    if (t->r_axi_awvalid_o && t->r_axi_awready_i) {
        r_aw = true;
        r_waddr = t->r_axi_awaddr_o;
    }
    if (t->r_axi_wvalid_o && t->r_axi_wready_i) {
        r_w = true;
        r_wdata = t->r_axi_wdata_o;
    }
    if (t->m_axi_awvalid_o && t->m_axi_awready_i) {
        m_aw = true;
        m_waddr = t->m_axi_awaddr_o;
    }
    if (t->m_axi_wvalid_o && t->m_axi_wready_i) {
        m_w = true;
        m_strobe = t->m_axi_wstrb_o;
        std::memcpy(m_wdata.data(), t->m_axi_wdata_o.data(), 64);
    }
    if (!had_r && r_aw && r_w) {
        r_write_wait = late();
        t->r_axi_bresp_i = api->write32(sim, r_waddr, r_wdata) ? slverr : 0;
    }
    if (!had_m && m_aw && m_w) {
        m_write_wait = late();
        write_memory();
    }
    if (r_read || m_read || r_aw || r_w || m_aw || m_w || r_ar || m_ar) {
        active = cycles;
    }
}

bool link_board::clock(bool rx)
{
    Vlink_alone *t = top.get();
    t->clk_i = 0;
    t->uart_rx_i = rx;
    t->irq_i = irq;
    outputs();
    t->eval();
    if (!t->rst_i) {
        inputs();
    }
    t->clk_i = 1;
    t->eval();
    cycles++;
    if (!rx || !t->uart_tx_o) {
        active = cycles;
    }
    return t->uart_tx_o;
}

bool link_board::follow(uint64_t n)
{
    tern_sim_violation v;
    const int r = api->step(sim, n, &irq);
    if (r && api->violation(sim, &v)) {
        fprintf(stderr, "tern-board: the device broke rule %s of %s (%s) at cycle %" PRIu64 "\n", v.rule, v.module,
                v.place, v.cycle);
    } else if (r) {
        fprintf(stderr, "tern-board: the device does nothing any more: %s\n", strerror(-r));
    }
    return !r;
}

}  // namespace

extern "C" {

struct board *board_link(const struct tern_sim_api *api, struct tern_sim *sim)
{
    return new (std::nothrow) link_board(api, sim);
}

void board_destroy(struct board *b)
{
    delete b;
}

bool board_clock(struct board *b, bool rx)
{
    return b->clock(rx);
}

bool board_follow(struct board *b, uint64_t cycles)
{
    return b->follow(cycles);
}

bool board_idle(struct board *b, uint64_t cycles)
{
    return b->idle(cycles);
}

uint64_t board_quiet(const struct board *b)
{
    return b->cycles - b->active;
}

bool board_irq(const struct board *b)
{
    return b->irq;
}
}
