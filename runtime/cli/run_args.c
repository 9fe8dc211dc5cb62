/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The meaning of an ARG of tern run (tern-run(1)). The kernel's declaration gives the type, the text gives the value:
 *
 *   number, or numbers             a scalar, a vector, or a buffer of them
 *   zeros:N iota:N fill:VALUE:N random:N[:SEED]     a buffer of N elements
 *   @FILE  hex:DIGITS  bytes:N     raw bytes, for buffers and for values of any type
 *   local:BYTES  null              a pointer to local memory; a null pointer
 *   image:...  sampler:...         run_image.c
 */
#include "run.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS ", \t\r\n"

static int wrong(const struct run_arg *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int wrong(const struct run_arg *a, const char *format, ...)
{
    va_list ap;
    fprintf(stderr, "tern run: argument %u '%s' is %s; ", a->number, a->name, a->type_name);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

static int reserve(struct run_arg *a, size_t n, size_t element, size_t most)
{
    if (n == 0) {
        return wrong(a, "a buffer of nothing cannot be made; give at least 1, or null");
    }
    if (n > most / element) {
        wrong(a, "%zu elements of %zu bytes are more than the largest buffer here has, %zu bytes", n, element, most);
        return EXIT_FAILED;
    }
    a->size = n * element;
    a->data = calloc(n, element);
    if (!a->data) {
        fprintf(stderr, "tern run: the host has no %zu bytes for argument %u '%s'\n", a->size, a->number, a->name);
        return EXIT_FAILED;
    }
    return EXIT_OK;
}

/** Reads up to `room` numbers as components. *n: how many there are in the text. */
static int read_numbers(const struct run_arg *a, const char *text, size_t length, char *out, size_t room, size_t *n)
{
    const char *end = text + length;
    const struct type t = a->type;
    *n = 0;
    while (text < end) {
        char token[512];
        const size_t part = strcspn(text, SEPARATORS), rest = (size_t)(end - text);
        const size_t l = part < rest ? part : rest;
        if (l >= sizeof token) {
            return wrong(a, "got a number of %zu characters; at most %zu are read", l, sizeof token - 1);
        }
        if (l > 0) {
            memcpy(token, text, l);
            token[l] = '\0';
            char scratch[8];
            const size_t at = *n / t.width * type_size(t) + *n % t.width * t.bytes;
            const char *why = value_read(t, token, *n < room ? out + at : scratch);
            if (why) {
                return wrong(a, "got '%s'%s", token, why);
            }
            ++*n;
        }
        text += l;
        text += text < end;
    }
    return EXIT_OK;
}

/** Reads an element: one number for each component, or one number for all. */
static int read_element(const struct run_arg *a, const char *text, size_t length, char *out)
{
    size_t n;
    const struct type t = a->type;
    const int status = read_numbers(a, text, length, out, t.width, &n);
    if (status != EXIT_OK) {
        return status;
    }
    if (n == 0) {
        return wrong(a, "got '%.*s'", (int)length, text);
    }
    if (n != 1 && n != t.width) {
        return wrong(a, "got %zu numbers, expected %s%u", n, t.width == 1 ? "" : "1 or ", t.width);
    }
    for (size_t i = 1; n == 1 && i < t.width; i++) {
        memcpy(out + i * t.bytes, out, t.bytes);
    }
    return EXIT_OK;
}

static int fill_list(struct run_arg *a, const char *text, size_t most)
{
    size_t n = 1;
    for (const char *p = text; *p; p++) { /* an upper bound, because separators may follow each other */
        n += strchr(SEPARATORS, *p) != NULL;
    }
    int status = reserve(a, (n + a->type.width - 1) / a->type.width, type_size(a->type), most);
    if (status == EXIT_OK) {
        status = read_numbers(a, text, strlen(text), a->data, n, &n);
    }
    if (status != EXIT_OK) {
        return status;
    }
    if (n == 0) {
        return wrong(a, "got '%s'; expected numbers, zeros:N, iota:N, fill:VALUE:N, random:N, @FILE, hex:DIGITS, "
                     "bytes:N or null", text);
    }
    if (n % a->type.width) {
        return wrong(a, "got %zu numbers, expected a multiple of %u", n, a->type.width);
    }
    a->size = n / a->type.width * type_size(a->type);
    return EXIT_OK;
}

uint64_t run_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/** Sets each component to its number (iota), or to random bits. */
static void generate(struct run_arg *a, bool random, uint64_t seed)
{
    const struct type t = a->type;
    uint64_t state = seed << 16 ^ a->number;
    for (uint64_t i = 0; i < a->size / type_size(t) * t.width; i++) {
        char *at = (char *)a->data + i / t.width * type_size(t) + i % t.width * t.bytes;
        if (random) {
            value_random(t, run_random(&state), at);
        } else {
            value_from(t, i, at);
        }
    }
}

static bool starts(const char *text, const char *prefix, const char **rest)
{
    const size_t n = strlen(prefix);
    *rest = text + n;
    return strncmp(text, prefix, n) == 0;
}

/** Reads zeros:N iota:N fill:VALUE:N random:N[:SEED]. */
static int read_made(struct run_arg *a, const char *text, size_t most)
{
    char element[128] = {0};
    const char *count;
    size_t n, seed = 1;
    const bool iota = starts(text, "iota:", &count), random = !iota && starts(text, "random:", &count);
    const bool fill = !iota && !random && starts(text, "fill:", &count);
    size_t length = 0;
    if (fill) {
        const char *value = count;
        count = strrchr(value, ':');
        if (!count) {
            return wrong(a, "got '%s'; expected fill:VALUE:N", text);
        }
        const int status = read_element(a, value, (size_t)(count++ - value), element);
        if (status != EXIT_OK) {
            return status;
        }
    } else if (!iota && !random) {
        starts(text, "zeros:", &count);
    }
    length = random ? strcspn(count, ":") : strlen(count);
    if (!value_count(count, length, &n) ||
        (count[length] && !value_count(count + length + 1, strlen(count + length + 1), &seed))) {
        return wrong(a, "got '%s'; expected %s, with whole numbers", text,
                     fill ? "fill:VALUE:N" : iota ? "iota:N" : random ? "random:N or random:N:SEED" : "zeros:N");
    }
    const int status = reserve(a, n, type_size(a->type), most);
    if (status == EXIT_OK && fill) {
        for (size_t i = 0; i < n; i++) {
            memcpy((char *)a->data + i * type_size(a->type), element, type_size(a->type));
        }
    } else if (status == EXIT_OK && (iota || random)) {
        generate(a, random, seed);
    }
    return status;
}

static int read_hex(struct run_arg *a, const char *digits, size_t most)
{
    const size_t n = strlen(digits);
    if (n % 2 || n == 0 || strspn(digits, "0123456789abcdefABCDEF") != n) {
        return wrong(a, "got 'hex:%s'; expected two hexadecimal digits a byte", digits);
    }
    const int status = reserve(a, n / 2, 1, most);
    for (size_t i = 0; status == EXIT_OK && i < n / 2; i++) {
        const char pair[3] = {digits[2 * i], digits[2 * i + 1], 0};
        ((uint8_t *)a->data)[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return status;
}

/** Reads @FILE hex:DIGITS bytes:N. *taken: the text is one of these. */
static int read_raw(struct run_arg *a, const char *text, size_t most, bool *taken)
{
    const char *rest;
    size_t n;
    int status = EXIT_OK;
    *taken = true;
    if (starts(text, "@", &rest)) {
        status = file_read("run", rest, most, "the largest buffer of the device", &a->data, &a->size);
        if (status == EXIT_OK && a->size == 0) {
            status = wrong(a, "'%s' is empty", rest);
        }
    } else if (starts(text, "hex:", &rest)) {
        status = read_hex(a, rest, most);
    } else if (starts(text, "bytes:", &rest)) {
        status = value_count(rest, strlen(rest), &n) ? reserve(a, n, 1, most)
                                                   : wrong(a, "got '%s'; expected bytes:N, with a whole number", text);
    } else {
        *taken = false;
        return EXIT_OK;
    }
    const size_t element = type_size(a->type);
    if (status == EXIT_OK && element && a->size % element) {
        return wrong(a, "got %zu bytes, expected a multiple of %zu", a->size, element);
    }
    return status;
}

static int read_local(struct run_arg *a, const char *text)
{
    const char *rest;
    if (!starts(text, "local:", &rest) || !value_count(rest, strlen(rest), &a->size) || a->size == 0) {
        return wrong(a, "got '%s'; expected local:BYTES, since it points to local memory", text);
    }
    return EXIT_OK;
}

static int unknown_type(const struct run_arg *a, const char *text)
{
    int n = (int)strcspn(a->type_name, "*");
    if (a->pointer) {
        return wrong(a, "got '%s', but what '%.*s' is made of is not known here: give @FILE, hex:DIGITS or "
                        "bytes:N, or --type %.*s=TYPE", text, n, a->type_name, n, a->type_name);
    }
    return wrong(a, "got '%s', but what '%.*s' is made of is not known here: give @FILE or hex:DIGITS, or "
                 "--type %.*s=TYPE", text, n, a->type_name, n, a->type_name);
}

static int read_value(struct run_arg *a, const char *text)
{
    a->size = type_size(a->type);
    a->data = calloc(1, a->size);
    if (!a->data) {
        fprintf(stderr, "tern run: out of memory\n");
        return EXIT_FAILED;
    }
    return read_element(a, text, strlen(text), a->data);
}

int run_arg_read(struct run_arg *a, const char *text, size_t most)
{
    const char *rest;
    bool taken;
    if (a->image) {
        return run_image_read(a, text);
    }
    if (a->sampler) {
        return run_sampler_read(a, text);
    }
    if (a->pointer && a->space == CL_KERNEL_ARG_ADDRESS_LOCAL) {
        return read_local(a, text);
    }
    if (starts(text, "local:", &rest)) {
        return wrong(a, "got '%s', but it does not point to local memory", text);
    }
    if (a->pointer && strcmp(text, "null") == 0) {
        return EXIT_OK;
    }
    const int status = read_raw(a, text, most, &taken);
    if (status != EXIT_OK || taken) {
        return status;
    }
    if (a->type.kind == OPAQUE) {
        return unknown_type(a, text);
    }
    if (!a->pointer) {
        return read_value(a, text);
    }
    static const char *const makers[] = {"zeros:", "iota:", "fill:", "random:"};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        if (starts(text, makers[i], &rest)) {
            return read_made(a, text, most);
        }
    }
    return fill_list(a, text, most);
}

void run_arg_declare(const struct run_arg *a, char *out, size_t size)
{
    const char *space = !a->pointer ? "" : a->space == CL_KERNEL_ARG_ADDRESS_GLOBAL ? "global " :
                        a->space == CL_KERNEL_ARG_ADDRESS_CONSTANT ? "constant " : "local ";
    if (a->image) {
        space = a->access == CL_KERNEL_ARG_ACCESS_READ_ONLY    ? "read_only "
                : a->access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY ? "write_only "
                                                               : "read_write ";
    }
    const bool is_const = a->space == CL_KERNEL_ARG_ADDRESS_GLOBAL && (a->qualifier & CL_KERNEL_ARG_TYPE_CONST);
    const int base = (int)strlen(a->type_name) - a->pointer;
    snprintf(out, size, "%s%s%.*s%s%s", space, is_const ? "const " : "", base, a->type_name,
             a->pointer ? " *" : " ", a->name);
}

struct run_arg *run_arg_find(struct run *r, const char *option, const char *name, size_t length)
{
    size_t number;
    for (unsigned i = 0; i < r->n_args; i++) {
        const bool named = strlen(r->args[i].name) == length && strncmp(r->args[i].name, name, length) == 0;
        const bool numbered = value_count(name, length, &number) && number == r->args[i].number;
        if (named || numbered) {
            return &r->args[i];
        }
    }
    fprintf(stderr, "tern run: %s: kernel '%s' has no argument '%.*s'; it has", option, r->kernel_name,
            (int)length, name);
    for (unsigned i = 0; i < r->n_args; i++) {
        fprintf(stderr, "%s %s", i ? "," : "", r->args[i].name);
    }
    fprintf(stderr, r->n_args ? "\n" : " none\n");
    return NULL;
}
