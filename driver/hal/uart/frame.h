/* SPDX-License-Identifier: Apache-2.0 */
/** Frames of a serial line: flags, escapes and the 32-bit check sequence of RFC 1662 (docs/board.md). */
#ifndef TERN_UART_FRAME_H
#define TERN_UART_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TERN_FRAME_MAX 1024u /**< Bytes of a frame between its flags, without escapes, with its check sequence. */
#define TERN_FRAME_CODED(n) (2 * ((n) + 4) + 2) /**< Bytes on the line for n, at most. */

/** A 32-bit number of the link, least significant byte first. */
static inline uint32_t tern_frame_get32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/** Encodes n bytes as a frame for the line. out has room for TERN_FRAME_CODED(n) bytes. Returns how many it took. */
size_t tern_frame_code(const uint8_t *bytes, size_t n, uint8_t *out);

/** A receiver of frames. All of it is zero at first. */
struct tern_frame_in {
    uint8_t bytes[TERN_FRAME_MAX];
    size_t n;                 /**< Number of bytes of the current frame. */
    bool escape, bad;         /**< escape: the last byte was the escape. bad: the frame is too long. */
    uint64_t frames, damaged; /**< Numbers of frames received whole, and damaged. */
};

/** Takes a byte of the line. True: it ends a whole frame, in->bytes, of *n bytes without the check sequence. */
bool tern_frame_take(struct tern_frame_in *in, uint8_t byte, size_t *n);

#endif
