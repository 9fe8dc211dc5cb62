/* SPDX-License-Identifier: Apache-2.0 */
/** Programs and manual pages beside this one (external.h). */
#include "external.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "cli.h"

extern char **environ;

bool external_path(const char *tail, char path[PATH_MAX])
{
    char self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) {
        return false;
    }
    self[n] = '\0';
    static const char *const folders[] = {"/bin/", "/" TERN_LIBDIR "/tern/"};
    char *name = strrchr(self, '/') + 1;
    size_t i = 0;
    for (; i < 2; i++) {
        const size_t length = strlen(folders[i]);
        if ((size_t)(name - self) > length && strncmp(name - length, folders[i], length) == 0) {
            name[-(ptrdiff_t)length] = '\0';
            break;
        }
    }
    if (i == 2) {
        return false;
    }
    return snprintf(path, PATH_MAX, "%s/%s", self, tail) < PATH_MAX;
}

static bool is_name(const char *name)
{
    const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return n > 0 && name[n] == '\0' && isalpha((unsigned char)name[0]);
}

bool external_program(const char *name, char path[PATH_MAX])
{
    char lib[PATH_MAX];
    const char *set = getenv("TERN_LIB_DIR");
    if (!is_name(name)) {
        return false;
    }
    if (set && snprintf(path, PATH_MAX, "%s/tern/tern-%s", set, name) < PATH_MAX && access(path, F_OK) == 0) {
        return true;
    }
    return external_path(TERN_LIBDIR "/tern", lib) && snprintf(path, PATH_MAX, "%s/tern-%s", lib, name) < PATH_MAX;
}

static bool page_path(const char *name, char path[PATH_MAX])
{
    static const char *const ends[] = {".1", ".1.gz"}; /* Debian's packages have compressed pages */
    char pages[PATH_MAX];
    if ((*name && !is_name(name)) || !external_path("share/man/man1", pages)) {
        return false;
    }
    for (size_t i = 0; i < 2; i++) {
        if (snprintf(path, PATH_MAX, "%s/tern%s%s%s", pages, *name ? "-" : "", name, ends[i]) < PATH_MAX &&
            access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

/** Replaces this process by the program. Returns the exit status if that fails. */
static int become(const char *name, char *path, char **argv)
{
    argv[0] = strrchr(path, '/') + 1; /* the name that tern top shows */
    execv(path, argv);
    fprintf(stderr, "tern %s: %s: %s%s\n", name, path, strerror(errno),
            errno == ENOENT ? ": this part of Tern was not built or installed" : "");
    return EXIT_FAILED;
}

int external_run(const char *name, char **argv)
{
    char path[PATH_MAX], page[PATH_MAX], part[64];
    if (argv[1] && snprintf(part, sizeof part, "%s-%s", name, argv[1]) < (int)sizeof part &&
        external_program(part, path) && access(path, F_OK) == 0) {
        part[strlen(name)] = ' ';
        return become(part, path, argv + 1);
    }
    if (!external_program(name, path) || (access(path, F_OK) && !page_path(name, page))) {
        return usage_error("", "unknown command '%s'", name);
    }
    return become(name, path, argv);
}

/** The one-line description of a page: its .Nd line. */
static void summary(const char *path, char *out, size_t size)
{
    gzFile f = gzopen(path, "r"); /* reads files that are not compressed too */
    char line[256];
    *out = '\0';
    while (f && !*out && gzgets(f, line, sizeof line)) {
        if (strncmp(line, ".Nd ", 4) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(out, size, "%s", line + 4);
        }
    }
    if (f) {
        gzclose(f);
    }
}

static int is_page(const struct dirent *d)
{
    const char *dot = strchr(d->d_name, '.');
    return strncmp(d->d_name, "tern-", 5) == 0 && dot && (strcmp(dot, ".1") == 0 || strcmp(dot, ".1.gz") == 0);
}

void external_list(FILE *out, bool (*skip)(const char *name))
{
    char pages[PATH_MAX], path[PATH_MAX], text[256];
    struct dirent **found = NULL;
    const int n = external_path("share/man/man1", pages) ? scandir(pages, &found, is_page, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        char *name = found[i]->d_name + 5;
        name[strcspn(name, ".")] = '\0';
        if (!skip(name) && page_path(name, path)) {
            summary(path, text, sizeof text);
            const bool there = external_program(name, path) && access(path, X_OK) == 0;
            fprintf(out, "  %-10s %s%s\n", name, text, there ? "" : " (not built)");
        }
        free(found[i]);
    }
    free(found);
}

bool manual_show(const char *name)
{
    char path[PATH_MAX];
    pid_t child;
    int status;
    if (!page_path(name, path)) {
        return false;
    }
    fflush(NULL);
    if (posix_spawnp(&child, "man", NULL, NULL, (char *[]){"man", path, NULL}, environ)) {
        return false;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
