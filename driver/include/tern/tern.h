/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tern's driver: devices, processes, contexts, allocations, submission, fences.
 *
 * Model (docs/driver.md; rule numbers are those of docs/rules.md). A *device* has engines. A *process* is an address
 * space on it (A1) and the unit of fault containment (F1). A *context* belongs to a process, runs on one engine at a
 * time and has exactly one SW queue, bounded by memory only (C2). Work is a *DMA buffer*, packets of tern_spec.h back
 * to back; the scheduler (C3, C4) takes buffers from SW queues in order within a context, and shares engines fairly.
 *
 * Threads: every function may be called from any thread. Callbacks come from the device's own thread (but see
 * TERN_CONTEXT_ANY_THREAD) and may call tern_submit and the query functions, but must not wait, destroy or close.
 * Functions that block say so, and on what: no call waits for work of another process. One that changes page tables
 * waits for paging buffers, its own and those queued before: engines take them before all work, and one that does not
 * stop for them within the timeout is reset. One that lacks memory or addresses waits for frees of any process that
 * had begun when it was called, and for its own process's work that holds what this has freed; not if that work needs
 * a fence that only the CPU can signal.
 * A child of fork may call everything for what it has opened itself; for what its parent opened see
 * tern_device_inherited. No function may be called from a signal handler: they take locks. Handlers of atexit and
 * destructors may call everything: the library is never unloaded, and its threads live as long as the program.
 * docs/examples/fill.c is a whole program.
 * Results: 0 or -errno; on failure, out-parameters are untouched. Strings handed out live as long as their object.
 * Objects are destroyed children first; destroying a parent with children is -EBUSY and changes nothing, unless its
 * process was killed (tern_process_kill).
 * Structs begin with their size, which the caller sets to sizeof before the call. A function fills what fits, sets the
 * rest to zero and size to what it knows; so programs and libraries of different ages understand each other. -EINVAL:
 * the size is less than that of the field; -E2BIG: of a struct that is read, bytes that this library does not know are
 * not zero.
 */
#ifndef TERN_H
#define TERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/** What a device is. */
struct tern_device_info {
    uint32_t size;
    char backend[16];          /**< "rtl", "model", "xrt". */
    char config[64];           /**< The configuration that was opened, e.g. "default". */
    uint32_t version;          /**< Hardware version, major.minor.patch in bytes 2, 1, 0. */
    uint32_t engines;          /**< Engines. */
    uint32_t lanes;            /**< Work-items of a warp. 0: no SIMT executor, so no kernels. */
    uint32_t warps;            /**< Warps of an engine's SIMT executor. */
    uint32_t local_bytes;      /**< Local memory of an engine. */
    uint64_t memory_bytes;     /**< Device memory. */
    uint64_t allocatable_bytes;/**< Largest sum of allocations of one process, the evicted ones included (A6). */
    uint64_t clock_hz;         /**< Unit of every timestamp: cycles of this clock. */
    uint32_t dirty_page_bytes; /**< Bytes that one dirty bit covers (D1). */
    bool single_use;           /**< One process at a time (A2). */
    /** How memory is simulated: key memory. Empty: it is not (model), or it is real; then what follows is 0. */
    char memory[16];
    uint32_t memory_latency, memory_bandwidth, memory_reads, memory_writes, memory_refresh, memory_refresh_cycles,
             memory_stall;     /**< As the keys dram_* are. */
    /** The finest at which running work stops (P9): 0 buffer, 1 packet, 2 work-group, 3 instruction. */
    uint32_t granularity;
    /** User executors of each engine: ids 0 to executors - 1, of tern_executor_find() and packet user_call. */
    uint32_t executors;
    /** The socket of the ternd that owns the device for many programs; empty: it is in this process. */
    char service[108];
    uint64_t resident_bytes;   /**< Of these, what can be on the device at once: what a buffer may use (tern_submit). */
    bool page_requests;        /**< Kernels stop where they need a page that is not there, and go on when it is. */
    uint32_t ports;            /**< Memory ports: each reads and writes up to 64 bytes a cycle. */
};

