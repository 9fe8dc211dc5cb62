/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The cache's folder and limit, from the environment. If other users can write to the folder, they could put code into
 * the application's kernels; it is not used then, and the reason is printed once. Programs with another user's rights
 * (setuid) have no cache, because the environment chooses its folder.
 */
#include "tc_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_BYTES (256ull << 20)

static int find(char *path, size_t size)
{
    const char *off = secure_getenv("TERN_CACHE");
    const char *own = secure_getenv("TERN_CACHE_DIR");
    const char *xdg = secure_getenv("XDG_CACHE_HOME");
    const char *home = secure_getenv("HOME");
    int n = -1;
    if (off && !strcmp(off, "0")) {
        return -ENOENT;
    }
    if (own && *own) {
        n = snprintf(path, size, "%s", own);
    } else if (xdg && *xdg == '/') {
        n = snprintf(path, size, "%s/tern", xdg);
    } else if (home && *home == '/') {
        n = snprintf(path, size, "%s/.cache/tern", home);
    }
    return n > 0 && (size_t)n < size ? 0 : -ENOENT;
}

static void make(char *path)
{
    for (char *p = path + 1; *p; p++) {
        if (*p == '/') {
            *p = '\0';
            (void)mkdir(path, 0700);
            *p = '/';
        }
    }
    (void)mkdir(path, 0700);
}

uint64_t tc_cachedir_limit(void)
{
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    const char *set = secure_getenv("TERN_CACHE_BYTES");
    if (!set || !*set) {
        return DEFAULT_BYTES;
    }
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(set, &end, 10);
    const char *unit = strchr("KMG", *end);
    const unsigned shift = *end && unit ? 10u * (unsigned)(unit - "KMG" + 1) : 0;
    if (*set < '0' || *set > '9' || errno || (*end && (!unit || end[1])) || value > UINT64_MAX >> shift) {
        if (!atomic_flag_test_and_set(&printed)) {
            fprintf(stderr, "tern: TERN_CACHE_BYTES=%s is not a number of bytes (digits, then K, M, G or nothing); "
                    "%llu are used\n", set, DEFAULT_BYTES);
        }
        return DEFAULT_BYTES;
    }
    return (uint64_t)value << shift;
}

int tc_cachedir_open(int create)
{
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    char path[4096];
    struct stat st;
    if (find(path, sizeof path)) {
        return -ENOENT;
    }
    (void)tc_cachedir_limit(); /* reports an invalid limit even if nothing will be written */
    if (create) {
        make(path);
    }
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        return fd < 0 ? -ENOENT : (close(fd), -ENOENT);
    }
    const int foreign = st.st_uid != geteuid(), open_to_all = (st.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    if (!foreign && !open_to_all) {
        return fd;
    }
    if (!atomic_flag_test_and_set(&printed)) {
        char why[64];
        snprintf(why, sizeof why, foreign ? "it belongs to user %u" : "others may write to it (mode %o)",
                 foreign ? (unsigned)st.st_uid : (unsigned)st.st_mode & 07777u);
        fprintf(stderr, "tern: the compiler's cache %s is not used: %s\n", path, why);
    }
    close(fd);
    return -ENOENT;
}
