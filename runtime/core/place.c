/* SPDX-License-Identifier: Apache-2.0 */
/** Images in device memory (place.h). */
#include "runtime/core/place.h"

void rt_place_end(struct rt_place_parts *parts)
{
    for (size_t i = 0; i < sizeof parts->part / sizeof parts->part[0]; i++) {
        if (parts->part[i] != NULL) {
            tern_allocation_destroy(parts->part[i]);
            parts->part[i] = NULL;
        }
    }
}

int rt_place_image(const struct tc_image *image, rt_place_take *take, void *user, struct rt_place_parts *out)
{
    const uint32_t variables = image->code_size + image->constant_size;
    const struct {
        uint32_t from, to, flags;
    } parts[] = {
        {0, image->code_size, TERN_MEM_READ | TERN_MEM_EXEC},
        {image->code_size, variables, TERN_MEM_READ},
        {variables, image->size, TERN_MEM_READ | TERN_MEM_WRITE},
    };
    struct rt_place_parts taken = {0};
    int r = 0;
    for (size_t i = 0; r == 0 && i < sizeof parts / sizeof parts[0]; i++) {
        const uint32_t from = parts[i].from, to = parts[i].to;
        if (from == to) {
            continue;
        }
        r = take(user, to - from, parts[i].flags, image->base + from, &taken.part[i]);
        if (r == 0) {
            const uint32_t end = image->filled < to ? image->filled : to; /* the rest of the part is zero */
            r = tern_allocation_write(taken.part[i], 0, image->data + from, end > from ? end - from : 0);
        }
    }
    if (r != 0) {
        rt_place_end(&taken);
    } else {
        *out = taken;
    }
    return r;
}
