/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tests of the backend uart alone, on the board of TERN_UART (test_board.py): accesses to memory at any address and
 * size, in pieces, against a copy; ranges beyond memory; wait and wake while another thread uses the board.
 *
 * usage: uart_hal SEED ROUNDS
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/uart/hal_uart.h"
#include "tern/tern_hw.h"

#define BASE 0x20000u
#define BYTES 16384u
#define PIECES 5u
#define CYCLES 100000u

static struct tern_hal *hal;
static uint8_t here[BYTES], got[BYTES];
static uint64_t state;

static void check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "uart_hal: %s\n", what);
        exit(EXIT_FAILURE);
    }
}

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

/** Draws a range: some bytes, some lines or some requests long. */
static size_t range(size_t *at)
{
    const uint32_t most[] = {9, 200, 3000};
    const size_t n = below(most[below(3)]);
    *at = below((uint32_t)(BYTES - n));
    return n;
}

static void write_pieces(void)
{
    static uint8_t data[PIECES][3000];
    struct tern_iovec pieces[PIECES];
    size_t at = 0, n = 0;
    for (unsigned i = 0; i < PIECES; i++) {
        const size_t end = at + n;
        n = range(&at);
        if (below(2) && end + n <= BYTES) {
            at = end; /* consecutive pieces, which may become one request */
        }
        for (size_t k = 0; k < n; k++) {
            data[i][k] = (uint8_t)below(256);
        }
        pieces[i] = (struct tern_iovec){BASE + at, data[i], n};
        memcpy(here + at, data[i], n);
    }
    check(!hal->ops->mem_write(hal, pieces, PIECES), "mem_write fails");
    memset(data, 0, sizeof data); /* the caller may reuse the data after the call */
}

static void memory(unsigned rounds)
{
    size_t at = 0;
    memset(here, 0, sizeof here);
    check(!tern_hal_mem_write(hal, BASE, here, sizeof here), "mem_write fails");
    for (unsigned i = 0; i < rounds; i++) {
        write_pieces();
        const size_t n = range(&at);
        check(!hal->ops->mem_read(hal, BASE + at, got, n), "mem_read fails");
        for (size_t k = 0; k < n; k++) {
            if (got[k] != here[at + k]) {
                fprintf(stderr, "uart_hal: round %u: byte 0x%zx is 0x%02x in place of 0x%02x\n", i, BASE + at + k,
                        got[k], here[at + k]);
                exit(EXIT_FAILURE);
            }
        }
    }
    check(!hal->ops->mem_read(hal, BASE, got, BYTES), "mem_read fails");
    check(!memcmp(got, here, BYTES), "memory is not what was written");
}

static void bounds(void)
{
    uint32_t pages = 0;
    check(!hal->ops->read32(hal, TERN_REG_DEV_MEM_PAGES, &pages), "read32 fails");
    const uint64_t end = (uint64_t)pages * 4096;
    check(!hal->ops->mem_read(hal, end - 4, got, 4), "the last bytes are not there");
    check(hal->ops->mem_read(hal, end - 3, got, 4) == -EFAULT, "mem_read past the end");
    check(tern_hal_mem_write(hal, end, got, 1) == -EFAULT, "mem_write past the end");
    check(tern_hal_mem_write(hal, UINT64_MAX, got, 2) == -EFAULT, "mem_write past all ends");
}

static void *waits(void *result)
{
    *(int *)result = hal->ops->wait(hal, UINT32_MAX / 4);
    return NULL;
}

/** Device time passes in a wait. Another thread uses the board meanwhile, and ends the wait. */
static void waiting(void)
{
    uint32_t low = 0, high = 1, before = 0;
    int result = -1;
    pthread_t thread;
    check(!hal->ops->read32(hal, TERN_REG_DEV_TIME_LO, &before), "read32 fails");
    check(hal->ops->wait(hal, CYCLES) == 0, "wait does not end with the time");
    check(!hal->ops->read32(hal, TERN_REG_DEV_TIME_LO, &low) && low - before >= CYCLES, "wait ends too early");
    check(!hal->ops->read32(hal, TERN_REG_DEV_TIME_HI, &high) && high == 0, "the high half of time");
    check(!pthread_create(&thread, NULL, waits, &result), "no thread");
    memory(5);
    hal->ops->wake(hal);
    pthread_join(thread, NULL);
    check(result == 1, "wake does not end a wait");
    hal->ops->wake(hal);
    check(hal->ops->wait(hal, UINT32_MAX / 4) == 1, "wake does not end the next wait");
}

int main(int argc, char **argv)
{
    const struct tern_config config = {.backend = "uart", .geometry = "small", .text = "small"};
    const struct tern_hal_write enable[2] = {{TERN_REG_DEV_IRQ_ENABLE, 3}, {TERN_REG_DEV_IRQ_ENABLE, 2}};
    uint32_t value = 0;
    check(argc == 3, "usage: uart_hal SEED ROUNDS");
    state = strtoull(argv[1], NULL, 10);
    check(!tern_hal_uart.open(&config, &hal), "the board cannot be opened");
    check(!hal->ops->write32(hal, enable, 2) && !hal->ops->read32(hal, TERN_REG_DEV_IRQ_ENABLE, &value) && value == 2,
          "registers are not what was written last");
    memory((unsigned)strtoul(argv[2], NULL, 10));
    bounds();
    waiting();
    hal->ops->close(hal);
    return EXIT_SUCCESS;
}
