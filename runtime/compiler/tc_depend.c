/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Dependences of a compilation on files: those that the front end opened (clang -MD: #include, #embed), and the places
 * where it looked for them before and found none. A cached result carries these names with a digest of their state, and
 * is valid only while the state is the same.
 *
 * The list does not show __has_include, __has_embed and the time of day. Texts that mention these are not cached, nor
 * are results of files that changed while the compiler ran.
 */
#include "guard.h"
#include "tc_internal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PATHS 4096u
#define RESOURCES "/lib/clang/" /* clang's own headers, of which the identity suffices because they are not edited */

struct stored {
    uint64_t names_size;
    uint8_t state[32];
};

/* ---------------------------------------------------------------- texts */

/** Joins lines that end with a backslash, as the front end does. */
static void unsplice(struct tc_text *out, const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        const size_t mark = text[i] == '\\' ? 1 : size - i >= 3 && !memcmp(text + i, "?\?/", 3) ? 3 : 0;
        size_t end = i + mark;
        while (mark && end < size && text[end] != '\n' && strchr(" \t\v\f\r", text[end]) && text[end]) {
            end++;
        }
        if (mark && end < size && text[end] == '\n') {
            i = end + 1;
            continue;
        }
        size_t next = i + 1;
        while (next < size && text[next] != '\\' && text[next] != '?') {
            next++;
        }
        tc_text_add(out, text + i, next - i);
        i = next;
    }
}

/** True: the identifier is one of those that the list does not show, or a prefix of one, which ## may complete. */
static int asks(const char *name, size_t size)
{
    static const char *const words[] = {"__TIME__", "__TIMESTAMP__", "__DATE__", "__has_include_next", "__has_embed"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (size <= strlen(words[i]) && !memcmp(words[i], name, size)) {
            return 1;
        }
    }
    return 0;
}

int tc_depend_text(const char *text, size_t size)
{
    struct tc_text flat = {0};
    unsplice(&flat, text, size);
    int plain = !flat.failed;
    for (size_t i = 0; plain && i < flat.size;) {
        size_t n = 0;
        while (i + n < flat.size && (isalnum((unsigned char)flat.data[i + n]) || flat.data[i + n] == '_')) {
            n++;
        }
        plain = n == 0 || flat.data[i] != '_' || !asks(flat.data + i, n);
        i += n ? n : 1;
    }
    free(flat.data);
    return plain;
}

/* ---------------------------------------------------------------- names */

/** Adds a name, unless it is in the list. Names are stored one after the other, each with its NUL. */
static void add_name(struct tc_text *names, const char *name, size_t size)
{
    for (size_t at = 0; at < names->size; at += strlen(names->data + at) + 1) {
        if (strlen(names->data + at) == size && !memcmp(names->data + at, name, size)) {
            return;
        }
    }
    tc_text_add(names, name, size);
    tc_text_add(names, "", 1);
}

#define FOR_EACH(name, names) \
    for (const char *name = (names)->data; name && name < (names)->data + (names)->size; name += strlen(name) + 1)

static size_t count(const struct tc_text *names)
{
    size_t n = 0;
    FOR_EACH(name, names) {
        n++;
    }
    return n;
}

/** Adds the prerequisites of clang's makefile rule, except the name `but`. */
static void parse_rule(const struct tc_blob *rule, const char *but, struct tc_text *names)
{
    const char *p = rule->data, *end = p + rule->size;
    const char *colon = memmem(p, rule->size, ": ", 2);
    struct tc_text name = {0};
    for (p = colon ? colon + 1 : end; p < end; p++) {
        if (*p == '\\' && p + 1 < end && p[1] == '\n') {
            p++;
        } else if (*p == '\\' && p + 1 < end && (p[1] == ' ' || p[1] == '#')) {
            tc_text_add(&name, ++p, 1);
            continue;
        } else if (*p == '$' && p + 1 < end && p[1] == '$') {
            tc_text_add(&name, ++p, 1);
            continue;
        } else if (*p != ' ' && *p != '\n') {
            tc_text_add(&name, p, 1);
            continue;
        }
        if (name.size && (name.size != strlen(but) || memcmp(name.data, but, name.size))) {
            add_name(names, name.data, name.size);
        }
        name.size = 0;
    }
    names->failed |= name.failed;
    free(name.data);
}

