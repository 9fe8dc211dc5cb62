/* SPDX-License-Identifier: Apache-2.0 */
/** tern run: output after the kernel has run. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "run.h"

#define ROW 8      /* elements in a line */
#define LINE 64.0  /* bytes of a line, the unit of rd_lines and wr_lines */

/** Number of elements of a buffer; bytes, if the type is not known. */
static size_t count_of(const struct run_arg *a)
{
    return a->type.kind == OPAQUE ? a->size : a->size / type_size(a->type);
}

static size_t printed(const struct run_arg *a)
{
    const size_t n = count_of(a);
    return n < a->print_count ? n : a->print_count;
}

/** Prints element i, as 1.5, (1,2,3,4), or two hexadecimal digits. */
static void print_element(const struct run_arg *a, size_t i)
{
    const struct type t = a->type;
    const char *at = (const char *)a->data + i * (t.kind == OPAQUE ? 1 : type_size(t));
    char text[VALUE_TEXT];
    if (t.kind == OPAQUE) {
        printf("%02x", *(const unsigned char *)at);
        return;
    }
    for (unsigned c = 0; c < t.width; c++) {
        value_print(t, at + c * t.bytes, text);
        printf("%s%s", c ? "," : t.width > 1 ? "(" : "", text);
    }
    fputs(t.width > 1 ? ")" : "", stdout);
}

static void print_buffer(const struct run_arg *a)
{
    const size_t n = printed(a), row = a->type.kind == OPAQUE ? 2 * ROW : ROW;
    const int base = (int)strcspn(a->type_name, "*");
    printf("%s: ", a->name);
    if (a->type.kind == OPAQUE) {
        printf("%.*s, %zu bytes", base, a->type_name, a->size);
    } else {
        printf("%.*s[%zu]", base, a->type_name, count_of(a));
    }
    for (size_t i = 0; i < n; i++) {
        if (n > row && i % row == 0) {
            printf("\n%8zu:", i);
        }
        fputs(i == 0 && n <= row ? " = " : " ", stdout);
        print_element(a, i);
    }
    printf("%s\n", n < count_of(a) ? " ..." : "");
}

/** One component. Integers are written in full, because readers of JSON may take them exactly; values that JSON does
 *  not have become strings. */
static cJSON *component_json(struct type t, const void *at)
{
    char text[VALUE_TEXT];
    value_print(t, at, text);
    return strpbrk(text, "in") ? cJSON_CreateString(text) : cJSON_CreateRaw(text); /* inf, nan */
}

static cJSON *buffer_json(const struct run_arg *a)
{
    cJSON *o = cJSON_CreateObject();
    char base[128];
    snprintf(base, sizeof base, "%.*s", (int)strcspn(a->type_name, "*"), a->type_name);
    cJSON_AddStringToObject(o, "name", a->name);
    cJSON_AddStringToObject(o, "type", base);
    cJSON_AddNumberToObject(o, "bytes", (double)a->size);
    const struct type t = a->type;
    if (t.kind == OPAQUE) {
        char *hex = calloc(1, 2 * printed(a) + 1);
        for (size_t i = 0; hex && i < printed(a); i++) {
            snprintf(hex + 2 * i, 3, "%02x", ((const unsigned char *)a->data)[i]);
        }
        cJSON_AddStringToObject(o, "hex", hex ? hex : "");
        free(hex);
        return o;
    }
    cJSON_AddNumberToObject(o, "elements", (double)count_of(a));
    cJSON *values = cJSON_AddArrayToObject(o, "values");
    for (size_t i = 0; i < printed(a); i++) {
        const char *at = (const char *)a->data + i * type_size(t);
        cJSON *element = t.width == 1 ? component_json(t, at) : cJSON_CreateArray();
        for (unsigned c = 0; t.width > 1 && c < t.width; c++) {
            cJSON_AddItemToArray(element, component_json(t, at + c * t.bytes));
        }
        cJSON_AddItemToArray(values, element);
    }
    return o;
}

