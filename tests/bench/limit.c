/* SPDX-License-Identifier: Apache-2.0 */
/** Limits of benches (limit.h). */
#include "limit.h"

#include <math.h>

struct bench_limit bench_limit(const struct bench_work *work, unsigned lanes)
{
    struct bench_limit l = {.port = work->bytes / PORT_BYTES, .fma = work->fma / lanes,
                            .issue = work->instructions / lanes, .cycles = 0, .by = ""};
    const struct {
        double cycles;
        const char *by;
    } all[] = {{l.port, "port"}, {l.fma, "fma"}, {l.issue, "issue"}};
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].cycles > l.cycles) {
            l.cycles = all[i].cycles;
            l.by = all[i].by;
        }
    }
    return l;
}

double geometric_mean(const double *values, unsigned n)
{
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += log(values[i]);
    }
    return n ? exp(sum / n) : 0;
}
