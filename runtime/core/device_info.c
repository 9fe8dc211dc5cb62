/* SPDX-License-Identifier: Apache-2.0 */
/**
 * clGetDeviceInfo. Constant answers are a table; answers that depend on the opened device are a switch. For absent
 * features (pipes, on-device queues, IL) section 4.2 of the specification prescribes the answers.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/compiler/compiler.h"
#include "runtime/core/builtin.h"
#include "runtime/core/device.h"
#include "runtime/core/image.h"
#include "runtime/core/platform.h"
#include "runtime/include/CL/cl_tern.h"

#define FP64_CONFIG \
    (CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA | \
     CL_FP_SOFT_FLOAT)

/* cl_ext_float_atomics, which older headers lack */
#ifndef CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT
#define CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT 0x4231
#define CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT 0x4232
#define CL_DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT 0x4233
#define CL_DEVICE_GLOBAL_FP_ATOMIC_LOAD_STORE_EXT (1 << 0)
#define CL_DEVICE_GLOBAL_FP_ATOMIC_ADD_EXT (1 << 1)
#define CL_DEVICE_GLOBAL_FP_ATOMIC_MIN_MAX_EXT (1 << 2)
#define CL_DEVICE_LOCAL_FP_ATOMIC_LOAD_STORE_EXT (1 << 16)
#define CL_DEVICE_LOCAL_FP_ATOMIC_ADD_EXT (1 << 17)
#define CL_DEVICE_LOCAL_FP_ATOMIC_MIN_MAX_EXT (1 << 18)
#endif

enum kind { UINT, ULONG, SIZE, NOTHING };

