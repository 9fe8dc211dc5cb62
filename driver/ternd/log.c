/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Messages on standard error, one line each; under the journal with their level. A message that would block is dropped,
 * because it may come from the device thread.
 */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ternd/server.h"

int ternd_log_level = TERND_INFO; /* as of syslog(3): messages of a larger number are dropped */

void ternd_log(int level, const char *format, ...)
{
    char text[768], prefix[8] = "";
    va_list args;
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (level > ternd_log_level || poll(&room, 1, 0) != 1 || !(room.revents & POLLOUT)) {
        return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *at = text; *at; at++) {
        *at = (unsigned char)*at < ' ' ? ' ' : *at; /* users choose the names of their programs */
    }
    if (getenv("JOURNAL_STREAM")) {
        snprintf(prefix, sizeof prefix, "<%d>", level);
    }
    fprintf(stderr, "%sternd: %s\n", prefix, text);
}