static int by_cycles(const void *a, const void *b)
{
    const double x = ((const struct run_time *)a)->cycles, y = ((const struct run_time *)b)->cycles;
    return (x > y) - (x < y);
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100.0 * part / whole : 0.0;
}

/** Prints the times of the run with the median of cycles; of several runs also least and most. Sorts the times. */
static void print_times(struct run *r)
{
    qsort(r->times, r->n_times, sizeof *r->times, by_cycles);
    const struct run_time *t = &r->times[(r->n_times - 1) / 2];
    const cl_tern_counters *c = &t->counters;
    printf("kernel               %s\n", r->kernel_name);
    printf("device               %s, %s\n", c->backend, c->config);
    printf("cycles               %.0f (%.3f ms at %.0f MHz)\n", t->cycles, t->ns / 1e6, (double)c->clock_hz / 1e6);
    if (r->n_times > 1) {
        printf("of %-6zu runs       %.0f to %.0f cycles; figures are of the median\n", r->n_times, r->times[0].cycles,
               r->times[r->n_times - 1].cycles);
    }
    printf("warp instructions    %" PRIu64 ", %.2f a cycle\n", c->issue,
           t->cycles > 0 ? (double)c->issue / t->cycles : 0);
    printf("thread instructions  %" PRIu64 ", %.1f of %u lanes active\n", c->lanes_active,
           c->issue ? (double)c->lanes_active / (double)c->issue : 0, c->lanes);
    if (c->stall_use + c->stall_unit + c->stall_idle) { /* a backend that does not time stalls reports none */
        printf("issue lost           %.1f %% to operands, %.1f %% to busy units, %.1f %% with no warp ready\n",
               percent((double)c->stall_use, t->cycles), percent((double)c->stall_unit, t->cycles),
               percent((double)c->stall_idle, t->cycles));
    }
    if (c->l1_hit + c->l1_miss) {
        printf("L1                   %" PRIu64 " hits, %" PRIu64 " misses\n", c->l1_hit, c->l1_miss);
    }
    if (c->rd_lines + c->wr_lines) {
        printf("memory               %.0f bytes read, %.0f written\n", (double)c->rd_lines * LINE,
               (double)c->wr_lines * LINE);
    }
    printf("FMA                  %.1f %% of one engine's peak\n", percent((double)c->fma, t->cycles * c->lanes));
    printf("host time            %.6f s, %.1f million thread instructions a second\n", t->seconds,
           t->seconds > 0 ? (double)c->lanes_active / t->seconds / 1e6 : 0);
}

/** The scheduler's statistics of the queue, of all runs together. */
static cl_tern_queue_statistics statistics(const struct run *r)
{
    cl_tern_queue_statistics s = {0};
    clGetCommandQueueInfo(r->session.queue, CL_QUEUE_STATISTICS_TERN, sizeof s, &s, NULL);
    return s;
}

static void print_statistics(const struct run *r)
{
    const cl_tern_queue_statistics s = statistics(r);
    printf("scheduler            %" PRIu64 " buffers, preempted %" PRIu64 " times, moved %" PRIu64 " times; waited %"
           PRIu64 " cycles, at most %" PRIu64 "\n", s.submitted, s.preempted, s.moved, s.waited, s.longest_wait);
}

static cJSON *time_json(const struct run_time *t)
{
    const cl_tern_counters *c = &t->counters;
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "cycles", round(t->cycles));
    cJSON_AddNumberToObject(o, "ns", t->ns);
    cJSON_AddNumberToObject(o, "seconds", t->seconds);
    cJSON_AddNumberToObject(o, "thread_instructions", (double)c->lanes_active);
    cJSON_AddNumberToObject(o, "thread_instructions_per_second",
                            round(t->seconds > 0 ? (double)c->lanes_active / t->seconds : 0));
    json_add_counters(o, c);
    return o;
}

