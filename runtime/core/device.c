/* SPDX-License-Identifier: Apache-2.0 */
/** Opening and closing of the device (device.h). */
#include "runtime/core/device.h"
#include "runtime/core/svm.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct _cl_device_id the_device = {
    .base = {.dispatch = &rt_icd_dispatch, .magic = RT_DEVICE, .refs = 1, .holds = 1},
};
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static atomic_uint threads;

/** Type of the device from the environment; 0: the setting is invalid, which was printed. */
static cl_device_type type_wanted(void)
{
    const char *s = secure_getenv("TERN_CL_DEVICE_TYPE");
    if (s == NULL || *s == '\0' || strcmp(s, "gpu") == 0) {
        return CL_DEVICE_TYPE_GPU;
    }
    if (strcmp(s, "accelerator") == 0) {
        return CL_DEVICE_TYPE_ACCELERATOR;
    }
    fprintf(stderr, "tern: OpenCL: no device: TERN_CL_DEVICE_TYPE is gpu or accelerator; got '%s'\n", s);
    return 0;
}

static void open_device(void)
{
    cl_device_id d = &the_device;
    struct tern_device *hw;
    d->type = type_wanted();
    if (d->type == 0) {
        return;
    }
    if (tern_device_open(NULL, NULL, &hw) != 0) {
        fprintf(stderr, "tern: OpenCL: no device: %s\n", tern_last_error());
        return;
    }
    d->info.size = sizeof d->info;
    tern_device_query(hw, &d->info);
    if (d->info.lanes == 0) {
        fprintf(stderr, "tern: OpenCL: no device: '%s' of backend %s has no SIMT executor, so it runs no kernels; "
                        "choose another by TERN_CONFIG or TERN_BACKEND, or use tern.h for its copies and user "
                        "executors\n", d->info.config, d->info.backend);
        tern_device_close(hw);
        return;
    }
    const uint64_t whole = d->info.memory_bytes < d->info.resident_bytes ? d->info.memory_bytes
                                                                            : d->info.resident_bytes;
    const uint64_t half = d->info.memory_bytes / 2;
    d->memory = whole;
    d->max_alloc = half < whole ? half : whole;
    if (d->max_alloc > (1u << 30) && d->info.memory_bytes <= (4ull << 30)) {
        d->max_alloc = 1u << 30;
    }
    d->engine_items = d->info.lanes * d->info.warps;
    d->group_max = RT_GROUP_MERGED * d->engine_items;
    d->group_max = d->group_max < RT_GROUP_LARGEST ? d->group_max : RT_GROUP_LARGEST;
    d->svm = rt_svm_possible();
    d->hw = hw;
}

bool rt_device_inherited(void)
{
    return the_device.hw != NULL && tern_device_inherited(the_device.hw);
}

void rt_device_say_inherited(void)
{
    static atomic_bool said;
    if (!atomic_exchange(&said, true)) {
        fprintf(stderr, "tern: OpenCL: process %ld was forked from one that had opened the device, whose objects "
                        "cannot be used here: fork before the first call of OpenCL, or start a new program\n",
                        (long)getpid());
    }
}

cl_device_id rt_device_get(void)
{
    pthread_once(&opened, open_device);
    if (rt_device_inherited()) {
        rt_device_say_inherited();
        return NULL;
    }
    return the_device.hw != NULL ? &the_device : NULL;
}

bool rt_device_is(cl_device_id device)
{
    if (rt_device_inherited()) {
        rt_device_say_inherited();
        return false;
    }
    return device == &the_device && device->hw != NULL;
}

cl_ulong rt_device_ns(cl_device_id device, uint64_t cycles)
{
    const uint64_t hz = device->info.clock_hz;
    return cycles / hz * 1000000000u + cycles % hz * 1000000000u / hz;
}

cl_ulong rt_device_seen(cl_device_id device)
{
    return rt_device_ns(device, tern_device_time_seen(device->hw));
}

cl_ulong rt_device_now(cl_device_id device)
{
    return rt_device_ns(device, tern_device_time(device->hw));
}

void rt_device_thread_begin(void)
{
    atomic_fetch_add(&threads, 1);
}

void rt_device_thread_end(void)
{
    atomic_fetch_sub(&threads, 1);
}

/** Closes the device if no object is left. Otherwise the end of the process ends its work. */
__attribute__((destructor)) static void close_device(void)
{
    if (the_device.hw == NULL || rt_device_inherited()) {
        return;
    }
    const struct timespec step = {.tv_nsec = 1000000};
    for (int i = 0; i < 500 && atomic_load(&threads) != 0; i++) {
        nanosleep(&step, NULL);
    }
    if (atomic_load(&threads) == 0 && tern_device_close(the_device.hw) == 0) {
        the_device.hw = NULL;
    }
}
