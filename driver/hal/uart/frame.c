/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/uart/frame.h"

#define FLAG 0x7eu
#define ESCAPE 0x7du
#define FLIP 0x20u

static uint32_t crc(const uint8_t *bytes, size_t n)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        c = table[(c ^ bytes[i]) & 15] ^ c >> 4;
        c = table[(c ^ bytes[i] >> 4) & 15] ^ c >> 4;
    }
    return ~c;
}

static size_t put(uint8_t *out, uint8_t byte)
{
    if (byte != FLAG && byte != ESCAPE) {
        out[0] = byte;
        return 1;
    }
    out[0] = ESCAPE;
    out[1] = byte ^ FLIP;
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

/** The check sequence, from its lowest byte on. */
static uint32_t sent(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

bool tern_frame_take(struct tern_frame_in *in, uint8_t byte, size_t *n)
{
    if (byte == FLAG) {
        const bool whole = in->n > 4 && !in->bad && !in->escape &&
                           crc(in->bytes, in->n - 4) == sent(in->bytes + in->n - 4);
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
        in->bytes[in->n++] = in->escape ? byte ^ FLIP : byte;
        in->escape = false;
    }
    return false;
}
