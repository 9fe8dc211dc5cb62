// SPDX-License-Identifier: Apache-2.0
// The results of a bench, in the form that tests/rtl/run reads. A bench calls compared(n) after n comparisons, error()
// for each difference, $fatal if it cannot continue, and pass() at its end, which fails if there were errors. No bench
// counts errors itself, since it could then forget to check the count.
// This is a class because Verilator copies a function of a package to each of its calls.
class report;
  localparam int MOST = 10;  // the run ends at this number of errors
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
