/* SPDX-License-Identifier: Apache-2.0 */
/**
 * OpenCL C to code for the SIMT executor, in three steps, each in a child process so that a crash of a compiler never
 * takes the application down (docs/compiler.md):
 *
 *   tc_compile  source -> module   (LLVM bitcode with kernel metadata; what clCompileProgram makes)
 *   tc_link     modules -> module (library) or object (relocatable RISC-V ELF with the section .tern.kernels: JSON)
 *   tc_load     object -> image    linked for a device address, with kernel entries
 *
 * Blobs are byte strings that can be stored and given back in another process of the same version; tc_kind says what
 * a byte string is, and that it came back undamaged. Results are cached on disk ($TERN_CACHE_DIR, else
 * $XDG_CACHE_HOME/tern, else ~/.cache/tern) by content, options and versions; TERN_CACHE=0 turns that off. All
 * functions may be called from any thread; all block. Logs are the compiler's own messages, NUL-terminated, owned by
 * the caller (free), NULL if empty; a log pointer may be NULL. Out-parameters but the log are untouched on failure.
 * tern-cc1 and the device library are found beside the shared library ($libdir/tern), or in $TERN_LIB_DIR/tern.
 */
#ifndef TERN_COMPILER_H
#define TERN_COMPILER_H

#include <stddef.h>
#include <stdint.h>

enum tc_kind { TC_UNKNOWN, TC_MODULE, TC_LIBRARY, TC_OBJECT };

struct tc_blob {
    void *data; /**< malloc'ed; owned by the struct's owner. */
    size_t size;
};

/** A header for #include by the given name (clCompileProgram). */
struct tc_header {
    const char *name;
    const char *source;
    size_t size;
};

/** 0; -EINVAL: an option is not known (log says which); -EBADMSG: the source does not compile (log); -ENOENT: a tool is
 *  missing (log names it and how to install it); -EIO: a compiler crashed (log); -ENOMEM. */
int tc_compile(const char *source, size_t size, const char *options, const struct tc_header *headers, size_t n_headers,
               struct tc_blob *module, char **log);

/** Links modules and libraries. to_library: the result is a library, else an object. Errors as tc_compile; -EBADMSG
 *  also for unresolved or duplicate symbols, -EINVAL also for a blob of the wrong kind. */
int tc_link(const struct tc_blob *inputs, size_t n_inputs, const char *options, int to_library,
            struct tc_blob *out, char **log);

enum tc_kind tc_kind(const void *data, size_t size);

enum tc_address_space { TC_PRIVATE, TC_GLOBAL, TC_CONSTANT, TC_LOCAL };

#define TC_MAX_ARGS 1024u          /**< Of a kernel. */
#define TC_MAX_ARGS_SIZE (1u << 20) /**< Of an argument block; devices allow less. */

/** A kernel argument. For pointers to local memory, size is 4 and the value is a local-window address. In what the
 *  functions below give, arguments lie in their order, apart from each other and within the block, and pointers at
 *  multiples of 4, whatever made the object. */
struct tc_arg {
    char *name;      /**< Always kept; NULL only if the parameter has none. */
    char *type;      /**< "float4*", as clGetKernelArgInfo gives it: without qualifiers. */
    enum tc_address_space space;
    unsigned access_qualifier; /**< 0 none, 1 read_only, 2 write_only, 3 read_write. */
    unsigned type_qualifier;   /**< CL_KERNEL_ARG_TYPE_CONST 1 | RESTRICT 2 | VOLATILE 4. */
    int is_pointer;
    uint32_t size;   /**< Bytes of its value (4 for pointers; 0 only for a struct without members). */
    uint32_t offset; /**< In the argument block. */
};

