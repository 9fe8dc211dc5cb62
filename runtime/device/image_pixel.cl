/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Pixels of all formats, read and written (OpenCL 3.0, 8.3). A pixel is accessed by its channels or as a whole, never
 * with a neighbour, which another work-item may be writing.
 */
#include "image_core.h"

/** Linear values of bytes in sRGB. */
static __constant const float linear[256] = {
#include "srgb.h"
};

#define AT(T, i) ((__global T *)(size_t)at)[i]
/** Reads the channels that the format has into v by LOAD(i). */
#define READ(LOAD)                    \
    v.x = LOAD(0);                    \
    if (channels != 1) {              \
        v.y = LOAD(1);                \
        if (channels != 2) {          \
            v.z = LOAD(2);            \
            v.w = LOAD(3);            \
        }                             \
    }
/** Writes v by STORE(i, value). */
#define WRITE(STORE)                  \
    STORE(0, v.x)                     \
    if (channels != 1) {              \
        STORE(1, v.y)                 \
        if (channels != 2) {          \
            STORE(2, v.z)             \
            STORE(3, v.w)             \
        }                             \
    }

/** A half as a float: the exponent is moved, and that of infinities and NaN is completed. */
static float half_at(uint bits)
{
    const uint size = (bits & 0x7fff) << 13, special = size >= 0x0f800000 ? 0x7f800000 : 0;
    return as_float(as_uint(as_float(size) * 0x1p112f) | special | (bits & 0x8000) << 16);
}

#define UNORM8(i) AT(uchar, i) * (1 / 255.0f)
#define SNORM8(i) __builtin_elementwise_max(AT(char, i) * (1 / 127.0f), -1.0f)
#define UNORM16(i) AT(ushort, i) * (1 / 65535.0f)
#define SNORM16(i) __builtin_elementwise_max(AT(short, i) * (1 / 32767.0f), -1.0f)
#define HALF(i) half_at(AT(ushort, i))
#define SRGB8(i) (i == 3 ? AT(uchar, i) * (1 / 255.0f) : linear[AT(uchar, i)])

/** Moves the channels that READ has read, or for WRITE will write, to or from their places. one: the value of an alpha
 *  without a channel. */
#define PLACE(v, places, one)                                              \
    switch (places) {                                                      \
    case TERN_PLACES_A: v.w = v.x; v.x = 0; break;                         \
    case TERN_PLACES_RA: v.w = v.y; v.y = 0; break;                        \
    case TERN_PLACES_INTENSITY: v.w = v.x; v.z = v.x; v.y = v.x; break;    \
    case TERN_PLACES_LUMINANCE: v.z = v.x; v.y = v.x; break;               \
    case TERN_PLACES_BGRA: v = v.zyxw; break;                              \
    case TERN_PLACES_ARGB: v = v.yzwx; break;                              \
    case TERN_PLACES_ABGR: v = v.wzyx; break;                              \
    default: break;                                                        \
    }
#define UNPLACE(v, places)                                                 \
    switch (places) {                                                      \
    case TERN_PLACES_A: v.x = v.w; break;                                  \
    case TERN_PLACES_RA: v.y = v.w; break;                                 \
    case TERN_PLACES_BGRA: v = v.zyxw; break;                              \
    case TERN_PLACES_ARGB: v = v.wxyz; break;                              \
    case TERN_PLACES_ABGR: v = v.wzyx; break;                              \
    default: break;                                                        \
    }

float4 __tern_image_pixelf(uint code, uint at)
{
    const uint channels = TERN_IMAGE_CHANNELS(code), places = TERN_IMAGE_PLACES(code);
    float4 v = (float4)(0, 0, 0, 1);
    uint word;
    switch (TERN_IMAGE_STORE(code)) {
    case TERN_STORE_UNORM8: READ(UNORM8) break;
    case TERN_STORE_SNORM8: READ(SNORM8) break;
    case TERN_STORE_UNORM16: READ(UNORM16) break;
    case TERN_STORE_SNORM16: READ(SNORM16) break;
    case TERN_STORE_HALF: READ(HALF) break;
    case TERN_STORE_FLOAT:
#define FLOAT(i) AT(float, i)
        READ(FLOAT)
        break;
    case TERN_STORE_565:
        word = AT(ushort, 0);
        v.xyz = (float3)((word >> 11) * (1 / 31.0f), (word >> 5 & 63) * (1 / 63.0f), (word & 31) * (1 / 31.0f));
        break;
    case TERN_STORE_555:
        word = AT(ushort, 0);
        v.xyz = (float3)(word >> 10 & 31, word >> 5 & 31, word & 31) * (1 / 31.0f);
        break;
    case TERN_STORE_101010:
        word = AT(uint, 0);
        v.xyz = (float3)(word >> 20 & 1023, word >> 10 & 1023, word & 1023) * (1 / 1023.0f);
        break;
    case TERN_STORE_SRGB8: READ(SRGB8) break;
    default: break;
    }
    PLACE(v, places, 1.0f)
    return v;
}

