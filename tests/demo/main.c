/* SPDX-License-Identifier: Apache-2.0 */
/** The demo: four OpenCL programs on one device, two at a time, each with a context and a thread of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CL/cl_tern.h>

#include "demo.h"

#define ENGINES 8

struct program {
    struct demo demo;
    void (*run)(struct demo *d);
    pthread_t thread;
    double bytes_per_cycle, use;
};

struct setting {
    const char *folder, *photo, *matrix, *kernels, *output;
    cl_device_id device;
    clGetDeviceCountersTERN_fn counters;
    cl_tern_counters device_info;
};

static bool find_device(struct setting *s)
{
    cl_platform_id platforms[16];
    cl_uint n = 0;
    clGetPlatformIDs(16, platforms, &n);
    for (cl_uint i = 0; i < n && i < 16; i++) {
        s->counters = (clGetDeviceCountersTERN_fn)clGetExtensionFunctionAddressForPlatform(platforms[i],
                                                                                          "clGetDeviceCountersTERN");
        if (s->counters) {
            return clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &s->device, NULL) == CL_SUCCESS &&
                   s->counters(s->device, 0, &s->device_info) == CL_SUCCESS;
        }
    }
    fprintf(stderr, "tern-demo: no Tern platform; set OCL_ICD_VENDORS to build/tern.icd\n");
    return false;
}

static void *thread_main(void *arg)
{
    struct program *p = arg;
    p->run(&p->demo);
    return NULL;
}

/** Runs programs at the same time and fills in what each used of its engine. */
static void round_of(const struct setting *s, struct program *p, int n)
{
    cl_tern_counters before[ENGINES] = {0}, after[ENGINES] = {0};
    for (int i = 0; i < n; i++) {
        p[i].demo.device = s->device;
        p[i].demo.output = s->output;
        p[i].demo.clock_ns = 1e9 / (double)s->device_info.clock_hz;
        demo_open(&p[i].demo, s->kernels);
        fprintf(stderr, "  %s starts on engine %u\n", p[i].demo.name, p[i].demo.engine);
    }
    for (cl_uint e = 0; e < s->device_info.engines && e < ENGINES; e++) {
        s->counters(s->device, e, &before[e]);
    }
    for (int i = 0; i < n; i++) {
        if (pthread_create(&p[i].thread, NULL, thread_main, &p[i])) {
            demo_fail(&p[i].demo, "cannot start a thread");
            p[i].thread = 0;
        }
    }
    for (int i = 0; i < n; i++) {
        if (p[i].thread) {
            pthread_join(p[i].thread, NULL);
        }
    }
    for (cl_uint e = 0; e < s->device_info.engines && e < ENGINES; e++) {
        s->counters(s->device, e, &after[e]);
    }
    for (int i = 0; i < n; i++) {
        struct demo *d = &p[i].demo;
        const cl_tern_counters *b = &before[d->engine], *a = &after[d->engine];
        double lines = (double)(a->rd_lines - b->rd_lines + a->wr_lines - b->wr_lines);
        p[i].bytes_per_cycle = d->cycles ? lines * 64.0 / (double)d->cycles : 0;
        p[i].use = d->last > d->first ? 100.0 * (double)d->cycles / (double)(d->last - d->first) : 0;
        demo_close(d);
    }
}

static int usage(const char *bad)
{
    fprintf(bad ? stderr : stdout,
            "%s%s%susage: tern-demo --folder DIR --photo FILE.jpg --matrix FILE.mtx --kernels DIR --output DIR\n",
            bad ? "tern-demo: what is '" : "", bad ? bad : "", bad ? "'?\n" : "");
    return bad ? 2 : 0;
}

static bool parse(struct setting *s, int argc, char **argv)
{
    const struct {
        const char *name, **value;
    } options[] = {{"--folder", &s->folder}, {"--photo", &s->photo}, {"--matrix", &s->matrix}, {"--kernels", &s->kernels},
                   {"--output", &s->output}};
    for (int i = 1; i < argc; i += 2) {
        size_t k = 0;
        while (k < 5 && strcmp(argv[i], options[k].name) != 0) {
            k++;
        }
        if (k == 5 || i + 1 == argc) {
            usage(argv[i]);
            return false;
        }
        *options[k].value = argv[i + 1];
    }
    for (size_t k = 0; k < 5; k++) {
        if (!*options[k].value) {
            usage(options[k].name);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct setting s = {0};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        return usage(NULL);
    }
    if (!parse(&s, argc, argv)) {
        return 2;
    }
    if (!find_device(&s)) {
        return 1;
    }
    struct program p[] = {
        {.demo = {.name = "sha256", .kernels = "sha256.cl", .input = s.folder}, .run = demo_sha256},
        {.demo = {.name = "edges", .kernels = "edges.cl", .input = s.photo}, .run = demo_edges},
        {.demo = {.name = "sgemm", .kernels = "sgemm.cl", .input = s.matrix}, .run = demo_sgemm},
        {.demo = {.name = "eigen", .kernels = "eigen.cl", .input = s.matrix}, .run = demo_eigen},
    };
    fprintf(stderr, "two programs at once, each in an address space and on an engine of its own:\n");
    round_of(&s, &p[0], 2);
    round_of(&s, &p[2], 2);

    printf("\n%-8s %6s %12s %9s %12s   %s\n", "program", "engine", "cycles", "B/cycle", "engine use", "work");
    bool ok = true;
    for (size_t i = 0; i < sizeof p / sizeof p[0]; i++) {
        const struct demo *d = &p[i].demo;
        printf("%-8s %6u %12llu %9.2f %11.1f%%   %s\n", d->name, d->engine, (unsigned long long)d->cycles,
               p[i].bytes_per_cycle, p[i].use, d->ok ? d->result : "FAILED (see above)");
        ok = ok && d->ok;
    }
    return ok ? 0 : 1;
}
