/* SPDX-License-Identifier: Apache-2.0 */
/** Functions beyond tern.h for a program that shares the device among clients (ternd). */
#ifndef TERN_OS_SERVICE_H
#define TERN_OS_SERVICE_H

#include "tern/tern.h"

/** Functions that count what sparse memory of a process has committed; NULL: it is not counted. The driver calls
 *  them with its locks held, so they call no function of the driver and do not block. */
struct tern_account {
    int (*take)(void *user, uint64_t bytes); /**< -ENOSPC, with a sentence. */
    void (*give)(void *user, uint64_t bytes);
    void *user;
};

/** The owner of a process, where processes belong to several users. */
struct tern_owner {
    /** User; offences of one user's processes do not count against another's of the same name (proc/offence.c). */
    uint32_t uid;
    /** Weight of all processes of the user together, in units of TERN_WEIGHT_NORMAL; 0: each process has weight 1. */
    uint32_t share;
    char text[24]; /**< Text that follows the name in statistics and traces. */
    const char *partition; /**< Partition of the process; NULL: the default one. */
    struct tern_account account; /**< Account, which must live until the processes of the user have ended. */
    uint64_t shift; /**< Cycles that are added to device times that the process is told. */
};

/** tern_process_create_in for a client. The owner is copied. */
int tern_os_process_create_for(struct tern_device *dev, const char *name, const struct tern_owner *owner,
                               struct tern_process **out);
/** tern_device_query for a client whose processes are in this partition (NULL: the default one). -ENOENT. */
int tern_os_device_query_in(struct tern_device *dev, const char *partition, struct tern_device_info *out);
/** tern_partition_create for a client; tern_partition_list reports the owner. */
int tern_os_partition_create_for(struct tern_device *dev, const struct tern_partition_desc *desc, uint32_t owner);

/** Numbers on the device, by which a migration names the objects. */
uint32_t tern_os_process_number(const struct tern_process *proc);
uint32_t tern_os_context_number(const struct tern_context *ctx);
/** Number of calls of tern_allocation_make_resident that no tern_allocation_evict has undone. */
uint32_t tern_os_allocation_pins(const struct tern_allocation *alloc);
/** True: the process is in this partition. */
bool tern_os_process_is_in(const struct tern_process *proc, const char *partition);

/** True: some memory of the process is not resident. Only then may tern_submit return -ENOSPC. */
bool tern_os_process_absent(const struct tern_process *proc);

/** The caller serves clients: it decides which of them may use the band REALTIME, and may submit quietly. Called before
 *  the first process is made. */
void tern_os_device_serve(struct tern_device *dev);

/** Flag of a submission, after tern_os_device_serve. The submission is not refused because of its memory: if the memory
 *  cannot be resident at once, the process is put in error later. The device thread is not woken: the caller calls
 *  tern_os_device_drive next, and does not block before. */
#define TERN_SUBMISSION_QUIET (1u << 31)
/**
 * Starts the work that was submitted quietly. here: if the device thread sleeps, and device time passes only while a
 * thread lets it pass, this thread runs the rounds of the device thread for about 0.1 ms or until all work has ended,
 * and calls callbacks. For that it may wait for the hal lock. In all other cases, and after that time, the device
 * thread runs the work.
 */
void tern_os_device_drive(struct tern_device *dev, bool here);

#endif
