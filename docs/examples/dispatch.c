/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A program of libtern's own interface that runs a kernel: y[i] += x[i] for 1000 work-items, by one packet `dispatch`.
 *
 *     cc dispatch.c -o dispatch $(pkg-config --cflags --libs tern) "-Wl,-rpath,$(pkg-config --variable=libdir tern)"
 *     TERN_BACKEND=model ./dispatch
 *
 * The kernel is RISC-V code that finds its arguments at the address in a0; isa.md says what it may be. With the lines
 * of `code` below in a file, clang-19 --target=riscv32 -march=rv32im -c assembles it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tern/tern.h>
#include <tern/tern_spec.h>

#define N 1000u
#define STACK_LOG2 6u /* 64 bytes of private memory for each work-item: the least */

static const uint32_t code[] = {
    0xcd0022f3, /* csrr t0, 0xcd0      the work-item's global id in x */
    0x00052303, /* lw   t1, 0(a0)      the address of x */
    0x00452383, /* lw   t2, 4(a0)      the address of y */
    0x00229293, /* slli t0, t0, 2 */
    0x00530333, /* add  t1, t1, t0 */
    0x005383b3, /* add  t2, t2, t0 */
    0x00032303, /* lw   t1, 0(t1) */
    0x0003a283, /* lw   t0, 0(t2) */
    0x006282b3, /* add  t0, t0, t1 */
    0x0053a023, /* sw   t0, 0(t2) */
    0x0000100b, /* .word 0x0000100b    exit, an instruction of Tern's own */
};

/** Every call gives 0 or -errno, and says what was wrong in a sentence. */
static void check(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "%s: %s\n", what, tern_last_error());
        exit(1);
    }
}

static struct tern_allocation *make(struct tern_process *process, uint64_t bytes, uint32_t rights, const void *data)
{
    struct tern_allocation *a;
    check(tern_allocation_create(process, bytes, rights, 0, &a), "tern_allocation_create");
    if (data) {
        check(tern_allocation_write(a, 0, data, bytes), "tern_allocation_write");
    }
    return a;
}

int main(void)
{
    struct tern_device *device;
    struct tern_process *process;
    struct tern_context *context;
    struct tern_device_info info = {.size = sizeof info};
    check(tern_device_open(NULL, NULL, &device), "tern_device_open");
    check(tern_device_query(device, &info), "tern_device_query");
    if (info.lanes == 0) {
        fprintf(stderr, "the device '%s' has no SIMT executor, so it runs no kernels\n", info.config);
        return 1;
    }
    check(tern_process_create(device, "example", &process), "tern_process_create");
    const struct tern_context_desc desc = {.size = sizeof desc, .name = "dispatch", .engine = -1};
    check(tern_context_create(process, &desc, &context), "tern_context_create");

    uint32_t x[N], y[N];
    for (uint32_t i = 0; i < N; i++) {
        x[i] = i;
        y[i] = 1000000 * i;
    }
    struct tern_allocation *xs = make(process, sizeof x, TERN_MEM_READ, x);
    struct tern_allocation *ys = make(process, sizeof y, TERN_MEM_READ | TERN_MEM_WRITE, y);
    struct tern_allocation *kernel = make(process, sizeof code, TERN_MEM_READ | TERN_MEM_EXEC, code);
    const uint32_t arguments[2] = {tern_allocation_address(xs), tern_allocation_address(ys)};
    struct tern_allocation *args = make(process, sizeof arguments, TERN_MEM_READ, arguments);
    struct tern_allocation *stack = make(process, (uint64_t)info.warps * info.lanes << STACK_LOG2,
                                         TERN_MEM_READ | TERN_MEM_WRITE, NULL);

    /* groups of one warp, as many at once as there are warps; the last group has what is left of the range */
    const uint32_t local = info.lanes, groups = (N + local - 1) / local;
    const struct tern_pkt_dispatch packet = {
        .entry = tern_allocation_address(kernel), .args = tern_allocation_address(args), .work_dim = 1,
        .group_warps = 1, .group_slots = info.warps, .stack_log2 = STACK_LOG2, .stack = tern_allocation_address(stack),
        .global_x = N, .global_y = 1, .global_z = 1, .local_x = local, .local_y = 1, .local_z = 1, .groups_x = groups,
        .groups_y = 1, .groups_z = 1, .edge_x = N - (groups - 1) * local, .edge_y = 1, .edge_z = 1};
    uint32_t words[32];
    uint64_t fence;
    check(tern_pkt_dispatch_pack(&packet, words), "a dispatch packet");
    const struct tern_submission add = {.size = sizeof add, .packets = words, .label = "add",
                                        .packet_bytes = 64 * tern_pkt_lines(TERN_PKT_DISPATCH)};
    check(tern_submit(context, &add, &fence), "tern_submit");
    if (tern_wait(context, fence, -1)) {
        struct tern_fault fault = {.size = sizeof fault};
        tern_process_status(process, &fault);
        fprintf(stderr, "%s\n", fault.message); /* names the work-item, its access and the address */
        return 1;
    }
    check(tern_allocation_read(ys, 0, y, sizeof y), "tern_allocation_read");
    printf("y[1] = %u, y[%u] = %u\n", y[1], N - 1, y[N - 1]);

    struct tern_allocation *all[] = {xs, ys, kernel, args, stack};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tern_allocation_destroy(all[i]);
    }
    tern_context_destroy(context);
    check(tern_process_destroy(process), "tern_process_destroy");
    check(tern_device_close(device), "tern_device_close");
    return 0;
}
