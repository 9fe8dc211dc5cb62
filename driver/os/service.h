/* SPDX-License-Identifier: Apache-2.0 */
/** What a program that owns the device for others (ternd) asks of the driver beyond tern.h. */
#ifndef TERN_OS_SERVICE_H
#define TERN_OS_SERVICE_H

#include "tern/tern.h"

/** Who counts what sparse memory of a process has committed; NULL: nobody. Called with locks of the driver held: they
 *  call nothing of it, and do not wait. */
struct tern_account {
    int (*take)(void *user, uint64_t bytes); /**< -ENOSPC, with a sentence. */
    void (*give)(void *user, uint64_t bytes);
    void *user;
};

/** Whose a process is, where processes are of several users. */
struct tern_owner {
    uint32_t uid;  /**< What processes of one user have done is not held against another's of the same name. */
    uint32_t share; /**< What all its processes weigh together, of TERN_WEIGHT_NORMAL; 0: each weighs 1 by itself. */
    char text[24]; /**< Behind the name in statistics and traces. */
    const char *partition; /**< That the process is in; NULL: the default one. */
    struct tern_account account; /**< Lives until its processes have ended. */
    uint64_t shift; /**< What it is told of times is so much more than the device's. */
};

/** tern_process_create_in for a client. owner: copied. */
int tern_os_process_create_for(struct tern_device *dev, const char *name, const struct tern_owner *owner,
                               struct tern_process **out);
/** tern_device_query for a client whose processes are in this partition (NULL: the default one). -ENOENT. */
int tern_os_device_query_in(struct tern_device *dev, const char *partition, struct tern_device_info *out);
/** tern_partition_create for a client: owner is what tern_partition_list says. */
int tern_os_partition_create_for(struct tern_device *dev, const struct tern_partition_desc *desc, uint32_t owner);

/** Numbers of the device, by which a migration names them. */
uint32_t tern_os_process_number(const struct tern_process *proc);
uint32_t tern_os_context_number(const struct tern_context *ctx);
/** How often it was made resident, and not evicted. */
uint32_t tern_os_allocation_pins(const struct tern_allocation *alloc);
/** Is the process in this partition? */
bool tern_os_process_is_in(const struct tern_process *proc, const char *partition);

/** Is memory of the process evicted, or not there yet? Only then does tern_submit refuse for lack of room. */
bool tern_os_process_absent(const struct tern_process *proc);

/** The caller decides which clients may have contexts in the band REALTIME: before the first process. */
void tern_os_device_trust(struct tern_device *dev);

/**
 * tern_submit_data, or, packets NULL, tern_submit_null; but not refused because of what it uses: if that cannot be on
 * the device at once, its process is in error when that is seen. And the device thread is not woken: the caller goes on
 * to tern_os_device_drive, and waits for nothing before.
 */
int tern_os_submit_quietly(struct tern_context *ctx, const void *packets, size_t size, const void *data,
                           size_t data_size, const char *label);
/**
 * What was submitted quietly goes on. here: if the device thread sleeps, and device time passes only while a thread
 * lets it, this thread does its work for about 0.1 ms, callbacks included, or until all is done; for which it may wait
 * until others do not use the device. Else, and after that, the device thread does.
 */
void tern_os_device_drive(struct tern_device *dev, bool here);

#endif