/**
 * Opens a device. backend: "rtl", "model" or NULL (environment TERN_BACKEND, else "rtl"). config: NULL (environment
 * TERN_CONFIG, else "default") or NAME[,key=value...], NAME = default | small | tiny | shell; keys alone are of
 * default; keys mem (bytes; suffix K, M, G), trace (file for a waveform); of the simulated RTL: memory (ideal |
 * hbm | ddr4) and, instead of its numbers, dram_latency (cycles), dram_bandwidth (bytes a cycle), dram_reads,
 * dram_writes (transfers outstanding at most), dram_refresh, dram_refresh_cycles (every so many cycles it stands still
 * for so many), dram_stall (of 256 cycles, how many each channel of the port pauses at random); and for the scheduler,
 * in cycles: timeout (an engine that has not stopped so long after it was asked to is reset (F2, F3); else environment
 * TERN_TIMEOUT_CYCLES, else two seconds of device time, fewer where they would be hours), limit (a buffer that has run
 * longer ends its process; else TERN_LIMIT_CYCLES, else there is none: long work is never killed), quantum, grace (S1),
 * preempt (what runs is preempted after so many), depth (1 or 2 entries of the HW queue), realtime (1: the band
 * REALTIME needs no privilege); and for memory: host (bytes of the host for what is evicted, 0: nothing is; three times
 * mem, if not said), stay (cycles that work which runs keeps its memory while others want it; one quantum). -EINVAL:
 * unknown backend, name or key; -ENOENT: simulator library missing; -EPROTO: the device was built from another
 * interface description; -EIO: it does not answer; -ENOMEM; -EAGAIN: a thread cannot be started. tern_last_error() then
 * says what, where and what to do. May take a second.
 *
 * The device may be that of a ternd (docs/ternd.md), which owns it for many programs. If TERND_SOCKET names its socket,
 * it is that one's, as ternd was told to open it, and backend and config are not looked at; -ECONNREFUSED: there is no
 * ternd; -EPROTO: one of another version; -EBUSY: the device is single-use and taken; -EAGAIN: it is full; -EINVAL,
 * -EPERM: it has no partition as TERN_PARTITION says, or not for this user. Else, if neither an argument nor the
 * environment says which backend and config, one is looked for at /run/tern/ternd.sock and
 * $XDG_RUNTIME_DIR/tern/ternd.sock. Else the device is opened in this process. A program of more privileges than its
 * user's does not look at the environment. If that ternd dies, all calls fail with -EIO, and all waits end.
 */
TERN_API int tern_device_open(const char *backend, const char *config, struct tern_device **out);
/** Closes. -EBUSY: a process or a completion queue is still there. */
TERN_API int tern_device_close(struct tern_device *dev);
/**
 * True in a process that was forked from the one that opened the device: the device's thread, and what it works
 * on, stayed there. All calls for that device and its objects then fail at once with -ENODEV, those that
 * destroy do nothing, and the queries give what does not change, or zeros. The parent is not affected. The
 * child may open a device of its own.
 */
TERN_API bool tern_device_inherited(const struct tern_device *dev);
TERN_API int tern_device_query(const struct tern_device *dev, struct tern_device_info *out);
/** Device time in cycles, read from the device: waits for copies and steps of a simulator that are under way. */
TERN_API uint64_t tern_device_time(struct tern_device *dev);
/** The latest device time that the driver has read; at most some milliseconds of the host old while the device works.
 *  Does not touch the device, nor block: for time stamps of what happens on the host. */
TERN_API uint64_t tern_device_time_seen(const struct tern_device *dev);

/** Counters of one engine since the device was opened (64-bit, monotonic). */
struct tern_engine_counters {
    uint32_t size;
    uint64_t busy;         /**< Cycles with a buffer running. */
    uint64_t issue;        /**< Warp instructions. */
    uint64_t lanes;        /**< Active lanes summed over them. */
    uint64_t stall_use;    /**< Issue slots lost to operands not ready. */
    uint64_t stall_unit;   /**< Issue slots lost to a busy unit. */
    uint64_t stall_idle;   /**< Cycles of a dispatch with no warp ready. */
    uint64_t fma;          /**< Lanes that did an FP add, multiply or FMA. */
    uint64_t l1_hit, l1_miss, ic_miss, tlb_hit, tlb_miss;
    uint64_t rd_lines, wr_lines; /**< 64-byte lines of memory traffic. */
    uint64_t buffers;      /**< DMA buffers completed. */
};
/** -EINVAL: no such engine; -EIO: the device is lost. */
TERN_API int tern_device_counters(struct tern_device *dev, uint32_t engine, struct tern_engine_counters *out);

