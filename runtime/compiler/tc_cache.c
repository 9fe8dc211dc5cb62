/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The cache on disk. A file holds one result. The name of the file is the SHA-256 of everything that the result depends
 * on. The file has a magic number, the SHA-256 of the rest, and the rest: length of the log, log, blob. Files appear
 * complete (rename) and never change, so readers take no lock. A damaged file does not match its checksum and counts as
 * absent. A hit updates the file's time (LRU). A put that exceeds the limit ($TERN_CACHE_BYTES, default 256 MiB)
 * removes the oldest files. A failed write is no error. tc_cachedir.c finds the folder and checks that it can be
 * trusted.
 */
#include "tc_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "TERNCAC1"
#define MAX_FILE (1ll << 30)

struct entry_header {
    char magic[8];
    uint8_t digest[32]; /**< SHA-256 of everything after the header. */
};

/** Name of the key's file. 0, or -ENOENT: the result is not cached. */
static int entry_name(const struct tc_key *key, char name[65])
{
    struct tc_sha256 copy = key->hash;
    uint8_t digest[32];
    if (!key->usable) {
        return -ENOENT;
    }
    tc_sha256_end(&copy, digest);
    for (int i = 0; i < 32; i++) {
        snprintf(name + 2 * i, 3, "%02x", digest[i]);
    }
    return 0;
}

static void add_file(struct tc_key *key, const char *path)
{
    struct stat st;
    uint64_t id[4] = {0};
    if (stat(path, &st)) {
        key->usable = 0;
        return;
    }
    id[0] = (uint64_t)st.st_size;
    id[1] = (uint64_t)st.st_mtim.tv_sec;
    id[2] = (uint64_t)st.st_mtim.tv_nsec;
    id[3] = (uint64_t)st.st_ino;
    tc_key_add(key, id, sizeof id);
}

void tc_key_add_tool(struct tc_key *key, const char *name)
{
    char path[4200];
    struct tc_text log = {0};
    if (tc_find_tool(name, path, sizeof path, &log)) {
        key->usable = 0;
    } else {
        add_file(key, path);
    }
    free(log.data);
}

void tc_key_init(struct tc_key *key, const char *step, const char *lib_dir)
{
    key->usable = 1;
    tc_sha256_init(&key->hash);
    const uint32_t version = TC_MODULE_VERSION;
    tc_key_add(key, &version, sizeof version);
    tc_key_add(key, step, strlen(step));
    for (const char *const *file = tc_lib_files; *file; file++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s", lib_dir, *file);
        add_file(key, path);
    }
    tc_key_add_tool(key, "clang-19");
    tc_key_add_tool(key, "ld.lld-19");
}

void tc_key_add(struct tc_key *key, const void *data, size_t size)
{
    uint64_t length = size;
    tc_sha256_add(&key->hash, &length, sizeof length);
    tc_sha256_add(&key->hash, data, size);
}

static int read_file(int dir, const char *name, struct tc_blob *out)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    if (fd < 0) {
        return -ENOENT;
    }
    uint8_t *data = NULL;
    size_t size = 0, done = 0;
    int result = -ENOENT;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size < MAX_FILE) {
        size = (size_t)st.st_size;
        data = malloc(size);
    }
    while (data && done < size) {
        ssize_t n = read(fd, data + done, size - done);
        if (n <= 0) {
            break;
        }
        done += (size_t)n;
    }
    if (data && done == size) {
        futimens(fd, NULL);
        *out = (struct tc_blob){data, size};
        data = NULL;
        result = 0;
    }
    free(data);
    close(fd);
    return result;
}

int tc_cache_get(const struct tc_key *key, struct tc_blob *out, struct tc_text *log)
{
    char name[65];
    struct tc_blob file;
    struct entry_header header;
    uint64_t log_size;
    const int dir = entry_name(key, name) ? -ENOENT : tc_cachedir_open(0);
    if (dir < 0) {
        return -ENOENT;
    }
    int result = read_file(dir, name, &file);
    close(dir);
    if (result) {
        return result;
    }
    result = -ENOENT;
    const size_t head = sizeof header + sizeof log_size;
    if (file.size < head) {
        goto out;
    }
    memcpy(&header, file.data, sizeof header);
    memcpy(&log_size, (char *)file.data + sizeof header, sizeof log_size);
    struct tc_sha256 hash;
    uint8_t digest[32];
    tc_sha256_init(&hash);
    tc_sha256_add(&hash, (char *)file.data + sizeof header, file.size - sizeof header);
    tc_sha256_end(&hash, digest);
    if (memcmp(header.magic, MAGIC, 8) || memcmp(header.digest, digest, 32) || log_size > file.size - head) {
        goto out;
    }
    size_t size = file.size - head - (size_t)log_size;
    void *data = malloc(size ? size : 1);
    if (!data) {
        goto out;
    }
    memcpy(data, (char *)file.data + head + log_size, size);
    if (log_size > 0) {
        tc_text_add(log, (char *)file.data + head, (size_t)log_size);
    }
    *out = (struct tc_blob){data, size};
    result = 0;
out:
    free(file.data);
    return result;
}

