/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tern's driver: devices, partitions, processes, contexts, allocations, submission and fences.
 *
 * Model (docs/driver.md; rule numbers are those of docs/rules.md). A *device* has engines. A *process* is an address
 * space on the device (A1) and the unit of fault containment (F1). A *context* belongs to a process, runs on one engine
 * at a time and has exactly one software queue, bounded by memory only (C2). Work is a *DMA buffer*: packets of
 * tern_spec.h back to back. The scheduler (C3, C4) takes the buffers of a context in order and shares the engines
 * fairly between contexts. docs/examples has whole programs; an installation has docs in share/doc/tern.
 *
 * Threads. Every function may be called from any thread, and none from a signal handler: they take locks. Callbacks
 * come from the device's own thread (but see TERN_CONTEXT_ANY_THREAD). A callback may call tern_submit and the query
 * functions; it must not wait, destroy or close. Handlers of atexit and destructors may call everything: the library is
 * never unloaded, and its threads live as long as the program. The child of a fork may use what it opens itself; for
 * objects of its parent see tern_device_inherited.
 *
 * Blocking. A function that blocks says so, and on what. No call waits for work of another process (F1). A call that
 * changes page tables waits for its paging buffer and those queued before it; engines take paging buffers before all
 * work, and an engine that does not stop for one within the timeout is reset. A call that lacks memory or addresses
 * waits for frees, of any process, that had begun when it was called. Such a call also waits for work of its own
 * process that still holds memory which the process has freed, unless that work needs a fence that only the CPU can
 * signal.
 *
 * Results are 0 or -errno. On failure, out-parameters are untouched. A returned string lives as long as its object.
 * Children are destroyed before their parent: destroying a parent with children fails with -EBUSY and changes nothing,
 * unless its process was killed (tern_process_kill).
 *
 * Structs begin with `size`, which the caller sets to sizeof before the call. An output function fills the fields that
 * fit, zeroes the rest, and sets size to what the library knows: programs and libraries of different ages work
 * together. -EINVAL: size is less than that of the field `size`. -E2BIG: bytes of an input struct beyond those that
 * this library knows are not zero.
 */
#ifndef TERN_H
#define TERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tern/tern_version.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TERN_API __attribute__((visibility("default")))
#define TERN_ENGINES_MAX 8u /**< No device has more engines. */

struct tern_device;
struct tern_process;
struct tern_context;
struct tern_completion_queue;
struct tern_allocation;
struct tern_fence;

/* ------------------------------------------------------------------ devices */

/** Properties of a device. */
struct tern_device_info {
    uint32_t size;
    char backend[16];          /**< "rtl", "model", "xrt" or "uart". */
    char config[64];           /**< The configuration that was opened, e.g. "default". */
    uint32_t version;          /**< Hardware version: major, minor, patch in bytes 2, 1, 0. */
    uint32_t engines;          /**< Number of engines. */
    uint32_t lanes;            /**< Work-items of a warp. 0: no SIMT executor, so no kernels. */
    uint32_t warps;            /**< Warps of an engine's SIMT executor. */
    uint32_t local_bytes;      /**< Local memory of an engine, bytes. */
    uint64_t memory_bytes;     /**< Device memory, bytes. */
    uint64_t allocatable_bytes;/**< Largest sum of allocations of one process, the evicted ones included (A6). */
    uint64_t clock_hz;         /**< Frequency of the device clock. Every timestamp counts its cycles. */
    uint32_t dirty_page_bytes; /**< Bytes that one dirty bit covers (D1). */
    bool single_use;           /**< The device takes one process at a time (A2). */
    /** Value of the key `memory`. Empty without a simulated memory (model, card, board): the next fields are then 0. */
    char memory[16];
    uint32_t memory_latency, memory_bandwidth, memory_reads, memory_writes, memory_refresh, memory_refresh_cycles,
             memory_stall;     /**< In the units of the keys dram_* (docs/driver.md). */
    /** Finest boundary at which running work stops (P9): 0 buffer, 1 packet, 2 work-group, 3 instruction. */
    uint32_t granularity;
    /** User executors of each engine. Their ids, 0 to executors - 1, are those of tern_executor_find and user_call. */
    uint32_t executors;
    /** Socket of the ternd that owns the device. Empty: the device belongs to this process. */
    char service[108];
    uint64_t resident_bytes;   /**< Part of allocatable_bytes that fits on the device at once (tern_submit). */
    bool page_requests;        /**< A kernel that reaches an absent page stops, and goes on once the page is there. */
    uint32_t ports;            /**< Memory ports: each reads and writes up to 64 bytes a cycle. */
};

