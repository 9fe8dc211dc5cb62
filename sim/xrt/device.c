/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tern_sim/tern_sim.h"

struct device {
    struct device_settings set;
    void *object;
    const struct tern_sim_api *api;
    struct tern_sim *sim;
    bool reported;
};

void device_close(struct device *d)
{
    if (d->sim) {
        d->api->destroy(d->sim);
    }
    if (d->object) {
        dlclose(d->object);
    }
    free(d);
}

struct device *device_open(const struct device_settings *settings)
{
    struct device *d = calloc(1, sizeof *d);
    if (!d) {
        fprintf(stderr, "tern-hw-emu: there is no memory\n");
        return NULL;
    }
    d->set = *settings;
    struct stat s;
    if (stat(settings->library, &s) == 0 && !S_ISREG(s.st_mode)) { /* the loader would wait for a named pipe */
        fprintf(stderr, "tern-hw-emu: %s is no file\n", settings->library);
        device_close(d);
        return NULL;
    }
    d->object = dlopen(settings->library, RTLD_NOW | RTLD_LOCAL);
    d->api = d->object ? dlsym(d->object, TERN_SIM_API_SYMBOL) : NULL;
    if (!d->api || d->api->version != TERN_SIM_API_VERSION) {
        fprintf(stderr, "tern-hw-emu: %s is no simulator of version %u: %s\n", settings->library, TERN_SIM_API_VERSION,
                d->object ? "build it again together with this program" : dlerror());
        device_close(d);
        return NULL;
    }
    const int r = d->api->create(&(struct tern_sim_config){.mem_bytes = settings->memory_bytes}, &d->sim);
    if (r) {
        fprintf(stderr, "tern-hw-emu: the simulator cannot be started: %s\n", strerror(-r));
        d->sim = NULL;
        device_close(d);
        return NULL;
    }
    return d;
}

/** Returns whether the result is no error. If the device has broken a rule, which stops it, the log names the rule. */
static bool good(struct device *d, int result)
{
    struct tern_sim_violation v;
    if (result && !d->reported && d->api->violation(d->sim, &v)) {
        d->reported = true;
        fprintf(stderr, "tern-hw-emu: the device broke rule %s of %s (%s) at cycle %llu\n", v.rule, v.module, v.place,
                (unsigned long long)v.cycle);
    }
    return !result;
}

static bool within(uint64_t address, uint64_t size, uint64_t base, uint64_t bytes)
{
    return address >= base && address - base <= bytes && size <= bytes - (address - base);
}

bool device_read32(struct device *d, uint64_t address, uint32_t *value)
{
    *value = UINT32_MAX;
    return within(address, 4, d->set.registers, d->set.registers_bytes) && address % 4 == 0 &&
           good(d, d->api->read32(d->sim, (uint32_t)(address - d->set.registers), value));
}

bool device_write32(struct device *d, uint64_t address, uint32_t value)
{
    return within(address, 4, d->set.registers, d->set.registers_bytes) && address % 4 == 0 &&
           good(d, d->api->write32(d->sim, (uint32_t)(address - d->set.registers), value));
}

bool device_read(struct device *d, uint64_t address, void *data, size_t size)
{
    return within(address, size, d->set.memory, d->set.memory_bytes) &&
           !d->api->mem_read(d->sim, address - d->set.memory, data, size);
}

bool device_write(struct device *d, uint64_t address, const void *data, size_t size)
{
    return within(address, size, d->set.memory, d->set.memory_bytes) &&
           !d->api->mem_write(d->sim, address - d->set.memory, data, size);
}

bool device_step(struct device *d, uint64_t cycles)
{
    bool raised = false;
    return good(d, d->api->step(d->sim, cycles, &raised)) && !raised;
}

uint64_t device_time(const struct device *d)
{
    return d->api->cycles(d->sim);
}