/** Why the last call on this thread failed: one sentence, never NULL, valid until the next failing call. */
TERN_API const char *tern_last_error(void);

/* --------------------------------------------------------------- partitions */

#define TERN_PARTITION_NAME 24           /**< Bytes of a name, with its end. */
#define TERN_PARTITION_DEFAULT "default" /**< The name of the one that is always there. */
#define TERN_PARTITION_HOST UINT64_MAX   /**< As much for each byte of memory as the default partition has. */

/** What a partition is to be. */
struct tern_partition_desc {
    uint32_t size;
    char name[TERN_PARTITION_NAME]; /**< 1 to 23 letters, digits, '.', '_', '-'. */
    uint64_t memory_bytes;          /**< Device memory, a multiple of 4 KiB, at least 256 KiB. */
    uint64_t host_bytes; /**< Host memory for what is evicted, a multiple of 4 KiB; or TERN_PARTITION_HOST. */
    uint32_t share;      /**< Of each engine beside other partitions, 1 to TERN_WEIGHT_MAX; 0: TERN_WEIGHT_NORMAL. */
};
/**
 * A partition is a virtual instance of the device (M2): device memory of its own, which need not be contiguous, host
 * memory for what is evicted from that, and processes (tern_process_create_in), which use no other. The device begins
 * with one, "default", that has everything; what others have is taken from its free memory, and comes back. None takes
 * memory from another, and none sees what another's memory held. On each engine on which several have work each gets
 * its share, in whatever bands that is. Does not block. -EINVAL: name, sizes or share; -EEXIST: there
 * is one of this name; -ENOSPC: the default one has not so much free memory, or needs it for what it has promised;
 * -ENOMEM; -EIO: the device is lost. Through ternd: -EACCES: the user may not.
 */
TERN_API int tern_partition_create(struct tern_device *dev, const struct tern_partition_desc *desc);
/**
 * Gives one that has no processes so much memory, and host memory in proportion. -ENOENT: there is none of this name;
 * -EINVAL: it is the default one, or size; -EBUSY: it has processes, or memory that the device has lost; -ENOSPC,
 * -ENOMEM as above. Does not block. Through ternd: -EACCES.
 */
TERN_API int tern_partition_resize(struct tern_device *dev, const char *name, uint64_t memory_bytes);
/** Ends one that has no processes: its memory goes back to the default one. -ENOENT: there is none of this name;
 *  -EINVAL: it is the default one; -EBUSY: it has processes; -ENOMEM. Does not block. Through ternd: -EACCES. */
TERN_API int tern_partition_destroy(struct tern_device *dev, const char *name);

/** Another share from now on. -ENOENT: there is no such partition; -EINVAL: share. Through ternd: -EACCES. */
TERN_API int tern_partition_set_share(struct tern_device *dev, const char *name, uint32_t share);

/** What a partition is, and what of it is in use. */
struct tern_partition_info {
    uint32_t size;
    char name[TERN_PARTITION_NAME];
    uint64_t memory_bytes;    /**< Device memory, */
    uint64_t free_bytes;      /**< and what of it is free. */
    uint64_t committed_bytes; /**< Of allocations that may be evicted, wherever they are. */
    uint64_t host_bytes;      /**< Host memory for what is evicted. */
    uint32_t ranges;          /**< Contiguous pieces of its device memory. */
    uint32_t processes;
    uint32_t owner;           /**< Through ternd: the user that made it. */
    uint32_t share;
    uint64_t cycles;          /**< That its work has run, on all engines. */
};
/**
 * The partitions in the order in which they were made, the default one first: at most max into out, whose elements are
 * of out[0].size bytes each. How many there are, which may be more than max. Does not block.
 */
TERN_API int tern_partition_list(struct tern_device *dev, struct tern_partition_info *out, uint32_t max);

/* ---------------------------------------------------------------- processes */

