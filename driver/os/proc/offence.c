/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Offenders. A program that is restarted after each reset and hangs again makes all others wait for the timeout each
 * time. Therefore a process that was guilty of TERN_OFFENCES resets within TERN_OFFENCE_NS is refused until the first
 * of them is TERN_OFFENCE_NS ago. Name, partition and owner identify the process. The time is host time, because device
 * time stands still while no engine works.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/wait.h"
#include "os/proc/proc.h"

/** Removes offences that are older than TERN_OFFENCE_NS. */
static void age(struct tern_offender *o, uint64_t now)
{
    uint32_t old = 0;
    while (old < o->n && now - o->at[old] >= TERN_OFFENCE_NS) {
        old++;
    }
    o->n -= old;
    memmove(&o->at[0], &o->at[old], o->n * sizeof o->at[0]);
}

/** The entry of the process's name, partition and owner; NULL: it has no recent offence. */
static struct tern_offender *look_up(struct tern_tdr *t, const struct tern_process *proc, uint64_t now)
{
    for (uint32_t i = 0; i < TERN_OFFENDERS; i++) {
        struct tern_offender *o = &t->offender[i];
        age(o, now);
        if (o->n && o->owner == proc->owner && !strcmp(o->name, proc->name) &&
            !strcmp(o->partition, proc->partition->name)) {
            return o;
        }
    }
    return NULL;
}

/** An entry for a new offender. The entry with the fewest offences is replaced; among equals the one whose last
 *  offence is oldest. */
static struct tern_offender *add(struct tern_tdr *t, const struct tern_process *proc)
{
    struct tern_offender *spare = &t->offender[0];
    for (uint32_t i = 1; i < TERN_OFFENDERS; i++) {
        struct tern_offender *o = &t->offender[i];
        if (o->n < spare->n || (o->n && o->n == spare->n && o->at[o->n - 1] < spare->at[spare->n - 1])) {
            spare = o;
        }
    }
    spare->n = 0;
    spare->owner = proc->owner;
    snprintf(spare->name, sizeof spare->name, "%s", proc->name);
    memcpy(spare->partition, proc->partition->name, sizeof spare->partition);
    return spare;
}

int tern_offence_admit(struct tern_device *dev, const struct tern_process *proc)
{
    tern_assert_held(&dev->lock);
    const uint64_t now = tern_clock_ns(), within = TERN_OFFENCE_NS;
    const struct tern_offender *o = look_up(&dev->tdr, proc, now);
    if (!o || o->n < TERN_OFFENCES) {
        return 0;
    }
    return tern_error(-EACCES, "process '%.40s' is refused for another %" PRIu64 " s: its work has made an engine be "
                      "reset %u times within %" PRIu64 " s", proc->name,
                      (within - (now - o->at[0])) / 1000000000u + 1, o->n, within / 1000000000u);
}

void tern_offence_note(struct tern_process *proc)
{
    tern_assert_held(&proc->dev->lock);
    const uint64_t now = tern_clock_ns();
    struct tern_tdr *t = &proc->dev->tdr;
    struct tern_offender *known = look_up(t, proc, now), *o = known ? known : add(t, proc);
    if (o->n == TERN_OFFENCES) {
        memmove(&o->at[0], &o->at[1], --o->n * sizeof o->at[0]);
    }
    o->at[o->n++] = now;
}
