/* SPDX-License-Identifier: Apache-2.0 */
/** tern run: its sequence of steps (run.h). Everything uses the OpenCL API, as an application does. */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Chooses the buffers to print and save. By default, buffers that the kernel can write are printed. */
static int choose_outputs(struct run *r)
{
    const struct run_options *o = &r->options;
    for (unsigned i = 0; i < r->n_args; i++) {
        struct run_arg *a = &r->args[i];
        a->print_count = 8;
        a->print = o->n_prints == 0 && !o->quiet && a->buffer && !a->image &&
                   a->space == CL_KERNEL_ARG_ADDRESS_GLOBAL && !(a->qualifier & CL_KERNEL_ARG_TYPE_CONST);
    }
    for (unsigned i = 0; i < o->n_prints + o->n_saves; i++) {
        const bool print = i < o->n_prints;
        const char *text = print ? o->prints[i] : o->saves[i - o->n_prints], *option = print ? "--print" : "--save";
        const size_t length = strcspn(text, print ? ":" : "=");
        struct run_arg *a = run_arg_find(r, option, text, length);
        if (!a) {
            return EXIT_USAGE;
        }
        if (!a->buffer) {
            return usage_error("run", "%s: argument %u '%s' is no buffer", option, a->number, a->name);
        }
        if (print && a->image) {
            return usage_error("run", "--print: argument %u '%s' is an image; --save %s=FILE writes its pixels",
                               a->number, a->name, a->name);
        }
        if (!print) {
            a->save = text + length + 1;
            continue;
        }
        const char *count = text + length + 1;
        a->print = true;
        a->print_count = SIZE_MAX;
        if (text[length] && (!value_count(count, strlen(count), &a->print_count) || a->print_count == 0)) {
            return usage_error("run", "--print takes ARG or ARG:COUNT; got '%s'", text);
        }
    }
    return EXIT_OK;
}

static int memory_full(const struct run *r)
{
    size_t sum = 0;
    for (unsigned i = 0; i < r->n_args; i++) {
        sum += r->args[i].buffer ? r->args[i].size : 0;
    }
    cl_ulong all = 0;
    clGetDeviceInfo(r->session.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL);
    fprintf(stderr, "tern run: the buffers need %zu bytes, and the device has %" PRIu64 " in all; the key mem of "
            "TERN_CONFIG gives it more\n", sum, all);
    return EXIT_FAILED;
}

static int set_argument(struct run *r, unsigned i)
{
    struct run_arg *a = &r->args[i];
    cl_int err = CL_SUCCESS;
    if (a->image) {
        const int status = run_image_make(&r->session, a);
        if (status != EXIT_OK) {
            return status;
        }
        err = clSetKernelArg(r->kernel, i, sizeof a->buffer, &a->buffer);
    } else if (a->sampler) {
        const cl_sampler_properties properties[] = {CL_SAMPLER_NORMALIZED_COORDS, a->normalized,
                                                    CL_SAMPLER_ADDRESSING_MODE, a->address,
                                                    CL_SAMPLER_FILTER_MODE, a->filter, 0};
        cl_sampler sampler = clCreateSamplerWithProperties(r->session.context, properties, &err);
        if (err == CL_SUCCESS) {
            err = clSetKernelArg(r->kernel, i, sizeof sampler, &sampler);
            clReleaseSampler(sampler); /* the kernel keeps it */
        }
    } else if (!a->pointer) {
        err = clSetKernelArg(r->kernel, i, a->size, a->data);
    } else if (a->space == CL_KERNEL_ARG_ADDRESS_LOCAL) {
        err = clSetKernelArg(r->kernel, i, a->size, NULL);
        if (a->size > r->session.config.local_bytes) {
            fprintf(stderr, "tern run: argument %u '%s': %zu bytes of local memory, and the device has %u\n",
                    a->number, a->name, a->size, r->session.config.local_bytes);
            return EXIT_FAILED;
        }
    } else {
        if (a->data) {
            a->buffer = clCreateBuffer(r->session.context, CL_MEM_READ_WRITE, a->size, NULL, &err);
        }
        if (err == CL_SUCCESS && a->data) {
            err = clEnqueueWriteBuffer(r->session.queue, a->buffer, CL_TRUE, 0, a->size, a->data, 0, NULL, NULL);
        }
        if (err == CL_SUCCESS) {
            err = clSetKernelArg(r->kernel, i, sizeof a->buffer, a->data ? &a->buffer : NULL);
        }
    }
    if (err == CL_INVALID_ARG_SIZE) {
        fprintf(stderr, "tern run: argument %u '%s' is %s; %zu bytes are not its size\n", a->number, a->name,
                a->type_name, a->size);
        return EXIT_USAGE;
    }
    if (err == CL_MEM_OBJECT_ALLOCATION_FAILURE) {
        return memory_full(r);
    }
    return session_failed(&r->session, err, a->name) ? EXIT_FAILED : EXIT_OK;
}

