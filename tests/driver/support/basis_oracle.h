/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An oracle of memory bases. Each basis has its own flag for each page of the device, so overlapping bases cannot
 * interfere.
 */
#ifndef SUPPORT_BASIS_ORACLE_H
#define SUPPORT_BASIS_ORACLE_H

#include <stdint.h>

#include "kmd/kmd.h"

#define ORACLE_BASES 6u
#define ORACLE_RANGES 7u

struct oracle_basis {
    uint64_t id; /* 0: there is no basis */
    unsigned starts;
    uint32_t n, pages;
    struct tern_basis_range range[ORACLE_RANGES];
    uint8_t *dirty; /* one flag per page of the device */
};

struct basis_oracle {
    struct tern_kmd *kmd;
    uint64_t page; /* bytes of a page */
    uint32_t first, pages; /* pages of memory in which ranges may lie */
    uint64_t random;
    struct oracle_basis of[ORACLE_BASES];
};

/** pages: of memory from page `first`, in which the ranges lie. seed: of the random choices. */
void oracle_open(struct basis_oracle *s, struct tern_kmd *kmd, uint32_t first, uint32_t pages, uint64_t seed);
void oracle_close(struct basis_oracle *s);
/** Returns a random number less than `below`. */
uint32_t oracle_random(struct basis_oracle *s, uint32_t below);
/** Records a write of the device or the host to these pages, for each basis that is tracked. */
void oracle_wrote(struct basis_oracle *s, uint32_t page, uint32_t count);
/** Does one random operation on one basis. */
void oracle_step(struct basis_oracle *s);

#endif
