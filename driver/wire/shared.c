/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int tern_shared_make(uint32_t calls)
{
    const int memory = memfd_create("ternd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory >= 0 && !ftruncate(memory, (off_t)tern_wire_shared_bytes(calls)) &&
        !fcntl(memory, F_ADD_SEALS, SEALS)) {
        return memory;
    }
    const int e = errno;
    if (memory >= 0) {
        close(memory);
    }
    return tern_error(-ENOMEM, "shared memory cannot be made: %s", strerror(e));
}

bool tern_shared_is(int memory, uint32_t calls)
{
    struct stat s;
    const bool sealed = (fcntl(memory, F_GET_SEALS) & SEALS) == SEALS;
    return sealed && !fstat(memory, &s) && s.st_size == (off_t)tern_wire_shared_bytes(calls);
}

int tern_shared_map(int memory, uint32_t calls, struct tern_wire_shared **shared, uint8_t **submissions,
                    struct tern_wire_completion **completions)
{
    uint8_t *at = mmap(NULL, tern_wire_shared_bytes(calls), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (at == MAP_FAILED) {
        return tern_error(-ENOMEM, "shared memory cannot be mapped: %s", strerror(errno));
    }
    *shared = (void *)at;
    *submissions = at + TERN_WIRE_SUBMISSION_OFFSET;
    *completions = (void *)(at + TERN_WIRE_COMPLETION_OFFSET);
    return 0;
}
