/* SPDX-License-Identifier: Apache-2.0 */
/** One direction of a serial line, bit by bit: 8N1, at a baud rate of its own, with noise. */
#ifndef TERN_BOARD_WIRE_H
#define TERN_BOARD_WIRE_H

#include <stdbool.h>
#include <stdint.h>

struct wire {
    uint32_t baud, clock_hz;
    uint32_t noise;    /**< One bit in so many is wrong; 0: none. */
    uint64_t random;   /**< Seed; then state. */
    uint64_t phase;
    uint32_t bits;     /**< Of the frame that goes over: how many are done, or 0 to 10. */
    uint16_t shift;
    bool busy, level, flip;
    uint64_t flipped, bytes;
};

/** The sender. A cycle: the line's level. *taken: *byte (if there is one) has been taken. */
bool wire_send(struct wire *w, bool there, uint8_t byte, bool *taken);
/** The receiver. A cycle with this level: true, a byte is in *byte (its stop bit is not looked at). */
bool wire_receive(struct wire *w, bool level, uint8_t *byte);

#endif
