/* SPDX-License-Identifier: Apache-2.0 */
/** Opens the device that the environment names. */
#ifndef SUPPORT_OPEN_DEVICE_H
#define SUPPORT_OPEN_DEVICE_H

#include "tern/tern.h"

/** Checks the result of opening a device. Exits with 77, which skips the test, if the device is not built. */
void ok_or_skip(int r);
/** Returns the configuration. TERN_TEST_GEOMETRY replaces the geometry `small`. */
const char *of_geometry(const char *config);
/** Opens the device that the environment names, or skips the test. */
struct tern_device *open_or_skip(const char *config);

#endif
