/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs linked RV32 programs as work-items by the driver's public API, for tests/isa/run.
 *
 *     loader BACKEND CONFIG        describes the device, then reads requests from standard input, one per line:
 *     ELF ITEMS ENTRY DUMP         ENTRY: hexadecimal, 0 for the ELF's own; DUMP: file for the signature, - for none
 *
 * The answer to a request is one line of JSON. Each program is a process of its own. Segments become allocations at
 * their addresses with their rights, and ITEMS work-items run as one group. A work-item ends by storing {code, begin,
 * end} at args + 16 * its id (env/tern_env.h). [begin, end) is the signature, dumped with a word per line. `written`
 * says whether a writable segment has changed. One device serves all requests, so damage by a fault appears in the
 * next.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tern/tern.h"
#include "tern/tern_spec.h"
#include "tests/lib/submit.h"

enum { SEGMENTS = 8, STACK_LOG2 = 10, RESULT_BYTES = 16, MOST_BYTES = 64 << 20 /* largest file, and segment */ };

struct segment {
    uint32_t base, size; /* bytes; base is a multiple of the page */
    uint8_t *loaded;     /* first contents, owned */
    struct tern_allocation *alloc;
    bool writable;
};

struct program {
    struct tern_process *proc;
    struct tern_context *ctx;
    struct tern_allocation *stack, *results;
    struct segment seg[SEGMENTS];
    unsigned segments;
    uint32_t entry;
};

static struct tern_device *dev;
static struct tern_device_info info;

/** Prints text as a JSON string. */
static void print_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        putchar((unsigned char)*text < ' ' || *text == '"' || *text == '\\' ? '\'' : *text);
    }
    putchar('"');
}

/** Reads a whole file of *size bytes, which the caller frees. NULL, with errno: it failed. */
static uint8_t *read_file(const char *path, size_t *size)
{
    uint8_t *data = NULL;
    FILE *f = fopen(path, "rb");
    if (!f) {
        return NULL;
    }
    long end = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (end > 0 && end <= MOST_BYTES && fseek(f, 0, SEEK_SET) == 0) {
        data = malloc((size_t)end);
        if (data && fread(data, 1, (size_t)end, f) != (size_t)end) {
            free(data);
            data = NULL;
        }
        *size = (size_t)end;
    }
    fclose(f);
    return data;
}

static int load_segment(struct program *p, const uint8_t *file, size_t size, const Elf32_Phdr *h)
{
    if (p->segments == SEGMENTS || h->p_memsz > MOST_BYTES || h->p_filesz > h->p_memsz || h->p_offset > size ||
        h->p_filesz > size - h->p_offset) {
        return -ENOEXEC;
    }
    struct segment *s = &p->seg[p->segments];
    const uint32_t lead = h->p_vaddr & 4095u;
    const uint32_t flags = (h->p_flags & PF_R ? TERN_MEM_READ : 0) | (h->p_flags & PF_W ? TERN_MEM_WRITE : 0) |
                           (h->p_flags & PF_X ? TERN_MEM_EXEC : 0);
    s->base = h->p_vaddr - lead;
    s->size = (lead + h->p_memsz + 4095u) & ~4095u;
    s->writable = h->p_flags & PF_W;
    s->loaded = calloc(1, s->size);
    if (!s->loaded) {
        return -ENOMEM;
    }
    p->segments++;
    memcpy(s->loaded + lead, file + h->p_offset, h->p_filesz);
    int r = tern_allocation_create(p->proc, s->size, flags, s->base, &s->alloc);
    return r ? r : tern_allocation_write(s->alloc, 0, s->loaded, s->size);
}