/** A fault, as reported to its process (F1). */
struct tern_fault {
    uint32_t size;
    uint32_t code;      /**< TERN_FAULT_* of tern_spec.h, or one of those below; 0 if there was none. */
    uint32_t access;    /**< 0 read, 1 write, 2 execute, 3 atomic. */
    uint32_t address;   /**< Virtual address. */
    uint32_t pc;        /**< Program counter, 0 if no kernel ran. */
    bool has_item;      /**< A work-item of a kernel faulted; else group, item, warp and lane are 0. */
    uint32_t group[3];  /**< Its work-group, counted from 0 in x, y, z. */
    uint32_t item[3];   /**< Its global id, offset included. */
    uint32_t warp, lane;/**< Its place in the group: number warp * lanes + lane. */
    uint32_t offset;    /**< Byte offset of the packet in its DMA buffer. */
    uint64_t fence;     /**< The faulting buffer. */
    char message[512];  /**< All of that as a sentence, with the buffer's label. */
};
/** It did not let its engine stop, and the engine was reset (F3). The message names a crash dump. */
#define TERN_FAULT_TIMEOUT 256u
/** The device is lost: its registers or memory no longer answer. Every process is in error. */
#define TERN_FAULT_DEVICE 257u
/** All of the device had to be reset (F3, F4). Every process is in error; new ones can be made. */
#define TERN_FAULT_ADAPTER 258u
#define TERN_FAULT_LIMIT 259u   /**< It ran longer than the key `limit` allows. */
#define TERN_FAULT_ABORTED 260u /**< tern_process_abort. */
#define TERN_FAULT_KILLED 261u  /**< tern_process_kill. */
#define TERN_FAULT_MEMORY 262u  /**< What its work uses could not be brought to the device at once. */

/**
 * An address space, in the partition that the environment TERN_PARTITION named when the device was opened, else in the
 * default one. name (copied) appears in messages. Blocks until its root table is written, or for memory that is
 * being freed. -EBUSY: a single-use device is taken; -ENOMEM; -ENOSPC: device memory; -EIO: the device is lost, or all
 * of it was reset meanwhile; -ENOENT: there is no such partition. -EACCES: work of processes of this name
 * made engines be reset five times within ten minutes; the message says how long it is refused.
 */
TERN_API int tern_process_create(struct tern_device *dev, const char *name, struct tern_process **out);
/**
 * The same in a partition, or (NULL) in that of tern_process_create. -EBUSY, -ENOMEM, -ENOSPC, -EIO, -ENOENT, -EACCES
 * as there; through ternd -EACCES, too, if the user may not have processes in it.
 */
TERN_API int tern_process_create_in(struct tern_device *dev, const char *partition, const char *name,
                                    struct tern_process **out);
/** Ends it. Blocks until its frees have ended and engines have forgotten it. -EBUSY: contexts, allocations or fences
 * are left, and it was not killed. Of one that was, it frees these as well, and does not wait for the device. */
TERN_API int tern_process_destroy(struct tern_process *proc);
/**
 * Takes from it all that the device has of it, whatever it does: its work is aborted, what runs is stopped in the
 * middle, and its memory, its address space and its entries in all queues are given back; completions that were not
 * taken are dropped. May be called at any moment, beside any call for it or its objects in other threads: those that
 * block end, and all, then and later, fail with -EIO; those that destroy an object free it. tern_process_destroy ends
 * what is left, which is memory of the host alone. Blocks, for as long as engines may take to stop; not for other
 * processes' work, and for its own callbacks that run. -EDEADLK: called from one.
 */
TERN_API int tern_process_kill(struct tern_process *proc);
/** 0, or -EIO and *fault (may be NULL) filled: the process is in error and accepts no more work (F1). */
TERN_API int tern_process_status(struct tern_process *proc, struct tern_fault *fault);

/**
 * Puts it in error (TERN_FAULT_ABORTED): what it has queued is aborted, what runs is stopped in the middle.
 * why (may be NULL) goes into the message. For work that does not end by itself. Does not block; tern_wait
 * returns when the work has ended.
 */
TERN_API void tern_process_abort(struct tern_process *proc, const char *why);

/**
 * Stops all its work, in the middle of kernels (P8), and keeps it from running until tern_process_resume: when this
 * returns, no engine holds anything of it, and its state is in its memory. New work is queued. Blocks for as long as
 * engines take to stop; an engine that does not is reset (F3), and the process is then in error. Suspending twice is as
 * once. -EIO: it was killed, or the device is lost.
 */
