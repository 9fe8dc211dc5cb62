/* SPDX-License-Identifier: Apache-2.0 */
/**
 * cl_tern_counters: a vendor extension of OpenCL that gives a program the geometry and the performance
 * counters of the device it runs on. Get the function with
 * clGetExtensionFunctionAddressForPlatform(platform, "clGetDeviceCountersTERN").
 */
#ifndef CL_TERN_H
#define CL_TERN_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CL_TERN_COUNTERS_EXTENSION_NAME "cl_tern_counters"

/** clGetCommandQueueInfo: cl_uint, the engine that the queue waits for, runs on, or ran on last. */
#define CL_QUEUE_ENGINE_TERN 0x4ff0
/** clGetCommandQueueInfo: cl_tern_queue_statistics. */
#define CL_QUEUE_STATISTICS_TERN 0x4ff1

/** No device has more engines. */
#define CL_TERN_ENGINES_MAX 8

/** What the scheduler did for a queue so far. A buffer is what a kernel, copy or fill command becomes. */
typedef struct cl_tern_queue_statistics_s {
    cl_ulong submitted, completed, aborted; /**< Buffers; aborted: or faulted. The others have not ended. */
    cl_ulong preempted, moved;              /**< How often running work was cut; and went on on another engine. */
    cl_ulong cycles;                        /**< Device cycles that they ran. */
    cl_ulong waited, longest_wait;          /**< Device cycles from submission to begin: sum, maximum. */
    cl_ulong engine_cycles[CL_TERN_ENGINES_MAX]; /**< Of `cycles`, those on each engine. */
} cl_tern_queue_statistics;

/** Geometry, and the counters of one engine since the device was opened (cycles, events; monotonic). */
typedef struct cl_tern_counters_s {
    cl_uint engines, lanes, warps; /**< Of the device; lanes and warps of one engine. */
    cl_uint local_bytes;           /**< Local memory of one engine. */
    cl_ulong clock_hz;             /**< Timestamps of events are cycles of this clock, given in ns. */
    cl_ulong time;                 /**< Device time, cycles. */
    cl_ulong busy, issue, lanes_active, stall_use, stall_unit, stall_idle, fma;
    cl_ulong l1_hit, l1_miss, ic_miss, tlb_hit, tlb_miss, rd_lines, wr_lines, buffers;
    char backend[16], config[64];
} cl_tern_counters;

/** CL_SUCCESS; CL_INVALID_DEVICE; CL_INVALID_VALUE: no such engine, or counters is NULL; CL_OUT_OF_RESOURCES: the
 *  device is lost, which stderr says once. Any thread; does not block. */
typedef cl_int(CL_API_CALL *clGetDeviceCountersTERN_fn)(cl_device_id device, cl_uint engine,
                                                        cl_tern_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
