/* SPDX-License-Identifier: Apache-2.0 */
/** Reading and writing of whole files (run.h). */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tern/tern.h"

static int failed(const char *command, const char *path, const char *why)
{
    fprintf(stderr, "tern %s: %s: %s\n", command, path, why);
    return EXIT_FAILED;
}

int file_read(const char *command, const char *path, size_t most, const char *what, void **data, size_t *size)
{
    char *bytes;
    const bool standard = strcmp(path, "-") == 0;
    const int r = standard ? tern_file_read_from(STDIN_FILENO, path, most, &bytes, size)
                           : tern_file_read(path, most, &bytes, size);
    if (r == -EFBIG) {
        fprintf(stderr, "tern %s: %s: is larger than %s\n", command, path, what);
    } else if (r) {
        fprintf(stderr, "tern %s: %s\n", command, tern_last_error());
    }
    if (r) {
        return EXIT_FAILED;
    }
    *data = bytes;
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
