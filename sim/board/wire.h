/* SPDX-License-Identifier: Apache-2.0 */
/** One direction of a serial line, bit by bit: 8N1, at a baud rate of its own, with noise. */
#ifndef TERN_BOARD_WIRE_H
#define TERN_BOARD_WIRE_H

#include <stdbool.h>
#include <stdint.h>

struct wire {
    uint32_t baud, clock_hz;
    uint32_t noise;    /**< On average one bit of so many is inverted; 0: none. */
    uint64_t random;   /**< State of the noise generator, initially its seed. */
    uint64_t phase;
    uint32_t bits;     /**< Number of bits of the current frame that have passed, 0 to 10. */
    uint16_t shift;
    bool busy, level, flip;
    uint64_t flipped, bytes;
};

/** Runs a cycle of the sender and returns the line's level. there: `byte` is valid; *taken: it was taken. */
bool wire_send(struct wire *w, bool there, uint8_t byte, bool *taken);
/** Runs a cycle of the receiver with this level. Returns whether *byte is a received byte. The stop bit is not checked.
 */
bool wire_receive(struct wire *w, bool level, uint8_t *byte);

#endif
