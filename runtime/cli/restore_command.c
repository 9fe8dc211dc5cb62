/* SPDX-License-Identifier: Apache-2.0 */
/** tern restore: loads a checkpoint on a new device, and runs its work. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "child.h"
#include "cli.h"
#include "restore.h"

#define LOOK_MS 200
#define SAY_LOOKS 25 /* number of LOOK_MS between two reports of progress */

struct options {
    const char *file, *backend, *config, *cycles, *dump;
    bool json;
};

static void help(void)
{
    printf("usage: tern restore FILE [--cycles N] [--dump FOLDER] [--json] [--backend NAME] [--config CONFIG]\n\n"
           "Loads a checkpoint that tern checkpoint made on a new device, and lets its work go on to its end: bit for "
           "bit as it\n"
           "would have there, on the same backend or another. Prints what each process and context came to, and a "
           "digest of each\n"
           "memory (XXH3-64). The program's part on the host is not in the file: what follows the work that it had "
           "queued does not\n"
           "happen. tern migrate inspect shows what is in the file.\n\n"
           "  --cycles N           stop after so many cycles of device time, and those of the saving of what runs\n"
           "  --dump FOLDER        write each memory to FOLDER/PROCESS-ADDRESS.bin\n"
           "  --json               print one JSON object\n"
           "  --backend NAME       the device: rtl, model (else TERN_BACKEND)\n"
           "  --config CONFIG      its configuration (else TERN_CONFIG), as default,trace=run.fst for a waveform\n\n"
           "Exit: 0 done; 1 a process is in error, or the file or the device failed; 2 wrong usage.\n");
}

static int take(int argc, char **argv, int *i, const char **to)
{
    if (*i + 1 == argc || !*argv[*i + 1]) {
        return usage_error("restore", "%s takes a value", argv[*i]);
    }
    if (*to) {
        return usage_error("restore", "%s is given twice", argv[*i]);
    }
    *to = argv[++*i];
    return EXIT_OK;
}

static int parse(int argc, char **argv, struct options *o)
{
    const struct {
        const char *name;
        const char **to;
    } valued[] = {{"--cycles", &o->cycles}, {"--dump", &o->dump}, {"--backend", &o->backend},
                  {"--config", &o->config}};
    int status = EXIT_OK;
    for (int i = 1; status == EXIT_OK && i < argc; i++) {
        size_t k = 0;
        while (k < sizeof valued / sizeof *valued && strcmp(argv[i], valued[k].name) != 0) {
            k++;
        }
        if (k < sizeof valued / sizeof *valued) {
            status = take(argc, argv, &i, valued[k].to);
        } else if (strcmp(argv[i], "--json") == 0) {
            o->json = true;
        } else if (argv[i][0] == '-' || o->file) {
            status = usage_error("restore", "unknown argument '%s'", argv[i]);
        } else {
            o->file = argv[i];
        }
    }
    return status == EXIT_OK && !o->file ? usage_error("restore", "a checkpoint's file is missing") : status;
}

/** Parses --cycles; 0: to the end. */
static int parse_cycles(const struct options *o, uint64_t *cycles)
{
    char *end = NULL;
    errno = 0;
    *cycles = o->cycles ? strtoull(o->cycles, &end, 10) : 0;
    if (o->cycles && (!isdigit((unsigned char)*o->cycles) || *end || errno || !*cycles)) {
        return usage_error("restore", "--cycles takes a number of cycles, from 1; got '%s'", o->cycles);
    }
    if (*cycles && getenv("TERN_CHECKPOINT")) {
        return usage_error("restore", "--cycles and a checkpoint of what goes on exclude each other");
    }
    return EXIT_OK;
}

static int failed(void)
{
    fprintf(stderr, "tern restore: %s\n", tern_last_error());
    return EXIT_FAILED;
}

/** Runs the work, and reports progress on a terminal. */
static int run(struct tern_device *dev, struct restored *r, uint64_t cycles)
{
    const bool tell = isatty(STDERR_FILENO);
    r->began = tern_device_time(dev);
    int error = tern_checkpoint_start(r->checkpoint, cycles);
    for (unsigned looks = 0; !error || error == -ETIMEDOUT; looks++) {
        error = tern_checkpoint_wait(r->checkpoint, LOOK_MS, &r->end);
        if (!error) {
            break;
        }
        if (tell && looks % SAY_LOOKS == SAY_LOOKS - 1) {
            fprintf(stderr, "\rtern restore: %" PRIu64 " cycles ", tern_device_time_seen(dev) - r->began);
        }
    }
    r->ended = tern_device_time_seen(dev);
    return error ? failed() : EXIT_OK;
}

/** Makes the folder if needed, and checks that files can be made in it, before the work runs. */
static bool prepare(const char *folder)
{
    char probe[PATH_MAX];
    int error = mkdir(folder, 0777) && errno != EEXIST ? errno : 0;
    if (!error && (size_t)snprintf(probe, sizeof probe, "%s/.tern-XXXXXX", folder) >= sizeof probe) {
        error = ENAMETOOLONG;
    }
    const int fd = error ? -1 : mkostemp(probe, O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "tern restore: %s: %s\n", folder, strerror(error ? error : errno));
        return false;
    }
    unlink(probe);
    return close(fd) == 0;
}

static int restore(const struct options *o, uint64_t cycles)
{
    struct restored r = {.device = {.size = sizeof r.device}, .asked = cycles};
    struct tern_device *dev;
    const char *config = o->config ? o->config : getenv("TERN_CONFIG");
    const char *ternd = o->backend || o->config ? NULL : child_ternd();
    if (ternd) {
        fprintf(stderr, "tern restore: the ternd at %s is not used: a checkpoint gets a device of its own (--backend, "
                "--config)\n", ternd);
    }
    unsetenv("TERND_SOCKET");
    if (tern_file_check(o->file, UINT64_MAX)) { /* before the device is opened, which may take long */
        return failed();
    }
    if (o->dump && !prepare(o->dump)) {
        return EXIT_FAILED;
    }
    if (tern_device_open(o->backend, config ? config : "default", &dev)) {
        return failed();
    }
    tern_device_query(dev, &r.device);
    int status = tern_checkpoint_load(dev, o->file, &r.checkpoint) ? failed() : EXIT_OK;
    if (status == EXIT_OK) {
        status = run(dev, &r, cycles);
        status = status == EXIT_OK ? restore_print(&r, o->dump, o->json) : status;
        status = tern_checkpoint_close(r.checkpoint) && status == EXIT_OK ? failed() : status;
    }
    return tern_device_close(dev) && status == EXIT_OK ? failed() : status;
}

int cmd_restore(int argc, char **argv)
{
    struct options o = {0};
    uint64_t cycles = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            help();
            return EXIT_OK;
        }
    }
    int status = parse(argc, argv, &o);
    status = status == EXIT_OK ? parse_cycles(&o, &cycles) : status;
    return status == EXIT_OK ? restore(&o, cycles) : status;
}
