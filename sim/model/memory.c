/* SPDX-License-Identifier: Apache-2.0 */
/** Device memory, Sv32 translation and dirty bits. */
#include <sys/mman.h>

#include "model.h"

static uint8_t zero_page[PAGE];

/** Maps zeroed memory, whose untouched pages use no host memory. A leak checker would report memory from malloc,
 *  because it does not see the pointers to it: they are in the device, which is mapped as well. */
static void *map(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

int memory_init(struct memory *m, uint64_t bytes)
{
    uint8_t *data = map(bytes), *dirty = map(bytes / PAGE);
    if (!data || !dirty) {
        if (data) {
            munmap(data, bytes);
        }
        return -ENOMEM;
    }
    m->data = data;
    m->dirty = dirty;
    m->bytes = bytes;
    return 0;
}

void memory_free(struct memory *m)
{
    munmap(m->data, m->bytes);
    munmap(m->dirty, m->bytes / PAGE);
}

void memory_unreserve(struct memory *m, uint64_t pa, uint32_t n)
{
    for (int i = 0; i < ENGINES; i++) {
        struct reservation *r = &m->reserved[i];
        if (r->valid && r->word >= (pa & ~3ull) && r->word < pa + n) {
            r->valid = false;
        }
    }
}

/** Returns the fault of an entry of the first or second level (pte.yaml), or 0. */
static uint32_t pte_fault(const struct memory *m, uint32_t pte, bool first)
{
    bool r = pte & TERN_PTE_READ_MASK, w = pte & TERN_PTE_WRITE_MASK, x = pte & TERN_PTE_EXEC_MASK;
    bool zero = pte & TERN_PTE_ZERO_MASK, leaf = r || w || x;
    uint32_t ppn = pte >> TERN_PTE_PPN_SHIFT, last = first && leaf ? ppn | 0x3ffu : ppn;
    if (!(pte & TERN_PTE_VALID_MASK)) {
        return pte & TERN_PTE_ABSENT_MASK ? TERN_FAULT_PAGE_ABSENT : TERN_FAULT_PAGE;
    }
    bool malformed = (pte & ~TERN_PTE_KNOWN) || (pte & TERN_PTE_ABSENT_MASK) || (w && !r) ||
                     (!leaf && (zero || !first)) || (zero ? ppn != 0 : last >= m->bytes / PAGE) ||
                     (first && leaf && (ppn & 0x3ffu));
    return malformed ? TERN_FAULT_PTE_MALFORMED : TERN_FAULT_NONE;
}

static uint32_t page_fault(const struct memory *m, uint64_t page)
{
    bool bad = page >= m->bytes / PAGE || (page >= m->error_first && page < m->error_end);
    return bad ? TERN_FAULT_BUS_ERROR : TERN_FAULT_NONE;
}

static uint32_t load_pte(struct memory *m, uint64_t pa, uint32_t *pte)
{
    uint32_t code = page_fault(m, pa / PAGE);
    if (code) {
        return code;
    }
    memcpy(pte, m->data + pa, 4);
    return TERN_FAULT_NONE;
}

/** Walks the tables. *pte is the leaf, *page its physical page. Returns a fault code. */
static uint32_t walk(struct memory *m, uint32_t root, uint32_t va, uint32_t *pte, uint64_t *page)
{
    uint32_t code = load_pte(m, (uint64_t)root * PAGE + (va >> 22) * 4u, pte);
    if (code || (code = pte_fault(m, *pte, true))) {
        return code;
    }
    uint32_t ppn = *pte >> TERN_PTE_PPN_SHIFT;
    if (*pte & (TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK | TERN_PTE_EXEC_MASK)) {
        *page = *pte & TERN_PTE_ZERO_MASK ? 0 : (uint64_t)ppn + ((va >> 12) & 0x3ffu);
        return TERN_FAULT_NONE;
    }
    code = load_pte(m, (uint64_t)ppn * PAGE + ((va >> 12) & 0x3ffu) * 4u, pte);
    if (code || (code = pte_fault(m, *pte, false))) {
        return code;
    }
    *page = *pte >> TERN_PTE_PPN_SHIFT;
    return TERN_FAULT_NONE;
}

static uint32_t translate(struct memory *m, struct space *s, uint32_t va, uint32_t access, struct tlb_entry *t)
{
    uint32_t pte;
    uint64_t page;
    uint32_t code = walk(m, s->root, va, &pte, &page);
    if (code) {
        return code;
    }
    uint32_t need = access == ACCESS_EXECUTE ? TERN_PTE_EXEC_MASK
                    : access == ACCESS_READ  ? TERN_PTE_READ_MASK
                                             : TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK;
    bool zero = pte & TERN_PTE_ZERO_MASK;
    if ((pte & need) != need || (zero && access != ACCESS_READ && access != ACCESS_EXECUTE)) {
        return TERN_FAULT_PROTECTION;
    }
    t->page = page;
    t->host = zero ? zero_page : m->data + page * PAGE;
    return zero ? TERN_FAULT_NONE : page_fault(m, page);
}

const struct tlb_entry *memory_translate(struct memory *m, struct space *s, uint64_t va, uint32_t access,
                                         uint32_t *code)
{
    struct tlb_entry n = {.key = (va / PAGE << 2 | access) + 1, .page = va / PAGE, .host = m->data + va / PAGE * PAGE};
    if (s->physical) {
        *code = page_fault(m, va / PAGE);
    } else {
        *code = translate(m, s, (uint32_t)va, access, &n);
    }
    if (*code) {
        return NULL;
    }
    struct tlb_entry *t = &s->tlb[(va / PAGE ^ access << 8) % TLB_SIZE];
    *t = n;
    return t;
}

static bool transfer(struct memory *m, struct space *s, uint64_t va, uint8_t *data, uint64_t n, uint32_t access,
                     struct fault *f)
{
    while (n) {
        va = space_wrap(s, va);
        uint64_t part = PAGE - va % PAGE < n ? PAGE - va % PAGE : n;
        uint32_t code = 0;
        const struct tlb_entry *t = memory_page(m, s, va, access, &code);
        if (!t) {
            *f = (struct fault){.code = code, .access = access, .va = (uint32_t)va};
            return false;
        }
        if (access == ACCESS_WRITE) {
            memcpy(t->host + va % PAGE, data, part);
            memory_written(m, t->page * PAGE + va % PAGE, (uint32_t)part);
        } else {
            memcpy(data, t->host + va % PAGE, part);
        }
        va += part;
        data += part;
        n -= part;
    }
    return true;
}

bool memory_read(struct memory *m, struct space *s, uint64_t va, void *data, uint64_t n, struct fault *f)
{
    return transfer(m, s, va, data, n, ACCESS_READ, f);
}

bool memory_write(struct memory *m, struct space *s, uint64_t va, const void *data, uint64_t n, struct fault *f)
{
    return transfer(m, s, va, (uint8_t *)(uintptr_t)data, n, ACCESS_WRITE, f);
}

void space_flush(struct space *s)
{
    memset(s->tlb, 0, sizeof s->tlb);
}