/**
 * Opens a device. backend: "rtl", "model", "xrt", "uart" or another that is linked in; NULL: environment TERN_BACKEND,
 * else "rtl". config: NAME[,key=value...] or key=value[,...], where NAME is default, small, tiny or shell; NULL:
 * environment TERN_CONFIG, else "default". docs/driver.md has the table of all keys. Blocks, for up to a second.
 * tern_last_error() says what is wrong, where, and what to do.
 * -EINVAL: unknown backend, name or key, or a value out of range; -ENOENT: the simulator's library is missing; -EPROTO:
 * the device was built from another interface description; -EIO: the device does not answer; -ENOMEM; -EAGAIN: a thread
 * cannot be started; -ETIMEDOUT: an engine of a card or board does not end the work of an earlier program.
 *
 * The device may belong to a ternd (docs/ternd.md), which shares it between programs. TERND_SOCKET names the socket of
 * that ternd. If it is not set, and neither the arguments nor the environment name a backend or a configuration, the
 * sockets /run/tern/ternd.sock and $XDG_RUNTIME_DIR/tern/ternd.sock are tried. The ternd has chosen backend and
 * configuration, so the arguments are ignored. If it dies, all calls fail with -EIO and all waits end. A program with
 * more privileges than its user (setuid) ignores the environment. Errors of a ternd: -ECONNREFUSED: none listens at
 * TERND_SOCKET; -EPROTO: it has another version; -EBUSY: the device is single-use and taken; -EAGAIN: it has no room
 * for another client; -EINVAL, -EPERM: the partition of TERN_PARTITION does not exist, or this user may not use it.
 */
TERN_API int tern_device_open(const char *backend, const char *config, struct tern_device **out);
/** Closes the device. -EBUSY: it still has a process or a completion queue. */
TERN_API int tern_device_close(struct tern_device *dev);
/**
 * True in a process forked from the one that opened the device: the device's thread did not follow. Calls for the
 * device and its objects then fail at once with -ENODEV, functions that destroy do nothing, and queries return values
 * that never change, or zeros. The parent is not affected. The child may open a device of its own.
 */
TERN_API bool tern_device_inherited(const struct tern_device *dev);
/** Describes the device as it was when it was opened. Does not block. */
TERN_API int tern_device_query(const struct tern_device *dev, struct tern_device_info *out);
/** Device time in cycles, read from the device. Blocks for copies and simulator steps that are under way. */
TERN_API uint64_t tern_device_time(struct tern_device *dev);
/** The latest device time, in cycles, that the driver has read: a few host milliseconds old at most while the device
 *  works. Neither touches the device nor blocks. For time stamps of events on the host. */
TERN_API uint64_t tern_device_time_seen(const struct tern_device *dev);

/** Counters of one engine since the device was opened. They only grow. */
struct tern_engine_counters {
    uint32_t size;
    uint64_t busy;         /**< Cycles with a buffer running. */
    uint64_t issue;        /**< Warp instructions issued. */
    uint64_t lanes;        /**< Active lanes, summed over these instructions. */
    uint64_t stall_use;    /**< Issue slots lost to operands that were not ready. */
    uint64_t stall_unit;   /**< Issue slots lost to a busy unit or write port. */
    uint64_t stall_idle;   /**< Cycles of a dispatch with no warp ready. */
    uint64_t fma;          /**< Lanes that did an FP add, multiply or FMA. */
    uint64_t l1_hit, l1_miss, ic_miss, tlb_hit, tlb_miss; /**< Lines, instruction lines and translations. */
    uint64_t rd_lines, wr_lines; /**< Lines of 64 bytes read from and written to memory. */
    uint64_t buffers;      /**< DMA buffers completed. */
};
/** Reads the counters of an engine; blocks as tern_device_time does. -EINVAL: no such engine; -EIO: the device is
 *  lost. */
TERN_API int tern_device_counters(struct tern_device *dev, uint32_t engine, struct tern_engine_counters *out);

/** Why the last failing call of this thread failed: one sentence, never NULL, valid until its next failing call. */
TERN_API const char *tern_last_error(void);

/* --------------------------------------------------------------- partitions */

#define TERN_PARTITION_NAME 24           /**< Bytes of a partition's name, with the terminating zero. */
#define TERN_PARTITION_DEFAULT "default" /**< Name of the partition that always exists. */
#define TERN_PARTITION_HOST UINT64_MAX   /**< Host memory in the default partition's ratio to device memory. */

