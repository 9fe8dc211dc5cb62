// SPDX-License-Identifier: Apache-2.0
// Random numbers for the bench and its memory: xorshift, because Verilator 5.006 ignores the seed of $urandom. This is
// a class because Verilator copies a function of a package to each of its calls, of which there are a thousand.
class bench_random;
  static int unsigned state = 1;

  static function automatic void start(input int unsigned seed);
    state = seed * 32'h9e3779b9 | 1;
    repeat (8) void'(next());
  endfunction

  static function automatic int unsigned next();
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state * 32'h85ebca6b >> 3 ^ state << 16;
  endfunction
endclass