static int set_arguments(struct run *r)
{
    const struct run_options *o = &r->options;
    cl_ulong most = 0;
    if (o->n_args != r->n_args) {
        fprintf(stderr, "tern run: kernel '%s' takes %u argument%s, %u given: ", r->kernel_name, r->n_args,
                r->n_args == 1 ? "" : "s", o->n_args);
        run_declare(r, stderr);
        return EXIT_USAGE;
    }
    if (o->global.dims == 0) {
        return usage_error("run", "--global is missing: how many work-items, X[,Y[,Z]]?");
    }
    clGetDeviceInfo(r->session.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    int status = EXIT_OK;
    for (unsigned i = 0; status == EXIT_OK && i < r->n_args; i++) {
        status = run_arg_read(&r->args[i], o->args[i], (size_t)most);
    }
    for (unsigned i = 0; status == EXIT_OK && i < r->n_args; i++) {
        status = set_argument(r, i);
    }
    return status;
}

static const char *show(const struct extent *e, char text[96])
{
    int n = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < e->dims; i++) {
        n += snprintf(text + n, 96 - (size_t)n, "%s%zu", i ? "," : "", e->n[i]);
    }
    return text;
}

/** Explains in terms of the options why an enqueue was refused. */
static int refused(const struct run *r, cl_int err)
{
    const struct run_options *o = &r->options;
    char global[96], local[96];
    size_t group = 0, required[3] = {0};
    cl_ulong used = 0;
    cl_device_id d = r->session.device;
    clGetKernelWorkGroupInfo(r->kernel, d, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    clGetKernelWorkGroupInfo(r->kernel, d, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required, NULL);
    clGetKernelWorkGroupInfo(r->kernel, d, CL_KERNEL_LOCAL_MEM_SIZE, sizeof used, &used, NULL);
    show(&o->global, global);
    show(&o->local, local);
    if (err == CL_INVALID_WORK_GROUP_SIZE || err == CL_INVALID_WORK_ITEM_SIZE) {
        fprintf(stderr, "tern run: kernel '%s' cannot run %s work-items in groups of %s: a group has at most %zu",
                r->kernel_name, global, *local ? local : "any size", group);
        if (required[0]) {
            fprintf(stderr, ", and this kernel requires %zu,%zu,%zu", required[0], required[1], required[2]);
        }
        fprintf(stderr, "; without -cl-std=CL3.0 groups must divide --global\n");
    } else if (err == CL_INVALID_GLOBAL_WORK_SIZE || err == CL_INVALID_GLOBAL_OFFSET) {
        fprintf(stderr, "tern run: --global %s%s: ids must fit in 32 bits\n", global,
                o->offset.dims ? " with this --offset" : "");
    } else if (err == CL_OUT_OF_RESOURCES && used > r->session.config.local_bytes) {
        fprintf(stderr, "tern run: kernel '%s' uses %" PRIu64 " bytes of local memory, and the device has %u\n",
                r->kernel_name, used, r->session.config.local_bytes);
    } else if (err == CL_MEM_OBJECT_ALLOCATION_FAILURE) {
        memory_full(r);
    } else {
        session_failed(&r->session, err, r->kernel_name);
    }
    return EXIT_FAILED;
}

/** Waits for the kernel, and stores its times and counters. */
static int measure(struct run *r, cl_event event, double began, const cl_tern_counters *before)
{
    struct run_time *t = &r->times[r->n_times];
    cl_int err = clWaitForEvents(1, &event);
    t->seconds = host_seconds() - began;
    if (err != CL_SUCCESS) {
        cl_int status = err;
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        if (atomic_load(&r->session.lost)) {
            fprintf(stderr, "tern run: kernel '%s' did not complete; its fault is above\n", r->kernel_name);
        } else {
            session_failed(&r->session, status, r->kernel_name);
        }
        return EXIT_FAILED;
    }
    cl_ulong start = 0, end = 0;
    cl_tern_counters after;
    err = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (err == CL_SUCCESS) {
        err = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    }
    session_counters(&r->session, &after);
    t->counters = counters_between(before, &after);
    t->ns = (double)(end - start);
    t->cycles = t->ns * (double)r->session.config.clock_hz / 1e9;
    r->n_times++;
    return session_failed(&r->session, err, "profiling") ? EXIT_FAILED : EXIT_OK;
}

static int execute(struct run *r)
{
    const struct run_options *o = &r->options;
    const unsigned dims = o->global.dims;
    if ((o->local.dims && o->local.dims != dims) || (o->offset.dims && o->offset.dims != dims)) {
        return usage_error("run", "--%s has %u sizes, --global has %u", o->local.dims && o->local.dims != dims ? "local"
                           : "offset", o->local.dims && o->local.dims != dims ? o->local.dims : o->offset.dims, dims);
    }
    r->times = calloc(o->repeat, sizeof *r->times);
    int status = r->times ? EXIT_OK : EXIT_FAILED;
    for (size_t i = 0; status == EXIT_OK && i < o->repeat; i++) {
        cl_tern_counters before;
        cl_event event;
        session_counters(&r->session, &before);
        const double began = host_seconds();
        const cl_int err = clEnqueueNDRangeKernel(r->session.queue, r->kernel, dims,
                                                  o->offset.dims ? o->offset.n : NULL, o->global.n,
                                                  o->local.dims ? o->local.n : NULL, 0, NULL, &event);
        if (err != CL_SUCCESS) {
            return refused(r, err);
        }
        status = measure(r, event, began, &before);
        clReleaseEvent(event);
    }
    return status;
}

/** Reads back the buffers and images that are printed or saved. */
static int read_back(struct run *r)
{
    for (unsigned i = 0; i < r->n_args; i++) {
        struct run_arg *a = &r->args[i];
        if (a->image && a->save && run_image_read_back(&r->session, a) != EXIT_OK) {
            return EXIT_FAILED;
        }
        if (a->buffer && !a->image && (a->print || a->save) &&
            session_failed(&r->session,
                           clEnqueueReadBuffer(r->session.queue, a->buffer, CL_TRUE, 0, a->size, a->data, 0, NULL,
                                               NULL), a->name)) {
            return EXIT_FAILED;
        }
    }
    return EXIT_OK;
}

static int go(struct run *r)
{
    struct run_options *o = &r->options;
    int status = session_open(&r->session, "run") ? run_build(r) : EXIT_FAILED;
    if (status == EXIT_OK && o->save_binary) {
        status = run_save_binary(r);
    }
    if (status == EXIT_OK && (o->print_asm || o->explain)) {
        status = o->kernel ? run_choose_kernel(r) : EXIT_OK;
        return status == EXIT_OK ? run_print_asm(r) : status;
    }
    if (status == EXIT_OK && o->save_binary && o->n_args == 0 && o->global.dims == 0) {
        return EXIT_OK; /* no kernel is to be run */
    }
    if (status == EXIT_OK) {
        status = run_choose_kernel(r);
    }
    if (status != EXIT_OK || o->list) {
        return status;
    }
    status = set_arguments(r);
    if (status == EXIT_OK) {
        status = choose_outputs(r);
    }
    if (status == EXIT_OK) {
        status = execute(r);
    }
    return status == EXIT_OK ? read_back(r) : status;
}

static void release(struct run *r)
{
    for (unsigned i = 0; i < r->n_args; i++) {
        if (r->args[i].buffer) {
            clReleaseMemObject(r->args[i].buffer);
        }
        free(r->args[i].data);
    }
    if (r->kernel) {
        clReleaseKernel(r->kernel);
    }
    if (r->program) {
        clReleaseProgram(r->program);
    }
    session_close(&r->session);
    free(r->times);
    free(r->options.build);
}

/** Sends the output of kernels to standard error if standard output is for JSON or a buffer. */
static int divert(const struct run_options *o)
{
    bool data = o->json;
    for (unsigned i = 0; i < o->n_saves; i++) {
        data = data || strcmp(strchr(o->saves[i], '='), "=-") == 0;
    }
    fflush(stdout);
    const int kept = data && !o->list && !o->explain ? dup(STDOUT_FILENO) : -1;
    if (kept >= 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }
    return kept;
}

int cmd_run(int argc, char **argv)
{
    static struct run r;
    int status = run_options_read(argc, argv, &r.options);
    if (status == -1) {
        const int kept = divert(&r.options);
        status = go(&r);
        if (kept >= 0) {
            fflush(stdout);
            dup2(kept, STDOUT_FILENO);
            close(kept);
        }
        if (status == EXIT_OK && r.n_times) {
            status = run_report(&r);
        }
    }
    release(&r);
    return status;
}
