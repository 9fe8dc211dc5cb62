/* SPDX-License-Identifier: Apache-2.0 */
/** Access rights of every client of an MMU to every kind of page, and the faults of forbidden accesses (A5, F1).
 *  Clients are packets, the command processor's own accesses, mover, user executor and kernels. test_rights LIBRARY. */
#include <stdlib.h>

#include "kernel.h"

#define R TERN_PTE_READ_MASK
#define W TERN_PTE_WRITE_MASK
#define X TERN_PTE_EXEC_MASK
#define ZERO_PAGE TERN_PTE_ZERO_MASK
#define V TERN_PTE_VALID_MASK
enum { READ, WRITE, EXECUTE, ATOMIC };

#define OTHER_ROOT (ROOT + 8)
#define TABLE (ROOT + 16)        /* the second-level table of the tested page */
#define OTHER_TABLE (ROOT + 17)
#define PAGE_VA 0x00800000u      /* the tested page; the pages before it are mapped */
#define PAGE_PA 0x02000000u
#define BEFORE (1023u * PAGE)    /* offset of the last page before it */
#define LAST (BEFORE + PAGE - LINE)
#define PACKET_AT 0x100u         /* offset in the page of a packet */
#define LINE_AT 0x80u            /* offset of data */
#define WORD_AT 0x84u            /* offset of data that are an instruction as well */
#define PAIR_AT 0x88u

enum { WHO = 53, GROUP = 32, FAULTS_AT = 6 * 4 }; /* WHO: work-item that accesses; FAULTS_AT: offset of its access */
enum client { PACKET, SECOND_LINE, COPY_FROM, COPY_TO, FILL, SIGNAL, WAIT, TIMESTAMP, USER_X, USER_Y, LOAD, STORE, AMO,
              CALL, CLIENTS };

/* Each client accesses byte `at` of the page. In USER_Y an allowed read is followed by a write. */
static const struct {
    const char *name;
    uint32_t need, access, at;
} clients[CLIENTS] = {
    [PACKET] = {"a packet", R, READ, PACKET_AT},
    [SECOND_LINE] = {"the second line of a packet", R, READ, 0},
    [COPY_FROM] = {"the source of a copy", R, READ, LINE_AT},
    [COPY_TO] = {"the target of a copy", W, WRITE, LINE_AT},
    [FILL] = {"a fill", W, WRITE, LINE_AT},
    [SIGNAL] = {"a fence's signal", W, WRITE, PAIR_AT},
    [WAIT] = {"a fence's wait", R, READ, PAIR_AT},
    [TIMESTAMP] = {"a timestamp", W, WRITE, PAIR_AT},
    [USER_X] = {"what a user executor reads", R, READ, LINE_AT},
    [USER_Y] = {"what a user executor writes", R | W, READ, LINE_AT},
    [LOAD] = {"a load", R, READ, WORD_AT},
    [STORE] = {"a store", W, WRITE, WORD_AT},
    [AMO] = {"an atomic", R | W, ATOMIC, WORD_AT},
    [CALL] = {"an instruction", X, EXECUTE, WORD_AT},
};

/* Entries of the first level (4 MiB) and of the second, and the fault that they raise for any access. */
static const struct {
    const char *name;
    uint32_t entry, fault;
    bool first;
} pages[] = {
    {"no page", 0, TERN_FAULT_PAGE, false},
    {"no table", 0, TERN_FAULT_PAGE, true},
    {"rights, but not valid", PAGE_PA >> 2 | R | W | X, TERN_FAULT_PAGE, false},
    {"R", PAGE_PA >> 2 | V | R, 0, false},
    {"RW", PAGE_PA >> 2 | V | R | W, 0, false},
    {"X", PAGE_PA >> 2 | V | X, 0, false},
    {"RX", PAGE_PA >> 2 | V | R | X, 0, false},
    {"RWX", PAGE_PA >> 2 | V | R | W | X, 0, false},
    {"zero page, R", V | ZERO_PAGE | R, 0, false},
    {"zero page, RWX", V | ZERO_PAGE | R | W | X, 0, false},
    {"4 MiB, R", PAGE_PA >> 2 | V | R, 0, true},
    {"4 MiB, RW", PAGE_PA >> 2 | V | R | W, 0, true},
    {"4 MiB, X", PAGE_PA >> 2 | V | X, 0, true},
    {"W", PAGE_PA >> 2 | V | W, TERN_FAULT_PTE_MALFORMED, false},
    {"4 MiB, WX", PAGE_PA >> 2 | V | W | X, TERN_FAULT_PTE_MALFORMED, true},
    {"a pointer at the second level", PAGE_PA >> 2 | V, TERN_FAULT_PTE_MALFORMED, false},
    {"beyond memory", TERN_PTE_PPN_MASK | V | R | W | X, TERN_FAULT_PTE_MALFORMED, false},
    {"4 MiB, not aligned", PAGE_PA >> 2 | 1u << TERN_PTE_PPN_SHIFT | V | R | W | X, TERN_FAULT_PTE_MALFORMED, true},
};