TERN_API int tern_process_suspend(struct tern_process *proc);
/** Its work goes on where it was stopped. Does not block. -EIO: it was killed. */
TERN_API int tern_process_resume(struct tern_process *proc);

/** What a process has of device memory, a piece at a time. */
struct tern_allocation_info {
    uint32_t size;
    uint32_t address; /**< Virtual. */
    uint64_t bytes;   /**< A multiple of 4 KiB. */
    uint32_t flags;   /**< TERN_MEM_*. */
    bool driver;      /**< Not by tern_allocation_create or tern_fence_create: DMA buffers of a context. */
    bool shared;      /**< Other allocations, perhaps of other processes, map the same memory. */
};
/**
 * Its allocations, lowest address first, without those that were destroyed: at most max into out, whose elements are of
 * out[0].size bytes each. How many there are, which may be more than max. -EIO: it was killed.
 */
TERN_API int tern_process_allocations(struct tern_process *proc, struct tern_allocation_info *out, uint32_t max);
/**
 * Which of its pages were written, by engines or by the host, since their bits were last cleared (D2, D7): bit i of
 * bits (of (bytes / 4096 + 31) / 32 words) is of page i from address on. address and bytes are multiples of 4 KiB, and
 * lie in one allocation. clear: the bits asked for are cleared; a write during the call is reported by it or the next.
 * A page of a new allocation whose bit is 0 reads zero. Waits for the device as copies do. -EINVAL: not multiples, or 0
 * bytes; -EFAULT: no allocation, or beyond it; -ENOTSUP: clear, on a device whose bits are of more than 4 KiB
 * (dirty_page_bytes); -EIO: it was killed, or the device is lost.
 */
TERN_API int tern_process_dirty(struct tern_process *proc, uint32_t address, uint32_t bytes, bool clear,
                                uint32_t *bits);

/* -------------------------------------------------------------- allocations */

#define TERN_MEM_READ 1u  /**< The device may read. */
#define TERN_MEM_WRITE 2u /**< The device may write; implies read. */
#define TERN_MEM_EXEC 4u  /**< The device may execute. */
/**
 * Of tern_allocation_create: addresses, and nothing else yet. What it has of an aligned 4 MiB of addresses, a block, is
 * committed when it is first used: by a kernel that reaches it; before work runs by what its other packets name, a
 * copy's source too, and all of an allocation that a user executor is given; by tern_allocation_write; all of it by
 * tern_allocation_make_resident. From then on until the allocation is freed it counts like other memory. It reads zero
 * before and after. If there is no room then, in device and host memory or in what the user may have, a call that uses
 * it fails (-ENOSPC), and of work its process is in error (TERN_FAULT_MEMORY). Work that is submitted while its process
 * has sparse memory asks for the pages that its kernels reach, whatever its working set. A sparse allocation may be
 * larger than device and host memory. It cannot be exported.
 */
#define TERN_MEM_SPARSE 8u

/**
 * Device memory, zero-filled (A7), mapped into the process; rounded up to pages. address: 0 (the driver chooses, 4 KiB
 * aligned), or the virtual address wanted (4 KiB aligned, in [64 KiB, 3.5 GiB - 64 KiB)).
 * -ENOSPC: device memory or address space; -ENOMEM: of the host; -EINVAL: size 0 or flags; -EEXIST: address taken;
 * -ENOTSUP: sparse, on a device without page requests or with no host memory for what is evicted (key host);
 * -EIO: process in error. Blocks until the page tables are written, or for memory that is being freed. -EEXIST comes at
 * once if anything there is in use.
 */
TERN_API int tern_allocation_create(struct tern_process *proc, uint64_t size, uint32_t flags, uint32_t address,
                                    struct tern_allocation **out);

#define TERN_HANDLE_BYTES 16

/**
 * A handle by which any process on the device, of any program and user that has it, may map the same memory: 128 random
 * bits, to be kept as secret as the memory is. flags (TERN_MEM_*) are the most that it gives, not more than the
 * allocation has; the same flags give the same handle again. It names nothing any more as soon as the allocation is
 * destroyed, or its process killed; mappings that were made by then stay. Does not block. -EINVAL: flags; -EACCES: more
 * than the allocation has, or it was itself imported; -ENOTSUP: it is sparse; -ENOMEM; -EIO: process in error, or no
 * random numbers.
 */
