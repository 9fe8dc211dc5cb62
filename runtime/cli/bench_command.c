/* SPDX-License-Identifier: Apache-2.0 */
/** tern bench: runs the benches of tests/bench through OpenCL, and prints cycles and what share of the machine they used. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <CL/cl_tern.h>
#include <cjson/cJSON.h>

#include "bench.h"
#include "cli.h"

#define PORT_BYTES 64.0
#define MAX_ENGINES 8
#define MAX_CHOSEN 64

struct result {
    const char *name;
    bool ok;
    double cycles, bytes_per_cycle, port_percent, fma_percent, seconds;
};

struct session {
    cl_device_id device;
    cl_tern_counters config;
    clGetDeviceCountersTERN_fn counters;
    struct bench_env env;
    cl_tern_counters before, after; /* around the measured command, summed over the engines */
};

static bool failed(cl_int err, const char *what)
{
    if (err != CL_SUCCESS) {
        fprintf(stderr, "tern bench: %s gave OpenCL error %d\n", what, err);
    }
    return err != CL_SUCCESS;
}

static void build_log(const struct session *s)
{
    size_t size = 0;
    clGetProgramBuildInfo(s->env.program, s->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = malloc(size + 1);
    if (log && clGetProgramBuildInfo(s->env.program, s->device, CL_PROGRAM_BUILD_LOG, size, log, NULL) == CL_SUCCESS) {
        fprintf(stderr, "%.*s\n", (int)size, log);
    }
    free(log);
}

/** Finds Tern among the platforms of the loader. */
static bool find_device(struct session *s)
{
    cl_platform_id platforms[16];
    cl_uint n = 0;
    if (failed(clGetPlatformIDs(16, platforms, &n), "clGetPlatformIDs (is " TERN_ICD_FILE " there?)")) {
        return false;
    }
    for (cl_uint i = 0; i < n && i < 16; i++) {
        s->counters = (clGetDeviceCountersTERN_fn)clGetExtensionFunctionAddressForPlatform(platforms[i],
                                                                                          "clGetDeviceCountersTERN");
        if (s->counters) {
            return !failed(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &s->device, NULL), "clGetDeviceIDs") &&
                   !failed(s->counters(s->device, 0, &s->config), "clGetDeviceCountersTERN");
        }
    }
    fprintf(stderr, "tern bench: no Tern platform among the %u that the loader found; set OCL_ICD_VENDORS=%s\n", n,
            TERN_ICD_FILE);
    return false;
}

static bool open_session(struct session *s)
{
    cl_int err;
    setenv("OCL_ICD_VENDORS", TERN_ICD_FILE, 0);
    if (!find_device(s)) {
        return false;
    }
    s->env.context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &err);
    if (failed(err, "clCreateContext")) {
        return false;
    }
    const cl_queue_properties props[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    s->env.queue = clCreateCommandQueueWithProperties(s->env.context, s->device, props, &err);
    if (failed(err, "clCreateCommandQueueWithProperties")) {
        return false;
    }
    const char *source = tern_bench_source;
    const size_t size = (size_t)(tern_bench_source_end - tern_bench_source);
    s->env.program = clCreateProgramWithSource(s->env.context, 1, &source, &size, &err);
    if (failed(err, "clCreateProgramWithSource")) {
        return false;
    }
    if (failed(clBuildProgram(s->env.program, 1, &s->device, "", NULL, NULL), "clBuildProgram")) {
        build_log(s);
        return false;
    }
    return true;
}

static void close_session(struct session *s)
{
    if (s->env.program) {
        clReleaseProgram(s->env.program);
    }
    if (s->env.queue) {
        clReleaseCommandQueue(s->env.queue);
    }
    if (s->env.context) {
        clReleaseContext(s->env.context);
    }
}

