/* SPDX-License-Identifier: Apache-2.0 */
/** Partitions of ternd's device. */
#include <errno.h>
#include <string.h>

#include "base/name.h"
#include "base/sized.h"
#include "client/client.h"

int tern_client_partition_create(struct tern_device *dev, const struct tern_partition_desc *desc)
{
    struct tern_partition_desc d;
    int r = tern_client_check(dev);
    if (r == 0) {
        r = tern_sized_take(&d, sizeof d, desc);
    }
    if (r == 0) {
        r = tern_name_check(d.name, sizeof d.name);
    }
    return r ? r : tern_call(dev, TERN_WIRE_PARTITION_CREATE, 0, (uint64_t[]){d.memory_bytes, d.host_bytes, d.share},
                             d.name, NULL);
}

int tern_client_partition_resize(struct tern_device *dev, const char *name, uint64_t memory_bytes)
{
    const int r = tern_client_check(dev);
    return r ? r : tern_call(dev, TERN_WIRE_PARTITION_RESIZE, 0, (uint64_t[]){memory_bytes, 0, 0}, name, NULL);
}

int tern_client_partition_set_share(struct tern_device *dev, const char *name, uint32_t share)
{
    const int r = tern_client_check(dev);
    return r ? r : tern_call(dev, TERN_WIRE_PARTITION_SHARE, 0, (uint64_t[]){share, 0, 0}, name, NULL);
}

int tern_client_partition_destroy(struct tern_device *dev, const char *name)
{
    const int r = tern_client_check(dev);
    return r ? r : tern_call(dev, TERN_WIRE_PARTITION_DESTROY, 0, NULL, name, NULL);
}

int tern_client_partition_list(struct tern_device *dev, struct tern_partition_info *out, uint32_t max)
{
    struct tern_call call;
    const uint32_t stride = max ? out->size : 0;
    int r = tern_client_check(dev);
    if (r == 0) {
        r = tern_call_begin(&call, dev, TERN_WIRE_PARTITION_LIST, 0);
    }
    if (r) {
        return r;
    }
    call.request.value[0] = max;
    r = tern_call_do(&call);
    const uint64_t n = call.reply.value[0];
    for (uint64_t i = 0; !r && i < n && i < max && i < TERN_WIRE_SLOT / sizeof *out; i++) {
        struct tern_partition_info info;
        memcpy(&info, (const uint8_t *)call.slot + i * sizeof info, sizeof info);
        info.name[sizeof info.name - 1] = '\0';
        r = tern_sized_give_at(out, stride, (size_t)i, &info, sizeof info);
    }
    tern_call_end(&call);
    return r ? r : (int)n;
}
