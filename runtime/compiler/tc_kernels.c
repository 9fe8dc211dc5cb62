/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The kernels of an object, from the JSON in .tern.kernels. The object may come from anyone, so everything is checked
 * here, once. The guarantees of compiler.h about kernels and arguments are not checked again.
 */
#include "../device/image.h"
#include "tc_elf.h"
#include "tc_internal.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ALIGN 16u /* alignment of argument blocks */
#define WORD_BYTES 4u /* a pointer or a sampler */
#define MAX_SUB_BYTES 4096u /* of a work-item */
#define MAX_COARSE 256u /* keeps products with the sizes of a dispatch below 2^64 */

static int get_u32(const cJSON *object, const char *name, uint32_t *out)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsNumber(n) || !(n->valuedouble >= 0 && n->valuedouble <= (double)UINT32_MAX)) {
        return -EINVAL;
    }
    *out = (uint32_t)n->valuedouble;
    return (double)*out == n->valuedouble ? 0 : -EINVAL;
}

static int get_bool(const cJSON *object, const char *name, int *out)
{
    const cJSON *b = cJSON_GetObjectItemCaseSensitive(object, name);
    *out = cJSON_IsTrue(b);
    return cJSON_IsBool(b) ? 0 : -EINVAL;
}

static int has(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name) != NULL;
}

/** Reads `coarse`, `coarse_rows` and `tile`, which an object has only for coarse entries. */
static int get_coarse(const cJSON *object, struct tc_kernel *k)
{
    return (has(object, "coarse_rows") && get_bool(object, "coarse_rows", &k->coarse_rows)) ||
                   (has(object, "coarse") && get_u32(object, "coarse", &k->coarse)) ||
                   (has(object, "tile") && (get_u32(object, "tile", &k->tile) || k->tile == 0))
               ? -EINVAL
               : 0;
}

/** Reads `spills` and `coarse_spills`, which objects of older compilers do not have. */
static int get_spills(const cJSON *object, struct tc_kernel *k)
{
    return (has(object, "spills") && get_u32(object, "spills", &k->spills)) ||
                   (has(object, "coarse_spills") && get_u32(object, "coarse_spills", &k->coarse_spills))
               ? -EINVAL
               : 0;
}

/** Reads `groups`, `merges`, `merged` and `joined`, each of which an object has only where it is not 0. */
static int get_groups(const cJSON *object, struct tc_kernel *k)
{
    uint32_t merges = TC_MERGES_NEVER;
    const int wrong = has(object, "merges") && (get_u32(object, "merges", &merges) || merges > TC_MERGES_BY_IDS);
    k->merges = wrong ? TC_MERGES_NEVER : (enum tc_merges)merges;
    return wrong || (has(object, "groups") && get_bool(object, "groups", &k->groups)) ||
                   (has(object, "sub_bytes") && get_u32(object, "sub_bytes", &k->sub_bytes)) ||
                   (has(object, "merged") && (get_u32(object, "merged", &k->merged) || k->merged == 0)) ||
                   (has(object, "joined") && (get_u32(object, "joined", &k->joined) || k->joined < 2))
               ? -EINVAL
               : 0;
}

/** A copy of a string; *out is NULL if there is none and it is not needed. */
static int get_string(const cJSON *object, const char *name, int needed, char **out)
{
    const cJSON *s = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!s && !needed) {
        return 0;
    }
    if (!cJSON_IsString(s)) {
        return -EINVAL;
    }
    *out = strdup(s->valuestring);
    return *out ? 0 : -ENOMEM;
}

/** Checks that the argument follows the one before it, within the block, and is what its kind says. A generic pointer
 *  cannot be a kernel argument. */
static int check_arg(const struct tc_arg *arg, uint32_t from, uint32_t args_size)
{
    int good = arg->offset >= from && arg->offset <= args_size && args_size - arg->offset >= arg->size &&
               (arg->image != TC_NO_IMAGE) == (arg->kind == TC_IMAGE) &&
               (arg->access_qualifier != 0) >= (arg->kind == TC_IMAGE);
    switch (arg->kind) {
    case TC_VALUE:
        good = good && arg->space == TC_PRIVATE;
        break;
    case TC_POINTER:
        good = good && arg->space != TC_PRIVATE && arg->size == WORD_BYTES && arg->offset % WORD_BYTES == 0;
        break;
    case TC_IMAGE:
        good = good && arg->space == TC_GLOBAL && arg->size == sizeof(struct tern_image) &&
               arg->offset % TERN_IMAGE_ALIGN == 0;
        break;
    case TC_SAMPLER:
        good = good && arg->space == TC_PRIVATE && arg->size == WORD_BYTES && arg->offset % WORD_BYTES == 0;
        break;
    }
    return good ? 0 : -EINVAL;
}

