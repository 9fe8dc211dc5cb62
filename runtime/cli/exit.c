/* SPDX-License-Identifier: Apache-2.0 */
/** The end of commands (cli.h). */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int usage_error(const char *command, const char *format, ...)
{
    va_list ap;
    fprintf(stderr, "tern%s%s: ", *command ? " " : "", command);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fprintf(stderr, "; see tern%s%s --help\n", *command ? " " : "", command);
    return EXIT_USAGE;
}

static bool limit_is_new;

/** Makes a write beyond the limit of file sizes (ulimit -f) an error instead of a signal. Runs before main() in all
 *  commands that link this file. */
__attribute__((constructor)) static void ignore_limit(void)
{
    limit_is_new = signal(SIGXFSZ, SIG_IGN) == SIG_DFL;
}

void exit_limit_default(sigset_t *out)
{
    sigemptyset(out);
    if (limit_is_new) {
        sigaddset(out, SIGXFSZ);
    }
}

static struct {
    char text[96];
    size_t size;
    void (*last)(void);
} at_interrupt;

static void interrupted(int signal)
{
    if (at_interrupt.last) {
        at_interrupt.last();
    }
    const ssize_t n = write(STDERR_FILENO, at_interrupt.text, at_interrupt.size);
    (void)n; /* a failure cannot be reported */
    _exit(128 + signal);
}

void exit_at_interrupt(const char *command, void (*last)(void))
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = interrupted}, before;
    const int n = snprintf(at_interrupt.text, sizeof at_interrupt.text, "%stern %s: interrupted\n",
                           isatty(STDERR_FILENO) ? "\r\033[K" : "", command); /* overwrites the line of progress.h */
    at_interrupt.size = (size_t)n;
    at_interrupt.last = last;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaddset(&action.sa_mask, signals[i]);
    }
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(signals[i], &action, NULL);
        }
    }
}

int exit_status(int status)
{
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "tern: cannot write to standard output: %s\n", strerror(errno));
        return status == EXIT_OK ? EXIT_FAILED : status;
    }
    return status;
}
