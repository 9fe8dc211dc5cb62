/* SPDX-License-Identifier: Apache-2.0 */
/** Benches that look up, hash and sort. */
#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"

/** Words of a table at random places. */
bool case_gather(struct bench_env *env)
{
    enum { N = 32768, TABLE = 65536 };
    const size_t items = N, group = group_size(env, 64);
    static bool used[TABLE];
    uint32_t *table = random_words(TABLE, 50), *index = random_words(N, 51), *out = job_memory(N * 4);
    int words = 0;
    bool right = true;
    for (int i = 0; i < N; i++) {
        index[i] >>= 16;
        words += !used[index[i]];
        used[index[i]] = true;
    }
    for (int i = 0; i < TABLE; i++) { /* The kernel moves them as floats. None is a NaN. */
        table[i] &= 0xbfffffff;
    }
    struct job j = job_begin(env, "gather");
    /* An index is loaded and an element is stored for each of N. Of the table only the words that are used count, once
     * each. */
    env->work = bench_work(8 * N + 4 * words, 0, 2 * N + words);
    job_buffer(&j, TABLE * 4, table);
    job_buffer(&j, N * 4, index);
    job_buffer(&j, N * 4, NULL);
    job_launch(&j, 1, &items, &group);
    job_read(&j, 2, N * 4, out);
    for (int i = 0; j.ok && i < N; i++) {
        right = right && out[i] == table[index[i]];
    }
    free(table);
    free(index);
    free(out);
    return job_end(&j, right);
}

static uint64_t turn(uint64_t x, int n)
{
    return n ? x << n | x >> (64 - n) : x;
}

/** Returns bit t of the sequence of x^8 + x^6 + x^5 + x^4 + 1 (FIPS 202, algorithm 5). */
static bool sequence(int t)
{
    unsigned r = 1;
    for (int i = 0; i < t % 255; i++) {
        r = r << 1 ^ (r >> 7 ? 0x171 : 0);
    }
    return r & 1;
}

/** Keccak-p[1600, 12], with the constants computed as FIPS 202 defines them. The rounds are the last 12 of 24. */
static void keccak(uint64_t s[5][5]) /* s[y][x] */
{
    for (int round = 12; round < 24; round++) {
        uint64_t b[5][5], c[5];
        for (int x = 0; x < 5; x++) {
            c[x] = s[0][x] ^ s[1][x] ^ s[2][x] ^ s[3][x] ^ s[4][x];
        }
        for (int i = 0; i < 25; i++) {
            s[i / 5][i % 5] ^= c[(i + 4) % 5] ^ turn(c[(i + 1) % 5], 1);
        }
        b[0][0] = s[0][0];
        for (int t = 0, x = 1, y = 0; t < 24; t++) {
            const int to = (2 * x + 3 * y) % 5;
            b[to][y] = turn(s[y][x], (t + 1) * (t + 2) / 2 % 64);
            x = y;
            y = to;
        }
        for (int i = 0; i < 25; i++) {
            s[i / 5][i % 5] = b[i / 5][i % 5] ^ (~b[i / 5][(i + 1) % 5] & b[i / 5][(i + 2) % 5]);
        }
        for (int bit = 0; bit <= 6; bit++) {
            s[0][0] ^= (uint64_t)sequence(7 * round + bit) << ((1 << bit) - 1);
        }
    }
}

/** A level of a Merkle tree. Its hash is of the Keccak family, whose words have 64 bits, as SHA-256 is a bench
 * already. */
