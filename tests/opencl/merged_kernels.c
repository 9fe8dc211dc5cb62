/* SPDX-License-Identifier: Apache-2.0 */
/** The kernels of merged_kernels.inc: as C for the host, and as text for the device (merged_kernels.h). */
#include "merged_kernels.h"

#include "clt.h"

#include <stdbool.h>
#include <ucontext.h>

enum { STACK = 16384 }; /* bytes of a work-item's stack */

/* ---------------------------------------------------------------- the kernels on the host */

static struct {
    struct merged_range range;
    uint32_t group[3], local[3]; /* ids of the group, and of the work-item that runs */
    ucontext_t main, items[MERGED_GROUP];
    bool ended[MERGED_GROUP];
    unsigned at; /* number of the work-item that runs */
    void (*kernel)(const uint32_t *in, uint32_t *out, uint32_t *part, uint32_t n, uint32_t m);
    const uint32_t *in;
    uint32_t *out;
    uint32_t part[2 * MERGED_GROUP];
} host;

typedef unsigned uint;
typedef unsigned long ulong;
#define CLK_LOCAL_MEM_FENCE 0

#define BY_DIMENSION(name, value, beyond)          \
    static uint name(uint d)                       \
    {                                              \
        return d < 3 ? (uint)(value) : (beyond);   \
    }
BY_DIMENSION(get_local_id, host.local[d], 0)
BY_DIMENSION(get_local_size, host.range.local[d], 1)
BY_DIMENSION(get_enqueued_local_size, host.range.local[d], 1)
BY_DIMENSION(get_group_id, host.group[d], 0)
BY_DIMENSION(get_num_groups, host.range.global[d] / host.range.local[d], 1)
BY_DIMENSION(get_global_size, host.range.global[d], 1)
BY_DIMENSION(get_global_offset, host.range.offset[d], 0)
BY_DIMENSION(get_global_id, host.range.offset[d] + host.group[d] * host.range.local[d] + host.local[d], 0)

static uint get_work_dim(void)
{
    return host.range.dims;
}

static uint get_local_linear_id(void)
{
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}

static uint get_global_linear_id(void)
{
    const uint x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    return ((get_global_id(2) - get_global_offset(2)) * get_global_size(1) + y) * get_global_size(0) + x;
}

static uint max(uint a, uint b)
{
    return a > b ? a : b;
}

static uint atomic_add(uint *p, uint v)
{
    const uint old = *p;
    *p += v;
    return old;
}

static uint atomic_max(uint *p, uint v)
{
    const uint old = *p;
    *p = max(old, v);
    return old;
}

static void barrier(int flags)
{
    (void)flags;
    swapcontext(&host.items[host.at], &host.main);
}

#define AT get_global_linear_id()
#define L get_local_linear_id()
#define S (get_local_size(0) * get_local_size(1) * get_local_size(2))
#define local
#define SHARED static
#define STEP s = s * 3 + (s >> 5); s ^= s << 7;
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP
#define LONG STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS
#define FUNCTION(type, name, parameters, ...) static type name parameters __VA_ARGS__
#define KERNEL(name, ...)                                                                    \
    static void host_##name(const uint *in, uint *out, uint *part, uint n, uint m)           \
    {                                                                                        \
        (void)in, (void)out, (void)part, (void)n, (void)m;                                   \
        __VA_ARGS__                                                                          \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#include "merged_kernels.inc"
#pragma GCC diagnostic pop
#undef AT
#undef L
#undef S
#undef local
#undef SHARED
#undef STEP
#undef STEPS
#undef LONG
#undef FUNCTION
#undef KERNEL

static void run_item(void)
{
    host.kernel(host.in, host.out, host.part, host.range.n, host.range.m);
    host.ended[host.at] = true;
}

/** Lets work-item `at` of the group run to its next barrier, or to its end. */
static void step(unsigned at)
{
    const size_t *local = host.range.local;
    host.at = at;
    host.local[0] = (uint32_t)(at % local[0]);
    host.local[1] = (uint32_t)(at / local[0] % local[1]);
    host.local[2] = (uint32_t)(at / local[0] / local[1]);
    swapcontext(&host.main, &host.items[at]);
}

static void run_group(unsigned items)
{
    static char stacks[MERGED_GROUP][STACK];
    for (unsigned i = 0; i < items; i++) {
        assert_int_equal(getcontext(&host.items[i]), 0);
        host.items[i].uc_stack.ss_sp = stacks[i];
        host.items[i].uc_stack.ss_size = STACK;
        host.items[i].uc_link = &host.main;
        host.ended[i] = false;
        makecontext(&host.items[i], run_item, 0);
    }
    for (unsigned left = items; left > 0;) {
        left = 0;
        for (unsigned i = 0; i < items; i++) {
            if (!host.ended[i]) {
                step(i);
                left += !host.ended[i];
            }
        }
    }
}

void merged_run_host(const struct merged_kernel *kernel, const struct merged_range *r, const uint32_t *in,
                     uint32_t *out)
{
    host.kernel = kernel->host;
    host.range = *r;
    host.in = in;
    host.out = out;
    for (host.group[2] = 0; host.group[2] < r->global[2] / r->local[2]; host.group[2]++) {
        for (host.group[1] = 0; host.group[1] < r->global[1] / r->local[1]; host.group[1]++) {
            for (host.group[0] = 0; host.group[0] < r->global[0] / r->local[0]; host.group[0]++) {
                run_group((unsigned)(r->local[0] * r->local[1] * r->local[2]));
            }
        }
    }
}

/* ---------------------------------------------------------------- the kernels on the device */

#define TEXT(...) #__VA_ARGS__
#define FUNCTION(type, name, parameters, ...) TEXT(type name parameters __VA_ARGS__) "\n"
#define KERNEL(name, ...) \
    TEXT(kernel void name(global const uint *in, global uint *out, local uint *part, uint n, uint m) __VA_ARGS__) "\n"
const char merged_source[] =
    "#define AT (uint)get_global_linear_id()\n"
    "#define L (uint)get_local_linear_id()\n"
    "#define S (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2))\n"
    "#define SHARED local\n"
    "#define STEP s = s * 3 + (s >> 5); s ^= s << 7;\n"
    "#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP\n"
    "#define LONG STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS\n"
#include "merged_kernels.inc"
    ;
#undef FUNCTION
#undef KERNEL

#define FUNCTION(type, name, parameters, ...)
#define KERNEL(name, ...) {#name, host_##name},
const struct merged_kernel merged_kernels[] = {
#include "merged_kernels.inc"
};
const size_t merged_n_kernels = LENGTH(merged_kernels);
