/* SPDX-License-Identifier: Apache-2.0 */
/**
 * tern-cc1: the back end of the compiler, over LLVM-C, described in docs/compiler.md. Each job is a process, so that a
 * crash of LLVM harms no other job. Therefore memory is not freed, and every error ends the process through cc1_die.
 */
#ifndef TERN_CC1_H
#define TERN_CC1_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <stddef.h>
#include <stdint.h>

#define CC1_ENTRY_PREFIX "__entry_"
#define CC1_COARSE_SUFFIX ".coarse" /* suffix of an entry's name, which is an identifier */
#define CC1_COARSE_STRIDE 16u /* in work-items, as TC_COARSE_STRIDE of compiler.h */
#define CC1_USER_PREFIX "u."
#define CC1_EXIT ".insn i 0x0b, 1, x0, x0, 0"
#define CC1_BARRIER ".insn i 0x0b, 0, x0, x0, 0" /* of runtime/device/sync.cl */
#define CC1_LOCAL_SPACE 3u
#define CC1_CONSTANT_SPACE 4u
#define CC1_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)
#define CC1_MAX_KERNELS 4096u
/** Limits of tc_kernels.c (compiler.h). */
#define CC1_MAX_ARGS 1024u
/** Flags of a module on standard input. */
#define CC1_ARG_INFO 1u /* as in tc_internal.h */
#define CC1_LESS 2u     /* it is less optimized, for -cl-opt-disable */
#define CC1_MAX_ARGS_SIZE (1u << 20)
/** Version of the JSON in .tern.kernels, raised with each change that a loader must know. */
#define CC1_OBJECT_VERSION 10

/** As enum tc_merges of compiler.h. */
enum cc1_merges { CC1_NEVER, CC1_IF_NEEDED, CC1_TO_GAIN, CC1_BY_IDS };

/** As enum tc_arg_kind of compiler.h. */
enum cc1_arg { CC1_VALUE, CC1_POINTER, CC1_IMAGE, CC1_SAMPLER };

enum cc1_exit { CC1_OK = 0, CC1_BAD_INPUT = 1, CC1_INTERNAL = 3 };

/** Why a kernel has no second entry of a kind, or its work-items are not merged: the first obstacle. */
struct cc1_why {
    char *text;       /**< As "it uses local memory"; NULL: there is none. */
    const char *file; /**< The source file of the obstacle. */
    unsigned line;    /**< Its line; 0: the place is not known. */
};

/** A kernel: its OpenCL function, and the entry that the hardware starts. */
struct cc1_kernel {
    const char *name;
    LLVMValueRef function;
    LLVMValueRef entry;
    LLVMValueRef coarse; /**< Entry for several work-items, or NULL. */
    uint32_t copies;     /**< Work-items of a round of that entry, or of a tile in x; 0: there is none. */
    uint32_t tile;       /**< Work-items of a tile in y; 0: that entry runs rounds. */
    /** Rounds: the lanes of a row execute each other's work-items (coarse_split.c). Tiles: they load words for each
     *  other (tile_rows.c). */
    int rows;
    int groups;          /**< The kernel sees its groups: their ids, sizes, barriers, sub-groups or local memory. */
    int sub_groups;      /**< The kernel has memory for functions of sub-groups, cc1.sub_bytes for each lane. */
    enum cc1_merges merges; /**< When work-items of its groups are merged. */
    uint32_t merged;     /**< Work-items of a group that a hardware work-item of this object runs; 0: it is not
                          *   specialised. */
    uint32_t joined;     /**< Groups of which it runs them; 0: one. */
    uint32_t args_size;
    uint32_t local_static;
    uint32_t stack;
    struct cc1_why no_rounds, no_tiles, no_merging;
    unsigned unrolled; /**< Loops of stride.c. */
    void *json; /**< cJSON object with all members except local_static and stack. */
};

