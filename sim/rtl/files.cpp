// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <pthread.h>
#include <stdio_ext.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace {

struct open_file {
    FILE *file;
    open_file *next;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // guards the list; held during a fork
open_file *files;
unsigned process;  // number of forks between the first process and this one
thread_local int error;

void before_fork()
{
    pthread_mutex_lock(&lock);
}

void in_parent()
{
    pthread_mutex_unlock(&lock);
}

void in_child()
{
    for (open_file *f = files; f; f = f->next) {
        __fpurge(f->file);
    }
    process++;
    pthread_mutex_unlock(&lock);
}

/** Adds a file to the list and returns it. Null, with errno, if `file` is null or memory is lacking; the file is then
 *  closed. */
FILE *opened(FILE *file);

}  // namespace

extern "C" {
FILE *__real_fopen(const char *path, const char *mode);
FILE *__real_tmpfile(void);
int __real_fclose(FILE *file);

FILE *__wrap_fopen(const char *path, const char *mode)
{
    return opened(__real_fopen(path, mode));
}

FILE *__wrap_tmpfile(void)
{
    return opened(__real_tmpfile());
}

int __wrap_fclose(FILE *file)
{
    pthread_mutex_lock(&lock);
    open_file **f = &files;
    while (*f && (*f)->file != file) {
        f = &(*f)->next;
    }
    if (open_file *gone = *f) {
        *f = gone->next;
        std::free(gone);
    }
    pthread_mutex_unlock(&lock);
    const bool failed = std::ferror(file) != 0;
    errno = 0;
    const int r = __real_fclose(file);
    if ((r || failed) && !error) {
        error = errno ? errno : EIO;
    }
    return r;
}
}

namespace {

FILE *opened(FILE *file)
{
    if (!file) {
        return nullptr;
    }
    auto *f = static_cast<open_file *>(std::malloc(sizeof(open_file)));
    if (!f) {
        __real_fclose(file);
        errno = ENOMEM;
        return nullptr;
    }
    pthread_mutex_lock(&lock);
    *f = {file, files};
    files = f;
    pthread_mutex_unlock(&lock);
    return file;
}

}  // namespace

int tern_files_watch()
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static int registered;
    pthread_once(&once, [] { registered = pthread_atfork(before_fork, in_parent, in_child); });
    return registered;
}

unsigned tern_files_process()
{
    return process;
}

int tern_files_error()
{
    const int e = error;
    error = 0;
    return e;
}
