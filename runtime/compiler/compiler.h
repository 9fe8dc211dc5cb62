/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The compiler: from OpenCL C to code for the SIMT executor in three steps. Each step is a child process, so that a
 * crash of a compiler does not end the application (docs/compiler.md):
 *
 *   tc_compile  source -> module   LLVM bitcode with kernel metadata, the result of clCompileProgram; tc_il_compile
 *                                  makes the same of SPIR-V
 *   tc_link     modules -> library, or object: relocatable RISC-V ELF with the section .tern.kernels (JSON)
 *   tc_load     object -> image    linked for a device address, with kernel entries
 *
 * Blobs are byte strings that can be stored, and given back in another process of the same version. tc_kind returns the
 * kind of a byte string, and checks that it is undamaged.
 *
 * Cache. Results are cached on disk ($TERN_CACHE_DIR, else $XDG_CACHE_HOME/tern, else ~/.cache/tern) by content,
 * options and versions; TERN_CACHE=0 disables the cache.
 *
 * All functions are thread-safe and block. Logs are the compiler's messages, NUL-terminated; the caller frees them;
 * NULL stands for an empty one; a log pointer may be NULL. Except logs, out-parameters are unchanged on failure.
 *
 * tern-cc1 and the device library are in $libdir/tern beside the shared library, or in $TERN_LIB_DIR/tern.
 */
#ifndef TERN_COMPILER_H
#define TERN_COMPILER_H

#include <stddef.h>
#include <stdint.h>

enum tc_kind { TC_UNKNOWN, TC_MODULE, TC_LIBRARY, TC_OBJECT };

struct tc_blob {
    void *data; /**< malloc'ed, owned by the owner of the struct. */
    size_t size;
};

/** A header that the program includes by this name (clCompileProgram). */
struct tc_header {
    const char *name;
    const char *source;
    size_t size;
};

/** Compiles a source. -EINVAL: an option is unknown (log); -EBADMSG: the source does not compile (log); -ENOENT: a
 *  tool is missing (log says which, and how to install it); -EIO: a compiler crashed, or exceeded a limit of memory,
 *  time or output (log); -ENOMEM. Files that the source names are regular ones of at most 64 MiB. */
int tc_compile(const char *source, size_t size, const char *options, const struct tc_header *headers, size_t n_headers,
               struct tc_blob *module, char **log);

/** Versions of SPIR-V that tc_il_compile takes, as CL_DEVICE_IL_VERSION lists them. */
#define TC_IL_VERSIONS "SPIR-V_1.2 SPIR-V_1.1 SPIR-V_1.0"

/** A specialization constant of a SPIR-V module. */
struct tc_constant {
    uint32_t id;    /**< Its SpecId. */
    uint32_t size;  /**< Bytes of its value: 1, also for a bool, 2, 4 or 8. */
    int given;      /**< The value replaces the one in the module. */
    uint64_t value; /**< The bytes of the value, little-endian; the others are 0. */
};

/** True: the tools that read SPIR-V are installed. */
int tc_il_present(void);

/** Checks a module in SPIR-V and finds its specialization constants; the caller frees the array. -EBADMSG: it is no
 *  module that this device can run (log says why); -ENOENT, -EIO, -ENOMEM: as tc_compile. */
int tc_il_read(const void *il, size_t size, struct tc_constant **constants, size_t *n_constants, char **log);

/** Compiles a module in SPIR-V that tc_il_read has checked. Errors of tc_compile. */
int tc_il_compile(const void *il, size_t size, const struct tc_constant *constants, size_t n_constants,
                  const char *options, struct tc_blob *module, char **log);

/** Links modules and libraries to a library (to_library) or an object. Errors of tc_compile; -EBADMSG also for
 *  unresolved or duplicate symbols, -EINVAL also for a blob of the wrong kind. */
int tc_link(const struct tc_blob *inputs, size_t n_inputs, const char *options, int to_library,
            struct tc_blob *out, char **log);

/** The kind of a byte string; TC_UNKNOWN: it is damaged, or none of these. */
enum tc_kind tc_kind(const void *data, size_t size);

enum tc_address_space { TC_PRIVATE, TC_GLOBAL, TC_CONSTANT, TC_LOCAL };

#define TC_MAX_ARGS 1024u          /**< Largest number of arguments of a kernel. */
#define TC_MAX_ARGS_SIZE (1u << 20) /**< Largest size of an argument block in bytes; devices allow less. */