/** Writes the page's contents: a packet, and an instruction that exits. */
static void fill_page(struct device *d)
{
    static uint8_t page[PAGE];
    memset(page, 0, sizeof page);
    assert_int_equal(tern_pkt_nop_pack(&(struct tern_pkt_nop){0}, (uint32_t *)(void *)(page + PACKET_AT)), 0);
    memcpy(page + WORD_AT, &(uint32_t){EXIT}, 4);
    assert_int_equal(api->mem_write(d->sim, PAGE_PA, page, sizeof page), 0);
}

/** Writes a kernel with one access, whose address is in T0. */
static void put_kernel(struct device *d, enum client client)
{
    const uint32_t word = client == LOAD ? lw(T1, 0, T0) : client == STORE ? sw(T1, 0, T0) :
        client == AMO ? amoadd(T1, T1, T0) : itype(0x67, 0, ZERO, T0, 0) /* jalr */;
    const uint32_t code[] = {
        csrr(T3, 0xcd0), addi(T4, ZERO, WHO), beq(T3, T4, 8), EXIT, lui(T0, PAGE_VA), addi(T0, T0, WORD_AT), word, EXIT,
    };
    assert_int_equal(code[FAULTS_AT / 4], word);
    poke(d, CODE, code, sizeof code);
}

/** Runs the access in one of the two address spaces, and returns its indication. */
static struct indication run(struct device *d, enum client client, uint32_t root)
{
    const uint32_t at = PAGE_VA + clients[client].at, here = VA + IN;
    struct submission s = {.buffer = VA, .fence = client, .root = root};
    uint64_t physical = BASE;
    switch (client) {
    case PACKET:
        s.buffer = at, s.size = LINE;
        break;
    case SECOND_LINE:
        packet_fill(d, here, LINE, 3);
        d->used -= 16; /* the second line of the packet is the contents of the page */
        s.buffer = at - LINE, s.size = 2 * LINE, physical = BASE + LAST;
        break;
    case COPY_FROM: packet_copy(d, here, at, LINE); break;
    case COPY_TO: packet_copy(d, at, here, 4); break;
    case FILL: packet_fill(d, at, 4, 0); break;
    case SIGNAL: packet_signal(d, at, 0); break;
    case WAIT: packet_wait(d, at, 0); break;
    case TIMESTAMP: {
        struct tern_pkt_timestamp p = {.address_lo = at};
        assert_int_equal(tern_pkt_timestamp_pack(&p, packet(d, 1)), 0);
        break;
    }
    case USER_X:
    case USER_Y: {
        struct tern_pkt_user_call p = {TERN_EXECUTOR_ID_SAXPY, {
            [TERN_USER_SAXPY_N] = 1, [TERN_USER_SAXPY_X] = client == USER_X ? at : here,
            [TERN_USER_SAXPY_Y] = client == USER_Y ? at : here}};
        assert_int_equal(tern_pkt_user_call_pack(&p, packet(d, 2)), 0);
        break;
    }
    default: packet_dispatch(d, (struct range){{2 * GROUP, 1, 1}, {GROUP, 1, 1}, 0});
    }
    submit(d, 0, s, physical);
    return indication(d, 0, SOON);
}

