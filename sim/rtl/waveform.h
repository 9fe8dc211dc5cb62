// SPDX-License-Identifier: Apache-2.0
// The waveform of a device: every signal, in the FST format.
//
// One thread at a time dumps. Any thread may end the waveform; the end of the process does so while the device still
// runs. The child of a fork writes nothing to the file (files.h).
#pragma once
#include <pthread.h>

#include <cstdint>
#include <memory>

class Vtern_top;
class VerilatedFstC;

class waveform {
public:
    /** Begins a waveform. Returns 0, or an errno. */
    static int begin(Vtern_top &top, const char *path, std::unique_ptr<waveform> *out);
    /** Ends the waveform. */
    ~waveform();
    /** Writes the present values of the signals, one unit of time after the last ones. */
    void dump();
    /**
     * Completes the file; nothing more is written. Returns 0, also if the waveform has ended before. EDEADLK: this
     * thread is within dump, as the handler of a signal. Another errno: the file is not whole.
     */
    int end();
    bool ended();

private:
    waveform();
    bool inherited() const;
    pthread_mutex_t lock;                 // guards file and ticks
    std::unique_ptr<VerilatedFstC> file;  // null: the waveform has ended
    uint64_t ticks = 0;                   // units of time written; two a cycle
    unsigned process;                     // number of the process that began the waveform (files.h)
};
