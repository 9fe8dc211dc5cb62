/* SPDX-License-Identifier: Apache-2.0 */
/** The demo: four OpenCL programs on one device, two at a time, each with a context and a thread of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

struct program {
    struct demo demo;
    void (*run)(struct demo *d);
    pthread_t thread;
};

struct setting {
    const char *folder, *photo, *matrix, *kernels, *output;
    cl_device_id device;
    clGetDeviceCountersTERN_fn counters;
    cl_uint engines;
};

static bool find_device(struct setting *s)
{
    cl_platform_id platforms[16];
    cl_uint n = 0;
    clGetPlatformIDs(16, platforms, &n);
    for (cl_uint i = 0; i < n && i < 16; i++) {
        s->counters = (clGetDeviceCountersTERN_fn)clGetExtensionFunctionAddressForPlatform(platforms[i],
                                                                                          "clGetDeviceCountersTERN");
        cl_tern_counters c;
        if (s->counters && clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &s->device, NULL) == CL_SUCCESS &&
            s->counters(s->device, 0, &c) == CL_SUCCESS) {
            s->engines = c.engines;
            return true;
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

/** Runs programs at the same time, each in a thread, to their ends. */
static void round_of(const struct setting *s, struct program *p, int n)
{
    for (int i = 0; i < n; i++) {
        p[i].demo.device = s->device;
        p[i].demo.output = s->output;
        demo_open(&p[i].demo, s->kernels);
        fprintf(stderr, "  %s starts\n", p[i].demo.name);
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
        demo_close(&p[i].demo);
    }
}

/** Prints the part of each program's cycles on each engine, by the scheduler's statistics. */
static bool print_programs(const struct setting *s, const struct program *p, size_t n)
{
    bool ok = true;
    printf("\n%-8s %12s", "program", "cycles");
    for (cl_uint e = 0; e < s->engines; e++) {
        printf("  on engine %u", e);
    }
    printf("   %s\n", "work");
    for (size_t i = 0; i < n; i++) {
        const struct demo *d = &p[i].demo;
        printf("%-8s %12llu", d->name, (unsigned long long)d->ran.cycles);
        for (cl_uint e = 0; e < s->engines; e++) {
            printf(" %10.1f %%", d->ran.cycles ? 100.0 * (double)d->ran.engine_cycles[e] / (double)d->ran.cycles : 0);
        }
        printf("   %s\n", d->ok ? d->result : "FAILED (see above)");
        ok = ok && d->ok;
    }
    return ok;
}

static void print_engines(const struct setting *s)
{
    printf("\n%-8s %12s %15s %15s\n", "engine", "cycles busy", "of device time", "bytes a cycle");
    for (cl_uint e = 0; e < s->engines; e++) {
        cl_tern_counters c = {0};
        s->counters(s->device, e, &c);
        const double busy = (double)c.busy, bytes = 64.0 * (double)(c.rd_lines + c.wr_lines);
        printf("%-8u %12llu %13.1f %% %15.2f\n", e, (unsigned long long)c.busy,
               c.time ? 100.0 * busy / (double)c.time : 0, c.busy ? bytes / busy : 0);
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
    } options[] = {{"--folder", &s->folder}, {"--photo", &s->photo}, {"--matrix", &s->matrix},
                   {"--kernels", &s->kernels},
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
    fprintf(stderr, "two programs at once, each in an address space of its own, share %u engine%s:\n", s.engines,
            s.engines == 1 ? "" : "s");
    round_of(&s, &p[0], 2);
    round_of(&s, &p[2], 2);

    const bool ok = print_programs(&s, p, sizeof p / sizeof p[0]);
    print_engines(&s);
    return ok ? 0 : 1;
}
