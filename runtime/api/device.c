/* SPDX-License-Identifier: Apache-2.0 */
/** Device calls. */
#include "runtime/core/device.h"
#include "runtime/core/platform.h"

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint num_entries,
                                               cl_device_id *devices, cl_uint *num_devices)
{
    const cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                 CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    if (!rt_platform_is(platform)) {
        return CL_INVALID_PLATFORM;
    }
    if (type == ~(cl_device_type)0) { /* CL_DEVICE_TYPE_ALL as an int, sign-extended (OpenCV) */
        type = CL_DEVICE_TYPE_ALL;
    }
    if (type != CL_DEVICE_TYPE_ALL && (type == 0 || (type & ~known) != 0)) {
        return CL_INVALID_DEVICE_TYPE;
    }
    if ((devices == NULL && num_devices == NULL) || (devices != NULL && num_entries == 0)) {
        return CL_INVALID_VALUE;
    }
    cl_device_id device = rt_device_get();
    const bool wanted = device != NULL &&
        (type == CL_DEVICE_TYPE_ALL || (type & (device->type | CL_DEVICE_TYPE_DEFAULT)) != 0);
    if (num_devices != NULL) {
        *num_devices = wanted ? 1 : 0;
    }
    if (!wanted) {
        return CL_DEVICE_NOT_FOUND;
    }
    if (devices != NULL) {
        devices[0] = device;
    }
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t cap, void *dst,
                                                size_t *size)
{
    if (!rt_device_is(device)) {
        return CL_INVALID_DEVICE;
    }
    return rt_device_query(device, name, &(struct rt_answer){cap, dst, size});
}

CL_API_ENTRY cl_int CL_API_CALL clRetainDevice(cl_device_id device)
{
    return rt_device_is(device) ? CL_SUCCESS : CL_INVALID_DEVICE; /* root devices have no reference count */
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseDevice(cl_device_id device)
{
    return rt_device_inherited() || rt_device_is(device) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

CL_API_ENTRY cl_int CL_API_CALL clCreateSubDevices(cl_device_id device, const cl_device_partition_property *properties,
                                                   cl_uint num_devices, cl_device_id *out, cl_uint *num_out)
{
    (void)properties; /* the device supports no kind of partitioning */
    (void)num_devices;
    (void)out;
    (void)num_out;
    return rt_device_is(device) ? CL_INVALID_VALUE : CL_INVALID_DEVICE;
}

CL_API_ENTRY cl_int CL_API_CALL clGetHostTimer(cl_device_id device, cl_ulong *host)
{
    /* CL_PLATFORM_HOST_TIMER_RESOLUTION is 0: the clocks of device and host are not related */
    (void)host;
    return rt_device_is(device) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_time, cl_ulong *host)
{
    (void)device_time;
    return clGetHostTimer(device, host);
}

CL_API_ENTRY cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context, cl_device_id device,
                                                               cl_command_queue queue)
{
    (void)queue;
    if (!rt_object_is(context, RT_CONTEXT)) {
        return CL_INVALID_CONTEXT;
    }
    return rt_device_is(device) ? CL_INVALID_OPERATION : CL_INVALID_DEVICE;
}
