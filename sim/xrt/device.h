/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The device behind XRT's emulation: a simulator with the API of tern_sim.h, whose registers and memory are at the
 * addresses that they have on the card. The caller serialises all calls.
 */
#ifndef TERN_EMULATION_DEVICE_H
#define TERN_EMULATION_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;

/** Settings of the card. Addresses and sizes are in bytes. */
struct device_settings {
    const char *library;                 /**< Path of a libtern_sim_*.so. */
    uint64_t registers, registers_bytes; /**< Address range of the kernel's registers. */
    uint64_t memory, memory_bytes;       /**< Address range of device memory. */
};

/** Opens the device. Returns NULL after a message on stderr if that fails. */
struct device *device_open(const struct device_settings *settings);
void device_close(struct device *d);

/** Access a register by its address on the card. Return false if there is none or the device does not answer; *value is
 *  then all ones, as on a card's bus. */
bool device_read32(struct device *d, uint64_t address, uint32_t *value);
bool device_write32(struct device *d, uint64_t address, uint32_t value);
/** Access memory by its address on the card. Return false if a part of the range is outside of memory. */
bool device_read(struct device *d, uint64_t address, void *data, size_t size);
bool device_write(struct device *d, uint64_t address, const void *data, size_t size);

/** Runs up to `cycles` cycles. Returns false if it ran none, because the interrupt is raised or the device has stopped.
 */
bool device_step(struct device *d, uint64_t cycles);
/** Returns the cycles since reset. */
uint64_t device_time(const struct device *d);

#endif
