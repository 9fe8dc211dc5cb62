/* SPDX-License-Identifier: Apache-2.0 */
#include "sub_groups.h"

#include <string.h>

unsigned lanes;
size_t most;

void sub_groups_each(const struct range *r, void (*each)(const struct sub *s, unsigned at), unsigned at)
{
    const unsigned full = (unsigned)(r->local[0] * r->local[1] * r->local[2]);
    size_t g[3];
    for (g[2] = 0; g[2] < r->global[2]; g[2] += r->local[2]) {
        for (g[1] = 0; g[1] < r->global[1]; g[1] += r->local[1]) {
            for (g[0] = 0; g[0] < r->global[0]; g[0] += r->local[0]) {
                static unsigned item[1024];
                unsigned n = 0;
                for (size_t z = g[2]; z < g[2] + r->local[2] && z < r->global[2]; z++) {
                    for (size_t y = g[1]; y < g[1] + r->local[1] && y < r->global[1]; y++) {
                        for (size_t x = g[0]; x < g[0] + r->local[0] && x < r->global[0]; x++) {
                            item[n++] = (unsigned)((z * r->global[1] + y) * r->global[0] + x);
                        }
                    }
                }
                for (unsigned k = 0; k < n; k += lanes) {
                    struct sub s = {.n = n - k < lanes ? n - k : lanes, .id = k / lanes, .of = (n + lanes - 1) / lanes,
                                    .enqueued = (full + lanes - 1) / lanes};
                    memcpy(s.item, item + k, s.n * sizeof s.item[0]);
                    each(&s, at);
                }
            }
        }
    }
}

struct range sub_groups_range(uint32_t *seed)
{
    struct range r = {.dims = 1 + clt_random(seed) % 3, .global = {1, 1, 1}, .local = {1, 1, 1}};
    size_t left = most < 128 ? most : 128;
    for (cl_uint d = 0; d < r.dims; d++) {
        r.local[d] = 1 + clt_random(seed) % (r.dims == 1 ? left : left < 9 ? left : 9);
        r.global[d] = 1 + clt_random(seed) % (2 * r.local[d]);
        left /= r.local[d];
    }
    return r;
}

cl_kernel sub_groups_kernel(cl_program p)
{
    cl_kernel k = clCreateKernel(p, "f", &clt_error);
    MADE(k);
    OK(clGetKernelWorkGroupInfo(k, clt_device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL));
    return k;
}

int sub_groups_open(void **state)
{
    size_t multiple;
    const int result = clt_open(state);
    OK(clGetDeviceInfo(clt_device, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof multiple, &multiple, NULL));
    lanes = (unsigned)multiple;
    return result;
}