uint4 __tern_image_pixeli(uint code, uint at)
{
    const uint channels = TERN_IMAGE_CHANNELS(code), places = TERN_IMAGE_PLACES(code);
    uint4 v = (uint4)(0, 0, 0, 1);
    switch (TERN_IMAGE_STORE(code)) {
#define INT8(i) (uint)AT(char, i)
    case TERN_STORE_INT8: READ(INT8) break;
#define INT16(i) (uint)AT(short, i)
    case TERN_STORE_INT16: READ(INT16) break;
#define UINT8(i) AT(uchar, i)
    case TERN_STORE_UINT8: READ(UINT8) break;
#define UINT16(i) AT(ushort, i)
    case TERN_STORE_UINT16: READ(UINT16) break;
#define INT32(i) AT(uint, i)
    case TERN_STORE_INT32: case TERN_STORE_UINT32: READ(INT32) break;
    default: break;
    }
    PLACE(v, places, 1u)
    return v;
}

/** x times `scale`, rounded to nearest even and limited. NaN becomes 0. */
static int rounded(float x, float least, float most, float scale)
{
    x = least < 0 && x != x ? 0 : x;
    return (int)__builtin_rintf(limitf(x * scale, least, most));
}

#define UNORM(x, most) rounded(x, 0, most, most)

void __tern_image_storef(uint code, uint at, float4 v)
{
    const uint channels = TERN_IMAGE_CHANNELS(code);
    UNPLACE(v, TERN_IMAGE_PLACES(code))
    switch (TERN_IMAGE_STORE(code)) {
#define STORE_UNORM8(i, x) AT(uchar, i) = (uchar)UNORM(x, 255);
    case TERN_STORE_UNORM8: WRITE(STORE_UNORM8) break;
#define STORE_SNORM8(i, x) AT(char, i) = (char)rounded(x, -128, 127, 127);
    case TERN_STORE_SNORM8: WRITE(STORE_SNORM8) break;
#define STORE_UNORM16(i, x) AT(ushort, i) = (ushort)UNORM(x, 65535);
    case TERN_STORE_UNORM16: WRITE(STORE_UNORM16) break;
#define STORE_SNORM16(i, x) AT(short, i) = (short)rounded(x, -32768, 32767, 32767);
    case TERN_STORE_SNORM16: WRITE(STORE_SNORM16) break;
#define STORE_HALF(i, x) __builtin_store_halff(x, &AT(half, i));
    case TERN_STORE_HALF: WRITE(STORE_HALF) break;
#define STORE_FLOAT(i, x) AT(float, i) = x;
    case TERN_STORE_FLOAT: WRITE(STORE_FLOAT) break;
    case TERN_STORE_565:
        AT(ushort, 0) = (ushort)(UNORM(v.x, 31) << 11 | UNORM(v.y, 63) << 5 | UNORM(v.z, 31));
        break;
    case TERN_STORE_555:
        AT(ushort, 0) = (ushort)(UNORM(v.x, 31) << 10 | UNORM(v.y, 31) << 5 | UNORM(v.z, 31));
        break;
    case TERN_STORE_101010:
        AT(uint, 0) = (uint)(UNORM(v.x, 1023) << 20 | UNORM(v.y, 1023) << 10 | UNORM(v.z, 1023));
        break;
    default: break;
    }
}

static int saturated(int x, int least, int most)
{
    return __builtin_elementwise_min(__builtin_elementwise_max(x, least), most);
}

void __tern_image_storei(uint code, uint at, uint4 v)
{
    const uint channels = TERN_IMAGE_CHANNELS(code);
    UNPLACE(v, TERN_IMAGE_PLACES(code))
    switch (TERN_IMAGE_STORE(code)) {
#define STORE_INT8(i, x) AT(char, i) = (char)saturated((int)x, -128, 127);
    case TERN_STORE_INT8: WRITE(STORE_INT8) break;
#define STORE_INT16(i, x) AT(short, i) = (short)saturated((int)x, -32768, 32767);
    case TERN_STORE_INT16: WRITE(STORE_INT16) break;
#define STORE_UINT8(i, x) AT(uchar, i) = (uchar)__builtin_elementwise_min(x, 255u);
    case TERN_STORE_UINT8: WRITE(STORE_UINT8) break;
#define STORE_UINT16(i, x) AT(ushort, i) = (ushort)__builtin_elementwise_min(x, 65535u);
    case TERN_STORE_UINT16: WRITE(STORE_UINT16) break;
#define STORE_INT32(i, x) AT(uint, i) = x;
    case TERN_STORE_INT32: case TERN_STORE_UINT32: WRITE(STORE_INT32) break;
    default: break;
    }
}
