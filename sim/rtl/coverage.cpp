// SPDX-License-Identifier: Apache-2.0
// See coverage.h.
#include "coverage.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "Vtern_top___024root.h"
#include "Vtern_top__Syms.h"
#include "verilated_cov.h"

namespace {

std::mutex lock;
std::set<Vtern_top *> alive;    // the existing devices; guarded by lock
std::vector<uint64_t> gone;     // counts of destroyed devices; guarded by lock

/** The counters of a device. Only the generated code knows their number. */
std::span<std::atomic<uint32_t>> counters(Vtern_top &top)
{
    return top.rootp->vlSymsp->__Vcoverage;
}

void add(std::vector<uint64_t> &sum, Vtern_top &top)
{
    const auto count = counters(top);
    sum.resize(count.size());
    std::transform(count.begin(), count.end(), sum.begin(), sum.begin(), [](uint32_t a, uint64_t b) { return a + b; });
}

}  // namespace

coverage_counters::coverage_counters(Vtern_top &top) : top_(top)
{
    std::lock_guard hold(lock);
    alive.insert(&top);
}

coverage_counters::~coverage_counters()
{
    std::lock_guard hold(lock);
    alive.erase(&top_);
    add(gone, top_);
}

int coverage_counters::write(const char *path)
{
    // Verilator's writer reports no error if it cannot open the file
    FILE *f = std::fopen(path, "w");
    if (!f) {
        return -errno;
    }
    std::fclose(f);
    std::lock_guard hold(lock);
    std::vector<uint64_t> sum = gone;
    for (Vtern_top *t : alive) {
        add(sum, *t);
    }
    const auto count = counters(top_);
    const std::vector<uint32_t> own(count.begin(), count.end());
    std::transform(sum.begin(), sum.end(), count.begin(),
                   [](uint64_t v) {
                       return static_cast<uint32_t>(std::min<uint64_t>(v, std::numeric_limits<uint32_t>::max())); });
    top_.contextp()->coveragep()->write(path);
    std::copy(own.begin(), own.end(), count.begin());
    return 0;
}
