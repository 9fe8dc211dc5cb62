/* SPDX-License-Identifier: Apache-2.0 */
#include "descriptors.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

unsigned open_descriptors(const char *text)
{
    unsigned n = 0;
    DIR *d = opendir("/proc/self/fd");
    for (const struct dirent *e; d && (e = readdir(d));) {
        char target[512];
        const ssize_t length = readlinkat(dirfd(d), e->d_name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        n += strstr(target, text) != NULL;
    }
    if (d) {
        closedir(d);
    }
    return n;
}