/** Description of a partition to be made. */
struct tern_partition_desc {
    uint32_t size;
    char name[TERN_PARTITION_NAME]; /**< 1 to 23 letters, digits, '.', '_', '-'. */
    uint64_t memory_bytes;          /**< Device memory, a multiple of 4 KiB, at least 256 KiB. */
    uint64_t host_bytes; /**< Host memory for evicted pages, a multiple of 4 KiB; or TERN_PARTITION_HOST. */
    uint32_t share;      /**< Weight on each engine, 1 to TERN_WEIGHT_MAX; 0: TERN_WEIGHT_NORMAL. */
};
/**
 * Makes a partition: a virtual instance of the device (M2) with device memory of its own, which need not be contiguous,
 * host memory for what is evicted from that, and processes (tern_process_create_in), which use no other memory. A
 * device begins with one partition, "default", that has everything. A new partition takes free memory of the default
 * one. No partition takes memory from another (M5) or sees what another's memory held (A7). On each engine, partitions
 * that have work share the time by weight, whatever the bands of their work. Does not block.
 * -EINVAL: name, sizes or share; -EEXIST: a partition has this name; -ENOSPC: the default partition has less free
 * memory, or has promised it; -ENOMEM; -EIO: the device is lost; -EACCES, through ternd: the user may not.
 */
TERN_API int tern_partition_create(struct tern_device *dev, const struct tern_partition_desc *desc);
/**
 * Changes the device memory of a partition without processes, and its host memory in proportion. Does not block.
 * -ENOENT: no partition has this name; -EINVAL: it is the default one, or the size; -EBUSY: it has processes, or memory
 * that the device has lost; -ENOSPC, -ENOMEM, -EACCES as for tern_partition_create.
 */
TERN_API int tern_partition_resize(struct tern_device *dev, const char *name, uint64_t memory_bytes);
/** Ends a partition without processes and returns its memory to the default one. Does not block. -ENOENT: no partition
 *  has this name; -EINVAL: it is the default one; -EBUSY: it has processes; -ENOMEM; -EACCES, through ternd. */
TERN_API int tern_partition_destroy(struct tern_device *dev, const char *name);

/** Sets the share from now on. -ENOENT: no partition has this name; -EINVAL: share; -EACCES, through ternd. */
TERN_API int tern_partition_set_share(struct tern_device *dev, const char *name, uint32_t share);

/** Properties of a partition, and how much of it is in use. */
struct tern_partition_info {
    uint32_t size;
    char name[TERN_PARTITION_NAME];
    uint64_t memory_bytes;    /**< Device memory. */
    uint64_t free_bytes;      /**< The free part of memory_bytes. */
    uint64_t committed_bytes; /**< Sum of the allocations that may be evicted, on the device or on the host. */
    uint64_t host_bytes;      /**< Host memory for evicted pages. */
    uint32_t ranges;          /**< Contiguous ranges of its device memory. */
    uint32_t processes;
    uint32_t owner;           /**< Through ternd: the user id that made it. */
    uint32_t share;
    uint64_t cycles;          /**< Engine cycles that its work ran, summed over engines. */
};
/**
 * Lists the partitions in order of creation, the default one first: at most max into out, whose elements have
 * out[0].size bytes each. Returns the number of partitions, which may exceed max. Does not block.
 */
TERN_API int tern_partition_list(struct tern_device *dev, struct tern_partition_info *out, uint32_t max);

/* ---------------------------------------------------------------- processes */

