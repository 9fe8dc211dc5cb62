/* SPDX-License-Identifier: Apache-2.0 */
/** What the parts of the compiler library share. Nothing here keeps state; the cache on disk is the only memory. */
#ifndef TC_INTERNAL_H
#define TC_INTERNAL_H

#include "compiler.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

/* ---------------------------------------------------------------- text that grows (logs, command lines) */

struct tc_text {
    char *data; /**< NUL-terminated, or NULL if nothing was added. */
    size_t size;
    int failed; /**< Memory ran out. */
};

void tc_text_add(struct tc_text *text, const char *data, size_t size);
void tc_text_print(struct tc_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---------------------------------------------------------------- options */

struct tc_options {
    char **arguments; /**< For clang, not NULL-terminated. */
    size_t n;
    int version;      /**< Of OpenCL C: 100, 110, 120, 300. */
    int optimize;
    int coarsen;      /**< Kernels may get a second entry, for several work-items at once. */
    int lines;        /**< Keep line tables. */
    int arg_info;     /**< clGetKernelArgInfo is to answer. */
};

/** 0; -EINVAL: an option is unknown (log says which); -EBADMSG: it asks for a version that is not supported (log);
 *  -ENOMEM. */
int tc_options_parse(const char *text, struct tc_options *out, struct tc_text *log);
void tc_options_free(struct tc_options *options);

/** Where the front end finds the headers that the application gives: so deep that names may begin with "../". */
#define TC_HEADER_TOP "/tern-headers"
#define TC_HEADER_ROOT TC_HEADER_TOP "/-/-/-/-/-/-/-/-"

/** Makes the options' folders absolute and adds the current one, for a front end that takes TC_HEADER_ROOT for the
 *  current folder, so that headers given come before all others. 0 or -ENOMEM. */
int tc_options_from_here(struct tc_options *options);

/* ---------------------------------------------------------------- tools */

/** Directory of the device library and tern-cc1 (tc_find.c): $TERN_LIB_DIR/tern, else beside this library, else where
 *  it was built or installed. 0, or -ENOENT (log). */
int tc_lib_dir(char *path, size_t size, struct tc_text *log);

/** One of LLVM's tools, "clang-19" or "ld.lld-19". 0, or -ENOENT (log says what was looked for where). */
int tc_find_tool(const char *name, char *path, size_t size, struct tc_text *log);

struct tc_child {
    const char *const *argv;
    const struct tc_blob *inputs; /**< [0] is standard input, [i] can be opened as /proc/self/fd/(i + 2). */
    size_t n_inputs;
    /** If not NULL: what the last input holds in the end, for a tool that writes to it. Malloc'ed. */
    struct tc_blob *back;
};

/** Runs a tool to its end, by its path or by a name of tc_find_tool. 0: it ran; *exit_code is its own, *output its
 *  standard output, and log got its standard error. -ENOENT: it is missing (log names it and its package); -EIO: a
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

/** A key from everything a result depends on; the parts do not run together. */
struct tc_key {
    struct tc_sha256 hash;
    int usable;
};

/** Starts a key of a step ("compile", ...) with the versions of everything in lib_dir and of the tools. */
void tc_key_init(struct tc_key *key, const char *step, const char *lib_dir);
void tc_key_add(struct tc_key *key, const void *data, size_t size);

/** The cache's folder, open for reading; made if it is not there and that is asked for. -ENOENT: there is none to use.
 */
int tc_cachedir_open(int create);
/** How many bytes the cache may hold. */
uint64_t tc_cachedir_limit(void);

/** Between the two a write beyond the limit of file sizes fails and does no more (tc_limit.c). */
struct tc_limit {
    sigset_t before;
    int pending;
};
void tc_limit_begin(struct tc_limit *limit);
void tc_limit_end(const struct tc_limit *limit);

/** 0 and the stored result and its log, or -ENOENT. */
int tc_cache_get(const struct tc_key *key, struct tc_blob *out, struct tc_text *log);
void tc_cache_put(const struct tc_key *key, const struct tc_blob *blob, const struct tc_text *log);

/* ---------------------------------------------------------------- dependences on files (tc_depend.c) */

/** Whether a text's meaning does not hang on the time of day or on files that it asks for without opening them. */
int tc_depend_text(const char *text, size_t size);

/** Puts before a result what it depends on. rule: clang's -MD output; known_file: the one that is part of the key, and
 *  not of the list; given: headers were given, so that relative names are theirs; start: of the run that wrote it.
 *  0; -EAGAIN: this is not known, so that the result is not to be cached; -ENOMEM. */
int tc_depend_store(const struct tc_blob *rule, const char *known_file, const struct tc_options *options, int given,
                    const struct timespec *start, const struct tc_blob *result, struct tc_blob *out);

/** The result again, if all that it depends on is as it was; else -ENOENT. */
int tc_depend_check(const struct tc_blob *stored, struct tc_blob *result);

/* ---------------------------------------------------------------- blobs */

/** Modules and libraries: this, then LLVM bitcode. Objects are ELF files. Behind all of them stands a seal
 *  (tc_seal.c). */
struct tc_module_header {
    char magic[8]; /**< "TERN.MOD" or "TERN.LIB". */
    uint32_t version;
    uint32_t flags;
    uint64_t size; /**< Of the bitcode. */
};

/** Of everything that is stored: raised when blobs change their shape. */
#define TC_MODULE_VERSION 3u
#define TC_OBJECT_VERSION 3
/** Behind the name of an entry for several work-items at once (ternc/cc1.h). */
#define TC_COARSE_SUFFIX ".coarse"

/** Flag of a module: its kernels' arguments may be queried (-cl-kernel-arg-info). Their names are kept in any case, for
 *  faults. */
#define TC_MODULE_ARG_INFO 1u

/** Appends the seal. -ENOMEM: nothing is changed. */
int tc_seal(struct tc_blob *blob);
/** Bytes that the seal is about; 0 if there is no seal, or it does not fit them. */
size_t tc_sealed_size(const void *data, size_t size);

/** Gives the log to the caller, at the end of each public function; frees it if log is NULL. Returns result, or
 *  -ENOMEM. */
int tc_finish(int result, struct tc_text *text, char **log);

/** Fills an image, but for its kernels' metadata, from its linked program. 0; -EINVAL: it is not what a linker makes
 *  of an object for that base, and the image as it was; -ENOMEM. */
int tc_image_read(uint32_t base, struct tc_image *image);

/** Whether bitcode is there to its end: a tool that was killed may have written a part, and LLVM not notice. */
int tc_bitcode_whole(const void *data, size_t size);

/** Reads the JSON of an object's kernels. 0, -EINVAL or -ENOMEM. */
int tc_kernels_parse(const char *json, size_t size, struct tc_kernels *out);

#endif
