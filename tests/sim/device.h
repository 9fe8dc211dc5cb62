/* SPDX-License-Identifier: Apache-2.0 */
/** Support for tests of a simulated device: the library under test, register access, submission, page tables. */
#ifndef TESTS_SIM_DEVICE_H
#define TESTS_SIM_DEVICE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>

#include "tern/tern_hw.h"
#include "tern/tern_spec.h"
#include "tern_sim/tern_sim.h"

#define PAGE 4096u
#define LINE 64u
#define SAVE 0x00900000u /* physical address of the first page of a context-save area (save_line) */

#define SOON 1000000u /* cycles after which a test gives up waiting */

extern const struct tern_sim_api *api;

/** Loads the library that the command line names. 0, or main's return value: 2, or 77 if the library is not built. */
int library_load(int argc, char **argv);

/** A device, a DMA buffer that grows packet by packet, and the root tables that map() has made. */
struct device {
    struct tern_sim *sim;
    uint32_t words[64 * 1024];
    uint32_t used; /* number of words of the buffer */
    uint32_t root[64], roots;
    uint32_t save_lines; /* dev.save_lines, which save_make reads once, because a read takes device time */
};

struct indication {
    uint32_t kind, access, fault, lane, warp, va, pc, offset, group[3];
    uint64_t fence, begin, end;
};

/** A submission: the addresses of its buffer, root table and save area, and its flags. */
struct submission {
    uint64_t buffer, fence;
    uint32_t root, save, flags, size; /* size 0: the size of the buffer in struct device */
};

void device_open(struct device *d, const struct tern_sim_config *config);
void device_close(struct device *d);
/** Setup for cmocka. *state becomes a struct device with 64 MiB. */
int device_setup(void **state);
int device_teardown(void **state);

uint32_t next_random(uint32_t *state);
uint64_t load64(struct device *d, uint64_t address);
void store64(struct device *d, uint64_t address, uint64_t v);
/** Writes the list of pages of a context-save area. The area has as many pages as the device needs: every second page
 *  above its first one, in descending order. */
void save_make(struct device *d, uint64_t save);
/** Address of a line of such an area. Line 0 is the header, and the state begins at line 1. */
uint64_t save_line(const struct device *d, uint64_t save, uint32_t line);
/** Setup for cmocka: device_setup, and the list of the area at SAVE. */
int save_setup(void **state);
/** The entry of such a list that names a page. */
uint32_t save_entry(uint64_t page);

/** Clears memory, whose first contents are random in the device as it is synthesised. */
void clear(struct device *d, uint64_t address, size_t size);
void expect(struct indication i, uint32_t kind, uint32_t fault, uint64_t fence);
void expect_completed(struct device *d, uint32_t engine, uint64_t fence);

uint32_t reg_read(struct device *d, uint32_t offset);
/** Returns whether the device has the user executor saxpy, which is an example: device `default` has no examples. */
bool has_saxpy(struct device *d);
/** Ends the test as skipped unless has_saxpy. */
void need_saxpy(struct device *d);
void reg_write(struct device *d, uint32_t offset, uint32_t value);

/** Appends a packet of 1 or 2 lines to the buffer, and returns its zeroed words. */
uint32_t *packet(struct device *d, uint32_t lines);
void packet_nop(struct device *d);
void packet_copy(struct device *d, uint64_t dst, uint64_t src, uint32_t bytes);
void packet_fill(struct device *d, uint64_t dst, uint32_t bytes, uint8_t value);
void packet_signal(struct device *d, uint64_t address, uint64_t value);
void packet_wait(struct device *d, uint64_t address, uint64_t value);
void packet_pte(struct device *d, uint64_t table, uint32_t count, uint32_t pte, uint32_t step);

/** Writes the buffer to the physical address, empties it, and rings the doorbell. */
void submit(struct device *d, uint32_t engine, struct submission s, uint64_t physical);
/** Waits for the next indication of an engine and takes it. Fails the test after so many cycles. */
struct indication indication(struct device *d, uint32_t engine, uint64_t cycles);
/** Runs the buffer as a paging buffer on engine 0, and expects it to complete. */
void run_paging(struct device *d);
/** Maps pages [va, va + pages * 4 KiB) to physical memory from pa on, by tables in the pages root and root + 1. The
 *  range must be in one region of 4 MiB. flags: TERN_PTE_*_MASK. */
void map(struct device *d, uint32_t root, uint32_t va, uint64_t pa, uint32_t pages, uint32_t flags);

#endif
