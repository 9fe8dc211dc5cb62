/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Programs in SPIR-V. llvm-spirv-15, Khronos's translator in Debian's version, makes bitcode of a module for the target
 * spir64, which tern-cc1 changes into what the front end makes (ternc/spir.c). If the translator does not read the
 * module, spirv-val says what is wrong with it. Both tools run as child processes with the limits of the front end,
 * because the module may be anything.
 *
 * Alternatives dropped: the translator's library in this process, because a damaged module reaches its assertions; and
 * spirv-val for all modules, because it refuses some that LLVM makes (an OpLoopMerge that is not last but one).
 */
#include "tc_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRANSLATOR "llvm-spirv-15"
#define VALIDATOR "spirv-val"
#define STDIN "/proc/self/fd/0"

/* The words of a module (SPIR-V 1.2, section 2.3): a header, then instructions. */
#define MAGIC 0x07230203u
#define HEADER_WORDS 5u
#define ONE_ZERO 0x00010000u
#define ONE_TWO 0x00010200u

/** Operation codes (section 3.32) and what they are looked for. */
enum { OP_MEMORY_MODEL = 14, OP_TYPE_INT = 21, OP_TYPE_FLOAT = 22, OP_SPEC_TRUE = 48, OP_SPEC_FALSE = 49, OP_SPEC = 50,
       OP_DECORATE = 71 };
#define DECORATION_SPEC_ID 1u
#define PHYSICAL_64 2u

int tc_il_present(void)
{
    char path[4200];
    struct tc_text log = {0};
    const int present = !tc_find_tool(TRANSLATOR, path, sizeof path, &log);
    free(log.data);
    return present;
}

static uint32_t word(const void *il, size_t i)
{
    uint32_t w;
    memcpy(&w, (const char *)il + 4 * i, sizeof w);
    return w;
}

/** The first instruction from word `at` on with this code and at least `least` words; 0: there is none. The lengths of
 *  instructions are not trusted. */
static size_t find(const void *il, size_t n, size_t at, uint32_t code, uint32_t least)
{
    while (at < n) {
        const uint32_t first = word(il, at), length = first >> 16;
        if (length == 0 || length > n - at) {
            return 0;
        }
        if ((first & 0xffffu) == code && length >= least) {
            return at;
        }
        at += length;
    }
    return 0;
}

/** The instruction with this code and at least `least` words whose result, in word `result`, is `id`; 0: there is none.
 */
static size_t of_result(const void *il, size_t n, uint32_t code, uint32_t least, size_t result, uint32_t id)
{
    for (size_t i = HEADER_WORDS; (i = find(il, n, i, code, least)) != 0; i += word(il, i) >> 16) {
        if (word(il, i + result) == id) {
            return i;
        }
    }
    return 0;
}

/** The instruction of a specialization constant that is a bool; 0: there is none. */
static size_t bool_at(const void *il, size_t n, uint32_t id)
{
    const size_t at = of_result(il, n, OP_SPEC_TRUE, 3, 2, id);
    return at ? at : of_result(il, n, OP_SPEC_FALSE, 3, 2, id);
}

/** Bytes of the specialization constant `id`; 0: it is none, or a composite. */
static uint32_t size_of(const void *il, size_t n, uint32_t id)
{
    const size_t at = of_result(il, n, OP_SPEC, 4, 2, id);
    if (!at) {
        return bool_at(il, n, id) ? 1 : 0;
    }
    const uint32_t type = word(il, at + 1);
    const size_t whole = of_result(il, n, OP_TYPE_INT, 4, 1, type);
    const size_t type_at = whole ? whole : of_result(il, n, OP_TYPE_FLOAT, 3, 1, type);
    const uint32_t size = type_at ? word(il, type_at + 2) / 8 : 0;
    return size <= 4 * ((word(il, at) >> 16) - 3) && size <= 8 ? size : 0;
}

/** Gives the constants of the module `il`, which is changed, their values. A value of another size than the constant's
 *  is not written. */
