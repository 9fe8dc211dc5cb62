/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The device behind XRT's emulation: a simulator with the API of tern_sim.h, with registers and memory at their
 * addresses of the card. One thread.
 */
#ifndef TERN_EMULATION_DEVICE_H
#define TERN_EMULATION_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;

/** What the card is; addresses and sizes in bytes. */
struct device_settings {
    const char *library;                 /**< A libtern_sim_*.so. */
    uint64_t registers, registers_bytes; /**< Where the kernel's registers lie. */
    uint64_t memory, memory_bytes;       /**< Where device memory lies. */
};

/** NULL, and a sentence on stderr. */
struct device *device_open(const struct device_settings *settings);
void device_close(struct device *d);

/** One register by its address on the card. false: there is none, or the device does not answer; *value is all ones,
 *  as a card's bus has it. */
bool device_read32(struct device *d, uint64_t address, uint32_t *value);
bool device_write32(struct device *d, uint64_t address, uint32_t value);
/** Memory by its address on the card. false: not all of it is there. */
bool device_read(struct device *d, uint64_t address, void *data, size_t size);
bool device_write(struct device *d, uint64_t address, const void *data, size_t size);

/** Lets up to `cycles` pass. false: none did, as the interrupt is raised or the device is broken. */
bool device_step(struct device *d, uint64_t cycles);
/** Cycles since reset. */
uint64_t device_time(const struct device *d);

#endif
