/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds and loads a device library as the driver's hal does: only in TERN_LIB_DIR if that is set, else beside this
 * program (bin/../lib, lib/tern/..).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify.h"

void backend_beside(const char *path, char *out, size_t size)
{
    char self[900];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n < 0 ? 0 : n] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash) {
        out[0] = '\0';
        return;
    }
    *slash = '\0';
    snprintf(out, size, "%s/%s", self, path);
}

int backend_open(const char *name, struct backend *out)
{
    char up[1000], lib[1000], path[sizeof out->path];
    const char *forced = getenv("TERN_LIB_DIR");
    backend_beside("..", up, sizeof up);
    backend_beside("../lib", lib, sizeof lib);
    const char *all[] = {up, lib}, *only[] = {forced, ""};
    const char **dirs = forced && *forced ? only : all;
    for (size_t i = 0; i < 2; i++) {
        int n = snprintf(path, sizeof path, "%s/libtern_sim_%s.so", dirs[i], name);
        if (!*dirs[i] || (size_t)n >= sizeof path || access(path, R_OK)) {
            continue;
        }
        void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!object) {
            fprintf(stderr, "tern verify: %s cannot be loaded: %s\n", path, dlerror());
            return -ENOENT;
        }
        const struct tern_sim_api *api = dlsym(object, TERN_SIM_API_SYMBOL);
        if (!api || api->version != TERN_SIM_API_VERSION) {
            fprintf(stderr, "tern verify: %s has no %s of version %u: build it again (ninja -C build tern_sim_%s)\n",
                    path, TERN_SIM_API_SYMBOL, TERN_SIM_API_VERSION, name);
            dlclose(object);
            return -EPROTO;
        }
        *out = (struct backend){.name = name, .api = api, .object = object};
        memcpy(out->path, path, sizeof path);
        return 0;
    }
    fprintf(stderr, "tern verify: libtern_sim_%s.so is nowhere (%s): build it with ninja -C build tern_sim_%s, or set "
                    "TERN_LIB_DIR to its directory\n", name, forced && *forced ? forced : up, name);
    return -ENOENT;
}

void backend_close(struct backend *b)
{
    if (b->object) {
        dlclose(b->object);
    }
    *b = (struct backend){0};
}

int backend_geometry(const struct backend *b, uint64_t mem_bytes, struct geometry *out)
{
    const struct tern_sim_config config = {.mem_bytes = mem_bytes};
    struct tern_sim *sim = NULL;
    uint32_t hash = 0, config0 = 0, config1 = 0, lines = 0;
    int r = b->api->create(&config, &sim);
    if (r) {
        fprintf(stderr, "tern verify: %s: no device can be created: %s\n", b->path, strerror(-r));
        return r;
    }
    r = b->api->read32(sim, TERN_REG_DEV_SPEC_HASH, &hash);
    if (r == 0) {
        r = b->api->read32(sim, TERN_REG_DEV_CONFIG0, &config0);
    }
    if (r == 0) {
        r = b->api->read32(sim, TERN_REG_DEV_CONFIG1, &config1);
    }
    if (r == 0) {
        r = b->api->read32(sim, TERN_REG_DEV_SAVE_LINES, &lines);
    }
    b->api->destroy(sim);
    if (lines > SAVE_PAGES * PAGE / LINE) {
        fprintf(stderr, "tern verify: %s saves contexts of %u lines: there is no room for them\n", b->path, lines);
        return -EINVAL;
    }
    if (r || hash != TERN_SPEC_HASH) {
        fprintf(stderr, "tern verify: %s was built from another specification (%08x, this program: %08x): "
                "build both again\n", b->path, hash, TERN_SPEC_HASH);
        return -EPROTO;
    }
    *out = (struct geometry){
        .lanes = (config0 & TERN_DEV_CONFIG0_LANES_MASK) >> TERN_DEV_CONFIG0_LANES_SHIFT,
        .warps = (config0 & TERN_DEV_CONFIG0_WARPS_MASK) >> TERN_DEV_CONFIG0_WARPS_SHIFT,
        .engines = (config0 & TERN_DEV_CONFIG0_ENGINES_MASK) >> TERN_DEV_CONFIG0_ENGINES_SHIFT,
        .local_bytes = 1024u * ((config0 & TERN_DEV_CONFIG0_LMEM_KIB_MASK) >> TERN_DEV_CONFIG0_LMEM_KIB_SHIFT),
        .executors = (config1 & TERN_DEV_CONFIG1_EXECUTORS_MASK) >> TERN_DEV_CONFIG1_EXECUTORS_SHIFT,
        .mem_bytes = mem_bytes,
    };
    if (out->engines < 1 || out->engines > ENGINES) {
        fprintf(stderr, "tern verify: %s has %u engines: cases are for %u at most\n", b->path, out->engines, ENGINES);
        return -EINVAL;
    }
    return 0;
}

int pair_open(const char *model, const char *rtl, struct pair *out)
{
    struct pair p = {0};
    struct geometry g;
    int r = backend_open(model, &p.model);
    if (r == 0) {
        r = backend_open(rtl, &p.rtl);
    }
    if (r == 0) {
        r = backend_geometry(&p.model, VERIFY_MEMORY, &p.geometry);
    }
    if (r == 0) {
        r = backend_geometry(&p.rtl, VERIFY_MEMORY, &g);
    }
    if (r == 0 && (g.lanes != p.geometry.lanes || g.warps != p.geometry.warps ||
                   g.local_bytes != p.geometry.local_bytes || g.engines != p.geometry.engines ||
                   g.executors != p.geometry.executors)) {
        fprintf(stderr, "tern verify: %s has %u engines of %u lanes x %u warps, %s has %u of %u x %u: they cannot be "
                "compared\n", model, p.geometry.engines, p.geometry.lanes, p.geometry.warps, rtl, g.engines, g.lanes,
                g.warps);
        r = -EINVAL;
    }
    if (r) {
        pair_close(&p);
        return r;
    }
    *out = p;
    return 0;
}

void pair_close(struct pair *p)
{
    backend_close(&p->model);
    backend_close(&p->rtl);
}
