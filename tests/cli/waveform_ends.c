/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Ways in which a program ends whose devices write waveforms. Usage: waveform_ends END FILE..., with a device for each
 * file. Each device fills 64 KiB twice or more. The printed text stays in the buffer of stdout until the end; the exit
 * status is 5.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tern/tern.h"
#include "tern/tern_spec.h"
#include "tests/lib/submit.h"

#define BYTES 65536u
#define DEVICES 4

static struct target {
    struct tern_device *device;
    struct tern_process *process;
    struct tern_context *context;
    struct tern_allocation *memory;
} targets[DEVICES];
static int n;
static void (*at_destruction)(void);

static void check(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, tern_last_error());
        _exit(1);
    }
}

static void begin_fill(struct target *t, uint64_t *fence)
{
    uint32_t words[32];
    const struct tern_pkt_fill fill = {
        .dst_lo = tern_allocation_address(t->memory), .width = BYTES, .rows = 1, .slices = 1};
    check(tern_pkt_fill_pack(&fill, words), "tern_pkt_fill_pack");
    check(submit_packets(t->context, words, 64 * tern_pkt_lines(TERN_PKT_FILL), "fill", fence), "tern_submit");
}

static void fill_all(void)
{
    for (int i = 0; i < n; i++) {
        uint64_t fence;
        begin_fill(&targets[i], &fence);
        check(tern_wait(targets[i].context, fence, -1), "tern_wait");
    }
}

static void close_all(void)
{
    for (int i = 0; i < n; i++) {
        tern_allocation_destroy(targets[i].memory);
        tern_context_destroy(targets[i].context);
        check(tern_process_destroy(targets[i].process), "tern_process_destroy");
        check(tern_device_close(targets[i].device), "tern_device_close");
    }
}

static void fill_and_close(void)
{
    fill_all();
    close_all();
}

static void open_all(char **files)
{
    for (n = 0; files[n]; n++) {
        struct target *t = &targets[n];
        char config[300];
        snprintf(config, sizeof config, "tiny,trace=%s", files[n]);
        const struct tern_context_desc desc = {.size = sizeof desc, .name = "ends", .engine = -1};
        if (tern_device_open("rtl", config, &t->device)) {
            fprintf(stderr, "%s\n", tern_last_error());
            exit(1);
        }
        check(tern_process_create(t->device, "ends", &t->process), "tern_process_create");
        check(tern_context_create(t->process, &desc, &t->context), "tern_context_create");
        check(tern_allocation_create(t->process, BYTES, TERN_MEM_WRITE, 0, &t->memory), "tern_allocation_create");
    }
    fill_all();
}

__attribute__((destructor)) static void of_the_program(void)
{
    if (at_destruction) {
        at_destruction();
    }
}

static void end_closed(char **files)
{
    open_all(files);
    fill_and_close();
}

static void end_left(char **files)
{
    open_all(files);
    fill_all();
}

static void end_in_flight(char **files)
{
    open_all(files);
    for (int i = 0; i < 100 * n; i++) {
        uint64_t fence;
        begin_fill(&targets[i % n], &fence);
    }
}

/** The handler is registered before the device is opened, so it runs after the exit handlers that the device's library
 * registers. */
static void end_older_handler(char **files)
{
    atexit(fill_and_close);
    open_all(files);
}

static void end_younger_handler(char **files)
{
    open_all(files);
    atexit(fill_and_close);
}

static void end_handler_that_leaves(char **files)
{
    atexit(fill_all);
    open_all(files);
}

static void end_destructor(char **files)
{
    at_destruction = fill_and_close;
    open_all(files);
}

static void end_destructor_that_leaves(char **files)
{
    at_destruction = fill_all;
    open_all(files);
}

static void *leave(void *unused)
{
    (void)unused;
    exit(5);
}

/** Another thread exits while the main thread uses the device. */
static void end_other_thread(char **files)
{
    pthread_t thread;
    open_all(files);
    check(-pthread_create(&thread, NULL, leave, NULL), "pthread_create");
    for (;;) {
        fill_all();
    }
}

/** Children end meanwhile: one by exit, and one after it was denied the device. */
static void end_children(char **files)
{
    open_all(files);
    for (int i = 0; i < 2; i++) {
        int status;
        const pid_t child = fork();
        if (child == 0) {
            uint64_t fence;
            close(STDOUT_FILENO); /* The buffered text belongs to the parent. */
            exit(i && (submit_null(targets[0].context, NULL, &fence) == 0 ||
                       tern_device_close(targets[0].device) == 0));
        }
        if (waitpid(child, &status, 0) != child || status) {
            fprintf(stderr, "child %d: status %#x\n", i, status);
            _exit(1);
        }
        fill_all();
    }
    close_all();
}

/** The program opens a device by the library alone, and unloads the library with the device open. */
static void end_unloaded(char **files)
{
    char config[300];
    struct tern_device *device;
    void *library = dlopen("libtern.so", RTLD_NOW | RTLD_LOCAL);
    int (*open)(const char *, const char *, struct tern_device **) = NULL;
    if (library) {
        void *symbol = dlsym(library, "tern_device_open");
        memcpy(&open, &symbol, sizeof symbol);
    }
    snprintf(config, sizeof config, "tiny,trace=%s", files[0]);
    if (!open || open("rtl", config, &device) || dlclose(library)) {
        fprintf(stderr, "dlopen: %s\n", dlerror());
        _exit(1);
    }
}

static const struct end {
    const char *name;
    void (*run)(char **files);
} ends[] = {
    {"closed", end_closed},
    {"left", end_left},
    {"in_flight", end_in_flight},
    {"older_handler", end_older_handler},
    {"younger_handler", end_younger_handler},
    {"handler_that_leaves", end_handler_that_leaves},
    {"destructor", end_destructor},
    {"destructor_that_leaves", end_destructor_that_leaves},
    {"other_thread", end_other_thread},
    {"children", end_children},
    {"unloaded", end_unloaded},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends && argc > 2 && argc < 3 + DEVICES; i++) {
        if (!strcmp(argv[1], ends[i].name)) {
            printf("kept\n");
            ends[i].run(argv + 2);
            return 5;
        }
    }
    fprintf(stderr, "usage: waveform_ends END FILE...\n");
    return 2;
}
