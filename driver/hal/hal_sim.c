/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The backends of simulated devices: they load libtern_sim_<backend>_<geometry>.so and call it by tern_sim_api. The
 * object is looked for
 *   - only in TERN_LIB_DIR, if that is set. A program with the rights of another user ignores the variable;
 *   - otherwise in the folder lib of the installation or build to which the running code belongs;
 *   - then, for programs of the build tree, where this library was built;
 * and there in the folder itself, or in its folder tern, where Debian's packages have the devices.
 * The object is unloaded when the device is closed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/build_tree.h"
#include "base/error.h"
#include "base/file.h"
#include "base/thread.h"
#include "hal/hal_sim.h"
#include "hal/waveforms.h"
#include "tern_sim/tern_sim.h"

/** A simulated device. Fields are constant once it is open, except where a comment says otherwise. */
struct hal_sim {
    struct tern_hal hal;
    void *object; /* The loaded simulator. */
    const struct tern_sim_api *api;
    struct tern_sim *sim; /* The state of the simulator. Guarded by the caller's lock (hal.h). */
    bool reported; /* stderr has said which rule the device broke. Guarded by the caller's lock (hal.h). */
    char path[256]; /* Path of the waveform; "": there is none. */
    struct tern_waveform waveform; /* Guarded by the lock of waveforms.c. */
};

static struct hal_sim *of(struct tern_hal *hal)
{
    return (struct hal_sim *)(void *)hal;
}

/** Returns the result. If the device has broken a rule of its own, which stops it, stderr says once which rule.
 *  Requires the caller's lock. */
static int checked(struct hal_sim *h, int result)
{
    tern_hal_assert_held(&h->hal);
    struct tern_sim_violation v;
    if (result == -EIO && !h->reported && h->api->violation(h->sim, &v)) {
        h->reported = true;
        fprintf(stderr, "tern: the simulated device broke rule %s of %s (%s) at cycle %" PRIu64 "\n", v.rule,
                v.module, v.place, v.cycle);
    }
    return result;
}

static int sim_read32(struct tern_hal *hal, uint32_t offset, uint32_t *value)
{
    tern_hal_assert_held(hal);
    return checked(of(hal), of(hal)->api->read32(of(hal)->sim, offset, value));
}

static int sim_write32(struct tern_hal *hal, const struct tern_hal_write *writes, size_t n)
{
    tern_hal_assert_held(hal);
    int r = 0;
    for (size_t i = 0; !r && i < n; i++) {
        r = of(hal)->api->write32(of(hal)->sim, writes[i].offset, writes[i].value);
    }
    return checked(of(hal), r);
}

static int sim_mem_read(struct tern_hal *hal, uint64_t address, void *data, size_t size)
{
    tern_hal_assert_held(hal);
    return of(hal)->api->mem_read(of(hal)->sim, address, data, size);
}

static int sim_mem_write(struct tern_hal *hal, const struct tern_iovec *pieces, size_t n)
{
    tern_hal_assert_held(hal);
    int r = 0;
    for (size_t i = 0; !r && i < n; i++) {
        r = of(hal)->api->mem_write(of(hal)->sim, pieces[i].address, pieces[i].data, pieces[i].size);
    }
    return r;
}

static int sim_flush(struct tern_hal *hal)
{
    tern_hal_assert_held(hal);
    (void)hal; /* memory is written at once */
    return 0;
}

static int sim_wait(struct tern_hal *hal, uint64_t cycles)
{
    tern_hal_assert_waits(hal);
    bool raised = false;
    int r = checked(of(hal), of(hal)->api->step(of(hal)->sim, cycles, &raised));
    return r ? r : raised;
}

static void sim_close(struct tern_hal *hal)
{
    struct hal_sim *h = of(hal);
    if (h->path[0]) {
        tern_waveform_end(&h->waveform);
    }
    if (h->sim) {
        h->api->destroy(h->sim);
    }
    if (h->object) {
        dlclose(h->object);
    }
    free(h);
}

static const struct tern_hal_ops sim_ops = {
    .read32 = sim_read32, .write32 = sim_write32, .mem_read = sim_mem_read, .mem_write = sim_mem_write,
    .flush = sim_flush, .wait = sim_wait, .close = sim_close};

/** The file that holds this code. For a program the loader knows only the name by which it was called, which need not
 *  be its path. */