struct tc_kernel {
    char *name;               /**< Not empty; no two of a program have the same. */
    /** As clGetKernelInfo(CL_KERNEL_ATTRIBUTES): "reqd_work_group_size(8,8,1)"; may be "". */
    char *attributes;
    uint32_t n_args;
    struct tc_arg *args;
    uint32_t args_size;       /**< Bytes of the argument block, a multiple of 16; it must lie at a multiple of 16. */
    uint32_t local_static;    /**< Bytes of __local variables, from the start of the window. */
    uint32_t stack;           /**< Private bytes a work-item needs (an upper bound). */
    uint32_t required_size[3];/**< reqd_work_group_size, each at least 1, or zeros. */
    int uniform;              /**< May rely on work-groups of one size: OpenCL C 1.x, or -cl-uniform-work-group-size. */
    uint32_t coarse;          /**< Work-items that a round of coarse_entry runs, see below; 0: there is none. */
    int coarse_rows;          /**< The lanes of a row, see below, do each other's work-items; for messages. */
    int arg_info;             /**< The application may query its arguments: -cl-kernel-arg-info. */
    uint32_t entry;           /**< Device address; filled by tc_load only. */
    uint32_t coarse_entry;    /**< The same; 0 if coarse is. */
};

/**
 * In a dispatch of coarse_entry, hardware work-items run OpenCL work-items in rounds of c = tc_kernel.coarse. Number h
 * of X in x, X a multiple of S = TC_COARSE_STRIDE, without the offset, runs the numbers
 *
 *     (h / S + r * X / S) * S * c + k * S + h % S     for k from 0 to c - 1 and r from 0 on
 *
 * that are less than the global size. dispatch.user0 is the end of the ids in x, offset plus OpenCL's global size, at
 * most TC_COARSE_END; user1 is X * c. y and z, offsets and arguments are as ever; groups are the launcher's choice,
 * since such a kernel looks at no local or group id, has no local memory and does not print.
 */
#define TC_COARSE_STRIDE 16u
#define TC_COARSE_END (1u << 31)

struct tc_kernels {
    struct tc_kernel *kernels;
    size_t n;
    /** Bytes of the program's variables in the global address space, without what lies between them. */
    uint64_t variables;
};

/** Reads the kernels of an object. -EINVAL: not an object. Freed by tc_kernels_free. */
int tc_kernels_read(const struct tc_blob *object, struct tc_kernels *out);
void tc_kernels_free(struct tc_kernels *kernels);

/** What goes into device memory at `base`: `size` bytes, the first code_size of them read+execute, the next
 *  constant_size read only (both multiples of 4096), the rest read+write (program-scope variables). */
struct tc_image {
    uint32_t base;
    uint32_t size;
    uint32_t code_size;
    uint32_t constant_size;
    uint32_t filled; /**< Bytes of data; the others, up to size, are zero: variables take no memory of the host. */
    uint8_t *data;
    struct tc_blob linked; /**< The ELF file all this is from: with symbols, and line tables if built with -g. */
    struct tc_kernels kernels; /**< With entries. */
    int prints;      /**< Calls printf somewhere: dispatch.user0 and user1 must name a buffer. */
};

/** Links an object for the device address base (a multiple of 4096). Errors as tc_link. Freed by tc_image_free. */
int tc_load(const struct tc_blob *object, uint32_t base, struct tc_image *out, char **log);
void tc_image_free(struct tc_image *image);

/** Where an address of an image's code comes from: "in helper at program.cl:4:10, called from vecadd at
 *  program.cl:10:19" if the program was built with -g, else "in vecadd+0x10"; "" for what is no code. What is not
 *  known is left out, what does not fit is cut off. 1: the program has line tables; 0: it has none. */
int tc_locate(const struct tc_image *image, uint32_t address, char *text, size_t size);

/** What the compiler provides, separated by spaces: CL_DEVICE_EXTENSIONS, and the feature macros of OpenCL C 3.0. */
const char *tc_extensions(void);
const char *tc_features(void);

/** Formats the records that kernels' printf calls left: `buffer` is a copy of the device's buffer (CSR user0, of
 *  user1 bytes, a multiple of 4; word 0, to be set to 0 before the kernel runs, counts the bytes of records, or more
 *  if they did not fit), `image` the program that ran. Calls emit with each piece of text in order, in the C locale,
 *  whatever the thread's is. Trusts nothing in the buffer. 0 or -ENOMEM. */
int tc_printf_format(const struct tc_image *image, const void *buffer, size_t size,
                     void (*emit)(void *user, const char *text, size_t length), void *user);

#endif