/** The folders in which the front end looks for "name" and <name>: the application's, the current one, and those of
 *  opened files. Returns the number of folders of the first two kinds. */
static size_t find_folders(const struct tc_options *options, const struct tc_text *opened, struct tc_text *folders)
{
    for (size_t i = 0; i < options->n; i++) {
        const char *o = options->arguments[i];
        const size_t skip = !strncmp(o, "-I", 2) ? 2 : !strncmp(o, "-iquote", 7) ? 7 : !strncmp(o, "--embed-dir=", 12)
            ? 12 : 0;
        if (skip) {
            size_t n = strlen(o + skip);
            while (n > 1 && o[skip + n - 1] == '/') {
                n--;
            }
            add_name(folders, o + skip, n);
        }
    }
    add_name(folders, TC_HEADER_ROOT, strlen(TC_HEADER_ROOT));
    add_name(folders, "", 0);
    const size_t own = count(folders);
    FOR_EACH(name, opened) {
        const char *slash = strrchr(name, '/');
        if (slash && strstr(name, RESOURCES) == NULL) {
            add_name(folders, name, (size_t)(slash - name));
        }
    }
    return own;
}

/** The part of `path` after folder/; NULL: the path is not in the folder. */
static const char *within(const char *path, const char *folder)
{
    const size_t n = strlen(folder);
    if (n == 0) {
        return *path == '/' ? NULL : path;
    }
    if (strncmp(path, folder, n) || path[n] != '/') {
        return NULL;
    }
    path += n;
    return path + strspn(path, "/");
}

/** Adds every place where a file of this name, relative to a folder, could have been found. */
static void add_places(struct tc_text *places, const char *name, const struct tc_text *folders)
{
    FOR_EACH(folder, folders) {
        struct tc_text path = {0};
        tc_text_print(&path, "%s%s%s", folder, *folder ? "/" : "", name);
        if (path.failed) {
            places->failed = 1;
        } else if (strncmp(path.data, TC_HEADER_TOP "/", strlen(TC_HEADER_TOP) + 1)) {
            add_name(places, path.data, path.size);
        }
        free(path.data);
    }
}

/* ---------------------------------------------------------------- state */

static int later(const struct timespec *a, const struct timespec *b)
{
    /* file systems may use a clock that is some milliseconds late */
    const long margin = 20000000;
    if (a->tv_sec > b->tv_sec || a->tv_sec < b->tv_sec - 1) {
        return a->tv_sec > b->tv_sec;
    }
    return (a->tv_sec - b->tv_sec) * 1000000000 + a->tv_nsec - b->tv_nsec + margin >= 0;
}

/** Adds the state of one place to the digest. start: refuses a file that has changed since, or that mentions what
 *  the list does not show; NULL: no check. 0, or -EAGAIN. */
static int add_state(struct tc_sha256 *hash, const char *name, const struct timespec *start)
{
    struct stat st = {0};
    char buffer[16384];
    uint64_t id[4] = {0};
    int result = 0;
    tc_sha256_add(hash, name, strlen(name) + 1);
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        /* a folder is no header; a file that cannot be read now may be readable later */
        result = fd < 0 && errno != ENOENT && errno != ENOTDIR ? -EAGAIN : 0;
        tc_sha256_add(hash, "absent", 7);
        goto out;
    }
    if (start && later(&st.st_ctim, start)) {
        result = -EAGAIN;
        goto out;
    }
    if (strstr(name, RESOURCES)) {
        id[0] = (uint64_t)st.st_size;
        id[1] = (uint64_t)st.st_mtim.tv_sec;
        id[2] = (uint64_t)st.st_mtim.tv_nsec;
        id[3] = (uint64_t)st.st_ino;
        tc_sha256_add(hash, id, sizeof id);
        goto out;
    }
    if (st.st_size > (off_t)GUARD_FILE_MIB << 20) { /* it was smaller when the front end read it */
        result = -EAGAIN;
        goto out;
    }
    struct tc_text content = {0};
    struct tc_sha256 own;
    uint8_t digest[32];
    tc_sha256_init(&own);
    off_t left = st.st_size;
    for (ssize_t n; (n = read(fd, buffer, sizeof buffer)) != 0; left -= n) {
        if (n < 0 || n > left) { /* it grows, or is one that the kernel makes, whose size says nothing */
            result = -EAGAIN;
            break;
        }
        tc_sha256_add(&own, buffer, (size_t)n);
        if (start) {
            tc_text_add(&content, buffer, (size_t)n);
        }
    }
    tc_sha256_end(&own, digest);
    tc_sha256_add(hash, digest, sizeof digest);
    if (start && (content.failed || !tc_depend_text(content.data, content.size))) {
        result = -EAGAIN;
    }
    free(content.data);
