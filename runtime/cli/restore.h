/* SPDX-License-Identifier: Apache-2.0 */
/** Parts of tern restore. */
#ifndef TERN_CLI_RESTORE_H
#define TERN_CLI_RESTORE_H

#include <stdbool.h>
#include <stdint.h>

#include <tern/tern_checkpoint.h>

struct restored {
    struct tern_checkpoint *checkpoint;
    struct tern_device_info device;
    uint64_t began, ended; /**< Device times, in cycles. */
    uint64_t asked;        /**< Cycles to run; 0: to the end. */
    enum tern_checkpoint_end end;
};

/** Computes the XXH3-64 of a memory, and with `folder` writes its bytes to PROCESS-ADDRESS.bin there. EXIT_FAILED,
 *  after a message. *read: there is a digest, and at most the file could not be written. */
int restore_digest(const struct restored *r, uint32_t process, uint32_t number, uint32_t memory,
                   const struct tern_checkpoint_memory *info, const char *folder, uint64_t *digest, bool *read);
/** Prints the result on standard output. EXIT_FAILED: a process is in error, or memory cannot be read or written. */
int restore_print(const struct restored *r, const char *folder, bool json);

#endif
