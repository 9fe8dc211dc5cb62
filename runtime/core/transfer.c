/* SPDX-License-Identifier: Apache-2.0 */
/** Host commands (transfer.h). */
#include "runtime/core/transfer.h"

#include <string.h>

struct transfer {
    struct rt_command base;
    cl_mem mem;
    bool to_host;
    size_t region[3];
    struct rt_side buffer;
    struct rt_side host_side;
    char *host;
};

struct mapping {
    struct rt_command base;
    cl_mem mem;
    struct rt_map *map;
};

static cl_int transfer_run(struct rt_command *c)
{
    const struct transfer *t = (const struct transfer *)c;
    return rt_mem_move(t->mem, t->to_host, t->region, &t->buffer, t->host, &t->host_side);
}

static const struct rt_command_ops transfer_ops = {.run = transfer_run};

cl_int rt_transfer_create(cl_command_queue queue, cl_command_type type, cl_mem mem, bool to_host,
                          const size_t region[3], const struct rt_side *buffer, const struct rt_side *host_side,
                          void *host, cl_uint n_waits, const cl_event *waits, struct rt_command **out)
{
    struct transfer *t;
    cl_int error = rt_command_create(sizeof(struct transfer), &transfer_ops, queue, type, n_waits, waits, &t);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = rt_command_use(&t->base, mem);
    if (error != CL_SUCCESS) {
        rt_command_free(&t->base);
        return error;
    }
    t->mem = mem;
    t->to_host = to_host;
    memcpy(t->region, region, sizeof t->region);
    t->buffer = *buffer;
    t->host_side = *host_side;
    t->host = host;
    *out = &t->base;
    return CL_SUCCESS;
}

static cl_int map_run(struct rt_command *c)
{
    const struct mapping *m = (struct mapping *)c;
    return rt_map_load(m->mem, m->map);
}

static cl_int unmap_run(struct rt_command *c)
{
    const struct mapping *m = (struct mapping *)c;
    return rt_map_store(m->mem, m->map);
}

static void map_clear(struct rt_command *c)
{
    struct mapping *m = (struct mapping *)c;
    if (m->map != NULL) {
        rt_map_drop(m->map);
    }
}

static const struct rt_command_ops map_ops = {.run = map_run, .clear = map_clear};
static const struct rt_command_ops unmap_ops = {.run = unmap_run, .clear = map_clear};

cl_int rt_map_command_create(cl_command_queue queue, cl_mem mem, struct rt_map *map, bool unmap, cl_uint n_waits,
                             const cl_event *waits, struct rt_command **out)
{
    const cl_command_type map_type = mem->svm             ? CL_COMMAND_SVM_MAP
                                     : mem->image != NULL ? CL_COMMAND_MAP_IMAGE
                                                          : CL_COMMAND_MAP_BUFFER;
    const cl_command_type type = !unmap ? map_type : mem->svm ? CL_COMMAND_SVM_UNMAP : CL_COMMAND_UNMAP_MEM_OBJECT;
    struct mapping *m;
    cl_int error = rt_command_create(sizeof(struct mapping), unmap ? &unmap_ops : &map_ops, queue, type, n_waits, waits,
                                     &m);
    if (error != CL_SUCCESS) {
        return error;
    }
    error = rt_command_use(&m->base, mem);
    if (error != CL_SUCCESS) {
        rt_command_free(&m->base);
        return error;
    }
    if (!unmap) {
        rt_map_hold(map);
    }
    m->mem = mem;
    m->map = map;
    *out = &m->base;
    return CL_SUCCESS;
}

static cl_int order_run(struct rt_command *c)
{
    (void)c;
    return CL_SUCCESS;
}

static const struct rt_command_ops order_ops = {.run = order_run};

cl_int rt_marker_create(cl_command_queue queue, cl_command_type type, bool all, bool fence, cl_uint n_waits,
                        const cl_event *waits, struct rt_command **out)
{
    struct rt_command *c;
    const cl_int error = rt_command_create(sizeof(struct rt_command), &order_ops, queue, type, n_waits, waits, &c);
    if (error == CL_SUCCESS) {
        c->after_all = all;
        c->fence = fence;
        *out = c;
    }
    return error;
}
