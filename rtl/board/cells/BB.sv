// SPDX-License-Identifier: Apache-2.0
// A pad of an ECP5 for both directions: B is driven by I unless T is high; see EHXPLLL.
(* blackbox *)
module BB (
    inout  B,
    input  I, T,
    output O
);
endmodule
