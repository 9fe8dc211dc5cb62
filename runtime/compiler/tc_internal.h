/* SPDX-License-Identifier: Apache-2.0 */
/** Shared declarations of the compiler library. The library has no state but the cache on disk. */
#ifndef TC_INTERNAL_H
#define TC_INTERNAL_H

#include "compiler.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

/* ---------------------------------------------------------------- text that grows (logs, command lines) */

struct tc_text {
    char *data; /**< NUL-terminated; NULL: nothing was added. */
    size_t size;
    int failed; /**< An addition failed for lack of memory. */
};

void tc_text_add(struct tc_text *text, const char *data, size_t size);
void tc_text_print(struct tc_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---------------------------------------------------------------- options */

struct tc_options {
    char **arguments; /**< Arguments for clang, not NULL-terminated. */
    size_t n;
    int version;      /**< Version of OpenCL C: 100, 110, 120, 200, 300. */
    int optimize;
    int coarsen;      /**< Kernels may get a second entry for several work-items. */
    int explain;      /**< The object says why its kernels run as they do. */
    int lines;        /**< Line tables are kept. */
    int arg_info;     /**< clGetKernelArgInfo has answers. */
};

/** Parses options. -EINVAL: an option is unknown (log); -EBADMSG: an unsupported version is required (log); -ENOMEM. */
int tc_options_parse(const char *text, struct tc_options *out, struct tc_text *log);
void tc_options_free(struct tc_options *options);

/** Folder of the application's headers for the front end, so deep that names may begin with several "../". */
#define TC_HEADER_TOP "/tern-headers"
#define TC_HEADER_ROOT TC_HEADER_TOP "/-/-/-/-/-/-/-/-"

/** Makes the options' folders absolute and adds the current folder, for a front end whose current folder is
 *  TC_HEADER_ROOT, so that the application's headers come first. 0 or -ENOMEM. */
int tc_options_from_here(struct tc_options *options);

/* ---------------------------------------------------------------- tools */

/** Folder of the device library and tern-cc1 (tc_find.c): $TERN_LIB_DIR/tern, else beside this library, else where
 *  it was built or installed. 0, or -ENOENT: it, or one of its files, is missing, or is none (log). */
int tc_lib_dir(char *path, size_t size, struct tc_text *log);

/** Names of the files in it; NULL is the last. */
extern const char *const tc_lib_files[];

/** Path of a tool that tc_find.c lists, as "clang-19". 0, or -ENOENT (log says where it was looked for). */
int tc_find_tool(const char *name, char *path, size_t size, struct tc_text *log);

struct tc_child {
    const char *const *argv;
    const struct tc_blob *inputs; /**< Input 0 is standard input; input i is /proc/self/fd/(i + 2). */
    size_t n_inputs;
    /** Final contents of the last input, for a tool that writes to it; malloc'ed. May be NULL. */
    struct tc_blob *back;
    const char *guard; /**< Path of the library that bounds what the tool reads and takes (guard.c), or NULL. */
};

/** Runs a tool to its end; its name is a path or a name of tc_find_tool. 0: it ran; *exit_code is its status,
 *  *output its standard output, and its standard error is appended to log. -ENOENT: it is missing (log); -EIO: a
 *  signal ended it (log); -ENOMEM; -errno. */
int tc_child_run(const struct tc_child *child, int *exit_code, struct tc_blob *output, struct tc_text *log);

/* ---------------------------------------------------------------- cache */

struct tc_sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};

void tc_sha256_init(struct tc_sha256 *s);
void tc_sha256_add(struct tc_sha256 *s, const void *data, size_t size);
void tc_sha256_end(struct tc_sha256 *s, uint8_t digest[32]);

/** A key of everything on which a result depends. Each part is hashed with its length. */
struct tc_key {
    struct tc_sha256 hash;
    int usable;
};

/** Begins the key of a step ("compile", ...), with the versions of all tools and files in lib_dir. */
void tc_key_init(struct tc_key *key, const char *step, const char *lib_dir);
void tc_key_add(struct tc_key *key, const void *data, size_t size);
/** Adds the version of one more tool. */
void tc_key_add_tool(struct tc_key *key, const char *name);