static void add_extent(cJSON *o, const char *name, const struct extent *e)
{
    cJSON *list = e->dims ? cJSON_AddArrayToObject(o, name) : cJSON_AddNullToObject(o, name);
    for (unsigned i = 0; i < e->dims; i++) {
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)e->n[i]));
    }
}

static int print_json(const struct run *r)
{
    cJSON *o = cJSON_CreateObject();
    json_add_config(o, &r->session.config);
    cJSON_AddStringToObject(o, "file", r->options.file);
    cJSON_AddStringToObject(o, "kernel", r->kernel_name);
    add_extent(o, "global", &r->options.global);
    add_extent(o, "local", &r->options.local);
    add_extent(o, "offset", &r->options.offset);
    cJSON *runs = cJSON_AddArrayToObject(o, "runs");
    for (size_t i = 0; i < r->n_times; i++) {
        cJSON_AddItemToArray(runs, time_json(&r->times[i]));
    }
    const cl_tern_queue_statistics s = statistics(r);
    cJSON *k = cJSON_AddObjectToObject(o, "scheduler");
#define PUT_SUM(field) cJSON_AddNumberToObject(k, #field, (double)s.field);
    PUT_SUM(submitted) PUT_SUM(completed) PUT_SUM(aborted) PUT_SUM(preempted) PUT_SUM(moved) PUT_SUM(cycles)
        PUT_SUM(waited)
    PUT_SUM(longest_wait)
    cJSON *buffers = cJSON_AddArrayToObject(o, "buffers");
    for (unsigned i = 0; i < r->n_args; i++) {
        if (r->args[i].print) {
            cJSON_AddItemToArray(buffers, buffer_json(&r->args[i]));
        }
    }
    return json_print("run", o);
}

int run_list_json(struct run *r, cl_kernel *kernels, cl_uint n)
{
    static const char *const spaces[] = {"global", "local", "constant", "private"};
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "file", r->options.file);
    cJSON *all = cJSON_AddArrayToObject(o, "kernels");
    for (cl_uint i = 0; i < n; i++) {
        const int status = run_take_kernel(r, kernels[i]);
        if (status != EXIT_OK) {
            cJSON_Delete(o);
            return status;
        }
        cJSON *k = cJSON_CreateObject();
        cJSON_AddItemToArray(all, k);
        cJSON_AddStringToObject(k, "name", r->kernel_name);
        cJSON *arguments = cJSON_AddArrayToObject(k, "arguments");
        for (unsigned a = 0; a < r->n_args; a++) {
            char text[320];
            cJSON *e = cJSON_CreateObject();
            run_arg_declare(&r->args[a], text, sizeof text);
            cJSON_AddStringToObject(e, "name", r->args[a].name);
            cJSON_AddStringToObject(e, "type", r->args[a].type_name);
            cJSON_AddStringToObject(e, "address", spaces[(r->args[a].space - CL_KERNEL_ARG_ADDRESS_GLOBAL) & 3]);
            cJSON_AddStringToObject(e, "declaration", text);
            cJSON_AddItemToArray(arguments, e);
        }
    }
    return json_print("run", o);
}

int run_report(struct run *r)
{
    int status = EXIT_OK;
    for (unsigned i = 0; i < r->n_args; i++) {
        const struct run_arg *a = &r->args[i];
        if (a->save && file_write("run", a->save, a->data, a->size) != EXIT_OK) {
            status = EXIT_FAILED;
        }
    }
    if (r->options.json) {
        return print_json(r) == EXIT_OK ? status : EXIT_FAILED;
    }
    for (unsigned i = 0; i < r->n_args; i++) {
        if (r->args[i].print) {
            print_buffer(&r->args[i]);
        }
    }
    if (r->options.time) {
        print_times(r);
        print_statistics(r);
    }
    return status;
}
