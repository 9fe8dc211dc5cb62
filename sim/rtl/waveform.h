// SPDX-License-Identifier: Apache-2.0
// The waveform of a device: every signal, in the FST format.
//
// One thread at a time dumps; any thread may end the waveform, as the end of the process does while the device still
// runs. In the child of a fork nothing of it is written (files.h).
#pragma once
#include <pthread.h>

#include <cstdint>
#include <memory>

class Vtern_top;
class VerilatedFstC;

class waveform {
public:
    /** Of everything from now on: 0, or an errno. */
    static int begin(Vtern_top &top, const char *path, std::unique_ptr<waveform> *out);
    /** Ends it. */
    ~waveform();
    /** The signals as they are, one unit of time after the last. */
    void dump();
    /**
     * Completes the file; nothing more is written. 0, also if it has ended before. EDEADLK: this thread is within dump,
     * as the handler of a signal. Another errno: the file is not whole.
     */
    int end();
    bool ended();

private:
    waveform();
    bool inherited() const;
    pthread_mutex_t lock;                 // guards file and ticks
    std::unique_ptr<VerilatedFstC> file;  // none: the waveform has ended
    uint64_t ticks = 0;                   // two a cycle
    unsigned process;                     // that which began it (files.h)
};