/** Opens the cache's folder for reading, and makes it if `create`. -ENOENT: there is no cache. */
int tc_cachedir_open(int create);
/** Largest size of the cache in bytes. */
uint64_t tc_cachedir_limit(void);

/** Between tc_limit_begin and tc_limit_end, a write beyond the limit of file sizes fails without a signal
 *  (tc_limit.c). */
struct tc_limit {
    sigset_t before;
    int pending;
};
void tc_limit_begin(struct tc_limit *limit);
void tc_limit_end(const struct tc_limit *limit);

/** Finds a stored result and its log. 0, or -ENOENT. */
int tc_cache_get(const struct tc_key *key, struct tc_blob *out, struct tc_text *log);
void tc_cache_put(const struct tc_key *key, const struct tc_blob *blob, const struct tc_text *log);

/* ---------------------------------------------------------------- dependences on files (tc_depend.c) */

/** True: the text does not depend on the time of day, or on files that it asks for without opening them. */
int tc_depend_text(const char *text, size_t size);

/** Prepends its dependences to a result. rule: output of clang -MD; known_file: a file that is part of the key;
 *  given: the application gave headers, so relative names are theirs; start: time at which the front end started. 0;
 *  -EAGAIN: the dependences are not known, and the result must not be cached; -ENOMEM. */
int tc_depend_store(const struct tc_blob *rule, const char *known_file, const struct tc_options *options, int given,
                    const struct timespec *start, const struct tc_blob *result, struct tc_blob *out);

/** The result without its dependences, if their state is the same; else -ENOENT. */
int tc_depend_check(const struct tc_blob *stored, struct tc_blob *result);

/* ---------------------------------------------------------------- blobs */

/** Header of modules and libraries, followed by LLVM bitcode. Objects are ELF files. All blobs end with a seal
 *  (tc_seal.c). */
struct tc_module_header {
    char magic[8]; /**< "TERN.MOD" or "TERN.LIB". */
    uint32_t version;
    uint32_t flags;
    uint64_t size; /**< Bytes of the bitcode. */
};

/** Versions of the stored formats, which change with every change of the format. */
#define TC_MODULE_VERSION 3u
#define TC_OBJECT_VERSION 10
/** Suffix of the entry for several work-items (ternc/cc1.h). */
#define TC_COARSE_SUFFIX ".coarse"

/** Flag of a module: the arguments of its kernels may be queried (-cl-kernel-arg-info). Names are kept in any case,
 *  for messages about faults. */
#define TC_MODULE_ARG_INFO 1u

/** Makes a sealed module of bitcode. *module is unchanged on failure: -ENOMEM. */
int tc_module_make(const struct tc_blob *bitcode, uint32_t flags, struct tc_blob *module);

/** Runs tern-cc1 with an input, unless the cache has its result. *out is the sealed library or object. -EBADMSG: the
 *  input is invalid (log); -EIO: the output is not complete (log); errors of tc_child_run. */
int tc_cc1_cached(const struct tc_key *key, const char *const *argv, const struct tc_blob *input, int to_library,
                  struct tc_blob *out, struct tc_text *log);

/** Appends the seal. -ENOMEM: the blob is unchanged. */
int tc_seal(struct tc_blob *blob);
/** Bytes before the seal; 0: there is no seal, or it does not match. */
size_t tc_sealed_size(const void *data, size_t size);

/** Returns from a public function: gives the log to the caller, or frees it if log is NULL. Returns result, or
 *  -ENOMEM. */
int tc_finish(int result, struct tc_text *text, char **log);

/** Fills an image from its linked program, except the metadata of kernels. 0; -EINVAL: no linker makes this from an
 *  object for that base; -ENOMEM. The image is unchanged on failure. */
int tc_image_read(uint32_t base, struct tc_image *image);

/** True: the bitcode is complete. A tool that was killed may have written a part of it, which LLVM may not notice. */
int tc_bitcode_whole(const void *data, size_t size);

/** Parses the JSON of an object's kernels. 0, -EINVAL or -ENOMEM. */
int tc_kernels_parse(const char *json, size_t size, struct tc_kernels *out);

#endif
