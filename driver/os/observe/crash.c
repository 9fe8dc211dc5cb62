/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Crash dumps: the state of an engine before a reset, as a text file that the fault message names.
 *
 * The text is composed in memory with the locks held. The file is written without them, because no call of the driver
 * may wait for a disk. No failure is reported to the caller: the message says why there is no dump. The file has mode
 * 0600, because it has packets, and therefore addresses, of processes.
 */
#include "os/observe/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "os/job/job.h"

#define PACKETS_SHOWN 8u /* number of packets shown, the last of which is the running one */
#define NAMES_TRIED 1000

/* ------------------------------------------------------------------- text */

/** Bytes of the packet at byte `at`; 0: the engine would not accept it. */
static uint32_t packet_bytes(const struct tern_chunk *s, uint32_t at)
{
    const uint32_t bytes = tern_pkt_lines(s->job->packets[at / 4] & TERN_PKT_OPCODE_MASK) * TERN_PKT_LINE_BYTES;
    return bytes <= s->start + s->size - at ? bytes : 0;
}

/** Prints the last packets of a chunk up to the one at byte `last`. */
static void show_packets(FILE *out, const struct tern_chunk *s, uint32_t last)
{
    uint32_t at[PACKETS_SHOWN], n = 0, bytes = 1, words[TERN_CHUNK_BYTES / 4];
    tern_data_resolve(s, words);
    for (uint32_t p = s->start; bytes && p < s->start + s->size && p - s->start <= last; p += bytes) {
        at[n++ % PACKETS_SHOWN] = p;
        bytes = packet_bytes(s, p);
    }
    for (uint32_t i = n > PACKETS_SHOWN ? n - PACKETS_SHOWN : 0; i < n; i++) {
        const uint32_t p = at[i % PACKETS_SHOWN];
        fprintf(out, "  byte %u: ", p);
        if (packet_bytes(s, p)) {
            tern_pkt_print(out, words + (p - s->start) / 4);
        } else {
            fprintf(out, "no packet: word 0x%08x\n", s->job->packets[p / 4]);
        }
    }
}

static void show_chunk(FILE *out, const struct tern_chunk *s, const struct tern_kmd_running *running)
{
    if (s->context->process->system) {
        fprintf(out, "paging (%s), fence %" PRIu64, s->job->label ? s->job->label : "without label", s->id);
    } else {
        const struct tern_context *c = TERN_CONTEXT_OF(s->context);
        fprintf(out, "process '%s', context '%s' (%u), buffer %" PRIu64 " (%s), fence %" PRIu64 ", save area at page "
                "%u", c->proc->name, c->name, c->id, s->job->fence, s->job->label ? s->job->label : "without label",
                s->id, c->save[0].page);
    }
    fprintf(out, ", bytes %u to %u of %u%s\n", s->start, s->start + s->size, s->job->size,
            s->resume ? ", resumed" : "");
    if (running->fence == s->id) {
        uint32_t prefix = s->context->process->system ? 0 : TERN_PKT_LINE_BYTES;
        show_packets(out, s, running->offset > prefix ? running->offset - prefix : 0);
    }
}

static void compose(struct tern_device *dev, uint32_t engine, const char *why, FILE *out)
{
    const struct tern_sched_engine *e = &dev->sched.engine[engine];
    struct tern_kmd_running running = {.fence = e->n ? e->inflight[0].id : 0};
    char when[64] = "";
    time_t now = time(NULL);
    struct tm tm;
    if (localtime_r(&now, &tm)) {
        strftime(when, sizeof when, "%F %T %z", &tm);
    }
    fprintf(out, "Tern crash dump\n%s\n\ndate         %s\nprocess      %ld (%s)\ndevice       %s, %s, version "
            "%u.%u.%u\ndevice time  %" PRIu64 "\n\n", why, when, (long)getpid(), program_invocation_short_name,
            dev->info.backend, dev->info.config, dev->info.version >> 16 & 0xff, dev->info.version >> 8 & 0xff,
            dev->info.version & 0xff, dev->sched.now);
    int r = tern_kmd_dump(&dev->kmd, engine, out, &running);
    if (r) {
        fprintf(out, "the registers cannot be read any further: %s\n", strerror(-r));
    }
    fprintf(out, "\nHW queue of engine %u, as the driver filled it, oldest first, with the last packets "
            "of what runs:\n", engine);
    for (uint32_t i = 0; i < e->n; i++) {
        show_chunk(out, &e->inflight[i], &running);
    }
}

char *tern_crash_compose(struct tern_device *dev, uint32_t engine, const char *why)
{
    tern_assert_held(&dev->hal_lock);
    tern_assert_held(&dev->lock);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out) {
        return NULL;
    }
    compose(dev, engine, why, out);
    bool bad = ferror(out);
    bad |= fclose(out) != 0;
    if (bad) {
        free(text);
        text = NULL;
    }
    return text;
}

/* ------------------------------------------------------------------- file */

/** Makes a folder and its parents. */
static int make_folder(const char *path)
{
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0700) && errno != EEXIST) {
            return -errno;
        }
        *slash = '/';
    }
    return mkdir(part, 0700) && errno != EEXIST ? -errno : 0;
}

/** Creates a file with a new name in the folder. */
static int open_new(const char *folder, char *path, size_t size)
{
    char when[32] = "";
    time_t now = time(NULL);
    struct tm tm;
    int r = make_folder(folder);
    if (r) {
        return r;
    }
    if (localtime_r(&now, &tm)) {
        strftime(when, sizeof when, "%Y%m%d-%H%M%S", &tm);
    }
    for (int i = 0; i < NAMES_TRIED; i++) {
        char number[16] = "";
        if (i) {
            snprintf(number, sizeof number, "-%d", i);
        }
        if (snprintf(path, size, "%s/tern-crash-%ld-%s%s.txt", folder, (long)getpid(), when, number) >= (int)size) {
            return -ENAMETOOLONG;
        }
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST) {
            return fd >= 0 ? fd : -errno;
        }
    }
    return -EEXIST;
}

/** Creates a file in the first folder that can be used. */
static int open_file(char *path, size_t size)
{
    const char *wanted = secure_getenv("TERN_CRASH_DIR"), *state = secure_getenv("XDG_STATE_HOME"),
        *home = secure_getenv("HOME");
    char folder[PATH_MAX];
    int fd = -ENOENT;
    if (wanted && *wanted) {
        return open_new(wanted, path, size);
    }
    if (state && *state == '/') {
        snprintf(folder, sizeof folder, "%s/tern", state);
        fd = open_new(folder, path, size);
    } else if (home && *home == '/') {
        snprintf(folder, sizeof folder, "%s/.local/state/tern", home);
        fd = open_new(folder, path, size);
    }
    return fd >= 0 ? fd : open_new("/tmp", path, size);
}

static int write_all(int fd, const char *text, size_t size)
{
    struct tern_file_limit limit;
    int r = 0;
    tern_file_limit_begin(&limit);
    while (!r && size) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno != EINTR) {
            r = -errno;
        }
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    tern_file_limit_end(&limit);
    return r;
}

void tern_crash_write(const char *text, char *said, size_t size)
{
    char path[PATH_MAX] = "";
    int fd = open_file(path, sizeof path), r = fd < 0 ? fd : write_all(fd, text, strlen(text));
    if (fd >= 0) {
        r = close(fd) && !r ? -errno : r;
        if (r) {
            unlink(path);
        }
    }
    if (r) {
        snprintf(said, size, "no crash dump: %.80s", strerror(-r));
    } else {
        snprintf(said, size, "crash dump: %s", path);
    }
}