bool case_keccak(struct bench_env *env)
{
    enum { PAIRS = 128, THETA = 40 + 5 * (4 + 2) + 50, RHO = 3 * 4 + 21 * 6, CHI = 25 * 4,
           ROUND = THETA + RHO + CHI + 1 };
    static uint64_t hash[PAIRS][4];
    const size_t items = PAIRS, group = group_size(env, 64);
    uint64_t(*in)[8] = (uint64_t(*)[8])(void *)random_words(PAIRS * 16, 52);
    bool right = true;
    struct job j = job_begin(env, "keccak_pairs");
    /* An instruction has 32 bits, so an operation on 64 bits is two. A rotation is six, two shifts and an or for each
     * half; by 1, 2 or 3 bits it is four, since an instruction shifts to the left and adds. Theta has 20 exclusive ors,
     * 5 more with a rotation, and 25. Rho has 24 rotations, of which 3 are short. Chi has 25 times an exclusive or, and
     * an and with a complement, which is one instruction. Iota has at least one. The first and the last of the 12
     * rounds do not count, since zeros go into one and not all of the other is used. */
    env->work = bench_work((64 + 32) * PAIRS, 0, (10 * ROUND + 16 + 8) * PAIRS);
    job_buffer(&j, PAIRS * sizeof *in, in);
    job_buffer(&j, sizeof hash, NULL);
    job_launch(&j, 1, &items, &group);
    job_read(&j, 1, sizeof hash, hash);
    for (int i = 0; j.ok && i < PAIRS; i++) {
        uint64_t s[5][5] = {{0}};
        memcpy(s, in[i], 64);
        s[1][3] ^= 0x1f; /* The domain and the first bit of the padding, after 64 bytes. */
        s[4][0] ^= 1ull << 63;
        keccak(s);
        right = right && memcmp(s, hash[i], 32) == 0;
    }
    free(in);
    return job_end(&j, right);
}

/** One pass by 4 bits, three kernels, of 512 work-items with 16 keys each. Keys with the same digit keep their
 * order. */
bool case_radix(struct bench_env *env)
{
    enum { N = 8192, ITEMS = 512, DIGITS = 16, COUNTS = DIGITS * ITEMS };
    const cl_uint shift = 8, each = N / ITEMS, counts = COUNTS;
    const size_t items = ITEMS, group = group_size(env, 64), one = group_size(env, 256);
    uint32_t *keys = random_words(N, 53), *got = job_memory(N * 4), at = 0;
    bool right = true;
    struct job j = job_begin(env, NULL);
    /* A key is loaded and stored. Its digit is a shift and an and. The digit is counted, and later its place is counted
     * on. Each count is added to the sum of those before it. */
    env->work = bench_work(8 * N, 0, 6 * N + COUNTS);
    job_buffer(&j, N * 4, keys);
    job_buffer(&j, COUNTS * 4, NULL);
    job_buffer(&j, N * 4, NULL);
    job_kernel(&j, "radix_count", 2);
    job_arg(&j, 2, sizeof shift, &shift);
    job_arg(&j, 3, sizeof each, &each);
    job_arg(&j, 4, DIGITS * group * 4, NULL);
    job_launch(&j, 1, &items, &group);
    job_kernel(&j, "radix_scan", 0);
    job_arg(&j, 0, sizeof j.buffer[1], &j.buffer[1]);
    job_arg(&j, 1, sizeof counts, &counts);
    job_arg(&j, 2, one * 4, NULL);
    job_launch(&j, 1, &one, &one);
    job_kernel(&j, "radix_move", 1);
    job_arg(&j, 1, sizeof j.buffer[2], &j.buffer[2]);
    job_arg(&j, 2, sizeof j.buffer[1], &j.buffer[1]);
    job_arg(&j, 3, sizeof shift, &shift);
    job_arg(&j, 4, sizeof each, &each);
    job_arg(&j, 5, DIGITS * group * 4, NULL);
    job_launch(&j, 1, &items, &group);
    job_read(&j, 2, N * 4, got);
    for (uint32_t digit = 0; digit < DIGITS; digit++) {
        for (int i = 0; j.ok && i < N; i++) {
            if ((keys[i] >> shift & (DIGITS - 1)) == digit) {
                right = right && got[at++] == keys[i];
            }
        }
    }
    free(keys);
    free(got);
    return job_end(&j, right);
}
