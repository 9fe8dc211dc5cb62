/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program of libtern's own interface that calls a user executor by one packet `user_call`: saxpy, which computes
 * y[i] += a * x[i]. No kernel is needed, so it also runs on a device without SIMT executor.
 *
 *     cc user_call.c -o user_call $(pkg-config --cflags --libs tern) "-Wl,-rpath,$(pkg-config --variable=libdir tern)"
 *     TERN_BACKEND=model TERN_CONFIG=shell ./user_call
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tern/tern.h>
#include <tern/tern_spec.h>

#define N 1000u

/** Every call gives 0 or -errno, and says what was wrong in a sentence. */
static void check(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, tern_last_error());
        exit(1);
    }
}

/** The id of the executor of this name. libtern has the descriptions, and the device has the first ones of them. */
static uint8_t find(const struct tern_device *device, const char *name)
{
    struct tern_device_info info = {.size = sizeof info};
    check(tern_device_query(device, &info), "tern_device_query");
    for (uint32_t id = 0; id < info.executors; id++) {
        if (!strcmp(tern_executor_find(id)->name, name)) {
            return (uint8_t)id;
        }
    }
    fprintf(stderr, "the device has no user executor %s: TERN_CONFIG=shell, small and tiny have it\n", name);
    exit(1);
}

static struct tern_allocation *make(struct tern_process *process, const float *data, uint32_t rights)
{
    struct tern_allocation *a;
    check(tern_allocation_create(process, N * sizeof *data, rights, 0, &a), "tern_allocation_create");
    check(tern_allocation_write(a, 0, data, N * sizeof *data), "tern_allocation_write");
    return a;
}

int main(void)
{
    struct tern_device *device;
    struct tern_process *process;
    struct tern_context *context;
    check(tern_device_open(NULL, NULL, &device), "tern_device_open");
    check(tern_process_create(device, "example", &process), "tern_process_create");
    const struct tern_context_desc desc = {.size = sizeof desc, .name = "user_call", .engine = -1};
    check(tern_context_create(process, &desc, &context), "tern_context_create");

    float x[N], y[N];
    const float factor = 0.5f;
    for (uint32_t i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    struct tern_allocation *xs = make(process, x, TERN_MEM_READ);
    struct tern_allocation *ys = make(process, y, TERN_MEM_READ | TERN_MEM_WRITE);

    /* words of the payload by their names; a pointer is a virtual address, a float its bits */
    struct tern_pkt_user_call call = {.executor = find(device, "saxpy")};
    call.payload[TERN_USER_SAXPY_N] = N;
    memcpy(&call.payload[TERN_USER_SAXPY_A], &factor, sizeof factor);
    call.payload[TERN_USER_SAXPY_X] = tern_allocation_address(xs);
    call.payload[TERN_USER_SAXPY_Y] = tern_allocation_address(ys);
    uint32_t words[32];
    uint64_t fence;
    check(tern_pkt_user_call_pack(&call, words), "a user_call packet");
    const struct tern_submission saxpy = {.size = sizeof saxpy, .packets = words, .label = "saxpy",
                                          .packet_bytes = 64 * tern_pkt_lines(TERN_PKT_USER_CALL)};
    check(tern_submit(context, &saxpy, &fence), "tern_submit");
    if (tern_wait(context, fence, -1)) {
        struct tern_fault fault = {.size = sizeof fault};
        tern_process_status(process, &fault);
        fprintf(stderr, "%s\n", fault.message); /* names the executor, the reason and the address */
        return 1;
    }
    check(tern_allocation_read(ys, 0, y, sizeof y), "tern_allocation_read");
    printf("y[1] = %g, y[%u] = %g\n", (double)y[1], N - 1, (double)y[N - 1]);

    tern_allocation_destroy(xs);
    tern_allocation_destroy(ys);
    tern_context_destroy(context);
    check(tern_process_destroy(process), "tern_process_destroy");
    check(tern_device_close(device), "tern_device_close");
    return 0;
}