/** A fault, as reported to its process (F1). */
struct tern_fault {
    uint32_t size;
    uint32_t code;      /**< TERN_FAULT_* of tern_spec.h or of this file; 0: none. */
    uint32_t access;    /**< 0 read, 1 write, 2 execute, 3 atomic. */
    uint32_t address;   /**< Virtual address. */
    uint32_t pc;        /**< Program counter; 0 if no kernel ran. */
    bool has_item;      /**< A work-item of a kernel faulted. If not, group, item, warp and lane are 0. */
    uint32_t group[3];  /**< Work-group of the work-item, counted from 0 in x, y, z. */
    uint32_t item[3];   /**< Global id of the work-item, with the offset of the NDRange. */
    uint32_t warp, lane;/**< The work-item has the number warp * lanes + lane in its group. */
    uint32_t offset;    /**< Byte offset of the packet in its DMA buffer. */
    uint64_t fence;     /**< Fence id of the faulting buffer. */
    char message[512];  /**< A sentence with all of the above and the buffer's label. */
};
/** The process did not let its engine stop, and the engine was reset (F3). The message names a crash dump. */
#define TERN_FAULT_TIMEOUT 256u
/** The device is lost: its registers or memory no longer answer. Every process is in error. */
#define TERN_FAULT_DEVICE 257u
/** All engines had to be reset (F3, F4). Every process is in error; new ones can be made. */
#define TERN_FAULT_ADAPTER 258u
#define TERN_FAULT_LIMIT 259u   /**< A buffer ran longer than the key `limit` allows. */
#define TERN_FAULT_ABORTED 260u /**< tern_process_abort was called. */
#define TERN_FAULT_KILLED 261u  /**< tern_process_kill was called. */
#define TERN_FAULT_MEMORY 262u  /**< The memory that its work uses could not be on the device at once. */

/**
 * Makes a process, an address space, in the partition that the environment TERN_PARTITION named when the device was
 * opened, else in the default one. name (copied) appears in messages. Blocks until its root table is written, and while
 * it lacks memory that is being freed. -EBUSY: a single-use device is taken; -ENOMEM; -ENOSPC: device memory; -EIO: the
 * device is lost, or all engines were reset meanwhile; -ENOENT: no such partition; -EACCES: work of processes of this
 * name caused five engine resets within ten minutes, and the message says how long the name is refused.
 */
TERN_API int tern_process_create(struct tern_device *dev, const char *name, struct tern_process **out);
/** tern_process_create in the named partition; NULL: as tern_process_create. -EBUSY, -ENOMEM, -ENOSPC, -EIO, -ENOENT,
 *  -EACCES as for tern_process_create; through ternd also -EACCES: the user may not use this partition. */
TERN_API int tern_process_create_in(struct tern_device *dev, const char *partition, const char *name,
                                    struct tern_process **out);
/** Ends a process. Blocks until its frees have ended and no engine holds its translations. -EBUSY: it has contexts,
 *  allocations or fences and was not killed. For a killed process it frees these too, and does not block. */
TERN_API int tern_process_destroy(struct tern_process *proc);
/**
 * Takes the process off the device, whatever it is doing: its work is aborted, running work is stopped in the middle of
 * kernels, and its memory, address space and queue entries are freed; completions that were not taken are dropped. May
 * be called at any moment, beside any calls for the process or its objects in other threads: calls that block return,
 * and all calls, then and later, fail with -EIO; those that destroy an object free it. tern_process_destroy frees the
 * rest, which is host memory only. Blocks as long as engines take to stop and callbacks of the process run, not for
 * work of other processes. -EDEADLK: called from a callback of the process.
 */
TERN_API int tern_process_kill(struct tern_process *proc);
/** Reports whether the process is in error, and accepts no more work (F1). Returns 0, or -EIO with the fault in *fault
 *  (may be NULL). */
TERN_API int tern_process_status(struct tern_process *proc, struct tern_fault *fault);

/**
 * Puts the process in error (TERN_FAULT_ABORTED): queued work is aborted, running work is stopped in the middle of
 * kernels. For work that does not end by itself. why (may be NULL) becomes part of the message. Does not block;
 * tern_wait returns when the work has ended.
 */
TERN_API void tern_process_abort(struct tern_process *proc, const char *why);

/**
 * Stops all work of the process, in the middle of kernels (P8), until tern_process_resume. When this returns, no engine
 * holds anything of the process, and its state is in its memory. New submissions are queued. Blocks as long as engines
 * take to stop; an engine that does not stop is reset (F3), and the process is then in error. Calls do not nest: one
 * resume ends any number of them. -EIO: the process was killed, or the device is lost.
 */
TERN_API int tern_process_suspend(struct tern_process *proc);
/** Lets suspended work go on where it stopped. Does not block. -EIO: the process was killed. */
TERN_API int tern_process_resume(struct tern_process *proc);

/** One allocation of a process. */
struct tern_allocation_info {
    uint32_t size;
    uint32_t address; /**< Virtual address. */
    uint64_t bytes;   /**< A multiple of 4 KiB. */
    uint32_t flags;   /**< TERN_MEM_*. */
    bool driver;      /**< Made by the driver, not by the program: the DMA buffers of a context. */
    bool shared;      /**< Other allocations, perhaps of other processes, map the same memory. */
};
/**
 * Lists the allocations of the process that were not destroyed, lowest address first: at most max into out, whose
 * elements have out[0].size bytes each. Returns their number, which may exceed max. -EIO: the process was killed.
 */
