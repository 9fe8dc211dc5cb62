/* SPDX-License-Identifier: Apache-2.0 */
/** Common begin of every OpenCL C source of the device library: types (the compiler's own header) and short names. */
#ifndef TERN_DEVICE_BASE_H
#define TERN_DEVICE_BASE_H

#include "opencl-c-base.h"

#define OVERLOAD __attribute__((overloadable))
#define INLINE __attribute__((overloadable, always_inline))
#define CONST __attribute__((overloadable, always_inline, const))

#endif