/** The kind of an argument, which decides what the argument block has in its place. */
enum tc_arg_kind {
    TC_VALUE,
    TC_POINTER, /**< An address. */
    TC_IMAGE,   /**< A descriptor: struct tern_image of device/image.h. */
    TC_SAMPLER  /**< The bits TERN_SAMPLER_... of device/image.h. */
};

/** The type of an image in the program. */
enum tc_image_type {
    TC_NO_IMAGE,
    TC_IMAGE_1D,
    TC_IMAGE_1D_ARRAY,
    TC_IMAGE_1D_BUFFER,
    TC_IMAGE_2D,
    TC_IMAGE_2D_ARRAY,
    TC_IMAGE_2D_DEPTH,       /**< Images of the order CL_DEPTH, which image2d_t does not take. */
    TC_IMAGE_2D_ARRAY_DEPTH,
    TC_IMAGE_3D
};

/** An argument of a kernel. A pointer to local memory has 4 bytes, and its value is an address in the local window.
 *  The functions below guarantee for any object: arguments are in ascending order of offset, do not overlap, lie
 *  within the block, pointers and samplers lie at multiples of 4, and images at multiples of TERN_IMAGE_ALIGN. */
struct tc_arg {
    char *name;      /**< Name of the parameter; NULL if it has none. */
    char *type;      /**< Type without qualifiers, as clGetKernelArgInfo returns it: "float4*". */
    enum tc_arg_kind kind;
    /** Address space of what a pointer points to; TC_GLOBAL for an image, else TC_PRIVATE. */
    enum tc_address_space space;
    enum tc_image_type image;  /**< TC_NO_IMAGE unless `kind` is TC_IMAGE. */
    unsigned access_qualifier; /**< 0: none; 1: read_only; 2: write_only; 3: read_write. Images have one. */
    unsigned type_qualifier;   /**< Bits CL_KERNEL_ARG_TYPE_CONST 1, RESTRICT 2, VOLATILE 4. */
    uint32_t size;   /**< Bytes of the value: 4 for pointers and samplers, 64 for images, 0 only for a struct without
                          members. */
    uint32_t offset; /**< Offset in the argument block, in bytes. */
};

/** When several work-items of a group run in one of the hardware. */
enum tc_merges {
    TC_MERGES_NEVER,     /**< They cannot. */
    TC_MERGES_IF_NEEDED, /**< If the group does not fit an engine. */
    TC_MERGES_TO_GAIN,   /**< Also if that needs fewer instructions. */
    /** The kernel sees its groups only by ids and sizes. Compiled for a local size, it computes them from global ids,
     *  and the launcher divides its range as it likes. Such an object may have a coarse entry. */
    TC_MERGES_BY_IDS
};

struct tc_kernel {
    char *name;               /**< Not empty, and unique in the program. */
    /** As clGetKernelInfo(CL_KERNEL_ATTRIBUTES) returns them: "reqd_work_group_size(8,8,1)"; may be "". */
    char *attributes;
    uint32_t n_args;
    struct tc_arg *args;
    uint32_t args_size;       /**< Bytes of the argument block, a multiple of 16, which is also its alignment. */
    uint32_t local_static;    /**< Bytes of __local variables, from the begin of the local window; a multiple of 16 if
                                   sub_bytes is not 0. */
    uint32_t sub_bytes;       /**< Bytes of local memory behind these, a multiple of 4, for each work-item of a group,
                                   whose number is rounded up to whole warps: functions of sub-groups use it. 0: the
                                   kernel calls none. */
    uint32_t stack;           /**< Upper bound of the private memory of a work-item, in bytes. */
    uint32_t required_size[3];/**< reqd_work_group_size, each at least 1; or zeros. */
    int uniform; /**< The kernel requires uniform work-groups: OpenCL C 1.x, or -cl-uniform-work-group-size. */
    uint32_t coarse;          /**< Work-items of a round of coarse_entry, or of its tiles in x; 0: it does not exist. */
    uint32_t tile;            /**< Work-items of a tile of coarse_entry in y, see below; 0: that entry runs rounds. */
    int coarse_rows;          /**< Rounds: the lanes of a row execute each other's work-items, which messages tell.
                                   Tiles: they load words for each other, see below. */
    int groups;               /**< The kernel sees its groups: their ids, sizes, barriers, sub-groups or local memory.
                                   If it does not, the launcher divides its range as it likes. */
    enum tc_merges merges;    /**< Tells what tc_specialise does with groups. */
    /** In an object of tc_specialise: work-items of a group that one of the hardware runs; else 0. */
    uint32_t merged;
    uint32_t joined;          /**< Groups of which it runs them, if there are several; else 0. */
    int arg_info;             /**< The application may query the arguments: -cl-kernel-arg-info. */
    /** Accesses of the entry, and of the coarse entry, to their frames, with 8 rounds for each loop; 0: none, or the
     *  frames must be in private memory. */
    uint32_t spills, coarse_spills;
    uint32_t entry;           /**< Device address of the entry; set by tc_load only. */
    uint32_t coarse_entry;    /**< Device address of the coarse entry; 0 if `coarse` is 0. */
};