static const struct constant {
    cl_device_info name;
    enum kind kind;
    cl_ulong value;
} constants[] = {
    {CL_DEVICE_VENDOR_ID, UINT, 0x7e52},
    {CL_DEVICE_MAX_COMPUTE_UNITS, UINT, 1}, /* a kernel runs on one engine; queues are distributed over the engines */
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, UINT, 3},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, UINT, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, UINT, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, UINT, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, UINT, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, UINT, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, UINT, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, UINT, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, UINT, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, UINT, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, UINT, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, UINT, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, UINT, 1},
    {CL_DEVICE_ADDRESS_BITS, UINT, 64},
    {CL_DEVICE_MAX_PARAMETER_SIZE, SIZE, RT_MAX_PARAMETERS},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, UINT, RT_ALIGN * 8},
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, UINT, RT_ALIGN},
    {CL_DEVICE_SINGLE_FP_CONFIG, ULONG,
     CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT},
    {CL_DEVICE_HALF_FP_CONFIG, ULONG, CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA},
    {CL_DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT, ULONG, 0},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, UINT, CL_READ_WRITE_CACHE},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, UINT, 64},
    {CL_DEVICE_MAX_CONSTANT_ARGS, UINT, 64},
    {CL_DEVICE_LOCAL_MEM_TYPE, UINT, CL_LOCAL},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, UINT, CL_FALSE},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, UINT, CL_FALSE},
    {CL_DEVICE_ENDIAN_LITTLE, UINT, CL_TRUE},
    {CL_DEVICE_AVAILABLE, UINT, CL_TRUE},
    {CL_DEVICE_COMPILER_AVAILABLE, UINT, CL_TRUE},
    {CL_DEVICE_LINKER_AVAILABLE, UINT, CL_TRUE},
    {CL_DEVICE_EXECUTION_CAPABILITIES, ULONG, CL_EXEC_KERNEL},
    {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, ULONG, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, SIZE, RT_PRINTF_BYTES},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, UINT, CL_TRUE},
    {CL_DEVICE_REFERENCE_COUNT, UINT, 1},
    {CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, UINT, 0},
    {CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, UINT, 0},
    {CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, UINT, 0},
    {CL_DEVICE_NUMERIC_VERSION, UINT, CL_MAKE_VERSION(3, 0, 0)},
    {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, UINT, CL_TRUE},
    /* partitioning is not supported */
    {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, UINT, 0},
    {CL_DEVICE_PARTITION_PROPERTIES, ULONG, 0},
    {CL_DEVICE_PARTITION_AFFINITY_DOMAIN, ULONG, 0},
    {CL_DEVICE_PARTITION_TYPE, NOTHING, 0},
    {CL_DEVICE_IMAGE_SUPPORT, UINT, CL_TRUE},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, UINT, RT_IMAGE_READS_MAX},
    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, UINT, RT_IMAGE_WRITES_MAX},
    {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, UINT, RT_IMAGE_WRITES_MAX},
    {CL_DEVICE_IMAGE2D_MAX_WIDTH, SIZE, RT_IMAGE_2D_MAX},
    {CL_DEVICE_IMAGE2D_MAX_HEIGHT, SIZE, RT_IMAGE_2D_MAX},
    {CL_DEVICE_IMAGE3D_MAX_WIDTH, SIZE, RT_IMAGE_3D_MAX},
    {CL_DEVICE_IMAGE3D_MAX_HEIGHT, SIZE, RT_IMAGE_3D_MAX},
    {CL_DEVICE_IMAGE3D_MAX_DEPTH, SIZE, RT_IMAGE_3D_MAX},
    {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, SIZE, RT_IMAGE_BUFFER_MAX},
    {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, SIZE, RT_IMAGE_LAYERS_MAX},
    {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, UINT, 1}, /* pixels: any row pitch that is a multiple of a pixel */
    {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, UINT, 1},
    {CL_DEVICE_MAX_SAMPLERS, UINT, RT_SAMPLERS_MAX},
    /* on-device queues and pipes are not supported */
    {CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, ULONG, 0},
    {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, UINT, 0},
    {CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, UINT, 0},
    {CL_DEVICE_MAX_ON_DEVICE_QUEUES, UINT, 0},
    {CL_DEVICE_MAX_ON_DEVICE_EVENTS, UINT, 0},
    {CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, ULONG, 0},
    {CL_DEVICE_PIPE_SUPPORT, UINT, CL_FALSE},
    {CL_DEVICE_MAX_PIPE_ARGS, UINT, 0},
    {CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, UINT, 0},
    {CL_DEVICE_PIPE_MAX_PACKET_SIZE, UINT, 0},
    {CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, UINT, CL_TRUE}, /* warps take turns, docs/hardware/overview.md */
    {CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, UINT, CL_TRUE},
};

/** Extensions of the API, listed after those of the compiler. */
#define OWN_EXTENSIONS " " CL_TERN_COUNTERS_EXTENSION_NAME " " RT_QUEUE_EXTENSIONS

#define GLOBAL_VARIABLE_BYTES (1u << 20)

static cl_int answer_constant(const struct constant *c, const struct rt_answer *a)
{
    switch (c->kind) {
    case UINT:
        return rt_answer_uint(a, (cl_uint)c->value);
    case ULONG:
        return rt_answer_ulong(a, c->value);
    case SIZE:
        return rt_answer_size(a, c->value);
    default:
        return rt_answer_bytes(a, NULL, 0);
    }
}

/** True: the compiler provides this optional feature of OpenCL C 3.0. */
static bool has(const char *feature)
{
    const char *at = strstr(tc_features(), feature);
    const char after = at == NULL ? 'x' : at[strlen(feature)];
    return after == '\0' || after == ' ';
}

static cl_int answer_extensions(const struct rt_answer *a, bool versions)
{
    char text[2048];
    snprintf(text, sizeof text, "%s" OWN_EXTENSIONS "%s", tc_extensions(), tc_il_present() ? " cl_khr_il_program" : "");
    return versions ? rt_answer_names(a, text, 1) : rt_answer_string(a, text);
}

