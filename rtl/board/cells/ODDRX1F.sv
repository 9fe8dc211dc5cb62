// SPDX-License-Identifier: Apache-2.0
// The register of an ECP5's pad that puts out D0 while SCLK is high and D1 while it is low; see EHXPLLL.
(* blackbox *)
module ODDRX1F (
    input  SCLK, RST, D0, D1,
    output Q
);
endmodule