TERN_API int tern_process_allocations(struct tern_process *proc, struct tern_allocation_info *out, uint32_t max);
/**
 * Reports which pages were written, by engines or by the host, since their bits were last cleared (D2, D7). Bit i of
 * bits, an array of (bytes / 4096 + 31) / 32 words, belongs to page i from address on. address and bytes are multiples
 * of 4 KiB within one allocation. clear: these bits are cleared; a write during the call is reported by this call or
 * the next. A page of a new allocation whose bit is 0 reads zero. Blocks as copies do. -EINVAL: not multiples, or 0
 * bytes; -EFAULT: no allocation is there, or it is shorter; -ENOTSUP: clear, where a bit covers more than 4 KiB
 * (dirty_page_bytes); -EIO: the process was killed, or the device is lost.
 */
TERN_API int tern_process_dirty(struct tern_process *proc, uint32_t address, uint32_t bytes, bool clear,
                                uint32_t *bits);

/* -------------------------------------------------------------- allocations */

#define TERN_MEM_READ 1u  /**< The device may read. */
#define TERN_MEM_WRITE 2u /**< The device may write; implies read. */
#define TERN_MEM_EXEC 4u  /**< The device may execute. */
/**
 * Flag of tern_allocation_create: reserves addresses and no memory. A *block* is the part of the allocation within one
 * aligned 4 MiB of addresses. A block is committed on first use: by a kernel that reaches it; by the other packets of
 * work that name it, before the work runs (the source of a copy too, and all of an allocation that is passed to a user
 * executor); by tern_allocation_write; and all blocks by tern_allocation_make_resident. A committed block counts as
 * memory until the allocation is freed, and reads zero until it is written. If there is no room, in device and host
 * memory or in what the user may have, a call fails with -ENOSPC, and work puts its process in error
 * (TERN_FAULT_MEMORY). While a process has sparse memory, its kernels request the pages that they reach, whatever
 * tern_context_set_residency says. A sparse allocation may be larger than device and host memory together, and cannot
 * be exported.
 */
#define TERN_MEM_SPARSE 8u

/**
 * Allocates zero-filled device memory (A7), rounded up to 4 KiB, and maps it into the process. address: 0 (the driver
 * chooses a multiple of 4 KiB), or the virtual address wanted, a multiple of 4 KiB in [64 KiB, 3.5 GiB - 64 KiB).
 * Blocks until the page tables are written, and while it lacks memory that is being freed. -ENOSPC: device memory or
 * address space; -ENOMEM: host memory; -EINVAL: size 0, flags or address; -EEXIST: the address is taken (reported at
 * once if anything there is in use); -ENOTSUP: sparse, on a device without page requests or with no host memory for
 * evicted pages (key host); -EIO: the process is in error.
 */
TERN_API int tern_allocation_create(struct tern_process *proc, uint64_t size, uint32_t flags, uint32_t address,
                                    struct tern_allocation **out);

#define TERN_HANDLE_BYTES 16

/**
 * Exports an allocation: gives a handle, 128 random bits, by which any process on the device, of any program and user,
 * may map the same memory. Keep it as secret as the memory. flags (TERN_MEM_*) are the most rights that an import may
 * ask for, at most those of the allocation; the same flags give the same handle again. The handle becomes invalid when
 * the allocation is destroyed or its process killed; mappings made before that stay. Does not block. -EINVAL: flags;
 * -EACCES: flags exceed the allocation's, or it was itself imported; -ENOTSUP: it is sparse; -ENOMEM; -EIO: the process
 * is in error, or no random numbers are to be had.
 */
TERN_API int tern_allocation_export(struct tern_allocation *alloc, uint32_t flags, uint8_t handle[TERN_HANDLE_BYTES]);
/**
 * Maps the memory of a handle into the process as an allocation, with flags no wider than the handle's. The memory
 * lives until its last mapping is destroyed, and counts towards the limit of each user who maps it. Writes of one
 * process are visible to the others once the work that wrote has ended (fences order it, S3). Host access, too, has
 * only the rights of flags (-EACCES). address as for tern_allocation_create, with one restriction: memory that its
 * creator placed within one aligned 4 MiB must lie within one here; other memory must have the same address modulo
 * 4 MiB. Blocks as tern_allocation_create does, and for a copy of one block of this memory. -ENOENT: no memory has this
 * handle (any more); -EACCES: flags exceed the handle's; -EXDEV: the memory is of another partition; -EINVAL: flags or
 * address; -EEXIST, -ENOSPC, -ENOMEM, -EIO as for tern_allocation_create.
 */
