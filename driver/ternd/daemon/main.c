/* SPDX-License-Identifier: Apache-2.0 */
/** ternd: parses the arguments, opens the device, and accepts connections until a signal comes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "migration/session/session.h"
#include "os/service.h"
#include "ternd/listen.h"
#include "ternd/server.h"

enum { OK = 0, FAILED = 1, USAGE = 2 };

struct options {
    const char *socket, *backend, *config, *limits;
};

/** Accepts connections until a signal comes. Returns its number. */
static int accept_all(struct ternd *t, int listener, int signals)
{
    struct pollfd p[2] = {{.fd = listener, .events = POLLIN}, {.fd = signals, .events = POLLIN}};
    for (;;) {
        if (poll(p, 2, -1) < 0 && errno != EINTR) {
            ternd_log(TERND_ERROR, "poll: %s", strerror(errno));
            return SIGTERM;
        }
        struct signalfd_siginfo info;
        if (p[1].revents && read(signals, &info, sizeof info) == sizeof info) {
            return (int)info.ssi_signo;
        }
        if (p[0].revents) {
            const bool full = ternd_clients_full(t);
            const int fd = full ? -1 : accept4(listener, NULL, NULL, SOCK_CLOEXEC);
            if (fd >= 0) {
                ternd_client_begin(t, fd);
            } else if (full || errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
                ternd_silent_make_room(t);
            }
        }
    }
}

static int run(const struct options *o)
{
    static struct ternd t;
    struct ternd_limits_file *limits;
    struct ternd_listener listener;
    sigset_t ends;
    struct rlimit files;
    char here[sizeof t.path];
    umask(077); /* traces, statistics and crash dumps show the work of all clients */
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond RLIMIT_FSIZE then fails with EFBIG */
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (ternd_limits_read(o->limits, &limits)) {
        ternd_log(TERND_ERROR, "%s", tern_last_error());
        return FAILED;
    }
    if (ternd_listen(o->socket, &listener)) {
        ternd_log(TERND_ERROR, "%s", tern_last_error());
        ternd_limits_free(limits);
        return FAILED;
    }
    int status = FAILED;
    const int signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    struct tern_device *dev;
    if (tern_os_device_open(o->backend, o->config, &dev)) {
        ternd_log(TERND_ERROR, "%s", tern_last_error());
        goto end;
    }
    if (ternd_create(&t, dev, limits, &ternd_moves)) {
        ternd_log(TERND_ERROR, "%s", tern_last_error());
        tern_os_device_close(dev);
        goto end;
    }
    if (*listener.path == '/') { /* clients need an absolute path */
        memcpy(t.path, listener.path, sizeof t.path);
    } else if (getcwd(here, sizeof here) && strlen(here) + strlen(listener.path) + 1 < sizeof t.path) {
        strcat(strcat(strcpy(t.path, here), "/"), listener.path);
    }
    ternd_log(TERND_INFO, "%s, %s, at %s", t.info.backend, t.info.config, listener.path);
    const int signal = accept_all(&t, listener.fd, signals);
    ternd_log(TERND_INFO, "ends on %s", strsignal(signal));
    ternd_clients_end(&t);
    ternd_destroy(&t);
    status = tern_os_device_close(dev) ? FAILED : OK;
    if (status) {
        ternd_log(TERND_ERROR, "%s", tern_last_error());
    }
end:
    ternd_listen_end(&listener);
    close(signals);
    ternd_limits_free(limits);
    return status;
}

static void help(void)
{
    printf("usage: ternd [--socket PATH] [--backend B] [--config C] [--limits FILE] [--version] [--help]\n\n"
           "Owns one device and shares it among the programs of all users. Runs in the foreground until SIGTERM or "
           "SIGINT.\n\n"
           "  --socket PATH   where programs connect: of root /run/tern/ternd.sock, else "
           "$XDG_RUNTIME_DIR/tern/ternd.sock\n"
           "  --backend B     rtl, model (TERN_BACKEND, else rtl)\n"
           "  --config C      as tern_device_open takes it (TERN_CONFIG, else default)\n"
           "  --limits FILE   what each user may have: see ternd(8)\n\n"
           "Exit: 0 ended by a signal; 1 it failed; 2 wrong usage.\n");
}

int main(int argc, char **argv)
{
    struct options o = {0};
    const struct {
        const char *name;
        const char **value;
    } known[] = {{"--socket", &o.socket}, {"--backend", &o.backend}, {"--config", &o.config}, {"--limits", &o.limits}};
    for (int i = 1; i < argc; i++) {
        size_t k = 0;
        if (!strcmp(argv[i], "--help")) {
            help();
            return OK;
        }
        if (!strcmp(argv[i], "--version")) {
            printf("ternd %s\n", TERN_VERSION);
            return OK;
        }
        while (k < sizeof known / sizeof *known && strcmp(argv[i], known[k].name)) {
            k++;
        }
        if (k == sizeof known / sizeof *known || i + 1 == argc) {
            fprintf(stderr, "ternd: %s '%s'; see ternd --help\n",
                    k < sizeof known / sizeof *known ? "a value is missing behind" : "unknown argument", argv[i]);
            return USAGE;
        }
        *known[k].value = argv[++i];
    }
    return run(&o);
}
