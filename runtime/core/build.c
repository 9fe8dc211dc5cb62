/* SPDX-License-Identifier: Apache-2.0 */
/** Builds of programs (build.h). */
#include "runtime/core/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/thread.h"

/** A build, with copies of the caller's arrays. */
struct job {
    cl_program program; /**< Held. */
    enum rt_build_step step;
    char *options;
    struct tc_constant *constants; /**< Specialization constants of a program in SPIR-V. */
    struct rt_binary *from; /**< The binary from which a program that compiles nothing is built, held. */
    cl_uint n_inputs;
    cl_program *headers;       /**< RT_COMPILE: headers, held. */
    struct rt_binary **inputs; /**< RT_LINK: binaries, held. */
    char **names;
    rt_build_notify notify;
    void *data;
};

static void job_free(struct job *j)
{
    for (cl_uint i = 0; i < j->n_inputs; i++) {
        rt_object_drop(j->headers[i]);
        rt_object_drop(j->inputs[i]);
        free(j->names[i]);
    }
    free(j->headers);
    free(j->inputs);
    free(j->names);
    free(j->options);
    free(j->constants);
    rt_object_drop(j->from);
    rt_object_drop(j->program);
    free(j);
}

/** Takes input i. For a link this is the binary that the program has now. */
static cl_int take_input(struct job *j, const struct rt_build_request *r, cl_uint i)
{
    if (r->step == RT_LINK) {
        return rt_program_take_compiled(r->inputs[i], &j->inputs[i]);
    }
    rt_object_hold(r->inputs[i]);
    j->headers[i] = r->inputs[i];
    j->names[i] = strdup(r->names[i]);
    return j->names[i] == NULL ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

static cl_int job_create(cl_program p, const struct rt_build_request *r, struct job **out)
{
    struct job *j = calloc(1, sizeof *j);
    if (j == NULL) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    cl_int error = CL_OUT_OF_HOST_MEMORY;
    rt_object_hold(p);
    j->program = p;
    j->step = r->step;
    j->notify = r->notify;
    j->data = r->data;
    j->options = strdup(r->options == NULL ? "" : r->options);
    j->headers = calloc(r->n_inputs + (size_t)1, sizeof(cl_program));
    j->inputs = calloc(r->n_inputs + (size_t)1, sizeof(struct rt_binary *));
    j->names = calloc(r->n_inputs + (size_t)1, sizeof(char *));
    j->constants = calloc(p->n_constants + 1, sizeof *j->constants);
    if (j->constants == NULL || j->options == NULL || j->headers == NULL || j->inputs == NULL || j->names == NULL) {
        goto fail;
    }
    j->n_inputs = r->n_inputs;
    for (cl_uint i = 0; i < r->n_inputs; i++) {
        error = take_input(j, r, i);
        if (error != CL_SUCCESS) {
            goto fail;
        }
    }
    *out = j;
    return CL_SUCCESS;
fail:
    job_free(j);
    return error;
}

/** Appends the log `more`, which it takes, to *log. */
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
    if (p->il != NULL) { /* which has included its headers */
        return tc_il_compile(p->il, p->il_size, j->constants, p->n_constants, j->options, out, log);
    }
    struct tc_header *headers = calloc(j->n_inputs + (size_t)1, sizeof *headers);
    if (headers == NULL) {
        return -ENOMEM;
    }
    for (cl_uint i = 0; i < j->n_inputs; i++) {
        headers[i] = (struct tc_header){j->names[i], j->headers[i]->source, j->headers[i]->source_size};
    }
    const int r = tc_compile(p->source, p->source_size, j->options, headers, j->n_inputs, out, log);
    free(headers);
    return r;
}

/** Compiles the source or module and links it, or links the binary of a program that has neither. */
static int build(const struct job *j, struct tc_blob *out, char **log)
{
    if (j->from != NULL) {
        return tc_link(&j->from->blob, 1, j->options, 0, out, log);
    }
    struct tc_blob module = {0};
    int r = compile(j, &module, log);
    if (r != 0) {
        return r;
    }
    char *link_log = NULL;
    r = tc_link(&module, 1, j->options, 0, out, &link_log);
    add_log(log, link_log);
    free(module.data);
    return r;
}

static int link_inputs(const struct job *j, struct tc_blob *out, char **log)
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

/** The result of the build's step, held. A binary that is executable already is returned as it is. */
static int make(const struct job *j, struct rt_binary **out, char **log)
{
    struct tc_blob blob = {0};
    if (j->from != NULL && j->from->kind == TC_OBJECT) {
        rt_object_hold(j->from);
        *out = j->from;
        return 0;
    }
    const int r = j->step == RT_BUILD ? build(j, &blob, log) : j->step == RT_COMPILE ? compile(j, &blob, log)
                                                                                     : link_inputs(j, &blob, log);
    return r == 0 ? rt_binary_create(blob, out) : r;
}

static cl_int failure(enum rt_build_step step, int r)
{
    static const cl_int failed[] = {CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_LINK_PROGRAM_FAILURE};
    static const cl_int options[] = {CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS, CL_INVALID_LINKER_OPTIONS};
    return r == -ENOMEM ? CL_OUT_OF_HOST_MEMORY : r == -EINVAL ? options[step] : failed[step];
}

/** Clears the result of the last build. Requires the program's lock. */
static void forget_locked(cl_program p)
{
    tern_assert_held(&p->lock);
    p->executable = false;
    if (rt_program_compiles(p)) { /* others keep the binary from which they were made */
        rt_object_drop(p->binary);
        p->binary = NULL;
    }
    free(p->log);
    p->log = NULL;
}

/** Does the work, and stores the result in the program. */
static cl_int perform(struct job *j)
{
    const cl_program p = j->program;
    struct rt_binary *made = NULL;
    char *log = NULL;
    const int r = make(j, &made, &log);
    pthread_mutex_lock(&p->lock);
    p->log = log;
    p->status = r == 0 ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    if (r == 0) {
        rt_object_drop(p->binary);
        p->binary = made;
        p->executable = made->kind == TC_OBJECT;
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
    struct job *j;
    const cl_int error = job_create(p, request, &j);
    if (error != CL_SUCCESS) {
        return error;
    }
    pthread_mutex_lock(&p->lock);
    const bool builtin = p->binary != NULL && p->binary->executors != NULL; /* built-in kernels are not built */
    if (p->status == CL_BUILD_IN_PROGRESS || p->attached != 0 || builtin) {
        pthread_mutex_unlock(&p->lock);
        job_free(j);
        return CL_INVALID_OPERATION;
    }
    forget_locked(p);
    if (p->n_constants != 0) {
        memcpy(j->constants, p->constants, p->n_constants * sizeof *p->constants);
    }
    free(p->options);
    p->options = strdup(j->options);
    p->status = CL_BUILD_IN_PROGRESS;
    if (p->binary != NULL) { /* kept by forget_locked, because the program has nothing to compile */
        rt_object_hold(p->binary);
        j->from = p->binary;
    }
    pthread_mutex_unlock(&p->lock);
    if (request->notify == NULL) {
        const cl_int outcome = perform(j);
        job_free(j);
        return outcome;
    }
    rt_device_thread_begin();
    if (!rt_thread_start(perform_async, j)) {
        perform_async(j); /* without a thread the call does the work itself, which the specification allows */
    }
    return CL_SUCCESS;
}
