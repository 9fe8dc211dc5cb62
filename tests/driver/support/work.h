/* SPDX-License-Identifier: Apache-2.0 */
/** DMA buffers that are built with a line per packet. */
#ifndef SUPPORT_WORK_H
#define SUPPORT_WORK_H

#include <stddef.h>
#include <stdint.h>

#include "tern/tern.h"

/** A DMA buffer under construction. */
struct work {
    uint32_t w[16384 * 16];
    size_t size;
};

/** Adds so many lines of 64 bytes and returns the first. */
uint32_t *work_add(struct work *b, size_t lines);
void work_fill(struct work *b, uint32_t address, uint32_t bytes, uint8_t value);
void work_copy(struct work *b, uint32_t to, uint32_t from, uint32_t bytes);
void work_signal(struct work *b, uint32_t address, uint64_t value);
void work_wait(struct work *b, uint32_t address, uint64_t value);
/** Adds a dispatch of one work-item that runs the code at entry. */
void work_dispatch(struct work *b, uint32_t entry, uint32_t stack);
/** Submits the buffer, which is then empty, and returns the fence. */
uint64_t work_submit(struct work *b, struct tern_context *c, const char *label);
/** Submits the buffer and waits for its end. */
void work_run(struct work *b, struct tern_context *c, const char *label);

#endif
