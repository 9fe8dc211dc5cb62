// SPDX-License-Identifier: Apache-2.0
// How a bench says what it found; tests/rtl/run reads that. A bench calls compared for all that it has compared, error
// for what is wrong, or $fatal if it cannot go on, and pass at its end, which decides. No bench counts errors of its
// own: a last `if (errors != 0) $fatal` is one more thing that can be missing.
// A class, because Verilator copies a function of a package to each of its calls.
class report;
  localparam int MOST = 10;  // errors: the last one ends the run
  static longint unsigned comparisons = 0;
  static int errors = 0;

  static function automatic void compared(input int n);
    comparisons += 64'(n);
  endfunction

  static function automatic void error(input string what);
    $display("ERROR %s", what);
    errors++;
    if (errors >= MOST) $fatal(1, "%0d errors", errors);
  endfunction

  static function automatic bit failed();
    return errors != 0;
  endfunction

  static function automatic void pass();
    if (errors != 0) $fatal(1, "%0d errors", errors);
    if (comparisons == 0) $fatal(1, "nothing was compared");
    $display("PASS %0d compared", comparisons);
    $finish;
  endfunction
endclass
