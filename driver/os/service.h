/* SPDX-License-Identifier: Apache-2.0 */
/** What a program that owns the device for others (ternd) asks of the driver beyond tern.h. */
#ifndef TERN_OS_SERVICE_H
#define TERN_OS_SERVICE_H

#include "tern/tern.h"

/** Whoever calls decides who may have contexts in the band REALTIME: before the first process. */
void tern_os_device_trust(struct tern_device *dev);

#endif
