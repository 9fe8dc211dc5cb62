/* SPDX-License-Identifier: Apache-2.0 */
/** tc_specialise: gives the modules that an object carries to tern-cc1 again, with a local size (ternc/special.c). */
#include "tc_elf.h"
#include "tc_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Finds the modules of an object, framed as tern-cc1 reads them. -EINVAL: it carries none. */
static int find_modules(const struct tc_blob *object, struct tc_blob *modules)
{
    const size_t size = tc_sealed_size(object->data, object->size);
    struct tc_elf elf;
    const uint8_t *data;
    size_t length;
    if (!size || tc_elf_open(&elf, object->data, size) || tc_elf_find(&elf, ".tern.module", &data, &length)) {
        return -EINVAL;
    }
    modules->data = malloc(length ? length : 1);
    if (!modules->data) {
        return -ENOMEM;
    }
    memcpy(modules->data, data, length);
    modules->size = length;
    return 0;
}

static int specialise(const struct tc_blob *modules, const struct tc_special *s, struct tc_blob *out,
                      struct tc_text *log)
{
    char directory[4096], tool[4200], local[64], n[16], axis[16], joined[16], apart[16], lanes[16];
    struct tc_key key = {0};
    int result = tc_lib_dir(directory, sizeof directory, log);
    if (result) {
        return result;
    }
    snprintf(tool, sizeof tool, "%s/tern-cc1", directory);
    snprintf(local, sizeof local, "%u,%u,%u", s->local[0], s->local[1], s->local[2]);
    snprintf(n, sizeof n, "%u", s->n);
    snprintf(axis, sizeof axis, "%u", s->axis);
    snprintf(joined, sizeof joined, "%u", s->joined);
    snprintf(apart, sizeof apart, "%u", s->joined > 1 ? s->apart : 0);
    snprintf(lanes, sizeof lanes, "%u", s->lanes);
    const char *const argv[] = {tool, "object", directory, "-special", s->kernel, local, n, axis, joined,
                                apart, lanes, s->must ? "-must" : NULL, NULL};
    tc_key_init(&key, "special", directory);
    for (int i = 4; argv[i]; i++) {
        tc_key_add(&key, argv[i], strlen(argv[i]));
    }
    tc_key_add(&key, modules->data, modules->size);
    return tc_cc1_cached(&key, argv, modules, 0, out, log);
}

int tc_specialise(const struct tc_blob *object, const struct tc_special *s, struct tc_blob *out, char **log)
{
    struct tc_text text = {0};
    struct tc_blob modules = {0}, made = {0};
    int result = find_modules(object, &modules);
    if (result == -EINVAL) {
        tc_text_print(&text, "error: the program does not carry its modules\n");
    }
    if (result == 0) {
        result = specialise(&modules, s, &made, &text);
    }
    free(modules.data);
    result = tc_finish(result, &text, log);
    if (result) {
        free(made.data);
    } else {
        *out = made;
    }
    return result;
}
