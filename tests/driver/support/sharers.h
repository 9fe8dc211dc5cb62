/* SPDX-License-Identifier: Apache-2.0 */
/** Processes that map memory, also each other's, on a device with little memory. */
#ifndef SUPPORT_SHARERS_H
#define SUPPORT_SHARERS_H

#include "os/state/state.h"

#define SHARERS_CONFIG "small,mem=16M,quantum=20000,timeout=200000"

struct sharer {
    struct tern_process *p;
    struct tern_context *c;
};

struct sharer sharer_open(const char *name);
void sharer_close(struct sharer *u);
/** Maps the memory of the handle. */
struct tern_allocation *sharer_import(const struct sharer *u, const uint8_t *handle, uint32_t flags);
/** Runs work that names the allocation and sets bytes of it. Returns its result. */
int sharer_fill(const struct sharer *u, struct tern_allocation *a, uint32_t from, uint32_t bytes, uint8_t value);

#endif
