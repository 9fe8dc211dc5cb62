/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A device with known bugs for tests of the command: the small functional model with the bug that config.mutant
 * selects. To the command it is an RTL with mutants.
 *
 * "no-bug" (and mutant 0) is the model itself. "cpop-is-ctz" replaces that instruction in code as it is loaded, and
 * hides this from reads of memory. "crash" ends the process at the first interrupt. "resume-loses", for the signature
 * test, inverts a bit of the state that it resumes.
 *
 * The environment variable TERN_WRONG=number selects a bug without config.mutant. Besides the above it can be one of
 * these, which are no mutants: the device never returns from a step when the program has begun; each of its first steps
 * takes a second of processor time; it is cpop-is-ctz, and never returns if there is no such instruction.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tern/tern_hw.h"
#include "tern_sim/tern_sim.h"

enum { NO_BUG = 1, CPOP_IS_CTZ, CRASH, RESUME_LOSES, LOOPS, SLOW, LOOPS_WITHOUT_CPOP };

__attribute__((visibility("default"))) extern const char *const tern_sim_mutants[];
const char *const tern_sim_mutants[] = {"no-bug", "cpop-is-ctz", "crash", "resume-loses", NULL};
__attribute__((visibility("default"))) extern const char *const tern_sim_mutant_tests[];
const char *const tern_sim_mutant_tests[] = {NULL, NULL, NULL, "barriers 40", NULL};

static const struct tern_sim_api *model;
static uint32_t mutant; /* seeded bug of the device, of which only one exists at a time */
static uint64_t changed[4096];
static size_t changes, steps;

static int create(const struct tern_sim_config *config, struct tern_sim **out)
{
    struct tern_sim_config c = config ? *config : (struct tern_sim_config){0};
    const char *wrong = getenv("TERN_WRONG");
    mutant = c.mutant ? c.mutant : wrong ? (uint32_t)atoi(wrong) : 0;
    c.mutant = 0;
    changes = steps = 0;
    return model->create(&c, out);
}

#define CPOP_TO_CTZ 0x00300000u

/** Replaces cpop rd, rs by ctz rd, rs. */
static int mem_write(struct tern_sim *sim, uint64_t address, const void *data, size_t size)
{
    uint32_t words[1024];
    if (mutant != CPOP_IS_CTZ && mutant != LOOPS_WITHOUT_CPOP) {
        return model->mem_write(sim, address, data, size);
    }
    if (size > sizeof words || size % 4) {
        return -EINVAL;
    }
    memcpy(words, data, size);
    for (size_t i = 0; i < size / 4 && changes < sizeof changed / sizeof changed[0]; i++) {
        if ((words[i] & 0xfff0707fu) == 0x60201013u) {
            words[i] ^= CPOP_TO_CTZ;
            changed[changes++] = address + 4 * i;
        }
    }
    return model->mem_write(sim, address, words, size);
}

static int mem_read(struct tern_sim *sim, uint64_t address, void *data, size_t size)
{
    int r = model->mem_read(sim, address, data, size);
    for (size_t i = 0; i < changes && r == 0; i++) {
        if (changed[i] >= address && changed[i] + 4 <= address + size) {
            uint32_t word;
            char *at = (char *)data + (changed[i] - address);
            memcpy(&word, at, sizeof word);
            word ^= CPOP_TO_CTZ;
            memcpy(at, &word, sizeof word);
        }
    }
    return r;
}

/** Inverts a bit in the last line of the state of a buffer that is resumed in the middle of a packet. */
static int write32(struct tern_sim *sim, uint32_t offset, uint32_t value)
{
    uint32_t engine = (offset - TERN_REG_ENGINE_SUB_FLAGS(0)) / 0x400u, save, lines, entry, header[16], word;
    if (mutant == RESUME_LOSES && offset == TERN_REG_ENGINE_SUB_FLAGS(engine) &&
        (value & TERN_ENGINE_SUB_FLAGS_RESUME_MASK)) {
        model->read32(sim, TERN_REG_ENGINE_SUB_SAVE(engine), &save);
        model->mem_read(sim, save * 4096ull, header, sizeof header);
        model->read32(sim, TERN_REG_DEV_SAVE_LINES, &lines);
        const uint32_t at = header[4] + ((lines + 63) / 64 - 1 + 15) / 16; /* behind header and list */
        model->mem_read(sim, save * 4096ull + 64 + (at / 64 - 1) * 4ull, &entry, sizeof entry);
        uint64_t last = (at / 64 ? entry >> TERN_PTE_PPN_SHIFT : save) * 4096ull + at % 64 * 64ull;
        if (header[4]) {
            model->mem_read(sim, last, &word, sizeof word);
            word ^= 1u << 4;
            model->mem_write(sim, last, &word, sizeof word);
        }
    }
    return model->write32(sim, offset, value);
}

/** Uses so many seconds of processor time. */
static void take_time(double seconds)
{
    const double end = (double)clock() / CLOCKS_PER_SEC + seconds;
    while ((double)clock() / CLOCKS_PER_SEC < end) {
    }
}

static int step(struct tern_sim *sim, uint64_t max_cycles, bool *irq)
{
    bool line = false;
    if ((mutant == LOOPS && steps == 1) || (mutant == LOOPS_WITHOUT_CPOP && !changes)) {
        take_time(1e9);
    } else if (mutant == SLOW && steps < 2) {
        take_time(1);
    }
    steps++;
    int r = model->step(sim, max_cycles, &line);
    if (line && mutant == CRASH) {
        abort();
    }
    if (irq) {
        *irq = line;
    }
    return r;
}

__attribute__((visibility("default"))) extern struct tern_sim_api tern_sim_api;
struct tern_sim_api tern_sim_api;

__attribute__((constructor)) static void load(void)
{
    void *object = dlopen(MODEL, RTLD_NOW | RTLD_LOCAL);
    model = object ? dlsym(object, TERN_SIM_API_SYMBOL) : NULL;
    if (model) {
        tern_sim_api = *model;
        tern_sim_api.create = create;
        tern_sim_api.mem_write = mem_write;
        tern_sim_api.mem_read = mem_read;
        tern_sim_api.write32 = write32;
        tern_sim_api.step = step;
    }
}
