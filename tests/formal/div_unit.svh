// SPDX-License-Identifier: Apache-2.0
// For the induction of the proof div_unit: the assertions of div_unit and those of its output's channel count from the
// same reset.
(* hierconn, init = 1'b0 *) logic \u_check_out.live_q ;
always_comb assert (live_q == \u_check_out.live_q );
