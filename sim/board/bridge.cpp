// SPDX-License-Identifier: Apache-2.0
// The Verilated link behind bridge.h. Answers of memory and registers are late by a random number of cycles, and so is
// the readiness for addresses and data: the same in each run.
#include "bridge.h"

#include <array>
#include <cstring>
#include <memory>
#include <new>

#include "Vtern_link.h"
#include "verilated.h"

namespace {

constexpr unsigned reset_cycles = 8;
constexpr uint8_t slverr = 2;

}  // namespace

struct board {
    std::unique_ptr<VerilatedContext> context;
    std::unique_ptr<Vtern_link> top;
    const tern_sim_api *api = nullptr;
    tern_sim *sim = nullptr;
    uint64_t cycles = 0, active = 0;  // the last cycle in which something happened
    uint32_t random = 1;
    bool line = true;
    // one transfer a master and direction: its address or data were taken, so many cycles until its answer
    bool r_read = false, m_read = false, r_aw = false, r_w = false, m_aw = false, m_w = false;
    unsigned r_wait = 0, m_wait = 0, r_write_wait = 0, m_write_wait = 0;
    uint32_t r_waddr = 0, r_wdata = 0;
    uint64_t m_waddr = 0, m_strobe = 0;
    std::array<uint32_t, 16> m_wdata = {};

    unsigned late()
    {
        random = random * 1664525u + 1013904223u;
        return random >> 28;  // 0 to 15
    }
    void write_memory();
    void outputs();
    void inputs();
};

/** What the strobes choose, in pieces of bytes that follow each other. */
void board::write_memory()
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

/** What memory and registers drive in this cycle. */
void board::outputs()
{
    Vtern_link *t = top.get();
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

/** What they take at its end. */
void board::inputs()
{
    Vtern_link *t = top.get();
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

extern "C" {

struct board *board_create(const struct tern_sim_api *api, struct tern_sim *sim)
{
    std::unique_ptr<board> b(new (std::nothrow) board);
    if (!b) {
        return nullptr;
    }
    b->api = api;
    b->sim = sim;
    b->context = std::make_unique<VerilatedContext>();
    b->top = std::make_unique<Vtern_link>(b->context.get(), "link");
    b->top->rst_i = 1;
    for (unsigned i = 0; i < reset_cycles; i++) {
        board_clock(b.get(), true, false);
    }
    b->top->rst_i = 0;
    return b.release();
}

void board_destroy(struct board *b)
{
    if (b) {
        b->top->final();
        delete b;
    }
}

bool board_clock(struct board *b, bool rx, bool irq)
{
    Vtern_link *t = b->top.get();
    t->clk_i = 0;
    t->uart_rx_i = rx;
    t->irq_i = irq;
    b->outputs();
    t->eval();
    if (!t->rst_i) {
        b->inputs();
    }
    t->clk_i = 1;
    t->eval();
    b->cycles++;
    if (!rx || !t->uart_tx_o) {
        b->active = b->cycles;
    }
    return t->uart_tx_o;
}

uint64_t board_quiet(const struct board *b)
{
    return b->cycles - b->active;
}
}