/** The indication that an access to a page must give. */
static struct indication wanted(struct device *d, enum client client, size_t page)
{
    const uint32_t entry = pages[page].entry, allows = entry & (entry & ZERO_PAGE ? R | X : R | W | X);
    struct indication want = {.access = clients[client].access, .fault = pages[page].fault,
                              .va = PAGE_VA + clients[client].at};
    if (!want.fault && (clients[client].need & ~allows)) {
        want.fault = TERN_FAULT_PROTECTION;
        if (client == USER_Y && (allows & R)) {
            want.access = WRITE;
        }
    } else if (!want.fault && (entry & ZERO_PAGE) && client == CALL) {
        want.fault = TERN_FAULT_ILLEGAL_INSTRUCTION;
    } else if (!want.fault && (entry & ZERO_PAGE) && client == PACKET) {
        want.fault = TERN_FAULT_PACKET_RESERVED;
    }
    if (client >= LOAD) {
        want.pc = client == CALL ? PAGE_VA + WORD_AT : VA + CODE + FAULTS_AT;
        want.group[0] = WHO / GROUP;
        want.warp = WHO % GROUP / lanes(d);
        want.lane = WHO % lanes(d);
    }
    return want;
}

static bool as_wanted(struct indication is, struct indication want)
{
    if (!want.fault) {
        return is.kind == TERN_ENGINE_IND_INFO_KIND_COMPLETED && is.fault == TERN_FAULT_NONE;
    }
    const bool same = is.kind == TERN_ENGINE_IND_INFO_KIND_FAULTED && is.fault == want.fault && is.pc == want.pc &&
        is.group[0] == want.group[0] && is.warp == want.warp && is.lane == want.lane && is.offset == 0;
    return same && (want.fault == TERN_FAULT_ILLEGAL_INSTRUCTION || want.fault == TERN_FAULT_PACKET_RESERVED ||
                    (is.access == want.access && is.va == want.va));
}

/* Each case runs after the same access by an address space that has all rights at that address, and a second time,
 * because the second access may find the translation in a TLB. */
static void test_matrix(void **state)
{
    struct device *d = *state;
    uint32_t bad = 0;
    map(d, ROOT, VA, BASE, PAGES, R | W | X);
    map(d, OTHER_ROOT, VA, BASE, PAGES, R | W | X);
    clear(d, (uint64_t)TABLE * PAGE, 2 * PAGE);
    packet_pte(d, (uint64_t)OTHER_ROOT * PAGE + (PAGE_VA >> 22) * 4, 1, OTHER_TABLE << TERN_PTE_PPN_SHIFT | V, 0);
    packet_pte(d, (uint64_t)OTHER_TABLE * PAGE, 1, PAGE_PA >> 2 | V | R | W | X, 0);
    run_paging(d);
    for (size_t p = 0; p < sizeof pages / sizeof pages[0]; p++) {
        const uint32_t table = TABLE << TERN_PTE_PPN_SHIFT | V;
        packet_pte(d, (uint64_t)ROOT * PAGE + (PAGE_VA >> 22) * 4, 1, pages[p].first ? pages[p].entry : table, 0);
        packet_pte(d, (uint64_t)TABLE * PAGE, 1, pages[p].entry, 0);
        assert_int_equal(tern_pkt_tlb_flush_pack(&(struct tern_pkt_tlb_flush){.root = ROOT}, packet(d, 1)), 0);
        run_paging(d);
        for (enum client c = 0; c < CLIENTS; c++) {
            if ((c == USER_X || c == USER_Y) && !has_saxpy(d)) {
                continue;
            }
            fill_page(d);
            put_kernel(d, c);
            struct indication i = run(d, c, OTHER_ROOT);
            expect(i, TERN_ENGINE_IND_INFO_KIND_COMPLETED, TERN_FAULT_NONE, c);
            const struct indication want = wanted(d, c, p);
            for (int again = 0; again < 2; again++) {
                i = run(d, c, ROOT);
                if (!as_wanted(i, want)) {
                    print_error("%s, page '%s'%s: kind %u fault %u access %u va %x pc %x group %u warp %u lane %u; "
                                "wanted fault %u access %u va %x pc %x group %u warp %u lane %u\n", clients[c].name,
                                pages[p].name, again ? ", again" : "", i.kind, i.fault, i.access, i.va, i.pc,
                                i.group[0], i.warp, i.lane, want.fault, want.access, want.va, want.pc, want.group[0],
                                want.warp, want.lane);
                    bad++;
                }
            }
        }
    }
    assert_int_equal(bad, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_matrix, device_setup, device_teardown)};
    const int r = library_load(argc, argv);
    return r ? r : cmocka_run_group_tests(tests, NULL, NULL);
}