/**
 * Coarse dispatches by rounds, if tile is 0. Hardware work-items run OpenCL work-items in rounds of c =
 * tc_kernel.coarse. The hardware range in x has X work-items, a multiple of S = TC_COARSE_STRIDE. Hardware
 * work-item h runs the OpenCL work-items with the numbers (without the offset)
 *
 *   (h / S + r * X / S) * S * c + k * S + h % S     for k = 0 ... c - 1 and r = 0, 1, 2 ...
 *
 * that are less than the global size in x. Example: with S = 16, c = 4 and X = 16, h = 3 runs 3, 19, 35, 51 in round 0,
 * and 67, 83, 99, 115 in round 1.
 *
 * dispatch.user0 is the end of the ids in x, which is offset + OpenCL's global size, at most TC_COARSE_END. user1 is X
 * * c. y, z, offsets and arguments are those of a plain dispatch.
 *
 * Coarse dispatches by tiles. Hardware work-item (h, v) runs the OpenCL work-items with the numbers (without the
 * offsets)
 *
 *   (h / S * S * c + k * S + h % S, v * tile + l)   for k = 0 ... c - 1 and l = 0 ... tile - 1
 *
 * that are less than the global sizes. Example: with c = 2 and tile = 4, (3, 5) runs x = 3 and 19, y = 20 to 23.
 * dispatch.user0 is the end of the ids in x, user1 that in y. Ids are below TC_COARSE_END, in z as well. z, offsets and
 * arguments are those of a plain dispatch.
 *
 * If coarse_rows is set, c is 1, and the S lanes of a row load words of memory for each other. The words pass through
 * local memory, which local_static includes. The hardware range in x is a multiple of S, and its groups have S x 1 x 1
 * work-items.
 *
 * Otherwise the launcher chooses the groups, because a kernel with a coarse entry reads no local or group id, has no
 * local memory of its own and does not print.
 */
#define TC_COARSE_STRIDE 16u
#define TC_COARSE_END (1u << 31)

/** Smallest range for which the launcher takes the coarse entry: work-items in x and y, and work-items of the hardware
 *  of which each runs a round or a tile. If rounds have less than 16 work-items, it may take the entry for fewer
 *  hardware work-items where a row has several rounds. */
struct tc_coarse_range {
    uint32_t x, y, hardware;
};

/** threads: work-items that an engine runs at a time. The kernel has a coarse entry. */
struct tc_coarse_range tc_coarse_least(const struct tc_kernel *k, uint32_t threads);

struct tc_kernels {
    struct tc_kernel *kernels;
    size_t n;
    /** Bytes of the program's variables in the global address space, without padding between them. */
    uint64_t variables;
};

/** Reads the kernels of an object. The caller frees them with tc_kernels_free. -EINVAL: it is no object; -ENOMEM. */
int tc_kernels_read(const struct tc_blob *object, struct tc_kernels *out);
void tc_kernels_free(struct tc_kernels *kernels);

/**
 * A kernel for one local size. Each hardware work-item runs n work-items of a group, which differ in dimension `axis`
 * and are local[axis] / n apart. The launcher divides the global and the local size of this dimension by
 * tc_kernel.merged. Example: with a local size of (64, 1, 1), n = 4 and axis = 0, hardware work-item 3 of a group runs
 * the local ids 3, 19, 35 and 51.
 *
 * Neighbouring groups of this dimension may be joined: a hardware work-item runs these local ids of each of them. The
 * launcher also divides the global size by tc_kernel.joined, and gives the hardware's group as many times `apart` bytes
 * of local memory. Addresses in arguments are those of the first group.
 */
struct tc_special {
    const char *kernel;
    uint32_t local[3];
    uint32_t n;        /**< A divisor of local[axis], at most 16; 1 for TC_MERGES_BY_IDS. */
    unsigned axis;
    int must;          /**< False: tc_kernel.merged is n, a fraction of it or 1, whichever needs fewest instructions. */
    uint32_t joined;   /**< Groups that may be joined, a power of two, of which the range has a multiple; 1: none. */
    uint32_t apart;    /**< joined > 1: bytes of local memory of a group, a multiple of 64. */
    uint32_t lanes;    /**< Work-items of a warp. A group of the hardware that is one warp needs fewer barriers. */
};