TERN_API int tern_allocation_export(struct tern_allocation *alloc, uint32_t flags, uint8_t handle[TERN_HANDLE_BYTES]);
/**
 * Maps the memory of a handle into the process, as an allocation like others, with flags of those that the handle
 * gives. The memory lives, and a user's limit counts it, as long as that user maps it, whoever made it. What a process
 * writes, others that map it see once its work has ended (fences order it, S3). address as in tern_allocation_create;
 * but memory within one aligned 4 MiB of addresses where it was made must lie within one, and other memory at the same
 * distance from a multiple of 4 MiB. Host access, too, has only the rights of flags (-EACCES). Blocks as
 * tern_allocation_create does, and for a copy of 4 MiB of this memory. -ENOENT: no memory has this handle, or not any
 * more; -EACCES: it does not give flags; -EXDEV: it is of another partition; -EINVAL: flags or
 * address; -EEXIST, -ENOSPC, -ENOMEM, -EIO as there.
 */
TERN_API int tern_allocation_import(struct tern_process *proc, const uint8_t handle[TERN_HANDLE_BYTES],
                                    uint32_t flags, uint32_t address, struct tern_allocation **out);
/** Unmaps and frees once all work submitted before this call has ended. Does not block. */
TERN_API void tern_allocation_destroy(struct tern_allocation *alloc);
TERN_API uint32_t tern_allocation_address(const struct tern_allocation *alloc);
TERN_API uint64_t tern_allocation_size(const struct tern_allocation *alloc);
/**
 * Host access, at once: the caller orders it against submitted work. Waits for copies of others, 4 MiB of each at a
 * time, not for work. -EFAULT: beyond the allocation; -EACCES: it was imported without this right; -EIO: the device is
 * lost; -ENOMEM: host memory for one that is evicted; -ENOSPC: writes to sparse memory that cannot be committed.
 */
TERN_API int tern_allocation_read(struct tern_allocation *alloc, uint64_t offset, void *data, size_t size);
TERN_API int tern_allocation_write(struct tern_allocation *alloc, uint64_t offset, const void *data, size_t size);

/* ------------------------------------------------------------------ residency */

/*
 * The sum of allocations may be more than device memory (A6): what work uses is brought to the device before it runs,
 * and what has not been used for longest goes to the host. That is all allocations of the process, unless its context
 * says less. What cannot be there at once kernels may use all the same if the device has page requests: they stop where
 * they reach what is absent, and go on when it has been brought; only what copies, fills, fences and user executors of
 * a buffer name must be there at once. Host access does not bring anything in.
 */

/**
 * What submissions to this context use from now on: the allocations that hold these addresses (count of them, copied;
 * in any order, several in one allocation too), besides those that are always there, fences and the driver's own.
 * NULL: all of its process. Work that reaches another one that is evicted ends with a fault, unless it is
 * a kernel's and the device has page requests. Does not block. -EFAULT:
 * no allocation is there, and nothing has changed; -ENOMEM; -EIO: the process was killed.
 */
TERN_API int tern_context_set_residency(struct tern_context *ctx, const uint32_t *addresses, uint32_t count);
/**
 * Brings it to the device and keeps it there until tern_allocation_evict has been called as often. Blocks until others
 * have had their stay (key stay). -ENOSPC: what is pinned leaves no room; -ENOMEM: of the host; -EIO.
 */
TERN_API int tern_allocation_make_resident(struct tern_allocation *alloc);
/** The reverse: it may be evicted again, when others want its place. Does not block. -EINVAL: it is not pinned. */
TERN_API int tern_allocation_evict(struct tern_allocation *alloc);

/* ----------------------------------------------------- contexts, submission */

/**
 * Classes of priority (S1): work of a band runs before work of lower ones, but NORMAL keeps at least a tenth of what
 * FOCUS could take. IDLE runs when no other band is ready. REALTIME preempts what runs without grace, and needs
 * privilege.
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

/** Reported once per buffer, in submission order within a context (C5). Times are device
 * cycles; zero if it never ran. */
struct tern_completion {
    uint32_t size;
    uint32_t engine;
    uint64_t fence;
    enum tern_result result;
    uint64_t submitted, begin, end;
    void *user;              /**< Of the context's description. */
};
typedef void (*tern_completion_fn)(void *user, const struct tern_completion *completion);

