/* SPDX-License-Identifier: Apache-2.0 */
/** The extension cl_tern_counters (CL/cl_tern.h). */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "runtime/core/device.h"
#include "runtime/include/CL/cl_tern.h"

cl_int CL_API_CALL clGetDeviceCountersTERN(cl_device_id device, cl_uint engine, cl_tern_counters *counters);

cl_int CL_API_CALL clGetDeviceCountersTERN(cl_device_id device, cl_uint engine, cl_tern_counters *counters)
{
    static atomic_flag told = ATOMIC_FLAG_INIT; /* the message is printed once, because programs call this repeatedly */
    struct tern_engine_counters c = {.size = sizeof c};
    if (!rt_device_is(device)) {
        return CL_INVALID_DEVICE;
    }
    const int r = counters == NULL ? -EINVAL : tern_device_counters(device->hw, engine, &c);
    if (r != 0) {
        if (r == -EINVAL) {
            return CL_INVALID_VALUE;
        }
        if (!atomic_flag_test_and_set(&told)) {
            fprintf(stderr, "tern: OpenCL: no counters: %s\n", tern_last_error());
        }
        return CL_OUT_OF_RESOURCES;
    }
    const struct tern_device_info *i = &device->info;
    *counters = (cl_tern_counters){
        .engines = i->engines, .lanes = i->lanes, .warps = i->warps, .local_bytes = i->local_bytes,
        .clock_hz = i->clock_hz, .time = tern_device_time(device->hw),
        .busy = c.busy, .issue = c.issue, .lanes_active = c.lanes,
        .stall_use = c.stall_use, .stall_unit = c.stall_unit, .stall_idle = c.stall_idle, .fma = c.fma,
        .l1_hit = c.l1_hit, .l1_miss = c.l1_miss, .ic_miss = c.ic_miss, .tlb_hit = c.tlb_hit, .tlb_miss = c.tlb_miss,
        .rd_lines = c.rd_lines, .wr_lines = c.wr_lines, .buffers = c.buffers,
    };
    _Static_assert(sizeof counters->backend == sizeof i->backend && sizeof counters->config == sizeof i->config,
                   "both structs have names of the same sizes");
    memcpy(counters->backend, i->backend, sizeof i->backend);
    memcpy(counters->config, i->config, sizeof i->config);
    return CL_SUCCESS;
}
