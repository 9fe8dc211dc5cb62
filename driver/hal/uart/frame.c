/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/uart/frame.h"

#include <zlib.h>

#define FLAG 0x7eu
#define ESCAPE 0x7du
#define ESCAPE_XOR 0x20u

static uint32_t crc(const uint8_t *bytes, size_t n)
{
    return (uint32_t)crc32(crc32(0, NULL, 0), bytes, (uInt)n); /* n <= TERN_FRAME_MAX */
}

static size_t put(uint8_t *out, uint8_t byte)
{
    if (byte != FLAG && byte != ESCAPE) {
        out[0] = byte;
        return 1;
    }
    out[0] = ESCAPE;
    out[1] = byte ^ ESCAPE_XOR;
    return 2;
}

size_t tern_frame_code(const uint8_t *bytes, size_t n, uint8_t *out)
{
    const uint32_t check = crc(bytes, n);
    size_t to = 0;
    out[to++] = FLAG;
    for (size_t i = 0; i < n; i++) {
        to += put(out + to, bytes[i]);
    }
    for (unsigned i = 0; i < 4; i++) {
        to += put(out + to, (uint8_t)(check >> 8 * i));
    }
    out[to++] = FLAG;
    return to;
}

bool tern_frame_take(struct tern_frame_in *in, uint8_t byte, size_t *n)
{
    if (byte == FLAG) {
        const bool whole = in->n > 4 && !in->bad && !in->escape &&
                           crc(in->bytes, in->n - 4) == tern_frame_get32(in->bytes + in->n - 4);
        in->frames += whole;
        in->damaged += !whole && (in->n || in->bad);
        *n = whole ? in->n - 4 : 0;
        in->n = 0;
        in->escape = in->bad = false;
        return whole;
    }
    if (byte == ESCAPE) {
        in->escape = true;
    } else if (in->n == sizeof in->bytes) {
        in->bad = true;
    } else {
        in->bytes[in->n++] = in->escape ? byte ^ ESCAPE_XOR : byte;
        in->escape = false;
    }
    return false;
}
