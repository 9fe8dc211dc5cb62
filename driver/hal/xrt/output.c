/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/xrt/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int tern_output_divert(void)
{
    fflush(stdout); /* earlier output of the program */
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (kept >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        close(kept);
        return -1;
    }
    return kept;
}

void tern_output_restore(int kept)
{
    if (kept >= 0) {
        fflush(stdout); /* output of XRT */
        dup2(kept, STDOUT_FILENO);
        close(kept);
    }
}