static bool own_file(char *out, size_t size)
{
    Dl_info info;
    if (!dladdr(&tern_hal_rtl, &info) || !info.dli_fname) {
        return false;
    }
    if (strchr(info.dli_fname, '/') && strcmp(info.dli_fname, program_invocation_name) != 0) {
        return (size_t)snprintf(out, size, "%s", info.dli_fname) < size;
    }
    const ssize_t n = readlink("/proc/self/exe", out, size - 1);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/** Do the first n characters of the path end with `tail`? */
static bool ends_with(const char *path, int n, const char *tail)
{
    const int length = (int)strlen(tail);
    return n >= length && !strncmp(path + n - length, tail, (size_t)length);
}

void tern_hal_beside(char *out, size_t size)
{
    char file[1024];
    out[0] = '\0';
    if (own_file(file, sizeof file)) {
        const char *slash = strrchr(file, '/');
        const int n = slash ? (int)(slash - file) : 0;
        snprintf(out, size, "%.*s%s%s", n, file, slash ? "/" : "",
                 ends_with(file, n, "/" TERN_LIBDIR "/tern") ? ".." :
                 ends_with(file, n, "/" TERN_LIBDIR)         ? "." : "../" TERN_LIBDIR);
    }
}

static int load(struct hal_sim *h, const struct tern_config *c)
{
    char near[2048], path[4096];
    const char *forced = secure_getenv("TERN_LIB_DIR");
    tern_hal_beside(near, sizeof near);
    const char *dirs[] = {forced && *forced ? forced : near, forced && *forced ? "" : tern_build_tree()};
    for (size_t i = 0; i < 4; i++) {
        const char *dir = dirs[i / 2], *folder = i % 2 ? "/tern" : "";
        snprintf(path, sizeof path, "%s%s/libtern_sim_%s_%s.so", dir, folder, c->backend, c->geometry);
        if (!*dir || access(path, R_OK)) {
            continue;
        }
        if (tern_file_check(path, UINT64_MAX)) { /* the loader would wait for a named pipe */
            return -EINVAL;
        }
        h->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!h->object) {
            tern_error(-ENOENT, "the simulator %s cannot be loaded: %s", path, dlerror());
            snprintf(path, sizeof path, "%s%s/baseline/libtern_sim_%s_%s.so", dir, folder, c->backend,
                     c->geometry);
            /* the first object needs a newer processor, the one in baseline/ does not */
            h->object = access(path, R_OK) ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
        if (!h->object) {
            return -ENOENT;
        }
        h->api = dlsym(h->object, TERN_SIM_API_SYMBOL);
        if (!h->api || h->api->version != TERN_SIM_API_VERSION) {
            return tern_error(-EPROTO, "%s has no %s of version %u: rebuild it together with this driver", path,
                              TERN_SIM_API_SYMBOL, TERN_SIM_API_VERSION);
        }
        return 0;
    }
    return tern_error(-ENOENT, "libtern_sim_%s_%s.so is not in '%s'%s%s%s: build or install it, or set "
                      "TERN_LIB_DIR to its directory", c->backend, c->geometry, dirs[0],
                      *dirs[1] ? " nor in '" : "", dirs[1], *dirs[1] ? "'" : "");
}

/** Creates the simulator, with all signals blocked: threads that it starts must not take signals of the program. */
static int create(struct hal_sim *h, const struct tern_sim_config *config)
{
    sigset_t old;
    tern_signals_block(&old);
    const int r = h->api->create(config, &h->sim);
    tern_signals_restore(&old);
    return r;
}

static int open_sim(const struct tern_config *config, struct tern_hal **out)
{
    struct hal_sim *h = calloc(1, sizeof *h);
    if (!h) {
        return tern_error_memory("a simulated device");
    }
    h->hal.ops = &sim_ops;
    struct tern_sim_config sc = {
        .mem_bytes = config->mem_bytes,
        .dram_latency = config->dram_latency,
        .dram_bandwidth = config->dram_bandwidth,
        .memory = config->memory,
        .dram_reads = config->dram_reads,
        .dram_writes = config->dram_writes,
        .dram_refresh = config->dram_refresh,
        .dram_refresh_cycles = config->dram_refresh_cycles,
        .dram_stall = config->dram_stall,
        .dram_error_base = config->dram_error_base,
        .dram_error_bytes = config->dram_error_bytes,
    };
    int r = load(h, config);
    if (r) {
        goto fail;
    }
    r = create(h, &sc);
    if (r) {
        h->sim = NULL;
        r = tern_error(r, "the simulator of %s, '%s', could not be started: %s", config->backend, config->text,
                       strerror(-r));
        goto fail;
    }
    struct tern_sim_dram dram;
    if (!h->api->dram(h->sim, &dram)) {
        h->hal.memory = (struct tern_hal_memory){tern_config_memory_name(dram.memory), dram.latency, dram.bandwidth,
                                                 dram.reads, dram.writes, dram.refresh, dram.refresh_cycles,
                                                 dram.stall};
    }
    if (config->trace[0]) {
        memcpy(h->path, config->trace, sizeof h->path);
        r = tern_waveform_begin(&h->waveform, h->path, h->api, h->sim);
        if (r) {
            h->path[0] = '\0';
            goto fail;
        }
    }
    *out = &h->hal;
    return 0;
fail:
    sim_close(&h->hal);
    return r;
}

static int open_rtl(const struct tern_config *config, struct tern_hal **out)
{
    int r = open_sim(config, out);
    if (!r) {
        (*out)->slow = true;
    }
    return r;
}

const struct tern_hal_backend tern_hal_rtl = {"rtl", open_rtl};
const struct tern_hal_backend tern_hal_model = {"model", open_sim};
