/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finds the tools. The device library and tern-cc1 are beside this library, or where $TERN_LIB_DIR says. LLVM's tools
 * are in $TERN_LLVM_DIR if it is set, those for SPIR-V in $TERN_SPIRV_DIR, else in PATH or in the folders of Debian's
 * packages, because services often run with a shorter PATH. Programs with another user's rights (setuid) take no folder
 * from the environment.
 */
#include "tc_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Defined only in programs that stay in the build tree (driver/base/build_tree.c): installed files do not name the
 *  build's folders. */
extern const char *const tern_build_lib_dir __attribute__((weak));

const char *const tc_lib_files[] = {"tern-cc1", "tern-guard.so", "atomics.h", "builtins.bc", "clc.bc", "half.bc",
                                    "images.bc",
                                    "runtime.o", "runtime.stack", NULL};

#define LLVM_DIRS "/usr/bin:/usr/local/bin:/usr/lib/llvm-19/bin"

/** Folder of the library or program that contains this code; "" if unknown. A program may have been started by a
 *  name that is no path. */
static void own_folder(char *out, size_t size)
{
    Dl_info info;
    const char *name = dladdr((void *)(uintptr_t)tc_lib_dir, &info) ? info.dli_fname : NULL;
    ssize_t n = 0;
    if (name && *name != '/' && !strcmp(name, program_invocation_name)) {
        n = readlink("/proc/self/exe", out, size - 1);
    } else if (name && strlen(name) < size) {
        n = (ssize_t)strlen(name);
        memcpy(out, name, (size_t)n);
    }
    out[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(out, '/');
    *(slash ? slash : out) = '\0';
}

/** Tools open these files by name: a missing one is said here, and no tool waits for a named pipe. */
static int check_files(const char *folder, struct tc_text *log)
{
    for (const char *const *file = tc_lib_files; *file; file++) {
        char path[4200];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, *file);
        const int found = !stat(path, &st);
        if (!found || !S_ISREG(st.st_mode)) {
            tc_text_print(log, "error: Tern's device library is not complete: %s %s\n", path,
                          found ? "is no file" : "is missing");
            return -ENOENT;
        }
    }
    return 0;
}

int tc_lib_dir(char *path, size_t size, struct tc_text *log)
{
    const char *set = secure_getenv("TERN_LIB_DIR");
    char self[4096];
    own_folder(self, sizeof self);
    const char *const bases[] = {set ? set : self, self, self, &tern_build_lib_dir ? tern_build_lib_dir : ""};
    const char *const tails[] = {"/tern", "/../lib/tern", "", "/tern"};
    for (size_t i = 0; i < (set ? 1 : sizeof bases / sizeof *bases); i++) {
        char probe[4200];
        int n = snprintf(probe, sizeof probe, "%s%s/tern-cc1", bases[i], tails[i]);
        if (*bases[i] && n > 0 && (size_t)n < sizeof probe && !access(probe, X_OK) && (size_t)n < size) {
            memcpy(path, probe, (size_t)n + 1);
            *strrchr(path, '/') = '\0';
            return check_files(path, log);
        }
    }
    tc_text_print(log, "error: Tern's device library is not installed: no tern-cc1 in %s/tern\n", set ? set : self);
    return -ENOENT;
}

/** Looks for a file in a list of folders separated by colons. */
static int find_in(const char *list, const char *name, char *path, size_t size)
{
    while (*list) {
        const size_t n = strcspn(list, ":");
        const int length = snprintf(path, size, "%.*s/%s", (int)n, list, name);
        if (n > 0 && length > 0 && (size_t)length < size && !access(path, X_OK)) {
            return 0;
        }
        list += n + (list[n] == ':');
    }
    return -ENOENT;
}

/** The tools: name in Debian's packages, name in an installation of another origin, package, and the variable that
 *  names the folder of such an installation. */
static const struct tool {
    const char *name, *plain, *package, *variable, *what;
} tools[] = {
    {"clang-19", "clang", "clang-19", "TERN_LLVM_DIR", "LLVM 19"},
    {"ld.lld-19", "ld.lld", "lld-19", "TERN_LLVM_DIR", "LLVM 19"},
    {"llvm-spirv-15", "llvm-spirv", "llvm-spirv-15", "TERN_SPIRV_DIR", "translator of SPIR-V"},
    {"spirv-val", "spirv-val", "spirv-tools", "TERN_SPIRV_DIR", "translator of SPIR-V"},
};

int tc_find_tool(const char *name, char *path, size_t size, struct tc_text *log)
{
    const struct tool *t = tools;
    while (strcmp(t->name, name)) {
        t++;
    }
    const char *set = secure_getenv(t->variable), *search = secure_getenv("PATH");
    if (set && *set) {
        if (!find_in(set, name, path, size) || !find_in(set, t->plain, path, size)) {
            return 0;
        }
        tc_text_print(log, "error: there is neither %s nor %s in %s (%s)\n", name, t->plain, set, t->variable);
        return -ENOENT;
    }
    if (!find_in(search ? search : "", name, path, size) || !find_in(LLVM_DIRS, name, path, size) ||
        !find_in("/usr/lib/llvm-19/bin", t->plain, path, size)) {
        return 0;
    }
    tc_text_print(log,
                  "error: %s is not installed: it is not in PATH (%s), nor in %s; run: apt install %s\n"
                  "(or name the folder of another %s in %s)\n",
                  name, search ? search : "not set", LLVM_DIRS, t->package, t->what, t->variable);
    return -ENOENT;
}
