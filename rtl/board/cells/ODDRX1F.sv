// SPDX-License-Identifier: Apache-2.0
// The output register of a pad of the ECP5 as a black box (see EHXPLLL). Q is D0 while SCLK is high, and D1 while SCLK
// is low.
(* blackbox *)
module ODDRX1F (
    input  SCLK, RST, D0, D1,
    output Q
);
endmodule
