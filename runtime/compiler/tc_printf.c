/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Formats records of printf (format of records: ternc/printf.c) by OpenCL C 6.15.14. The layout of a record describes
 * its arguments; the format string is not used for that. The kernel could write the buffer, so nothing in it is
 * trusted.
 */
#include "tc_internal.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELD 4096 /* largest width and precision */

struct output {
    void (*emit)(void *user, const char *text, size_t length);
    void *user;
};

/** An argument, as the layout describes it. */
struct argument {
    char kind;           /**< i, f or p. */
    uint32_t bytes, count;
    const uint8_t *data;
};

struct cursor {
    const char *layout;
    const uint8_t *data;
    size_t left;
};

/** A conversion specification, %[flags][width][.precision][vn][length]conversion. */
struct conversion {
    char flags[8];
    int width, precision; /**< -1: not given. */
    uint32_t vector;      /**< Number of components; 0: a scalar. */
    int length;           /**< Bytes of the length modifier: 1, 2, 4 (hl), 8; 0: none. */
    char type;
};

/** The string of the image at a device address; NULL: no string within the image. */
static const char *image_string(const struct tc_image *image, uint32_t address)
{
    if (address < image->base || address - image->base >= image->size) {
        return NULL;
    }
    const uint32_t offset = address - image->base;
    if (offset >= image->filled) {
        return "";
    }
    const char *s = (const char *)image->data + offset;
    return memchr(s, 0, image->filled - offset) ? s : NULL;
}

/** Reads the next argument. 1, or 0: there is none. */
static int next_argument(struct cursor *c, struct argument *out)
{
    const char *l = c->layout;
    if (!l[0] || !l[1] || !l[2]) {
        return 0;
    }
    *out = (struct argument){.kind = l[0], .bytes = (uint32_t)(l[1] - '0'), .count = (uint32_t)(l[2] - 'a' + 1)};
    size_t size = (size_t)out->bytes * out->count;
    size_t padded = (size + 3) / 4 * 4;
    if (!strchr("ifp", l[0]) || !strchr("1248", l[1]) || out->count > 16 || padded > c->left) {
        return 0;
    }
    out->data = c->data;
    c->layout += 3;
    c->data += padded;
    c->left -= padded;
    return 1;
}

static uint64_t element_bits(const struct argument *a, uint32_t index)
{
    uint64_t bits = 0;
    memcpy(&bits, a->data + (size_t)index * a->bytes, a->bytes); /* host and device are little-endian */
    return bits;
}

static int64_t sign_extend(uint64_t bits, uint32_t bytes)
{
    unsigned shift = 64 - 8 * bytes;
    return (int64_t)(bits << shift) >> shift;
}

