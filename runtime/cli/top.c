/* SPDX-License-Identifier: Apache-2.0 */
/** tern top: shows the devices of all processes, or of a program that it starts, live. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "child.h"
#include "cli.h"
#include "json.h"
#include "top_screen.h"

#define LATE_SECONDS 0.15 /* with --once: largest age of statistics */

struct top {
    bool json, screen, once;
    long rounds;      /* 0: no limit */
    double seconds;   /* interval of updates */
    char **program;   /* NULL: all processes */
    pid_t child;
    bool child_ended;
    int status;       /* exit status */
    int out, err;     /* memory files for the program's output while the screen is in use; -1: none */
};

static void help(void)
{
    printf("usage: tern top [--once] [--json] [-n COUNT] [-d SECONDS] [-- PROGRAM [ARGUMENT...]]\n\n"
           "Shows the engines and contexts of every process of yours that has a Tern device open: on a terminal as a "
           "picture that is\n"
           "renewed until q is pressed, else once, as text. With PROGRAM, runs it and shows it alone, as long "
           "as it runs.\n\n"
           "  --once      one look; shares are of all the time since a device was opened\n"
           "  --json      one JSON object a look, on one line\n"
           "  -n COUNT    so many looks\n"
           "  -d SECONDS  from one look to the next, 0.1 to 3600 (1)\n\n"
           "Exit: that of PROGRAM, if there is one; else 0; 1 the statistics cannot be read; 2 wrong usage.\n");
}

static void print_line(void *user, bool head, const char *text)
{
    (void)user;
    (void)head;
    puts(text);
}

/** Removes devices that are not of the program. */
static void keep_program(const struct top *t, struct top_list *list)
{
    unsigned n = 0;
    for (unsigned i = 0; i < list->n; i++) {
        if (child_has(t->child, (pid_t)list->item[i]->pid)) {
            list->item[n++] = list->item[i];
        } else {
            free(list->item[i]);
        }
    }
    list->n = n;
    list->foreign = 0;
}

/** Prints or shows the statistics. False: they cannot be shown. */
static bool show(const struct top *t, const struct top_view *v)
{
    if (t->json) {
        cJSON *o = top_view_json(v);
        char *text = o ? cJSON_PrintUnformatted(o) : NULL;
        cJSON_Delete(o);
        if (!text) {
            return false;
        }
        puts(text);
        cJSON_free(text);
    } else if (t->screen) {
        top_screen_show(v, t->seconds);
    } else {
        top_view_text(v, print_line, NULL);
        putchar('\n');
    }
    return fflush(stdout) == 0;
}

static void pause_for(double seconds)
{
    const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

/** Waits for the next update. True: the user wants to leave. The end of the program ends the wait. */
static bool wait_for_next(struct top *t)
{
    const double step = 0.05;
    for (double left = t->seconds; left > 0; left -= step) {
        if (t->screen ? top_screen_wait(left < step ? left : step) : (pause_for(left < step ? left : step), false)) {
            return true;
        }
        if (t->child && child_ended(t->child, false, &t->status)) {
            t->child_ended = true;
            return true;
        }
    }
    return false;
}

static int look(struct top *t)
{
    struct top_list before = {0}, now;
    bool leave = false;
    for (long i = 0; !leave && (t->rounds == 0 || i < t->rounds); i++) {
        if (t->once && !t->child) {
            pause_for(LATE_SECONDS);
        } else if (i > 0 || t->child) {
            leave = wait_for_next(t);
        }
        if (t->child_ended || (leave && t->screen)) {
            break; /* the statistics ended with the program */
        }
        if (!top_read(&now)) {
            top_free(&now);
            top_free(&before);
            fprintf(stderr, "tern top: out of memory\n");
            return EXIT_FAILED;
        }
        if (t->child) {
            keep_program(t, &now);
        }
        const bool shown = show(t, &(struct top_view){&now, before.item ? &before : NULL});
        top_free(&before);
        before = now;
        if (!shown) {
            break; /* main reports the error of standard output */
        }
    }
    top_free(&before);
    return EXIT_OK;
}

/** Copies the program's output to the real stream. */
static void copy_out(int from, FILE *to)
{
    char data[4096];
    ssize_t n;
    if (from < 0 || lseek(from, 0, SEEK_SET) < 0) {
        return;
    }
    while ((n = read(from, data, sizeof data)) > 0) {
        fwrite(data, 1, (size_t)n, to);
    }
    close(from);
}

static bool number(const char *text, double low, double high, double *out)
{
    char *end;
    errno = 0;
    *out = text && *text ? strtod(text, &end) : -1;
    return text && *text && !*end && !errno && *out >= low && *out <= high;
}

/** EXIT_OK, or another status after a message. */
static int parse(int argc, char **argv, struct top *t)
{
    double v;
    bool counted = false, timed = false;
    for (int i = 1; i < argc && !t->program; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--json") == 0) {
            t->json = true;
        } else if (strcmp(argv[i], "--once") == 0) {
            t->once = true;
        } else if (strcmp(argv[i], "-n") == 0) {
            if (!number(next, 1, 1e9, &v) || v != (double)(long)v) {
                return usage_error("top", "-n takes a number from 1 on");
            }
            t->rounds = (long)v;
            counted = true;
            i++;
        } else if (strcmp(argv[i], "-d") == 0) {
            if (!number(next, 0.1, 3600, &t->seconds)) {
                return usage_error("top", "-d takes seconds, 0.1 to 3600");
            }
            timed = true;
            i++;
        } else if (strcmp(argv[i], "--") == 0 && next) {
            t->program = &argv[i + 1];
        } else {
            return usage_error("top", "unknown argument '%s'", argv[i]);
        }
    }
    if (t->once && (counted || (timed && !t->program))) {
        return usage_error("top", "--once is one look at once; %s has no meaning with it", counted ? "-n" : "-d");
    }
    t->rounds = t->once ? 1 : t->rounds;
    return EXIT_OK;
}

int cmd_top(int argc, char **argv)
{
    struct top t = {.seconds = 1, .out = -1, .err = -1};
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        help();
        return EXIT_OK;
    }
    int status = parse(argc, argv, &t);
    if (status != EXIT_OK) {
        return status;
    }
    t.screen = !t.json && !t.once && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && top_screen_open();
    if (!t.screen && !t.program && t.rounds == 0) {
        t.rounds = 1; /* no terminal on which q could be pressed */
        t.once = true;
    }
    if (t.program) {
        t.out = t.screen ? memfd_create("stdout", MFD_CLOEXEC) : -1;
        t.err = t.screen ? memfd_create("stderr", MFD_CLOEXEC) : -1;
        status = child_start("top", t.program, -1, t.screen ? t.out : t.json ? STDERR_FILENO : -1, t.err, &t.child);
    }
    status = status == EXIT_OK ? look(&t) : status;
    if (t.screen) {
        top_screen_close();
    }
    if (t.child && !t.child_ended) {
        child_ended(t.child, true, &t.status);
    }
    copy_out(t.out, stdout);
    copy_out(t.err, stderr);
    return status == EXIT_OK ? t.status : status;
}
