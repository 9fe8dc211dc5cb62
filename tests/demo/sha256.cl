// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): one work-item hashes one file. `data` holds the padded messages, big-endian words in the order
// of the bytes; file i has blocks[i] blocks of 64 bytes from word offset[i] on.

constant uint k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint right(uint x, uint n) { return rotate(x, 32 - n); }
uint big(uint x) { return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24; }

kernel void sha256(global const uint *data, global const uint *offset, global const uint *blocks, global uint *digest,
                   uint files)
{
    uint file = get_global_id(0);
    if (file >= files)
        return;
    uint h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    global const uint *in = data + offset[file];
    for (uint b = 0; b < blocks[file]; b++, in += 16) {
        uint w[16], s[8];
        for (int i = 0; i < 16; i++)
            w[i] = big(in[i]);
        for (int i = 0; i < 8; i++)
            s[i] = h[i];
        for (int round = 0; round < 64; round += 16) {
            #pragma unroll
            for (int i = 0; i < 16; i++) {
                uint e = s[4], a = s[0];
                uint t1 = s[7] + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) + ((e & s[5]) ^ (~e & s[6])) +
                    k[round + i] + w[i];
                uint t2 = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
                for (int j = 7; j > 0; j--)
                    s[j] = s[j - 1];
                s[4] += t1;
                s[0] = t1 + t2;
                uint w1 = w[(i + 1) & 15], w14 = w[(i + 14) & 15];
                w[i] += (right(w1, 7) ^ right(w1, 18) ^ w1 >> 3) + w[(i + 9) & 15] +
                    (right(w14, 17) ^ right(w14, 19) ^ w14 >> 10);
            }
        }
        for (int i = 0; i < 8; i++)
            h[i] += s[i];
    }
    for (int i = 0; i < 8; i++)
        digest[8 * file + i] = h[i];
}
