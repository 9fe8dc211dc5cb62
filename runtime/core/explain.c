/* SPDX-License-Identifier: Apache-2.0 */
/** The runtime's part of the sentence about a kernel's fault (explain.h). */
#include "runtime/core/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tern/tern_spec.h>

#define NEAR 0x400000u /* bytes: farther off, a buffer is no explanation */
#define EXECUTE 2u /* tern_fault.access */
#define NULL_BYTES 0x10000u /* nothing is ever mapped below: a null pointer and an index */

/** Adds to the text; what does not fit is cut off. */
__attribute__((format(printf, 2, 3))) static void say(char text[RT_FAULT_MORE], const char *format, ...)
{
    const size_t at = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + at, RT_FAULT_MORE - at, format, list);
    va_end(list);
}

static uint32_t pointer_of(const struct rt_scene *s, const struct tc_arg *arg)
{
    uint32_t address;
    memcpy(&address, s->args + arg->offset, sizeof address);
    return address;
}

static cl_mem mem_at(const struct rt_scene *s, uint32_t address)
{
    for (unsigned i = 0; i < s->n_mems; i++) {
        if (rt_mem_address(s->mems[i]) == address) {
            return s->mems[i];
        }
    }
    return NULL;
}

/** Bytes from the buffer to the address outside of it. */
static uint32_t distance(uint32_t begin, size_t size, uint32_t address)
{
    const uint64_t end = begin + (uint64_t)size;
    return address < begin ? begin - address : address >= end ? (uint32_t)(address - end) : 0;
}

/** The argument that the address was most likely computed from. */
static void say_argument(const struct rt_scene *s, uint32_t address, char text[RT_FAULT_MORE])
{
    const struct tc_arg *best = NULL;
    size_t best_size = 0;
    uint32_t least = NEAR;
    for (uint32_t i = 0; i < s->kernel->n_args; i++) {
        const struct tc_arg *a = &s->kernel->args[i];
        if (!a->is_pointer || a->space == TC_LOCAL) {
            continue;
        }
        const uint32_t pointer = pointer_of(s, a);
        const cl_mem mem = pointer != 0 ? mem_at(s, pointer) : NULL;
        const size_t size = mem != NULL ? mem->size : 0;
        const bool possible = mem != NULL || (pointer == 0 && address < NULL_BYTES);
        if (possible && distance(pointer, size, address) < least) {
            least = distance(pointer, size, address);
            best = a;
            best_size = size;
        }
    }
    if (best != NULL && pointer_of(s, best) == 0) {
        say(text, " Argument '%s' is a null pointer.", best->name != NULL ? best->name : "?");
    } else if (best != NULL) {
        const bool below = address < pointer_of(s, best);
        say(text, " That is %u bytes %s argument '%s', a buffer of %zu bytes.", least, below ? "below" : "beyond the end of",
            best->name != NULL ? best->name : "?", best_size);
    }
}

static void say_advice(const struct rt_scene *s, const struct tern_fault *f, char text[RT_FAULT_MORE])
{
    const struct tc_image *image = &s->image->image;
    const bool in_image = f->address >= image->base && f->address - image->base < image->size;
    switch (f->code) {
    case TERN_FAULT_PAGE:
    case TERN_FAULT_PROTECTION:
        if (f->access == EXECUTE) {
            say(text, " The kernel has left its code.");
        } else if (f->address < TERN_WIN_LOCAL_BASE && TERN_WIN_LOCAL_BASE - f->address <= NULL_BYTES) {
            say(text, " An index into local memory is out of range.");
        } else if (in_image) {
            const bool code = f->address - image->base < image->code_size;
            say(text, code ? " That is the program's code." : " That is a __constant variable of the program.");
        } else {
            say_argument(s, f->address, text);
        }
        break;
    case TERN_FAULT_MISALIGNED:
        say(text, " Data must lie at a multiple of its size; vloadn and vstoren take vectors at a multiple of the element's.");
        break;
    case TERN_FAULT_STACK_OVERFLOW:
        say(text, " The kernel needs %u bytes; an index into a private array, or a pointer into one, is out of range.", s->kernel->stack);
        break;
    case TERN_FAULT_LOCAL_OVERRUN:
        say(text, " An index into local memory, or a pointer into it, is out of range; is a local argument large enough?");
        break;
    case TERN_FAULT_BARRIER_DIVERGENCE:
        say(text, " Every work-item of a work-group must reach the same barrier, and none may return before.");
        break;
    default:
        break;
    }
}

void rt_explain_kernel(const struct rt_scene *scene, const struct tern_fault *fault, char text[RT_FAULT_MORE])
{
    char place[RT_FAULT_MORE / 2] = "";
    text[0] = '\0';
    if (!fault->has_item) {
        return;
    }
    const bool lines = tc_locate(&scene->image->image, fault->pc, place, sizeof place) != 0;
    say(text, "%s%s.", *place != '\0' ? ", " : "", place);
    say_advice(scene, fault, text);
    if (!lines && *place != '\0') {
        say(text, " Build the program with -g to be told the line.");
    }
}
