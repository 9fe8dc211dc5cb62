/* SPDX-License-Identifier: Apache-2.0 */
/** Page tables of a process, read from device memory. */
#ifndef SUPPORT_PAGE_TABLES_H
#define SUPPORT_PAGE_TABLES_H

#include "os/state/state.h"

/** Returns how many pages of the range the process's tables map. *large: how many superpages these include. */
uint32_t pages_mapped(const struct tern_process *p, uint32_t va, uint32_t pages, uint32_t *large);

#endif