static int load(struct program *p, const char *path)
{
    size_t size = 0;
    uint8_t *file = read_file(path, &size);
    if (!file) {
        return -ENOENT;
    }
    int r = -ENOEXEC;
    Elf32_Ehdr e;
    if (size < sizeof e) {
        goto out;
    }
    memcpy(&e, file, sizeof e);
    if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS32 || e.e_machine != EM_RISCV ||
        e.e_phentsize != sizeof(Elf32_Phdr) || e.e_phoff > size ||
        e.e_phnum > (size - e.e_phoff) / sizeof(Elf32_Phdr)) {
        goto out;
    }
    p->entry = e.e_entry;
    r = 0;
    for (unsigned i = 0; i < e.e_phnum && r == 0; i++) {
        Elf32_Phdr h;
        memcpy(&h, file + e.e_phoff + i * sizeof h, sizeof h);
        if (h.p_type == PT_LOAD && h.p_memsz != 0) {
            r = load_segment(p, file, size, &h);
        }
    }
out:
    free(file);
    return r;
}

static void unload(struct program *p)
{
    if (p->ctx) {
        tern_context_destroy(p->ctx);
    }
    for (unsigned i = 0; i < p->segments; i++) {
        if (p->seg[i].alloc) {
            tern_allocation_destroy(p->seg[i].alloc);
        }
        free(p->seg[i].loaded);
    }
    if (p->stack) {
        tern_allocation_destroy(p->stack);
    }
    if (p->results) {
        tern_allocation_destroy(p->results);
    }
    if (p->proc) {
        tern_process_destroy(p->proc);
    }
}

/** Runs the work-items. 0: they ended; -EIO: one faulted; other: they could not be run. */
static int dispatch(struct program *p, uint32_t items, const char *label)
{
    const uint32_t warps = (items + info.lanes - 1) / info.lanes;
    const struct tern_pkt_dispatch d = {
        .entry = p->entry, .args = tern_allocation_address(p->results), .work_dim = 1, .group_warps = warps,
        .group_slots = 1, .stack_log2 = STACK_LOG2, .stack = tern_allocation_address(p->stack), .local_bytes = 1024,
        .global_x = items, .global_y = 1, .global_z = 1, .local_x = items, .local_y = 1, .local_z = 1,
        .groups_x = 1, .groups_y = 1, .groups_z = 1, .edge_x = items, .edge_y = 1, .edge_z = 1};
    uint32_t words[TERN_PKT_DISPATCH_LINES * TERN_PKT_LINE_BYTES / 4] = {0};
    uint64_t fence;
    int r = tern_pkt_dispatch_pack(&d, words);
    if (r == 0) {
        r = submit_packets(p->ctx, words, sizeof words, label, &fence);
    }
    return r ? r : tern_wait(p->ctx, fence, -1);
}

static int start(struct program *p, const char *path, uint32_t items)
{
    const struct tern_context_desc desc = {.size = sizeof desc, .name = "isa", .engine = -1};
    int r = tern_process_create(dev, path, &p->proc);
    if (r == 0) {
        r = load(p, path);
    }
    if (r == 0) {
        r = tern_allocation_create(p->proc, (uint64_t)info.warps * info.lanes << STACK_LOG2, TERN_MEM_WRITE, 0,
                                   &p->stack);
    }
    if (r == 0) {
        r = tern_allocation_create(p->proc, (uint64_t)items * RESULT_BYTES, TERN_MEM_WRITE, 0, &p->results);
    }
    return r ? r : tern_context_create(p->proc, &desc, &p->ctx);
}

static int dump(struct program *p, uint32_t begin, uint32_t end, const char *path)
{
    for (unsigned i = 0; i < p->segments; i++) {
        struct segment *s = &p->seg[i];
        if (begin < s->base || end > s->base + s->size || end <= begin || (begin | end) & 3u) {
            continue;
        }
        int r = -ENOMEM;
        uint32_t *words = malloc(end - begin);
        FILE *f = words ? fopen(path, "w") : NULL;
        if (f) {
            r = tern_allocation_read(s->alloc, begin - s->base, words, end - begin);
            for (uint32_t w = 0; r == 0 && w < (end - begin) / 4; w++) {
                fprintf(f, "%08" PRIx32 "\n", words[w]);
            }
            r = fclose(f) == 0 ? r : -errno;
        }
        free(words);
        return r;
    }
    return -ERANGE; /* the signature is in no segment of the program */
}