out:
    if (fd >= 0) {
        close(fd);
    }
    return result;
}

static int state_of(const struct tc_text *names, const struct timespec *start, uint8_t digest[32])
{
    struct tc_sha256 hash;
    int result = 0;
    tc_sha256_init(&hash);
    FOR_EACH(name, names) {
        if (result == 0) {
            result = add_state(&hash, name, start);
        }
    }
    tc_sha256_end(&hash, digest);
    return result;
}

/* ---------------------------------------------------------------- the two calls */

/** True: variables add folders that are not in the options. */
static int more_folders(void)
{
    return getenv("CPATH") || getenv("C_INCLUDE_PATH") || getenv("OBJC_INCLUDE_PATH") || getenv("CPLUS_INCLUDE_PATH");
}

int tc_depend_store(const struct tc_blob *rule, const char *known_file, const struct tc_options *options, int given,
                    const struct timespec *start, const struct tc_blob *result, struct tc_blob *out)
{
    struct tc_text opened = {0}, folders = {0}, places = {0};
    struct stored head = {0};
    int error = 0;
    parse_rule(rule, known_file, &opened);
    const size_t own = find_folders(options, &opened, &folders);
    if (count(&opened) * count(&folders) > MAX_PATHS) {
        error = -EAGAIN;
    }
    FOR_EACH(name, &opened) {
        const char *resource = strstr(name, RESOURCES);
        size_t at = 0, known = 0;
        FOR_EACH(folder, &folders) {
            const char *rest = error || (given && *name != '/') ? NULL : within(name, folder);
            if (rest) {
                known += at < own;
                add_places(&places, rest, &folders);
            }
            at++;
        }
        if (resource && !error) {
            const char *slash = strrchr(name, '/');
            add_name(&places, name, strlen(name));
            add_places(&places, slash + 1, &folders);
        } else if ((given && *name != '/') || !strncmp(name, TC_HEADER_TOP "/", strlen(TC_HEADER_TOP) + 1)) {
            continue; /* a memory file, which is part of the key */
        } else if (!known || more_folders() || access(name, R_OK)) {
            error = -EAGAIN; /* the folder is not known, so places before it are not known either */
        }
    }
    if (opened.failed || folders.failed || places.failed || !opened.size) {
        error = -EAGAIN;
    }
    if (error == 0) {
        error = state_of(&places, start, head.state);
    }
    head.names_size = places.size;
    char *data = error ? NULL : malloc(sizeof head + places.size + result->size);
    if (!error && !data) {
        error = -ENOMEM;
    }
    if (!error) {
        memcpy(data, &head, sizeof head);
        memcpy(data + sizeof head, places.data, places.size);
        memcpy(data + sizeof head + places.size, result->data, result->size);
        *out = (struct tc_blob){data, sizeof head + places.size + result->size};
    }
    free(opened.data);
    free(folders.data);
    free(places.data);
    return error;
}

int tc_depend_check(const struct tc_blob *stored, struct tc_blob *result)
{
    struct stored head;
    uint8_t now[32];
    if (stored->size < sizeof head) {
        return -ENOENT;
    }
    memcpy(&head, stored->data, sizeof head);
    char *names = (char *)stored->data + sizeof head;
    size_t left = stored->size - sizeof head;
    if (head.names_size > left || (head.names_size && names[head.names_size - 1])) {
        return -ENOENT;
    }
    const struct tc_text list = {.data = names, .size = (size_t)head.names_size};
    if (state_of(&list, NULL, now) || memcmp(now, head.state, sizeof now)) {
        return -ENOENT;
    }
    left -= list.size;
    void *data = malloc(left ? left : 1);
    if (!data) {
        return -ENOENT;
    }
    memcpy(data, names + list.size, left);
    *result = (struct tc_blob){data, left};
    return 0;
}