/** Reads an argument. *from: end of the argument before, updated to that of this one. */
static int read_arg(const cJSON *json, uint32_t *from, uint32_t args_size, struct tc_arg *arg)
{
    uint32_t space, access, qualifiers, kind, image = TC_NO_IMAGE;
    int result = get_string(json, "name", 0, &arg->name);
    if (result == 0) {
        result = get_string(json, "type", 1, &arg->type);
    }
    if (result == 0) {
        result = get_u32(json, "space", &space);
    }
    if (result == 0) {
        result = get_u32(json, "access", &access);
    }
    if (result == 0) {
        result = get_u32(json, "qualifiers", &qualifiers);
    }
    if (result == 0) {
        result = get_u32(json, "size", &arg->size);
    }
    if (result == 0) {
        result = get_u32(json, "offset", &arg->offset);
    }
    if (result == 0) {
        result = get_u32(json, "kind", &kind);
    }
    if (result == 0 && has(json, "image")) {
        result = get_u32(json, "image", &image);
    }
    if (result) {
        return result;
    }
    if (space > TC_LOCAL || access > 3 || qualifiers > 7 || kind > TC_SAMPLER || image > TC_IMAGE_3D) {
        return -EINVAL;
    }
    arg->kind = (enum tc_arg_kind)kind;
    arg->image = (enum tc_image_type)image;
    arg->space = (enum tc_address_space)space;
    arg->access_qualifier = access;
    arg->type_qualifier = qualifiers;
    result = check_arg(arg, *from, args_size);
    *from = arg->offset + arg->size;
    return result;
}

/** Reads a required size of work-groups: three numbers, or none. */
static int read_required(const cJSON *json, uint32_t out[3])
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "required_size");
    const int n = cJSON_GetArraySize(list);
    if (!cJSON_IsArray(list) || (n != 0 && n != 3)) {
        return -EINVAL;
    }
    for (int i = 0; i < n; i++) {
        const double v = cJSON_GetArrayItem(list, i)->valuedouble;
        if (!cJSON_IsNumber(cJSON_GetArrayItem(list, i)) || !(v >= 1 && v <= (double)UINT32_MAX)) {
            return -EINVAL;
        }
        out[i] = (uint32_t)v;
    }
    return 0;
}

static int read_kernel(const cJSON *json, struct tc_kernel *k)
{
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(json, "args");
    int result = get_string(json, "name", 1, &k->name);
    if (result == 0) {
        result = get_string(json, "attributes", 1, &k->attributes);
    }
    if (result == 0) {
        result = get_u32(json, "args_size", &k->args_size);
    }
    if (result == 0) {
        result = get_u32(json, "local_static", &k->local_static);
    }
    if (result == 0) {
        result = get_u32(json, "stack", &k->stack);
    }
    if (result == 0) {
        result = get_coarse(json, k);
    }
    if (result == 0) {
        result = get_groups(json, k);
    }
    if (result == 0) {
        result = get_spills(json, k);
    }
    if (result == 0) {
        result = get_bool(json, "uniform", &k->uniform);
    }
    if (result == 0) {
        result = get_bool(json, "arg_info", &k->arg_info);
    }
    if (result == 0) {
        result = read_required(json, k->required_size);
    }
    if (result) {
        return result;
    }
    int n = cJSON_GetArraySize(args);
    if (!*k->name || strpbrk(k->name, "; \t\r\n") || k->args_size % BLOCK_ALIGN || k->args_size > TC_MAX_ARGS_SIZE ||
        k->stack > INT32_MAX || k->coarse > MAX_COARSE || k->tile > MAX_COARSE || k->merged > MAX_COARSE ||
        k->joined > MAX_COARSE || (k->joined && k->merged < 2) ||
        k->sub_bytes > MAX_SUB_BYTES || k->sub_bytes % 4 ||
        !cJSON_IsArray(args) || n > (int)TC_MAX_ARGS) {
        return -EINVAL;
    }
    k->args = calloc(n ? (size_t)n : 1, sizeof *k->args);
    if (!k->args) {
        return -ENOMEM;
    }
    k->n_args = (uint32_t)n;
    const cJSON *arg;
    uint32_t i = 0, end = 0;
    cJSON_ArrayForEach(arg, args)
    {
        result = read_arg(arg, &end, k->args_size, &k->args[i++]);
        if (result) {
            return result;
        }
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct tc_kernel *const *)a)->name, (*(struct tc_kernel *const *)b)->name);
}