struct old_file {
    char name[72];
    struct timespec time;
    uint64_t size;
};

static int older(const void *a, const void *b)
{
    const struct timespec *x = &((const struct old_file *)a)->time, *y = &((const struct old_file *)b)->time;
    if (x->tv_sec != y->tv_sec) {
        return x->tv_sec < y->tv_sec ? -1 : 1;
    }
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/** Removes the oldest files until a tenth of the limit is free. Temporary files of killed writers count as entries. */
static void evict(int dir)
{
    const uint64_t limit = tc_cachedir_limit();
    const int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = own < 0 ? NULL : fdopendir(own);
    struct old_file *files = NULL;
    size_t n = 0, room = 0;
    uint64_t total = 0;
    if (!d) {
        if (own >= 0) {
            close(own);
        }
        return;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        struct stat st;
        size_t length = strlen(e->d_name);
        if (length < 64 || length >= sizeof files->name || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(st.st_mode)) {
            continue;
        }
        if (n == room) {
            struct old_file *grown = realloc(files, (room = room ? 2 * room : 256) * sizeof *files);
            if (!grown) {
                break;
            }
            files = grown;
        }
        memcpy(files[n].name, e->d_name, length + 1);
        files[n].time = st.st_mtim;
        files[n].size = (uint64_t)st.st_size;
        total += files[n++].size;
    }
    if (total > limit) {
        qsort(files, n, sizeof *files, older);
        for (size_t i = 0; i < n && total > limit - limit / 10; i++) {
            if (!unlinkat(dirfd(d), files[i].name, 0)) {
                total -= files[i].size;
            }
        }
    }
    free(files);
    closedir(d);
}

static int write_parts(int fd, const struct tc_blob *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t done = 0; done < parts[i].size;) {
            ssize_t k = write(fd, (const char *)parts[i].data + done, parts[i].size - done);
            if (k < 0 && errno == EINTR) {
                continue;
            }
            if (k <= 0) {
                return -EIO;
            }
            done += (size_t)k;
        }
    }
    return 0;
}

/** Makes a new temporary file, with a name that evict recognises. */
static int create_temporary(int dir, const char *name, char temporary[72])
{
    for (int tries = 0; tries < 100; tries++) {
        uint8_t random[3];
        if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
            return -EIO;
        }
        snprintf(temporary, 72, "%s.%02x%02x%02x", name, random[0], random[1], random[2]);
        const int fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST) {
            return fd < 0 ? -errno : fd;
        }
    }
    return -EEXIST;
}

void tc_cache_put(const struct tc_key *key, const struct tc_blob *blob, const struct tc_text *log)
{
    char name[65], temporary[72];
    const int dir = entry_name(key, name) ? -ENOENT : tc_cachedir_open(1);
    if (dir < 0) {
        return;
    }
    struct entry_header header = {.magic = MAGIC};
    uint64_t log_size = log->size;
    struct tc_blob parts[4] = {
        {&header, sizeof header}, {&log_size, sizeof log_size}, {log->data, log->size}, {blob->data, blob->size}};
    struct tc_sha256 hash;
    tc_sha256_init(&hash);
    for (int i = 1; i < 4; i++) {
        tc_sha256_add(&hash, parts[i].data, parts[i].size);
    }
    tc_sha256_end(&hash, header.digest);
    const int fd = create_temporary(dir, name, temporary);
    if (fd >= 0) {
        struct tc_limit limit;
        tc_limit_begin(&limit);
        int result = write_parts(fd, parts, 4);
        tc_limit_end(&limit);
        result = close(fd) ? -EIO : result;
        if (result || renameat(dir, temporary, dir, name)) {
            unlinkat(dir, temporary, 0);
        } else {
            evict(dir);
        }
    }
    close(dir);
}
