/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program for tern.h, without OpenCL: fills a page of device memory, and waits for the completion in a poll loop.
 *
 *     cc fill.c -o fill $(pkg-config --cflags --libs tern) "-Wl,-rpath,$(pkg-config --variable=libdir tern)"
 *     TERN_BACKEND=model ./fill
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tern/tern.h>
#include <tern/tern_spec.h>

/** Ends the program after a call that failed: it returned -errno, and left a sentence. */
static void check(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, tern_last_error());
        exit(1);
    }
}

/** Makes a DMA buffer of one packet, which fills 4096 bytes at a device address. Returns its size in bytes. */
static size_t make_fill(uint32_t address, unsigned char byte, uint32_t *words)
{
    struct tern_pkt_fill fill = {.dst_lo = address, .width = 4096, .rows = 1, .slices = 1};
    memset(fill.pattern, byte, sizeof fill.pattern);
    check(tern_pkt_fill_pack(&fill, words), "a fill packet");
    return 64 * tern_pkt_lines(TERN_PKT_FILL);
}

int main(void)
{
    struct tern_device *device;
    struct tern_process *process;
    struct tern_completion_queue *queue;
    struct tern_context *context;
    struct tern_allocation *page;
    check(tern_device_open(NULL, NULL, &device), "tern_device_open");
    check(tern_process_create(device, "example", &process), "tern_process_create");
    check(tern_completion_queue_create(device, &queue), "tern_completion_queue_create");
    const struct tern_context_desc desc = {.size = sizeof desc, .name = "fill", .completions = queue,
                                           .engine = -1}; /* the driver chooses */
    check(tern_context_create(process, &desc, &context), "tern_context_create");
    check(tern_allocation_create(process, 4096, TERN_MEM_WRITE, 0, &page), "tern_allocation_create");

    uint32_t words[32]; /* 128 bytes, the largest packet */
    const struct tern_submission fill = {.size = sizeof fill, .packets = words, .label = "fill",
                                         .packet_bytes = make_fill(tern_allocation_address(page), 0x2a, words)};
    check(tern_submit(context, &fill, NULL), "tern_submit");

    struct pollfd ready = {.fd = tern_completion_queue_fd(queue), .events = POLLIN}; /* one of many in a real program */
    struct tern_completion done = {.size = sizeof done};
    while (tern_completion_queue_take(queue, &done, 1) == 0) {
        poll(&ready, 1, -1);
    }
    struct tern_fault fault = {.size = sizeof fault};
    if (done.result != TERN_COMPLETED && tern_process_status(process, &fault)) {
        fprintf(stderr, "%s\n", fault.message); /* names the packet, its access, the address and allocations nearby */
        return 1;
    }
    unsigned char got[4096];
    check(tern_allocation_read(page, 0, got, sizeof got), "tern_allocation_read");
    printf("fence %llu: first byte 0x%02x, last 0x%02x\n", (unsigned long long)done.fence, got[0], got[4095]);

    tern_allocation_destroy(page); /* in reverse order of creation */
    tern_context_destroy(context);
    check(tern_process_destroy(process), "tern_process_destroy");
    check(tern_completion_queue_destroy(queue), "tern_completion_queue_destroy");
    check(tern_device_close(device), "tern_device_close");
    return 0;
}