static void set_constants(void *il, size_t n, const struct tc_constant *constants, size_t n_constants)
{
    for (size_t i = HEADER_WORDS; (i = find(il, n, i, OP_DECORATE, 4)) != 0; i += word(il, i) >> 16) {
        const uint32_t id = word(il, i + 1);
        for (size_t c = 0; c < n_constants; c++) {
            if (word(il, i + 2) != DECORATION_SPEC_ID || word(il, i + 3) != constants[c].id || !constants[c].given ||
                size_of(il, n, id) != constants[c].size) {
                continue;
            }
            const size_t at = of_result(il, n, OP_SPEC, 4, 2, id), yes_or_no = at ? 0 : bool_at(il, n, id);
            const uint32_t code = constants[c].value ? OP_SPEC_TRUE : OP_SPEC_FALSE, first = 3u << 16 | code;
            if (at) { /* the value begins in word 3, and is extended to whole words */
                memcpy((char *)il + 4 * (at + 3), &constants[c].value, constants[c].size <= 4 ? 4 : 8);
            } else if (yes_or_no) {
                memcpy((char *)il + 4 * yes_or_no, &first, sizeof first);
            }
        }
    }
}

static int read_constants(const void *il, size_t n, struct tc_constant **out, size_t *n_out)
{
    size_t found = 0;
    for (size_t i = HEADER_WORDS; (i = find(il, n, i, OP_DECORATE, 4)) != 0; i += word(il, i) >> 16) {
        found += word(il, i + 2) == DECORATION_SPEC_ID;
    }
    struct tc_constant *all = calloc(found + 1, sizeof *all);
    if (!all) {
        return -ENOMEM;
    }
    found = 0;
    for (size_t i = HEADER_WORDS; (i = find(il, n, i, OP_DECORATE, 4)) != 0; i += word(il, i) >> 16) {
        const uint32_t size = word(il, i + 2) == DECORATION_SPEC_ID ? size_of(il, n, word(il, i + 1)) : 0;
        if (size) {
            all[found++] = (struct tc_constant){.id = word(il, i + 3), .size = size};
        }
    }
    *out = all;
    *n_out = found;
    return 0;
}

/** Checks what the tools' messages would not tell: the version and the addressing model. */
static int check_header(const void *il, size_t size, struct tc_text *log)
{
    const size_t n = size / 4;
    if (size % 4 || n < HEADER_WORDS || word(il, 0) != MAGIC) {
        tc_text_print(log, "error: this is no SPIR-V: %s\n",
                      size % 4 || n < HEADER_WORDS ? "it is not a number of words of 32 bits, of which the header has 5"
                      : word(il, 0) == __builtin_bswap32(MAGIC)
                          ? "the bytes of its words are in the order of another machine"
                          : "its first word is not 0x07230203");
        return -EBADMSG;
    }
    const uint32_t version = word(il, 1);
    if (version < ONE_ZERO || version > ONE_TWO) {
        tc_text_print(log, "error: the module is in SPIR-V %u.%u, and this device takes 1.0 to 1.2 (with llvm-spirv: "
                      "--spirv-max-version=1.2)\n", version >> 16 & 255, version >> 8 & 255);
        return -EBADMSG;
    }
    const size_t model = find(il, n, HEADER_WORDS, OP_MEMORY_MODEL, 3);
    if (model && word(il, model + 1) != PHYSICAL_64) {
        tc_text_print(log, "error: the module's addressing model is %s, and this device has pointers of 64 bits: "
                      "Physical64 (with clang: --target=spir64)\n", word(il, model + 1) ? "Physical32" : "Logical");
        return -EBADMSG;
    }
    return 0;
}

/** Runs a tool on the module. Adds the tool's messages to log, without the back trace of a crash. */
static int run(const char *const *argv, const void *il, size_t size, struct tc_blob *output, struct tc_text *log)
{
    char directory[4096], guard[4200];
    const struct tc_blob input = {(void *)(uintptr_t)il, size};
    struct tc_text raw = {0};
    int code = 0;
    int result = tc_lib_dir(directory, sizeof directory, log);
    if (result) {
        return result;
    }
    snprintf(guard, sizeof guard, "%s/tern-guard.so", directory);
    const struct tc_child child = {.argv = argv, .inputs = &input, .n_inputs = 1, .guard = guard};
    result = tc_child_run(&child, &code, output, &raw);
    const char *trace = raw.data ? strstr(raw.data, "PLEASE submit") : NULL;
    const char *end = trace ? strstr(trace, "error: ") : NULL; /* why it ended, which tc_child_run has added */
    if (trace) {
        tc_text_add(log, raw.data, (size_t)(trace - raw.data));
        tc_text_add(log, end ? end : "", end ? strlen(end) : 0);
    } else if (raw.data) {
        tc_text_add(log, raw.data, raw.size);
    }
    free(raw.data);
    return result ? result : code ? -EBADMSG : 0;
}