static double element_double(const struct argument *a, uint32_t index)
{
    uint64_t bits = element_bits(a, index);
    if (a->kind == 'f' && a->bytes == 2) {
        _Float16 h;
        memcpy(&h, &bits, sizeof h);
        return (double)h;
    }
    if (a->kind == 'f' && a->bytes == 4) {
        float f;
        memcpy(&f, &bits, sizeof f);
        return (double)f;
    }
    if (a->kind == 'f' && a->bytes == 8) {
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    return (double)sign_extend(bits, a->bytes);
}

static int parse_number(const char **p)
{
    int n = 0;
    while (isdigit((unsigned char)**p)) {
        n = n * 10 + (**p - '0');
        n = n > MAX_FIELD ? MAX_FIELD : n;
        (*p)++;
    }
    return n;
}

/** Parses the text after '%'. The text after the conversion; NULL: it is none. */
static const char *parse(const char *p, struct conversion *c)
{
    *c = (struct conversion){.width = -1, .precision = -1};
    size_t n = 0;
    for (; *p && strchr("-+ #0", *p); p++) {
        if (!strchr(c->flags, *p) && n + 1 < sizeof c->flags) {
            c->flags[n++] = *p;
        }
    }
    if (isdigit((unsigned char)*p)) {
        c->width = parse_number(&p);
    }
    if (*p == '.') {
        p++;
        c->precision = parse_number(&p);
    }
    if (*p == 'v') {
        p++;
        c->vector = (uint32_t)parse_number(&p);
        if (c->vector != 2 && c->vector != 3 && c->vector != 4 && c->vector != 8 && c->vector != 16) {
            return NULL;
        }
    }
    if (p[0] == 'h' && p[1] == 'h') {
        c->length = 1;
        p += 2;
    } else if (p[0] == 'h' && p[1] == 'l') {
        c->length = 4;
        p += 2;
    } else if (p[0] == 'h') {
        c->length = 2;
        p++;
    } else if (p[0] == 'l') {
        c->length = 8;
        p++;
    }
    if (!*p || !strchr("diouxXfFeEgGaAcsp", *p)) {
        return NULL;
    }
    c->type = *p;
    return p + 1;
}

/** A host format for one element: the same flags, width and precision, with the host's length modifier. */
static void host_format(char *out, size_t size, const struct conversion *c, const char *length)
{
    int n = snprintf(out, size, "%%%s", c->flags);
    if (c->width >= 0) {
        n += snprintf(out + n, size - (size_t)n, "%d", c->width);
    }
    if (c->precision >= 0) {
        n += snprintf(out + n, size - (size_t)n, ".%d", c->precision);
    }
    snprintf(out + n, size - (size_t)n, "%s%c", length, c->type);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* formats are from host_format */

static void emit_element(const struct output *o, const struct tc_image *image, const struct conversion *c,
                         const struct argument *a, uint32_t index)
{
    char format[64];
    char *text = NULL;
    int n = -1;
    uint64_t bits = element_bits(a, index);
    uint32_t bytes = c->length && c->length < (int)a->bytes ? (uint32_t)c->length : a->bytes;
    if (strchr("di", c->type)) {
        host_format(format, sizeof format, c, "ll");
        n = asprintf(&text, format, (long long)sign_extend(bits, bytes));
    } else if (strchr("ouxX", c->type)) {
        host_format(format, sizeof format, c, "ll");
        n = asprintf(&text, format, (unsigned long long)(bytes < 8 ? bits & ((1ull << 8 * bytes) - 1) : bits));
    } else if (c->type == 'c') {
        host_format(format, sizeof format, c, "");
        n = asprintf(&text, format, (int)(bits & 0xff));
    } else if (c->type == 's') {
        const char *s = image_string(image, (uint32_t)bits);
        host_format(format, sizeof format, c, "");
        n = asprintf(&text, format, s ? s : "(null)");
    } else if (c->type == 'p') {
        struct conversion hex = *c;
        hex.type = 'x';
        strcpy(hex.flags, strchr(c->flags, '-') ? "-#" : "#");
        host_format(format, sizeof format, &hex, "ll");
        n = asprintf(&text, format, (unsigned long long)bits);
    } else {
        host_format(format, sizeof format, c, "");
        n = asprintf(&text, format, element_double(a, index));
    }
    if (n >= 0) {
        o->emit(o->user, text, (size_t)n);
        free(text);
    }
}

#pragma GCC diagnostic pop

static void format_record(const struct output *o, const struct tc_image *image, const char *p, struct cursor *args)
{
    while (*p) {
        size_t plain = strcspn(p, "%");
        if (plain) {
            o->emit(o->user, p, plain);
            p += plain;
            continue;
        }
        struct conversion c;
        struct argument a;
        const char *behind = parse(p + 1, &c);
        if (p[1] == '%') {
            o->emit(o->user, "%", 1);
            p += 2;
        } else if (!behind) {
            o->emit(o->user, p++, 1); /* text that is no conversion is printed as it is */
        } else {
            p = behind;
            if (next_argument(args, &a)) {
                uint32_t n = c.vector ? c.vector : 1;
                for (uint32_t i = 0; i < n && i < a.count; i++) {
                    if (i) {
                        o->emit(o->user, ",", 1);
                    }
                    emit_element(o, image, &c, &a, i);
                }
            }
        }
    }
}

int tc_printf_format(const struct tc_image *image, const void *buffer, size_t size,
                     void (*emit)(void *user, const char *text, size_t length), void *user)
{
    const struct output o = {emit, user};
    const uint8_t *base = buffer;
    uint32_t used, words[3];
    if (size < sizeof used) {
        return 0;
    }
    /* glibc's built-in object, which needs no allocation */
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return -ENOMEM;
    }
    /* the locale of this thread only: the decimal point is '.' whatever the application's locale is */
    const locale_t before = uselocale(plain);
    memcpy(&used, base, sizeof used);
    size_t end = size - sizeof used < used ? size : sizeof used + used;
    for (size_t at = sizeof used; end - at >= sizeof words;) {
        memcpy(words, base + at, sizeof words);
        if (words[0] < 3 || words[0] > (end - at) / 4) {
            break;
        }
        const char *format = image_string(image, words[1]);
        const char *layout = image_string(image, words[2]);
        if (format && layout) {
            struct cursor args = {layout, base + at + sizeof words, words[0] * 4ull - sizeof words};
            format_record(&o, image, format, &args);
        }
        at += words[0] * 4ull;
    }
    uselocale(before);
    freelocale(plain);
    return 0;
}
