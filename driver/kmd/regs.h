/* SPDX-License-Identifier: Apache-2.0 */
/** Reads fields of registers by their generated names. */
#ifndef TERN_KMD_REGS_H
#define TERN_KMD_REGS_H

#define FIELD(value, name) (((value) & name##_MASK) >> name##_SHIFT)

#endif