/** Compiles a kernel of an object for one local size, to an object with this kernel only. Errors of tc_link; -EINVAL:
 *  tc_kernel.merges is TC_MERGES_NEVER. */
int tc_specialise(const struct tc_blob *object, const struct tc_special *s, struct tc_blob *out, char **log);

/** The contents of device memory at `base`: `size` bytes. The first code_size bytes are read and execute, the next
 *  constant_size bytes read only (both multiples of 4096), the rest read and write (program-scope variables). */
struct tc_image {
    uint32_t base;
    uint32_t size;
    uint32_t code_size;
    uint32_t constant_size;
    uint32_t filled; /**< Bytes of `data`. The rest up to `size` is zero, so variables take no host memory. */
    uint8_t *data;
    /** The ELF file from which the image was made, with symbols, and with line tables if it was built with -g. */
    struct tc_blob linked;
    struct tc_kernels kernels; /**< With entries. */
    int prints;      /**< Some kernel calls printf: dispatch.user0 and user1 must describe a buffer. */
    uint32_t frames_entry; /**< Device address of the start of work-items whose frames are in local memory, see
                                TC_FRAMES_WORDS; 0: there is none. */
    int locks;       /**< Some kernel has atomics of 64 bits: there must be a page for reads and writes at
                      *   TC_LOCKS_ADDRESS, zero before the first such kernel of the process runs. */
};

/**
 * Frames in local memory. A frame has the values of an entry for which there was no register. In private memory the
 * frames of 16 lanes lie in 16 lines, and each access takes 16 cycles. If tc_kernel.spills (coarse_spills) is not 0,
 * they may lie in the local memory of the group instead, behind what the kernel itself uses, at a distance of an odd
 * number of words, so that they use different banks. A dispatch then begins at tc_image.frames_entry. Before the
 * argument block there are TC_FRAMES_WORDS words: work-items of a full group, rounded up to whole warps, less 1; the
 * distance of frames; the end of the first frame; the entry. The warps of a full group are a power of two, because a
 * work-item finds its number in the group by the CSR `thread`.
 */
#define TC_FRAMES_WORDS 4u

/** Device address of the table of locks for atomics of 64 bits (device/atomics64.cl). The table lies between the
 *  addresses of shared virtual memory and those of programs, with unused pages on both sides. All programs of a process
 *  use the same table, because they may share memory. */
#define TC_LOCKS_ADDRESS 0xcff80000u
#define TC_LOCKS_BYTES 4096u

/** Links an object for the device address `base`, a multiple of 4096, and a device with this number of lanes of a warp,
 *  which are a sub-group: 4, 8, 16 or 32. The caller frees the image with tc_image_free.
 *  Errors of tc_link. */
int tc_load(const struct tc_blob *object, uint32_t base, uint32_t lanes, struct tc_image *out, char **log);
void tc_image_free(struct tc_image *image);

/** The source place of a code address: "in helper at program.cl:4:10, called from vecadd at program.cl:10:19" if the
 *  program was built with -g, else "in vecadd+0x10"; "" if the address is no code. Unknown parts are left out, and
 *  the text is cut to `size`. 1: the program has line tables; 0: it has none. */
int tc_locate(const struct tc_image *image, uint32_t address, char *text, size_t size);

/** Eight hexadecimal digits, which change with each change of the compiler or of the device library. A binary of
 *  another version may differ, or be refused. */
const char *tc_version(void);

/** CL_DEVICE_EXTENSIONS of the compiler, and the feature macros of OpenCL C 3.0 that it defines, separated by
 *  spaces. */
const char *tc_extensions(void);
const char *tc_features(void);

/**
 * Formats the records of kernels' printf calls. buffer: a copy of the device's buffer of `size` bytes, a multiple of 4.
 * Word 0 of it, which must be 0 before the kernel runs, has the number of bytes of records, or more if they did not
 * fit. CSR user0 has the buffer's address, user1 its size. image: the program that ran. Calls `emit` with each piece of
 * text in order, in the C locale. Nothing in the buffer is trusted. 0 or -ENOMEM.
 */
int tc_printf_format(const struct tc_image *image, const void *buffer, size_t size,
                     void (*emit)(void *user, const char *text, size_t length), void *user);

#endif
