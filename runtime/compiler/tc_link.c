/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tc_link: gives the modules to tern-cc1, each preceded by its length and flags. tc_kind: the kind of a byte string.
 */
#include "tc_elf.h"
#include "tc_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum tc_kind tc_kind(const void *data, size_t size)
{
    struct tc_module_header header;
    struct tc_elf elf;
    const uint8_t *section;
    size_t length;
    size = tc_sealed_size(data, size);
    if (size >= sizeof header) {
        memcpy(&header, data, sizeof header);
        int fits = header.version == TC_MODULE_VERSION && header.size == size - sizeof header;
        if (!memcmp(header.magic, "TERN.MOD", 8)) {
            return fits ? TC_MODULE : TC_UNKNOWN;
        }
        if (!memcmp(header.magic, "TERN.LIB", 8)) {
            return fits ? TC_LIBRARY : TC_UNKNOWN;
        }
    }
    if (size && !tc_elf_open(&elf, data, size) && elf.header.e_type == ET_REL &&
        !tc_elf_find(&elf, ".tern.kernels", &section, &length)) {
        struct tc_kernels kernels;
        if (!tc_kernels_parse((const char *)section, length, &kernels)) {
            tc_kernels_free(&kernels);
            return TC_OBJECT;
        }
    }
    return TC_UNKNOWN;
}

/** The header of a module or library. */
static struct tc_module_header header_of(const struct tc_blob *blob)
{
    struct tc_module_header header;
    memcpy(&header, blob->data, sizeof header);
    return header;
}

static int frame_inputs(const struct tc_blob *inputs, size_t n, struct tc_blob *out, struct tc_text *log)
{
    const size_t head = sizeof(struct tc_module_header);
    size_t total = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        enum tc_kind kind = tc_kind(inputs[i].data, inputs[i].size);
        if ((kind != TC_MODULE && kind != TC_LIBRARY) || inputs[i].size > UINT32_MAX) {
            tc_text_print(log, "error: input %zu is neither a compiled program nor a library\n", i);
            return -EINVAL;
        }
        total += 2 * sizeof(uint32_t) + (size_t)header_of(&inputs[i]).size;
    }
    if (n == 0) {
        tc_text_print(log, "error: nothing to link\n");
        return -EINVAL;
    }
    char *data = malloc(total);
    if (!data) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        const struct tc_module_header header = header_of(&inputs[i]);
        const uint32_t front[2] = {(uint32_t)header.size, header.flags};
        memcpy(data + at, front, sizeof front);
        memcpy(data + at + sizeof front, (const char *)inputs[i].data + head, front[0]);
        at += sizeof front + front[0];
    }
    *out = (struct tc_blob){data, total};
    return 0;
}

/** Runs tern-cc1; *out is its standard output. */
static int run(const char *const *argv, const struct tc_blob *input, struct tc_blob *out, struct tc_text *log)
{
    struct tc_child child = {.argv = argv, .inputs = input, .n_inputs = 1};
    struct tc_blob made = {0};
    int code = 0;
    int result = tc_child_run(&child, &code, &made, log);
    if (!result && code == 1) {
        result = -EBADMSG;
    } else if (!result && code != 0) {
        tc_text_print(log, "error: the code generator failed (exit code %d)\n", code);
        result = -EIO;
    }
    if (result) {
        free(made.data);
    } else {
        *out = made;
    }
    return result;
}

static int prepend_header(struct tc_blob *library)
{
    /* the library's bitcode has what its modules said of their arguments */
    struct tc_module_header header = {.version = TC_MODULE_VERSION, .flags = TC_MODULE_ARG_INFO, .size = library->size};
    memcpy(header.magic, "TERN.LIB", sizeof header.magic);
    char *data = realloc(library->data, sizeof header + library->size);
    if (!data) {
        return -ENOMEM;
    }
    memmove(data + sizeof header, data, library->size);
    memcpy(data, &header, sizeof header);
    *library = (struct tc_blob){data, sizeof header + library->size};
    return 0;
}

int tc_cc1_cached(const struct tc_key *key, const char *const *argv, const struct tc_blob *input, int to_library,
                  struct tc_blob *out, struct tc_text *log)
{
    int result = tc_cache_get(key, out, log);
    if (result == 0) {
        return 0;
    }
    result = run(argv, input, out, log);
    const int whole = result || !to_library || tc_bitcode_whole(out->data, out->size);
    if (!result && to_library) {
        result = prepend_header(out);
    }
    if (result == 0) {
        result = tc_seal(out);
    }
    if (!result && (!whole || tc_kind(out->data, out->size) != (to_library ? TC_LIBRARY : TC_OBJECT))) {
        tc_text_print(log, "error: the code generator's output is not complete\n");
        result = -EIO;
    }
    if (!result) {
        tc_cache_put(key, out, log);
    }
    return result;
}

static int link_modules(const struct tc_blob *inputs, size_t n, const struct tc_options *options, int to_library,
                        struct tc_blob *out, struct tc_text *log)
{
    char directory[4096], tool[4200];
    struct tc_blob framed = {0};
    struct tc_key key = {0};
    int result = tc_lib_dir(directory, sizeof directory, log);
    if (result) {
        return result;
    }
    result = frame_inputs(inputs, n, &framed, log);
    if (result) {
        return result;
    }
    snprintf(tool, sizeof tool, "%s/tern-cc1", directory);
    /* a kernel that is less optimized is not coarsened either */
    const char *const how = !options->optimize ? "-O1" : !options->coarsen ? "-plain" : NULL;
    const char *argv[7] = {tool, to_library ? "library" : "object"};
    const char *const more[] = {directory, how, options->explain ? "-explain" : NULL,
                                options->explain && options->lines ? "-lines" : NULL};
    for (size_t i = 0, at = 2; !to_library && i < sizeof more / sizeof *more; i++) {
        argv[at] = more[i];
        at += more[i] != NULL;
    }
    tc_key_init(&key, "link", directory);
    tc_key_add(&key, argv[1], strlen(argv[1]));
    tc_key_add(&key, &options->optimize, sizeof options->optimize);
    tc_key_add(&key, &options->coarsen, sizeof options->coarsen);
    if (options->explain) {
        tc_key_add(&key, &options->lines, sizeof options->lines);
    }
    tc_key_add(&key, framed.data, framed.size);
    result = tc_cc1_cached(&key, argv, &framed, to_library, out, log);
    free(framed.data);
    return result;
}

int tc_link(const struct tc_blob *inputs, size_t n_inputs, const char *options, int to_library, struct tc_blob *out,
            char **log)
{
    struct tc_text text = {0};
    struct tc_options parsed = {0};
    struct tc_blob made = {0};
    int result = tc_options_parse(options, &parsed, &text);
    if (!result) {
        result = link_modules(inputs, n_inputs, &parsed, to_library, &made, &text);
    }
    tc_options_free(&parsed);
    result = tc_finish(result, &text, log);
    if (result) {
        free(made.data);
    } else {
        *out = made;
    }
    return result;
}