static void sample(void *user, bool after)
{
    struct session *s = user;
    cl_tern_counters *sum = after ? &s->after : &s->before;
    memset(sum, 0, sizeof *sum);
    for (cl_uint e = 0; e < s->config.engines && e < MAX_ENGINES; e++) {
        cl_tern_counters c;
        if (s->counters(s->device, e, &c) == CL_SUCCESS) {
            sum->fma += c.fma;
            sum->rd_lines += c.rd_lines;
            sum->wr_lines += c.wr_lines;
            sum->time = c.time;
        }
    }
}

static struct result run(struct session *s, const struct bench *b)
{
    struct result r = {.name = b->name};
    struct timespec t0, t1;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    r.ok = b->run(&s->env);
    clock_gettime(CLOCK_MONOTONIC, &t1);
    r.seconds = (double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) * 1e-9;
    r.cycles = (double)s->env.ns * (double)s->config.clock_hz / 1e9;
    if (r.ok && r.cycles > 0) {
        double lines = (double)(s->after.rd_lines - s->before.rd_lines + s->after.wr_lines - s->before.wr_lines);
        r.bytes_per_cycle = lines * PORT_BYTES / r.cycles;
        r.port_percent = r.bytes_per_cycle / PORT_BYTES * 100.0;
        r.fma_percent = (double)(s->after.fma - s->before.fma) / r.cycles / s->config.lanes * 100.0;
    }
    return r;
}

static int print_json(const cl_tern_counters *c, const struct result *r, unsigned n)
{
    cJSON *o = cJSON_CreateObject(), *config = cJSON_AddObjectToObject(o, "config");
    cJSON_AddStringToObject(config, "backend", c->backend);
    cJSON_AddStringToObject(config, "name", c->config);
    cJSON_AddNumberToObject(config, "engines", c->engines);
    cJSON_AddNumberToObject(config, "lanes", c->lanes);
    cJSON_AddNumberToObject(config, "warps", c->warps);
    cJSON_AddNumberToObject(config, "clock_hz", (double)c->clock_hz);
    cJSON *list = cJSON_AddArrayToObject(o, "results");
    for (unsigned i = 0; i < n; i++) {
        cJSON *e = cJSON_CreateObject();
        cJSON_AddStringToObject(e, "name", r[i].name);
        cJSON_AddNumberToObject(e, "cycles", r[i].cycles);
        cJSON_AddNumberToObject(e, "bytes_per_cycle", (double)(long)(r[i].bytes_per_cycle * 100 + 0.5) / 100);
        cJSON_AddNumberToObject(e, "port_percent", (double)(long)(r[i].port_percent * 100 + 0.5) / 100);
        cJSON_AddNumberToObject(e, "fma_percent", (double)(long)(r[i].fma_percent * 100 + 0.5) / 100);
        cJSON_AddBoolToObject(e, "correct", r[i].ok);
        cJSON_AddItemToArray(list, e);
    }
    char *text = cJSON_Print(o);
    cJSON_Delete(o);
    if (!text) {
        fprintf(stderr, "tern bench: out of memory\n");
        return EXIT_FAILED;
    }
    puts(text);
    cJSON_free(text);
    return EXIT_OK;
}

static void print_row(const struct result *r)
{
    printf("%-18s %12.0f %9.2f %8.1f %8.1f   %s\n", r->name, r->cycles, r->bytes_per_cycle, r->port_percent,
           r->fma_percent, r->ok ? "right" : "WRONG");
    fflush(stdout);
}

static void help(void)
{
    printf("usage: tern bench [--json] [--list] [NAME...]\n\n"
           "Runs each bench once, on a device of its own (TERN_BACKEND, TERN_CONFIG), checks its result on the host, and prints the\n"
           "device cycles from dispatch to completion, the bytes a cycle that moved between engines and memory, and the\n"
           "shares of a 64-byte port and of one engine's FMA peak. Progress is on stderr.\n"
           "Cycles repeat exactly on the rtl backend; the model backend only estimates them.\n\nBenches:");
    for (unsigned i = 0; i < tern_n_benches; i++) {
        printf(" %s", tern_benches[i].name);
    }
    printf("\nExit: 0 all right; 1 a result is wrong or the device failed; 2 wrong usage.\n");
}