TERN_API int tern_allocation_import(struct tern_process *proc, const uint8_t handle[TERN_HANDLE_BYTES],
                                    uint32_t flags, uint32_t address, struct tern_allocation **out);
/** Unmaps and frees the allocation once all work submitted before this call has ended. Does not block. */
TERN_API void tern_allocation_destroy(struct tern_allocation *alloc);
TERN_API uint32_t tern_allocation_address(const struct tern_allocation *alloc); /**< The virtual address. */
TERN_API uint64_t tern_allocation_size(const struct tern_allocation *alloc);    /**< The size in bytes. */
/**
 * Copies between host and allocation at once: the caller orders this against submitted work. Blocks for copies of other
 * threads, 4 MiB of each at a time, not for work. -EFAULT: beyond the allocation; -EACCES: it was imported without this
 * right; -EIO: the device is lost; -ENOMEM: host memory for evicted data; -ENOSPC: a write to sparse memory that cannot
 * be committed.
 */
TERN_API int tern_allocation_read(struct tern_allocation *alloc, uint64_t offset, void *data, size_t size);
TERN_API int tern_allocation_write(struct tern_allocation *alloc, uint64_t offset, const void *data, size_t size);

/* ------------------------------------------------------------------ residency */

/*
 * The sum of allocations may exceed device memory (A6). The memory that work uses is brought to the device before the
 * work runs, and the least recently used memory is evicted to the host. Work uses all allocations of its process,
 * unless tern_context_set_residency names fewer. On a device with page requests, kernels may use more than fits at
 * once: a kernel stops where it reaches an absent page and goes on when the page is there. Only the memory that copies,
 * fills, fences and user executors of a buffer name must then fit. Host access brings nothing to the device.
 */

/**
 * Sets the allocations that later submissions to this context use: those that hold one of these addresses. addresses
 * (count of them, copied) may be in any order, with several in one allocation. Fences and the driver's own allocations
 * are always included. NULL: all allocations of the process. Work that reaches another, evicted allocation ends with a
 * fault, unless a kernel reaches it and the device has page requests. Does not block. -EFAULT: an address lies in no
 * allocation, and nothing has changed; -ENOMEM; -EIO: the process was killed.
 */
TERN_API int tern_context_set_residency(struct tern_context *ctx, const uint32_t *addresses, uint32_t count);
/**
 * Pins an allocation: brings it to the device and keeps it there until tern_allocation_evict has been called as often.
 * Blocks until running work gives up the memory (key stay). -ENOSPC: pinned memory leaves no room; -ENOMEM: host
 * memory; -EIO: the process is in error.
 */
TERN_API int tern_allocation_make_resident(struct tern_allocation *alloc);
/** Undoes one pin: without pins, memory may be evicted when other work needs room. Does not block. -EINVAL: no pin. */
TERN_API int tern_allocation_evict(struct tern_allocation *alloc);

/* ----------------------------------------------------- contexts, submission */

/**
 * Priority bands (S1). Work of a band runs before work of lower bands, but NORMAL keeps at least a tenth of what FOCUS
 * could take. IDLE runs when no other band is ready. REALTIME preempts running work without grace, and needs privilege.
 */
enum tern_band {
    TERN_BAND_IDLE = 0,
    TERN_BAND_NORMAL = 1,
    TERN_BAND_FOCUS = 2,
    TERN_BAND_REALTIME = 3,
};

/** How a DMA buffer ended. */
enum tern_result {
    TERN_COMPLETED = 0,
    TERN_FAULTED = 1, /**< This buffer faulted. */
    TERN_ABORTED = 2, /**< Not run, or stopped, because its process is in error. */
};

/** The end of a buffer: reported once for each, in submission order within a context (C5). */
struct tern_completion {
    uint32_t size;
    uint32_t engine;         /**< The engine that ran the buffer last. */
    uint64_t fence;          /**< Fence id of the buffer. */
    enum tern_result result;
    uint64_t submitted, begin, end; /**< Device time in cycles. begin and end are 0 if the buffer never ran. */
    void *user;              /**< `user` of the context's description. */
};
typedef void (*tern_completion_fn)(void *user, const struct tern_completion *completion);

