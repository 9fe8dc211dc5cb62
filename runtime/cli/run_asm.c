/* SPDX-License-Identifier: Apache-2.0 */
/** tern run --asm and --explain: print the program binary as text, or explain its kernels, by tern-disassemble. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "external.h"
#include "run.h"

/** A memory file with the bytes, whose position is 0; -1, after a message. */
static int memory_file(const void *bytes, size_t size)
{
    const int fd = memfd_create("tern", MFD_CLOEXEC);
    for (size_t done = 0; fd >= 0 && done < size;) {
        const ssize_t n = write(fd, (const char *)bytes + done, size - done);
        if (n < 0 && errno != EINTR) {
            fprintf(stderr, "tern run: the program binary: %s\n", strerror(errno));
            close(fd);
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    if (fd < 0 || lseek(fd, 0, SEEK_SET)) {
        fprintf(stderr, "tern run: the program binary: %s\n", strerror(errno));
    }
    return fd;
}

int run_print_asm(struct run *r)
{
    char path[PATH_MAX], threads[32], *argv[6] = {path};
    unsigned n = 1;
    size_t size;
    void *bytes = run_binary(r, &size);
    const int fd = bytes ? memory_file(bytes, size) : -1;
    free(bytes);
    if (fd < 0) {
        return EXIT_FAILED;
    }
    int status = EXIT_FAILED;
    pid_t child;
    snprintf(threads, sizeof threads, "--threads=%u", r->session.config.lanes * r->session.config.warps);
    if (r->options.explain) {
        argv[n++] = r->options.json ? "--json" : "--explain";
        argv[n++] = threads;
    }
    argv[n++] = r->kernel ? r->kernel_name : NULL;
    if (!external_program("disassemble", path)) {
        fprintf(stderr, "tern run: tern-disassemble is not beside this program\n");
    } else if (child_start("run", argv, fd, -1, -1, &child) == 0) {
        child_ended(child, true, &status);
    }
    close(fd);
    return status ? EXIT_FAILED : EXIT_OK;
}