static const struct bench *find(const char *name)
{
    for (unsigned i = 0; i < tern_n_benches; i++) {
        if (strcmp(name, tern_benches[i].name) == 0) {
            return &tern_benches[i];
        }
    }
    return NULL;
}

/** What a bench's process tells: its result and what the device is. */
struct report {
    struct result result;
    cl_tern_counters config;
    bool opened;
};

static void measure_here(const struct bench *b, struct report *out)
{
    struct session s = {.env.sample = sample};
    s.env.user = &s;
    out->opened = open_session(&s);
    if (out->opened) {
        out->config = s.config;
        out->result = run(&s, b);
    }
    close_session(&s);
}

/** Runs a bench in a process, so on a device, of its own: what ran before it cannot change its cycles. */
static bool measure(const struct bench *b, struct report *out)
{
    int fd[2], status = 0;
    if (pipe(fd)) {
        fprintf(stderr, "tern bench: pipe: %s\n", strerror(errno));
        return false;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct report r = {0};
        measure_here(b, &r);
        fflush(NULL);
        _exit(write(fd[1], &r, sizeof r) == (ssize_t)sizeof r ? 0 : 1);
    }
    close(fd[1]);
    bool told = child > 0 && read(fd[0], out, sizeof *out) == (ssize_t)sizeof *out;
    close(fd[0]);
    if (child > 0) {
        waitpid(child, &status, 0);
    }
    if (!told) {
        fprintf(stderr, "tern bench: %s: its process ended early (status %d)\n", b->name, status);
    }
    out->result.name = b->name; /* a pointer of this process */
    return told && out->opened;
}

static void print_head(const cl_tern_counters *c)
{
    printf("%s, %s: %u engines of %u lanes x %u warps\n\n", c->backend, c->config, c->engines, c->lanes, c->warps);
    printf("%-18s %12s %9s %8s %8s\n", "bench", "cycles", "B/cycle", "port %", "FMA %");
}

static int run_all(const struct bench **chosen, unsigned n, bool json)
{
    static struct report report;
    struct result results[MAX_CHOSEN];
    double seconds = 0, cycles = 0;
    int status = EXIT_OK;
    for (unsigned i = 0; i < n; i++) {
        fprintf(stderr, "[%u/%u] %s\n", i + 1, n, chosen[i]->name);
        if (!measure(chosen[i], &report)) {
            return EXIT_FAILED;
        }
        results[i] = report.result;
        seconds += results[i].seconds;
        cycles += results[i].cycles;
        if (!json && i == 0) {
            print_head(&report.config);
        }
        if (!json) {
            print_row(&results[i]);
        }
        status = results[i].ok ? status : EXIT_FAILED;
    }
    fprintf(stderr, "%.0f measured device cycles in %.1f s, set-up and checks included: %.0f cycles a second\n", cycles,
            seconds, seconds > 0 ? cycles / seconds : 0);
    return json && print_json(&report.config, results, n) != EXIT_OK ? EXIT_FAILED : status;
}

int cmd_bench(int argc, char **argv)
{
    const struct bench *chosen[MAX_CHOSEN];
    unsigned n = 0;
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            json = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            for (unsigned k = 0; k < tern_n_benches; k++) {
                puts(tern_benches[k].name);
            }
            return EXIT_OK;
        } else if (strcmp(argv[i], "--help") == 0) {
            help();
            return EXIT_OK;
        } else if (!find(argv[i])) {
            return usage_error("bench", "there is no bench '%s'", argv[i]);
        } else if (n < MAX_CHOSEN) {
            chosen[n++] = find(argv[i]);
        }
    }
    for (unsigned i = 0; n == 0 && i < tern_n_benches && i < MAX_CHOSEN; i++) {
        chosen[i] = &tern_benches[i];
    }
    return run_all(chosen, n ? n : tern_n_benches, json);
}