/** Weights of the contexts of a process (S2): a context gets engine time in proportion to its weight. */
#define TERN_WEIGHT_LOW 12u
#define TERN_WEIGHT_NORMAL 100u
#define TERN_WEIGHT_HIGH 400u
#define TERN_WEIGHT_MAX 1000u

struct tern_context_desc {
    uint32_t size;
    const char *name;        /**< For messages and traces; copied; may be NULL. */
    int32_t engine;          /**< Engine, or -1: the driver chooses, and may move the context at any time. */
    uint32_t weight;         /**< Share within its process, 1 to TERN_WEIGHT_MAX; 0: TERN_WEIGHT_NORMAL. */
    tern_completion_fn completed; /**< May be NULL. */
    void *user;
    /** Queue, of the same device, that takes completions in place of `completed`; or NULL. */
    struct tern_completion_queue *completions;
    uint64_t flags; /**< TERN_CONTEXT_ANY_THREAD, or 0. */
};

/** `completed` is short and may run in any thread: also in one that waits in tern_wait, for this context or another,
 *  with that thread's signals and stack. Calls stay in order, and no two run at a time. */
#define TERN_CONTEXT_ANY_THREAD 1u

/**
 * Makes a context, in the band NORMAL. A context takes 32 KiB of device memory for two chunks of packets, and a
 * context-save area: 104 KiB on the default device. Blocks until the device has prepared them, and while it lacks
 * memory that is being freed. -EINVAL: engine, weight, flags, a queue of another device, or both a queue and a
 * callback; -EIO: the process is in error; -ENOMEM; -ENOSPC: device memory.
 */
TERN_API int tern_context_create(struct tern_process *proc, const struct tern_context_desc *desc,
                                 struct tern_context **out);
/** Blocks until the context's work has ended, however long that takes (tern_process_abort ends it), then frees it. */
TERN_API void tern_context_destroy(struct tern_context *ctx);

#define TERN_PACKETS_MAX (1u << 20) /**< Bytes of packets in a DMA buffer. */
#define TERN_DATA_MAX 8192u         /**< Bytes of data with a DMA buffer. */
#define TERN_SUBMISSION_NULL 1u     /**< The buffer is empty; it is scheduled and completes without being run (C10). */

/** A DMA buffer. tern_submit copies what the pointers name. */
struct tern_submission {
    uint32_t size;
    uint32_t flags;       /**< TERN_SUBMISSION_NULL, or 0. */
    const void *packets;  /**< Packets back to back; NULL with TERN_SUBMISSION_NULL. */
    size_t packet_bytes;  /**< A multiple of 64 from 64 to TERN_PACKETS_MAX; 0 with TERN_SUBMISSION_NULL. */
    /** Arguments of kernels, or NULL, in a page of device memory from its beginning until the buffer has ended. Kernels
     *  may read and not write them. `args` of each dispatch is an offset into them instead of an address. */
    const void *data;
    size_t data_bytes;    /**< 0 to TERN_DATA_MAX. Data require tern_context_take_data. */
    const char *label;    /**< Names the work in faults and traces, e.g. the kernel; may be NULL. */
};

/**
 * Appends a DMA buffer to the context's software queue, which has no limit (C2). *fence (may be NULL): the fence id, 1,
 * 2, 3... per context (C9). Does not block. -EINVAL: a field, an offset beyond the data, or data before
 * tern_context_take_data; -EIO: the process is in error, and nothing was queued; -ENOMEM; -ENOSPC: the memory that the
 * buffer uses (tern_context_set_residency) can never fit on the device. With page requests only the memory that one
 * packet names must fit, and large copies and fills run in parts.
 */
TERN_API int tern_submit(struct tern_context *ctx, const struct tern_submission *submission, uint64_t *fence);
/** Prepares the context for data, once: 16 KiB of device memory. Blocks as tern_allocation_create does. -ENOMEM;
 *  -ENOSPC: device memory; -EIO: the process is in error. */
TERN_API int tern_context_take_data(struct tern_context *ctx);
/** Blocks until the buffer with this fence id, and so all before it, has ended. timeout_ms is host time; < 0: for ever.
 *  -ETIMEDOUT; -EIO: the buffer did not complete; -EINVAL: it was never submitted. */
TERN_API int tern_wait(struct tern_context *ctx, uint64_t fence, int64_t timeout_ms);
/** Returns the fence id of the last buffer that has ended. A buffer has ended once its callback has returned. */
TERN_API uint64_t tern_context_ended(struct tern_context *ctx);

