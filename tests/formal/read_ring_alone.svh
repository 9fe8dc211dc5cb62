// SPDX-License-Identifier: Apache-2.0
// Assumptions of the proof read_ring, besides tests/formal/read_ring.svh: any read may be the chosen one, and memory
// and the owner keep the contract.
(* anyseq *) logic f_any;
assign f_pick = f_any;
always_comb assume (f_start_q || f_contract);
