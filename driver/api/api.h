/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions of tern.h and tern_checkpoint.h as a table. There are two tables: of the driver in this process (os/),
 * and of a client of ternd (client/). A handle begins with a pointer to its table, so programs need not know which kind
 * they have.
 *
 * entry/entry.c makes the public functions from the list below, and each side makes its table; a function that one side
 * lacks does not link. Not in the list: tern_device_open, which chooses the side; tern_last_error, which both share;
 * and functions of a loaded checkpoint, which only a device in this process has.
 *
 * CALL(type, name, (parameters), handle, (arguments)). END is the same for functions that ignore a NULL handle.
 */
#ifndef TERN_API_API_H
#define TERN_API_API_H

#include "tern/tern.h"
#include "tern/tern_checkpoint.h"

#define TERN_API_FUNCTIONS(CALL, END) \
    CALL(int, device_close, (struct tern_device *dev), dev, (dev)) \
    CALL(bool, device_inherited, (const struct tern_device *dev), dev, (dev)) \
    CALL(int, device_query, (const struct tern_device *dev, struct tern_device_info *out), dev, (dev, out)) \
    CALL(uint64_t, device_time, (struct tern_device *dev), dev, (dev)) \
    CALL(uint64_t, device_time_seen, (const struct tern_device *dev), dev, (dev)) \
    CALL(int, device_counters, (struct tern_device *dev, uint32_t engine, struct tern_engine_counters *out), \
         dev, (dev, engine, out)) \
    CALL(int, checkpoint_save, (struct tern_device *dev, const char *file), dev, (dev, file)) \
    CALL(int, checkpoint_load, (struct tern_device *dev, const char *file, struct tern_checkpoint **out), \
         dev, (dev, file, out)) \
    CALL(int, process_create, (struct tern_device *dev, const char *name, struct tern_process **out), \
         dev, (dev, name, out)) \
    CALL(int, process_create_in, (struct tern_device *dev, const char *partition, const char *name, \
          struct tern_process **out), \
         dev, (dev, partition, name, out)) \
    CALL(int, partition_create, (struct tern_device *dev, const struct tern_partition_desc *desc), dev, (dev, desc)) \
    CALL(int, partition_resize, (struct tern_device *dev, const char *name, uint64_t memory_bytes), \
         dev, (dev, name, memory_bytes)) \
    CALL(int, partition_set_share, (struct tern_device *dev, const char *name, uint32_t share), \
         dev, (dev, name, share)) \
    CALL(int, partition_destroy, (struct tern_device *dev, const char *name), dev, (dev, name)) \
    CALL(int, partition_list, (struct tern_device *dev, struct tern_partition_info *out, uint32_t max), \
         dev, (dev, out, max)) \
    CALL(int, process_destroy, (struct tern_process *proc), proc, (proc)) \
    CALL(int, process_kill, (struct tern_process *proc), proc, (proc)) \
    CALL(int, process_status, (struct tern_process *proc, struct tern_fault *fault), proc, (proc, fault)) \
    END(void, process_abort, (struct tern_process *proc, const char *why), proc, (proc, why)) \
    CALL(int, process_suspend, (struct tern_process *proc), proc, (proc)) \
    CALL(int, process_resume, (struct tern_process *proc), proc, (proc)) \
    CALL(int, process_allocations, (struct tern_process *proc, struct tern_allocation_info *out, uint32_t max), \
         proc, (proc, out, max)) \
    CALL(int, process_dirty, (struct tern_process *proc, uint32_t address, uint32_t bytes, bool clear, \
          uint32_t *bits), \
         proc, (proc, address, bytes, clear, bits)) \
    CALL(int, allocation_create, (struct tern_process *proc, uint64_t size, uint32_t flags, uint32_t address, \
          struct tern_allocation **out), \
         proc, (proc, size, flags, address, out)) \
    CALL(int, allocation_export, (struct tern_allocation *alloc, uint32_t flags, uint8_t handle[TERN_HANDLE_BYTES]), \
         alloc, (alloc, flags, handle)) \
    CALL(int, allocation_import, (struct tern_process *proc, const uint8_t handle[TERN_HANDLE_BYTES], \
          uint32_t flags, uint32_t address, struct tern_allocation **out), \
         proc, (proc, handle, flags, address, out)) \
    END(void, allocation_destroy, (struct tern_allocation *alloc), alloc, (alloc)) \
    CALL(uint32_t, allocation_address, (const struct tern_allocation *alloc), alloc, (alloc)) \
    CALL(uint64_t, allocation_size, (const struct tern_allocation *alloc), alloc, (alloc)) \
    CALL(int, allocation_read, (struct tern_allocation *alloc, uint64_t offset, void *data, size_t size), \
         alloc, (alloc, offset, data, size)) \
    CALL(int, allocation_write, (struct tern_allocation *alloc, uint64_t offset, const void *data, size_t size), \
         alloc, (alloc, offset, data, size)) \
    CALL(int, allocation_make_resident, (struct tern_allocation *alloc), alloc, (alloc)) \
    CALL(int, allocation_evict, (struct tern_allocation *alloc), alloc, (alloc)) \
    CALL(int, context_set_residency, (struct tern_context *ctx, const uint32_t *addresses, uint32_t count), \
         ctx, (ctx, addresses, count)) \
    CALL(int, completion_queue_create, (struct tern_device *dev, struct tern_completion_queue **out), \
         dev, (dev, out)) \
    END(int, completion_queue_destroy, (struct tern_completion_queue *queue), queue, (queue)) \
    CALL(int, completion_queue_fd, (const struct tern_completion_queue *queue), queue, (queue)) \
    CALL(int, completion_queue_take, (struct tern_completion_queue *queue, struct tern_completion *out, \
          uint32_t max), \
         queue, (queue, out, max)) \
    CALL(int, context_create, (struct tern_process *proc, const struct tern_context_desc *desc, \
          struct tern_context **out), \
         proc, (proc, desc, out)) \
    END(void, context_destroy, (struct tern_context *ctx), ctx, (ctx)) \
    CALL(int, submit, (struct tern_context *ctx, const struct tern_submission *submission, uint64_t *fence), \
         ctx, (ctx, submission, fence)) \
    CALL(int, context_take_data, (struct tern_context *ctx), ctx, (ctx)) \
    CALL(int, wait, (struct tern_context *ctx, uint64_t fence, int64_t timeout_ms), ctx, (ctx, fence, timeout_ms)) \
    CALL(uint64_t, context_ended, (struct tern_context *ctx), ctx, (ctx)) \
    CALL(int, context_set_priority, (struct tern_context *ctx, enum tern_band band, uint32_t weight), \
         ctx, (ctx, band, weight)) \
    CALL(int, context_query, (struct tern_context *ctx, struct tern_context_stats *out), ctx, (ctx, out)) \
    CALL(int, fence_create, (struct tern_process *proc, uint64_t initial, struct tern_fence **out), \
         proc, (proc, initial, out)) \
    END(void, fence_destroy, (struct tern_fence *fence), fence, (fence)) \
    CALL(uint32_t, fence_address, (const struct tern_fence *fence), fence, (fence)) \
    CALL(int, fence_value, (struct tern_fence *fence, uint64_t *value), fence, (fence, value)) \
    CALL(int, fence_signal, (struct tern_fence *fence, uint64_t value), fence, (fence, value)) \
    CALL(int, fence_wait, (struct tern_fence *fence, uint64_t value, int64_t timeout_ms), \
         fence, (fence, value, timeout_ms))

#define TERN_API_MEMBER(type, name, parameters, handle, arguments) type (*name) parameters;
struct tern_api {
    TERN_API_FUNCTIONS(TERN_API_MEMBER, TERN_API_MEMBER)
};

/* Functions of the driver in this process: tern_os_NAME. */
#define TERN_API_OS(type, name, parameters, handle, arguments) type tern_os_##name parameters;
TERN_API_FUNCTIONS(TERN_API_OS, TERN_API_OS)
int tern_os_device_open(const char *backend, const char *config, struct tern_device **out);
extern const struct tern_api tern_os_api;

/* Functions of a client: tern_client_NAME. */
#define TERN_API_CLIENT(type, name, parameters, handle, arguments) type tern_client_##name parameters;
TERN_API_FUNCTIONS(TERN_API_CLIENT, TERN_API_CLIENT)
/** Opens the device of the ternd that environment and arguments name (tern.h). 1: they name none, and none listens
 *  at the default places, so the caller opens the device in this process. */
int tern_client_device_open(const char *backend, const char *config, struct tern_device **out);
extern const struct tern_api tern_client_api;

#endif
