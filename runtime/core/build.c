/* SPDX-License-Identifier: Apache-2.0 */
/** Building programs (build.h). */
#include "runtime/core/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A build with copies of all it needs: the caller's arrays need not outlive the call. */
struct job {
    cl_program program; /**< Held. */
    enum rt_build_step step;
    char *options;
    cl_uint n_inputs;
    cl_program *inputs; /**< Held. */
    char **names;
    rt_build_notify notify;
    void *data;
};

static void job_free(struct job *j)
{
    for (cl_uint i = 0; i < j->n_inputs; i++) {
        if (j->inputs != NULL) {
            rt_object_drop(j->inputs[i]);
        }
        if (j->names != NULL) {
            free(j->names[i]);
        }
    }
    free(j->inputs);
    free(j->names);
    free(j->options);
    rt_object_drop(j->program);
    free(j);
}

static struct job *job_create(cl_program p, const struct rt_build_request *r)
{
    struct job *j = calloc(1, sizeof *j);
    if (j == NULL) {
        return NULL;
    }
    rt_object_hold(p);
    j->program = p;
    j->step = r->step;
    j->notify = r->notify;
    j->data = r->data;
    j->options = strdup(r->options == NULL ? "" : r->options);
    j->inputs = calloc(r->n_inputs + 1u, sizeof(cl_program));
    j->names = calloc(r->n_inputs + 1u, sizeof(char *));
    if (j->options == NULL || j->inputs == NULL || j->names == NULL) {
        job_free(j);
        return NULL;
    }
    for (; j->n_inputs < r->n_inputs; j->n_inputs++) {
        const cl_uint i = j->n_inputs;
        rt_object_hold(r->inputs[i]);
        j->inputs[i] = r->inputs[i];
        if (r->names != NULL && (j->names[i] = strdup(r->names[i])) == NULL) {
            j->n_inputs++;
            job_free(j);
            return NULL;
        }
    }
    return j;
}

/** Appends a step's log to *log. */
static void add_log(char **log, char *more)
{
    if (more == NULL || *log == NULL) {
        *log = more == NULL ? *log : more;
        return;
    }
    char *both;
    if (asprintf(&both, "%s%s", *log, more) >= 0) {
        free(*log);
        *log = both;
    }
    free(more);
}

static int compile(const struct job *j, struct tc_blob *out, char **log)
{
    const cl_program p = j->program;
    struct tc_header *headers = calloc(j->n_inputs + 1u, sizeof *headers);
    if (headers == NULL) {
        return -ENOMEM;
    }
    const cl_uint n = j->step == RT_COMPILE ? j->n_inputs : 0;
    for (cl_uint i = 0; i < n; i++) {
        headers[i] = (struct tc_header){j->names[i], j->inputs[i]->source, j->inputs[i]->source_size};
    }
    const int r = tc_compile(p->source, p->source_size, j->options, headers, n, out, log);
    free(headers);
    return r;
}

/** Compile and link; a binary that is an executable already is taken as it is, and one that is not is linked. */
static int build(const struct job *j, struct tc_blob *out, char **log)
{
    const cl_program p = j->program;
    struct tc_blob module = {0};
    int r;
    if (p->source == NULL) {
        module.data = malloc(p->blob.size);
        if (module.data == NULL) {
            return -ENOMEM;
        }
        memcpy(module.data, p->blob.data, p->blob.size);
        module.size = p->blob.size;
        if (p->kind == TC_OBJECT) {
            *out = module;
            return 0;
        }
    } else {
        r = compile(j, &module, log);
        if (r != 0) {
            return r;
        }
    }
    char *link_log = NULL;
    r = tc_link(&module, 1, p->source == NULL ? j->options : "", 0, out, &link_log);
    add_log(log, link_log);
    free(module.data);
    return r;
}

static int link(const struct job *j, struct tc_blob *out, char **log)
{
    struct tc_blob *inputs = calloc(j->n_inputs, sizeof *inputs);
    if (inputs == NULL) {
        return -ENOMEM;
    }
    for (cl_uint i = 0; i < j->n_inputs; i++) {
        inputs[i] = j->inputs[i]->blob;
    }
    const int library = strstr(j->options, "-create-library") != NULL;
    const int r = tc_link(inputs, j->n_inputs, j->options, library, out, log);
    free(inputs);
    return r;
}

static cl_int failure(enum rt_build_step step, int r)
{
    static const cl_int failed[] = {CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_LINK_PROGRAM_FAILURE};
    static const cl_int options[] = {CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS, CL_INVALID_LINKER_OPTIONS};
    return r == -ENOMEM ? CL_OUT_OF_HOST_MEMORY : r == -EINVAL ? options[step] : failed[step];
}

/** Forgets the last build. The program's lock is held. */
static void forget_locked(cl_program p)
{
    rt_object_drop(p->image);
    p->image = NULL;
    tc_kernels_free(&p->kernels);
    p->kernels = (struct tc_kernels){0};
    p->executable = false;
    if (p->source != NULL) { /* else the binary is what the program is made from */
        free(p->blob.data);
        p->blob = (struct tc_blob){0};
    }
    free(p->log);
    p->log = NULL;
}

/** Does the work and stores the outcome. */
static cl_int perform(struct job *j)
{
    const cl_program p = j->program;
    struct tc_blob out = {0};
    struct tc_kernels kernels = {0};
    char *log = NULL;
    int r = j->step == RT_BUILD ? build(j, &out, &log) : j->step == RT_COMPILE ? compile(j, &out, &log) : link(j, &out, &log);
    const enum tc_kind kind = r == 0 ? tc_kind(out.data, out.size) : TC_UNKNOWN;
    if (kind == TC_OBJECT) {
        r = tc_kernels_read(&out, &kernels);
    }
    pthread_mutex_lock(&p->lock);
    p->log = log;
    p->status = r == 0 ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    if (r == 0) {
        free(p->blob.data);
        p->blob = out;
        p->kind = kind;
        p->kernels = kernels;
        p->executable = kind == TC_OBJECT;
    } else {
        free(out.data);
    }
    pthread_mutex_unlock(&p->lock);
    return r == 0 ? CL_SUCCESS : failure(j->step, r);
}

static void *perform_async(void *arg)
{
    struct job *j = arg;
    perform(j);
    j->notify(j->program, j->data);
    job_free(j);
    rt_device_thread_end();
    return NULL;
}

cl_int rt_build(cl_program p, const struct rt_build_request *request)
{
    struct job *j = job_create(p, request);
    if (j == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    pthread_mutex_lock(&p->lock);
    if (p->status == CL_BUILD_IN_PROGRESS || atomic_load(&p->attached) != 0) {
        pthread_mutex_unlock(&p->lock);
        job_free(j);
        return CL_INVALID_OPERATION;
    }
    forget_locked(p);
    free(p->options);
    p->options = strdup(j->options);
    p->status = CL_BUILD_IN_PROGRESS;
    pthread_mutex_unlock(&p->lock);
    if (request->notify == NULL) {
        const cl_int error = perform(j);
        job_free(j);
        return error;
    }
    pthread_t thread;
    rt_device_thread_begin();
    if (pthread_create(&thread, NULL, perform_async, j) != 0) {
        perform_async(j); /* no thread to be had: the caller does it, which the specification allows */
    } else {
        pthread_detach(thread);
    }
    return CL_SUCCESS;
}