/** 0; -EINVAL: two kernels have the same name. */
static int check_names(const struct tc_kernels *kernels)
{
    const struct tc_kernel **sorted = calloc(kernels->n + 1, sizeof *sorted);
    int result = sorted ? 0 : -ENOMEM;
    for (size_t i = 0; !result && i < kernels->n; i++) {
        sorted[i] = &kernels->kernels[i];
    }
    if (!result) {
        qsort(sorted, kernels->n, sizeof *sorted, by_name);
    }
    for (size_t i = 1; !result && i < kernels->n; i++) {
        result = strcmp(sorted[i - 1]->name, sorted[i]->name) ? 0 : -EINVAL;
    }
    free(sorted);
    return result;
}

int tc_kernels_parse(const char *json, size_t size, struct tc_kernels *out)
{
    struct tc_kernels made = {0};
    uint32_t version;
    cJSON *root = cJSON_ParseWithLength(json, size);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "kernels");
    int result = -EINVAL;
    if (get_u32(root, "version", &version) || version != TC_OBJECT_VERSION || !cJSON_IsArray(list)) {
        goto out;
    }
    made.n = (size_t)cJSON_GetArraySize(list);
    made.kernels = calloc(made.n ? made.n : 1, sizeof *made.kernels);
    if (!made.kernels) {
        made.n = 0;
        result = -ENOMEM;
        goto out;
    }
    const cJSON *kernel;
    size_t i = 0;
    result = 0;
    cJSON_ArrayForEach(kernel, list)
    {
        result = read_kernel(kernel, &made.kernels[i++]);
        if (result) {
            break;
        }
    }
    if (result == 0) {
        result = check_names(&made);
    }
out:
    cJSON_Delete(root);
    if (result) {
        tc_kernels_free(&made);
    } else {
        *out = made;
    }
    return result;
}

/** Bytes of variables: objects in sections that are in memory and writable. */
static uint64_t count_variables(const struct tc_elf *elf)
{
    Elf32_Shdr table, section;
    size_t n;
    uint64_t bytes = 0;
    for (size_t i = 0; !tc_elf_symbols(elf, &table, &n) && i < n; i++) {
        const Elf32_Sym s = tc_elf_symbol(elf, &table, i);
        if (ELF32_ST_TYPE(s.st_info) == STT_OBJECT && !tc_elf_section(elf, s.st_shndx, &section) &&
            (section.sh_flags & SHF_ALLOC) && (section.sh_flags & SHF_WRITE) &&
            strncmp(tc_elf_section_name(elf, &section), ".tern.", 6)) {
            bytes += s.st_size;
        }
    }
    return bytes;
}

int tc_kernels_read(const struct tc_blob *object, struct tc_kernels *out)
{
    struct tc_elf elf;
    const uint8_t *json;
    size_t size;
    const size_t whole = tc_sealed_size(object->data, object->size);
    if (!whole || tc_elf_open(&elf, object->data, whole) ||
        tc_elf_find(&elf, ".tern.kernels", &json, &size)) {
        return -EINVAL;
    }
    const int result = tc_kernels_parse((const char *)json, size, out);
    if (!result) {
        out->variables = count_variables(&elf);
    }
    return result;
}

void tc_kernels_free(struct tc_kernels *kernels)
{
    for (size_t i = 0; i < kernels->n; i++) {
        struct tc_kernel *k = &kernels->kernels[i];
        for (uint32_t a = 0; a < k->n_args; a++) {
            free(k->args[a].name);
            free(k->args[a].type);
        }
        free(k->args);
        free(k->name);
        free(k->attributes);
    }
    free(kernels->kernels);
    *kernels = (struct tc_kernels){0};
}
