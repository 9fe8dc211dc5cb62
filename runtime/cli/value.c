/* SPDX-License-Identifier: Apache-2.0 */
/** Values as text (value.h). half is the host compiler's _Float16. */
#include "value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct type type_of(const char *name)
{
    static const struct {
        const char *name;
        struct type type;
    } scalars[] = {
        {"char", {SIGNED, 1, 1}},   {"uchar", {UNSIGNED, 1, 1}},  {"short", {SIGNED, 2, 1}},
        {"ushort", {UNSIGNED, 2, 1}},
        {"int", {SIGNED, 4, 1}},    {"uint", {UNSIGNED, 4, 1}},   {"long", {SIGNED, 8, 1}},
        {"ulong", {UNSIGNED, 8, 1}},
        {"half", {FLOATING, 2, 1}}, {"float", {FLOATING, 4, 1}}, {"double", {FLOATING, 8, 1}},
    };
    static const char *const widths[] = {"", "2", "3", "4", "8", "16"};
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        const size_t n = strlen(scalars[i].name);
        for (size_t w = 0; strncmp(name, scalars[i].name, n) == 0 && w < sizeof widths / sizeof *widths; w++) {
            if (strcmp(name + n, widths[w]) == 0) {
                struct type t = scalars[i].type;
                t.width = w == 0 ? 1 : (unsigned)atoi(widths[w]);
                return t;
            }
        }
    }
    return (struct type){.kind = OPAQUE};
}

size_t type_size(struct type t)
{
    return (size_t)t.bytes * (t.width == 3 ? 4 : t.width);
}

static void put_integer(unsigned bytes, uint64_t v, void *out)
{
    memcpy(out, &v, bytes); /* host and device are both little-endian */
}

static void put_floating(unsigned bytes, double v, void *out)
{
    const float f = (float)v;
    const _Float16 h = (_Float16)v;
    memcpy(out, bytes == 8 ? (const void *)&v : bytes == 4 ? (const void *)&f : (const void *)&h, bytes);
}

static double floating(unsigned bytes, const void *in)
{
    double d;
    float f;
    _Float16 h;
    switch (bytes) {
    case 8:
        memcpy(&d, in, 8);
        return d;
    case 4:
        memcpy(&f, in, 4);
        return (double)f;
    default:
        memcpy(&h, in, 2);
        return (double)h;
    }
}

static int64_t integer(struct type t, const void *in)
{
    uint64_t v = 0;
    memcpy(&v, in, t.bytes);
    const unsigned unused = 64 - 8 * t.bytes;
    return t.kind == SIGNED ? (int64_t)(v << unused) >> unused : (int64_t)v;
}

static const char *read_floating(struct type t, const char *text, void *out)
{
    char *end;
    /* rounded once, not first to double */
    const double v = t.bytes == 4 ? (double)strtof(text, &end) : strtod(text, &end);
    if (end == text || *end) {
        return "";
    }
    put_floating(t.bytes, v, out);
    if (isfinite(v) && !isfinite(floating(t.bytes, out))) {
        return ", which is too large for it";
    }
    return isinf(v) && !strpbrk(text, "iI") ? ", which is too large for it" : NULL;
}

static const char *read_integer(struct type t, const char *text, void *out)
{
    static const char *const ranges[2][9] = {
        [SIGNED] = {[1] = ", but it holds -128 to 127", [2] = ", but it holds -32768 to 32767",
                    [4] = ", but it holds -2147483648 to 2147483647",
                    [8] = ", but it holds -9223372036854775808 to 9223372036854775807"},
        [UNSIGNED] = {[1] = ", but it holds 0 to 255", [2] = ", but it holds 0 to 65535",
                      [4] = ", but it holds 0 to 4294967295",
                      [8] = ", but it holds 0 to 18446744073709551615"},
    };
    const bool negative = *text == '-';
    const char *digits = text + (negative || *text == '+');
    char *end;
    if (!isdigit((unsigned char)*digits)) {
        return "";
    }
    /* octal is not accepted: 010 is ten */
    const bool decimal = digits[0] != '0' || (digits[1] != 'x' && digits[1] != 'X');
    errno = 0;
    const uint64_t size = strtoull(digits, &end, decimal ? 10 : 16);
    if (*end) {
        return "";
    }
    const uint64_t top = 1ull << (8 * t.bytes - 1);
    const uint64_t most = t.kind == UNSIGNED ? (negative ? 0 : top - 1 + top) : top - !negative;
    if (errno || size > most) {
        return ranges[t.kind][t.bytes];
    }
    put_integer(t.bytes, negative ? 0 - size : size, out);
    return NULL;
}

const char *value_read(struct type t, const char *text, void *component)
{
    return t.kind == FLOATING ? read_floating(t, text, component) : read_integer(t, text, component);
}

void value_print(struct type t, const void *component, char text[VALUE_TEXT])
{
    if (t.kind == FLOATING) {
        static const int enough[] = {[2] = 5, [4] = 9, [8] = 17};
        const double v = floating(t.bytes, component);
        double back[1] = {0};
        int digits = 0;
        do { /* bits are compared, so that -0 keeps its sign; a NaN never compares equal */
            snprintf(text, VALUE_TEXT, "%.*g", ++digits, v);
            put_floating(t.bytes, strtod(text, NULL), back);
        } while (digits < enough[t.bytes] && memcmp(back, component, t.bytes) != 0);
        if (fabs(v) < 1e9 && v == trunc(v)) { /* 10, not 1e+01 */
            snprintf(text, VALUE_TEXT, "%.0f", v);
        }
    } else if (t.kind == SIGNED) {
        snprintf(text, VALUE_TEXT, "%" PRId64, integer(t, component));
    } else {
        snprintf(text, VALUE_TEXT, "%" PRIu64, (uint64_t)integer(t, component));
    }
}

void value_from(struct type t, uint64_t i, void *component)
{
    if (t.kind == FLOATING) {
        put_floating(t.bytes, (double)i, component);
    } else {
        put_integer(t.bytes, i, component);
    }
}

void value_random(struct type t, uint64_t bits, void *component)
{
    static const int precision[] = {[2] = 11, [4] = 24, [8] = 53};
    if (t.kind == FLOATING) {
        const int p = precision[t.bytes];
        put_floating(t.bytes, ldexp((double)(bits >> (64 - p)), -p), component);
    } else {
        put_integer(t.bytes, bits, component);
    }
}

bool value_count(const char *text, size_t length, size_t *out)
{
    char copy[32];
    uint64_t n;
    unsigned shift = 0;
    if (length == 0 || length >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    const char *unit = strchr("KMG", copy[length - 1]);
    if (unit && *unit) {
        shift = 10u * (unsigned)(strchr("KMG", *unit) - "KMG" + 1);
        copy[length - 1] = '\0';
    }
    if (value_read(type_of("ulong"), copy, &n) || n > SIZE_MAX >> shift) {
        return false;
    }
    *out = (size_t)n << shift;
    return true;
}
