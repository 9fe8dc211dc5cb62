/* SPDX-License-Identifier: Apache-2.0 */
/** Reads of CSRs, for sources in C of the device library. */
#ifndef TERN_DEVICE_CSR_H
#define TERN_DEVICE_CSR_H

#include "spec.h" /* the windows and CSRs of tern/tern_spec.h, extracted by the build */

#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define CSR(name) ({ unsigned v_; __asm__("csrr %0, " STRING(TERN_CSR_##name) : "=r"(v_)); v_; })
#define PURE __attribute__((const, nothrow, always_inline))

#endif
