/* SPDX-License-Identifier: Apache-2.0 */
/**
 * cl_tern_counters: a vendor extension of OpenCL 3.0 that gives a program the geometry and the performance counters of
 * its device, and the scheduler's statistics of its queues. Get the function with
 * clGetExtensionFunctionAddressForPlatform(platform, "clGetDeviceCountersTERN").
 */
#ifndef CL_TERN_H
#define CL_TERN_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CL_TERN_COUNTERS_EXTENSION_NAME "cl_tern_counters"

/** clGetCommandQueueInfo: cl_uint, the engine on which the queue is queued or running, or ran last. */
#define CL_QUEUE_ENGINE_TERN 0x4ff0
/** clGetCommandQueueInfo: cl_tern_queue_statistics. */
#define CL_QUEUE_STATISTICS_TERN 0x4ff1

/** No device has more engines. */
#define CL_TERN_ENGINES_MAX 8

/** Statistics of a queue. The runtime submits each kernel, copy or fill command as a DMA buffer. */
typedef struct cl_tern_queue_statistics_s {
    cl_ulong submitted, completed, aborted; /**< Buffers; `aborted` includes faulted ones. The rest has not ended. */
    cl_ulong preempted, moved;              /**< Preemptions of running work; resumptions on another engine. */
    cl_ulong cycles;                        /**< Device cycles that its buffers ran. */
    cl_ulong waited, longest_wait;          /**< Device cycles from submission to begin: sum and maximum. */
    cl_ulong engine_cycles[CL_TERN_ENGINES_MAX]; /**< `cycles` per engine. */
} cl_tern_queue_statistics;

/** Geometry of the device, and the counters of one engine since the device was opened. Counters only grow. Counters
 *  without a comment are those of struct tern_engine_counters (tern/tern.h); lanes_active is its `lanes`. */
typedef struct cl_tern_counters_s {
    cl_uint engines, lanes, warps; /**< Engines of the device; lanes and warps of an engine's SIMT executor. */
    cl_uint local_bytes;           /**< Local memory of one engine, bytes. */
    cl_ulong clock_hz;             /**< Device clock. Profiling timestamps of events are its cycles converted to ns. */
    cl_ulong time;                 /**< Device time in cycles. */
    cl_ulong busy, issue, lanes_active, stall_use, stall_unit, stall_idle, fma;
    cl_ulong l1_hit, l1_miss, ic_miss, tlb_hit, tlb_miss, rd_lines, wr_lines, buffers;
    char backend[16], config[64];
} cl_tern_counters;

/** Reads the counters. CL_SUCCESS; CL_INVALID_DEVICE; CL_INVALID_VALUE: no such engine, or counters is NULL;
 *  CL_OUT_OF_RESOURCES: the device is lost, and stderr says so once. Any thread; never waits for work. */
typedef cl_int(CL_API_CALL *clGetDeviceCountersTERN_fn)(cl_device_id device, cl_uint engine,
                                                        cl_tern_counters *counters);

#ifdef __cplusplus
}
#endif

#endif