/** Orders and scopes of atomics, or (fence) of fences, which also order the accesses of one work-item. */
static cl_ulong atomics(bool fence)
{
    cl_ulong caps = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
    if (fence || has("__opencl_c_atomic_order_acq_rel")) {
        caps |= CL_DEVICE_ATOMIC_ORDER_ACQ_REL;
    }
    if (fence) {
        caps |= CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM;
    }
    if (has("__opencl_c_atomic_order_seq_cst")) {
        caps |= CL_DEVICE_ATOMIC_ORDER_SEQ_CST;
    }
    if (has("__opencl_c_atomic_scope_device")) {
        caps |= CL_DEVICE_ATOMIC_SCOPE_DEVICE;
    }
    return caps;
}

/** Atomics of floats or doubles, by the features of the compiler; bits: "fp32" or "fp64". */
static cl_ulong float_atomics(const char *bits)
{
    static const struct {
        const char *memory, *operation;
        cl_ulong capability;
    } features[] = {
        {"global", "add", CL_DEVICE_GLOBAL_FP_ATOMIC_ADD_EXT},
        {"global", "min_max", CL_DEVICE_GLOBAL_FP_ATOMIC_MIN_MAX_EXT},
        {"local", "add", CL_DEVICE_LOCAL_FP_ATOMIC_ADD_EXT},
        {"local", "min_max", CL_DEVICE_LOCAL_FP_ATOMIC_MIN_MAX_EXT},
    };
    /* atomic_float and atomic_double of OpenCL C 3.0 have these, without a feature */
    cl_ulong all = CL_DEVICE_GLOBAL_FP_ATOMIC_LOAD_STORE_EXT | CL_DEVICE_LOCAL_FP_ATOMIC_LOAD_STORE_EXT;
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "__opencl_c_ext_%s_%s_atomic_%s", bits, features[i].memory, features[i].operation);
        all |= has(name) ? features[i].capability : 0;
    }
    return all;
}

static cl_int answer_c_versions(const struct rt_answer *a)
{
    const cl_name_version v[] = {
        rt_name_version("OpenCL C", 1, 0, 0),
        rt_name_version("OpenCL C", 1, 1, 0),
        rt_name_version("OpenCL C", 1, 2, 0),
        rt_name_version("OpenCL C", 3, 0, 0),
    };
    return rt_answer_bytes(a, v, sizeof v);
}

/** Programs in SPIR-V are optional: the tools that read it may be absent. */
static cl_int answer_il_versions(const struct rt_answer *a)
{
    const cl_name_version v[] = {
        rt_name_version("SPIR-V", 1, 2, 0),
        rt_name_version("SPIR-V", 1, 1, 0),
        rt_name_version("SPIR-V", 1, 0, 0),
    };
    return rt_answer_bytes(a, v, tc_il_present() ? sizeof v : 0);
}

/** Geometry and backend, which programs show and distinguish devices by. */
static cl_int answer_name(cl_device_id d, const struct rt_answer *a)
{
    char text[128];
    snprintf(text, sizeof text, "Tern %.*s (%s)", (int)strcspn(d->info.config, ","), d->info.config, d->info.backend);
    return rt_answer_string(a, text);
}

/** The versions of runtime and compiler, and the configuration if it has keys. Applications that keep binaries tell by
 *  this string whether they may use them. */
static cl_int answer_driver(cl_device_id d, const struct rt_answer *a)
{
    char text[128];
    const bool keys = strchr(d->info.config, ',') != NULL;
    snprintf(text, sizeof text, RT_VERSION_STRING "+%s%s%s", tc_version(), keys ? " " : "", keys ? d->info.config : "");
    return rt_answer_string(a, text);
}