/** Shares of the contexts of a process (S2): normal is about 8 times low, high 4 times normal. */
#define TERN_WEIGHT_LOW 12u
#define TERN_WEIGHT_NORMAL 100u
#define TERN_WEIGHT_HIGH 400u
#define TERN_WEIGHT_MAX 1000u

struct tern_context_desc {
    uint32_t size;
    const char *name;        /**< For messages and traces; copied; may be NULL. */
    int32_t engine;          /**< Engine, or -1: the driver chooses, and may move it to another at any time. */
    uint32_t weight;         /**< Share within its process, 1 to TERN_WEIGHT_MAX; 0: TERN_WEIGHT_NORMAL. */
    tern_completion_fn completed; /**< May be NULL. */
    void *user;
    /** Where completions go, instead of `completed`, or NULL. Of the same device. */
    struct tern_completion_queue *completions;
    uint64_t flags; /**< TERN_CONTEXT_ANY_THREAD, or 0. */
};

/** `completed` is short and does not mind where it runs: also in a thread that waits in tern_wait, for this context or
 *  another, with that thread's signals and stack. It is still called in order, and never by two threads at a time. */
#define TERN_CONTEXT_ANY_THREAD 1u

/* ---------------------------------------------------------- completion queues */

/**
 * Completions of any contexts of a device, for a program that does not want callbacks on the device's thread: taken
 * when the program has time for them, and a descriptor that poll(2) says to be readable while there are any. Nothing is
 * lost, however late they are taken: the memory for each is allocated by its submission.
 * -ENOMEM; -EMFILE, -ENFILE: descriptors. Threads: any; of several that take, each completion goes to one.
 */
TERN_API int tern_completion_queue_create(struct tern_device *dev, struct tern_completion_queue **out);
/** Drops what was not taken. -EBUSY: contexts use it, and changes nothing. */
TERN_API int tern_completion_queue_destroy(struct tern_completion_queue *queue);
/** The descriptor, which the queue closes: only to be polled for POLLIN. Closed in the child of a fork. */
TERN_API int tern_completion_queue_fd(const struct tern_completion_queue *queue);
/**
 * Takes the oldest completions, at most max, in the order in which work ended; out[0].size is the size of each element
 * of out. How many; 0: there is none now. Does not block. A context's fence has ended (tern_context_ended) when it is
 * in the queue.
 */
TERN_API int tern_completion_queue_take(struct tern_completion_queue *queue, struct tern_completion *out, uint32_t max);

/**
 * In the band NORMAL. Costs 32 KiB of device memory for buffers on their way to an engine, and a context-save area:
 * 104 KiB on the default device. Blocks until the device has made them ready, or for memory that is being
 * freed. -EINVAL: engine, weight, flags, a queue of another device, or both a queue and a callback; -EIO: process in
 * error; -ENOMEM; -ENOSPC.
 */
TERN_API int tern_context_create(struct tern_process *proc, const struct tern_context_desc *desc,
                                 struct tern_context **out);
/** Waits for its work, however long that takes (tern_process_abort ends it), then ends it. Blocks. */
TERN_API void tern_context_destroy(struct tern_context *ctx);

/**
 * Appends a DMA buffer to the context's SW queue. packets (copied): size bytes, a multiple of 64, at least 64 and at
 * most 1 MiB. label (copied; may be NULL): names the work in faults and traces, e.g. the kernel. *fence (may be NULL):
 * its fence id, 1, 2, 3... per context (C9). Never refused for length of the queue (C2).
 * -EINVAL: size; -EIO: process in error (nothing is queued); -ENOMEM; -ENOSPC: what it uses
 * (tern_context_set_residency), or with page requests what one of its packets names, is more than device memory; but
 * copies and fills run in parts there. Does not block.
 */
TERN_API int tern_submit(struct tern_context *ctx, const void *packets, size_t size, const char *label,
                         uint64_t *fence);
/** Makes the context ready for tern_submit_data, once: 16 KiB of device memory. Blocks as tern_allocation_create does.
 *  -ENOMEM; -ENOSPC; -EIO: process in error. */
