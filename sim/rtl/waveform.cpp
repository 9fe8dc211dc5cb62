// SPDX-License-Identifier: Apache-2.0
#include "waveform.h"

#include <cerrno>
#include <filesystem>

#include "Vtern_top.h"
#include "files.h"
#include "verilated_fst_c.h"

waveform::waveform() : process(tern_files_process())
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&lock, &attr);
    pthread_mutexattr_destroy(&attr);
}

int waveform::begin(Vtern_top &top, const char *path, std::unique_ptr<waveform> *out)
{
    if (int r = tern_files_watch()) {
        return r;
    }
    // The writer uses the name again when the waveform ends: the process may be in another folder by then.
    std::error_code error;
    const std::string whole = std::filesystem::absolute(path, error);
    if (error) {
        return error.value();
    }
    std::unique_ptr<waveform> w(new waveform);
    w->file = std::make_unique<VerilatedFstC>();
    top.trace(w->file.get(), 99);
    errno = 0;
    w->file->open(whole.c_str());
    if (!w->file->isOpen()) {
        return errno ? errno : EIO;
    }
    *out = std::move(w);
    return 0;
}

waveform::~waveform()
{
    if (end() == EDEADLK || inherited()) {
        (void)file.release();  // the destructor would write to the file
    } else {
        pthread_mutex_destroy(&lock);
    }
}

bool waveform::inherited() const
{
    return process != tern_files_process();
}

void waveform::dump()
{
    if (inherited()) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (file) {
        file->dump(ticks++);
    }
    pthread_mutex_unlock(&lock);
}

int waveform::end()
{
    if (inherited()) {
        return 0;
    }
    int r = pthread_mutex_lock(&lock);
    if (r) {
        return r;
    }
    if (file) {
        tern_files_error();
        file.reset();
        r = tern_files_error();
    }
    pthread_mutex_unlock(&lock);
    return r;
}

bool waveform::ended()
{
    pthread_mutex_lock(&lock);
    const bool over = !file;
    pthread_mutex_unlock(&lock);
    return over;
}