cl_int rt_device_query(cl_device_id d, cl_device_info name, const struct rt_answer *a)
{
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (constants[i].name == name) {
            return answer_constant(&constants[i], a);
        }
    }
    const size_t sizes[3] = {d->group_max, d->group_max, d->group_max};
    const uint64_t tick = 1000000000u / d->info.clock_hz;
    const bool fp64 = has("__opencl_c_fp64");
    const size_t globals = has("__opencl_c_program_scope_global_variables") ? GLOBAL_VARIABLE_BYTES : 0;
    switch (name) {
    case CL_DEVICE_TYPE:
        return rt_answer_ulong(a, d->type);
    case CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE:
    case CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE:
        return rt_answer_uint(a, fp64);
    case CL_DEVICE_DOUBLE_FP_CONFIG:
        return rt_answer_ulong(a, fp64 ? FP64_CONFIG : 0);
    case CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT:
        return rt_answer_uint(a, has("__opencl_c_generic_address_space"));
    case CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE:
    case CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE:
        return rt_answer_size(a, globals);
    case CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES:
        return rt_answer_ulong(a, atomics(false));
    case CL_DEVICE_ATOMIC_FENCE_CAPABILITIES:
        return rt_answer_ulong(a, atomics(true));
    case CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT:
        return rt_answer_ulong(a, float_atomics("fp32"));
    case CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT:
        return rt_answer_ulong(a, float_atomics("fp64"));
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return rt_answer_size(a, d->group_max);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return rt_answer_bytes(a, sizes, sizeof sizes);
    case CL_DEVICE_MAX_NUM_SUB_GROUPS: /* of a group that is not merged */
        return rt_answer_uint(a, d->info.warps);
    case CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return rt_answer_size(a, d->info.lanes);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return rt_answer_uint(a, (cl_uint)((d->info.clock_hz + 500000) / 1000000));
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
        return rt_answer_size(a, tick == 0 ? 1 : tick);
    case CL_DEVICE_SVM_CAPABILITIES:
        return rt_answer_ulong(a, d->svm ? CL_DEVICE_SVM_COARSE_GRAIN_BUFFER : 0);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return rt_answer_ulong(a, d->memory);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE: /* constant memory is global memory */
        return rt_answer_ulong(a, d->max_alloc);
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
        return rt_answer_ulong(a, RT_L1_BYTES);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return rt_answer_ulong(a, d->info.local_bytes);
    case CL_DEVICE_PLATFORM:
        return rt_answer_pointer(a, rt_platform_get());
    case CL_DEVICE_PARENT_DEVICE:
        return rt_answer_pointer(a, NULL);
    case CL_DEVICE_NAME:
        return answer_name(d, a);
    case CL_DEVICE_VENDOR:
        return rt_answer_string(a, "Tern project");
    case CL_DRIVER_VERSION:
        return answer_driver(d, a);
    case CL_DEVICE_PROFILE:
        return rt_answer_string(a, "FULL_PROFILE");
    case CL_DEVICE_VERSION:
        return rt_answer_string(a, "OpenCL 3.0 Tern " RT_VERSION_STRING);
    case CL_DEVICE_OPENCL_C_VERSION:
        return rt_answer_string(a, "OpenCL C 1.2 Tern " RT_VERSION_STRING);
    case CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED:
        return rt_answer_string(a, "v0000-00-00-00"); /* no conformance test was passed */
    case CL_DEVICE_IL_VERSION:
        return rt_answer_string(a, tc_il_present() ? TC_IL_VERSIONS : "");
    case CL_DEVICE_ILS_WITH_VERSION:
        return answer_il_versions(a);
    case CL_DEVICE_BUILT_IN_KERNELS:
        return rt_builtin_names(d, a);
    case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
        return rt_builtin_versions(d, a);
    case CL_DEVICE_EXTENSIONS:
        return answer_extensions(a, false);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
        return answer_extensions(a, true);
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
        return answer_c_versions(a);
    case CL_DEVICE_OPENCL_C_FEATURES:
        return rt_answer_names(a, tc_features(), 3);
    default:
        return CL_INVALID_VALUE;
    }
}