TERN_API int tern_context_take_data(struct tern_context *ctx);
#define TERN_DATA_MAX 8192u /**< Bytes of data with a DMA buffer. */
/**
 * tern_submit with data that travel in the buffer: arguments of kernels. They (copied; data_size bytes, at most
 * TERN_DATA_MAX; 0: as tern_submit) begin a page of device memory, which the buffer's work may read and not write, and
 * are there until it has ended. In every dispatch of `packets`, `args` is then an offset into them, in place of an
 * address. Errors as tern_submit; -EINVAL: data_size, an offset beyond the data, or a context that
 * tern_context_take_data has not made ready.
 */
TERN_API int tern_submit_data(struct tern_context *ctx, const void *packets, size_t size, const void *data,
                              size_t data_size, const char *label, uint64_t *fence);
/** A DMA buffer that completes without being run (C10): is scheduled and takes an entry of the HW queue,
 * to measure what that costs. Errors as tern_submit. */
TERN_API int tern_submit_null(struct tern_context *ctx, const char *label, uint64_t *fence);
/**
 * Waits until the buffer with this fence id, and so all before it, has ended. timeout_ms < 0: for ever. Blocks.
 * -ETIMEDOUT; -EIO: it did not complete; -EINVAL: never submitted.
 */
TERN_API int tern_wait(struct tern_context *ctx, uint64_t fence, int64_t timeout_ms);
/** The fence id of the last buffer that has ended: a buffer has ended once its callback has returned. */
TERN_API uint64_t tern_context_ended(struct tern_context *ctx);

/**
 * Another band and weight (0: 100) from now on, for what runs as well. Does not block. -EINVAL: band or weight;
 * -EPERM: the band REALTIME needs CAP_SYS_NICE, or a device opened with the key realtime=1, because it can keep
 * all others from an engine; -EIO: the process was killed.
 */
TERN_API int tern_context_set_priority(struct tern_context *ctx, enum tern_band band, uint32_t weight);

/** Statistics of a context. Cycles are the device's. */
struct tern_context_stats {
    uint32_t size;
    uint64_t submitted, completed, aborted; /**< Buffers; aborted: or faulted. The others have not ended. */
    uint64_t preempted;                     /**< How often work of it that had begun was preempted. */
    uint64_t moved;                         /**< How often that was resumed on another engine. */
    uint64_t cycles;                        /**< Engine cycles its buffers ran, those of what runs now not included; */
    uint64_t engine_cycles[TERN_ENGINES_MAX]; /**< and of these on each engine: their sum is `cycles`. */
    uint64_t waited, longest_wait;          /**< From submission of a buffer to its begin: sum, maximum. */
    uint32_t engine;                        /**< Where it is queued, or ran last. */
    uint32_t weight;
    enum tern_band band;                    /**< As set, without what it inherits. */
    uint64_t page_requests;                 /**< How often a kernel of it stopped because it needed a page (A6). */
};
TERN_API int tern_context_query(struct tern_context *ctx, struct tern_context_stats *out);

/* --------------------------------------------------------- monitored fences */

/**
 * A 64-bit value in device memory that engines and the CPU both read and write (S3): packets fence_signal and
 * fence_wait of this process name it by tern_fence_address. A buffer is not given to an engine before the waits that it
 * begins with (or meets next) are satisfied, so a wait keeps no engine from other work. Values are meant to grow.
 * tern_fence_create: -ENOMEM; -ENOSPC; -EIO: process in error. Blocks; a fence takes a page of device memory.
 */
TERN_API int tern_fence_create(struct tern_process *proc, uint64_t initial, struct tern_fence **out);
/** Frees it once all work submitted before this call has ended. Does not block. No thread may be waiting on it. */
TERN_API void tern_fence_destroy(struct tern_fence *fence);
/** Its device virtual address, a multiple of 8. */
TERN_API uint32_t tern_fence_address(const struct tern_fence *fence);
/** The value now. Waits as tern_device_time does. -EIO: the device is lost. */
TERN_API int tern_fence_value(struct tern_fence *fence, uint64_t *value);
/** Sets the value from the CPU; threads and queued work that wait for it go on. Waits as tern_device_time does. -EIO:
 *  the device is lost. */
TERN_API int tern_fence_signal(struct tern_fence *fence, uint64_t value);
/** Waits until the value is at least this. timeout_ms < 0: for ever. -ETIMEDOUT; -EIO: the
 * process is in error. Blocks. */
TERN_API int tern_fence_wait(struct tern_fence *fence, uint64_t value, int64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
