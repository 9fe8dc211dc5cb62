/* SPDX-License-Identifier: Apache-2.0 */
/** Whole files (run.h). */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int failed(const char *command, const char *path, const char *why)
{
    fprintf(stderr, "tern %s: %s: %s\n", command, path, why);
    return EXIT_FAILED;
}

int file_read(const char *command, const char *path, size_t most, void **data, size_t *size)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    struct stat st;
    char *bytes = NULL;
    size_t n = 0, room = 0;
    const char *why = NULL;
    if (!f) {
        return failed(command, path, strerror(errno));
    }
    if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
        why = "is a directory";
    }
    while (!why && !feof(f)) {
        if (n == room) {
            room = room ? room * 2 : 65536;
            char *grown = realloc(bytes, room + 1);
            if (!grown) {
                why = "the host has no memory for it";
                break;
            }
            bytes = grown;
        }
        n += fread(bytes + n, 1, room - n, f);
        why = ferror(f) ? strerror(errno) : n > most ? "is larger than the largest buffer of the device" : NULL;
    }
    if (!standard) {
        fclose(f);
    }
    if (why) {
        free(bytes);
        return failed(command, path, why);
    }
    bytes[n] = '\0';
    *data = bytes;
    *size = n;
    return EXIT_OK;
}

int file_write(const char *command, const char *path, const void *data, size_t size)
{
    const bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdout : fopen(path, "wb");
    if (!f) {
        return failed(command, path, strerror(errno));
    }
    bool ok = fwrite(data, 1, size, f) == size;
    ok = (standard ? fflush(f) : fclose(f)) == 0 && ok;
    return ok ? EXIT_OK : failed(command, path, strerror(errno));
}