/**
 * Sets band and weight (0: TERN_WEIGHT_NORMAL) from now on, for running work as well. Does not block. -EINVAL: band or
 * weight; -EPERM: REALTIME, which can keep all others from an engine, without CAP_SYS_NICE or a device opened with the
 * key realtime=1; -EIO: the process was killed.
 */
TERN_API int tern_context_set_priority(struct tern_context *ctx, enum tern_band band, uint32_t weight);

/** Statistics of a context. Times are in device cycles. */
struct tern_context_stats {
    uint32_t size;
    uint64_t submitted, completed, aborted; /**< Buffers; `aborted` includes faulted ones. The rest has not ended. */
    uint64_t preempted;                     /**< Preemptions of its work after that had begun. */
    uint64_t moved;                         /**< Resumptions on another engine. */
    uint64_t cycles;                        /**< Cycles that its buffers ran; the entry that runs now is not in it. */
    uint64_t engine_cycles[TERN_ENGINES_MAX]; /**< The part of `cycles` on each engine. */
    uint64_t waited, longest_wait;          /**< From submission of a buffer to its begin: sum and maximum. */
    uint32_t engine;                        /**< The engine on which it is queued, or ran last. */
    uint32_t weight;
    enum tern_band band;                    /**< As set, without inheritance. */
    uint64_t page_requests;                 /**< Number of stops of its kernels for an absent page (A6). */
};
/** Reads the statistics of a context. Does not block. */
TERN_API int tern_context_query(struct tern_context *ctx, struct tern_context_stats *out);

/* ---------------------------------------------------------- completion queues */

/**
 * Makes a queue for completions of any contexts of a device: the alternative to callbacks on the device's thread. The
 * program takes completions when it has time for them; the queue's descriptor is readable for poll(2) while there are
 * any. None is lost, however late it is taken: its memory is allocated when the buffer is submitted.
 * Any thread may take; each completion goes to one of them. -ENOMEM; -EMFILE, -ENFILE: descriptors.
 */
TERN_API int tern_completion_queue_create(struct tern_device *dev, struct tern_completion_queue **out);
/** Destroys the queue with the completions that were not taken. -EBUSY: contexts use it. */
TERN_API int tern_completion_queue_destroy(struct tern_completion_queue *queue);
/** Returns the descriptor, to be polled for POLLIN and for nothing else. The queue closes it. Closed in the child of a
 *  fork. */
TERN_API int tern_completion_queue_fd(const struct tern_completion_queue *queue);
/**
 * Takes the oldest completions, at most max, in the order in which work ended, into out, whose elements have
 * out[0].size bytes each. Returns their number, 0 if there is none now. Does not block. tern_context_ended counts a
 * buffer as ended once its completion is in the queue.
 */
TERN_API int tern_completion_queue_take(struct tern_completion_queue *queue, struct tern_completion *out, uint32_t max);

/* --------------------------------------------------------- monitored fences */

/**
 * Makes a monitored fence: a 64-bit value in device memory that engines and the CPU both read and write (S3). Packets
 * fence_signal and fence_wait of the process name it by tern_fence_address. Values are meant to grow. A part of a
 * buffer that begins with a wait goes to an engine when the value is reached, so a wait keeps no engine from other
 * work. A fence takes a page of device memory. Blocks as tern_allocation_create does. -ENOMEM; -ENOSPC: device memory;
 * -EIO: the process is in error.
 */
TERN_API int tern_fence_create(struct tern_process *proc, uint64_t initial, struct tern_fence **out);
/** Frees the fence once all work submitted before this call has ended. Does not block. No thread may wait on it. */
TERN_API void tern_fence_destroy(struct tern_fence *fence);
/** Device virtual address of the value, a multiple of 8. */
TERN_API uint32_t tern_fence_address(const struct tern_fence *fence);
/** Reads the value. Blocks as tern_device_time does. -EIO: the device is lost. */
TERN_API int tern_fence_value(struct tern_fence *fence, uint64_t *value);
/** Sets the value from the CPU; threads and queued work that wait for it go on. Blocks as tern_device_time does. -EIO:
 *  the device is lost. */
TERN_API int tern_fence_signal(struct tern_fence *fence, uint64_t value);
/** Blocks until the value is at least `value`. timeout_ms is host time; < 0: for ever. -ETIMEDOUT; -EIO: the process is
 *  in error. */
TERN_API int tern_fence_wait(struct tern_fence *fence, uint64_t value, int64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