struct cc1 {
    LLVMContextRef context;
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout;
    LLVMModuleRef module;
    struct cc1_kernel *kernels;
    size_t n_kernels;
    /** The kernels' JSON says why they run as they do. Line tables are for that alone, unless keep_lines is set. */
    int explain;
    int keep_lines;
    int images;  /**< The module has functions of images. */
    uint32_t sub_bytes; /**< Bytes of local memory that functions of sub-groups need for each lane. */
    void *lines; /**< An LLVMDIBuilderRef of lines.c, or NULL. */
};

_Noreturn void cc1_die(enum cc1_exit code, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *cc1_alloc(size_t n, size_t size);
/** Formatted text of any length, malloc'ed for the caller. */
char *cc1_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Generates the module's code as an object. */
LLVMMemoryBufferRef cc1_emit(struct cc1 *cc);

/* module.c */
void cc1_module_init(struct cc1 *cc);
LLVMModuleRef cc1_module_parse(struct cc1 *cc, const void *data, size_t size, const char *what);
LLVMModuleRef cc1_module_parse_file(struct cc1 *cc, const char *path, int lazy);
void cc1_module_retarget(struct cc1 *cc, LLVMModuleRef module);
void cc1_module_link(struct cc1 *cc, LLVMModuleRef other);
void cc1_module_rename(struct cc1 *cc);
void cc1_module_builtins(struct cc1 *cc, const char *half, const char *builtins, const char *images,
                         const char *clc);
void cc1_module_check_undefined(struct cc1 *cc);
void cc1_module_internalize(struct cc1 *cc, int keep_functions);
void cc1_module_optimize(struct cc1 *cc, const char *pipeline);

/* spir.c: a module of the target spir64 as one of the front end, with which it is replaced; others are returned as they
 * are. */
LLVMModuleRef cc1_spir(struct cc1 *cc, LLVMModuleRef module);

/* images.c: links the functions of images, if the program calls one. */
void cc1_images_link(struct cc1 *cc, const char *path);
/** Chooses which of their parts are called. Before optimization. */
void cc1_images_share(struct cc1 *cc);

/* pointers.c: gives pointers in memory the 8 bytes that they have for the front end. For a module as the front end or
 * cc1_spir made it, before it is retargeted. */
void cc1_pointers(struct cc1 *cc, LLVMModuleRef module);

/* counters.c: makes counters of loops of 64 bits ones of 32 where that changes no value. Before optimization. */
void cc1_counters(struct cc1 *cc);

/* narrow.c: makes stores to components of vectors write no other components. For a module as the front end made it. */
void cc1_narrow(struct cc1 *cc, LLVMModuleRef module);

/* kernel.c: finds the kernels, makes their entries, and reads their metadata. */
void cc1_kernels_hide(struct cc1 *cc, LLVMModuleRef module);
void cc1_kernels(struct cc1 *cc);
/** Makes entries end without a return. After optimization. */
void cc1_kernels_end(struct cc1 *cc);
void cc1_entry_end(struct cc1 *cc, LLVMValueRef entry);
/** Writes the JSON into the section .tern.kernels, with marks that cc1_stack_patch replaces. */
void cc1_kernels_emit(struct cc1 *cc);

/* half.c: lowers arithmetic of half to float. After optimization. */
void cc1_half(struct cc1 *cc);

/* stride.c: unrolls loops over the range at distances of the global size. After optimization. */
void cc1_strides(struct cc1 *cc);

/* coarse.c: makes the second entries of kernels that allow it. After optimization, before cc1_kernels_end. */
void cc1_coarsen(struct cc1 *cc);

/* tile_choose.c: makes a second entry for tiles of work-items if it pays. */
void cc1_tile(struct cc1 *cc, struct cc1_kernel *k);
/** Optimizes the entries for tiles. */
void cc1_tiles_optimize(struct cc1 *cc);
/** Makes the lanes of entries for tiles load words for each other, where this was chosen. After cc1_addresses. */
void cc1_tiles_load_rows(struct cc1 *cc);
/** Orders the instructions of entries for tiles, and of merged ones, for few live values. After cc1_addresses. */
void cc1_tiles_order(struct cc1 *cc);

/* why.c: why kernels have no second entry */
/** Records an obstacle, and the place of the instruction `where` unless it is NULL; an earlier obstacle stays.
 *  Returns 0. */
int cc1_refuse(struct cc1_why *why, LLVMValueRef where, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** The same for all kernels: an option of the build. */
void cc1_refuse_all(struct cc1 *cc, const char *option);
/** Why a call is an obstacle to a second entry, whatever its kind; NULL: the call is of a function. */
const char *cc1_call_obstacle(LLVMValueRef call);
/** The name of a function in the source. */
const char *cc1_function_name(LLVMValueRef f);
/** The explanation, a cJSON object. */
void *cc1_explanation(const struct cc1_kernel *k);

/** How a kernel is specialised (special.c). */
struct cc1_special {
    const char *name;  /**< Of the kernel; NULL: none is specialised. */
    uint32_t local[3]; /**< Local size of OpenCL. */
    unsigned axis;     /**< Dimension in which work-items are merged. */
    /** Work-items that are merged, a divisor of local[axis]; 1: none, and ids of groups come from global ids. */
    uint32_t n;
    int must;          /**< The group does not fit an engine otherwise, so merging is no matter of gain. */
    uint32_t joined;   /**< Groups that may be joined, at most. */
    uint32_t apart;    /**< Distance of their local memory, in bytes. */
    uint32_t lanes;    /**< Work-items of a warp. */
};

/** True: function f, or one that it calls, has an instruction that `is` is true for, or calls by a pointer. */
int cc1_reaches(LLVMValueRef f, int (*is)(LLVMValueRef i));
/** The linked modules, for cc1_groups. Before cc1_kernels. */
LLVMMemoryBufferRef cc1_special_keep(const struct cc1 *cc);
/** Finds which kernels see their groups and can be merged, and adds the modules to the object for them. After
 *  optimization. less: the program is less optimized; plain: work-items are merged only if a group does not fit. */
void cc1_groups(struct cc1 *cc, LLVMMemoryBufferRef modules, int less, int plain);
/** Removes all kernels but the one that is specialised. After cc1_kernels. */
void cc1_special_select(struct cc1 *cc, const struct cc1_special *s);
/** Makes local sizes constants and, if none are merged, computes the ids and numbers of groups and the local ids from
 *  global ids and sizes. Before optimization, after cc1_ids. */
void cc1_special_sizes(struct cc1 *cc, const struct cc1_special *s);
/** Sets `groups` of the kernel that is specialised. After optimization. */
void cc1_special_groups(struct cc1 *cc);
/** Merges work-items if that is needed or pays. After optimization. */
void cc1_special_merge(struct cc1 *cc, const struct cc1_special *s);

/* slots.c: keeps words of local memory that only their own work-item writes in registers, as variables, in an entry
 * whose groups are one hardware work-item wide in all dimensions but `axis`, and have `items` of them. 0: there are
 * none. */
int cc1_slots(struct cc1 *cc, LLVMValueRef f, unsigned axis, uint32_t items);

/* address.c: makes addresses that differ by constants share a base. After optimization and cc1_coarsen. */
void cc1_addresses(struct cc1 *cc);

/* split_block.c: moves an instruction and all that follow it in its block to a new block, to which nothing leads yet.
 * Phis of the blocks to which this one leads are replaced. */
LLVMBasicBlockRef cc1_split_block(struct cc1 *cc, LLVMValueRef first);

/* barriers.c: removes barriers of an entry whose groups are a single warp. */
void cc1_barriers(struct cc1 *cc, LLVMValueRef f);

/* arms.c: makes stores of selected values of an entry stores behind branches. */
void cc1_arms(struct cc1 *cc, LLVMValueRef f);

/* coarse_read.c: number of the CSR that a call reads; 0: it reads none. */
unsigned cc1_csr(LLVMValueRef call);
/** Builds the read of a CSR. */
LLVMValueRef cc1_read_csr(const struct cc1 *cc, LLVMBuilderRef b, unsigned number);
/** Builds an instruction without operands, CC1_EXIT or CC1_BARRIER, behind which memory may have changed. */
LLVMValueRef cc1_build_instruction(const struct cc1 *cc, LLVMBuilderRef b, const char *code);
/** A constant of 32 bits. */
LLVMValueRef cc1_u32(const struct cc1 *cc, uint32_t value);

/* ids.c: adds ranges of ids and sizes of groups. Before optimization. */
void cc1_ids(struct cc1 *cc);
/** Tells the optimizer that the value of a call is at least `first` and below `end`. */
void cc1_set_range(struct cc1 *cc, LLVMValueRef call, uint32_t first, uint32_t end);

/* lines.c: adds the entry to the line tables, if the kernel has any. The builder gives the kernel's line to what it
 * builds. */
void cc1_lines_entry(struct cc1 *cc, LLVMBuilderRef builder, LLVMValueRef entry, LLVMValueRef kernel);
void cc1_lines_end(struct cc1 *cc);

/* subgroup.c: finds kernels that call functions of sub-groups. Before the built-ins are linked, after cc1_kernels. */
void cc1_sub_begin(struct cc1 *cc);
/** Computes which work-items call such a function together. Before optimization. */
void cc1_sub_teams(struct cc1 *cc);
/** True: the instruction depends on the lanes of a warp, which are a sub-group. */
int cc1_sees_lanes(LLVMValueRef i);

/* converge.c: keeps `convergent` only where a barrier can be reached. */
void cc1_converge(struct cc1 *cc);

/* printf.c: replaces printf calls by stores of a record. */
void cc1_printf_lower(struct cc1 *cc);

/** A set of values (set.c): open addressing, at most half full; zeros are an empty set. The user frees `at`. */
struct cc1_set {
    LLVMValueRef *at;
    size_t n, room; /**< room: a power of two. */
};

/** Adds v. 0: the set has it already. */
int cc1_set_add(struct cc1_set *set, LLVMValueRef v);
int cc1_set_has(const struct cc1_set *set, LLVMValueRef v);

/* local.c: places __local variables. */
void cc1_local_detach(struct cc1 *cc);
void cc1_local_place(struct cc1 *cc);
/** True: f, or a function that it calls, uses a __local variable by any pointer. After cc1_local_detach. */
int cc1_local_used(struct cc1 *cc, LLVMValueRef f);

/* order.c: orders basic blocks for early reconvergence, and callees before callers. */
void cc1_order(struct cc1 *cc);

/* trim.c: removes the saving of registers from entries. */
void cc1_trim(void *object, size_t size);

struct tc_elf;

/* code.c: machine code of an object. */
/** Finds the code of a function, of *words instructions. NULL: the object has none. */
const uint8_t *cc1_code_find(const struct tc_elf *elf, const char *name, uint32_t *words);
uint32_t cc1_code_word(const uint8_t *code, uint32_t index);
/** How often each instruction runs, with this number of rounds for each loop. The caller frees it. */
double *cc1_code_weights(const uint8_t *code, uint32_t words, double rounds);
/** True: the instruction reads sp, or may do so. */
int cc1_code_reads_sp(uint32_t word);

/* stack.c: upper bounds of private memory, and accesses of frames. */
#define CC1_STACK_MARK "@STACK@@@@"
#define CC1_SPILLS_MARK "@SPILLS@@@"
void cc1_stack_watch(struct cc1 *cc);
/** Puts the numbers in the place of the marks. After cc1_trim. */
void cc1_stack_patch(struct cc1 *cc, void *object, size_t size, const char *runtime);
/** Writes the table "name bytes" of all functions of an object, the run-time library. */
void cc1_stack_table(struct cc1 *cc, const void *object, size_t size, const char *path);

#endif
