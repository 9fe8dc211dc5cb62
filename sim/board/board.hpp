// SPDX-License-Identifier: Apache-2.0
// The interface of both boards, by which bridge.h's functions call them.
#ifndef TERN_BOARD_BOARD_HPP
#define TERN_BOARD_BOARD_HPP

#include "bridge.h"

struct board {
    uint64_t cycles = 0, active = 0;  // active: the last cycle with a bit on a line or a transfer of the link
    bool irq = false;

    board() = default;
    board(const board &) = delete;
    board &operator=(const board &) = delete;
    virtual ~board() = default;
    virtual bool clock(bool rx) = 0;
    virtual bool follow(uint64_t n) = 0;
    virtual bool idle(uint64_t n) = 0;
};

#endif
