/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A case that differs is run again with both devices observed, to find the first instruction that differs. Another run
 * writes a waveform of the time around that instruction, since a waveform of the whole run would be large and slow.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "explain.h"

#define BEFORE 200u    /* cycles of waveform before the difference */
#define AFTER 100u
#define UNKNOWN 6000u  /* the last cycles, if the time is not known */
#define AROUND 4u      /* instructions before and after */

/** Runs both devices on the scene, observed if they support it. */
static int run_both(const struct scene *s, const struct pair *p, struct side *model, struct side *rtl,
                    struct history *h, struct study *out)
{
    struct side *side[2] = {model, rtl};
    int r = 0;
    out->observed = true;
    for (int i = 0; i < 2 && !r; i++) {
        const struct watch watch = {.observer = history_add, .user = &h[i]};
        uint32_t mutant = i ? p->mutant : 0;
        r = scene_run(s, side[i]->backend, mutant, &watch, &side[i]->sim, &side[i]->end);
        if (r == -ENOTSUP) {
            snprintf(out->note, sizeof out->note, "%s does not tell its instructions", side[i]->backend->name);
            out->observed = false;
            r = scene_run(s, side[i]->backend, mutant, NULL, &side[i]->sim, &side[i]->end);
        }
    }
    return r;
}

static void code_around(const struct scene *s, uint32_t pc, struct study *out)
{
    uint64_t end = s->code_va + s->code_bytes;
    if (pc < s->code_va || pc % 4 || (uint64_t)pc + 4 > end) {
        return;
    }
    uint32_t before = (pc - s->code_va) / 4;
    before = before < AROUND ? before : AROUND;
    out->code_first = pc - 4 * before;
    for (uint32_t va = out->code_first; va + 4 <= end && va <= pc + 4 * AROUND; va += 4) {
        memcpy(&out->code[out->code_count++], s->memory + s->code + (va - s->code_va), 4);
    }
}

/** Sets the time of the waveform: around the instruction, else the indication that differs, else the last part of the
 * run. */
static void window(struct study *out, const struct side *rtl)
{
    uint64_t end = rtl->end.cycles + 1000, at = out->parting.kind ? out->parting.time[1] : out->difference.time;
    out->waves_from = at ? at - (at < BEFORE ? at : BEFORE) : end - (end < UNKNOWN ? end : UNKNOWN);
    out->waves_to = at ? at + AFTER : end;
}

static int draw_waves(const struct scene *s, const struct pair *p, const char *path, struct study *out)
{
    const struct watch watch = {.waves = path, .waves_from = out->waves_from, .waves_to = out->waves_to};
    struct side rtl = {.backend = &p->rtl};
    int r = scene_run(s, &p->rtl, p->mutant, &watch, &rtl.sim, &rtl.end);
    side_free(&rtl);
    if (r == 0) {
        snprintf(out->waves, sizeof out->waves, "%s", path);
    } else {
        snprintf(out->note, sizeof out->note, "no waveform: %s", r == -ENOTSUP ? "this device has none" : strerror(-r));
    }
    return r == -ENOMEM ? r : 0;
}

int explain(const struct pair *p, const char *path, struct study *out)
{
    struct side model = {.backend = &p->model}, rtl = {.backend = &p->rtl};
    struct history history[2] = {0};
    struct scene s;
    int r = case_build(&out->c, &p->geometry, &s);
    if (r) {
        return r;
    }
    r = run_both(&s, p, &model, &rtl, history, out);
    if (r == 0) {
        r = compare(&s, &model, &rtl, true, &out->difference);
    }
    if (r == 0 && out->observed) {
        r = history_compare(&s, &history[0], &model.end, &history[1], &rtl.end, p->geometry.lanes, &out->parting);
    }
    if (r == 0 && out->parting.kind) {
        code_around(&s, out->parting.pc[out->parting.kind == PART_EXTRA], out);
    }
    window(out, &rtl);
    for (int i = 0; i < 2; i++) {
        if (history[i].lost) {
            snprintf(out->note, sizeof out->note, "out of memory: not all instructions were compared");
        }
        history_free(&history[i]);
    }
    side_free(&model);
    side_free(&rtl);
    if (r == 0) {
        r = draw_waves(&s, p, path, out);
    }
    scene_free(&s);
    return r;
}
