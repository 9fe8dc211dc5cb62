// SPDX-License-Identifier: Apache-2.0
// The whole board: board_chip.sv, one clock.
#include <memory>
#include <new>

#include "Vboard_chip.h"
#include "board.hpp"
#include "verilated.h"

namespace {

constexpr unsigned reset_cycles = 8;

struct whole_board final : board {
    std::unique_ptr<VerilatedContext> context = std::make_unique<VerilatedContext>();
    std::unique_ptr<Vboard_chip> top = std::make_unique<Vboard_chip>(context.get(), "board");

    whole_board()
    {
        top->rst_i = 1;
        idle(reset_cycles);
        top->rst_i = 0;
    }
    ~whole_board() override { top->final(); }

    bool clock(bool rx) override
    {
        Vboard_chip *t = top.get();
        t->clk_i = 0;
        t->uart_rx_i = rx;
        t->eval();
        t->clk_i = 1;
        t->eval();
        irq = t->irq_o;
        cycles++;
        if (!rx || !t->uart_tx_o) {
            active = cycles;
        }
        return t->uart_tx_o;
    }
    bool follow(uint64_t) override { return true; }  // the device runs with the link's clock
    bool idle(uint64_t n) override
    {
        while (n--) {
            clock(true);
        }
        return true;
    }
};

}  // namespace

extern "C" struct board *board_whole(void)
{
    return new (std::nothrow) whole_board;
}
