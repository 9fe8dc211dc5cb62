/* SPDX-License-Identifier: Apache-2.0 */
/** Explanations of a kernel's fault (explain.h). */
#include "runtime/core/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tern/tern_spec.h>

#include "runtime/core/image.h"

#define NEAR 0x400000u /* bytes beyond which a buffer is not taken for the one that was meant */
#define EXECUTE 2u /* value of tern_fault.access */
#define NULL_BYTES 0x10000u /* addresses below are never mapped: a null pointer plus an index */

/** Appends to the text, which is cut to its size. */
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

/** The memory object that begins at the address, or the SVM allocation that contains it. */
static cl_mem mem_at(const struct rt_scene *s, uint32_t address)
{
    for (unsigned i = 0; i < s->n_mems; i++) {
        cl_mem m = s->mems[i];
        const uint32_t begin = rt_mem_address(m);
        if (begin == address || (m->svm && address > begin && address - begin < m->size)) {
            return m;
        }
    }
    return NULL;
}

/** Bytes between the buffer and an address outside of it. */
static uint32_t distance(uint32_t begin, size_t size, uint32_t address)
{
    const uint64_t end = begin + (uint64_t)size;
    return address < begin ? begin - address : address >= end ? (uint32_t)(address - end) : 0;
}

/** True: the argument is a pointer to global or constant memory. */
static bool is_global(const struct tc_arg *a)
{
    return a->kind == TC_POINTER && a->space != TC_LOCAL;
}

/** True: the argument block has the address of a memory object, with which the descriptor of an image begins. */
static bool has_memory(const struct tc_arg *a)
{
    return is_global(a) || a->kind == TC_IMAGE;
}

/** Writes the kind and the size of a memory object. */
static void say_memory(cl_mem m, char text[RT_FAULT_MORE])
{
    if (m->image == NULL) {
        say(text, "%s of %zu bytes", m->svm ? "shared virtual memory" : "a buffer", m->size);
        return;
    }
    const size_t *size = m->image->size;
    say(text, "an image of %zu", size[0]);
    for (int i = 1; i < 3 && (size[i] > 1 || size[2] > 1); i++) {
        say(text, " x %zu", size[i]);
    }
    say(text, " pixels in %zu bytes", m->size);
}

static const char *name_of(const struct tc_arg *a)
{
    return a->name != NULL ? a->name : "?";
}

/** Names the arguments that are null pointers, after a null pointer was used. The hardware does not tell which of
 *  them was used. */
static void say_null(const struct rt_scene *s, char text[RT_FAULT_MORE])
{
    unsigned n = 0;
    unsigned said = 0;
    for (uint32_t i = 0; i < s->kernel->n_args; i++) {
        n += is_global(&s->kernel->args[i]) && pointer_of(s, &s->kernel->args[i]) == 0;
    }
    if (n == 0) {
        say(text, " None of the arguments is a null pointer: the kernel made or read it.");
        return;
    }
    say(text, " Of the arguments, ");
    for (uint32_t i = 0; i < s->kernel->n_args; i++) {
        const struct tc_arg *a = &s->kernel->args[i];
        if (is_global(a) && pointer_of(s, a) == 0) {
            say(text, "%s'%s'", said == 0 ? "" : said + 1 == n ? " and " : ", ", name_of(a));
            said++;
        }
    }
    say(text, n == 1 ? " is a null pointer." : " are null pointers.");
}

/** Names the argument from which the address was most likely computed, or the null pointers if the address is below
 *  NULL_BYTES. */
static void say_argument(const struct rt_scene *s, uint32_t address, char text[RT_FAULT_MORE])
{
    const struct tc_arg *best = NULL;
    cl_mem meant = NULL;
    uint32_t least = NEAR;
    for (uint32_t i = 0; i < s->kernel->n_args; i++) {
        const struct tc_arg *a = &s->kernel->args[i];
        const uint32_t pointer = has_memory(a) ? pointer_of(s, a) : 0;
        const cl_mem mem = pointer != 0 ? mem_at(s, pointer) : NULL;
        if (mem != NULL && distance(rt_mem_address(mem), mem->size, address) < least) {
            least = distance(rt_mem_address(mem), mem->size, address);
            best = a;
            meant = mem;
        }
    }
    if (address < NULL_BYTES && address <= least) {
        say_null(s, text);
    } else if (best != NULL) {
        const bool below = address < rt_mem_address(meant);
        say(text, " That is %u bytes %s argument '%s', ", least, below ? "below" : "beyond the end of", name_of(best));
        say_memory(meant, text);
        say(text, ".");
    }
}

static void say_advice(const struct rt_scene *s, const struct tern_fault *f, char text[RT_FAULT_MORE])
{
    const struct tc_image *image = &s->program->image;
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
        say(text, " Data must lie at a multiple of its size; vloadn and vstoren take vectors at a multiple of "
            "the element's.");
        break;
    case TERN_FAULT_STACK_OVERFLOW:
        say(text, " The kernel needs %u bytes; an index into a private array, or a pointer into one, is out of range.",
            s->kernel->stack);
        break;
    case TERN_FAULT_LOCAL_OVERRUN:
        say(text, " An index into local memory, or a pointer into it, is out of range; is a local argument "
            "large enough?");
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
    const bool lines = tc_locate(&scene->program->image, fault->pc, place, sizeof place) != 0;
    say(text, "%s%s.", *place != '\0' ? ", " : "", place);
    say_advice(scene, fault, text);
    if (!lines && *place != '\0') {
        say(text, " Build the program with -g to get the line.");
    }
}
