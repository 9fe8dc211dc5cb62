/* SPDX-License-Identifier: Apache-2.0 */
#include "dut.h"

#include "open_device.h"

struct tern_device *dev;

struct work dma;

struct tern_process *process(const char *name)
{
    struct tern_process *p;
    ok(tern_process_create(dev, name, &p));
    return p;
}

struct tern_context *context(struct tern_process *p, int32_t engine)
{
    struct tern_context *c;
    struct tern_context_desc d = {.size = sizeof d, .name = "test", .engine = engine};
    ok(tern_context_create(p, &d, &c));
    return c;
}

struct tern_allocation *memory(struct tern_process *p, uint64_t size, uint32_t flags)
{
    struct tern_allocation *a;
    ok(tern_allocation_create(p, size, flags, 0, &a));
    return a;
}

int device_setup(void **state)
{
    (void)state;
    dev = open_or_skip("small,mem=64M,timeout=200000");
    dma.size = 0;
    return 0;
}

int device_teardown(void **state)
{
    (void)state;
    ok(tern_device_close(dev));
    return 0;
}
