// SPDX-License-Identifier: Apache-2.0
// A bidirectional pad of the ECP5 as a black box (see EHXPLLL). I drives B unless T is high; O is the value of B.
(* blackbox *)
module BB (
    inout  B,
    input  I, T,
    output O
);
endmodule