/** Adds to log what spirv-val finds wrong, if it is installed. True: it finds something. */
static int validate(const void *il, size_t size, struct tc_text *log)
{
    static const char *const argv[] = {VALIDATOR, "--target-env", "spv1.2", STDIN, NULL};
    struct tc_blob output = {0};
    struct tc_text text = {0};
    const int wrong = run(argv, il, size, &output, &text) == -EBADMSG && text.data;
    if (wrong) {
        tc_text_add(log, text.data, text.size);
    }
    free(output.data);
    free(text.data);
    return wrong;
}

/** The bitcode of a module for the target spir64. With the version 2.0 of OpenCL C, functions keep the order and the
 *  scope of SPIR-V's atomic operations. */
static int translate(const void *il, size_t size, struct tc_blob *bitcode, struct tc_text *log)
{
    static const char *const argv[] = {TRANSLATOR, "-r", "--spirv-target-env=CL2.0", "--spirv-gen-kernel-arg-name-md",
                                       "-o", "-", STDIN, NULL};
    char directory[4096];
    struct tc_key key = {0};
    struct tc_text text = {0};
    struct tc_blob made = {0};
    int result = tc_lib_dir(directory, sizeof directory, log);
    if (result) {
        return result;
    }
    tc_key_init(&key, "il", directory);
    tc_key_add_tool(&key, TRANSLATOR);
    tc_key_add(&key, il, size);
    if (!tc_cache_get(&key, bitcode, &text)) {
        tc_text_add(log, text.data ? text.data : "", text.size);
        free(text.data);
        return 0;
    }
    result = run(argv, il, size, &made, &text);
    if (!result && !tc_bitcode_whole(made.data, made.size)) {
        tc_text_print(&text, "error: the output of " TRANSLATOR " is not complete\n");
        result = -EIO;
    }
    if (!result) {
        tc_cache_put(&key, &made, &text);
        *bitcode = made;
    } else {
        free(made.data);
    }
    if ((result == -EBADMSG || result == -EIO) && validate(il, size, log)) {
        result = -EBADMSG;
    } else if (text.data) {
        tc_text_add(log, text.data, text.size);
    }
    free(text.data);
    return result;
}

int tc_il_read(const void *il, size_t size, struct tc_constant **constants, size_t *n_constants, char **log)
{
    struct tc_text text = {0};
    struct tc_constant *found = NULL;
    struct tc_blob bitcode = {0};
    size_t n = 0;
    int result = check_header(il, size, &text);
    if (!result) {
        result = translate(il, size, &bitcode, &text);
    }
    if (!result) {
        result = read_constants(il, size / 4, &found, &n);
    }
    free(bitcode.data);
    result = tc_finish(result, &text, log);
    if (result) {
        free(found);
    } else {
        *constants = found;
        *n_constants = n;
    }
    return result;
}

int tc_il_compile(const void *il, size_t size, const struct tc_constant *constants, size_t n_constants,
                  const char *options, struct tc_blob *module, char **log)
{
    struct tc_text text = {0};
    struct tc_options parsed = {0};
    struct tc_blob bitcode = {0}, made = {0};
    char *copy = malloc(size);
    int result = copy ? tc_options_parse(options, &parsed, &text) : -ENOMEM;
    if (!result) {
        memcpy(copy, il, size);
        set_constants(copy, size / 4, constants, n_constants);
        result = translate(copy, size, &bitcode, &text);
    }
    if (!result) {
        result = tc_module_make(&bitcode, parsed.arg_info ? TC_MODULE_ARG_INFO : 0, &made);
    }
    free(bitcode.data);
    free(copy);
    tc_options_free(&parsed);
    result = tc_finish(result, &text, log);
    if (result) {
        free(made.data);
    } else {
        *module = made;
    }
    return result;
}
