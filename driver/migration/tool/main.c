/* SPDX-License-Identifier: Apache-2.0 */
/** tern-migrate: runs the command that the arguments name. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "migration/tool/tool.h"

static const char text[] =
    "usage: tern migrate --from SOCKET --to SOCKET [--partition NAME] [--downtime MS] [--rounds N] [--policy P]\n"
    "                    [--compress C] [--links N] [--report FILE.html] [--json]\n"
    "       tern migrate --from SOCKET --to tls://HOST:PORT --cert FILE --key FILE --ca FILE [--name NAME] ...\n"
    "       tern migrate --from SOCKET --to exec:COMMAND|fd:NUMBER [--foreground] ...\n"
    "       tern migrate serve --to SOCKET [--user NAME] [--listen HOST:PORT --cert FILE --key FILE --ca FILE\n"
    "                    [--name NAME]]\n"
    "       tern migrate inspect [--json] FILE\n"
    "       tern migrate relay --listen|--connect HOST:PORT --cert FILE --key FILE --ca FILE [--name NAME]\n\n"
    "moves the programs of a partition from one ternd to another of this machine, while they run; or to that of\n"
    "another machine, where tern migrate serve runs: over TLS, standard input and output of a command (ssh), or\n"
    "a socket that is open already.\n"
    "Then a process stays on both as long as the programs run, and carries what they say to their ternd.\n"
    "  --partition NAME  which, on both; by default 'default'\n"
    "  --downtime MS     what the last memory may take while they stand still: 300\n"
    "  --rounds N        after so many rounds it does not converge: 30\n"
    "  --policy P        what is done then: give-up (the default), force, throttle\n"
    "  --compress C      none; zstd (the default) or its level, 1 to 19: 1\n"
    "  --links N         memory goes over so many pairs of sockets, 1 to 16: 1\n"
    "  --report FILE     write a page of HTML: how it converged, bytes of each round, the timeline\n"
    "  --json            one JSON object at the end instead of lines\n"
    "  --foreground      to another machine: do not return before the programs have ended\n"
    "  --cert, --key, --ca, --name   as of relay\n\n"
    "serve takes programs from other machines: on standard input and output, or from each connection to --listen.\n"
    "  --to SOCKET       where the ternd listens that gets them\n"
    "  --user NAME       whose they are there, for limits; by default whoever runs this\n\n"
    "inspect shows a migration stream: its header, records with their fields, what is damaged, and totals.\n"
    "FILE: a file with a stream; -: standard input.\n"
    "  --json      one JSON object\n\n"
    "relay connects standard input and output to one TLS connection, on which both sides show certificates.\n"
    "  --listen    wait for a connection at this address; port 0: any, which is printed\n"
    "  --connect   make one\n"
    "  --cert      this side's certificate, and those up to the authority\n"
    "  --key       its key\n"
    "  --ca        the authorities of the other side\n"
    "  --name      what the other side's certificate must name; by default the host that is connected to\n\n"
    "Exit status: 0 done, 1 a stream is damaged or cut off, or a connection failed, 2 wrong usage,\n"
    "3 the programs have moved, but the report or standard output could not be written.\n";

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        fputs(text, stderr);
        return USAGE;
    }
    for (int i = 1; i < argc && i < 3; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(text, stdout);
            return DONE;
        }
    }
    if (strncmp(argv[1], "--", 2) == 0) {
        return migrate_command(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "inspect") == 0) {
        return inspect_command(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "serve") == 0) {
        return serve_command(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "relay") == 0) {
        return relay_command(argc - 1, argv + 1);
    }
    return usage_error("unknown command '%s'", argv[1]);
}

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of file sizes is an error like any other */
    const int status = dispatch(argc, argv);
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "tern migrate: cannot write to standard output: %s\n", strerror(errno));
        return status == DONE ? FAILED : status;
    }
    return status;
}
