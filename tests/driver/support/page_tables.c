/* SPDX-License-Identifier: Apache-2.0 */
#include "page_tables.h"

#include "dut.h"

static uint32_t word_at(uint64_t address)
{
    uint32_t w;
    tern_ticket_lock(&dev->hal_lock);
    ok(tern_device_read(dev, address, &w, sizeof w));
    tern_ticket_unlock(&dev->hal_lock);
    return w;
}

uint32_t pages_mapped(const struct tern_process *p, uint32_t va, uint32_t pages, uint32_t *large)
{
    uint32_t n = 0;
    *large = 0;
    for (uint32_t page = va / 4096; page < va / 4096 + pages; page++) {
        const uint32_t entry = word_at(p->root * 4096ull + page / 1024 * 4);
        const bool leaf = entry & (TERN_PTE_READ_MASK | TERN_PTE_WRITE_MASK | TERN_PTE_EXEC_MASK);
        const uint64_t table = (uint64_t)(entry >> TERN_PTE_PPN_SHIFT) * 4096;
        if (entry & TERN_PTE_VALID_MASK) {
            n += leaf || word_at(table + page % 1024 * 4) & TERN_PTE_VALID_MASK;
            *large += leaf && page % 1024 == 0;
        }
    }
    return n;
}