static int written(struct program *p, bool *out)
{
    *out = false;
    for (unsigned i = 0; i < p->segments; i++) {
        const struct segment *s = &p->seg[i];
        uint8_t *now = s->writable ? malloc(s->size) : NULL;
        if (now) {
            int r = tern_allocation_read(s->alloc, 0, now, s->size);
            *out |= r == 0 && memcmp(now, s->loaded, s->size) != 0;
            free(now);
            if (r) {
                return r;
            }
        } else if (s->writable) {
            return -ENOMEM;
        }
    }
    return 0;
}

/** Prints the answer for a program that has ended. */
static int report(struct program *p, uint32_t items, const char *path)
{
    uint32_t *results = malloc((size_t)items * RESULT_BYTES);
    bool changed;
    int r = results ? tern_allocation_read(p->results, 0, results, (size_t)items * RESULT_BYTES) : -ENOMEM;
    if (r == 0) {
        r = written(p, &changed);
    }
    if (r == 0 && strcmp(path, "-") != 0) {
        r = dump(p, results[1], results[2], path);
    }
    if (r == 0) {
        struct tern_context_stats stats = {.size = sizeof stats};
        tern_context_query(p->ctx, &stats);
        printf("{\"end\": \"completed\", \"cycles\": %" PRIu64 ", \"written\": %s, \"codes\": [", stats.cycles,
               changed ? "true" : "false");
        for (uint32_t i = 0; i < items; i++) {
            printf("%s%" PRIu32, i ? ", " : "", results[i * RESULT_BYTES / 4]);
        }
        printf("]}\n");
    }
    free(results);
    return r;
}

static void request(const char *path, uint32_t items, uint32_t entry, const char *dump_path)
{
    struct program p = {0};
    struct tern_fault f = {.size = sizeof f};
    int r = start(&p, path, items);
    if (r == 0) {
        p.entry = entry ? entry : p.entry;
        r = dispatch(&p, items, "isa");
        if (r == 0) {
            r = report(&p, items, dump_path);
        } else if (tern_process_status(p.proc, &f) != 0) {
            printf("{\"end\": \"fault\", \"code\": %u, \"access\": %u, \"address\": %u, \"pc\": %u, \"warp\": %u, "
                   "\"lane\": %u, \"message\": ", f.code, f.access, f.address, f.pc, f.warp, f.lane);
            print_string(f.message);
            printf("}\n");
            r = 0;
        }
    }
    if (r) {
        printf("{\"end\": \"error\", \"message\": ");
        print_string(strerror(-r));
        printf(", \"driver\": ");
        print_string(tern_last_error());
        printf("}\n");
    }
    unload(&p);
}

int main(int argc, char **argv)
{
    char path[1024], dump_path[1024], line[2200];
    uint32_t items, entry;
    if (argc != 3) {
        fprintf(stderr, "usage: loader BACKEND CONFIG\n");
        return 2;
    }
    int r = tern_device_open(argv[1], argv[2], &dev);
    if (r) {
        fprintf(stderr, "%s\n", tern_last_error());
        return r == -ENOENT ? 77 : 1;
    }
    info.size = sizeof info;
    tern_device_query(dev, &info);
    printf("{\"lanes\": %u, \"warps\": %u}\n", info.lanes, info.warps);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%1023s %" SCNu32 " %" SCNx32 " %1023s", path, &items, &entry, dump_path) != 4 ||
            items == 0 || items > info.lanes * info.warps) {
            printf("{\"end\": \"error\", \"message\": \"malformed request\"}\n");
        } else {
            request(path, items, entry, dump_path);
        }
        fflush(stdout);
    }
    return tern_device_close(dev) ? 1 : 0;
}
