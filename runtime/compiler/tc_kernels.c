/* SPDX-License-Identifier: Apache-2.0 */
/** The kernels of an object, from the JSON in .tern.kernels. It may come from anyone, so everything is checked. */
#include "tc_elf.h"
#include "tc_internal.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGS 4096

static int get_u32(const cJSON *object, const char *name, uint32_t *out)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsNumber(n) || n->valuedouble < 0 || n->valuedouble > (double)UINT32_MAX) {
        return -EINVAL;
    }
    *out = (uint32_t)n->valuedouble;
    return 0;
}

/** A copy of a string; *out is NULL if there is none and that is allowed. */
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

static int read_arg(const cJSON *json, uint32_t args_size, struct tc_arg *arg)
{
    uint32_t space, access, qualifiers;
    int result = get_string(json, "name", 0, &arg->name);
    result = result ? result : get_string(json, "type", 1, &arg->type);
    result = result ? result : get_u32(json, "space", &space);
    result = result ? result : get_u32(json, "access", &access);
    result = result ? result : get_u32(json, "qualifiers", &qualifiers);
    result = result ? result : get_u32(json, "size", &arg->size);
    result = result ? result : get_u32(json, "offset", &arg->offset);
    if (result) {
        return result;
    }
    /* generic is not a kernel argument's */
    if (space > TC_LOCAL || access > 3 || qualifiers > 7 || arg->offset > args_size ||
        args_size - arg->offset < arg->size) {
        return -EINVAL;
    }
    arg->space = (enum tc_address_space)space;
    arg->access_qualifier = access;
    arg->type_qualifier = qualifiers;
    arg->is_pointer = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "pointer"));
    return 0;
}

static int read_kernel(const cJSON *json, struct tc_kernel *k)
{
    const cJSON *args = cJSON_GetObjectItemCaseSensitive(json, "args");
    const cJSON *required = cJSON_GetObjectItemCaseSensitive(json, "required_size");
    int result = get_string(json, "name", 1, &k->name);
    result = result ? result : get_string(json, "attributes", 1, &k->attributes);
    result = result ? result : get_u32(json, "args_size", &k->args_size);
    result = result ? result : get_u32(json, "local_static", &k->local_static);
    result = result ? result : get_u32(json, "stack", &k->stack);
    if (result) {
        return result;
    }
    k->uniform = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "uniform"));
    int n = cJSON_GetArraySize(args);
    if (!cJSON_IsArray(args) || n > MAX_ARGS || !cJSON_IsArray(required) ||
        (cJSON_GetArraySize(required) != 0 && cJSON_GetArraySize(required) != 3)) {
        return -EINVAL;
    }
    for (int i = 0; i < cJSON_GetArraySize(required); i++) {
        const cJSON *v = cJSON_GetArrayItem(required, i);
        if (!cJSON_IsNumber(v) || v->valuedouble < 0 || v->valuedouble > (double)UINT32_MAX) {
            return -EINVAL;
        }
        k->required_size[i] = (uint32_t)v->valuedouble;
    }
    k->args = calloc(n ? (size_t)n : 1, sizeof *k->args);
    if (!k->args) {
        return -ENOMEM;
    }
    k->n_args = (uint32_t)n;
    const cJSON *arg;
    uint32_t i = 0;
    cJSON_ArrayForEach(arg, args)
    {
        result = read_arg(arg, k->args_size, &k->args[i++]);
        if (result) {
            return result;
        }
    }
    return 0;
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
out:
    cJSON_Delete(root);
    if (result) {
        tc_kernels_free(&made);
    } else {
        *out = made;
    }
    return result;
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
    return tc_kernels_parse((const char *)json, size, out);
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
