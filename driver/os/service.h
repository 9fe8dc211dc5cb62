/* SPDX-License-Identifier: Apache-2.0 */
/** What a program that owns the device for others (ternd) asks of the driver beyond tern.h. */
#ifndef TERN_OS_SERVICE_H
#define TERN_OS_SERVICE_H

#include "tern/tern.h"

/** Whose a process is, where processes are of several users. */
struct tern_owner {
    uint32_t uid;  /**< What processes of one user have done is not held against another's of the same name. */
    char text[24]; /**< Behind the name in statistics and traces. */
};

/** tern_process_create for a client. owner: copied. */
int tern_os_process_create_for(struct tern_device *dev, const char *name, const struct tern_owner *owner,
                               struct tern_process **out);

/** The caller decides which clients may have contexts in the band REALTIME: before the first process. */
void tern_os_device_trust(struct tern_device *dev);

#endif
